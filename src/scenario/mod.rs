//! Scenario files (design.md 6): what happens on a board in a line of tokens, and what must be said of
//! it. Pure: text in, verdicts out, through the real monitor and the real protocol.

mod run;
mod token;

use serde::Deserialize;
use thiserror::Error;

use crate::monitor::Phase;

pub use run::{Outcome, run};
pub use token::{Token, TokenError, tokens};

/// A scenario file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its scenarios.
    pub scenario: Vec<Scenario>,
}

/// One scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name.
    pub id: String,
    /// FEN; the start array by default.
    #[serde(default)]
    pub start: Option<String>,
    /// Regime; standard by default.
    #[serde(default = "standard")]
    pub regime: String,
    /// `standard` or `chess960`.
    #[serde(default = "standard")]
    pub variant: String,
    /// The event's time control as in PGN (`40/5400+30:1800+30`).
    #[serde(default)]
    pub time_control: Option<String>,
    /// Whether a clock is connected.
    #[serde(default = "yes")]
    pub clock: bool,
    /// Whether the monitor is told the start position. If not, it joins and finds out.
    #[serde(default = "yes")]
    pub told: bool,
    /// Whether the clock runs from the start.
    #[serde(default = "yes")]
    pub running: bool,
    /// Whether the board lies with White at its top.
    #[serde(default)]
    pub turned: bool,
    /// White's time is on the clock's right, and nobody told the monitor.
    #[serde(default)]
    pub white_right: bool,
    /// The tokens.
    pub events: String,
    /// Every alert that must be raised, `CODE SIDE CERTAINTY`, in any order.
    pub alerts: Option<Vec<String>>,
    /// The final plies, SAN.
    pub moves: Option<Vec<String>>,
    /// The ways that are held possible at the end, each as its plies in SAN with spaces.
    pub candidates: Option<Vec<String>>,
    /// The squares that are doubted at the end.
    pub doubt: Option<Vec<String>>,
    /// The phase at the end (design.md 4.1).
    pub phase: Option<Phase>,
    /// The result.
    pub result: Option<String>,
    /// A note for the reader.
    #[serde(default)]
    pub placement: Option<String>,
}

fn standard() -> String {
    "standard".to_owned()
}

const fn yes() -> bool {
    true
}

/// Why a scenario cannot be run.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// The file is no scenario file.
    #[error("{0}")]
    File(#[from] toml::de::Error),
    /// The start position does not read.
    #[error("scenario {id}: start '{fen}' is no FEN: {why}")]
    Start {
        /// Which scenario.
        id: String,
        /// The text.
        fen: String,
        /// What shakmaty says.
        why: String,
    },
    /// A token does not read.
    #[error("scenario {id}: {why}")]
    Events {
        /// Which scenario.
        id: String,
        /// Which token, and what is expected.
        why: TokenError,
    },
    /// A regime nobody knows.
    #[error("scenario {id}: {why}")]
    Regime {
        /// Which scenario.
        id: String,
        /// What is known.
        why: crate::laws::UnknownRegime,
    },
}

/// Reads a scenario file.
///
/// # Errors
/// When the TOML is broken or a key is unknown; the error shows the line.
pub fn parse(text: &str) -> Result<File, ScenarioError> {
    Ok(toml::from_str(text)?)
}

//! What one board's monitor must know beforehand.

use serde::{Deserialize, Serialize};

use crate::laws::Rulings;

/// Settings of one board. They stand in the journal, so that a replay sees the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Board number.
    pub board: u16,
    /// Venue id, part of alert ids.
    pub venue: String,
    /// Event, site and date for the PGN.
    pub event: String,
    /// Site.
    pub site: String,
    /// `YYYY.MM.DD`.
    pub date: String,
    /// Round.
    pub round: String,
    /// White's name.
    pub white: Option<String>,
    /// Black's name.
    pub black: Option<String>,
    /// Time control as written in PGN.
    pub time_control: Option<String>,
    /// Increment per move, s.
    pub increment_s: u32,
    /// `standard`, `rapid-a4`, `rapid-a5`, `blitz-b2`, `blitz-b3`.
    pub regime: String,
    /// What the Laws leave open.
    pub rulings: Rulings,
    /// Chess960.
    pub chess960: bool,
    /// `auto`, `white-left`, `white-right`, `none`.
    pub clock: String,
    /// Grace after a press without a confirming full board, ms.
    pub press_grace_ms: u64,
    /// Quiet before a full board is asked for, ms.
    pub confirm_ms: u64,
    /// An alert nobody claims is everybody's after so long, ms.
    pub escalate_ms: u64,
    /// A claim without a decision runs out after so long, ms.
    pub claim_ms: u64,
    /// Quiet in which a placement stands without a clock, ms.
    pub settle_ms: u64,
    /// How long the kings must stand in the centre, ms.
    pub gesture_ms: u64,
    /// A full board is asked for after so much quiet, ms.
    pub dump_every_ms: u64,
    /// A board that says nothing for so long is probed, and silent after twice that, ms.
    pub silent_ms: u64,
}

impl Settings {
    /// Whether a game goes on under these settings: its name and the Laws of its start are the same.
    pub fn same_game(&self, other: &Settings) -> bool {
        let name = |s: &Settings| (s.board, s.venue.clone(), s.round.clone(), s.chess960);
        name(self) == name(other)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        let limits = crate::game::Limits::default();
        Settings {
            board: 1,
            venue: "hall-1".to_owned(),
            event: "?".to_owned(),
            site: "?".to_owned(),
            date: "????.??.??".to_owned(),
            round: "1".to_owned(),
            white: None,
            black: None,
            time_control: None,
            increment_s: 0,
            regime: "standard".to_owned(),
            rulings: Rulings::default(),
            chess960: false,
            clock: "auto".to_owned(),
            press_grace_ms: limits.grace_ms,
            confirm_ms: limits.confirm_ms,
            escalate_ms: 60_000,
            claim_ms: 300_000,
            settle_ms: limits.settle_ms,
            gesture_ms: limits.gesture_ms,
            dump_every_ms: 10_000,
            silent_ms: 5_000,
        }
    }
}

//! What the laws room says of one turn.

use schemars::JsonSchema;
use serde::Serialize;
use shakmaty::Square;

use super::Code;
use crate::{incident::Level, words::Side};

/// How sure (laws.md 1.3): about the placement, never about the ruling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Fits a breach, and fits normal play too.
    Hint,
    /// The best explanation, but an innocent one exists.
    Probable,
    /// Only a sensor fault could explain it otherwise.
    Certain,
}

/// The next best explanation of the same placement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instead {
    /// Its code.
    pub code: Code,
    /// The squares it speaks of.
    pub squares: Vec<Square>,
}

/// One rule that one side broke, as far as board and clock show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which row of the catalogue.
    pub code: Code,
    /// Whose breach.
    pub side: Side,
    /// How sure.
    pub certainty: Certainty,
    /// The squares concerned: first the one the mover left, then the one it stands on, then others.
    pub squares: Vec<Square>,
    /// The move as the players made it, in words of chess notation ("Ke1-g1", "Nf3").
    pub played: String,
    /// The next best explanation, if there is one.
    pub instead: Option<Instead>,
}

impl Finding {
    /// One that is certain, of no move and with nothing else to explain it.
    pub(crate) const fn certain(code: Code, side: Side, squares: Vec<Square>) -> Finding {
        Finding {
            code,
            side,
            certainty: Certainty::Certain,
            squares,
            played: String::new(),
            instead: None,
        }
    }

    /// How loud it is to be told: a hint is never more than information (design.md 4.2).
    pub fn level(&self) -> Level {
        match self.certainty {
            Certainty::Hint => Level::Info,
            Certainty::Probable | Certainty::Certain => self.code.row().level,
        }
    }
}

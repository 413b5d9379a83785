//! What the event settles: its penalty rules, and the points that the Laws leave open.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Certainty, Code, Counts, Finding};
use crate::incident::Level;

/// Which of the penalty rules the event plays by (A.6, B.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Regime {
    /// Standard chess.
    Standard,
    /// Supervised rapid.
    RapidA4,
    /// Rapid without enough arbiters.
    RapidA5,
    /// Supervised blitz.
    BlitzB2,
    /// Blitz without enough arbiters.
    BlitzB3,
}

/// A regime nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' is no regime: standard, rapid-a4, rapid-a5, blitz-b2 or blitz-b3")]
pub struct UnknownRegime(pub String);

impl FromStr for Regime {
    type Err = UnknownRegime;

    fn from_str(name: &str) -> Result<Regime, UnknownRegime> {
        Ok(match name {
            "standard" => Regime::Standard,
            "rapid-a4" => Regime::RapidA4,
            "rapid-a5" => Regime::RapidA5,
            "blitz-b2" => Regime::BlitzB2,
            "blitz-b3" => Regime::BlitzB3,
            _ => return Err(UnknownRegime(name.to_owned())),
        })
    }
}

impl Regime {
    /// The word of the configuration and the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Regime::Standard => "standard",
            Regime::RapidA4 => "rapid-a4",
            Regime::RapidA5 => "rapid-a5",
            Regime::BlitzB2 => "blitz-b2",
            Regime::BlitzB3 => "blitz-b3",
        }
    }

    /// Whether the opponent's next move ends the time for correcting (A.5.2, B.3).
    pub const fn window_closes_on_reply(self) -> bool {
        matches!(self, Regime::RapidA5 | Regime::BlitzB3)
    }
}

/// What the Laws leave open and arbiters see differently (laws.md 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Rulings {
    /// Seconds the opponent gets for a first offence in supervised blitz: B.2 names no number.
    pub blitz_b2_penalty_s: u32,
    /// A rook upside down on the promotion square is an illegal move, and not simply a rook.
    pub inverted_rook_illegal: bool,
    /// Castling with the rook moved first is an illegal move, and not only a matter of 4.4.2.
    pub rook_first_illegal: bool,
}

impl Default for Rulings {
    fn default() -> Rulings {
        Rulings {
            blitz_b2_penalty_s: 60,
            inverted_rook_illegal: false,
            rook_first_illegal: false,
        }
    }
}

/// What a proposal goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The penalty rules.
    pub regime: Regime,
    /// The open points.
    pub rulings: Rulings,
    /// Increment per move, s.
    pub increment_s: u32,
}

impl Terms {
    /// Seconds the opponent gets for a first offence (7.5.5, A.3).
    pub const fn penalty_s(self) -> u32 {
        match self.regime {
            Regime::Standard => 120,
            Regime::BlitzB2 => self.rulings.blitz_b2_penalty_s,
            Regime::RapidA4 | Regime::RapidA5 | Regime::BlitzB3 => 60,
        }
    }

    /// Whether it goes to 7.5.5 on an arbiter's word.
    pub fn counts(self, code: Code) -> bool {
        match code.row().counts {
            Counts::Yes | Counts::IfSeen => true,
            Counts::IfRuled => self.rules_illegal(code),
            Counts::No => false,
        }
    }

    /// A matter of opinion that this event calls an illegal move.
    pub const fn rules_illegal(self, code: Code) -> bool {
        match code {
            Code::InvertedRookPromotion => self.rulings.inverted_rook_illegal,
            Code::CastlingRookFirst => self.rulings.rook_first_illegal,
            _ => false,
        }
    }

    /// How loud it is to be told: what the event calls an illegal move wants a look, unless it is a mere
    /// hint (design.md 4.2).
    pub fn level(self, finding: &Finding) -> Level {
        let level = finding.level();
        if finding.certainty > Certainty::Hint && self.rules_illegal(finding.code) {
            return level.max(Level::Check);
        }
        level
    }
}

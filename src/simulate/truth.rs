//! What really happened, as JSON lines for the tests.

use serde::{Deserialize, Serialize};

use crate::words::Side;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    /// Board number.
    pub board: u16,
    /// Virtual milliseconds since the start.
    pub at_ms: u64,
    /// Game in the order of play on this board, from 1.
    pub game: usize,
    /// What.
    #[serde(flatten)]
    pub event: TruthEvent,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TruthEvent {
    /// The men stand and the first clock starts.
    Start {
        /// The position.
        fen: String,
    },
    /// A ply of the game was completed: by its press, or by stopping the clock after the last.
    Ply {
        /// From 1.
        ply: usize,
        /// As in the PGN.
        san: String,
        /// In the notation of the variant (king takes rook for Chess960 castling).
        uci: String,
        /// The mover's displayed seconds after the press; none when the clock was stopped.
        clock_s: Option<u32>,
    },
    /// An illegal move was completed by the press.
    Mishap {
        /// Its code in the catalogue (laws.md 2).
        code: String,
        /// `white` or `black`: who did it.
        side: String,
        /// The ply that was due.
        ply: usize,
        /// Put right before the opponent replied.
        corrected: bool,
    },
    /// A side pressed its clock.
    Press {
        /// Who.
        side: String,
        /// That side's displayed seconds after it.
        clock_s: u32,
    },
    /// The clock was stopped for good.
    End {
        /// The result.
        result: String,
    },
}

impl TruthEvent {
    pub(super) fn press(side: Side, clock_s: u32) -> TruthEvent {
        TruthEvent::Press {
            side: crate::words::side_name(side).to_owned(),
            clock_s,
        }
    }
}

//! What the follower says, and the times it goes by.

use shakmaty::{Move, Square};

use super::{ground::Ground, history::History};
use crate::{
    board::{Edge, Placement},
    words::{At, Side},
};

/// Times of reconstruction.md 7.12, ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// After a press the scan may still bring the end of a slide.
    pub hold_ms: u64,
    /// Quiet before a placement is asked about, and before a full board confirms it.
    pub confirm_ms: u64,
    /// With no full board to confirm it, a placement is judged so long after the press.
    pub grace_ms: u64,
    /// A placement stands when nothing changed for so long, at a board without a clock.
    pub settle_ms: u64,
    /// Both kings in the centre for so long tell the result.
    pub gesture_ms: u64,
    /// An unexplained placement with no press is asked about after so long.
    pub unexplained_ms: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            hold_ms: 250,
            confirm_ms: 250,
            grace_ms: 1500,
            settle_ms: 400,
            gesture_ms: 2000,
            unexplained_ms: 3000,
        }
    }
}

/// A ply of the record.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Half-move number from 1.
    pub ply: u16,
    /// Who moved.
    pub side: Side,
    /// The legal move; `None` for an irregular ply.
    pub mv: Option<Move>,
    /// Standard notation; for an irregular ply the squares, for a press without a move `--`, where an
    /// arbiter adopted a position [`ADOPTED`](super::ADOPTED).
    pub san: String,
    /// UCI notation; empty for an irregular ply.
    pub uci: String,
    /// The mover's time after the press, s.
    pub clock_s: Option<u32>,
    /// The clock was not looked at between the press and the reply's: the time may be a little off.
    pub clock_about: bool,
    /// The position before.
    pub before: Ground,
    /// The position after.
    pub after: Ground,
    /// When it became final.
    pub at: At,
}

/// A placement that no legal ply of the mover explains.
#[derive(Debug, Clone)]
pub struct Case {
    /// Number of the half-move it concerns.
    pub ply: u16,
    /// Whose turn it was, or who moved out of turn.
    pub mover: Side,
    /// The last position in which everything was explained.
    pub before: Ground,
    /// What stood there.
    pub seen: Placement,
    /// The changes of the turn.
    pub edges: Vec<Edge>,
    /// What the record knows of the past.
    pub history: History,
    /// When the press was seen; `None` when there was none.
    pub pressed: Option<At>,
    /// One square that the ply does not touch is all that keeps the men from being legal: a sensor
    /// that sticks shows the same for some seconds.
    pub one_square_off: bool,
}

/// One thing the follower says.
#[derive(Debug, Clone)]
pub enum Event {
    /// A new game stands on its start array.
    Began,
    /// A ply is final.
    Ply {
        /// The ply.
        recorded: Box<Recorded>,
        /// The changes of its turn.
        edges: Vec<Edge>,
        /// What the record knew before it.
        history: History,
        /// The man was still in the air at the press: from, to (Article 6.2.4).
        late: Option<(Square, Square)>,
    },
    /// The press was made, or time passed, and no legal ply explains the men.
    Unexplained(Box<Case>),
    /// Updates were lost, and several ways lead to these men: an arbiter chooses.
    Gap(Box<Case>),
    /// All men are set up, but in no array a game starts from.
    WrongArray(Box<Case>),
    /// The men of this ply's case are put right.
    Restored {
        /// The ply of the case.
        ply: u16,
    },
    /// The game went on from this ply's case.
    Replied {
        /// The ply of the case.
        ply: u16,
    },
    /// Final plies were taken back.
    Retracted {
        /// The last ply that stands.
        back_to: u16,
        /// One word of the contract.
        reason: &'static str,
    },
    /// The game is over as far as the board shows.
    Ended {
        /// `1-0`, `0-1`, `1/2-1/2`.
        score: &'static str,
        /// `mate`, `stalemate`, `kings`.
        by: &'static str,
    },
    /// A full board would settle a doubt.
    WantDump,
    /// The board's own memory would fill a gap.
    WantMemory,
}

//! What the Laws tell the arbiter to do after a finding (7.5, A.3-A.5, B.2-B.3). A proposal.

use std::str::FromStr;

use shakmaty::{Chess, Color, FromSetup, PositionError, Role};
use thiserror::Error;

use super::{Answer, Certainty, Code, Counts, Finding, Stand, can_mate, geometry};
use crate::{
    incident::{Outcome, Remedy},
    words::Side,
};

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

    /// Seconds the opponent gets for a first offence (7.5.5, A.3).
    pub const fn penalty_s(self) -> u32 {
        match self {
            Regime::Standard => 120,
            _ => 60,
        }
    }
}

/// The remedy for a finding. `offences_of_side` is what the arbiter has confirmed so far.
pub fn remedy(
    finding: &Finding,
    before: &Stand,
    regime: Regime,
    increment_s: u32,
    offences_of_side: u8,
) -> Remedy {
    let row = finding.code.row();
    // Displaced men are put back too (7.4.1, 7.6), though 7.5.5 does not count them.
    let displaced = matches!(
        finding.code,
        Code::DisplacedPieceLeft | Code::PieceReappeared | Code::MoveOutOfTurn
    );
    let counts = row.counts != Counts::No && finding.certainty != Certainty::Hint;
    let restored = match finding.code {
        Code::PromotionPawnNotReplaced => with_queen(finding, before),
        Code::ClockPressedWithoutMove | Code::TwoHands => None,
        _ if counts || displaced => Some(before.clone()),
        _ => None,
    };
    let proposed = counts && finding.certainty == Certainty::Certain;
    let (first, second) = (
        proposed && offences_of_side == 0,
        proposed && offences_of_side > 0,
    );
    let undone = restored.is_some() && finding.code != Code::PromotionPawnNotReplaced;
    let ended = match finding.code {
        Code::Flag | Code::TimeControlNotMet => Some(outcome(before, !finding.side)),
        // A.5.4: still illegal after one more completed move.
        Code::ClockRunsWithIllegalPosition => Some((Outcome::Drawn, Vec::new())),
        Code::PromotionPawnNotReplaced if second => {
            let queened = restored.as_ref().unwrap_or(before);
            Some(outcome(queened, !finding.side))
        }
        _ => second.then(|| outcome(before, !finding.side)),
    };
    let (outcome, mate_line) =
        ended.map_or((None, Vec::new()), |(outcome, line)| (Some(outcome), line));
    Remedy {
        add_s: first.then(|| (!finding.side, regime.penalty_s())),
        remove_increment_s: (proposed && increment_s > 0).then_some(increment_s),
        touch_move: if undone {
            bound(finding, before)
        } else {
            Vec::new()
        },
        outcome,
        mate_line,
        restore: restored.map(|stand| stand.fen()),
    }
}

/// 6.9, 7.5.5: lost, unless the opponent cannot mate by any series of legal moves. At a second
/// offence that is asked of the restored position: the Laws have it restored before the penalty. With
/// the moves by which he can.
fn outcome(restored: &Stand, opponent: Side) -> (Outcome, Vec<String>) {
    let position = Chess::from_setup(restored.setup.clone(), restored.mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check);
    let Ok(position) = position else {
        return (Outcome::Unknown, Vec::new());
    };
    let can = can_mate(&position, opponent);
    let outcome = match can.answer {
        Answer::Yes => Outcome::Lost,
        Answer::No => Outcome::Drawn,
        Answer::Unknown => Outcome::Unknown,
    };
    (outcome, can.line)
}

/// 7.5.2: the pawn becomes a queen of its colour and the move stands.
fn with_queen(finding: &Finding, before: &Stand) -> Option<Stand> {
    let (&from, &to) = (finding.squares.first()?, finding.squares.get(1)?);
    let mut stand = before.clone();
    stand.setup.board = geometry::after(before, from, to, Role::Queen);
    stand.setup.castling_rights.discard(to);
    stand.setup.turn = !finding.side;
    stand.setup.ep_square = None;
    stand.setup.halfmoves = 0;
    if finding.side == Color::Black {
        stand.setup.fullmoves = stand.setup.fullmoves.saturating_add(1);
    }
    Some(stand)
}

/// 7.5.1 with 4.3: the man first moved, or the man captured, if it can legally move or be taken.
fn bound(finding: &Finding, before: &Stand) -> Vec<shakmaty::Square> {
    let plies = geometry::legal_plies(before, finding.side);
    let touched = finding.squares.iter().take(2).copied();
    touched
        .filter(|&square| match before.board().color_at(square) {
            Some(color) if color == finding.side => plies.iter().any(|ply| ply.from == square),
            Some(_) => plies.iter().any(|ply| ply.to == square),
            None => false,
        })
        .collect()
}

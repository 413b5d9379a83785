//! What the Laws tell the arbiter to do after a finding (7.5, A.3-A.5, B.2-B.3). A proposal.

use shakmaty::{Chess, Color, FromSetup, PositionError, Role};

use super::{Answer, Certainty, Code, Finding, Stand, Terms, can_mate, geometry};
use crate::{
    incident::{Outcome, Remedy},
    words::Side,
};

/// The remedy for a finding. `offences_of_side` is what the arbiter has confirmed so far.
pub fn remedy(finding: &Finding, before: &Stand, terms: Terms, offences_of_side: u8) -> Remedy {
    let increment_s = terms.increment_s;
    // Displaced men are put back too (7.4.1, 7.6), though 7.5.5 does not count them.
    let displaced = matches!(
        finding.code,
        Code::DisplacedPieceLeft | Code::PieceReappeared | Code::MoveOutOfTurn
    );
    let can_count = terms.counts(finding.code);
    let counts =
        can_count && (finding.certainty != Certainty::Hint || terms.rules_illegal(finding.code));
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
        add_s: first.then(|| (!finding.side, terms.penalty_s())),
        remove_increment_s: (proposed && increment_s > 0).then_some(increment_s),
        touch_move: if undone {
            bound(finding, before)
        } else {
            Vec::new()
        },
        outcome,
        mate_line,
        counts: can_count,
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

/// 7.5.1 with 4.3: the man first moved, or the man captured, if it can legally move or be taken. After
/// castling begun with the rook it is the rook, or the king where the rook has no move (4.4.2, 4.3.1).
fn bound(finding: &Finding, before: &Stand) -> Vec<shakmaty::Square> {
    let plies = geometry::legal_plies(before, finding.side);
    let touched = finding.squares.iter().take(2).copied();
    let most = if finding.code == Code::CastlingRookFirst {
        1
    } else {
        2
    };
    touched
        .filter(|&square| match before.board().color_at(square) {
            Some(color) if color == finding.side => plies.iter().any(|ply| ply.from == square),
            Some(_) => plies.iter().any(|ply| ply.to == square),
            None => false,
        })
        .take(most)
        .collect()
}

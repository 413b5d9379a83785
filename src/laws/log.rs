//! What the log says beside the single move (laws.md 6): repetition, the counted moves, positions in
//! which nobody can mate any more. Pure.

use shakmaty::{Chess, EnPassantMode, Position};

use super::{Code, Finding, mate::cannot_mate};
use crate::{
    game::{Ground, Recorded},
    words::Side,
};

/// Half-moves without capture or pawn move from which a player may claim (9.3).
const FIFTY_MOVES: u32 = 100;
/// The same, and the game is over (9.6.2).
const SEVENTY_FIVE_MOVES: u32 = 150;

/// What the newest ply of the record brought about; whoever made it is the finding's side. Mate and
/// stalemate are no findings: they are the result.
pub fn brought_about(record: &[Recorded]) -> Option<Finding> {
    let newest = record.last()?;
    let position = newest.after.position()?;
    if position.legal_moves().is_empty() {
        return None;
    }
    let was_dead = || newest.before.position().is_some_and(is_dead);
    let code = if is_dead(position) && !was_dead() {
        Code::DeadPosition
    } else {
        counted(record, newest)?
    };
    Some(Finding {
        played: newest.san.clone(),
        ..Finding::certain(code, newest.side, Vec::new())
    })
}

fn counted(record: &[Recorded], newest: &Recorded) -> Option<Code> {
    let times = appearances(record);
    match newest.after.setup().halfmoves {
        _ if times >= 5 => Some(Code::Fivefold),
        SEVENTY_FIVE_MOVES.. => Some(Code::SeventyFiveMoves),
        _ if times == 3 => Some(Code::ThreefoldAvailable),
        FIFTY_MOVES => Some(Code::FiftyMovesAvailable),
        _ => None,
    }
}

/// Whether neither side can mate by any series of legal moves (5.2.2), as far as it is quickly proven.
pub fn is_dead(position: &Chess) -> bool {
    cannot_mate(position, Side::White) && cannot_mate(position, Side::Black)
}

/// How often the newest position has stood on the board with the same side to move and the same
/// possible moves (9.2.3).
fn appearances(record: &[Recorded]) -> usize {
    let Some(newest) = record.last() else {
        return 0;
    };
    // Nothing before the last capture or pawn move can be the same.
    let quiet = newest.after.setup().halfmoves as usize;
    let before = record.iter().rev().take(quiet);
    1 + before
        .filter(|ply| is_same(&ply.before, &newest.after))
        .count()
}

fn is_same(a: &Ground, b: &Ground) -> bool {
    let (one, other) = (a.setup(), b.setup());
    one.turn == other.turn
        && one.board == other.board
        && one.castling_rights == other.castling_rights
        && en_passant(a) == en_passant(b)
}

/// Only a capture that is legal makes a difference (9.2.3.1).
fn en_passant(ground: &Ground) -> Option<shakmaty::Square> {
    ground.setup().ep_square?;
    ground.position()?.ep_square(EnPassantMode::Legal)
}

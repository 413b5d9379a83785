//! En passant (Art. 3.7.3.1-2): which condition a capture in passing did not meet.

use shakmaty::{Bitboard, Board, Color, File, Rank, Role, Square};

use super::{Certainty, Code, Turn, geometry::rank_of};
use crate::words::Side;

/// A pawn went diagonally from `from` to the empty square `to`, and the enemy pawn on `victim`,
/// beside `from`, is gone.
pub(super) fn fault(turn: &Turn, from: Square, to: Square, victim: Square) -> (Code, Certainty) {
    let right = turn.before.setup.ep_square.filter(|square| {
        turn.before.turn() == turn.mover
            && rank_of(turn.mover, from) == 4
            && u32::from(square.file()).abs_diff(u32::from(from.file())) == 1
    });
    if right.is_some() || victim.file() != to.file() || rank_of(turn.mover, from) != 4 {
        return (Code::EnPassantWrongVictim, Certainty::Certain);
    }
    let known = turn
        .past
        .double_steps
        .iter()
        .any(|&(square, _)| square == victim);
    let late = known || (!turn.past.complete && no_tempo_to_spare(turn));
    let code = if late {
        Code::EnPassantLate
    } else {
        Code::EnPassantNoDoubleStep
    };
    let sure = turn.past.complete || turn.past.rights_known || known;
    let certainty = if sure {
        Certainty::Certain
    } else {
        Certainty::Probable
    };
    (code, certainty)
}

/// Whether the victim's side needed every move it has made to reach this position, double steps
/// counted as one: then each pawn that could have come by a double step did.
fn no_tempo_to_spare(turn: &Turn) -> bool {
    let victim_side = !turn.mover;
    let full = turn.before.setup.fullmoves.get();
    let made = if victim_side == Color::Black {
        full - 1
    } else {
        full
    };
    made <= fewest_moves(turn.before.board(), victim_side)
}

/// A lower bound on the moves the side made from the start array: each pawn's steps on its own
/// file, and one for every man away from a home square of its type.
fn fewest_moves(board: &Board, side: Side) -> u32 {
    let mut moves = 0;
    for square in board.by_piece(Role::Pawn.of(side)) {
        moves += match rank_of(side, square) {
            0 | 1 => 0,
            2 | 3 => 1,
            rank => rank - 2,
        };
    }
    let back = Bitboard::from(side.fold_wb(Rank::First, Rank::Eighth));
    for (role, files) in [
        (Role::Rook, &[File::A, File::H][..]),
        (Role::Knight, &[File::B, File::G]),
        (Role::Bishop, &[File::C, File::F]),
        (Role::Queen, &[File::D]),
        (Role::King, &[File::E]),
    ] {
        let home = files.iter().fold(Bitboard::EMPTY, |all, &file| {
            all | (back & Bitboard::from(file))
        });
        let away = (board.by_piece(role.of(side)) & !home).count();
        moves += u32::try_from(away).unwrap_or(0);
    }
    moves
}

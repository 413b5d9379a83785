//! P01 to P06 and the plain part of P09: counts, checks and castling rights.

use shakmaty::{Bitboard, Board, Color, File, Rank, Role, Square};

use super::{Proof, Reason, Scene};
use crate::words::Side;

/// All that a look proves.
pub(super) fn proofs(scene: &Scene) -> Vec<Proof> {
    let board = &scene.board;
    if board.occupied().is_empty() {
        return vec![Proof::new(Reason::BoardEmpty, Bitboard::EMPTY)];
    }
    let mut found = Vec::new();
    let mut say = |reason, squares| found.push(Proof::new(reason, squares));
    for side in Color::ALL {
        let men = board.by_color(side);
        let kings = men & board.kings();
        let pawns = men & board.pawns();
        let (first, last) = (side.backrank(), (!side).backrank());
        if kings.is_empty() {
            say(Reason::KingMissing, kings);
        } else if kings.more_than_one() {
            say(Reason::KingExtra, kings);
        }
        for (rank, reason) in [
            (first, Reason::PawnOnOwnBackRank),
            (last, Reason::PawnOnLastRank),
        ] {
            let there = pawns & Bitboard::from_rank(rank);
            if there.any() {
                say(reason, there);
            }
        }
        if men.count() > 16 {
            say(Reason::TooManyMen, men);
        }
        if pawns.count() > 8 {
            say(Reason::TooManyPawns, pawns);
        } else if !budget_holds(board, side) {
            say(Reason::PromotionBudget, men & !board.kings());
        }
    }
    if !found.is_empty() {
        return found;
    }
    let mut say = |reason, squares| found.push(Proof::new(reason, squares));
    let against_mover = checkers(board, !scene.turn);
    let against_next = checkers(board, scene.turn);
    if against_mover.any() {
        say(Reason::MoverLeftInCheck, against_mover);
    } else if against_next.count() > 2 {
        say(Reason::TooManyCheckers, against_next);
    }
    let homeless: Bitboard = scene
        .rights
        .into_iter()
        .filter(|&rook| !at_home(scene, rook))
        .collect();
    if homeless.any() {
        say(Reason::CastlingRightInconsistent, homeless);
    }
    found
}

/// P04: every man beyond the first array was once a pawn; bishops are told by their squares' colour.
pub(super) fn budget_holds(board: &Board, side: Side) -> bool {
    let men = board.by_color(side);
    let beyond = |squares: Bitboard, first: usize| (men & squares).count().saturating_sub(first);
    let bishops = board.bishops();
    let promoted = beyond(board.queens(), 1)
        + beyond(board.rooks(), 2)
        + beyond(board.knights(), 2)
        + beyond(bishops & Bitboard::LIGHT_SQUARES, 1)
        + beyond(bishops & Bitboard::DARK_SQUARES, 1);
    (men & board.pawns()).count() + promoted <= 8
}

/// The men that give check to a side's king.
pub(super) fn checkers(board: &Board, side: Side) -> Bitboard {
    board.king_of(side).map_or(Bitboard::EMPTY, |king| {
        board.attacks_to(king, !side, board.occupied())
    })
}

/// Whether a castling right has its king and rook where they can have stood from the start.
fn at_home(scene: &Scene, rook: Square) -> bool {
    let side = match rook.rank() {
        Rank::First => Color::White,
        Rank::Eighth => Color::Black,
        _ => return false,
    };
    let king = scene.board.king_of(side);
    let homes = if scene.standard {
        king == Some(Square::from_coords(File::E, rook.rank()))
            && matches!(rook.file(), File::A | File::H)
    } else {
        king.is_some_and(|king| king.rank() == rook.rank())
    };
    homes && scene.board.piece_at(rook) == Some(Role::Rook.of(side))
}

//! How the men move (Art. 3.1-3.8.1), and what is wrong with a step that is none of theirs.
//!
//! Works on bare boards, because the position before an illegal move may be one that a chess
//! library refuses.

use shakmaty::{Bitboard, Board, Color, Role, Square, attacks};

use super::{Code, Stand, castling};
use crate::words::Side;

/// One legal move and the board after it.
#[derive(Debug, Clone)]
pub(super) struct Ply {
    pub from: Square,
    pub to: Square,
    pub after: Board,
}

/// Rank counted from the side's own end, 0 to 7.
pub(super) fn rank_of(side: Side, square: Square) -> u32 {
    let rank = u32::from(square.rank());
    if side == Color::White { rank } else { 7 - rank }
}

/// The square one rank ahead (or, with a negative count, behind) for a side.
pub(super) fn ahead(side: Side, square: Square, ranks: i32) -> Option<Square> {
    let step = if side == Color::White { 8 } else { -8 };
    square.offset(step * ranks)
}

/// How many king steps apart.
pub(super) fn distance(a: Square, b: Square) -> u32 {
    a.distance(b)
}

/// Whether the side's king stands attacked. A side without a king is not in check.
pub(super) fn in_check(board: &Board, side: Side) -> bool {
    board
        .king_of(side)
        .is_some_and(|king| attacked(board, king, !side, board.occupied()))
}

/// Whether `by` attacks the square; pinned men attack too (3.1.3).
pub(super) fn attacked(board: &Board, square: Square, by: Side, occupied: Bitboard) -> bool {
    board.attacks_to(square, by, occupied).any()
}

/// Squares the man on `from` may go to, its own king's safety aside. Castling is not among them.
pub(super) fn reach(stand: &Stand, from: Square) -> Bitboard {
    let board = stand.board();
    let Some(man) = board.piece_at(from) else {
        return Bitboard::EMPTY;
    };
    let occupied = board.occupied();
    let hits = attacks::attacks(from, man, occupied);
    if man.role != Role::Pawn {
        return hits & !board.by_color(man.color);
    }
    let mut targets = hits & board.by_color(!man.color);
    if let Some(square) = stand.setup.ep_square
        && man.color == stand.turn()
        && rank_of(man.color, square) == 5
    {
        targets |= hits & Bitboard::from(square);
    }
    if let Some(one) = ahead(man.color, from, 1)
        && !occupied.contains(one)
    {
        targets |= Bitboard::from(one);
        if rank_of(man.color, from) == 1
            && let Some(two) = ahead(man.color, from, 2)
            && !occupied.contains(two)
        {
            targets |= Bitboard::from(two);
        }
    }
    targets
}

/// The board after a step; an en passant victim goes too when the step is one.
pub(super) fn after(stand: &Stand, from: Square, to: Square, role: Role) -> Board {
    let mut board = stand.board().clone();
    if let Some(man) = board.remove_piece_at(from) {
        if man.role == Role::Pawn
            && from.file() != to.file()
            && board.piece_at(to).is_none()
            && let Some(victim) = ahead(man.color, to, -1)
        {
            board.discard_piece_at(victim);
        }
        board.set_piece_at(to, role.of(man.color));
    }
    board
}

/// Every legal move of the side, whether or not it is its turn.
pub(super) fn legal_plies(stand: &Stand, side: Side) -> Vec<Ply> {
    let mut plies = Vec::with_capacity(48);
    for from in stand.board().by_color(side) {
        let Some(man) = stand.board().piece_at(from) else {
            continue;
        };
        for to in reach(stand, from) {
            if stand.board().role_at(to) == Some(Role::King) {
                continue;
            }
            let promotes = man.role == Role::Pawn && rank_of(side, to) == 7;
            let roles: &[Role] = if promotes {
                &[Role::Queen, Role::Rook, Role::Bishop, Role::Knight]
            } else {
                std::slice::from_ref(&man.role)
            };
            for &role in roles {
                let after = after(stand, from, to, role);
                if !in_check(&after, side) {
                    plies.push(Ply { from, to, after });
                }
            }
        }
    }
    plies.extend(castling::legal(stand, side));
    plies
}

/// What is wrong with this step of a man that kept its type; `None` when the man moves so.
pub(super) fn fault(stand: &Stand, from: Square, to: Square) -> Option<Code> {
    let board = stand.board();
    let man = board.piece_at(from)?;
    if reach(stand, from).contains(to) {
        return None;
    }
    if board.color_at(to) == Some(man.color) {
        return Some(Code::OwnPieceCaptured);
    }
    let free = attacks::attacks(from, man, Bitboard::EMPTY).contains(to);
    Some(match man.role {
        Role::Bishop | Role::Rook | Role::Queen if free => Code::SliderJumpedPiece,
        Role::Bishop if from.is_light() != to.is_light() => Code::BishopChangedColour,
        Role::Bishop => Code::BishopOffDiagonal,
        Role::Rook => Code::RookOffLine,
        Role::Queen => Code::QueenOffLine,
        Role::Knight => Code::KnightBadJump,
        Role::King => Code::KingBadStep,
        Role::Pawn => pawn_fault(board, man.color, from, to),
    })
}

fn pawn_fault(board: &Board, side: Side, from: Square, to: Square) -> Code {
    let (start, end) = (rank_of(side, from), rank_of(side, to));
    if end <= start {
        return Code::PawnBackwardOrSideways;
    }
    let ranks = end - start;
    if from.file() != to.file() {
        return if ranks == 1 && board.piece_at(to).is_none() {
            Code::PawnDiagonalNoCapture
        } else {
            Code::PawnAdvanceTooFar
        };
    }
    if ranks > 2 {
        Code::PawnAdvanceTooFar
    } else if ranks == 2 && start != 1 {
        Code::PawnDoubleStepNotHome
    } else if board.piece_at(to).is_some() {
        Code::PawnCapturedForward
    } else {
        Code::PawnAdvanceBlocked
    }
}

/// Which rule of 3.9.2 a step broke that left the mover's king attacked on the board `after`.
pub(super) fn king_fault(before: &Board, after: &Board, side: Side, role: Role) -> Option<Code> {
    if !in_check(after, side) {
        return None;
    }
    if role != Role::King {
        return Some(if in_check(before, side) {
            Code::KingLeftInCheck
        } else {
            Code::OwnKingExposed
        });
    }
    let near = match (after.king_of(side), after.king_of(!side)) {
        (Some(own), Some(other)) => distance(own, other) <= 1,
        _ => false,
    };
    Some(if near {
        Code::KingsAdjacent
    } else {
        Code::KingMovedIntoCheck
    })
}

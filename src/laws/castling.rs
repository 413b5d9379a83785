//! Castling (Art. 3.8.2): whether it is allowed, and which ban an illegal one broke.

use shakmaty::{Bitboard, Board, CastlingMode, File, Rank, Role, Square, attacks};

use super::{
    Code, Past, Stand,
    geometry::{Ply, attacked, distance, in_check, rank_of},
};
use crate::words::Side;

/// One way to castle: where king and rook start and end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub king: (Square, Square),
    pub rook: (Square, Square),
    pub long: bool,
}

impl Way {
    fn new(king: Square, rook: Square) -> Way {
        let long = rook.file() < king.file();
        let (king_file, rook_file) = if long {
            (File::C, File::D)
        } else {
            (File::G, File::F)
        };
        Way {
            king: (king, Square::from_coords(king_file, king.rank())),
            rook: (rook, Square::from_coords(rook_file, rook.rank())),
            long,
        }
    }

    /// The board after it.
    pub fn after(&self, board: &Board, side: Side) -> Board {
        let mut board = board.clone();
        board.discard_piece_at(self.king.0);
        board.discard_piece_at(self.rook.0);
        board.set_piece_at(self.king.1, Role::King.of(side));
        board.set_piece_at(self.rook.1, Role::Rook.of(side));
        board
    }
}

/// The castlings the men's places suggest: king and rook on the back rank, and in standard chess
/// on their home squares.
pub(super) fn ways(stand: &Stand, side: Side) -> Vec<Way> {
    let board = stand.board();
    let Some(king) = board.king_of(side) else {
        return Vec::new();
    };
    let standard = stand.mode == CastlingMode::Standard;
    if rank_of(side, king) != 0 || (standard && king.file() != File::E) {
        return Vec::new();
    }
    let back = Bitboard::from(side.fold_wb(Rank::First, Rank::Eighth));
    let rooks = board.by_piece(Role::Rook.of(side)) & back;
    rooks
        .into_iter()
        .filter(|rook| !standard || matches!(rook.file(), File::A | File::H))
        .map(|rook| Way::new(king, rook))
        .collect()
}

/// The ban this castling breaks; `None` when it is legal. The gravest comes first: a right that is
/// lost for good (3.8.2.1), then what prevents it for the moment (3.8.2.2).
pub(super) fn ban(stand: &Stand, side: Side, way: &Way, past: &Past) -> Option<Code> {
    let board = stand.board();
    let rights = stand.setup.castling_rights;
    if !rights.contains(way.rook.0) {
        return Some(lost_right(rights, side, past));
    }
    let movers = Bitboard::from(way.king.0) | Bitboard::from(way.rook.0);
    let king_path = attacks::between(way.king.0, way.king.1) | Bitboard::from(way.king.1);
    let rook_path = attacks::between(way.rook.0, way.rook.1) | Bitboard::from(way.rook.1);
    if ((king_path | rook_path) & board.occupied() & !movers).any() {
        return Some(Code::CastlingPathBlocked);
    }
    if in_check(board, side) {
        return Some(Code::CastlingOutOfCheck);
    }
    let occupied = board.occupied() & !Bitboard::from(way.king.0);
    let crossed = attacks::between(way.king.0, way.king.1);
    if crossed
        .into_iter()
        .any(|square| attacked(board, square, !side, occupied))
    {
        return Some(Code::CastlingThroughCheck);
    }
    in_check(&way.after(board, side), side).then_some(Code::CastlingIntoCheck)
}

/// King or rook: the log knows; a bare position tells by what is left of the side's rights.
fn lost_right(rights: Bitboard, side: Side, past: &Past) -> Code {
    let back = Bitboard::from(side.fold_wb(Rank::First, Rank::Eighth));
    let king = if past.complete {
        past.king_moved(side)
    } else {
        past.king_moved(side) || (rights & back).is_empty()
    };
    if king {
        Code::CastlingKingMoved
    } else {
        Code::CastlingRookMoved
    }
}

/// The legal castlings.
pub(super) fn legal(stand: &Stand, side: Side) -> Vec<Ply> {
    let past = Past::default();
    ways(stand, side)
        .into_iter()
        .filter(|way| ban(stand, side, way, &past).is_none())
        .map(|way| Ply {
            from: way.king.0,
            to: way.king.1,
            after: way.after(stand.board(), side),
        })
        .collect()
}

/// An attempt that did not end on castling's squares: the king went two squares over, but the rook
/// stands wrong (3.8.2) or still at home (4.7.2). `rook` is the rook's own step, if it made one.
pub(super) fn botched(
    stand: &Stand,
    side: Side,
    king: (Square, Square),
    rook: Option<(Square, Square)>,
) -> Option<Code> {
    if stand.mode != CastlingMode::Standard || distance(king.0, king.1) != 2 {
        return None;
    }
    let along_rank = king.0.rank() == king.1.rank();
    let along_file = king.0.file() == king.1.file();
    match rook {
        Some(_) if along_rank || along_file => Some(Code::CastlingBadSquares),
        None if along_rank => {
            let way = ways(stand, side).into_iter().find(|way| way.king == king)?;
            let between = attacks::between(way.king.0, way.rook.0);
            (between & stand.board().occupied())
                .is_empty()
                .then_some(Code::CastlingIncomplete)
        }
        _ => None,
    }
}

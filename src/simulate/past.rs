//! What a game's past forbids: castling after king or rook had moved, capturing in passing too late
//! (Articles 3.8.2.1, 3.7.3.2).

use shakmaty::{
    Bitboard, CastlingSide, Chess, EnPassantMode, File, Move, Position, Rank, Role, Square, attacks,
};

use super::{
    games::PlannedGame,
    mishap::{Mishap, attacked, moved},
};
use crate::words::Side;

/// What the players ought to remember of their game.
#[derive(Debug, Clone)]
pub(super) struct Past {
    king_moved: [bool; 2],
    /// Corners a rook left, or was captured on.
    rooks_gone: Bitboard,
    /// Pawns that stand where their double step put them.
    double_steps: Bitboard,
}

impl Past {
    /// The first plies of a game; `None` when it did not begin with the usual array, for then its
    /// past is not known.
    pub(super) fn of(game: &PlannedGame, plies: usize) -> Option<Past> {
        if game.start != Chess::default() {
            return None;
        }
        let mut past = Past {
            king_moved: [false; 2],
            rooks_gone: Bitboard::EMPTY,
            double_steps: Bitboard::EMPTY,
        };
        let mut pos = game.start.clone();
        for planned in &game.plies[..plies] {
            past.note(&pos, planned.mv);
            pos.play_unchecked(planned.mv);
        }
        Some(past)
    }

    fn note(&mut self, pos: &Chess, mv: Move) {
        let touched = Bitboard::from_iter([mv.from(), Some(mv.to())].into_iter().flatten());
        self.rooks_gone |= touched & pos.board().rooks() & Bitboard::CORNERS;
        self.double_steps &= !touched;
        match (mv.role(), mv.from()) {
            (Role::King, _) => self.king_moved[pos.turn() as usize] = true,
            (Role::Pawn, Some(from)) if from.rank().distance(mv.to().rank()) == 2 => {
                self.double_steps.add(mv.to());
            }
            _ => {}
        }
    }

    /// Castlings whose right is lost, and captures in passing that come too late or of a pawn that
    /// never stepped twice. Nothing else is wrong with them.
    pub(super) fn forgotten(&self, pos: &Chess) -> Vec<Mishap> {
        let mut found = self.castlings(pos);
        found.extend(self.in_passing(pos));
        found
    }

    fn castlings(&self, pos: &Chess) -> Vec<Mishap> {
        let (board, side) = (pos.board(), pos.turn());
        let home = Square::from_coords(File::E, side.fold_wb(Rank::First, Rank::Eighth));
        let mut found = Vec::new();
        if board.king_of(side) != Some(home) {
            return found;
        }
        for wing in CastlingSide::ALL {
            let rook = Square::from_coords(
                if wing.is_king_side() {
                    File::H
                } else {
                    File::A
                },
                home.rank(),
            );
            let code = match self.king_moved[side as usize] {
                true => "castling-king-moved",
                false if self.rooks_gone.contains(rook) => "castling-rook-moved",
                false => continue,
            };
            let crossed = attacks::between(home, wing.king_to(side)) | Bitboard::from(home);
            let threatened = crossed.into_iter().any(|square| {
                board
                    .attacks_to(square, side.other(), board.occupied())
                    .any()
            });
            let clear = (attacks::between(home, rook) & board.occupied()).is_empty();
            if board.piece_at(rook) != Some(Role::Rook.of(side)) || !clear || threatened {
                continue;
            }
            let mut after = moved(board, home, wing.king_to(side), Role::King.of(side));
            after.discard_piece_at(rook);
            after.set_piece_at(wing.rook_to(side), Role::Rook.of(side));
            if !attacked(&after, side) {
                found.push(Mishap { code, after });
            }
        }
        found
    }

    fn in_passing(&self, pos: &Chess) -> Vec<Mishap> {
        let (board, side) = (pos.board(), pos.turn());
        let mut found = Vec::new();
        if pos.ep_square(EnPassantMode::Always).is_some() {
            return found;
        }
        let fifth: Bitboard = side.fold_wb(Rank::Fifth, Rank::Fourth).into();
        let pawns = |of: Side| board.pawns() & board.by_color(of) & fifth;
        for victim in pawns(side.other()) {
            let Some(to) = victim.offset(side.fold_wb(8, -8)) else {
                continue;
            };
            if board.piece_at(to).is_some() {
                continue;
            }
            for from in pawns(side) & attacks::king_attacks(victim) {
                let mut after = moved(board, from, to, Role::Pawn.of(side));
                after.discard_piece_at(victim);
                if !attacked(&after, side) {
                    let code = if self.double_steps.contains(victim) {
                        "en-passant-late"
                    } else {
                        "en-passant-no-double-step"
                    };
                    found.push(Mishap { code, after });
                }
            }
        }
        found
    }
}

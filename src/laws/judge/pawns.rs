//! Verdicts on captures in passing and on promotions.

use shakmaty::{Piece, Role, Square};

use super::{
    super::{
        Code, Finding, en_passant,
        geometry::{self, ahead, distance, rank_of},
    },
    Case,
};

impl Case<'_> {
    /// A pawn went diagonally to an empty square, and an enemy pawn is gone.
    pub(super) fn in_passing(&self, from: Square, to: Square) -> Option<Finding> {
        let side = self.turn.mover;
        let victim = self.diff.their_left.single_square()?;
        let diagonal = rank_of(side, to) == rank_of(side, from) + 1
            && distance(from, to) == 1
            && from.file() != to.file();
        if !diagonal
            || self.diff.their_came.any()
            || self.board.piece_at(to).is_some()
            || self.before.piece(victim) != Some(Role::Pawn.of(!side))
            || victim.rank() != from.rank()
            || distance(victim, from) != 1
        {
            return None;
        }
        let permitted =
            geometry::reach(self.turn.before, from).contains(to) && victim.file() == to.file();
        if permitted {
            let seen = self.turn.seen.to_board();
            let code = geometry::king_fault(self.board, &seen, side, Role::Pawn)?;
            return Some(self.on_king(code, from, to, &seen));
        }
        let (code, certainty) = en_passant::fault(self.turn, from, to, victim);
        Some(self.finding(code, certainty, &[from, to, victim]))
    }

    /// A man other than a pawn "took" the pawn that stands just behind its arrival square.
    pub(super) fn piece_in_passing(&self, from: Square, to: Square) -> Option<Finding> {
        let side = self.turn.mover;
        let victim = self.diff.their_left.single_square()?;
        let passing = rank_of(side, to) == 5
            && ahead(side, to, -1) == Some(victim)
            && self.board.piece_at(to).is_none()
            && self.diff.their_came.is_empty()
            && self.before.piece(victim) == Some(Role::Pawn.of(!side));
        passing.then(|| self.certain(Code::EnPassantByPiece, &[from, to, victim]))
    }

    /// A pawn left and a man of another type came.
    pub(super) fn exchanged_pawn(&self, from: Square, to: Square, new: Piece) -> Finding {
        let squares = [from, to];
        let side = self.turn.mover;
        let step = geometry::reach(self.turn.before, from).contains(to);
        if new.role == Role::King {
            return self.certain(Code::PromotionBadPiece, &squares);
        }
        if rank_of(side, to) != 7 {
            let code = if from == to || step {
                Code::PromotionEarly
            } else {
                Code::PieceIdentityChanged
            };
            return self.certain(code, &squares);
        }
        if step {
            let seen = self.turn.seen.to_board();
            if let Some(code) = geometry::king_fault(self.board, &seen, side, Role::Pawn) {
                return self.on_king(code, from, to, &seen);
            }
        }
        if rank_of(side, from) == 6 {
            return self.certain(Code::PromotionSquareMismatch, &squares);
        }
        let code = geometry::fault(self.turn.before, from, to);
        self.certain(code.unwrap_or(Code::PromotionEarly), &squares)
    }
}

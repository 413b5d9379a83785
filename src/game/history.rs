//! What the record knows and a position does not show: who moved from home, who stepped twice.

use shakmaty::{Bitboard, Color, Move, Rank, Role, Square};

use super::{event::Recorded, ground::Ground};

/// Facts of the past that the castling and en passant rules ask for (Articles 3.8.2.1, 3.7.3.1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The game was followed from its first move.
    pub complete: bool,
    /// Castling and en passant fields are facts, not a guess after a late join.
    pub rights_known: bool,
    /// Whether the king ever moved: White, Black.
    pub king_moved: [bool; 2],
    /// Home squares that rooks left, or were captured on.
    pub rooks_gone: Bitboard,
    /// Pawns that stand where a double step put them, with the ply of that step.
    pub double_steps: Vec<(Square, u16)>,
}

impl History {
    /// A game followed from its start array.
    pub fn from_start() -> History {
        History {
            complete: true,
            rights_known: true,
            ..History::default()
        }
    }

    /// Takes note of a ply of the record.
    pub(super) fn note(&mut self, ply: &Recorded) {
        match ply.mv {
            Some(mv) => self.note_move(&ply.before, mv, ply.ply),
            None => self.note_irregular(&ply.before, &ply.after),
        }
    }

    fn note_move(&mut self, before: &Ground, mv: Move, ply: u16) {
        let mover = before.turn();
        if mv.role() == Role::King {
            self.king_moved[mover.fold_wb(0, 1)] = true;
        }
        let corners = Bitboard::from(Rank::First) | Bitboard::from(Rank::Eighth);
        for square in [mv.from(), Some(mv.to())].into_iter().flatten() {
            if corners.contains(square) && before.setup().board.role_at(square) == Some(Role::Rook)
            {
                self.rooks_gone.add(square);
            }
        }
        let victim = match mv {
            Move::EnPassant { from, to } => Square::from_coords(to.file(), from.rank()),
            _ => mv.to(),
        };
        self.double_steps
            .retain(|&(square, _)| Some(square) != mv.from() && square != victim);
        if let (Role::Pawn, Some(from)) = (mv.role(), mv.from())
            && (from.rank() as i32 - mv.to().rank() as i32).abs() == 2
        {
            self.double_steps.push((mv.to(), ply));
        }
    }

    /// Takes note of men that changed squares without a legal ply.
    fn note_irregular(&mut self, before: &Ground, after: &Ground) {
        let (was, is) = (&before.setup().board, &after.setup().board);
        for color in Color::ALL {
            if was.king_of(color) != is.king_of(color) {
                self.king_moved[color.fold_wb(0, 1)] = true;
            }
        }
        self.rooks_gone |= was.rooks() & !is.rooks();
        self.double_steps
            .retain(|&(square, _)| is.piece_at(square) == was.piece_at(square));
    }
}

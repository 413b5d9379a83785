//! A player's hands: one legal move becomes timed changes of squares, in the orders and at the
//! rates measured on real boards (reconstruction.md section 2).

use shakmaty::{Bitboard, Board, CastlingSide, Move, Piece, Role, Square, attacks};

use super::noise::Rates;
use crate::words::Side;

/// A square gets a man, or none, at a moment (ms).
pub type Touch = (u64, Square, Option<Piece>);

/// Hands that make moves on a board from a moment on.
pub struct Hands<'a> {
    /// Habits.
    pub rates: &'a Rates,
    /// Luck.
    pub rng: &'a mut fastrand::Rng,
    /// What they have done.
    pub touches: Vec<Touch>,
    /// Now, in ms.
    pub at: u64,
    /// A time no scan pass is longer than, in ms.
    pub pass_ms: u64,
}

impl Hands<'_> {
    fn chance(&mut self, rate: f64) -> bool {
        self.rng.f64() < rate
    }

    /// Waits longer than a scan pass, so that all done before is seen before.
    pub fn pause(&mut self) {
        self.at += self.pass_ms + self.rng.u64(20..350);
    }

    fn set(&mut self, square: Square, man: Option<Piece>) {
        self.touches.push((self.at, square, man));
    }

    /// Takes the man away.
    pub fn lift(&mut self, square: Square) {
        self.set(square, None);
    }

    /// Puts a man.
    pub fn place(&mut self, square: Square, man: Piece) {
        self.set(square, Some(man));
    }

    /// Makes a legal move of `side` on `board`.
    pub fn make(&mut self, board: &Board, side: Side, mv: Move) {
        match mv {
            Move::Castle { king, rook } => self.castle(side, king, rook),
            Move::EnPassant { from, to } => {
                self.carry(board, from, to, Role::Pawn.of(side), None);
                self.pause();
                self.lift(Square::from_coords(to.file(), from.rank()));
            }
            Move::Normal {
                role,
                from,
                to,
                promotion,
                ..
            } => self.carry(board, from, to, role.of(side), promotion),
            // Drops belong to a variant that no board plays.
            Move::Put { .. } => {}
        }
    }

    fn castle(&mut self, side: Side, king: Square, rook: Square) {
        let wing = CastlingSide::from_king_side(king < rook);
        let (king_to, rook_to) = (wing.king_to(side), wing.rook_to(side));
        let mut rook_up = false;
        if king != king_to {
            self.lift(king);
            self.pause();
            if king_to == rook {
                self.lift(rook);
                self.pause();
                rook_up = true;
            }
            self.place(king_to, Role::King.of(side));
            self.pause();
        }
        if rook != rook_to {
            if !rook_up {
                self.lift(rook);
                self.pause();
            }
            self.place(rook_to, Role::Rook.of(side));
        }
    }

    fn carry(
        &mut self,
        board: &Board,
        from: Square,
        to: Square,
        man: Piece,
        promotion: Option<Role>,
    ) {
        let victim = board.piece_at(to);
        let order = self.rng.f64();
        let quick = self.chance(self.rates.quick);
        if let Some(victim) = victim.filter(|_| order < 0.2) {
            self.lift(to);
            self.track(board, from, to, victim);
            self.pause();
        }
        self.lift(from);
        if quick {
            self.at += self.rng.u64(40..140);
        } else {
            self.pause();
            self.slide(board, from, to, man);
        }
        let mut carried_off = None;
        if let Some(victim) = victim.filter(|_| order >= 0.2) {
            if order > 0.91 {
                self.lift(to);
                self.track(board, from, to, victim);
                self.pause();
            } else {
                carried_off = Some(victim);
            }
        }
        match promotion.map(|role| role.of(man.color)) {
            None => self.place(to, man),
            Some(queen) if self.chance(0.5) => self.place(to, queen),
            Some(queen) => {
                self.place(to, man);
                self.pause();
                if self.chance(0.5) {
                    self.lift(to);
                    self.pause();
                }
                self.place(to, queen);
            }
        }
        if let Some(victim) = carried_off {
            self.track(board, from, to, victim);
        }
    }

    /// The captured man touches down on an empty neighbour while it is taken away.
    fn track(&mut self, board: &Board, from: Square, to: Square, victim: Piece) {
        if !self.chance(self.rates.victim_track) {
            return;
        }
        let free = attacks::king_attacks(to) & !board.occupied() & !Bitboard::from(from);
        if let Some(square) = self.rng.choice(free) {
            self.at += 30;
            self.place(square, victim);
            self.at += self.rng.u64(100..240);
            self.lift(square);
        }
    }

    /// Stops on a square in between.
    fn slide(&mut self, board: &Board, from: Square, to: Square, man: Piece) {
        let way = attacks::between(from, to) & !board.occupied();
        if way.any()
            && self.chance(self.rates.slide)
            && let Some(stop) = self.rng.choice(way)
        {
            self.place(stop, man);
            self.pause();
            self.lift(stop);
            self.pause();
        }
    }

    /// From one placement to another, square by square: first what must go, then what must come.
    pub fn rearrange(&mut self, from: &Board, to: &Board, gap_ms: u64) {
        let differs = |square: &Square| from.piece_at(*square) != to.piece_at(*square);
        for square in Square::ALL.into_iter().filter(differs) {
            if from.piece_at(square).is_some() {
                self.lift(square);
                self.at += gap_ms;
            }
        }
        for square in Square::ALL.into_iter().filter(differs) {
            if let Some(man) = to.piece_at(square) {
                self.place(square, man);
                self.at += gap_ms;
            }
        }
    }
}

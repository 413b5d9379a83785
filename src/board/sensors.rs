//! Folds dumps and field updates into one placement, the right way round.

use shakmaty::{Bitboard, Color, Piece, Rank, Role, Square};

use super::placement::{Placement, Reading};
use crate::words::At;

/// One square changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// When the news arrived.
    pub at: At,
    /// Which square, White at the bottom.
    pub square: Square,
    /// What it read before.
    pub from: Reading,
    /// What it reads now.
    pub to: Reading,
}

/// The board's sensors: what they read, which way the board lies, which squares flap.
#[derive(Debug, Clone, Default)]
pub struct Sensors {
    placement: Placement,
    known: bool,
    turned: bool,
    flaps: Vec<(At, Square)>,
}

/// A square that changes this often within [`FLAP_WINDOW_MS`] is doubted (reconstruction.md 7.12).
const FLAP_CHANGES: usize = 6;
const FLAP_WINDOW_MS: u64 = 10_000;

impl Sensors {
    /// What is read now.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// A full board was read since the link came up. Before that, field updates have no ground to
    /// stand on (reconstruction.md 3.5).
    pub fn known(&self) -> bool {
        self.known
    }

    /// The board lies with its connector at White's right.
    pub fn turned(&self) -> bool {
        self.turned
    }

    /// The link went down: what was read may be stale until the next full board.
    pub fn forget(&mut self) {
        self.known = false;
        self.flaps.clear();
    }

    /// Turns the board by hand; returns the squares that read differently now.
    pub fn turn(&mut self) -> Bitboard {
        let before = self.placement;
        self.turned = !self.turned;
        self.placement = before.turned();
        before.differs(&self.placement)
    }

    /// A field update. `None` while no full board is known, or when it repeats what is known.
    pub fn field(&mut self, physical: u8, code: u8, at: At) -> Option<Edge> {
        if !self.known || physical > 63 {
            return None;
        }
        let square = self.square(physical);
        let from = self.placement.get(square);
        self.placement.set_code(square, code & 0x0f);
        let to = self.placement.get(square);
        if from == to {
            return None;
        }
        self.note_flap(square, at);
        Some(Edge {
            at,
            square,
            from,
            to,
        })
    }

    /// A full board. Returns the edges it adds to what the updates had said: lost updates, or the
    /// whole board at the first dump.
    pub fn dump(&mut self, codes: &[u8; 64], at: At) -> Vec<Edge> {
        let mut raw = Placement::EMPTY;
        for (physical, code) in codes.iter().enumerate() {
            raw.set_code(upright(physical as u8), code & 0x0f);
        }
        if looks_like_start(&raw) {
            self.turned = false;
        } else if looks_like_start(&raw.turned()) {
            self.turned = true;
        }
        let fresh = if self.turned { raw.turned() } else { raw };
        let before = self.placement;
        self.placement = fresh;
        self.known = true;
        before
            .differs(&fresh)
            .into_iter()
            .map(|square| Edge {
                at,
                square,
                from: before.get(square),
                to: fresh.get(square),
            })
            .collect()
    }

    /// Squares that changed too often lately to be believed.
    pub fn doubt(&self, now: At) -> Bitboard {
        let mut doubted = Bitboard::EMPTY;
        for &(_, square) in &self.flaps {
            let changes = self
                .flaps
                .iter()
                .filter(|&&(at, s)| s == square && now.ms_since(at) <= FLAP_WINDOW_MS)
                .count();
            if changes >= FLAP_CHANGES {
                doubted.add(square);
            }
        }
        doubted
    }

    fn note_flap(&mut self, square: Square, at: At) {
        if self.flaps.len() >= 64 {
            self.flaps
                .retain(|&(then, _)| at.ms_since(then) <= FLAP_WINDOW_MS);
            // A burst within the window: the oldest half tells nothing new.
            if self.flaps.len() >= 64 {
                self.flaps.drain(..32);
            }
        }
        self.flaps.push((at, square));
    }

    pub(super) fn square(&self, physical: u8) -> Square {
        let square = upright(physical);
        if self.turned {
            square.rotate_180()
        } else {
            square
        }
    }
}

/// Physical square 0 is a8, 63 is h1 (protocol section 6.1).
fn upright(physical: u8) -> Square {
    Square::new(u32::from(physical & 63)).flip_vertical()
}

/// White's eight men and eight pawns on ranks 1 and 2, Black's opposite, nothing between: a start
/// array of any variant, this way round.
pub(super) fn looks_like_start(placement: &Placement) -> bool {
    let pawns_of = |color: Color, rank: Rank| {
        Bitboard::from(rank).into_iter().all(|square| {
            placement.piece(square)
                == Some(Piece {
                    color,
                    role: Role::Pawn,
                })
        })
    };
    placement.occupied().count() == 32
        && pawns_of(Color::White, Rank::Second)
        && pawns_of(Color::Black, Rank::Seventh)
        && Bitboard::from(Rank::First).into_iter().all(|square| {
            placement
                .piece(square)
                .is_some_and(|man| man.color == Color::White)
        })
}

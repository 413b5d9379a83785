//! The men the sensors see, packed so that comparing two boards costs four instructions.

use std::fmt;

use shakmaty::{Bitboard, Board, Color, Piece, Role, Square};

/// What one square reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Nothing sensed.
    Empty,
    /// A man.
    Man(Piece),
    /// One of DGT's result pieces (protocol section 6.2): draw, White wins, Black wins.
    Magic(u8),
}

impl Reading {
    /// What a four-bit code of the board says (protocol section 6.2).
    pub fn from_code(code: u8) -> Reading {
        match code & 0x0f {
            0 => Reading::Empty,
            code => code_to_piece(code).map_or(Reading::Magic(code), Reading::Man),
        }
    }

    fn code(self) -> u8 {
        match self {
            Reading::Empty => 0,
            Reading::Man(piece) => piece_to_code(piece),
            Reading::Magic(code) => code,
        }
    }
}

/// A full board of readings, White at the bottom, whatever way the board lies on the table.
///
/// Stored as four planes of the DGT code's bits, so that [`Placement::differs`] is a few `xor`s.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Placement {
    planes: [u64; 4],
}

impl Placement {
    /// The empty board.
    pub const EMPTY: Placement = Placement { planes: [0; 4] };

    /// The four-bit code of a square (protocol section 6.2).
    pub fn code(&self, square: Square) -> u8 {
        let at = u32::from(square);
        (0..4).fold(0, |code, bit| {
            code | (((self.planes[bit] >> at) & 1) as u8) << bit
        })
    }

    /// Sets the four-bit code of a square; higher bits of `code` are ignored.
    pub fn set_code(&mut self, square: Square, code: u8) {
        let mask = 1u64 << u32::from(square);
        for (bit, plane) in self.planes.iter_mut().enumerate() {
            if code >> bit & 1 == 1 {
                *plane |= mask;
            } else {
                *plane &= !mask;
            }
        }
    }

    /// What the square reads.
    pub fn get(&self, square: Square) -> Reading {
        Reading::from_code(self.code(square))
    }

    /// Lets the square read this.
    pub fn set_reading(&mut self, square: Square, reading: Reading) {
        self.set_code(square, reading.code());
    }

    /// The man on the square, if one is read there.
    pub fn piece(&self, square: Square) -> Option<Piece> {
        code_to_piece(self.code(square))
    }

    /// Puts a man on the square, or clears it.
    pub fn set(&mut self, square: Square, piece: Option<Piece>) {
        self.set_code(square, piece.map_or(0, piece_to_code));
    }

    /// The squares that read differently on the two boards.
    pub fn differs(&self, other: &Placement) -> Bitboard {
        Bitboard(
            (self.planes[0] ^ other.planes[0])
                | (self.planes[1] ^ other.planes[1])
                | (self.planes[2] ^ other.planes[2])
                | (self.planes[3] ^ other.planes[3]),
        )
    }

    /// Squares on which anything is read.
    pub fn occupied(&self) -> Bitboard {
        Bitboard(self.planes.iter().fold(0, |all, plane| all | plane))
    }

    /// All men read, with their squares.
    pub fn men(&self) -> impl Iterator<Item = (Square, Piece)> + '_ {
        self.occupied()
            .into_iter()
            .filter_map(|square| self.piece(square).map(|piece| (square, piece)))
    }

    /// The men as a shakmaty board. Result pieces are left out.
    pub fn to_board(&self) -> Board {
        let mut board = Board::empty();
        for (square, piece) in self.men() {
            board.set_piece_at(square, piece);
        }
        board
    }

    /// The board turned by 180 degrees: what a board reads that lies the other way round.
    #[must_use]
    pub fn turned(&self) -> Placement {
        Placement {
            planes: self.planes.map(u64::reverse_bits),
        }
    }
}

impl From<&Board> for Placement {
    fn from(board: &Board) -> Placement {
        let mut placement = Placement::EMPTY;
        for (square, piece) in board.iter() {
            placement.set(square, Some(piece));
        }
        placement
    }
}

/// The FEN board part. Result pieces print as `?`.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for rank in (0..8).rev() {
            let mut gap = 0;
            for file in 0..8 {
                let square = Square::new(rank * 8 + file);
                let shown = match self.get(square) {
                    Reading::Empty => {
                        gap += 1;
                        continue;
                    }
                    Reading::Man(piece) => piece.char(),
                    Reading::Magic(_) => '?',
                };
                if gap > 0 {
                    write!(f, "{gap}")?;
                    gap = 0;
                }
                f.write_char(shown)?;
            }
            if gap > 0 {
                write!(f, "{gap}")?;
            }
            if rank > 0 {
                f.write_char('/')?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Placement({self})")
    }
}

const ROLES: [Role; 6] = [
    Role::Pawn,
    Role::Rook,
    Role::Knight,
    Role::Bishop,
    Role::King,
    Role::Queen,
];

const fn code_to_piece(code: u8) -> Option<Piece> {
    match code {
        1..=6 => Some(Piece {
            color: Color::White,
            role: ROLES[code as usize - 1],
        }),
        7..=12 => Some(Piece {
            color: Color::Black,
            role: ROLES[code as usize - 7],
        }),
        _ => None,
    }
}

const fn piece_to_code(piece: Piece) -> u8 {
    let role = match piece.role {
        Role::Pawn => 1,
        Role::Rook => 2,
        Role::Knight => 3,
        Role::Bishop => 4,
        Role::King => 5,
        Role::Queen => 6,
    };
    match piece.color {
        Color::White => role,
        Color::Black => role + 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_and_back() {
        let board = Board::new();
        let placement = Placement::from(&board);
        assert_eq!(placement.to_board(), board);
        assert_eq!(
            placement.to_string(),
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
        );
        assert!(placement.turned().turned() == placement);
        assert_eq!(
            placement.turned().piece(Square::E1),
            Some(Role::Queen.of(Color::Black))
        );
    }

    #[test]
    fn differences_are_squares() {
        let start = Placement::from(&Board::new());
        let mut after = start;
        after.set(Square::E2, None);
        after.set(Square::E4, Some(Role::Pawn.of(Color::White)));
        assert_eq!(
            start.differs(&after),
            Bitboard::from(Square::E2) | Bitboard::from(Square::E4)
        );
    }
}

//! What the laws room is told of one turn.

use shakmaty::{
    Bitboard, Board, CastlingMode, EnPassantMode, Setup, Square,
    fen::{Fen, ParseFenError},
};

use crate::{
    board::{Edge, Placement},
    words::Side,
};

/// The last position in which everything was explained, with its rights.
///
/// A `Setup` and not a position, so that one with a king left in check can be spoken of too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stand {
    /// Men, side to move, castling rights, en passant square, counters.
    pub setup: Setup,
    /// Standard chess or Chess960.
    pub mode: CastlingMode,
}

impl Stand {
    /// Reads a FEN.
    ///
    /// # Errors
    /// When the text is no FEN.
    pub fn from_fen(fen: &str, mode: CastlingMode) -> Result<Stand, ParseFenError> {
        Ok(Stand {
            setup: fen.parse::<Fen>()?.into_setup(),
            mode,
        })
    }

    /// The position of a game.
    pub fn of(position: &impl shakmaty::Position, mode: CastlingMode) -> Stand {
        Stand {
            setup: position.to_setup(EnPassantMode::Always),
            mode,
        }
    }

    /// The men.
    pub const fn board(&self) -> &Board {
        &self.setup.board
    }

    /// The side to move.
    pub const fn turn(&self) -> Side {
        self.setup.turn
    }

    /// What a faultless board reads here.
    pub fn placement(&self) -> Placement {
        Placement::from(&self.setup.board)
    }

    /// The FEN.
    pub fn fen(&self) -> String {
        Fen::try_from_setup(self.setup.clone())
            .unwrap_or_else(|lossy| lossy.ignore())
            .to_string()
    }
}

/// What the log of the game knows and a position does not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// The game was followed from its first move.
    pub complete: bool,
    /// The castling and en passant fields of the position are facts (followed, or stated in a
    /// FEN), not a guess after a late join.
    pub rights_known: bool,
    /// Whether the king ever moved: White, Black.
    pub king_moved: [bool; 2],
    /// Home squares of rooks that moved or were captured.
    pub rooks_gone: Bitboard,
    /// Pawns still standing where a double step put them, with the ply of that step.
    pub double_steps: Vec<(Square, u16)>,
}

impl Default for Past {
    /// No log, but a position whose fields can be trusted.
    fn default() -> Past {
        Past {
            complete: false,
            rights_known: true,
            king_moved: [false; 2],
            rooks_gone: Bitboard::EMPTY,
            double_steps: Vec::new(),
        }
    }
}

impl Past {
    /// Whether this side's king is known to have moved.
    pub const fn king_moved(&self, side: Side) -> bool {
        self.king_moved[match side {
            Side::White => 0,
            Side::Black => 1,
        }]
    }
}

/// One turn as the board saw it.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The position when the turn began.
    pub before: &'a Stand,
    /// The placement at the press.
    pub seen: &'a Placement,
    /// Whose turn it was.
    pub mover: Side,
    /// What the log knows.
    pub past: &'a Past,
    /// The changes of this turn, in order.
    pub edges: &'a [Edge],
}

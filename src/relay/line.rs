//! The legal plies of a game: what stands up when it is played again, cut where it does not.

use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, Position, PositionError, Role,
    Setup, Square, fen::Fen, san::SanPlus, uci::UciMove,
};

use super::{book::Ply, profile::Shown};
use crate::words::Side;

/// One ply that was played again.
#[derive(Debug, Clone)]
pub struct Step<'a> {
    /// Standard notation, made anew.
    pub san: String,
    /// The move.
    pub mv: Move,
    /// Who moved.
    pub side: Side,
    /// Number of the move.
    pub number: u32,
    /// The mover's time as the record has it, else as it was last known, s; `None` when the game
    /// has no clock.
    pub clock_s: Option<u32>,
    /// As recorded.
    pub ply: &'a Ply,
}

/// A stretch of a game in which every ply is legal.
#[derive(Debug, Clone)]
pub struct Segment<'a> {
    /// Where it begins; `None` when no game can begin there.
    pub start: Option<Chess>,
    /// FEN of that, as recorded.
    pub fen: &'a str,
    /// Its plies.
    pub steps: Vec<Step<'a>>,
    /// The position behind them.
    pub end: Option<Chess>,
    /// The ply that ended it, which no rule allows.
    pub cut: Option<&'a Ply>,
}

impl Segment<'_> {
    /// It begins with the usual start array.
    pub fn usual_start(&self) -> bool {
        self.start.as_ref() == Some(&Chess::default())
    }
}

/// Reads a position leniently: what a board in mid-game may show, but no more than a move can be
/// played in.
pub fn position(fen: &str, mode: CastlingMode) -> Option<Chess> {
    let setup: Setup = fen.parse::<Fen>().ok()?.into_setup();
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}

/// Plays what may be shown of a game again. The first segment always stands; another follows each
/// irregular ply from which a game can go on. `first_s` is what both clocks begin with, s.
pub fn segments<'a>(shown: &Shown<'a>, first_s: Option<u32>) -> Vec<Segment<'a>> {
    let mode = CastlingMode::from_chess960(shown.sheet.chess960);
    let timed = shown.plies.iter().any(|ply| ply.clock_s.is_some());
    let mut clocks = [first_s; 2];
    let mut segments = Vec::new();
    let mut fen = shown.sheet.start.as_str();
    let mut rest = shown.plies;
    loop {
        let start = position(fen, mode);
        let mut here = start.clone();
        let mut steps = Vec::new();
        let mut cut = None;
        let mut behind: &[Ply] = &[];
        for (i, ply) in rest.iter().enumerate() {
            let side = here.as_ref().map(Position::turn);
            let legal = here.as_ref().and_then(|here| played(here, ply));
            let (Some(at), Some(mv), Some(side)) = (&mut here, legal, side) else {
                (cut, behind) = (Some(ply), &rest[i + 1..]);
                break;
            };
            let number = at.fullmoves().get();
            let san = SanPlus::from_move_and_play_unchecked(at, mv).to_string();
            let clock = &mut clocks[usize::from(side.is_black())];
            *clock = ply.clock_s.or(*clock);
            steps.push(Step {
                san,
                mv,
                side,
                number,
                clock_s: clock.filter(|_| timed),
                ply,
            });
        }
        segments.push(Segment {
            start,
            fen,
            steps,
            end: here,
            cut,
        });
        // Irregular plies in a row: the last of them is where the game goes on.
        let mut after = cut.and_then(|ply| ply.after.as_deref());
        while let Some(ply) = behind.first().filter(|ply| ply.uci.is_empty()) {
            after = ply.after.as_deref();
            behind = &behind[1..];
        }
        match after.filter(|_| !behind.is_empty()) {
            Some(next) => (fen, rest) = (next, behind),
            None => return segments,
        }
    }
}

fn played(here: &Chess, ply: &Ply) -> Option<Move> {
    let uci: UciMove = ply.uci.parse().ok()?;
    uci.to_move(here).ok()
}

/// FEN as readers take it: X-FEN rights, en passant only where it can be taken.
pub fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

/// Number of a Chess960 start position, 0 to 959; 518 is the usual array. `None` for any other.
pub fn number_960(position: &Chess) -> Option<u16> {
    let board = position.board();
    let rank: Vec<Role> = (0..8)
        .filter_map(|file| {
            let white = board.piece_at(Square::new(file))?;
            let black = board.piece_at(Square::new(56 + file))?;
            let same = white.role == black.role;
            (same && white.color == Color::White && black.color == Color::Black)
                .then_some(white.role)
        })
        .collect();
    let pawns = (8..16).chain(48..56).all(|square| {
        board
            .piece_at(Square::new(square))
            .is_some_and(|man| man.role == Role::Pawn)
    });
    if rank.len() != 8 || !pawns || board.occupied().count() != 32 {
        return None;
    }
    let files = |role: Role| -> Vec<usize> { (0..8).filter(|file| rank[*file] == role).collect() };
    let bishops = files(Role::Bishop);
    let light = *bishops.iter().find(|file| **file % 2 == 1)?;
    let dark = *bishops.iter().find(|file| **file % 2 == 0)?;
    let others: Vec<Role> = rank
        .iter()
        .copied()
        .filter(|role| *role != Role::Bishop)
        .collect();
    let queen = others.iter().position(|role| *role == Role::Queen)?;
    let lesser: Vec<Role> = others
        .into_iter()
        .filter(|role| *role != Role::Queen)
        .collect();
    let knights: Vec<usize> = (0..lesser.len())
        .filter(|i| lesser[*i] == Role::Knight)
        .collect();
    let pairs = [
        [0, 1],
        [0, 2],
        [0, 3],
        [0, 4],
        [1, 2],
        [1, 3],
        [1, 4],
        [2, 3],
        [2, 4],
        [3, 4],
    ];
    let knights = pairs.iter().position(|pair| pair[..] == knights[..])?;
    let (king, rooks) = (files(Role::King), files(Role::Rook));
    let between = rooks.len() == 2 && king.len() == 1 && rooks[0] < king[0] && king[0] < rooks[1];
    between.then(|| ((light - 1) / 2 + 4 * (dark / 2) + 16 * queen + 96 * knights) as u16)
}

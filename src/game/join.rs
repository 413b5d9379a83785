//! Before the first ply: men in a wrong array, and games that were on before anybody watched.

use shakmaty::{Bitboard, CastlingMode, Chess, Color, File, Rank, Role, Setup, Square};

use super::{
    event::{Case, Event},
    follow::Game,
    ground::Ground,
    history::History,
    start::is_start_array,
    tree::Tree,
};
use crate::{
    board::Placement,
    words::{At, Side},
};

/// Men that stand so long are set up, ms.
pub(super) const SET_UP_MS: u64 = 3_000;

/// A game joined so few plies after its start is told from the start, if there is one way.
const JOINED_PLIES: usize = 4;

impl Game {
    /// Looks at men that stand quiet while no game was ever on.
    pub(super) fn notice_set_up(&mut self, quiet: u64, at: At) {
        self.notice_wrong_array(quiet);
        if quiet < SET_UP_MS {
            return;
        }
        if let Some(side) = self.facts.running {
            self.join(side, at);
        } else if !self.facts.connected && self.joining.is_none() {
            self.joining = Some(self.seen);
        }
    }

    /// All men set up, but not as a game starts: told once.
    pub(super) fn notice_wrong_array(&mut self, quiet: u64) {
        if quiet >= SET_UP_MS && !self.array_told && self.is_wrong_array() {
            self.array_told = true;
            self.out
                .push(Event::WrongArray(Box::new(self.wrong_array())));
        }
    }

    fn is_wrong_array(&self) -> bool {
        if quarter_turned(&self.seen).is_some() {
            return true;
        }
        let chess960 = self.mode == CastlingMode::Chess960;
        four_full_rows(&self.seen) && !is_start_array(&self.seen, chess960)
    }

    /// At a board without a clock the first ply tells whose move it was.
    pub(super) fn join_at_ply(&mut self, at: At) {
        let Some(men) = self.joining.filter(|men| *men != self.seen) else {
            return;
        };
        let grounds = Color::ALL.map(|side| self.joined_ground(&men, side));
        let leads_here = |ground: &Ground| {
            let mut after = ground.successors().into_iter();
            after.any(|(_, after)| after == self.seen)
        };
        if let Some(ground) = grounds.into_iter().flatten().find(leads_here) {
            self.begin_from(ground, at);
        }
    }

    fn join(&mut self, to_move: Side, at: At) {
        let tree = Tree::new(Ground::of(Chess::default(), self.mode), at);
        let plies = (1..=JOINED_PLIES).filter(|plies| (plies % 2 == 0) == to_move.is_white());
        let ways = plies
            .map(|plies| tree.ways_to(&self.seen, plies, false))
            .find(|ways| !ways.is_empty());
        if self.mode == CastlingMode::Standard
            && let Some([way]) = ways.as_deref()
        {
            self.begin(Ground::of(Chess::default(), self.mode), at);
            let id = self.tree.grow_way(way, at, 0);
            self.current = Some(id);
            self.make_final(id, None, at);
        } else if let Some(ground) = self.joined_ground(&self.seen, to_move) {
            self.begin_from(ground, at);
        }
    }

    fn begin_from(&mut self, ground: Ground, at: At) {
        self.begin(ground, at);
        self.history = History::default();
        self.current = self.tree.find(&self.seen, at, 0, None);
    }

    /// A legal position of these men. Kings and rooks at home may still castle, unproven.
    fn joined_ground(&self, men: &Placement, turn: Side) -> Option<Ground> {
        let board = men.to_board();
        let mut castling_rights = Bitboard::EMPTY;
        for side in Color::ALL {
            let home = side.fold_wb(Square::E1, Square::E8);
            if board.king_of(side) == Some(home) && self.mode == CastlingMode::Standard {
                let rank = side.fold_wb(Rank::First, Rank::Eighth);
                castling_rights |= board.by_piece(Role::Rook.of(side)) & rank & Bitboard::CORNERS;
            }
        }
        let setup = Setup {
            board,
            turn,
            castling_rights,
            ..Setup::empty()
        };
        let ground = Ground::from_setup(setup, self.mode);
        ground.position().is_some().then_some(ground)
    }

    fn wrong_array(&self) -> Case {
        let right = Ground::of(Chess::default(), self.mode);
        let wrong = right.placement().differs(&self.seen);
        let white = wrong
            .into_iter()
            .any(|square| matches!(square.rank(), Rank::First | Rank::Second));
        Case {
            ply: 1,
            mover: quarter_turned(&self.seen).unwrap_or(if white {
                Side::White
            } else {
                Side::Black
            }),
            before: right,
            seen: self.seen,
            edges: Vec::new(),
            history: History::from_start(),
            pressed: None,
            one_square_off: false,
        }
    }
}

/// All thirty-two men on their own two rows.
fn four_full_rows(seen: &Placement) -> bool {
    let home = |color: Color| match color {
        Color::White => Bitboard::from(Rank::First) | Bitboard::from(Rank::Second),
        Color::Black => Bitboard::from(Rank::Seventh) | Bitboard::from(Rank::Eighth),
    };
    let board = seen.to_board();
    Color::ALL
        .into_iter()
        .all(|color| board.by_color(color) == home(color))
}

/// All thirty-two men set up with the board a quarter turned (7.2.2), their rows along the files: the side
/// that stands on the a-file.
pub fn quarter_turned(seen: &Placement) -> Option<Side> {
    let board = seen.to_board();
    let (left, right) = (
        [File::A, File::B].map(Bitboard::from),
        [File::H, File::G].map(Bitboard::from),
    );
    let stand = |color: Color, [men, pawns]: [Bitboard; 2]| {
        board.by_color(color) == men | pawns && board.pawns() & board.by_color(color) == pawns
    };
    Color::ALL
        .into_iter()
        .find(|&color| stand(color, left) && stand(!color, right))
}

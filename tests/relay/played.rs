//! Games for the relay, played at random by the rules, and what the tests share.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use atalaya::{
    game::Ground,
    relay::{
        self, Event, Feed, Keeper, Moment, Player, Seat, Sheet, Sight, Time, World,
        book::{Ending, Games, Ply},
        line,
    },
    words::{BoardNo, GameId},
};
use fastrand::Rng;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position, Setup};
use tokio::time::Instant;

/// The real time.
#[derive(Debug, Clone, Copy)]
pub struct Wall;

impl Time for Wall {
    fn now(&self) -> Moment {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("after 1970");
        Moment(since.as_millis() as u64)
    }

    fn instant_of(&self, moment: Moment) -> Instant {
        Instant::now() + Duration::from_millis(moment.0.saturating_sub(self.now().0) + 1)
    }
}

/// One of the 960, by its number.
pub fn start_960(number: u16) -> String {
    let number = usize::from(number);
    let mut rank = [' '; 8];
    let free = |rank: &[char; 8], nth: usize| {
        (0..8)
            .filter(|file| rank[*file] == ' ')
            .nth(nth)
            .expect("a free square")
    };
    rank[number % 4 * 2 + 1] = 'b';
    rank[number / 4 % 4 * 2] = 'b';
    let queen = free(&rank, number / 16 % 6);
    rank[queen] = 'q';
    let pairs = [
        (0, 1),
        (0, 2),
        (0, 3),
        (0, 4),
        (1, 2),
        (1, 3),
        (1, 4),
        (2, 3),
        (2, 4),
        (3, 4),
    ];
    let (one, two) = pairs[number / 96];
    let (one, two) = (free(&rank, one), free(&rank, two));
    (rank[one], rank[two]) = ('n', 'n');
    for man in ['r', 'k', 'r'] {
        let square = free(&rank, 0);
        rank[square] = man;
    }
    let black: String = rank.iter().collect();
    let white = black.to_uppercase();
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1")
}

/// A game of `plies` plies from `start`, a ply every `pace_ms` from `from` on. With `irregular`,
/// that ply is none: White's king, say, goes where it pleases, and the game goes on from there.
pub fn game(rng: &mut Rng, start: &str, plan: &Plan) -> Sheet {
    let mode = CastlingMode::from_chess960(plan.chess960);
    let mut position = line::position(start, mode).expect("a position");
    let mut sheet = Sheet {
        game: GameId(plan.game.clone()),
        chess960: plan.chess960,
        start: start.to_owned(),
        plies: Vec::new(),
        ending: None,
        repairs: 0,
    };
    let mut clocks = [5400_u32; 2];
    for n in 0..plan.plies {
        let at = Moment(plan.from + plan.pace_ms * n as u64);
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        let clock = &mut clocks[n % 2];
        *clock = clock.saturating_sub(rng.u32(0..90)) + 30;
        let clock_s = (plan.timed && rng.u8(0..20) > 0).then_some(*clock);
        if plan.irregular == Some(n) {
            let after = jump(&position, mode);
            position = line::position(&after, mode).expect("a game goes on");
            sheet.plies.push(Ply {
                uci: String::new(),
                san: "Ke1-e3".to_owned(),
                clock_s,
                after: Some(after),
                at,
            });
            continue;
        }
        let mv = legal[rng.usize(..legal.len())];
        let uci = mv.to_uci(mode).to_string();
        let san = shakmaty::san::SanPlus::from_move_and_play_unchecked(&mut position, mv);
        sheet.plies.push(Ply {
            uci,
            san: san.to_string(),
            clock_s,
            after: None,
            at,
        });
    }
    let last = sheet.plies.last().map_or(plan.from, |ply| ply.at.0);
    sheet.ending = plan.score.map(|score| Ending {
        score: score.to_owned(),
        by: plan.by.to_owned(),
        at: Moment(last + plan.pace_ms),
    });
    sheet
}

/// The other side to move, with a man of the mover's taken off: no legal ply does that.
fn jump(position: &Chess, mode: CastlingMode) -> String {
    let setup = position.to_setup(EnPassantMode::Legal);
    for square in setup.board.by_color(position.turn()) {
        if setup
            .board
            .piece_at(square)
            .is_some_and(|man| man.role != shakmaty::Role::King)
        {
            let mut next = Setup {
                turn: position.turn().other(),
                ep_square: None,
                ..setup.clone()
            };
            next.board.discard_piece_at(square);
            if position.turn() == Color::Black {
                next.fullmoves = next.fullmoves.saturating_add(1);
            }
            let ground = Ground::from_setup(next.clone(), mode);
            if let Some(after) = ground.position()
                && !after.legal_moves().is_empty()
            {
                return ground.fen();
            }
        }
    }
    Ground::from_setup(setup, mode).fen()
}

/// How a game is to go.
#[derive(Debug, Clone)]
pub struct Plan {
    pub game: String,
    pub plies: usize,
    pub from: u64,
    pub pace_ms: u64,
    pub irregular: Option<usize>,
    pub score: Option<&'static str>,
    pub by: &'static str,
    pub chess960: bool,
    pub timed: bool,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            game: "5.1".to_owned(),
            plies: 60,
            from: 1_000_000,
            pace_ms: 10_000,
            irregular: None,
            score: Some("1-0"),
            by: "kings",
            chess960: false,
            timed: true,
        }
    }
}

pub const USUAL: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// A round with these games at boards 1, 2, ...
pub fn world(sheets: Vec<Vec<Sheet>>, chess960: bool) -> World {
    let seat = |n: u16| Seat {
        white: Player {
            name: format!("Núñez \"Pepe\" {n}, María\\José"),
            title: Some("WIM".to_owned()),
            elo: Some(2100 + u32::from(n)),
            fide_id: Some(2_200_000 + u32::from(n)),
            federation: Some("ESP".to_owned()),
            team: Some("Círculo {A}".to_owned()),
        },
        black: Player::named(format!("Żółć {n}, Łukasz")),
        result: None,
    };
    let boards = (1..).zip(sheets).map(|(n, sheets)| (BoardNo(n), sheets));
    let boards: BTreeMap<BoardNo, Arc<Games>> = boards
        .map(|(board, sheets)| (board, Arc::new(Games { sheets, rev: 1 })))
        .collect();
    World {
        event: Arc::new(Event {
            name: "Abierto de \"Atalaya\" \\ 2026".to_owned(),
            site: "Segovia".to_owned(),
            date: "2026.11.30".to_owned(),
            round: "5".to_owned(),
            time_control: Some("5400+30".to_owned()),
            first_s: Some(5400),
            chess960,
            ..Event::default()
        }),
        seats: Arc::new(boards.keys().map(|board| (*board, seat(board.0))).collect()),
        games: boards,
        serials: BTreeMap::from([(BoardNo(1), "25500".to_owned())]),
        past: Vec::new(),
    }
}

/// A feed of so many boards without games, that keeps its state in this folder.
pub fn feed(boards: usize, state: &Path) -> (Feed, Keeper, Sight) {
    let World { event, seats, .. } = world(vec![vec![]; boards], false);
    relay::feed((*event).clone(), (*seats).clone(), state, Wall.now())
}

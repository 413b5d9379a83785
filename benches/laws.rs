//! The figures of the Laws: `cargo bench --bench laws`. The verdict at the press; impossible positions
//! beside shakmaty alone; who can still mate beside plain chasolver, over the same positions in one run.

#[path = "../tests/common/mod.rs"]
mod common;

use std::{
    fs,
    hint::black_box,
    str::FromStr,
    time::{Duration, Instant},
};

use atalaya::{
    board::Placement,
    laws::{Answer, Past, Stand, Turn, can_mate, cannot_mate, impossible, judge},
    simulate::{parse_games, read_games},
};
use chasolver::{Winnability, is_unwinnable_fast, winnability};
use common::shared;
use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, FromSetup, Position, PositionError, Setup, Square,
    fen::Fen,
};

/// Positions made to cost a search its time: laws.md 5.4 and walls with many men behind them.
const HOSTILE: &str = "\
-- kb6/b1p2p1p/1pP5/1P6/8/8/5P1P/5K2 w - -
WB 8/8/1b6/4k2B/8/4p1p1/4P1P1/5BRK b - -
-- 3kb1b1/8/8/8/3KB3/8/8/8 w - -
-- 1b6/b1b5/3k3b/b1b1b3/1b1b1p2/p1p1pPp1/P1P1P1P1/1B1BK3 w - -
";
/// The U-series of laws.md 9: `-` where the side cannot mate.
const SERIES: &str = "\
W- 8/8/4k3/3R4/2K5/8/8/8 w - -
-- 8/8/3k4/1p2p1p1/pP1pP1P1/P2P4/1K6/8 b - -
-- 4k3/8/8/p2p2p1/P2P2P1/8/8/4K3 w - -
-- k7/P1K5/8/8/8/8/8/8 b - -
-- 6Rk/8/7K/8/8/8/8/8 b - -
W- 5b2/p7/Pp3k2/1Pp1pBp1/2P1P1P1/5K2/8/8 w - -
WB 2b5/1p6/pPp3k1/2Pp3p/P2PpBpP/4P1P1/5K2/8 b - -
WB 6kB/p3p1P1/2p3P1/p7/8/4P3/PKP5/8 w - -
W- 8/8/8/3k4/8/3K4/4N3/5N2 w - -
WB 8/4kp2/8/8/8/2N5/3K4/8 w - -
-- 8/4k3/8/8/8/2N5/3K4/8 w - -
WB 8/8/8/8/8/4k1n1/8/4K2B w - -
";

fn main() {
    verdicts();
    impossibles();
    mates();
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let done = black_box(work());
    (done, start.elapsed())
}

/// Mean, median, 99 of 100, and the worst.
fn spread(times: &mut [Duration]) -> String {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let mean = times.iter().sum::<Duration>() / times.len() as u32;
    format!(
        "mean {mean:.1?}, p50 {:.1?}, p99 {:.1?}, max {:.1?}",
        at(50),
        at(99),
        at(100)
    )
}

/// A man of the mover on a square of chance, in positions of the games: what the press may show.
fn verdicts() {
    let games = match shared("corpus/games.pgn") {
        Some(path) => read_games(&path),
        None => parse_games(include_str!("../src/cli/demo.pgn").as_bytes(), "demo.pgn"),
    };
    let mut chance = fastrand::Rng::with_seed(1);
    let mut times = Vec::new();
    for game in games.expect("games read").iter().take(400) {
        let mut chess = game.start.clone();
        for ply in &game.plies {
            let before = Stand::of(&chess, game.mode);
            let men: Vec<Square> = chess.us().into_iter().collect();
            let from = men[chance.usize(..men.len())];
            let to = Square::new(chance.u32(..64));
            let mut seen = before.placement();
            seen.set(from, None);
            seen.set(to, chess.board().piece_at(from));
            if from != to && !is_successor(&chess, &seen) {
                let turn = Turn {
                    before: &before,
                    seen: &seen,
                    mover: chess.turn(),
                    past: &Past::default(),
                    edges: &[],
                };
                times.push(timed(|| judge(&turn)).1);
            }
            chess.play_unchecked(ply.mv);
        }
    }
    println!("verdict at the press, {} placements", times.len());
    println!("  {}", spread(&mut times));
}

fn is_successor(chess: &Chess, seen: &Placement) -> bool {
    chess.legal_moves().into_iter().any(|mv| {
        let mut after = chess.clone();
        after.play_unchecked(mv);
        Placement::from(after.board()) == *seen
    })
}

fn impossibles() {
    for file in ["corpus/positions.txt", "corpus/positions-known.txt"] {
        let Some(path) = shared(file) else { continue };
        let text = fs::read_to_string(path).expect("the positions read");
        let rows: Vec<(Stand, bool)> = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .map(|line| {
                let mut parts = line.split(';');
                let fen = parts.next().expect("a FEN");
                let stand = Stand::from_fen(fen, CastlingMode::Standard).expect("a FEN");
                (stand, parts.next() == Some("illegal"))
            })
            .collect();
        let illegal = rows.iter().filter(|(_, illegal)| *illegal).count();
        println!(
            "impossible positions, {file}: {illegal} impossible, {} possible",
            rows.len() - illegal
        );
        let ours = |stand: &Stand| !impossible(stand).is_empty();
        let theirs =
            |stand: &Stand| Chess::from_setup(stand.setup.clone(), CastlingMode::Standard).is_err();
        tell_proofs("Atalaya ", &rows, ours);
        tell_proofs("shakmaty", &rows, theirs);
    }
}

fn tell_proofs(name: &str, rows: &[(Stand, bool)], proves: impl Fn(&Stand) -> bool) {
    let (mut found, mut false_alarms, mut times) = (0, 0, Vec::new());
    for (stand, illegal) in rows {
        let (proven, took) = timed(|| proves(black_box(stand)));
        times.push(took);
        found += usize::from(proven && *illegal);
        false_alarms += usize::from(proven && !*illegal);
    }
    println!(
        "  {name} proves {found}, false alarms {false_alarms}; {}",
        spread(&mut times)
    );
}

/// A question to both: the position as each reads it, who would win, and the right answer.
struct Question {
    position: Chess,
    board: chess::Board,
    side: Color,
    can: bool,
}

fn questions(text: &str) -> Vec<Question> {
    let mut found = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (who, fen) = line.split_at(2);
        let setup: Setup = fen.trim().parse::<Fen>().expect("a FEN").into_setup();
        let position = Chess::from_setup(setup, CastlingMode::Standard)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_too_much_material)
            .expect("a position");
        let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
        for (side, mark) in [(Color::White, 'W'), (Color::Black, 'B')] {
            found.push(Question {
                position: position.clone(),
                board: chess::Board::from_str(&fen).expect("a position"),
                side,
                can: who.contains(mark),
            });
        }
    }
    found
}

fn mates() {
    println!("can they still mate?");
    ask("hostile", &questions(HOSTILE));
    ask("U-series", &questions(SERIES));
    let Some(path) = shared("corpus/unwinnable.txt") else {
        return;
    };
    let text = fs::read_to_string(path).expect("the suite reads");
    let (hard, games) = text.split_once("# [games]").expect("both parts");
    ask("composed and hard", &questions(hard));
    ask("positions of games", &questions(games));
}

fn ask(name: &str, questions: &[Question]) {
    let never = questions.iter().filter(|question| !question.can).count();
    println!(" {name}: {} questions, {never} of them no", questions.len());
    tell_answers(
        "a ruling:   Atalaya        ",
        questions,
        |q| match can_mate(&q.position, q.side).answer {
            Answer::Yes => Some(true),
            Answer::No => Some(false),
            Answer::Unknown => None,
        },
    );
    tell_answers("            plain chasolver", questions, |q| {
        winnability(&q.board, colour(q.side)).map(|won| won != Winnability::Unwinnable)
    });
    tell_answers("every move: Atalaya        ", questions, |q| {
        cannot_mate(&q.position, q.side).then_some(false)
    });
    tell_answers("            plain chasolver", questions, |q| {
        is_unwinnable_fast(&q.board, colour(q.side)).then_some(false)
    });
}

const fn colour(side: Color) -> chess::Color {
    match side {
        Color::White => chess::Color::White,
        Color::Black => chess::Color::Black,
    }
}

fn tell_answers(name: &str, questions: &[Question], answer: impl Fn(&Question) -> Option<bool>) {
    let (mut yes, mut no, mut wrong, mut times) = (0, 0, 0, Vec::new());
    for question in questions {
        let (told, took) = timed(|| answer(question));
        times.push(took);
        match told {
            Some(can) if can != question.can => wrong += 1,
            Some(true) => yes += 1,
            Some(false) => no += 1,
            None => {}
        }
    }
    println!(
        "  {name} yes {yes}, no {no}, wrong {wrong}; {}",
        spread(&mut times)
    );
}

//! The figures of the README: `cargo bench`. Each printed as a number and, where there is a target,
//! as a ratio to it.

#[path = "../tests/common/mod.rs"]
mod common;

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use atalaya::{
    board::Placement,
    dgt::{Message, physical_of},
    monitor::{Input, Monitor, Settings},
    simulate::{Noise, PlannedGame, Session, parse_games, read_games},
    words::At,
};
use common::shared;
use shakmaty::{Chess, Position, Square};

fn main() {
    let games = games();
    updates(&games);
}

/// All of the corpus, or the demo's games where it is absent.
fn games() -> Vec<Arc<PlannedGame>> {
    let games = match shared("corpus/games.pgn") {
        Some(path) => read_games(&path),
        None => parse_games(include_str!("../src/cli/demo.pgn").as_bytes(), "demo.pgn"),
    };
    games
        .expect("games read")
        .into_iter()
        .map(Arc::new)
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Field updates per second through the whole pure core, bytes to plies, on one core.
fn updates(games: &[Arc<PlannedGame>]) {
    let mut days = Vec::new();
    let mut fields = 0_u64;
    for (seed, game) in games.iter().enumerate().take(200) {
        let (day, count) = recorded(game, seed as u64);
        fields += count;
        days.push((game.mode.is_chess960(), day));
    }
    let took = timed(|| {
        for (chess960, day) in &days {
            let mut monitor = Monitor::new(Settings {
                chess960: *chess960,
                ..Settings::default()
            });
            for (at, bytes) in day {
                monitor.handle(Input::Bytes(bytes), *at);
                while let Some(output) = monitor.poll_output() {
                    black_box(output);
                }
            }
        }
    });
    let inputs: usize = days.iter().map(|(_, day)| day.len()).sum();
    let rate = fields as f64 / took.as_secs_f64();
    println!(
        "field updates through the core, whole games with clocks and dumps: {rate:.0}/s \
         ({fields} updates, {inputs} inputs), {:.2} x the aim of 1,000,000/s",
        rate / 1e6
    );
    let rate = shuffled_men();
    println!(
        "field updates through the core, men lifted and put back:          {rate:.0}/s, \
         {:.2} x the aim of 1,000,000/s",
        rate / 1e6
    );
}

/// One game's inputs in the order the daemon would have seen them, and its field updates.
fn recorded(game: &Arc<PlannedGame>, seed: u64) -> (Vec<(At, Vec<u8>)>, u64) {
    let mut session = Session::new(1, vec![game.clone()], seed, Noise::Hall, 0.0, false);
    for (at, command) in [(1, 0x42), (50, 0x43)] {
        session.command(&[command], at);
    }
    let (mut day, mut bytes, mut now, mut fields) = (Vec::new(), Vec::new(), 0, 0);
    while let Some(next) = session.next_wake().filter(|_| !session.finished()) {
        now = next.max(now + 1);
        session.advance_to(now, &mut bytes);
        if !bytes.is_empty() {
            fields += bytes.iter().filter(|&&byte| byte == 0x8e).count() as u64;
            day.push((At(now), std::mem::take(&mut bytes)));
        }
    }
    (day, fields)
}

/// The press of updates alone: knights lifted and put back for ever, far from the press.
fn shuffled_men() -> f64 {
    let mut monitor = Monitor::new(Settings::default());
    monitor.handle(Input::Opened, At(0));
    let mut codes = [0; 64];
    let start = Placement::from(Chess::default().board());
    for square in Square::ALL {
        codes[usize::from(physical_of(square, false))] = start.code(square);
    }
    let mut dump = Vec::new();
    Message::Dump(Box::new(codes)).encode(&mut dump);
    monitor.handle(Input::Bytes(&dump), At(100));
    let updates = 1_000_000_u64;
    let homes = [Square::B1, Square::G1, Square::B8, Square::G8];
    let mut bytes = Vec::new();
    for turn in 0..updates / 2 {
        let square = homes[turn as usize % homes.len()];
        let physical = physical_of(square, false);
        for code in [0, start.code(square)] {
            let update = Message::Field {
                square: physical,
                code,
            };
            update.encode(&mut bytes);
        }
    }
    let took = timed(|| {
        for (turn, some) in bytes.chunks(1024).enumerate() {
            monitor.handle(Input::Bytes(some), At(200 + turn as u64));
            while let Some(output) = monitor.poll_output() {
                black_box(output);
            }
        }
    });
    updates as f64 / took.as_secs_f64()
}

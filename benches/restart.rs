//! From the start of the process to `online`, with the running games of a whole hall on the journal:
//! `cargo bench --bench restart`. Needs Mosquitto.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use atalaya::{hall::Clock, journal::Journal, simulate::parse_games};
use common::journalled::{Plan, journalled};
use jiff::SignedDuration;
use support::{
    Seen, Subscriber, free_port,
    play::{ATALAYA, spawn},
    program,
};

/// A game of 5 minutes and 5 seconds a move stands near its 40th move.
const PLAYED: SignedDuration = SignedDuration::from_mins(10);
const RUNS: usize = 5;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn main() {
    let Some(mosquitto) = program("mosquitto") else {
        return;
    };
    for boards in [1, 10, 100, 700, 1_000] {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        let port = free_port();
        let bytes = prepare(dir, boards, port);
        let _broker = support::mosquitto(&mosquitto, port);
        let address = format!("127.0.0.1:{port}").parse().expect("an address");
        let Some(mut phone) = Subscriber::start(address) else {
            return;
        };
        let mut took = Vec::new();
        for _ in 0..RUNS {
            phone.seen.clear();
            let started = Instant::now();
            let args = ["run", "--config", "atalaya.toml"];
            let daemon = spawn(Path::new(ATALAYA), &args, dir);
            let online = |seen: &[Seen]| {
                let last = seen.last();
                last.is_some_and(|s| s.topic.ends_with("/status") && s.payload.contains("online"))
            };
            assert!(phone.wait(Duration::from_secs(60), online), "not online");
            took.push(started.elapsed());
            let games = phone.seen.iter().filter(|s| s.topic.ends_with("/pgn"));
            assert_eq!(
                games.count(),
                usize::from(boards),
                "games told before online"
            );
            drop(daemon);
            // The broker tells of its death before the next one comes.
            phone.drain(Duration::from_millis(300));
            thread::sleep(Duration::from_millis(100));
        }
        took.sort();
        println!(
            "{boards:5} running games, journal of {:6.1} MiB: online after {:4} ms (median of {RUNS}), \
             {:4} ms at worst",
            bytes as f64 / f64::from(1 << 20),
            took[RUNS / 2].as_millis(),
            took[RUNS - 1].as_millis()
        );
    }
}

/// A journal and the settings that belong to it; gives the journal's size, bytes. The ports are not
/// there: only the past is told.
fn prepare(dir: &Path, boards: u16, port: u16) -> u64 {
    let games = parse_games(include_str!("../src/cli/demo.pgn").as_bytes(), "demo.pgn");
    let games: Vec<_> = games
        .expect("they read")
        .into_iter()
        .map(Arc::new)
        .collect();
    let begun = Clock::new().wall() - PLAYED;
    let mut entries = Vec::new();
    for board in 1..=boards {
        let mut own = games.clone();
        own.rotate_left(usize::from(board) % games.len());
        entries.extend(journalled(Plan {
            board,
            games: own,
            mishaps: 0.01,
            until_ms: PLAYED.as_millis() as u64,
            begun,
        }));
    }
    entries.sort_by_key(|entry| entry.at);
    let state = dir.join("state");
    let (journal, thread) = Journal::open(&state, begun).expect("it opens");
    for (n, entry) in entries.iter().enumerate() {
        journal.append(entry);
        if n % 10_000 == 0 {
            journal.flushed().wait_blocking().expect("it writes");
        }
    }
    thread.stop().expect("all is on disk");
    let mut text = format!(
        "[venue]\nid = \"test\"\n[mqtt]\nbroker = \"mqtt://127.0.0.1:{port}\"\n\
         [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n"
    );
    for number in 1..=boards {
        let port = dir.join(format!("board-{number}"));
        let _ = write!(text, "[[board]]\nnumber = {number}\nport = {port:?}\n");
    }
    fs::write(dir.join("atalaya.toml"), text).expect("it writes");
    let files = fs::read_dir(&state).expect("it is there");
    files
        .map(|file| file.expect("it is").metadata().expect("it is").len())
        .sum()
}

//! Virtual boards beside a daemon, and whether what was heard is what they played.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{Guard, Seen};

pub const ATALAYA: &str = env!("CARGO_BIN_EXE_atalaya");

pub fn spawn(program: &Path, args: &[&str], dir: &Path) -> Guard {
    let mut command = Command::new(program);
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    Guard::spawn(quiet.args(args).current_dir(dir))
}

/// Boards that play the demo's games in a minute each, behind `NAME/board-1` ...; what they really do
/// goes to `NAME.jsonl`.
pub fn simulate(dir: &Path, name: &str, boards: u16, mishaps: &str) -> Guard {
    let boards = boards.to_string();
    let more = ["--boards", &boards, "--noise", "calm", "--mishaps", mishaps];
    simulate_with(dir, name, &more)
}

/// The same, with these arguments of `atalaya simulate`.
pub fn simulate_with(dir: &Path, name: &str, more: &[&str]) -> Guard {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/demo.pgn");
    let quick = fs::read_to_string(games).expect("it reads");
    fs::write(dir.join("quick.pgn"), quick.replace("300+5", "60+0")).expect("it writes");
    let truth = format!("{name}.jsonl");
    let mut command = Command::new(ATALAYA);
    command.args(["simulate", "--games", "quick.pgn", "--links", name]);
    command.args(["--seed", "5", "--truth", &truth]).args(more);
    // What it says at its end is a line that waits in the pipe.
    let quiet = command.stdout(Stdio::piped()).stderr(Stdio::null());
    Guard::spawn(quiet.current_dir(dir))
}

/// The games of each board as the moves heard tell them, in the order they were begun.
fn heard(seen: &[Seen]) -> BTreeMap<u64, Vec<(String, Vec<String>)>> {
    let mut boards: BTreeMap<u64, Vec<(String, Vec<String>)>> = BTreeMap::new();
    let mut last = BTreeMap::new();
    for seen in seen.iter().filter(|seen| seen.topic.ends_with("/move")) {
        let told = seen.json();
        let (board, seq) = (
            told["board"].as_u64().expect("a board"),
            told["seq"].as_u64(),
        );
        let newest = last.entry(board).or_insert(None);
        // At least once: what was heard is heard again after a crash.
        if seq <= *newest {
            continue;
        }
        *newest = seq;
        let name = told["game"].as_str().expect("a game").to_owned();
        let games = boards.entry(board).or_default();
        if games.last().is_none_or(|(last, _)| *last != name) {
            games.push((name, Vec::new()));
        }
        let (_, plies) = games.last_mut().expect("one was put there");
        if told["retract"] == true {
            plies.truncate(told["back_to"].as_u64().expect("a ply") as usize);
            continue;
        }
        assert_eq!(
            told["ply"],
            plies.len() as u64 + 1,
            "a ply is missing: {told}"
        );
        plies.push(told["san"].as_str().expect("a move").to_owned());
    }
    boards
}

/// The games of each board as they were really played.
fn played(truth: &Path) -> BTreeMap<u64, Vec<Vec<String>>> {
    let mut boards: BTreeMap<u64, Vec<Vec<String>>> = BTreeMap::new();
    for line in fs::read_to_string(truth).expect("the truth").lines() {
        // The last line may be half written.
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let games = boards
            .entry(line["board"].as_u64().expect("a board"))
            .or_default();
        match line["kind"].as_str() {
            Some("start") => games.push(Vec::new()),
            Some("ply") => games
                .last_mut()
                .expect("begun")
                .push(line["san"].as_str().expect("a move").to_owned()),
            _ => {}
        }
    }
    boards
}

/// How many moves were heard.
pub fn moves(seen: &[Seen]) -> usize {
    let moves = seen.iter().filter(|seen| seen.topic.ends_with("/move"));
    moves.count()
}

/// What the phone put together is what was played: all of it, but for the last few plies of a game
/// that goes on.
pub fn same(seen: &[Seen], truth: &Path) {
    let (heard, truth) = (heard(seen), played(truth));
    for (board, games) in &truth {
        let told: Vec<&Vec<String>> = heard
            .get(board)
            .into_iter()
            .flatten()
            .map(|(_, plies)| plies)
            .collect();
        for (game, plies) in games.iter().enumerate() {
            let told = told.get(game).map_or(&[][..], |plies| plies.as_slice());
            assert!(
                plies.starts_with(told),
                "board {board}: played {plies:?}, told {told:?}"
            );
            let last = game + 1 == games.len();
            let missing = plies.len() - told.len();
            assert!(
                missing <= if last { 8 } else { 1 },
                "board {board}: {missing} plies of {plies:?} never told"
            );
        }
    }
}

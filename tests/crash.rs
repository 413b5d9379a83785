//! kill -9 at random moments under load, again and again: no final ply is lost, no fault has two ids,
//! and the journal still says the same when it is played again.
#![allow(clippy::disallowed_methods, reason = "a test measures")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use atalaya::journal::segments;
use serde_json::Value;
use support::{Guard, Seen, Subscriber, free_port, program};

const ATALAYA: &str = env!("CARGO_BIN_EXE_atalaya");
/// Boards without mishaps, then as many with.
const BOARDS: u16 = 8;
/// So often by default; `ATALAYA_KILLS=500` for the long run.
const KILLS: u32 = 20;
/// From the start of the process to `online`; the aim is 1 s, a busy machine is not to fail the test.
const IN_TIME: Duration = Duration::from_secs(10);

fn spawn(program: &Path, args: &[&str], dir: &Path) -> Guard {
    let mut command = Command::new(program);
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    Guard::spawn(quiet.args(args).current_dir(dir))
}

fn simulate(dir: &Path, name: &str, mishaps: &str) -> Guard {
    let (links, truth) = (name.to_owned(), format!("{name}.jsonl"));
    let boards = BOARDS.to_string();
    let args = [
        "simulate",
        "--boards",
        &boards,
        "--games",
        "quick.pgn",
        "--links",
        &links,
        "--seed",
        "5",
        "--noise",
        "calm",
        "--mishaps",
        mishaps,
        "--truth",
        &truth,
    ];
    spawn(Path::new(ATALAYA), &args, dir)
}

fn configuration(dir: &Path, port: u16) {
    let mut text = format!(
        "[venue]\nid = \"test\"\n[mqtt]\nbroker = \"mqtt://127.0.0.1:{port}\"\n\
         [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n[event]\nround = \"5\"\n"
    );
    for number in 1..=2 * BOARDS {
        let (folder, board) = match number {
            n if n > BOARDS => ("rough", n - BOARDS),
            n => ("clean", n),
        };
        let link = dir.join(format!("{folder}/board-{board}"));
        text += &format!(
            "[[board]]\nnumber = {number}\nport = \"{}\"\n",
            link.display()
        );
    }
    fs::write(dir.join("atalaya.toml"), text).expect("it writes");
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

#[test]
fn killed_again_and_again() {
    let Some(mosquitto) = program("mosquitto") else {
        return;
    };
    let kills = env::var("ATALAYA_KILLS").map_or(KILLS, |n| n.parse().expect("a number"));
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/demo.pgn");
    let quick = fs::read_to_string(games).expect("it reads");
    fs::write(dir.join("quick.pgn"), quick.replace("300+5", "60+0")).expect("it writes");
    let port = free_port();
    let address = format!("127.0.0.1:{port}").parse().expect("an address");
    let _broker = support::mosquitto(&mosquitto, port);
    let _clean = simulate(dir, "clean", "0");
    let _rough = simulate(dir, "rough", "0.2");
    configuration(dir, port);
    let Some(mut phone) = Subscriber::start(address) else {
        return;
    };

    let run = || {
        spawn(
            Path::new(ATALAYA),
            &["run", "--config", "atalaya.toml"],
            dir,
        )
    };
    let mut daemon = run();
    // The men are set up first: kills in mid-game tell more.
    let under_way = |seen: &[Seen]| {
        seen.iter()
            .filter(|seen| seen.topic.ends_with("/move"))
            .count()
            >= 8
    };
    assert!(
        phone.wait(Duration::from_secs(180), under_way),
        "no game began"
    );
    let mut slowest = Duration::ZERO;
    for kill in 0..kills {
        thread::sleep(Duration::from_millis(fastrand::u64(0..2_000)));
        daemon.0.kill().expect("it is there");
        daemon.0.wait().expect("it ends");
        phone.drain(Duration::from_millis(50));
        let before = phone.seen.len();
        let started = Instant::now();
        daemon = run();
        let online = |seen: &[Seen]| {
            seen.iter()
                .skip(before)
                .any(|seen| seen.topic.ends_with("/status") && seen.payload.contains("\"online\""))
        };
        assert!(phone.wait(IN_TIME, online), "not back after kill {kill}");
        slowest = slowest.max(started.elapsed());
    }
    println!("{kills} kills; from start to online {slowest:?} at worst");
    thread::sleep(Duration::from_secs(5));
    let pid = daemon.0.id().to_string();
    let stopped = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(stopped.expect("kill runs").success());
    assert!(daemon.0.wait().expect("it ends").success());
    phone.drain(Duration::from_millis(500));

    // What the phone put together is what was played.
    let (heard, truth) = (heard(&phone.seen), played(&dir.join("clean.jsonl")));
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

    // One fault, one id; and each id is new once.
    let mut faults: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut raised: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for seen in phone
        .seen
        .iter()
        .filter(|seen| seen.topic.ends_with("/alert-event"))
    {
        let told = seen.json();
        let alert = &told["alert"];
        let id = alert["id"].as_str().expect("an id").to_owned();
        let of = |key: &str| alert[key].to_string();
        let fault = [
            of("board"),
            of("game"),
            of("ply"),
            of("code"),
            of("placement"),
        ]
        .join(" ");
        faults.entry(fault).or_default().insert(id.clone());
        if told["event"] == "raised" {
            raised
                .entry(id)
                .or_default()
                .insert(told["seq"].as_u64().expect("a number"));
        }
    }
    assert!(!raised.is_empty(), "no mishap was seen");
    for (fault, ids) in faults {
        assert_eq!(ids.len(), 1, "{fault}: {ids:?}");
    }
    for (id, times) in raised {
        assert_eq!(times.len(), 1, "{id} was new at {times:?}");
    }

    // The journal says the same again, through all the crashes.
    let replayed = Command::new(ATALAYA)
        .arg("replay")
        .arg("--json")
        .args(segments(&dir.join("state")).expect("they list"))
        .output()
        .expect("replay runs");
    let complaint = String::from_utf8_lossy(&replayed.stderr);
    assert!(replayed.status.success(), "{complaint}");
}

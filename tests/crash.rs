//! kill -9 at random moments under load, again and again: no final ply is lost, no fault has two ids,
//! and the journal still says the same when it is played again.
#![allow(clippy::disallowed_methods, reason = "a test measures")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use atalaya::journal::segments;
use support::{
    Seen, Subscriber, free_port,
    play::{ATALAYA, moves, simulate, spawn},
    program,
};

/// Boards without mishaps, then as many with.
const BOARDS: u16 = 8;
/// So often by default; `ATALAYA_KILLS=500` for the long run.
const KILLS: u32 = 20;
/// From the start of the process to `online`; the aim is 1 s, a busy machine is not to fail the test.
const IN_TIME: Duration = Duration::from_secs(10);

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

#[test]
fn killed_again_and_again() {
    let Some(mosquitto) = program("mosquitto") else {
        return;
    };
    let kills = env::var("ATALAYA_KILLS").map_or(KILLS, |n| n.parse().expect("a number"));
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    let port = free_port();
    let address = format!("127.0.0.1:{port}").parse().expect("an address");
    let _broker = support::mosquitto(&mosquitto, port);
    let _clean = simulate(dir, "clean", BOARDS, "0");
    let _rough = simulate(dir, "rough", BOARDS, "0.2");
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
    let under_way = |seen: &[Seen]| moves(seen) >= 8;
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

    support::play::same(&phone.seen, &dir.join("clean.jsonl"));

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

//! The daemon as it runs at a venue: boards on ptys in real time, an independent MQTT client, the
//! journal, a clean stop, and the journal played again.
#![allow(clippy::disallowed_methods, reason = "a test measures")]

mod support;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use atalaya::journal::segments;
use serde_json::Value;
use support::{Guard, Subscriber, free_port};

const ATALAYA: &str = env!("CARGO_BIN_EXE_atalaya");
/// The setup takes up to 50 s of play, then six plies of some seconds.
const PATIENCE: Duration = Duration::from_secs(180);
/// From the press to the alert at a subscriber the aim is 1 s (design.md 7), and the test prints what
/// it took; a machine that does other things at the same time is only not to lose it.
const IN_TIME: Duration = Duration::from_secs(5);
const BOARDS: u16 = 8;

fn spawn(program: &str, args: &[&str], dir: &Path) -> Guard {
    let mut command = Command::new(program);
    Guard::spawn(command.args(args).current_dir(dir).stdout(Stdio::null()))
}

fn configuration(dir: &Path, port: u16) -> PathBuf {
    let mut text = format!(
        "[venue]\nid = \"test\"\n[broker]\nlisten = \"127.0.0.1:{port}\"\nwebsocket = \"none\"\n\
         [web]\nlisten = \"none\"\n[journal]\ndir = \"{}\"\n[event]\nround = \"5\"\n",
        dir.join("state").display()
    );
    for number in 1..=BOARDS {
        let link = dir.join(format!("boards/board-{number}"));
        text += &format!(
            "[[board]]\nnumber = {number}\nport = \"{}\"\n",
            link.display()
        );
    }
    text += &format!(
        "[[relay]]\nkind = \"folder\"\ndir = \"{}\"\n",
        dir.join("pgn").display()
    );
    let path = dir.join("atalaya.toml");
    fs::write(&path, text).expect("it writes");
    path
}

/// Follows the truth file; every mishap with the moment it was written down.
fn mishaps(truth: &Path, until: Instant) -> Vec<(Instant, Value)> {
    let (mut found, mut read) = (Vec::new(), 0);
    loop {
        let now = Instant::now();
        let text = fs::read_to_string(truth).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        for line in text[read.min(whole)..whole].lines() {
            let line: Value = serde_json::from_str(line).expect("the truth is JSON");
            if line["kind"] == "mishap" {
                found.push((now, line));
            }
        }
        read = whole;
        if found.len() >= 3 || now > until {
            return found;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The moves of a game, without numbers and comments.
fn moves(pgn: &str) -> Vec<String> {
    let (_, text) = pgn.split_once("\n\n").expect("headers and moves");
    let mut comment = false;
    let words = text.split_whitespace().filter(|word| {
        let said = comment || word.starts_with('{');
        comment = said && !word.ends_with('}');
        !said && !word.ends_with('.') && !word.contains(['*', '-'])
            || word.starts_with("O-O") && !said
    });
    words.map(str::to_owned).collect()
}

fn say(port: u16, topic: &str, payload: &str) {
    let Some(publish) = support::program("mosquitto_pub") else {
        return;
    };
    let port = port.to_string();
    let mut child = Command::new(publish)
        .args(["-p", &port, "-q", "1", "-t", topic, "-s"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("mosquitto_pub starts");
    let mut pipe = child.stdin.take().expect("piped");
    pipe.write_all(payload.as_bytes()).expect("it listens");
    drop(pipe);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn an_illegal_move_reaches_a_phone_and_comes_again_from_the_journal() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/demo.pgn");
    let games = games.to_str().expect("a name");
    // One minute a game: the players hurry, so that the test does not last.
    let quick = fs::read_to_string(games).expect("it reads");
    fs::write(dir.join("quick.pgn"), quick.replace("300+5", "60+0")).expect("it writes");
    let boards = BOARDS.to_string();
    let _boards = spawn(
        ATALAYA,
        &[
            "simulate",
            "--boards",
            &boards,
            "--games",
            "quick.pgn",
            "--links",
            "boards",
            "--seed",
            "11",
            "--noise",
            "hall",
            "--mishaps",
            "0.5",
            "--truth",
            "truth.jsonl",
        ],
        dir,
    );
    let port = free_port();
    let config = configuration(dir, port);
    let mut daemon = spawn(
        ATALAYA,
        &["run", "--config", config.to_str().expect("a name")],
        dir,
    );
    let address = format!("127.0.0.1:{port}").parse().expect("an address");
    let Some(mut phone) = Subscriber::start(address) else {
        return;
    };
    let until = Instant::now() + PATIENCE;
    let played = mishaps(&dir.join("truth.jsonl"), until);
    assert!(
        played.len() >= 3,
        "only {} mishaps were played",
        played.len()
    );

    // All the phone heard until a while after the last of them.
    thread::sleep(Duration::from_secs(3));
    phone.drain(Duration::from_millis(1));
    let raised: Vec<(Instant, Value)> = phone
        .seen
        .iter()
        .filter(|seen| seen.topic.ends_with("/alert-event"))
        .map(|seen| (seen.at, serde_json::from_str(&seen.payload).expect("JSON")))
        .filter(|(_, event): &(Instant, Value)| event["event"] == "raised")
        .map(|(at, event)| (at, event["alert"].clone()))
        .collect();
    let latest = |topic: &str| -> Value {
        let topic = format!("atalaya/v1/test/{topic}");
        let seen = phone.latest(&topic);
        let seen = seen.unwrap_or_else(|| panic!("nothing under {topic}"));
        serde_json::from_str(&seen.payload).expect("JSON")
    };
    for (pressed, mishap) in &played {
        let found = raised.iter().find(|(_, alert)| {
            alert["board"] == mishap["board"]
                && alert["ply"] == mishap["ply"]
                && (alert["code"] == mishap["code"] || alert["instead"]["code"] == mishap["code"])
        });
        let (arrived, alert) = found.unwrap_or_else(|| panic!("not told: {mishap}"));
        let took = arrived.saturating_duration_since(*pressed);
        println!("{}: {took:?} after the press", alert["code"]);
        assert!(took <= IN_TIME, "{mishap}: {took:?}");
        assert_eq!(alert["status"], "open");
        assert_eq!(
            alert["title"]["es"].as_str().map(str::is_empty),
            Some(false)
        );
    }
    assert_eq!(latest("status")["state"], "online");
    for number in 1..=BOARDS {
        assert_eq!(latest(&format!("board/{number}/link"))["state"], "up");
        assert_eq!(latest(&format!("board/{number}/state"))["board"], number);
    }

    // An arbiter's word: counted once, answered twice, and in the journal.
    let certain = raised.iter().find(|(_, alert)| {
        alert["certainty"] == "certain" && alert["counts"] == true && alert["level"] == "urgent"
    });
    let (_, alert) = certain.expect("one of them is sure");
    let (id, board) = (alert["id"].as_str().expect("an id"), &alert["board"]);
    let command = format!(r#"{{"transaction":"t1","alert":"{id}"}}"#);
    for _ in 0..2 {
        say(port, "atalaya/v1/test/cmd/ana/confirm", &command);
    }
    say(
        port,
        "atalaya/v1/test/cmd/ana/dismiss",
        r#"{"transaction":"t2"}"#,
    );
    say(port, "atalaya/v1/test/cmd/ana/claim", &"x".repeat(1 << 20));
    let replies = |seen: &[support::Seen]| -> Vec<Value> {
        let replies = seen
            .iter()
            .filter(|seen| seen.topic.ends_with("/reply/ana"));
        replies.map(support::Seen::json).collect()
    };
    assert!(phone.wait(Duration::from_secs(5), |seen| replies(seen).len() >= 4));
    let mut words: Vec<String> = replies(&phone.seen)
        .iter()
        .map(|reply| format!("{} {}", reply["transaction"], reply["code"]))
        .collect();
    words.sort();
    let expected = [
        r#""t1" null"#,
        r#""t1" null"#,
        r#""t2" "malformed""#,
        r#"null "too-long""#,
    ];
    assert_eq!(words, expected);
    let side = alert["side"].as_str().expect("a side").to_owned();
    let counted = |seen: &[support::Seen]| {
        let topic = format!("atalaya/v1/test/board/{board}/state");
        let state = seen.iter().rev().find(|seen| seen.topic == topic);
        state.is_some_and(|state| state.json()["offences"][&side] == 1)
    };
    assert!(
        phone.wait(Duration::from_secs(5), counted),
        "it counts once"
    );

    // A clean stop, told to everybody.
    let pid = daemon.0.id().to_string();
    let killed = Command::new("kill").arg("-TERM").arg(&pid).status();
    assert!(killed.expect("kill runs").success());
    assert!(daemon.0.wait().expect("it ends").success());
    phone.drain(Duration::from_secs(1));
    let last = phone.latest("atalaya/v1/test/status").expect("a status");
    assert!(last.payload.contains("\"stopped\""), "{}", last.payload);

    // What went out as files is what the arbiters saw.
    let mut out = 0;
    for number in 1..=BOARDS {
        let file = dir.join(format!("pgn/round-5/game-{number}.pgn"));
        let Ok(relayed) = fs::read_to_string(&file) else {
            continue;
        };
        let told = phone.latest(&format!("atalaya/v1/test/board/{number}/pgn"));
        let told = told.expect("a game with moves is told").json();
        // The relay stays with the first game of the round once that is over.
        let first = told["game"] == format!("5.{number}");
        let legal = moves(&relayed);
        if first {
            let told = moves(told["pgn"].as_str().expect("text"));
            assert_eq!(legal, told, "board {number}");
        }
        out += legal.len();
    }
    println!("{out} moves in the relay's folder");
    assert!(out > 0);

    // The journal says the same again, bit for bit, or replay fails.
    let segments = segments(&dir.join("state")).expect("they list");
    let replayed = Command::new(ATALAYA)
        .arg("replay")
        .arg("--json")
        .args(&segments)
        .output()
        .expect("replay runs");
    let text = String::from_utf8(replayed.stdout).expect("it writes text");
    let complaint = String::from_utf8_lossy(&replayed.stderr).into_owned();
    assert!(replayed.status.success(), "{complaint}");
    for (_, alert) in &raised {
        let id = alert["id"].as_str().expect("an id");
        assert!(text.contains(id), "{id} does not come again");
    }
    assert!(text.contains("\"kind\":\"ply\""));
    assert!(text.contains("\"status\":\"confirmed\""));
}

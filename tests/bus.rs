//! Several boards on one line: a daemon that calls them by their numbers, and a virtual line that answers
//! as the protocol's text says.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use support::{
    Guard, Seen, Subscriber, free_port,
    play::{ATALAYA, moves, same, simulate_with},
};

const BOARDS: u16 = 4;
/// For what must come at all; a busy machine is not to fail the test.
const PATIENCE: Duration = Duration::from_secs(180);

/// Boards 13001 to 13004 are watched; the one more on the line is not.
fn configuration(dir: &Path, port: u16) {
    let mut text = format!(
        "[venue]\nid = \"test\"\n[broker]\nlisten = \"127.0.0.1:{port}\"\nwebsocket = \"none\"\n\
         [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n[event]\nround = \"5\"\n"
    );
    for number in 1..=BOARDS {
        let (line, bus) = (dir.join("boards/bus"), 13_000 + number);
        text += &format!("[[board]]\nnumber = {number}\nport = {line:?}\nbus = {bus}\n");
    }
    fs::write(dir.join("atalaya.toml"), text).expect("it writes");
}

fn up(seen: &[Seen]) -> bool {
    (1..=BOARDS).all(|board| {
        let topic = format!("atalaya/v1/test/board/{board}/link");
        let mut links = seen.iter().rev().filter(|seen| seen.topic == topic);
        links
            .next()
            .is_some_and(|link| link.json()["state"] == "up")
    })
}

fn stop(child: &mut Guard) {
    let pid = child.0.id().to_string();
    let stopped = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(stopped.expect("kill runs").success());
    assert!(child.0.wait().expect("it ends").success());
}

fn text(child: &mut Guard) -> String {
    let mut text = String::new();
    let out = child
        .0
        .stdout
        .take()
        .map(|mut out| out.read_to_string(&mut text));
    assert!(out.is_none_or(|read| read.is_ok()));
    text
}

/// The line loses a byte now and then; the daemon is killed once, and what was played meanwhile comes
/// from the boards' own memory.
#[test]
fn boards_on_one_line_are_watched_as_if_each_had_its_own() {
    for noise in ["calm", "rough"] {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path();
        let port = free_port();
        let count = (BOARDS + 1).to_string();
        let more = ["--boards", &count, "--bus", "--noise", noise];
        let mut boards = simulate_with(dir, "boards", &more);
        configuration(dir, port);
        let run = || {
            let mut command = Command::new(ATALAYA);
            command
                .args(["run", "--config", "atalaya.toml"])
                .current_dir(dir)
                .env("ATALAYA_LOG", "warn")
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            Guard::spawn(&mut command)
        };
        let mut daemon = run();
        let address = format!("127.0.0.1:{port}").parse().expect("an address");
        let Some(mut phone) = Subscriber::start(address) else {
            return;
        };
        assert!(phone.wait(PATIENCE, up), "{noise}: not all found");
        let wanted = if noise == "calm" { 40 } else { 12 };
        assert!(
            phone.wait(PATIENCE, |seen| moves(seen) >= wanted),
            "{noise}: no game"
        );
        stop(&mut daemon);
        let mut log = String::new();
        let told = daemon
            .0
            .stderr
            .take()
            .map(|mut log_out| log_out.read_to_string(&mut log));
        assert!(told.is_some_and(|read| read.is_ok()));
        phone.drain(Duration::from_millis(500));
        if noise == "calm" {
            let truth = fs::read_to_string(dir.join("boards.jsonl")).expect("it reads");
            let ours = truth.lines().filter(|line| !line.contains("\"board\":5"));
            fs::write(dir.join("ours.jsonl"), ours.collect::<Vec<_>>().join("\n"))
                .expect("it writes");
            same(&phone.seen, &dir.join("ours.jsonl"));
            // The one that nobody named is found, and told.
            assert_eq!(log.matches("is in no [[board]]").count(), 1, "{log}");
            assert!(log.contains("13005"), "{log}");
        }
        // Not one byte that a board for itself would take for a command of its own.
        stop(&mut boards);
        let summary = text(&mut boards);
        assert!(
            summary.contains("forbidden commands 0"),
            "{noise}: {summary}"
        );
    }
}

//! Faults of the machine under a running daemon: it goes on watching and telling.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::Path,
    process::{Command, Stdio},
    thread::JoinHandle,
    time::Duration,
};

use atalaya::journal::segments;
use serde_json::Value;
use support::{
    Guard, Seen, Subscriber, free_port,
    play::{ATALAYA, moves, same, simulate},
};

const BOARDS: u16 = 4;
/// For what must come at all; a busy machine is not to fail the test.
const PATIENCE: Duration = Duration::from_secs(180);

/// Boards at play, a daemon that watches them and a phone that hears it.
struct Hall {
    dir: tempfile::TempDir,
    daemon: Guard,
    log: JoinHandle<String>,
    phone: Subscriber,
    _boards: Guard,
}

impl Hall {
    /// `None` when there is no Mosquitto to listen with. `daemon` is to run `atalaya run --config
    /// atalaya.toml` in its own way.
    fn open(daemon: impl FnOnce(&Path) -> Command) -> Option<Hall> {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path();
        let boards = simulate(dir, "boards", BOARDS, "0");
        let port = free_port();
        configuration(dir, port);
        let mut command = daemon(dir);
        command.current_dir(dir).env("ATALAYA_LOG", "info");
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut daemon = Guard::spawn(&mut command);
        let log = support::listen(&mut daemon);
        let address = format!("127.0.0.1:{port}").parse().expect("an address");
        let phone = Subscriber::start(address)?;
        Some(Hall {
            dir: folder,
            daemon,
            log,
            phone,
            _boards: boards,
        })
    }

    /// Waits until so many more moves have come.
    fn play_on(&mut self, more: usize) {
        let wanted = moves(&self.phone.seen) + more;
        let come = self.phone.wait(PATIENCE, |seen| moves(seen) >= wanted);
        assert!(come, "{more} more moves did not come");
    }

    /// Stops the daemon, compares what was heard with what was played and with the journal, and gives
    /// what was heard and logged.
    fn close(mut self) -> (Vec<Seen>, String) {
        let pid = self.daemon.0.id().to_string();
        let stopped = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(stopped.expect("kill runs").success());
        assert!(self.daemon.0.wait().expect("it ends").success());
        self.phone.drain(Duration::from_millis(500));
        same(&self.phone.seen, &self.dir.path().join("boards.jsonl"));
        let replayed = Command::new(ATALAYA)
            .args(["replay", "--json"])
            .args(segments(&self.dir.path().join("state")).expect("they list"))
            .output()
            .expect("replay runs");
        let complaint = String::from_utf8_lossy(&replayed.stderr);
        assert!(replayed.status.success(), "{complaint}");
        let again = String::from_utf8_lossy(&replayed.stdout);
        let plies = again.matches("\"kind\":\"ply\"").count();
        assert!(plies >= moves(&self.phone.seen), "{plies} plies on disk");
        (
            std::mem::take(&mut self.phone.seen),
            self.log.join().expect("it was read"),
        )
    }
}

fn configuration(dir: &Path, port: u16) {
    let mut text = format!(
        "[venue]\nid = \"test\"\n[broker]\nlisten = \"127.0.0.1:{port}\"\nwebsocket = \"none\"\n\
         [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n[event]\nround = \"5\"\n"
    );
    for number in 1..=BOARDS {
        let link = dir.join(format!("boards/board-{number}"));
        text += &format!("[[board]]\nnumber = {number}\nport = {link:?}\n");
    }
    fs::write(dir.join("atalaya.toml"), text).expect("it writes");
}

/// What the info topic said of the journal, in order.
fn journal_faults(seen: &[Seen]) -> Vec<Value> {
    let infos = seen.iter().filter(|seen| seen.topic.ends_with("/info"));
    infos
        .map(|seen| seen.json()["journal_fault"].clone())
        .collect()
}

/// A limit on the length of files stands for the disk that is full: no file grows any more, in the
/// middle of a record or not, and nobody needs a privilege for it.
#[test]
fn a_full_disk_is_said_once_and_the_games_go_on() {
    let daemon = |_: &Path| {
        let mut shell = Command::new("sh");
        // Without this the system would end the daemon where a full disk only refuses.
        shell.args(["-c", "trap '' XFSZ; exec \"$0\" run --config atalaya.toml"]);
        shell.arg(ATALAYA);
        shell
    };
    let Some(mut hall) = Hall::open(daemon) else {
        return;
    };
    let pid = hall.daemon.0.id().to_string();
    let limit = |bytes: &str| {
        let set = Command::new("prlimit")
            .args(["--pid", &pid, &format!("--fsize={bytes}:")])
            .status();
        assert!(set.expect("prlimit (util-linux) runs").success());
    };
    hall.play_on(8);
    assert!(journal_faults(&hall.phone.seen).last() == Some(&Value::Null));
    limit("1");
    let ill = |seen: &[Seen]| journal_faults(seen).last().is_some_and(Value::is_string);
    assert!(hall.phone.wait(PATIENCE, ill), "the fault is not told");
    hall.play_on(12);
    limit("unlimited");
    let well = |seen: &[Seen]| journal_faults(seen).last() == Some(&Value::Null);
    assert!(hall.phone.wait(PATIENCE, well), "the recovery is not told");
    hall.play_on(4);
    let (seen, log) = hall.close();
    let faults = journal_faults(&seen);
    let told = faults.iter().filter(|fault| fault.is_string()).count();
    assert_eq!(told, 1, "{faults:?}");
    assert_eq!(log.matches("cannot write the journal").count(), 1, "{log}");
    assert_eq!(log.matches("the journal is on disk again").count(), 1);
}

#[test]
fn an_hour_forwards_and_two_back_change_labels_only() {
    let daemon = |dir: &Path| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/jump.c");
        let library = dir.join("jump.so");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .status();
        assert!(built.expect("a C compiler runs").success());
        fs::write(dir.join("jump"), 0_i64.to_ne_bytes()).expect("it writes");
        let mut command = Command::new(ATALAYA);
        command.args(["run", "--config", "atalaya.toml"]);
        command.env("LD_PRELOAD", library);
        command.env("JUMP_FILE", dir.join("jump"));
        command
    };
    let Some(mut hall) = Hall::open(daemon) else {
        return;
    };
    let file = File::options()
        .write(true)
        .open(hall.dir.path().join("jump"));
    let file = file.expect("it opens");
    hall.play_on(8);
    let calm = hall.phone.seen.len();
    for seconds in [3600_i64, -3600, 0] {
        file.write_all_at(&seconds.to_ne_bytes(), 0)
            .expect("it writes");
        hall.play_on(8);
    }
    let (seen, _) = hall.close();
    let label = |seen: &Seen| -> jiff::Timestamp {
        let label = seen.json()["ts"].as_str().map(str::to_owned);
        label.expect("a label").parse().expect("a time")
    };
    let jumped = &seen[calm..];
    let told = |seen: &&Seen| !seen.payload.is_empty() && !seen.topic.starts_with("probe");
    let labels: Vec<_> = jumped.iter().filter(told).map(label).collect();
    let steps = labels
        .windows(2)
        .map(|pair| pair[1].duration_since(pair[0]));
    let steps: Vec<_> = steps.map(|step| step.as_secs()).collect();
    assert!(steps.iter().any(|step| *step > 3_000), "no jump forwards");
    assert!(steps.iter().any(|step| *step < -6_000), "no jump back");
    let links = jumped.iter().filter(|seen| seen.topic.ends_with("/link"));
    assert_eq!(links.count(), 0, "a board was given up");
    let alerts = jumped.iter().filter(|seen| seen.topic.contains("alert"));
    assert_eq!(alerts.count(), 0, "an alert on a clean game");
}

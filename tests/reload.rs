//! The next round without a new start: SIGHUP makes the daemon read configuration and pairings again,
//! and one with a fault changes nothing.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use support::{Guard, Subscriber, free_port};

const PATIENCE: Duration = Duration::from_secs(30);

struct Daemon {
    process: Guard,
    log: Receiver<String>,
    dir: PathBuf,
    broker: u16,
    polled: u16,
}

impl Daemon {
    fn start(dir: &Path) -> Daemon {
        let (broker, polled) = (free_port(), free_port());
        let mut daemon = Daemon {
            process: Guard::spawn(Command::new("true").stdin(Stdio::null())),
            log: channel().1,
            dir: dir.to_owned(),
            broker,
            polled,
        };
        daemon.configure("5", "");
        daemon.pairings("5", "1,\"Gil, Ana\",\"Roe, Bo\"\n");
        let mut command = Command::new(env!("CARGO_BIN_EXE_atalaya"));
        command.args(["run", "--config", "atalaya.toml"]);
        command.current_dir(dir).env("NO_COLOR", "1");
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        daemon.process = Guard::spawn(&mut command);
        let err = daemon.process.0.stderr.take().expect("piped");
        let (lines, log) = channel();
        thread::spawn(move || {
            for line in BufReader::new(err).lines().map_while(Result::ok) {
                if lines.send(line).is_err() {
                    return;
                }
            }
        });
        daemon.log = log;
        daemon
    }

    fn configure(&self, round: &str, more: &str) {
        let text = format!(
            "[venue]\nid = \"test\"\n[broker]\nlisten = \"127.0.0.1:{}\"\nwebsocket = \"none\"\n\
             [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n\
             [event]\nround = \"{round}\"\npairings = \"round-{round}.csv\"\n\
             [[board]]\nnumber = 1\nport = \"/nowhere/1\"\n\
             [[relay]]\nkind = \"folder\"\ndir = \"pgn\"\n\
             [[relay]]\nkind = \"http\"\nlisten = \"127.0.0.1:{}\"\n{more}",
            self.broker, self.polled
        );
        fs::write(self.dir.join("atalaya.toml"), text).expect("it writes");
    }

    fn pairings(&self, round: &str, rows: &str) {
        let text = format!("board,white,black\n{rows}");
        fs::write(self.dir.join(format!("round-{round}.csv")), text).expect("it writes");
    }

    fn hangup(&self) {
        let pid = self.process.0.id().to_string();
        let told = Command::new("kill").args(["-HUP", &pid]).status();
        assert!(told.expect("kill").success());
    }

    /// Waits for a line of the log with all of these words.
    fn says(&self, words: &[&str]) {
        let deadline = Instant::now() + PATIENCE;
        let mut said = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.log.recv_timeout(left) else {
                panic!("{words:?} is not said: {said:#?}");
            };
            said.push(line);
            let last = said.iter().rev().take(4).rev();
            let last: Vec<&str> = last.map(String::as_str).collect();
            if words.iter().all(|word| last.join("\n").contains(word)) {
                return;
            }
        }
    }

    fn file(&self, path: &str) -> String {
        fs::read_to_string(self.dir.join(path)).unwrap_or_default()
    }

    fn polled(&self, path: &str) -> String {
        let Ok(mut socket) = TcpStream::connect(("127.0.0.1", self.polled)) else {
            return String::new();
        };
        let request = format!("GET /{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).expect("it takes it");
        let mut text = String::new();
        socket.read_to_string(&mut text).expect("it answers");
        text
    }
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "{what}: not in time");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_next_round_begins_on_sighup_and_a_fault_changes_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(dir.path());
    daemon.says(&["on watch"]);
    until("round 5 stands", || {
        daemon.file("pgn/round-5/games.pgn").contains("Gil, Ana")
            && daemon.polled("games.pgn").contains("Gil, Ana")
    });

    // Each of these has a fault, and each is named with its place.
    daemon.configure("6", "[web]\n");
    daemon.hangup();
    daemon.says(&["stays as it was", "atalaya.toml:22"]);
    daemon.configure("6", "");
    daemon.hangup();
    daemon.says(&["stays as it was", "round-6.csv: cannot be read"]);
    daemon.pairings("6", "1,\"Poe, Cy\",\"Gil, Ana\"\n1,A,B\n");
    daemon.hangup();
    daemon.says(&[
        "stays as it was",
        "round-6.csv:3: board 1 has players already",
    ]);
    daemon.pairings(
        "6",
        "1,\"Poe, Cy\",\"Gil, Ana\"\n2,\"Foe, Di\",\"Roe, Bo\"\n",
    );
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let other = format!(
        "[[relay]]\nkind = \"livechess\"\nlisten = \"{}\"\n",
        taken.local_addr().expect("it is bound")
    );
    daemon.configure("6", &other);
    daemon.hangup();
    daemon.says(&["stays as it was", "relay.listen"]);
    assert!(!dir.path().join("pgn/round-6").exists());
    assert!(daemon.polled("games.pgn").contains("Round \"5.1\""));

    // With the port free the same is good. Another board, too.
    drop(taken);
    daemon.configure(
        "6",
        &format!("{other}[[board]]\nnumber = 2\nport = \"/nowhere/2\"\n"),
    );
    daemon.hangup();
    daemon.says(&["was read again", "round=\"6\""]);
    until("round 6 stands", || {
        daemon.file("pgn/round-6/games.pgn").contains("Poe, Cy")
            && daemon.polled("games.pgn").contains("Round \"6.2\"")
    });
    let old = daemon.polled("round-5/games.pgn");
    assert!(old.contains("Gil, Ana") && !old.contains("Poe"), "{old}");
    let tournament: serde_json::Value =
        serde_json::from_str(&daemon.file("pgn/tournament.json")).expect("JSON");
    assert_eq!(tournament["rounds"][4]["count"], 1);
    assert_eq!(tournament["rounds"][5]["count"], 2);
    if let Some(mut phone) = Subscriber::start(SocketAddr::from(([127, 0, 0, 1], daemon.broker))) {
        let state =
            |seen: &[support::Seen], topic: &str, what: &dyn Fn(serde_json::Value) -> bool| {
                let mut seen = seen.iter().rev();
                let newest = seen.find(|one| one.topic == topic);
                newest.is_some_and(|one| what(one.json()))
            };
        assert!(phone.wait(PATIENCE, |seen| {
            state(seen, "atalaya/v1/test/info", &|info| {
                let absent = serde_json::json!({"board": 2, "code": "no-board", "about": []});
                let faults = info["faults"].as_array();
                info["boards"][1] == 2 && faults.is_some_and(|all| all.contains(&absent))
            }) && state(seen, "atalaya/v1/test/board/1/state", &|state| {
                state["round"] == "6" && state["white"] == "Poe, Cy"
            }) && state(seen, "atalaya/v1/test/board/2/link", &|link| {
                link["state"] == "absent"
            })
        }));
    }

    // A name put right reaches the files without a new round; what needs a new start is said.
    daemon.pairings(
        "6",
        "1,\"Poe, Cyrus\",\"Gil, Ana\"\n2,\"Foe, Di\",\"Roe, Bo\"\n",
    );
    let text = daemon
        .file("atalaya.toml")
        .replace("id = \"test\"", "id = \"other\"");
    fs::write(dir.path().join("atalaya.toml"), text).expect("it writes");
    daemon.hangup();
    daemon.says(&["venue.id: changes with the next start only"]);
    until("the name is right", || {
        daemon.polled("games.pgn").contains("Poe, Cyrus")
    });
    daemon.says(&["was read again"]);
}

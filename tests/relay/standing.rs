//! An output that fails stands in `info` until it works again, and is logged once.

use std::{
    fs,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    servers::{Line, sshd, vsftpd},
    support::{self, Guard, Seen, Subscriber, free_port},
};

/// For what must come at all; a busy machine is not to fail the test.
const PATIENCE: Duration = Duration::from_secs(60);
/// In this time a far machine is tried three times, and a folder twice.
const WHILE: Duration = Duration::from_secs(6);

struct Daemon {
    process: Guard,
    log: JoinHandle<String>,
    phone: Subscriber,
    dir: PathBuf,
}

/// The outputs that fail, and why, as the newest `info` has it.
fn silent(seen: &[Seen]) -> Option<Vec<(String, String)>> {
    let info = seen.iter().rev().find(|one| one.topic.ends_with("/info"))?;
    let info = info.json();
    let faults = info["faults"].as_array()?.iter();
    let silent = faults.filter(|fault| fault["code"] == "relay-silent");
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    Some(
        silent
            .map(|fault| (text(&fault["about"][0]), text(&fault["about"][1])))
            .collect(),
    )
}

impl Daemon {
    /// `None` when there is nothing to listen with.
    fn start(dir: &Path, relays: &str) -> Option<Daemon> {
        let broker = free_port();
        let text = format!(
            "[venue]\nid = \"test\"\n[broker]\nlisten = \"127.0.0.1:{broker}\"\nwebsocket = \"none\"\n\
             [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n\
             [event]\nround = \"5\"\npairings = \"round-5.csv\"\n\
             [[board]]\nnumber = 1\nport = \"/nowhere/1\"\n{relays}"
        );
        fs::write(dir.join("atalaya.toml"), text).expect("it writes");
        pairings(dir, "Gil, Ana");
        let mut command = Command::new(env!("CARGO_BIN_EXE_atalaya"));
        command.args(["run", "--config", "atalaya.toml"]);
        command.current_dir(dir).env("ATALAYA_LOG", "info");
        command.env("NO_COLOR", "1");
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = Guard::spawn(&mut command);
        let log = support::listen(&mut process);
        let phone = Subscriber::start(SocketAddr::from(([127, 0, 0, 1], broker)))?;
        Some(Daemon {
            process,
            log,
            phone,
            dir: dir.to_owned(),
        })
    }

    fn signal(&self, name: &str) {
        let pid = self.process.0.id().to_string();
        let told = Command::new("kill").args([name, &pid]).status();
        assert!(told.expect("kill runs").success());
    }

    /// The player of the round has another name: there is something to send.
    fn rename(&self, white: &str) {
        pairings(&self.dir, white);
        self.signal("-HUP");
    }

    /// Waits until exactly these outputs fail.
    fn fails(&mut self, places: &[&str]) {
        let only = |seen: &[Seen]| {
            silent(seen).is_some_and(|all| all.iter().map(|(place, _)| place).eq(places))
        };
        let told = self.phone.wait(PATIENCE, only);
        assert!(told, "not {places:?}: {:?}", silent(&self.phone.seen));
    }

    /// Failing lasts a while; it neither goes away nor becomes more.
    fn goes_on_failing(&mut self, place: &str) {
        thread::sleep(WHILE);
        self.phone.drain(Duration::from_millis(100));
        self.fails(&[place]);
    }

    fn limit_files(&self, most: &str) {
        let pid = self.process.0.id().to_string();
        let set = Command::new("prlimit")
            .args(["--pid", &pid, &format!("--nofile={most}:")])
            .status();
        assert!(set.expect("prlimit (util-linux) runs").success());
    }

    /// What was logged until the end.
    fn stop(mut self) -> String {
        self.signal("-TERM");
        assert!(self.process.0.wait().expect("it ends").success());
        self.log.join().expect("it was read")
    }
}

fn pairings(dir: &Path, white: &str) {
    let text = format!("board,white,black\n1,\"{white}\",\"Roe, Bo\"\n");
    fs::write(dir.join("round-5.csv"), text).expect("it writes");
}

/// Away from the start, then back, then gone in the middle of a file, then back.
fn stands_while_the_line_is_away(dir: &Path, relay: &str, place: &str, line: &Line, round: &Path) {
    line.hang_up(true);
    let Some(mut daemon) = Daemon::start(dir, relay) else {
        return;
    };
    daemon.fails(&[place]);
    daemon.goes_on_failing(place);
    line.hang_up(false);
    daemon.fails(&[]);
    let there = |name: &str| {
        let text = fs::read_to_string(round.join("game-1.pgn")).unwrap_or_default();
        assert!(text.contains(name), "{text}");
    };
    there("Gil, Ana");

    line.hang_up(true);
    line.break_after(300);
    daemon.rename("Gil, Anabel");
    daemon.fails(&[place]);
    assert!(line.broke());
    daemon.goes_on_failing(place);
    line.hang_up(false);
    daemon.fails(&[]);
    there("Gil, Anabel");

    let log = daemon.stop();
    let times = |words: &str| log.matches(words).count();
    assert_eq!(times("the relay's files do not go out"), 2, "{log}");
    assert_eq!(times("the relay's files go out again"), 2, "{log}");
    assert_eq!(times("relay-silent"), 0, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ftp_server_that_takes_nothing() {
    let scratch = tempfile::tempdir().expect("a folder");
    let dir = scratch.path();
    let Some((server, root)) = vsftpd(dir, "watchword").await else {
        return;
    };
    let line = Line::data(server.at).await;
    fs::write(dir.join("word"), "watchword\n").expect("it writes");
    let relay = format!(
        "[[relay]]\nkind = \"ftp\"\nurl = \"ftp://ftp@{}/event\"\npassword_file = \"word\"\n",
        line.at
    );
    let place = format!("ftp://{}/event", line.at);
    stands_while_the_line_is_away(dir, &relay, &place, &line, &root.join("event/round-5"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_sftp_server_that_takes_nothing() {
    let scratch = tempfile::tempdir().expect("a folder");
    let dir = scratch.path();
    let Some(ssh) = sshd(dir).await else { return };
    let line = Line::whole(ssh.server.at).await;
    fs::write(dir.join("key"), &ssh.key).expect("it writes");
    let out = dir.join("out").display().to_string();
    let relay = format!(
        "[[relay]]\nkind = \"sftp\"\nurl = \"sftp://{}@{}/{out}\"\nkey_file = \"key\"\nhost_key = {:?}\n",
        ssh.user, line.at, ssh.host_key
    );
    let place = format!("sftp://{}/{out}", line.at);
    stands_while_the_line_is_away(dir, &relay, &place, &line, &dir.join("out/round-5"));
}

/// A file stands where the folder should, and then the daemon has no file handle left for a reader.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_not_written_and_an_address_that_lets_nobody_in() {
    let scratch = tempfile::tempdir().expect("a folder");
    let dir = scratch.path();
    fs::write(dir.join("pgn"), "in the way").expect("it writes");
    let polled = free_port();
    let relays = format!(
        "[[relay]]\nkind = \"folder\"\ndir = \"pgn\"\n\
         [[relay]]\nkind = \"http\"\nlisten = \"127.0.0.1:{polled}\"\n"
    );
    let Some(mut daemon) = Daemon::start(dir, &relays) else {
        return;
    };
    daemon.fails(&["pgn"]);
    daemon.goes_on_failing("pgn");
    fs::remove_file(dir.join("pgn")).expect("it is there");
    daemon.fails(&[]);
    assert!(dir.join("pgn/round-5/game-1.pgn").exists());

    let address = format!("http://127.0.0.1:{polled}");
    daemon.limit_files("1");
    let reader = TcpStream::connect(("127.0.0.1", polled)).expect("the system lets it wait");
    daemon.fails(&[&address]);
    daemon.goes_on_failing(&address);
    daemon.limit_files("512");
    daemon.fails(&[]);
    drop(reader);
    let answer = reqwest::get(format!("{address}/games.pgn")).await;
    let text = answer.expect("it answers").text().await.expect("text");
    assert!(text.contains("Gil, Ana"), "{text}");

    let log = daemon.stop();
    for words in [
        "the relay's folder cannot be written",
        "the relay's folder is written again",
        "the relay's readers do not get in",
        "the relay's readers get in again",
    ] {
        assert_eq!(log.matches(words).count(), 1, "{words}: {log}");
    }
    assert!(!log.contains("relay-silent"), "{log}");
}

//! The access list we ship, at a real Mosquitto: an arbiter commands, a spectator only looks.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use support::{Guard, free_port, program};

const PATIENCE: Duration = Duration::from_secs(20);

/// One user of the broker.
#[derive(Clone, Copy)]
struct User {
    port: u16,
    name: &'static str,
}

impl User {
    fn client(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let port = self.port.to_string();
        command.args(["-p", &port, "-q", "1", "-u", self.name, "-P", self.name]);
        command
    }

    fn say(self, topic: &str, payload: &str) {
        let publish = program("mosquitto_pub").expect("it was there");
        let mut command = self.client(&publish);
        let said = command.args(["-t", topic, "-m", payload]).status();
        assert!(said.expect("it runs").success(), "{} {topic}", self.name);
    }

    /// Hears whatever it may.
    fn listen(self) -> Ear {
        let subscribe = program("mosquitto_sub").expect("it was there");
        let mut command = self.client(&subscribe);
        let mut guard = Guard::spawn(command.args(["-v", "-t", "#"]).stdout(Stdio::piped()));
        let lines = BufReader::new(guard.0.stdout.take().expect("piped")).lines();
        let (found, heard) = channel();
        thread::spawn(move || {
            lines
                .map_while(Result::ok)
                .try_for_each(|line| found.send(line))
        });
        Ear {
            heard,
            all: Vec::new(),
            _guard: guard,
        }
    }
}

struct Ear {
    heard: Receiver<String>,
    all: Vec<String>,
    _guard: Guard,
}

impl Ear {
    /// Waits for a message with these words.
    fn until(&mut self, words: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.all.iter().any(|line| line.contains(words)) {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.heard.recv_timeout(left);
            self.all
                .push(line.unwrap_or_else(|_| panic!("no '{words}' in {:#?}", self.all)));
        }
    }

    /// What stands behind the venue in the topics heard.
    fn topics(&self) -> Vec<&str> {
        let topics = self.all.iter().filter_map(|line| line.split(' ').next());
        let mut topics: Vec<_> = topics
            .map(|topic| topic.trim_start_matches("atalaya/v1/hall-1/"))
            .collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }
}

/// The shipped configuration, its files in `dir` and everything else as it stands.
fn broker(dir: &Path, port: u16) -> Option<Guard> {
    let (mosquitto, passwd) = (program("mosquitto")?, program("mosquitto_passwd")?);
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let read = |name| fs::read_to_string(config.join(name)).expect("it is shipped");
    let acl: String = read("mosquitto.acl")
        .lines()
        .map(|line| {
            let example = line.starts_with("#user ") || line.starts_with("#topic ");
            format!("{}\n", if example { &line[1..] } else { line })
        })
        .collect();
    assert!(acl.contains("\nuser ana\n"), "the example is for ana");
    fs::write(dir.join("atalaya.acl"), acl).expect("it writes");
    let conf = read("mosquitto.conf")
        .replace("/etc/mosquitto", &dir.display().to_string())
        .replace("listener 1883 ", &format!("listener {port} "));
    assert!(conf.contains(&format!("\nlistener {port} 127.0.0.1\n")));
    // Started by root it becomes another user, who cannot read the test's folder.
    fs::write(dir.join("mosquitto.conf"), format!("user root\n{conf}")).expect("it writes");
    for (index, name) in ["atalaya", "ana", "luis"].into_iter().enumerate() {
        let mut command = Command::new(&passwd);
        if index == 0 {
            command.arg("-c");
        }
        let file = dir.join("atalaya.passwd");
        let made = command.arg("-b").arg(file).args([name, name]).output();
        assert!(made.expect("it runs").status.success());
    }
    let mut command = Command::new(mosquitto);
    let broker = Guard::spawn(
        command
            .arg("-c")
            .arg(dir.join("mosquitto.conf"))
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    );
    let end = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < end, "no broker");
        thread::sleep(Duration::from_millis(30));
    }
    Some(broker)
}

#[test]
fn an_arbiter_commands_and_a_spectator_only_looks() {
    let dir = tempfile::tempdir().expect("a folder");
    let port = free_port();
    let Some(_broker) = broker(dir.path(), port) else {
        return;
    };
    let [daemon, ana, luis] = ["atalaya", "ana", "luis"].map(|name| User { port, name });
    let mut witness = daemon.listen();
    fs::write(dir.path().join("password"), "atalaya").expect("it writes");
    let text = format!(
        "[mqtt]\nbroker = \"mqtt://127.0.0.1:{port}\"\nusername = \"atalaya\"\npassword_file = \"password\"\n\
         [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n[[board]]\nnumber = 1\nport = \"/dev/no-such-port\"\n"
    );
    fs::write(dir.path().join("atalaya.toml"), text).expect("it writes");
    let _daemon = Guard::spawn(
        Command::new(env!("CARGO_BIN_EXE_atalaya"))
            .args(["run", "--config", "atalaya.toml"])
            .current_dir(dir.path())
            .stderr(Stdio::null()),
    );
    witness.until("\"online\"");

    let (mut anas, mut luiss) = (ana.listen(), luis.listen());
    anas.until("board/1/state");
    luiss.until("hall-1/info");
    let command = |user: &str| format!("atalaya/v1/hall-1/cmd/{user}/resync");
    let payload = |name: &str| format!(r#"{{"transaction":"{name}","board":1}}"#);
    for forged in [
        command("luis"),
        command("ana"),
        "atalaya/v1/hall-1/status".to_owned(),
    ] {
        luis.say(&forged, &payload("by the spectator"));
    }
    ana.say(&command("luis"), &payload("under another name"));
    ana.say("atalaya/v1/hall-1/board/1/state", &payload("no daemon"));
    ana.say(&command("ana"), &payload("her own"));
    anas.until("reply/ana");
    witness.until("reply/ana");
    // Behind this nothing of what was said before can still be on its way.
    daemon.say("atalaya/v1/hall-1/board/1/move", "the end");
    for ear in [&mut witness, &mut anas, &mut luiss] {
        ear.until("the end");
    }
    let reply = anas.all.iter().find(|line| line.contains("reply/ana"));
    let reply = reply.expect("it came");
    assert!(
        reply.contains("\"ok\"") && reply.contains("her own"),
        "{reply}"
    );
    for words in ["by the spectator", "under another name", "no daemon"] {
        for ear in [&witness, &anas, &luiss] {
            assert!(!ear.all.iter().any(|line| line.contains(words)), "{words}");
        }
    }
    let topics = luiss.topics();
    assert!(topics.contains(&"info"), "{topics:?}");
    for topic in topics {
        let games = matches!(topic, "status" | "info")
            || ["/move", "/clock", "/pgn"]
                .iter()
                .any(|end| topic.ends_with(end));
        assert!(games, "a spectator hears {topic}");
    }
}

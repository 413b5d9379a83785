//! Programs of others as independent witnesses.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]
#![allow(dead_code)] // each test file uses its own part

pub mod gate;
pub mod play;

use std::{
    env,
    fmt::Display,
    fs,
    io::{BufRead, BufReader, Read},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// Where a program is. Without it the test has to be skipped, and says so; under CI that is an error.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Debian keeps the broker where only root's PATH looks
    let found = env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/local/sbin".into()])
        .map(|dir| dir.join(name))
        .find(|file| file.is_file());
    if found.is_none() {
        assert!(
            env::var_os("CI").is_none(),
            "{name} is missing: apt-get install mosquitto mosquitto-clients socat"
        );
        println!("skipped: {name} is not installed");
    }
    found
}

/// A child that does not outlive the test.
pub struct Guard(pub Child);

impl Guard {
    pub fn spawn(command: &mut Command) -> Guard {
        let child = command.spawn();
        Guard(child.unwrap_or_else(|why| panic!("{command:?}: {why}")))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads what a child says on its piped standard error until it ends.
pub fn listen(child: &mut Guard) -> thread::JoinHandle<String> {
    let mut told = child.0.stderr.take().expect("piped");
    thread::spawn(move || {
        let mut log = String::new();
        told.read_to_string(&mut log).expect("text");
        log
    })
}

/// Processor time of a process, by its number or as `self`.
pub fn processor_time(process: impl Display) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it lives");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .expect("fields")
        .split(' ')
        .collect();
    let ticks = |n: usize| fields[n].parse::<u64>().expect("ticks");
    // utime and stime, in hundredths of a second on Linux.
    Duration::from_millis((ticks(12) + ticks(13)) * 10)
}

/// The commands that the program's `--help` lists.
pub fn commands(help: &str) -> Vec<&str> {
    let list = help.split("Commands:").nth(1).expect("a list");
    let lines = list.lines().skip(1).take_while(|line| !line.is_empty());
    lines
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

/// Free again when this returns.
pub fn free_port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").expect("a port");
    socket.local_addr().expect("it is bound").port()
}

/// A Mosquitto without a configuration, so that it keeps nothing over its end.
pub fn mosquitto(program: &Path, port: u16) -> Guard {
    let mut command = Command::new(program);
    Guard::spawn(
        command
            .args(["-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    )
}

/// One message as a subscriber saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub at: Instant,
    pub retained: bool,
    pub topic: String,
    pub payload: String,
}

impl Seen {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.payload).expect("payload is JSON")
    }
}

/// A `mosquitto_sub` on everything, killed when dropped.
pub struct Subscriber {
    child: Child,
    lines: Receiver<Seen>,
    pub seen: Vec<Seen>,
}

impl Subscriber {
    /// Subscribes at QoS 1; `None` when `mosquitto_sub` is missing. Returns once the subscription
    /// stands, which a message of its own proves.
    pub fn start(broker: SocketAddr) -> Option<Subscriber> {
        let (sub, publish) = (program("mosquitto_sub")?, program("mosquitto_pub")?);
        let deadline = Instant::now() + Duration::from_secs(10);
        // mosquitto_sub gives up at once when nobody listens yet.
        while TcpStream::connect(broker).is_err() {
            assert!(Instant::now() < deadline, "no broker within 10 s");
            thread::sleep(Duration::from_millis(50));
        }
        let (host, port) = (broker.ip().to_string(), broker.port().to_string());
        let mut child = Command::new(sub)
            .args([
                "-h", &host, "-p", &port, "-q", "1", "-t", "#", "-F", "%r %t %p",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .expect("mosquitto_sub starts");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        let (found, lines) = channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let mut parts = line.splitn(3, ' ');
                let (Some(retained), Some(topic)) = (parts.next(), parts.next()) else {
                    continue;
                };
                let seen = Seen {
                    at: Instant::now(),
                    retained: retained == "1",
                    topic: topic.to_owned(),
                    payload: parts.next().unwrap_or_default().to_owned(),
                };
                if found.send(seen).is_err() {
                    return;
                }
            }
        });
        let mut subscriber = Subscriber {
            child,
            lines,
            seen: Vec::new(),
        };
        loop {
            let status = Command::new(&publish)
                .args([
                    "-h",
                    &host,
                    "-p",
                    &port,
                    "-q",
                    "1",
                    "-t",
                    "probe/ready",
                    "-m",
                    "1",
                ])
                .status()
                .expect("mosquitto_pub starts");
            let shown = |seen: &[Seen]| seen.iter().any(|s| s.topic == "probe/ready");
            if status.success() && subscriber.wait(Duration::from_millis(300), shown) {
                return Some(subscriber);
            }
            assert!(Instant::now() < deadline, "no subscription within 10 s");
        }
    }

    /// Reads until `done` says so of everything seen; false at the deadline.
    pub fn wait(&mut self, patience: Duration, done: impl Fn(&[Seen]) -> bool) -> bool {
        let deadline = Instant::now() + patience;
        while !done(&self.seen) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(seen) => self.seen.push(seen),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }

    /// Reads until nothing has come for `silence`.
    pub fn drain(&mut self, silence: Duration) {
        while let Ok(seen) = self.lines.recv_timeout(silence) {
            self.seen.push(seen);
        }
    }

    /// The newest message of a topic.
    pub fn latest(&self, topic: &str) -> Option<&Seen> {
        self.seen.iter().rev().find(|seen| seen.topic == topic)
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

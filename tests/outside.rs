//! The daemon as Prometheus, an uptime monitor and systemd see it.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    os::unix::{fs::OpenOptionsExt, net::UnixDatagram},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{fcntl::OFlag, sys::stat::Mode};
use serde_json::Value;
use support::{
    Guard, free_port,
    play::{ATALAYA, simulate},
};

/// For what must come at all; a busy machine is not to fail the test.
const PATIENCE: Duration = Duration::from_secs(120);

struct Daemon {
    process: Guard,
    systemd: UnixDatagram,
    metrics: u16,
}

impl Daemon {
    /// Starts it for two boards behind `boards/`, with a watchdog of `patience`. `mqtt` is the table of
    /// that name.
    fn start(dir: &Path, mqtt: &str, patience: Duration, log: Stdio) -> Daemon {
        let (broker, metrics) = (free_port(), free_port());
        let mut text = format!(
            "[venue]\nid = \"test\"\n[broker]\nlisten = \"127.0.0.1:{broker}\"\nwebsocket = \"none\"\n\
             [web]\nlisten = \"none\"\n[metrics]\nlisten = \"127.0.0.1:{metrics}\"\n[journal]\n\
             dir = \"state\"\n[event]\nround = \"5\"\npairings = \"round.csv\"\n[mqtt]\n{mqtt}\n"
        );
        for number in 1..=2 {
            let link = dir.join(format!("boards/board-{number}"));
            text += &format!("[[board]]\nnumber = {number}\nport = {link:?}\n");
        }
        fs::write(dir.join("atalaya.toml"), text).expect("it writes");
        let pairings = "board,white,black,round\n1,Beth Harmon,Vasily Borgov,5\n";
        fs::write(dir.join("round.csv"), pairings).expect("it writes");
        let socket = dir.join("notify");
        let systemd = UnixDatagram::bind(&socket).expect("it binds");
        let mut command = Command::new(ATALAYA);
        command
            .args(["run", "--config", "atalaya.toml"])
            .current_dir(dir)
            .env("NOTIFY_SOCKET", &socket)
            .env("WATCHDOG_USEC", patience.as_micros().to_string())
            // One that a loop holds is not to hold all others on a small machine.
            .env("TOKIO_WORKER_THREADS", "4")
            .stderr(log);
        Daemon {
            process: Guard::spawn(&mut command),
            systemd,
            metrics,
        }
    }

    /// The next message to systemd; `None` when none comes for so long.
    fn hear(&self, patience: Duration) -> Option<String> {
        let limit = Some(patience);
        self.systemd.set_read_timeout(limit).expect("a limit");
        let mut bytes = [0; 4096];
        match self.systemd.recv(&mut bytes) {
            Ok(count) => Some(String::from_utf8(bytes[..count].to_vec()).expect("text")),
            Err(why) => {
                let over = matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                assert!(over, "{why}");
                None
            }
        }
    }

    /// Waits until systemd is told a line that `fits`.
    fn until(&self, what: &str, fits: impl Fn(&str) -> bool) {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let told = self.hear(Duration::from_secs(1));
            if told.is_some_and(|told| told.lines().any(&fits)) {
                return;
            }
        }
        panic!("systemd was not told {what}");
    }

    /// Status and body.
    fn get(&self, path: &str) -> (u16, String) {
        self.try_get(path).expect("it answers")
    }

    /// The same of a daemon that may not answer.
    fn try_get(&self, path: &str) -> std::io::Result<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.metrics))?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: hall\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let code = head.split(' ').nth(1).expect("a status");
        Ok((code.parse().expect("a number"), body.to_owned()))
    }

    fn json(&self, path: &str) -> (u16, Value) {
        let (code, body) = self.get(path);
        (code, serde_json::from_str(&body).expect("JSON"))
    }

    /// The value of a sample, by its name with its labels.
    fn sample(&self, name: &str) -> Option<f64> {
        let (code, text) = self.get("/metrics");
        assert_eq!(code, 200);
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map(|value| value.parse().expect("a number"))
    }

    /// Waits until a sample `fits`.
    fn until_sample(&self, name: &str, fits: impl Fn(f64) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut last = None;
        while Instant::now() < end {
            last = self.sample(name);
            if last.is_some_and(&fits) {
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("{name} is {last:?}");
    }

    fn terminate(&mut self) {
        let pid = self.process.0.id().to_string();
        let stopped = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(stopped.expect("kill runs").success());
    }
}

/// Every line as OpenMetrics has it: a comment of a known kind, or name, labels and a number.
fn assert_openmetrics(text: &str) {
    assert_eq!(text.lines().last(), Some("# EOF"));
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let kind = comment.split(' ').next().expect("a word");
            assert!(["HELP", "TYPE", "UNIT", "EOF"].contains(&kind), "{line}");
            continue;
        }
        let (name, value) = line.rsplit_once(' ').expect("a sample");
        assert!(name.starts_with("atalaya_"), "{line}");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn a_round_is_counted_and_systemd_is_told_how_it_stands() {
    let dir = tempfile::tempdir().expect("a folder");
    let boards = simulate(dir.path(), "boards", 2, "0");
    let mut daemon = Daemon::start(dir.path(), "", Duration::from_secs(2), Stdio::null());
    daemon.until("that it is ready", |line| line == "READY=1");
    daemon.until("that the boards are up", |line| {
        line == "STATUS=round 5: 2 of 2 boards up"
    });
    daemon.until("that it moves", |line| line == "WATCHDOG=1");
    let (code, live) = daemon.json("/live");
    assert_eq!((code, live["status"].as_str()), (200, Some("ok")));
    let (code, ready) = daemon.json("/ready");
    assert_eq!(code, 200, "{ready}");
    assert_eq!(ready["boards_up"], 2);

    daemon.until_sample(r#"atalaya_plies_total{board="1"}"#, |plies| plies >= 3.0);
    let (_, text) = daemon.get("/metrics");
    assert_openmetrics(&text);
    for name in ["Harmon", "Borgov"] {
        assert!(!text.contains(name), "{name} is nobody's business");
    }
    for (sample, least) in [
        (r#"atalaya_boards{state="up"}"#, 2.0),
        (r#"atalaya_serial_bytes_total{board="1"}"#, 100.0),
        (
            r#"atalaya_serial_frames_total{board="2",type="field"}"#,
            6.0,
        ),
        (r#"atalaya_serial_frames_total{board="2",type="dump"}"#, 1.0),
        (
            r#"atalaya_serial_frames_total{board="2",type="clock"}"#,
            3.0,
        ),
        ("atalaya_inference_gap_plies_count", 3.0),
        ("atalaya_inference_gap_plies_sum", 3.0),
        (
            r#"atalaya_board_last_frame_timestamp_seconds{board="1"}"#,
            1.7e9,
        ),
        ("atalaya_inference_duration_seconds_count", 10.0),
        ("atalaya_mqtt_connected", 1.0),
        ("atalaya_mqtt_acknowledged_total", 5.0),
        ("atalaya_mqtt_outbox_oldest_seconds", 0.0),
        ("atalaya_journal_bytes_total", 1000.0),
        ("atalaya_journal_sync_duration_seconds_count", 3.0),
        ("atalaya_watchdog_last_kick_timestamp_seconds", 1.7e9),
        ("atalaya_process_resident_memory_bytes", 1e6),
        ("atalaya_process_cpu_seconds_total", 0.001),
    ] {
        let value = daemon
            .sample(sample)
            .unwrap_or_else(|| panic!("{sample}\n{text}"));
        assert!(value >= least, "{sample} {value}");
    }
    let version = format!(
        "atalaya_build_info{{version=\"{}\"}}",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(daemon.sample(&version), Some(1.0));
    assert_eq!(daemon.sample("atalaya_journal_fault"), Some(0.0));

    // The cables are pulled: no fault of the daemon.
    drop(boards);
    daemon.until_sample(r#"atalaya_boards{state="up"}"#, |up| up == 0.0);
    assert_eq!(daemon.get("/ready").0, 200);
    daemon.terminate();
    daemon.until("that it stops", |line| line == "STOPPING=1");
    assert!(daemon.process.0.wait().expect("it ends").success());
}

#[test]
fn without_a_broker_it_is_live_but_not_ready() {
    let dir = tempfile::tempdir().expect("a folder");
    let mqtt = format!("broker = \"mqtt://127.0.0.1:{}\"", free_port());
    let daemon = Daemon::start(dir.path(), &mqtt, Duration::from_secs(2), Stdio::null());
    daemon.until("that it moves", |line| line == "WATCHDOG=1");
    daemon.until("that the broker is away", |line| {
        line == "STATUS=round 5: 0 of 2 boards up; no connection to the broker"
    });
    assert_eq!(daemon.get("/live").0, 200);
    let (code, ready) = daemon.json("/ready");
    assert_eq!(code, 503);
    assert_eq!(ready["faults"][0], "no connection to the broker");
    assert_eq!(daemon.sample("atalaya_mqtt_connected"), Some(0.0));
    assert_eq!(daemon.get("/nothing").0, 404);
}

/// The log goes to a pipe that nobody empties, so that the loop of a board stands in the middle of a
/// line: the main loop alone does not tell systemd that all is well.
#[test]
fn the_watchdog_is_not_told_while_a_board_s_loop_stands_still() {
    let dir = tempfile::tempdir().expect("a folder");
    let boards = simulate(dir.path(), "boards", 1, "0");
    let pipe = dir.path().join("log");
    nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).expect("a pipe");
    let open = |flags: OFlag| {
        let mut how = OpenOptions::new();
        how.read(true).write(true).custom_flags(flags.bits());
        how.open(&pipe).expect("it opens")
    };
    let reader = open(OFlag::O_NONBLOCK);
    let log = Stdio::from(open(OFlag::empty()));
    let daemon = Daemon::start(dir.path(), "", Duration::from_secs(2), log);
    daemon.until("that the board is up", |line| {
        line == "STATUS=round 5: 1 of 2 boards up"
    });
    daemon.until("that it moves", |line| line == "WATCHDOG=1");
    let filling = fill(open(OFlag::O_NONBLOCK));
    // A cable that is pulled is logged by the loop of its board.
    drop(boards);
    let end = Instant::now() + PATIENCE;
    let some_worker_moves = loop {
        // A server whose worker stands too is not live either.
        match daemon.try_get("/live") {
            Ok((200, _)) => {}
            Ok((code, body)) => {
                assert_eq!(code, 503);
                assert!(body.contains("board 1"), "{body}");
                break true;
            }
            Err(_) => break false,
        }
        assert!(Instant::now() < end, "no loop stands still");
        thread::sleep(Duration::from_millis(100));
    };
    let end = Instant::now() + PATIENCE;
    while let Some(told) = daemon.hear(Duration::from_secs(3)) {
        assert!(Instant::now() < end, "still told: {told}");
    }

    // Somebody empties the pipe, and all is well again.
    if some_worker_moves {
        let log = empty(reader, filling, "moves again");
        let named = "a loop of the daemon stands still name=\"board 1\"";
        assert!(log.contains(named), "{log}");
    } else {
        // Nobody was left to see it.
        empty(reader, filling, "board=1 state=Absent");
    }
    daemon.until("that it moves again", |line| line == "WATCHDOG=1");
}

const FILLING: u8 = b'.';

/// Fills the pipe to the last byte; how many it took.
fn fill(mut pipe: File) -> usize {
    let mut filled = 0;
    for size in [4096, 1] {
        while let Ok(count) = pipe.write(&vec![FILLING; size]) {
            filled += count;
        }
    }
    filled
}

/// Reads until this is logged; what was logged beside the filling.
fn empty(mut pipe: File, filling: usize, last: &str) -> String {
    let mut all = Vec::new();
    let mut bytes = [0; 4096];
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        match pipe.read(&mut bytes) {
            Ok(count) => all.extend_from_slice(&bytes[..count]),
            Err(why) => {
                assert_eq!(why.kind(), ErrorKind::WouldBlock, "{why}");
                thread::sleep(Duration::from_millis(20));
            }
        }
        if all.len() > filling && String::from_utf8_lossy(&all).contains(last) {
            break;
        }
    }
    String::from_utf8(all).expect("text")
}

//! `atalaya doctor` finds what usually goes wrong, and says what to do.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use atalaya::dgt::{Battery, ClockMessage, ClockTimes, Hand, HandTime, Message};
use serde_json::Value;
use support::{
    Guard, free_port,
    play::{ATALAYA, simulate},
};

/// A venue in a folder of its own, with nothing wrong.
struct Venue {
    folder: tempfile::TempDir,
    /// The configuration, table by table.
    text: String,
    broker: u16,
}

/// What the doctor said.
struct Said {
    code: i32,
    lines: Vec<Value>,
}

impl Said {
    fn of(output: &Output) -> Said {
        let text = String::from_utf8(output.stdout.clone()).expect("text");
        let lines = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let well = line["verdict"] == "ok";
            let cure = line["cure"].as_str().expect("a cure");
            assert_eq!(well, cure.is_empty(), "{line}");
            line
        });
        Said {
            lines: lines.collect(),
            code: output.status.code().expect("it ended by itself"),
        }
    }

    fn find(&self, code: &str) -> Option<&Value> {
        self.lines.iter().find(|line| line["code"] == code)
    }

    /// What was said under this code.
    fn what(&self, code: &str) -> &str {
        let line = self.find(code);
        let line = line.unwrap_or_else(|| panic!("no {code} in {:#?}", self.lines));
        line["what"].as_str().expect("words")
    }

    fn faults(&self) -> Vec<&str> {
        let faults = self.lines.iter().filter(|line| line["verdict"] == "fault");
        faults
            .map(|line| line["code"].as_str().expect("a code"))
            .collect()
    }
}

impl Venue {
    fn new() -> Venue {
        let folder = tempfile::tempdir().expect("a folder");
        let (broker, page) = (free_port(), free_port());
        let journal = folder.path().join("journal");
        let text = format!(
            "[venue]\nid = \"test\"\n[broker]\nlisten = \"127.0.0.1:{broker}\"\nwebsocket = \"none\"\n\
             [journal]\ndir = {journal:?}\n[web]\nlisten = \"127.0.0.1:{page}\"\n"
        );
        let venue = Venue {
            folder,
            text,
            broker,
        };
        venue.clock_says("yes");
        venue
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("it writes");
        path
    }

    /// What stands for systemd's word on the clock.
    fn clock_says(&self, word: &str) {
        fs::create_dir_all(self.path("bin")).expect("a folder");
        let program = self.file("bin/timedatectl", &format!("#!/bin/sh\necho {word}\n"));
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("it may run");
    }

    fn board(mut self, number: u16, port: &str) -> Venue {
        self.text += &format!("[[board]]\nnumber = {number}\nport = {port:?}\n");
        self
    }

    fn with(mut self, text: &str) -> Venue {
        self.text += text;
        self
    }

    fn write(&self) -> PathBuf {
        self.file("atalaya.toml", &self.text)
    }

    fn command(&self, lang: &str) -> Command {
        let config = self.write();
        let mut command = Command::new(ATALAYA);
        command
            .args(["doctor", "--json", "--lang", lang, "--config"])
            .arg(config)
            .env("PATH", self.path("bin"))
            .env_remove("RUST_LOG");
        command
    }

    fn doctor(&self, lang: &str) -> Said {
        Said::of(&self.command(lang).output().expect("it runs"))
    }

    /// One fault and no other, under this exit code, with words in both languages.
    fn has(&self, fault: &str, code: i32) -> Said {
        let (english, spanish) = (self.doctor("en"), self.doctor("es"));
        assert_eq!(english.faults(), [fault], "{:#?}", english.lines);
        assert_eq!(english.code, code, "{fault}");
        let cure = |said: &Said| said.find(fault).expect("it is there")["cure"].clone();
        assert_ne!(cure(&english), cure(&spanish), "{fault}");
        english
    }

    /// Nothing wrong but what somebody should know.
    fn warns(&self, warning: &str) -> Said {
        let said = self.doctor("es");
        assert_eq!(said.faults(), [""; 0], "{:#?}", said.lines);
        assert_eq!(said.code, 0);
        let found = said.find(warning);
        assert_eq!(found.map(|one| &one["verdict"]), Some(&"warning".into()));
        said
    }
}

/// Answers every request with this text.
fn lichess(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut asked = [0; 2048];
            let count = stream.read(&mut asked).unwrap_or(0);
            assert!(asked[..count].starts_with(b"POST /api/token/test "));
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
                answer.len()
            );
        }
    });
    port
}

/// A certificate for so many days from now, and its key.
fn certificate(venue: &Venue, from_days: i64, days: i64) -> String {
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut params = rcgen::CertificateParams::new(vec!["hall".to_owned()]).expect("names");
    let day = |days: i64| {
        let today = jiff::Timestamp::now()
            .to_zoned(jiff::tz::TimeZone::UTC)
            .date();
        let day = today.saturating_add(jiff::Span::new().days(days));
        rcgen::date_time_ymd(day.year().into(), day.month() as u8, day.day() as u8)
    };
    params.not_before = day(from_days);
    params.not_after = day(from_days + days);
    let made = params.self_signed(&key).expect("it is signed");
    let (chain, own) = (venue.path("page.crt"), venue.path("page.key"));
    fs::write(&chain, made.pem()).expect("it writes");
    fs::write(&own, key.serialize_pem()).expect("it writes");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).expect("ours");
    format!("tls = \"files\"\ncertificate = {chain:?}\nkey = {own:?}\n")
}

#[test]
fn a_hall_in_order_is_told_so_in_words() {
    let venue = Venue::new();
    let boards = simulate(venue.folder.path(), "boards", 2, "0");
    let links: Vec<String> = (1..=2)
        .map(|number| {
            venue
                .path(&format!("boards/board-{number}"))
                .display()
                .to_string()
        })
        .collect();
    wait_for(|| links.iter().all(|link| Path::new(link).exists()));
    let dir = venue.path("pgn").display().to_string();
    let venue = venue
        .with(&format!("[[relay]]\nkind = \"folder\"\ndir = {dir:?}\n"))
        .board(1, &links[0])
        .board(2, &links[1]);
    let said = venue.doctor("en");
    assert_eq!((said.faults(), said.code), (vec![], 0), "{:#?}", said.lines);
    assert!(said.what("board-good").contains("answers"));
    for code in [
        "configuration-good",
        "listen-good",
        "folder-good",
        "clock-good",
    ] {
        assert!(said.find(code).is_some(), "{code}");
    }
    drop(boards);

    let mut plain = Command::new(ATALAYA);
    plain
        .args(["doctor", "--lang", "es", "--config"])
        .arg(venue.write());
    let output = plain
        .env("PATH", venue.path("bin"))
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let fault = text
        .lines()
        .position(|line| line.starts_with("FALLO    board 1"));
    let after = text.lines().nth(fault.expect("the board is gone") + 1);
    assert!(
        after.is_some_and(|line| line.trim_start().starts_with("-> ")),
        "{text}"
    );
    assert!(text.contains("bien"), "{text}");
    assert_eq!(output.status.code(), Some(3));
    let sum = String::from_utf8(output.stderr).expect("text");
    assert!(sum.starts_with("fallos 2, avisos "), "{sum}");
}

fn wait_for(done: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < end, "it did not come");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn ports_that_are_wrong() {
    Venue::new().board(1, "/dev/nowhere").has("port-absent", 3);
    let said = Venue::new().board(1, "/dev/ttyUSB77").doctor("en");
    assert!(said.what("port-unstable").contains("/dev/serial/by-path/"));

    // A pty that nobody speaks at.
    let pty = nix::pty::openpty(None, None).expect("a pty");
    let name = nix::unistd::ttyname(&pty.slave).expect("its name");
    Venue::new()
        .board(1, name.to_str().expect("text"))
        .has("port-silent", 3);

    let nobody = format!("tcp://127.0.0.1:{}", free_port());
    Venue::new().board(1, &nobody).has("port-fault", 3);
    let none = "[ports]\nsearch = \"/nowhere/tty*\"\n";
    Venue::new().with(none).has("no-ports", 3);
    let unknown = format!("{none}[[board]]\nnumber = 4\nserial = \"99999\"\n");
    Venue::new().with(&unknown).has("serial-nowhere", 3);

    let venue = Venue::new();
    let port = venue.file("port", "");
    let mut sleep = Command::new("sleep");
    sleep
        .arg("600")
        .stdin(fs::File::open(&port).expect("it opens"));
    let _other = Guard::spawn(&mut sleep);
    // It would hold the file beside the process it began.
    drop(sleep);
    let venue = venue.board(1, port.to_str().expect("text"));
    // Between fork and exec it goes by another name.
    wait_for(|| {
        venue
            .doctor("en")
            .what("port-held")
            .contains("held by sleep (")
    });
    venue.has("port-held", 3);

    let venue = Venue::new();
    let (one, two) = (venue.file("one", ""), venue.path("two"));
    std::os::unix::fs::symlink(&one, &two).expect("a link");
    let said = venue
        .board(1, one.to_str().expect("text"))
        .board(2, two.to_str().expect("text"))
        .doctor("en");
    assert!(
        said.what("port-twice")
            .ends_with("is the port of board 1 too")
    );
    assert_eq!(said.code, 2);

    let venue = Venue::new();
    let program = venue.path("ModemManager");
    fs::copy("/bin/sleep", &program).expect("a copy");
    let _thief = Guard::spawn(Command::new(&program).arg("600"));
    let installed = Path::new("/usr/lib/udev/rules.d/60-atalaya.rules").exists();
    if !installed {
        venue
            .board(1, "/dev/nowhere")
            .doctor("en")
            .what("port-thief");
    }
}

#[test]
fn brokers_and_addresses_that_are_wrong() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port();
    let venue = Venue::new();
    let text = venue
        .text
        .replace(&format!(":{}", venue.broker), &format!(":{port}"));
    let venue = Venue { text, ..venue }.board(1, "/dev/nowhere");
    let said = venue.doctor("en");
    assert!(
        said.what("listen-taken")
            .starts_with(&format!("127.0.0.1:{port} is taken by "))
    );
    assert_eq!(said.code, 3);

    let away = format!("[mqtt]\nbroker = \"mqtt://127.0.0.1:{}\"\n", free_port());
    let said = quiet(Venue::new().with(&away)).has("broker-away", 3);
    assert!(said.what("broker-away").contains("refused"));

    // Something listens, but it is no broker.
    let port = taken.local_addr().expect("bound").port();
    thread::spawn(move || taken.incoming().for_each(drop));
    let wrong = format!("[mqtt]\nbroker = \"mqtt://127.0.0.1:{port}\"\n");
    quiet(Venue::new().with(&wrong)).has("broker-refuses", 3);

    let far = "[[relay]]\nkind = \"http\"\nlisten = \"192.0.2.7:8491\"\n";
    quiet(Venue::new().with(far)).has("listen-fault", 3);
}

/// With a board behind a serial server that says at once all that a board can say.
fn quiet(venue: Venue) -> Venue {
    let port = free_port();
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("a port");
    let hand = HandTime {
        seconds: 300,
        ..HandTime::default()
    };
    let times = ClockTimes {
        right: hand,
        left: hand,
        running: false,
        lever: Hand::Left,
        battery_low: false,
        connected: true,
    };
    let battery = Battery {
        percent: 80,
        remaining_minutes: None,
        charging: false,
        discharging: true,
    };
    let mut said = Vec::new();
    for message in [
        Message::Version { major: 1, minor: 8 },
        Message::LongSerial("3000147740".to_owned()),
        Message::Battery(battery),
        Message::Clock(ClockMessage::Times(times)),
    ] {
        message.encode(&mut said);
    }
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.write_all(&said);
            thread::spawn(move || stream.read_to_end(&mut Vec::new()));
        }
    });
    venue.board(1, &format!("tcp://127.0.0.1:{port}"))
}

#[test]
fn a_running_daemon_is_no_fault() {
    let venue = quiet(Venue::new());
    let config = venue.write();
    let mut daemon = Command::new(ATALAYA);
    daemon.args(["run", "--config"]).arg(&config);
    let _daemon = Guard::spawn(daemon.stderr(Stdio::null()));
    let address = format!("127.0.0.1:{}", venue.broker);
    wait_for(|| std::net::TcpStream::connect(&address).is_ok());
    wait_for(|| venue.doctor("en").find("port-watched").is_some());
    let said = venue.doctor("en");
    assert_eq!((said.faults(), said.code), (vec![], 0), "{:#?}", said.lines);
    said.what("listen-ours");

    let other = format!("[mqtt]\nbroker = \"mqtt://127.0.0.1:{}\"\n", venue.broker);
    let said = quiet(Venue::new().with(&other)).doctor("en");
    assert_eq!(said.code, 0, "{:#?}", said.lines);
    assert!(said.what("broker-good").ends_with("lets us in"));
}

#[test]
fn files_that_are_wrong() {
    let said = Venue::new().with("[venu]\nid = 1\n").doctor("en");
    assert!(said.what("configuration-fault").contains("venu"));
    assert_eq!(said.code, 2);

    let pairings = |name: &str| format!("[event]\npairings = {name:?}\n");
    let said = quiet(Venue::new().with(&pairings("nowhere.pgn"))).has("pairings-fault", 2);
    assert!(said.what("pairings-fault").contains("nowhere.pgn"));

    let relay = |url: &str, token: &Path| {
        format!("[[relay]]\nkind = \"lichess\"\nurl = \"{url}\"\ntoken_file = {token:?}\n")
    };
    let nowhere = relay("http://127.0.0.1:1/push", Path::new("/nowhere"));
    quiet(Venue::new().with(&nowhere)).has("file-unreadable", 2);

    let venue = Venue::new();
    let token = venue.file("token", "lip_secret\n");
    let port = lichess(r#"{"lip_secret":{"userId":"ana","scopes":"study:read,study:write"}}"#);
    let url = format!("http://127.0.0.1:{port}/api/broadcast/round/x/push");
    let venue = quiet(venue.with(&relay(&url, &token)));
    let said = venue.warns("secret-open");
    assert!(said.what("token-good").ends_with("ana"));
    let told = said
        .lines
        .iter()
        .any(|line| line.to_string().contains("lip_secret"));
    assert!(!told, "the token is shown to nobody");

    for (answer, fault) in [
        (r#"{"lip_secret":null}"#, "token-unknown"),
        (
            r#"{"lip_secret":{"userId":"ana","scopes":"study:read"}}"#,
            "token-scope",
        ),
        ("<html>a login page</html>", "relay-away"),
    ] {
        let url = format!("http://127.0.0.1:{}/push", lichess(answer));
        let venue = Venue::new();
        let token = venue.file("token", "lip_secret");
        quiet(venue.with(&relay(&url, &token))).has(fault, 3);
    }

    let venue = Venue::new();
    let dir = venue.file("file", "").join("pgn");
    let folder = format!("[[relay]]\nkind = \"folder\"\ndir = {dir:?}\n");
    quiet(venue.with(&folder)).has("folder-fault", 1);
}

#[test]
fn certificates_that_end() {
    for (from, days, code, exit) in [
        (-400, 300, "certificate-over", 1),
        (100, 300, "certificate-over", 1),
        (-100, 110, "certificate-ends", 0),
        (-100, 500, "certificate-good", 0),
    ] {
        let venue = Venue::new();
        let files = certificate(&venue, from, days);
        // `[web]` is the last table so far
        let said = quiet(venue.with(&files)).doctor("en");
        said.what(code);
        assert_eq!(said.code, exit, "{code}");
    }
    let venue = Venue::new();
    let files = certificate(&venue, -1, 400);
    venue.file("page.crt", "no certificate\n");
    quiet(venue.with(&files)).has("certificate-fault", 2);
}

#[test]
fn a_machine_that_is_wrong() {
    let venue = quiet(Venue::new());
    venue.clock_says("no");
    venue.warns("clock-free");
    venue.clock_says("nonsense");
    venue.warns("clock-unknown");
    let mut stray = venue.command("en");
    let said = Said::of(
        &stray
            .env("ATALAYA_WEB__LISTEN", "none")
            .output()
            .expect("it runs"),
    );
    said.what("stray-variable");
    assert_eq!(said.code, 0);

    let mut venue = quiet(Venue::new());
    venue.clock_says("yes");
    let dir = venue.file("file", "").join("journal");
    let journal = venue.path("journal");
    venue.text = venue
        .text
        .replace(&format!("{journal:?}"), &format!("{dir:?}"));
    venue.has("disk-fault", 1);

    let venue = quiet(Venue::new());
    let config = venue.write();
    let shell = |script: &str| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script, ATALAYA]).arg(&config);
        let path = format!("{}:/usr/bin:/bin", venue.path("bin").display());
        Said::of(&shell.env("PATH", path).output().expect("it runs"))
    };
    let said = shell("ulimit -n 90; exec \"$0\" doctor --json --config \"$1\"");
    assert_eq!((said.faults(), said.code), (vec!["few-files"], 1));

    let allowed = Command::new("unshare").args(["-rm", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        println!("skipped: nobody here may mount a small disk");
        return;
    }
    fs::create_dir_all(venue.path("journal")).expect("a folder");
    let small = format!(
        "mount -t tmpfs -o size=SIZE none {}; exec \"$0\" doctor --json --config \"$1\"",
        venue.path("journal").display()
    );
    let small = format!("unshare -rm /bin/sh -c '{small}' \"$0\" \"$1\"");
    let said = shell(&small.replace("SIZE", "20m"));
    assert_eq!((said.faults(), said.code), (vec!["disk-full"], 1));
    let said = shell(&small.replace("SIZE", "300m"));
    said.what("disk-low");
    assert_eq!(said.code, 0);
}

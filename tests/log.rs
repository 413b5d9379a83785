//! What the daemon logs: for people, for programs, for the systemd journal; and never a secret.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::{linux::fs::MetadataExt, unix::net::UnixDatagram},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use support::{Guard, free_port, play::ATALAYA};

/// For what must come at all; a busy machine is not to fail the test.
const PATIENCE: Duration = Duration::from_secs(120);
const PASSWORD: &str = "torre-blanca-77";
const BROKER_PASSWORD: &str = "caballo-negro-88";
const TOKEN: &str = "lip_alfil99";

/// Waits until the file says it.
fn wait_for(log: &Path, what: &str) -> String {
    let end = Instant::now() + PATIENCE;
    loop {
        let text = fs::read_to_string(log).unwrap_or_default();
        if text.contains(what) {
            return text;
        }
        assert!(Instant::now() < end, "no {what:?} in {text}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A daemon whose log goes to `log` in its folder.
fn daemon(dir: &Path, more: &str, change: impl FnOnce(&mut Command)) -> (Guard, PathBuf, u16) {
    let (page, log) = (free_port(), dir.join("log"));
    let text = format!(
        "[venue]\nid = \"test\"\n[web]\nlisten = \"127.0.0.1:{page}\"\nusers = \"users.toml\"\n\
         [journal]\ndir = {:?}\n[broker]\nlisten = \"127.0.0.1:{}\"\nwebsocket = \"none\"\n\
         [ports]\nsearch = \"/nowhere/tty*\"\n{more}\n",
        dir.join("state"),
        free_port()
    );
    fs::write(dir.join("atalaya.toml"), text).expect("it writes");
    let mut command = Command::new(ATALAYA);
    command
        .args(["run", "--config"])
        .arg(dir.join("atalaya.toml"));
    command.current_dir(dir).env_remove("RUST_LOG");
    command.stderr(File::create(&log).expect("a log"));
    change(&mut command);
    (Guard::spawn(&mut command), log, page)
}

fn users(dir: &Path) {
    let mut command = Command::new(ATALAYA);
    command
        .args(["user", "ana"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut pipe = child.stdin.take().expect("piped");
    writeln!(pipe, "{PASSWORD}").expect("it reads");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    fs::write(dir.join("users.toml"), output.stdout).expect("it writes");
}

/// The answer to a login.
fn log_in(page: u16, password: &str) -> String {
    let body = json!({"user": "ana", "password": password}).to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", page)).expect("the page");
    let request = format!(
        "POST /login HTTP/1.1\r\nHost: hall\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn no_secret_is_logged_even_when_all_is_logged() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    users(dir);
    let hashed = fs::read_to_string(dir.join("users.toml")).expect("users");
    let hash = hashed.split("$argon2").nth(1).expect("a hash");
    let hash = hash.split('"').next().expect("its end").to_owned();
    fs::write(dir.join("token"), TOKEN).expect("it writes");
    fs::write(dir.join("password"), BROKER_PASSWORD).expect("it writes");
    // What Lichess would be: it refuses.
    let lichess = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = lichess.local_addr().expect("bound");
    thread::spawn(move || {
        for stream in lichess.incoming().flatten() {
            let mut stream = stream;
            let asked = stream.read(&mut [0; 4096]);
            assert!(asked.is_ok(), "{asked:?}");
            let _ = stream.write_all(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let relay = format!(
        "[[relay]]\nkind = \"lichess\"\nurl = \"http://{at}/push\"\ntoken_file = \"token\"\n"
    );
    let mut logs = Vec::new();
    for format in ["human", "json"] {
        let all = |command: &mut Command| {
            command
                .args(["--log-format", format])
                .env("RUST_LOG", "trace");
        };
        let (_daemon, log, page) = daemon(dir, &relay, all);
        wait_for(&log, "on watch");
        let end = Instant::now() + PATIENCE;
        let cookie = loop {
            let answer = log_in(page, PASSWORD);
            if answer.starts_with("HTTP/1.1 200") {
                break answer;
            }
            assert!(Instant::now() < end, "{answer}");
            thread::sleep(Duration::from_millis(200));
        };
        let cookie = cookie.split("atalaya=").nth(1).expect("a cookie");
        let cookie = cookie.split(';').next().expect("its end").to_owned();
        assert!(log_in(page, "wrong-one-55").starts_with("HTTP/1.1 403"));
        wait_for(&log, "connected to the broker");
        logs.push((fs::read_to_string(&log).expect("a log"), cookie));
    }
    // A broker of the venue's that is away, which the log tells.
    let away = format!(
        "[mqtt]\nbroker = \"mqtt://127.0.0.1:{}\"\nusername = \"atalaya\"\npassword_file = \"password\"\n",
        free_port()
    );
    let (_daemon, log, _) = daemon(dir, &away, |command| {
        command.env("RUST_LOG", "trace");
    });
    logs.push((
        wait_for(&log, "no connection to the broker"),
        TOKEN.to_owned(),
    ));
    for (log, cookie) in logs {
        for secret in [
            PASSWORD,
            BROKER_PASSWORD,
            TOKEN,
            "wrong-one-55",
            &hash,
            &cookie,
        ] {
            assert!(!log.contains(secret), "{secret} in {log}");
        }
    }
}

#[test]
fn a_line_as_json_is_an_object_with_its_level() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    users(dir);
    let board = "[[board]]\nnumber = 3\nport = \"/dev/nowhere\"\n";
    let (_daemon, log, _) = daemon(dir, board, |command| {
        command.args(["--log-format", "json"]);
    });
    let text = wait_for(&log, "does not open");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}")))
        .collect();
    let lost = lines
        .iter()
        .find(|line| line["board"] == "3")
        .expect("a line");
    assert_eq!(lost["level"], "WARN");
    assert!(lost["timestamp"].is_string());
    let once = |text: &str| text.matches("does not open").count();
    assert_eq!(once(&text), 1, "a board that is away is told once: {text}");
}

/// The journal's socket stands where only the daemon sees it.
#[test]
fn the_systemd_journal_gets_fields_and_priorities() {
    let allowed = Command::new("unshare").args(["-rm", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) || !Path::new("/run").is_dir() {
        println!("skipped: nobody here may mount a folder for one program");
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    users(dir);
    fs::create_dir(dir.join("systemd")).expect("a folder");
    fs::create_dir(dir.join("systemd/journal")).expect("a folder");
    let journal = UnixDatagram::bind(dir.join("systemd/journal/socket")).expect("it binds");
    journal
        .set_read_timeout(Some(Duration::from_secs(1)))
        .expect("a limit");
    let board = "[[board]]\nnumber = 3\nport = \"/dev/nowhere\"\n";
    let (_daemon, log, _) = daemon(dir, board, |command| {
        let about = fs::metadata(dir.join("log")).expect("the log");
        let stream = format!("{}:{}", about.st_dev(), about.st_ino());
        let mut shell = Command::new("unshare");
        let script = format!(
            "mount -t tmpfs none /run && mkdir /run/systemd && mount --bind {} /run/systemd && \
             exec \"$0\" run --config atalaya.toml",
            dir.join("systemd").display()
        );
        shell.args(["-rm", "sh", "-c", &script, ATALAYA]);
        shell
            .current_dir(dir)
            .env("JOURNAL_STREAM", stream)
            .env_remove("RUST_LOG");
        let out = File::options()
            .append(true)
            .open(dir.join("log"))
            .expect("the log");
        shell.stderr(out);
        *command = shell;
    });
    let end = Instant::now() + PATIENCE;
    let mut bytes = [0; 65_536];
    let mut heard = Vec::new();
    let line = loop {
        let said = fs::read_to_string(&log).unwrap_or_default();
        assert!(Instant::now() < end, "{said}{heard:#?}");
        let Ok(count) = journal.recv(&mut bytes) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
        if text.contains("ATALAYA_BOARD\n") && text.contains("the board's port does not open") {
            break text;
        }
        heard.push(text);
    };
    let field = |name: &str, value: &str| {
        let length = char::from(u8::try_from(value.len()).expect("short"));
        let field = format!("{name}\n{length}\0\0\0\0\0\0\0{value}\n");
        assert!(line.contains(&field), "{name}: {line:?}");
    };
    field("ATALAYA_BOARD", "3");
    field("PRIORITY", "4");
    field("SYSLOG_IDENTIFIER", "atalaya");
    // Whoever reads the messages alone knows which board.
    assert!(
        line.contains("the board's port does not open board=3 reason="),
        "{line:?}"
    );
    assert_eq!(fs::read_to_string(log).expect("a log"), "", "nothing twice");
}

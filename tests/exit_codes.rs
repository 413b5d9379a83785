//! Every command by its exit codes (design.md 2): 0 good, 1 a check failed, 2 usage or configuration,
//! 3 a device or network fault.

mod support;

use std::{
    fs,
    io::Write,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
};

use support::{free_port, play::ATALAYA};

const GOOD: &str = "tests/scenarios/ordinary.toml";
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// What is wanted of one call: its words, and what it reads.
struct Call {
    words: Vec<String>,
    reads: &'static str,
    code: i32,
}

fn call(code: i32, words: &[&str]) -> Call {
    Call {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        reads: "",
        code,
    }
}

fn reading(reads: &'static str, call: Call) -> Call {
    Call { reads, ..call }
}

fn write(path: &Path, text: &str) -> String {
    fs::write(path, text).expect("it writes");
    path.to_str().expect("text").to_owned()
}

/// All calls. What listens in `taken` stays there for as long as they run.
fn calls(dir: &Path, taken: &TcpListener) -> Vec<Call> {
    let taken = taken.local_addr().expect("bound").to_string();
    let file = |name: &str, text: &str| write(&dir.join(name), text);
    let free = || format!("127.0.0.1:{}", free_port());
    let hall = |name: &str, more: &str| {
        let text = format!(
            "[broker]\nlisten = \"{}\"\nwebsocket = \"none\"\n[journal]\ndir = {:?}\n\
             [ports]\nsearch = \"/nowhere/*\"\n[metrics]\nlisten = \"none\"\n{more}\n",
            free(),
            dir.join(name)
        );
        file(&format!("{name}.toml"), &text)
    };
    let good = hall("good", "[web]\nlisten = \"none\"");
    let wrong = file("wrong.toml", "[web]\nlisten = \"x\"\n");
    let page = hall("page", &format!("[web]\nlisten = \"{taken}\""));
    let relayed =
        format!("[web]\nlisten = \"none\"\n[[relay]]\nkind = \"http\"\nlisten = \"{taken}\"");
    let relayed = hall("relayed", &relayed);
    let unpaired = hall(
        "unpaired",
        "[web]\nlisten = \"none\"\n[event]\npairings = \"nowhere.pgn\"",
    );
    let token = file("token", "lip_x");
    let lichess = format!(
        "[[relay]]\nkind = \"lichess\"\nurl = \"http://{}/push\"\ntoken_file = {token:?}",
        free()
    );
    let lichess = hall("lichess", &lichess);
    let failing = "[[scenario]]\nid = \"x\"\nevents = \"~\"\nmoves = [\"e4\"]\n";
    let failing = file("failing.toml", failing);
    let text = file("text", "no journal, no capture\n");
    // one message: the firmware is 1.8
    let capture = file("board.inbytes", "kwAFAQg=\n");
    let inside = dir.join("text/inside").display().to_string();
    let games = "src/cli/demo.pgn";
    vec![
        call(2, &[]),
        call(2, &["watch"]),
        call(0, &["--help"]),
        call(0, &["--version"]),
        call(2, &["run", "--config", &wrong]),
        call(2, &["run", "--config", "/nowhere.toml"]),
        call(2, &["run", "--config", &unpaired]),
        call(3, &["run", "--config", &page]),
        call(3, &["run", "--config", &relayed]),
        call(2, &["demo", "--boards", "0"]),
        call(0, &["demo", "--boards", "1", "--for", "1"]),
        call(
            2,
            &[
                "simulate",
                "--boards",
                "1",
                "--games",
                "/nowhere.pgn",
                "--links",
                &inside,
            ],
        ),
        call(
            2,
            &[
                "simulate", "--boards", "1", "--games", games, "--links", &inside,
            ],
        ),
        call(0, &["scenario", GOOD]),
        call(1, &["scenario", &failing]),
        call(2, &["scenario", "/nowhere.toml"]),
        call(2, &["scenario", &text]),
        call(2, &["replay", "/nowhere.atj"]),
        call(2, &["replay", &text]),
        call(0, &["replay", &capture]),
        call(2, &["boards", "--port", "ttyUSB0"]),
        call(3, &["boards", "--port", "/dev/null"]),
        call(0, &["check", "--config", &good]),
        call(2, &["check", "--config", &wrong]),
        call(2, &["check", "--config", &unpaired]),
        call(2, &["doctor", "--config", &wrong]),
        call(3, &["doctor", "--config", &page]),
        call(2, &["reset", "--config", &good, "--yes"]),
        call(2, &["reset", "--config", &lichess]),
        call(3, &["reset", "--config", &lichess, "--yes"]),
        call(0, &["explain"]),
        call(2, &["explain", "nonsense"]),
        call(0, &["position", START]),
        call(2, &["position", "nonsense"]),
        call(2, &["web", "--mqtt", "nonsense"]),
        call(2, &["web", "--config", &good]),
        call(
            3,
            &["web", "--mqtt", "mqtt://127.0.0.1:1", "--listen", &taken],
        ),
        reading("torre-blanca\n", call(0, &["user", "ana"])),
        reading("short\n", call(2, &["user", "ana"])),
        reading("torre-blanca\n", call(2, &["user", "ana maria"])),
        call(0, &["contract"]),
        call(2, &["contract", "--schemas", &inside]),
        call(0, &["completions", "fish"]),
        call(2, &["completions", "tcsh"]),
        call(0, &["package", dir.join("package").to_str().expect("text")]),
        call(2, &["package", &inside]),
    ]
}

#[test]
fn every_command_ends_with_the_code_of_the_contract() {
    let dir = tempfile::tempdir().expect("a folder");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let calls = calls(dir.path(), &taken);
    for Call { words, reads, code } in &calls {
        let mut command = Command::new(ATALAYA);
        command
            .args(words)
            .env_remove("RUST_LOG")
            .stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut pipe = child.stdin.take().expect("piped");
        // Most read nothing, and may have ended.
        let _ = pipe.write_all(reads.as_bytes());
        drop(pipe);
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(*code), "{words:?}: {said}");
        assert!(!said.contains("panicked"), "{words:?}: {said}");
        let told = *code == 0 || !said.trim().is_empty();
        assert!(told, "{words:?} ends with {code} and says nothing");
    }

    let help = Command::new(ATALAYA)
        .arg("--help")
        .output()
        .expect("it runs");
    let help = String::from_utf8(help.stdout).expect("text");
    for name in support::commands(&help) {
        let tried = calls
            .iter()
            .any(|call| call.words.first().is_some_and(|one| one == name));
        assert!(tried || name == "help", "{name} is not tried");
    }
}

//! The program from outside: help, exit codes, and what stands on which output.

use assert_cmd::Command;

fn atalaya(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("atalaya").expect("the program");
    command.args(args).env_remove("RUST_LOG");
    command
}

fn output(args: &[&str]) -> (Option<i32>, String, String) {
    let output = atalaya(args).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn every_help_shows_an_example() {
    let (code, help, _) = output(&["--help"]);
    assert_eq!(code, Some(0));
    let commands = help.split("Commands:").nth(1).expect("a list");
    let commands: Vec<&str> = commands
        .lines()
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() >= 9, "{commands:?}");
    for command in commands {
        let (code, help, _) = output(&[command, "--help"]);
        let example = format!("Example: atalaya {command}");
        let last = help.trim_end().lines().last().unwrap_or_default();
        assert!(code == Some(0) && last.starts_with(&example), "{help}");
    }
}

#[test]
fn a_code_is_explained_in_both_languages() {
    let (code, text, _) = output(&["explain", "king-left-in-check", "--lang", "es"]);
    assert_eq!(code, Some(0));
    assert!(text.starts_with("king-left-in-check: Rey"), "{text}");
    let (_, list, _) = output(&["explain"]);
    assert!(list.lines().any(|line| line.starts_with("rook-off-line ")));
    let (code, _, error) = output(&["explain", "king-left-in-chek"]);
    assert_eq!(code, Some(2));
    assert!(
        error.contains("did you mean 'king-left-in-check'?"),
        "{error}"
    );
}

#[test]
fn check_tells_all_faults_and_exits_with_2() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.toml");
    let path_text = path.to_str().expect("text");
    std::fs::write(&path, "[web]\nlisten = \"x\"\n[venu]\n").expect("written");
    let (code, out, error) = output(&["check", "--config", path_text]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(error.contains("a.toml:2: web.listen: "), "{error}");
    assert!(error.contains("a.toml:3: venu: "), "{error}");

    std::fs::write(&path, "[event]\npairings = \"r.csv\"\n").expect("written");
    std::fs::write(dir.path().join("r.csv"), "board,white,black\nx,A,B\n").expect("written");
    let (code, _, error) = output(&["check", "--config", path_text]);
    assert_eq!(code, Some(2));
    assert!(error.contains("r.csv:2: `x` is no board number"), "{error}");

    let (code, out, _) = output(&["check", "--config", "config/atalaya.toml"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("configuration good"), "{out}");
}

#[test]
fn usage_is_2_and_a_device_is_3() {
    for wrong in [
        &["watch"][..],
        &["demo", "--boards", "0"],
        &["demo", "--speed", "-1"],
        &["demo", "--mishaps", "2"],
        &["boards", "--port", "ttyUSB0"],
        &["explain", "--edition", "2020"],
        &[
            "simulate",
            "--boards",
            "1",
            "--games",
            "/nowhere.pgn",
            "--links",
            "/tmp",
        ],
    ] {
        assert_eq!(output(wrong).0, Some(2), "{wrong:?}");
    }
    let (code, out, _) = output(&["boards", "--json", "--port", "/dev/null"]);
    assert_eq!(code, Some(3));
    let line = out.lines().last().expect("a line");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(line["port"], "/dev/null");
    assert!(line["error"].is_string());
}

#[test]
fn completions_name_the_commands() {
    let (code, script, _) = output(&["completions", "bash"]);
    assert_eq!(code, Some(0));
    assert!(script.contains("simulate"));
}

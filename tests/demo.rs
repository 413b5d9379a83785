//! The demo is what somebody sees first.

use std::process::Command;

/// The number behind a word of the summary.
fn number(text: &str, before: &str) -> u64 {
    let rest = text.split_once(before).map(|(_, rest)| rest.trim_start());
    let rest = rest.unwrap_or_else(|| panic!("no '{before}' in {text}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits
        .parse()
        .unwrap_or_else(|_| panic!("no number behind '{before}' in {text}"))
}

#[test]
fn the_demo_ends_by_itself_and_catches_what_was_played() {
    let demo = Command::new(env!("CARGO_BIN_EXE_atalaya"))
        .args(["demo", "--boards", "4", "--speed", "10", "--seed", "7"])
        .args(["--mishaps", "0.2", "--for", "30"])
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&demo.stdout).into_owned();
    let log = String::from_utf8_lossy(&demo.stderr).into_owned();
    assert!(demo.status.success(), "{text}\n{log}");
    assert!(text.contains("mosquitto_sub"), "{text}");
    assert!(text.contains("ALERT  board"), "{text}");
    assert_eq!(number(&text, "boards "), 4);
    assert!(number(&text, "plies ") > 50, "{text}");
    let played = number(&text, "illegal moves played ");
    assert!(played >= 3, "{text}\n{log}");
    assert_eq!(number(&text, "right code "), played, "{text}\n{log}");
    assert_eq!(
        number(&text, "urgent alerts without one "),
        0,
        "{text}\n{log}"
    );
    assert!(text.contains("worst time from the press"), "{text}");
}

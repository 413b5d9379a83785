//! `atalaya position`, and the answers to whether a side can still mate.

mod common;

use std::{fs, process::Command};

use atalaya::laws::{Answer, can_mate, cannot_mate, is_dead};
use common::shared;
use serde_json::{Value, json};
use shakmaty::{CastlingMode, Chess, Color, FromSetup, PositionError, fen::Fen};

fn position(fen: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_atalaya"))
        .args(["position", fen, "--json"])
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{fen}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn bare_kings_are_a_dead_position() {
    let told = position("8/8/8/8/8/5k2/8/5K2 w - - 0 1");
    assert_eq!(told["ended"], "dead-position");
    assert_eq!(told["can_mate"]["white"]["answer"], "no");
    assert_eq!(told["impossible"], json!([]));
}

#[test]
fn a_mate_with_help_is_shown() {
    let told = position("8/4k3/4P3/3B2P1/4P1K1/8/3b4/8 w - - 0 60");
    assert_eq!(told["can_mate"]["black"]["answer"], "yes");
    let line = told["can_mate"]["black"]["line"]
        .as_array()
        .expect("a line");
    assert!(
        line.last()
            .and_then(Value::as_str)
            .is_some_and(|last| last.ends_with('#'))
    );
}

#[test]
fn an_impossible_position_is_named_with_its_squares() {
    let told = position("4k3/8/8/8/8/8/8/P3K3 w - - 0 1");
    assert_eq!(told["impossible"][0]["reason"], "pawn-on-own-back-rank");
    assert_eq!(told["impossible"][0]["squares"], json!(["a1"]));
}

#[test]
fn no_fen_is_said_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_atalaya"))
        .args(["position", "white to play"])
        .output()
        .expect("the program runs");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no FEN"));
}

fn chess(fen: &str) -> Chess {
    let setup = fen.parse::<Fen>().expect("a FEN").into_setup();
    Chess::from_setup(setup, CastlingMode::Standard).expect("a position")
}

/// The U-series of laws.md 9: White's answer, Black's answer.
#[test]
fn the_known_cases_are_answered() {
    let yes = (Answer::Yes, Answer::Yes);
    for (fen, answers) in [
        ("8/8/4k3/3R4/2K5/8/8/8 w - - 0 1", (Answer::Yes, Answer::No)),
        (
            "8/8/3k4/1p2p1p1/pP1pP1P1/P2P4/1K6/8 b - - 0 1",
            (Answer::No, Answer::No),
        ),
        (
            "4k3/8/8/p2p2p1/P2P2P1/8/8/4K3 w - - 0 1",
            (Answer::No, Answer::No),
        ),
        (
            "5b2/p7/Pp3k2/1Pp1pBp1/2P1P1P1/5K2/8/8 w - - 0 1",
            (Answer::Yes, Answer::No),
        ),
        (
            "8/8/8/3k4/8/3K4/4N3/5N2 w - - 0 1",
            (Answer::Yes, Answer::No),
        ),
        ("8/4k3/8/8/8/2N5/3K4/8 w - - 0 1", (Answer::No, Answer::No)),
        ("8/8/8/8/8/4k1n1/8/4K2B w - - 0 1", yes),
    ] {
        let position = chess(fen);
        let told = [Color::White, Color::Black].map(|side| can_mate(&position, side).answer);
        assert_eq!((told[0], told[1]), answers, "{fen}");
        // What is told after every move is never more than what is so.
        assert!(!is_dead(&position) || answers == (Answer::No, Answer::No));
    }
    assert!(is_dead(&chess("4k3/8/8/p2p2p1/P2P2P1/8/8/4K3 w - - 0 1")));
}

/// laws.md 5.4: without a limit these take seconds. The limit counts nodes, so the answer is always
/// the same; it may be that nothing is known, and never a wrong one.
#[test]
fn hostile_positions_get_an_answer_in_time() {
    let dead = chess("kb6/b1p2p1p/1pP5/1P6/8/8/5P1P/5K2 w - - 0 1");
    let alive = chess("8/8/1b6/4k2B/8/4p1p1/4P1P1/5BRK b - - 0 1");
    for side in [Color::White, Color::Black] {
        assert_ne!(can_mate(&dead, side).answer, Answer::Yes);
        assert_ne!(can_mate(&alive, side).answer, Answer::No);
        assert!(!cannot_mate(&alive, side));
        assert_eq!(can_mate(&dead, side), can_mate(&dead, side));
    }
}

#[test]
fn no_answer_of_the_suite_is_wrong() {
    let Some(path) = shared("corpus/unwinnable.txt") else {
        return;
    };
    let text = fs::read_to_string(path).expect("the suite reads");
    let (mut asked, mut wrong) = (0, Vec::new());
    for line in text
        .lines()
        .step_by(9)
        .filter(|line| !line.starts_with('#'))
    {
        let (who, fen) = line.split_at(2);
        let setup = fen.trim().parse::<Fen>().expect("a FEN").into_setup();
        let position = Chess::from_setup(setup, CastlingMode::Standard)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_too_much_material)
            .expect("a position");
        for (side, mark) in [(Color::White, 'W'), (Color::Black, 'B')] {
            asked += 1;
            let wrong_answer = if who.contains(mark) {
                Answer::No
            } else {
                Answer::Yes
            };
            let quick = cannot_mate(&position, side) && wrong_answer == Answer::No;
            if quick || can_mate(&position, side).answer == wrong_answer {
                wrong.push(line);
            }
        }
    }
    println!("{asked} positions asked");
    assert!(asked > 100, "the suite's form has changed");
    assert_eq!(wrong, Vec::<&str>::new());
}

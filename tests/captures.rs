//! Captures of real boards come back as the games that were played on them.

mod common;

use std::fs;

use atalaya::{
    incident::Level,
    journal::{Entry, Kind, Replay, read_inbytes},
    monitor::Output,
    words::{At, BoardNo},
};
use common::shared;
use jiff::Timestamp;

#[derive(Default)]
struct Seen {
    uci: Vec<String>,
    san: Vec<String>,
    result: Option<String>,
    urgent: Vec<String>,
}

fn replayed(capture: &str) -> Option<Seen> {
    let text = fs::read_to_string(shared(&format!("corpus/captures/{capture}.inbytes"))?);
    let messages = read_inbytes(&text.expect("a capture reads")).expect("a capture decodes");
    let mut replay = Replay::new();
    let mut seen = Seen::default();
    let end = messages.last().map_or(0, |(at, _)| at.0) + 30_000;
    let mut play = |at: u64, kind: Kind| {
        let entry = Entry {
            board: BoardNo(1),
            seq: 0,
            at: At(at),
            wall: Timestamp::UNIX_EPOCH,
            kind,
        };
        for one in replay.entry(&entry) {
            match one.output {
                Output::Ply(ply) => {
                    seen.uci.push(ply.uci);
                    seen.san.push(ply.san);
                }
                Output::State(state) => seen.result = state.result.or(seen.result.take()),
                Output::Alert { alert, .. } if alert.level == Level::Urgent => {
                    seen.urgent.push(alert.finding.code.as_str().to_owned());
                }
                _ => {}
            }
        }
    };
    play(0, Kind::Opened);
    let mut messages = messages.into_iter().peekable();
    for now in (0..end).step_by(20) {
        while let Some((at, bytes)) = messages.next_if(|(at, _)| at.0 <= now) {
            play(at.0, Kind::Bytes(bytes));
        }
        play(now, Kind::Tick);
    }
    Some(seen)
}

/// The moves of a file with `12. e2e4 e7e5` or the like in it.
fn moves(file: &str) -> Vec<String> {
    let path = shared(&format!("corpus/captures/{file}")).expect("beside the capture");
    let text = fs::read_to_string(path).expect("it reads");
    let words = text
        .split_whitespace()
        .map(|word| word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
    let ends = ["*", "-0", "-1", "/2-1/2"];
    words
        .filter(|word| !word.is_empty() && !ends.contains(word))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_blitz_game_to_its_57th_ply() {
    let Some(seen) = replayed("1") else { return };
    assert_eq!(seen.uci, moves("1.uci"));
    assert_eq!(seen.uci.len(), 57);
    assert_eq!(seen.urgent, Vec::<String>::new());
}

#[test]
fn a_game_that_ends_with_the_kings_in_the_centre() {
    let Some(seen) = replayed("johan") else {
        return;
    };
    assert_eq!(seen.san, moves("johan.pgn"));
    assert_eq!(seen.san.len(), 43);
    assert_eq!(seen.result.as_deref(), Some("1-0"));
    assert_eq!(seen.urgent, Vec::<String>::new());
}

//! What a restart makes of a journal that a crash, a bad disk or a clock has dealt with.

mod common;

use std::{fs, path::Path, sync::Arc};

use atalaya::{
    journal::{Entry, Found, History, Journal, Kind, Past, Rebuilt, Replay, recover, segments},
    simulate::parse_games,
    words::BoardNo,
};
use common::journalled::{Plan, journalled};
use jiff::{Timestamp, ToSpan};
use proptest::prelude::*;
use tempfile::TempDir;

const BOARD: BoardNo = BoardNo(1);

fn begun() -> Timestamp {
    "2026-11-30T23:30:00Z".parse().unwrap()
}

/// The opening of a game with illegal moves in it.
fn play() -> Vec<Entry> {
    let text = include_str!("../src/cli/demo.pgn").replace("300+5", "60+0");
    let games = parse_games(text.as_bytes(), "demo.pgn").unwrap();
    journalled(Plan {
        board: BOARD.0,
        games: games.into_iter().map(Arc::new).collect(),
        mishaps: 0.2,
        until_ms: 60_000,
        begun: begun(),
    })
}

fn write(dir: &Path, entries: &[Entry]) {
    let (journal, thread) = Journal::open(dir, begun()).unwrap();
    for entry in entries {
        journal.append(entry);
    }
    thread.stop().unwrap();
}

/// The board as it is after a restart, and all that it tells again.
fn state(boards: &std::collections::BTreeMap<BoardNo, Rebuilt>) -> String {
    let board = &boards[&BOARD];
    format!("{:?} {:?}", board.monitor.standing(), board.undelivered)
}

/// The state that these entries lead to, without any file, from the running game's beginning on.
fn played(entries: &[Entry]) -> String {
    let mut replay = Replay::new();
    let cut = entries.iter().rposition(|e| matches!(e.kind, Kind::Cut(_)));
    for entry in &entries[cut.unwrap()..] {
        replay.entry(entry);
    }
    state(&replay.into_boards())
}

fn restarted(dir: &Path) -> String {
    let past = Past::read(dir).unwrap();
    state(&recover(dir, &past, begun()).unwrap())
}

fn entries(dir: &Path) -> (Vec<Entry>, usize) {
    let (mut whole, mut damage) = (Vec::new(), 0);
    for found in History::new(segments(dir).unwrap()) {
        match found.unwrap() {
            Found::Entry(entry) => whole.push(entry),
            _ => damage += 1,
        }
    }
    (whole, damage)
}

#[test]
fn a_torn_or_flipped_byte_costs_its_record_alone_and_the_board_goes_on() {
    let dir = TempDir::new().unwrap();
    let all = play();
    let told = all.iter().filter(|e| matches!(e.kind, Kind::Told(_)));
    assert!(told.count() > 6, "a dull game");
    write(dir.path(), &all);
    assert_eq!(restarted(dir.path()), played(&all));
    let path = segments(dir.path()).unwrap().remove(0);
    let good = fs::read(&path).unwrap();
    // Where each of the last records begins.
    let mut starts = vec![good.len()];
    for entry in all.iter().rev().take(8) {
        let mut bytes = Vec::new();
        entry.encode(&mut bytes).unwrap();
        starts.insert(0, starts[0] - bytes.len());
    }
    let tail = all.len() - (starts.len() - 1);
    let mut expected = Vec::new();
    for hit in tail..all.len() {
        let mut without = all.clone();
        without.remove(hit);
        expected.push((played(&all[..hit]), played(&without)));
    }
    for at in starts[0]..good.len() {
        let record = starts.iter().rposition(|start| *start <= at).unwrap();
        let (torn, flipped) = &expected[record];
        fs::write(&path, &good[..at]).unwrap();
        let (whole, damage) = entries(dir.path());
        assert_eq!(whole, all[..tail + record], "torn at {at}");
        assert_eq!(damage, usize::from(at > starts[record]), "torn at {at}");
        assert_eq!(restarted(dir.path()), *torn, "torn at {at}");
        let mut bytes = good.clone();
        bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
        fs::write(&path, bytes).unwrap();
        let (whole, damage) = entries(dir.path());
        assert_eq!((whole.len(), damage), (all.len() - 1, 1), "flipped at {at}");
        assert_eq!(restarted(dir.path()), *flipped, "flipped at {at}");
    }
    // Numbers go on behind the last that was told, and what comes now is kept.
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    let (journal, thread) = Journal::open(dir.path(), begun()).unwrap();
    let last = all.last().unwrap();
    assert_eq!(journal.past().seqs[&BOARD], last.seq - 1);
    journal.append(last);
    thread.stop().unwrap();
    assert_eq!(restarted(dir.path()), played(&all));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The clock is set an hour forwards or back, again and again, across midnight.
    #[test]
    fn a_jumping_wall_clock_changes_labels_only(
        jumps in prop::collection::vec((any::<prop::sample::Index>(), -1..=1_i64), 1..6)
    ) {
        let all = play();
        let mut jumped = all.clone();
        for (from, hours) in jumps {
            let from = from.index(jumped.len());
            for entry in &mut jumped[from..] {
                entry.wall += hours.hours();
            }
        }
        let dir = TempDir::new().unwrap();
        write(dir.path(), &jumped);
        let (whole, damage) = entries(dir.path());
        prop_assert_eq!(&whole, &jumped);
        prop_assert_eq!(damage, 0);
        let label = |text: String| -> String {
            let mut parts = text.split(" wall: ");
            let mut kept = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                kept += part.split_once(',').map_or("", |(_, rest)| rest);
            }
            kept
        };
        prop_assert_eq!(label(restarted(dir.path())), label(played(&all)));
    }
}

//! The journal: what is written comes back, whatever happens to the disk.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use atalaya::{
    journal::{
        DAEMON, DecodeError, Entry, Found, Health, History, Journal, Kind, Limits, MAGIC,
        MAX_PAYLOAD, OpenError, Past, Reader, read_inbytes, segments,
    },
    monitor::Settings,
    words::{At, BoardNo},
};
use jiff::{Timestamp, ToSpan};
use proptest::prelude::*;
use tempfile::TempDir;

fn wall() -> Timestamp {
    "2026-11-30T09:00:00Z".parse().unwrap()
}

fn entry(board: u16, seq: u64, kind: Kind) -> Entry {
    Entry {
        board: BoardNo(board),
        seq,
        at: At(seq * 10),
        wall: wall(),
        kind,
    }
}

fn bytes(seq: u64) -> Entry {
    entry(3, seq, Kind::Bytes(vec![seq as u8; 5]))
}

/// One entry of each kind.
fn one_of_each() -> Vec<Entry> {
    let kinds = [
        Kind::Boot {
            boot: "b\"1".to_owned(),
            version: "0.1.0".to_owned(),
        },
        Kind::Settings(Box::new(Settings {
            white: Some("Müller, \"Ü\"".to_owned()),
            ..Settings::default()
        })),
        Kind::Opened,
        Kind::Bytes(vec![0x8e, 0, 5, 52, 0]),
        Kind::Written(vec![0x44]),
        Kind::Tick,
        Kind::Told(r#"{"ply":1,"san":"e4"}"#.to_owned()),
        Kind::Command(r#"{"verb":"claim"}"#.to_owned()),
        Kind::Closed {
            reason: "the other end is gone".to_owned(),
        },
        Kind::Absent {
            reason: String::new(),
        },
    ];
    (1..)
        .zip(kinds)
        .map(|(seq, kind)| entry(3, seq, kind))
        .collect()
}

/// A segment in memory, and where its records end.
fn segment(entries: &[Entry]) -> (Vec<u8>, Vec<usize>) {
    let mut out = MAGIC.to_vec();
    let ends = entries.iter().map(|entry| {
        entry.encode(&mut out).unwrap();
        out.len()
    });
    let ends = ends.collect();
    (out, ends)
}

fn entries(found: impl IntoIterator<Item = Found>) -> Vec<Entry> {
    let entry = |found| match found {
        Found::Entry(entry) => Some(entry),
        _ => None,
    };
    found.into_iter().filter_map(entry).collect()
}

fn history(dir: &Path) -> Vec<Found> {
    let paths = segments(dir).unwrap();
    History::new(paths).map(Result::unwrap).collect()
}

fn quick() -> Limits {
    Limits {
        retry: Duration::from_millis(5),
        ..Limits::default()
    }
}

fn append(journal: &Journal, entries: &[Entry]) {
    for entry in entries {
        journal.append(entry);
    }
}

fn flush(journal: &Journal) {
    journal.flushed().wait_blocking().unwrap();
}

/// Waits for a state of health; the test fails when it does not come in 10 s.
fn wait_health(journal: &Journal, wanted: impl Fn(&Health) -> bool) -> Health {
    for _ in 0..2_000 {
        let health = journal.health().borrow().clone();
        if wanted(&health) {
            return health;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("the health did not come: {:?}", *journal.health().borrow());
}

#[test]
fn all_kinds_come_back_through_files() {
    let dir = TempDir::new().unwrap();
    let all = one_of_each();
    let (journal, thread) = Journal::open(&dir.path().join("new/state"), wall()).unwrap();
    append(&journal, &all);
    thread.stop().unwrap();
    assert_eq!(entries(history(&dir.path().join("new/state"))), all);
    assert_eq!(*journal.health().borrow(), Health::default());
}

#[test]
fn torn_anywhere_in_the_last_record() {
    let all = one_of_each();
    for count in 1..=all.len() {
        let (out, ends) = segment(&all[..count]);
        let start = count.checked_sub(2).map_or(MAGIC.len(), |i| ends[i]);
        for cut in start..out.len() {
            let found: Vec<_> = Reader::new(&out[..cut]).collect();
            let torn = (cut > start).then_some(Found::Torn { offset: start });
            assert_eq!(found.last().filter(|_| torn.is_some()), torn.as_ref());
            assert_eq!(entries(found), all[..count - 1]);
        }
    }
}

#[test]
fn zeros_behind_the_end_are_a_torn_tail() {
    let all = one_of_each();
    let (mut out, ends) = segment(&all);
    out.extend([0; 4096]);
    let found: Vec<_> = Reader::new(out).collect();
    let offset = *ends.last().unwrap();
    assert_eq!(found.last(), Some(&Found::Torn { offset }));
    assert_eq!(entries(found), all);
}

#[test]
fn a_changed_byte_costs_one_record() {
    let all = one_of_each();
    let (out, ends) = segment(&all);
    for at in 0..out.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut out = out.clone();
            out[at] ^= flip;
            let hit = ends.iter().position(|end| at < *end).unwrap();
            let found: Vec<_> = Reader::new(out).collect();
            let notes = found
                .iter()
                .filter(|found| !matches!(found, Found::Entry(_)));
            let notes: Vec<_> = notes.collect();
            let mut left = all.clone();
            if at < MAGIC.len() {
                let (offset, skipped) = (0, MAGIC.len());
                assert_eq!(notes, [&Found::Damaged { offset, skipped }]);
            } else {
                left.remove(hit);
                let offset = hit.checked_sub(1).map_or(MAGIC.len(), |i| ends[i]);
                let skipped = ends[hit] - offset;
                let last = hit + 1 == all.len();
                let torn = Found::Torn { offset };
                let damaged = Found::Damaged { offset, skipped };
                assert_eq!(notes, [if last { &torn } else { &damaged }]);
            }
            assert_eq!(entries(found), left, "byte {at} ^ {flip:#x}");
        }
    }
}

#[test]
fn a_kind_of_tomorrow_is_stepped_over() {
    let (mut out, ends) = segment(&[bytes(1), bytes(2)]);
    let start = MAGIC.len();
    out[start + 8] = 0x1f;
    let crc = crc32fast::hash(&out[start + 8..ends[0]]).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&crc);
    let unread = DecodeError::Unread {
        tag: 0x1f,
        len: ends[0] - start,
    };
    assert_eq!(Entry::decode(&out[start..]), Err(unread));
    let found: Vec<_> = Reader::new(out).collect();
    let unread = Found::Unread {
        offset: start,
        tag: 0x1f,
    };
    assert_eq!(found, [unread, Found::Entry(bytes(2))]);
}

#[test]
fn an_entry_too_long_leaves_no_trace() {
    let mut out = vec![7];
    let long = entry(1, 1, Kind::Bytes(vec![0; MAX_PAYLOAD + 1]));
    long.encode(&mut out).unwrap_err();
    assert_eq!(out, [7]);

    let dir = TempDir::new().unwrap();
    let (journal, thread) = Journal::open(dir.path(), wall()).unwrap();
    append(&journal, &[bytes(1), long, bytes(2)]);
    flush(&journal);
    thread.stop().unwrap();
    assert_eq!(journal.health().borrow().lost, 1);
    assert_eq!(entries(history(dir.path())), [bytes(1), bytes(2)]);
}

#[test]
fn killed_after_a_flush_all_is_there() {
    let dir = TempDir::new().unwrap();
    let (journal, thread) = Journal::open(dir.path(), wall()).unwrap();
    let all: Vec<_> = (1..=500).map(bytes).collect();
    append(&journal, &all);
    flush(&journal);
    // what a kill -9 would leave, while the writer still lives
    let left = TempDir::new().unwrap();
    for path in segments(dir.path()).unwrap() {
        fs::copy(&path, left.path().join(path.file_name().unwrap())).unwrap();
    }
    drop(thread);
    assert_eq!(entries(history(left.path())), all);

    // torn, then opened again: the old segment stays as it is
    let old = segments(left.path()).unwrap().remove(0);
    let mut torn = fs::read(&old).unwrap();
    torn.truncate(torn.len() - 3);
    fs::write(&old, &torn).unwrap();
    assert_eq!(Past::read(left.path()).unwrap().seqs[&BoardNo(3)], 499);
    let (journal, thread) = Journal::open(left.path(), wall()).unwrap();
    journal.append(&bytes(500));
    thread.stop().unwrap();
    assert_eq!(fs::read(&old).unwrap(), torn);
    assert_eq!(entries(history(left.path())), all);
}

#[test]
fn a_stopped_journal_takes_no_more() {
    let dir = TempDir::new().unwrap();
    let (journal, thread) = Journal::open(dir.path(), wall()).unwrap();
    thread.stop().unwrap();
    journal.append(&bytes(1));
    journal.flushed().wait_blocking().unwrap_err();
    assert_eq!(entries(history(dir.path())), []);
}

#[test]
fn only_one_writer_to_a_folder() {
    let dir = TempDir::new().unwrap();
    let (_journal, thread) = Journal::open(dir.path(), wall()).unwrap();
    let error = Journal::open(dir.path(), wall()).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    thread.stop().unwrap();
    Journal::open(dir.path(), wall()).unwrap();
}

#[test]
fn a_file_in_the_way_is_an_error_at_once() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Journal::open(&file, wall()).unwrap_err();
    assert!(error.to_string().contains("[journal] dir"), "{error}");
}

#[test]
fn segments_roll_over_by_size_and_by_day() {
    let dir = TempDir::new().unwrap();
    let limits = Limits {
        segment_bytes: 4_096,
        ..quick()
    };
    let (journal, thread) = Journal::open_with(dir.path(), wall(), limits).unwrap();
    let mut all = vec![entry(DAEMON.0, 1, Kind::Opened), entry(9, 77, Kind::Tick)];
    append(&journal, &all);
    for seq in 1..=400 {
        all.push(bytes(seq));
        journal.append(&bytes(seq));
        if seq % 20 == 0 {
            flush(&journal);
        }
    }
    let by_size = segments(dir.path()).unwrap();
    assert!(by_size.len() > 3, "{by_size:?}");
    for path in &by_size {
        assert!(fs::metadata(path).unwrap().len() <= 4_096);
    }

    let mut tomorrow = bytes(401);
    tomorrow.wall = wall() + 24.hours();
    let mut set_back = bytes(402);
    set_back.wall = wall() - 48.hours();
    for entry in [tomorrow, set_back] {
        journal.append(&entry);
        flush(&journal);
        all.push(entry);
    }
    thread.stop().unwrap();
    let by_day = segments(dir.path()).unwrap();
    assert_eq!(by_day.len(), by_size.len() + 1);
    let name = by_day
        .last()
        .unwrap()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap();
    let expected = format!("atalaya-20261201T090000Z-{}.atj", by_day.len());
    assert_eq!(name, expected);
    assert_eq!(entries(history(dir.path())), all);

    // board 9 spoke in the first segment only; the newest tells of it all the same
    let alone = TempDir::new().unwrap();
    fs::copy(by_day.last().unwrap(), alone.path().join(name)).unwrap();
    let seqs = Past::read(alone.path()).unwrap().seqs;
    let expected = [(DAEMON, 1), (BoardNo(3), 402), (BoardNo(9), 77)];
    assert_eq!(seqs, expected.into());
}

#[test]
fn numbers_order_segments_when_the_clock_wakes_in_1970() {
    let dir = TempDir::new().unwrap();
    for (seq, boot) in [wall(), Timestamp::UNIX_EPOCH, wall()]
        .into_iter()
        .enumerate()
    {
        let (journal, thread) = Journal::open(dir.path(), boot).unwrap();
        let mut entry = bytes(seq as u64 + 1);
        entry.wall = boot;
        journal.append(&entry);
        thread.stop().unwrap();
    }
    let seqs = entries(history(dir.path()))
        .into_iter()
        .map(|entry| entry.seq);
    assert_eq!(seqs.collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn written_twice_is_read_once() {
    let dir = TempDir::new().unwrap();
    let all = one_of_each();
    let (first, _) = segment(&all[..6]);
    let (second, _) = segment(&all[3..]);
    fs::write(dir.path().join("atalaya-20261130T090000Z-9.atj"), first).unwrap();
    fs::write(dir.path().join("atalaya-20261130T090000Z-10.atj"), second).unwrap();
    fs::write(dir.path().join("notes.txt"), "no segment").unwrap();
    assert_eq!(entries(history(dir.path())), all);
}

/// Fills the disk or takes it away; entries wait, in order, and come when it is back.
fn survives(journal: &Journal, break_it: impl FnOnce(), mend_it: impl FnOnce(), from: u64) {
    break_it();
    append(journal, &(from..from + 50).map(bytes).collect::<Vec<_>>());
    let health = wait_health(journal, |health| health.failures >= 3);
    let fault = health.fault.unwrap();
    assert!(fault.starts_with("cannot write the journal in "), "{fault}");
    // entries during the fault wait as well
    append(
        journal,
        &(from + 50..from + 100).map(bytes).collect::<Vec<_>>(),
    );
    mend_it();
    flush(journal);
    let health = wait_health(journal, |health| health.fault.is_none());
    assert_eq!(health.lost, 0);
}

#[test]
fn a_folder_that_goes_away_and_comes_back() {
    let home = TempDir::new().unwrap();
    let (dir, away) = (home.path().join("state"), home.path().join("away"));
    let limits = Limits {
        segment_bytes: 300,
        ..quick()
    };
    let (journal, thread) = Journal::open_with(&dir, wall(), limits).unwrap();
    journal.append(&bytes(1));
    flush(&journal);
    let go = || fs::rename(&dir, &away).unwrap();
    let come = || fs::rename(&away, &dir).unwrap();
    // the open file would go on in the folder's new place: fill it, so that a new one is needed
    append(&journal, &(2..40).map(bytes).collect::<Vec<_>>());
    flush(&journal);
    survives(&journal, go, come, 40);
    thread.stop().unwrap();
    let seqs = entries(history(&dir)).into_iter().map(|entry| entry.seq);
    assert!(seqs.eq(1..140));
}

/// A file system of 256 KiB; `None` where this process may not mount one.
struct Small(TempDir);

impl Small {
    fn mount() -> Option<Small> {
        let dir = TempDir::new().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(dir.path())
            .output();
        mount
            .is_ok_and(|run| run.status.success())
            .then_some(Small(dir))
    }

    fn fill(&self) -> PathBuf {
        let path = self.0.path().join("filler");
        let _ = fs::write(&path, vec![0; 1 << 20]);
        path
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_told_and_got_over() {
    let Some(disk) = Small::mount() else {
        eprintln!("not allowed to mount a small tmpfs: skipped");
        return;
    };
    let dir = disk.0.path();
    let filler = disk.fill();
    let (journal, thread) = Journal::open_with(dir, wall(), quick()).unwrap();
    assert!(journal.health().borrow().fault.is_some());
    fs::remove_file(&filler).unwrap();
    append(&journal, &(1..40).map(bytes).collect::<Vec<_>>());
    flush(&journal);
    // one page holds the first entries: go over its end
    let full = || {
        disk.fill();
        let long = entry(4, 1, Kind::Written(vec![1; 8_192]));
        journal.append(&long);
    };
    survives(&journal, full, || fs::remove_file(&filler).unwrap(), 40);
    thread.stop().unwrap();
    let found = history(dir);
    assert!(
        found.iter().all(|found| matches!(found, Found::Entry(_))),
        "{found:?}"
    );
    let seqs = entries(found)
        .into_iter()
        .filter(|entry| entry.board.0 == 3);
    assert!(seqs.map(|entry| entry.seq).eq(1..140));
    // no file for each failed attempt
    assert!(segments(dir).unwrap().len() <= 2);
}

#[test]
fn a_disk_found_read_only_is_told_and_got_over() {
    let Some(disk) = Small::mount() else {
        eprintln!("not allowed to mount a small tmpfs: skipped");
        return;
    };
    let dir = disk.0.path();
    let (_, thread) = Journal::open(dir, wall()).unwrap();
    thread.stop().unwrap();
    let remount = |how: &str| {
        let remount = Command::new("mount").args(["-o", how]).arg(dir).status();
        assert!(remount.unwrap().success(), "{how}");
    };
    remount("remount,ro");
    let (journal, thread) = Journal::open_with(dir, wall(), quick()).unwrap();
    let fault = journal.health().borrow().fault.clone().unwrap();
    assert!(fault.contains("Read-only"), "{fault}");
    let second = Journal::open(dir, wall()).unwrap_err();
    assert!(matches!(second, OpenError::InUse { .. }), "{second}");
    survives(&journal, || {}, || remount("remount,rw"), 1);
    thread.stop().unwrap();
    let seqs = entries(history(dir)).into_iter().map(|entry| entry.seq);
    assert!(seqs.eq(1..101));
    // A folder that is not there and cannot be made is a fault of the settings.
    remount("remount,ro");
    let error = Journal::open(&dir.join("state"), wall()).unwrap_err();
    assert!(matches!(error, OpenError::Write { .. }), "{error}");
}

#[test]
fn a_disk_that_stays_away_costs_bounded_memory_and_no_hang() {
    let home = TempDir::new().unwrap();
    let dir = home.path().join("state");
    let limits = Limits {
        segment_bytes: 1,
        queue_bytes: 1_000,
        retry: Duration::from_secs(60),
        ..Limits::default()
    };
    let (journal, thread) = Journal::open_with(&dir, wall(), limits).unwrap();
    journal.append(&bytes(1));
    flush(&journal);
    fs::remove_dir_all(&dir).unwrap();
    journal.append(&bytes(2));
    wait_health(&journal, |health| health.failures > 0);
    let waiting = journal.flushed();
    append(&journal, &(3..1_000).map(bytes).collect::<Vec<_>>());
    thread.stop().unwrap_err();
    waiting.wait_blocking().unwrap_err();
    // all but the first: those that waited are given up
    assert_eq!(journal.health().borrow().lost, 998);
}

#[test]
fn many_hands_lose_nothing() {
    let dir = TempDir::new().unwrap();
    let limits = Limits {
        segment_bytes: 20_000,
        ..quick()
    };
    let (journal, thread) = Journal::open_with(dir.path(), wall(), limits).unwrap();
    thread::scope(|scope| {
        for board in 1..=8 {
            let journal = journal.clone();
            scope.spawn(move || {
                for seq in 1..=200 {
                    journal.append(&entry(board, seq, Kind::Bytes(vec![board as u8; 10])));
                    if seq % 50 == 0 {
                        flush(&journal);
                    }
                }
            });
        }
    });
    thread.stop().unwrap();
    let all = entries(history(dir.path()));
    for board in 1..=8 {
        let seqs = all.iter().filter(|entry| entry.board.0 == board);
        assert!(seqs.map(|entry| entry.seq).eq(1..=200));
    }
}

#[test]
fn captures_become_messages_with_times() {
    let text = "# 1 board\r\njgAFNAA=\r\n\n  1500 jgAFJAE=\njgAFNAA=\n";
    let read = read_inbytes(text).unwrap();
    let message = |square, code| vec![0x8e, 0, 5, square, code];
    let expected = [
        (At(60), message(0x34, 0)),
        (At(1500), message(0x24, 1)),
        (At(1560), message(0x34, 0)),
    ];
    assert_eq!(read, expected);
    let fault = |text| read_inbytes(text).unwrap_err();
    assert_eq!(fault("jgAFNAA=\n\n*").line, 3);
    assert_eq!(fault("soon jgAFNAA=").line, 1);
    assert_eq!(fault("5 jgAFNAA=\n4 jgAFNAA=").line, 2);
}

fn kinds() -> impl Strategy<Value = Kind> {
    let data = || prop::collection::vec(any::<u8>(), 0..200);
    prop_oneof![
        ("\\PC*", "\\PC*").prop_map(|(boot, version)| Kind::Boot { boot, version }),
        any::<(u16, String, u64, bool)>().prop_map(|(board, venue, settle_ms, chess960)| {
            Kind::Settings(Box::new(Settings {
                board,
                venue,
                settle_ms,
                chess960,
                ..Settings::default()
            }))
        }),
        Just(Kind::Opened),
        any::<String>().prop_map(|reason| Kind::Closed { reason }),
        any::<String>().prop_map(|reason| Kind::Absent { reason }),
        data().prop_map(Kind::Bytes),
        data().prop_map(Kind::Written),
        Just(Kind::Tick),
        any::<String>().prop_map(Kind::Told),
        any::<String>().prop_map(Kind::Command),
        prop::collection::btree_map(any::<u16>().prop_map(BoardNo), any::<u64>(), 0..9)
            .prop_map(Kind::Seqs),
    ]
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let (first, last) = (Timestamp::MIN, Timestamp::MAX);
    let walls = first.as_millisecond()..=last.as_millisecond();
    (any::<(u16, u64, u64)>(), walls, kinds()).prop_map(|((board, seq, at), wall, kind)| Entry {
        board: BoardNo(board),
        seq,
        at: At(at),
        wall: Timestamp::from_millisecond(wall).unwrap(),
        kind,
    })
}

proptest! {
    #[test]
    fn encoded_and_decoded_is_the_same(entry in any_entry()) {
        let mut out = Vec::new();
        entry.encode(&mut out).unwrap();
        let len = out.len();
        out.push(0);
        prop_assert_eq!(Entry::decode(&out), Ok((entry, len)));
    }

    #[test]
    fn hostile_bytes_are_only_reported(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let _ = Entry::decode(&bytes);
        let found: Vec<_> = Reader::new(&bytes).collect();
        prop_assert!(found.len() <= bytes.len());
    }

    #[test]
    fn hostile_records_are_only_reported(
        bodies in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 26..90)), 0..20),
    ) {
        let mut out = MAGIC.to_vec();
        for (tag, rest) in &bodies {
            let body = [&[0x10 | (tag % 16)], rest.as_slice()].concat();
            out.extend((body.len() as u32).to_le_bytes());
            out.extend(crc32fast::hash(&body).to_le_bytes());
            out.extend(body);
        }
        prop_assert_eq!(Reader::new(&out).count(), bodies.len());
    }

    #[test]
    fn garbage_between_records_hides_none(
        parts in prop::collection::vec((any_entry(), prop::collection::vec(any::<u8>(), 0..60)), 1..8),
    ) {
        let mut out = MAGIC.to_vec();
        for (entry, garbage) in &parts {
            entry.encode(&mut out).unwrap();
            out.extend(garbage);
        }
        let whole: Vec<_> = parts.into_iter().map(|(entry, _)| entry).collect();
        prop_assert_eq!(entries(Reader::new(&out)), whole);
    }

    #[test]
    fn hostile_captures_are_only_refused(text in any::<String>()) {
        let _ = read_inbytes(&text);
    }
}

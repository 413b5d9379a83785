//! The journal keeps what it was given, whatever happens to the disk.

use std::fs;

use atalaya::{
    journal::{Damage, Entry, Journal, Kind, Records, last_seqs, segments},
    monitor::Settings,
    words::{At, BoardNo},
};
use jiff::Timestamp;
use proptest::prelude::*;

fn entry(board: u16, seq: u64, kind: Kind) -> Entry {
    Entry {
        board: BoardNo(board),
        seq,
        at: At(seq * 10),
        wall: Timestamp::from_millisecond(1_790_000_000_000 + seq as i64).expect("a moment"),
        kind,
    }
}

fn some_of_each() -> Vec<Entry> {
    let kinds = [
        Kind::Boot {
            boot: "b".to_owned(),
            version: "1".to_owned(),
        },
        Kind::Settings(Box::default()),
        Kind::Opened,
        Kind::Bytes(vec![0x8e, 0, 5, 12, 1]),
        Kind::Written(vec![0x42]),
        Kind::Tick,
        Kind::Told("{\"kind\":\"ply\"}".to_owned()),
        Kind::Closed {
            reason: "gone".to_owned(),
        },
        Kind::Absent {
            reason: "ausente, señor".to_owned(),
        },
    ];
    (1..)
        .zip(kinds)
        .map(|(seq, kind)| entry(seq as u16 % 3, seq, kind))
        .collect()
}

fn segment(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = b"ATJ1\n".to_vec();
    bytes.extend(entries.iter().flat_map(Entry::encode));
    bytes
}

fn read(bytes: &[u8]) -> (Vec<Entry>, Vec<Damage>) {
    let (mut entries, mut damage) = (Vec::new(), Vec::new());
    for record in Records::new(bytes) {
        match record {
            Ok(entry) => entries.push(entry),
            Err(where_) => damage.push(where_),
        }
    }
    (entries, damage)
}

#[tokio::test]
async fn what_was_flushed_is_there_after_a_kill() {
    let dir = tempfile::tempdir().expect("a folder");
    let entries = some_of_each();
    let now = entries[0].wall;
    let (journal, thread) = Journal::open(dir.path(), now).expect("it opens");
    for entry in &entries {
        journal.append(entry.clone());
    }
    journal.flushed().await;
    // No orderly end: the files are read while the writer still has them open.
    let files = segments(dir.path()).expect("they list");
    let bytes = fs::read(&files[0]).expect("it reads");
    assert_eq!(read(&bytes), (entries.clone(), Vec::new()));
    let seqs = last_seqs(dir.path()).expect("they read");
    assert_eq!(seqs[&BoardNo(0)], 9);
    assert_eq!(seqs[&BoardNo(1)], 7);
    drop(journal);
    thread.join();
    // The next start leaves the old segment alone.
    let (_journal, _thread) = Journal::open(dir.path(), now).expect("it opens again");
    assert_eq!(segments(dir.path()).expect("they list").len(), 2);
    assert_eq!(fs::read(&files[0]).expect("it reads"), bytes);
}

#[tokio::test]
async fn a_new_day_is_a_new_segment() {
    let dir = tempfile::tempdir().expect("a folder");
    let today = entry(1, 1, Kind::Opened);
    let (journal, _thread) = Journal::open(dir.path(), today.wall).expect("it opens");
    journal.append(today.clone());
    journal.flushed().await;
    let tomorrow = Entry {
        wall: today.wall + jiff::SignedDuration::from_hours(24),
        ..entry(1, 2, Kind::Tick)
    };
    journal.append(tomorrow);
    journal.flushed().await;
    assert_eq!(segments(dir.path()).expect("they list").len(), 2);
}

#[tokio::test]
async fn a_disk_fault_is_told_and_tried_again_in_order() {
    let dir = tempfile::tempdir().expect("a folder");
    let first = entry(1, 1, Kind::Opened);
    let (journal, _thread) = Journal::open(dir.path(), first.wall).expect("it opens");
    journal.append(first.clone());
    journal.flushed().await;
    // The folder goes away, and with it the chance to begin tomorrow's segment.
    let away = dir.path().with_extension("away");
    fs::rename(dir.path(), &away).expect("it moves");
    let tomorrow = |seq, kind| Entry {
        wall: first.wall + jiff::SignedDuration::from_hours(24),
        ..entry(1, seq, kind)
    };
    journal.append(tomorrow(2, Kind::Tick));
    let waiting = tokio::spawn({
        let journal = journal.clone();
        async move { journal.flushed().await }
    });
    while journal.health().faults() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    journal.append(tomorrow(3, Kind::Opened));
    fs::rename(&away, dir.path()).expect("it comes back");
    waiting.await.expect("it flushes");
    journal.flushed().await;
    let files = segments(dir.path()).expect("they list");
    let all: Vec<u64> = files
        .iter()
        .flat_map(|file| read(&fs::read(file).expect("it reads")).0)
        .map(|entry| entry.seq)
        .collect();
    assert_eq!(all, [1, 2, 3]);
    assert_eq!(journal.health().lost(), 0);
}

#[test]
fn a_torn_end_costs_the_last_record_only() {
    let entries = some_of_each();
    let whole = segment(&entries);
    let before = segment(&entries[..entries.len() - 1]).len();
    for end in before..whole.len() {
        let (read, damage) = read(&whole[..end]);
        assert_eq!(read, entries[..entries.len() - 1]);
        assert!(damage.iter().all(|one| one.at_end));
        assert_eq!(damage.len(), usize::from(end > before));
    }
}

#[test]
fn a_flipped_byte_costs_its_record_only() {
    let entries = some_of_each();
    let whole = segment(&entries);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        let (read, damage) = read(&bytes);
        assert!(read.len() >= entries.len() - 1, "byte {at}");
        assert!(read.iter().all(|entry| entries.contains(entry)));
        assert_eq!(damage.len(), 1, "byte {at}");
    }
}

#[test]
fn settings_survive() {
    let settings = Settings {
        white: Some("Ñuñez, A.".to_owned()),
        increment_s: 30,
        ..Settings::default()
    };
    let bytes = entry(3, 1, Kind::Settings(Box::new(settings.clone()))).encode();
    let (read, _) = Entry::decode(&bytes).expect("it decodes");
    assert_eq!(read.kind, Kind::Settings(Box::new(settings)));
}

proptest! {
    #[test]
    fn bytes_that_are_no_journal_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        read(&bytes);
    }

    #[test]
    fn every_record_comes_back(board: u16, seq: u64, at: u64, ms in 0i64..4_000_000_000_000, bytes: Vec<u8>) {
        let wall = Timestamp::from_millisecond(ms).expect("a moment");
        let entry = Entry { board: BoardNo(board), seq, at: At(at), wall, kind: Kind::Bytes(bytes) };
        let encoded = entry.encode();
        prop_assert_eq!(Entry::decode(&encoded), Some((entry, encoded.len())));
    }
}

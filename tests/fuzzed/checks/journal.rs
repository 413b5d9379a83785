use atalaya::{
    journal::{DAEMON, Entry, Found, Kind, MAGIC, Reader, Replay},
    words::At,
};
use jiff::Timestamp;

use super::bytes::Choices;

/// Bytes of a record in front of its body: length and checksum.
const PREFIX: usize = 8;

/// A journal of any bytes is read to its end, and what was good is not lost; one whose records are whole
/// but say anything at all is played again.
pub fn journal(data: &[u8]) {
    let found = read(data);
    play(&found);

    let good = Entry {
        board: DAEMON,
        seq: 7,
        at: At(1),
        wall: Timestamp::UNIX_EPOCH,
        kind: Kind::Told("good".to_owned()),
    };
    let mut longer = data.to_vec();
    good.encode(&mut longer).expect("it encodes");
    let again: Vec<Found> = Reader::new(&longer[..]).collect();
    assert_eq!(again.last(), Some(&Found::Entry(good)));
    let whole = |found: &&Found| !matches!(found, Found::Torn { .. });
    let kept = found.iter().take_while(whole).count();
    assert_eq!(again[..kept], found[..kept]);

    play(&read(&sealed(data)));
}

/// Everything found, in its place.
fn read(bytes: &[u8]) -> Vec<Found> {
    let found: Vec<Found> = Reader::new(bytes).collect();
    let mut reached = 0;
    for (i, one) in found.iter().enumerate() {
        match one {
            Found::Entry(entry) => {
                let mut record = Vec::new();
                entry.encode(&mut record).expect("what was read is written");
                let (same, length) = Entry::decode(&record).expect("and read again");
                assert_eq!((&same, length), (entry, record.len()));
            }
            Found::Unread { offset, .. } => {
                assert!(*offset >= reached && *offset < bytes.len());
                reached = *offset + 1;
            }
            Found::Damaged { offset, skipped } => {
                assert!(*offset >= reached && *skipped > 0);
                reached = offset + skipped;
                assert!(reached < bytes.len());
            }
            Found::Torn { offset } => {
                assert!(*offset >= reached && *offset < bytes.len());
                assert_eq!(i + 1, found.len());
            }
        }
    }
    found
}

fn play(found: &[Found]) {
    let mut replay = Replay::new();
    for one in found {
        if let Found::Entry(entry) = one {
            replay.entry(entry);
        }
    }
    for board in replay.into_boards().values() {
        assert!(!board.monitor.standing().is_empty());
    }
}

/// Records with right lengths and checksums around what the bytes choose: kind, board, how much later,
/// length in two bytes, payload.
pub fn sealed(data: &[u8]) -> Vec<u8> {
    let mut choices = Choices(data);
    let mut bytes = MAGIC.to_vec();
    let mut at = 0_u64;
    let mut seq = 0_u64;
    while let Some(kind) = choices.byte() {
        let board = u16::from(choices.byte().unwrap_or(1) % 3);
        let later = choices.byte().unwrap_or_default();
        at = match later {
            255 => u64::MAX,
            254 => 0,
            _ => at.saturating_add(1 << (later % 24)),
        };
        let length = usize::from(choices.byte().unwrap_or_default()) << 8
            | usize::from(choices.byte().unwrap_or_default());
        let payload = choices.some(length);
        seq += 1;
        let mut body = vec![0x10 | (kind % 16)];
        body.extend(board.to_le_bytes());
        body.extend(seq.to_le_bytes());
        body.extend(at.to_le_bytes());
        body.extend((at.min(1 << 40) as i64).to_le_bytes());
        body.extend(payload);
        let mut head = [0; PREFIX];
        head[..4].copy_from_slice(&(body.len() as u32).to_le_bytes());
        head[4..].copy_from_slice(&crc32fast::hash(&body).to_le_bytes());
        bytes.extend(head);
        bytes.extend(body);
    }
    bytes
}

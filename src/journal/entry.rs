//! One entry of the journal, and its bytes. Pure.
//!
//! ```text
//! len u32 | crc u32 | tag u8 | board u16 | seq u64 | at u64 | wall i64 | payload     little endian
//! ```
//!
//! `len` counts what follows the checksum, and the checksum (CRC-32) covers the same. The upper half
//! of the tag is the format, the lower half the kind.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{
    monitor::{Cut, Settings},
    words::{At, BoardNo},
};

/// The board number of entries that belong to no board but to the daemon.
pub const DAEMON: BoardNo = BoardNo(0);
/// Longest payload, bytes. A read from a port brings at most 1024, a whole game's PGN a few thousand.
pub const MAX_PAYLOAD: usize = 1 << 20;

/// The last sequence number of each board.
pub type Seqs = BTreeMap<BoardNo, u64>;

/// Where each board's running game begins: the number of its last [`Kind::Cut`], and when that was.
pub type Cuts = BTreeMap<BoardNo, (u64, Timestamp)>;

const FORMAT: u8 = 1;
const PREFIX: usize = 8;
const FIXED: usize = 27;

/// One thing that happened, with its times.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Which board; [`DAEMON`] for the daemon itself.
    pub board: BoardNo,
    /// Rises by board, also across restarts.
    pub seq: u64,
    /// The monotonic moment, ms; a new start of the daemon goes on from the last one.
    pub at: At,
    /// The wall clock, kept to the millisecond. It may jump; nothing is decided by it.
    pub wall: Timestamp,
    /// What happened.
    pub kind: Kind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// The daemon started.
    Boot {
        /// Name of this run.
        boot: String,
        /// Version of the daemon.
        version: String,
    },
    /// The board's monitor goes on with these settings.
    Settings(Box<Settings>),
    /// The port opened.
    Opened,
    /// The port closed under us.
    Closed {
        /// Why, in words.
        reason: String,
    },
    /// The port is not there.
    Absent {
        /// Why, in words.
        reason: String,
    },
    /// The board sent these.
    Bytes(Vec<u8>),
    /// The daemon sent these to the board.
    Written(Vec<u8>),
    /// The monitor was told that time passed.
    Tick,
    /// The monitor told this (a ply, a retraction, an alert), as JSON text. Text and not a value, so
    /// that a replay can be compared byte by byte.
    Told(String),
    /// Somebody commanded this, as JSON text.
    Command(String),
    /// The last sequence numbers on disk before this segment. The writer puts it at the head of each.
    Seqs(Seqs),
    /// A board's game stands ready, and nothing before this matters to it.
    Cut(Box<Cut>),
    /// The last cuts on disk before this segment. The writer puts it behind the first.
    Cuts(Cuts),
    /// The broker has acknowledged what the boards told up to these numbers.
    Delivered(Seqs),
}

/// An entry has no bytes.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The payload is too long.
    #[error("a journal entry of {0} bytes is longer than {MAX_PAYLOAD}: split it")]
    Long(usize),
    /// The settings do not turn into JSON.
    #[error("the settings do not turn into JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Bytes hold no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No record starts here: it does not fit, or its checksum is wrong.
    #[error("no valid record starts here")]
    Invalid,
    /// The record is whole, but this version cannot read it.
    #[error(
        "a record with tag {tag:#04x} that this version of Atalaya cannot read: use a newer one"
    )]
    Unread {
        /// Format and kind.
        tag: u8,
        /// Bytes of the whole record.
        len: usize,
    },
}

impl Entry {
    /// Appends the entry's record to `out`.
    ///
    /// # Errors
    ///
    /// When the payload is too long or does not turn into JSON; `out` is then as it was.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let start = out.len();
        let result = self.encode_at(start, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    fn encode_at(&self, start: usize, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend([0; PREFIX]);
        out.push(FORMAT << 4 | self.kind.number());
        out.extend(self.board.0.to_le_bytes());
        out.extend(self.seq.to_le_bytes());
        out.extend(self.at.0.to_le_bytes());
        out.extend(self.wall.as_millisecond().to_le_bytes());
        self.kind.payload(out)?;
        let body = &out[start + PREFIX..];
        let payload = body.len() - FIXED;
        if payload > MAX_PAYLOAD {
            return Err(EncodeError::Long(payload));
        }
        let len = (body.len() as u32).to_le_bytes();
        let crc = crc32fast::hash(body).to_le_bytes();
        out[start..start + 4].copy_from_slice(&len);
        out[start + 4..start + PREFIX].copy_from_slice(&crc);
        Ok(())
    }

    /// Reads the record at the head of `bytes`; gives the entry and how many bytes it took.
    ///
    /// # Errors
    ///
    /// When no valid record starts there, or when it is whole but of an unknown kind.
    pub fn decode(bytes: &[u8]) -> Result<(Entry, usize), DecodeError> {
        let body = body(bytes).ok_or(DecodeError::Invalid)?;
        let len = PREFIX + body.len();
        let mut cursor = body;
        let tag = u8::from_le_bytes(take(&mut cursor).ok_or(DecodeError::Invalid)?);
        fields(tag, cursor)
            .map(|entry| (entry, len))
            .ok_or(DecodeError::Unread { tag, len })
    }
}

/// What follows the checksum, when length and checksum are right.
fn body(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    let len = u32::from_le_bytes(take(&mut rest)?) as usize;
    let crc = u32::from_le_bytes(take(&mut rest)?);
    if !(FIXED..=FIXED + MAX_PAYLOAD).contains(&len) {
        return None;
    }
    let body = rest.get(..len)?;
    (crc32fast::hash(body) == crc).then_some(body)
}

fn fields(tag: u8, mut rest: &[u8]) -> Option<Entry> {
    if tag >> 4 != FORMAT {
        return None;
    }
    Some(Entry {
        board: BoardNo(u16::from_le_bytes(take(&mut rest)?)),
        seq: u64::from_le_bytes(take(&mut rest)?),
        at: At(u64::from_le_bytes(take(&mut rest)?)),
        wall: Timestamp::from_millisecond(i64::from_le_bytes(take(&mut rest)?)).ok()?,
        kind: Kind::read(tag & 0x0f, rest)?,
    })
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = bytes.split_first_chunk()?;
    *bytes = tail;
    Some(*head)
}

impl Kind {
    /// Numbers are for ever: old segments hold them.
    const fn number(&self) -> u8 {
        match self {
            Kind::Boot { .. } => 1,
            Kind::Settings(_) => 2,
            Kind::Opened => 3,
            Kind::Closed { .. } => 4,
            Kind::Absent { .. } => 5,
            Kind::Bytes(_) => 6,
            Kind::Written(_) => 7,
            Kind::Tick => 8,
            Kind::Told(_) => 9,
            Kind::Command(_) => 10,
            Kind::Seqs(_) => 11,
            Kind::Cut(_) => 12,
            Kind::Cuts(_) => 13,
            Kind::Delivered(_) => 14,
        }
    }

    fn payload(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Kind::Boot { boot, version } => serde_json::to_writer(out, &(boot, version))?,
            Kind::Settings(settings) => serde_json::to_writer(out, settings)?,
            Kind::Opened | Kind::Tick => {}
            Kind::Closed { reason: text }
            | Kind::Absent { reason: text }
            | Kind::Told(text)
            | Kind::Command(text) => out.extend(text.as_bytes()),
            Kind::Bytes(bytes) | Kind::Written(bytes) => out.extend(bytes),
            Kind::Cut(cut) => serde_json::to_writer(out, cut)?,
            Kind::Cuts(cuts) => {
                for (board, (seq, wall)) in cuts {
                    out.extend(board.0.to_le_bytes());
                    out.extend(seq.to_le_bytes());
                    out.extend(wall.as_millisecond().to_le_bytes());
                }
            }
            Kind::Seqs(seqs) | Kind::Delivered(seqs) => {
                for (board, seq) in seqs {
                    out.extend(board.0.to_le_bytes());
                    out.extend(seq.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    fn read(number: u8, payload: &[u8]) -> Option<Kind> {
        let text = || str::from_utf8(payload).ok().map(str::to_owned);
        Some(match number {
            1 => {
                let (boot, version) = serde_json::from_slice(payload).ok()?;
                Kind::Boot { boot, version }
            }
            2 => Kind::Settings(serde_json::from_slice(payload).ok()?),
            3 => Kind::Opened,
            4 => Kind::Closed { reason: text()? },
            5 => Kind::Absent { reason: text()? },
            6 => Kind::Bytes(payload.to_vec()),
            7 => Kind::Written(payload.to_vec()),
            8 => Kind::Tick,
            9 => Kind::Told(text()?),
            10 => Kind::Command(text()?),
            11 => Kind::Seqs(read_seqs(payload)?),
            12 => Kind::Cut(serde_json::from_slice(payload).ok()?),
            13 => Kind::Cuts(read_cuts(payload)?),
            14 => Kind::Delivered(read_seqs(payload)?),
            _ => return None,
        })
    }
}

fn read_cuts(mut payload: &[u8]) -> Option<Cuts> {
    let mut cuts = Cuts::new();
    while !payload.is_empty() {
        let board = BoardNo(u16::from_le_bytes(take(&mut payload)?));
        let seq = u64::from_le_bytes(take(&mut payload)?);
        let wall = i64::from_le_bytes(take(&mut payload)?);
        cuts.insert(board, (seq, Timestamp::from_millisecond(wall).ok()?));
    }
    Some(cuts)
}

fn read_seqs(mut payload: &[u8]) -> Option<Seqs> {
    let mut seqs = Seqs::new();
    while !payload.is_empty() {
        let board = BoardNo(u16::from_le_bytes(take(&mut payload)?));
        seqs.insert(board, u64::from_le_bytes(take(&mut payload)?));
    }
    Some(seqs)
}

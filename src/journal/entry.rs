//! One record, and its bytes.
//!
//! `len u32 | crc u32 | kind u8 | board u16 | seq u64 | at u64 | wall i64 | payload`, little endian;
//! `len` counts what follows the checksum, which covers the same bytes.

use jiff::Timestamp;

use crate::{
    monitor,
    words::{At, BoardNo},
};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Which board; 0 is the daemon itself.
    pub board: BoardNo,
    /// Rises with each entry and output of the board, and survives a restart.
    pub seq: u64,
    /// When, on the monotonic clock of this boot.
    pub at: At,
    /// When, on the wall, in whole ms; a label only.
    pub wall: Timestamp,
    /// What.
    pub kind: Kind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// The daemon started.
    Boot {
        /// Names the run.
        boot: String,
        /// Version of Atalaya.
        version: String,
    },
    /// The board's watch began anew with these settings.
    Settings(Box<monitor::Settings>),
    /// The port opened.
    Opened,
    /// The port was lost.
    Closed {
        /// Why, in words.
        reason: String,
    },
    /// The port does not open.
    Absent {
        /// Why, in words.
        reason: String,
    },
    /// The board sent these.
    Bytes(Vec<u8>),
    /// The board was sent these.
    Written(Vec<u8>),
    /// The monitor was told that time had passed.
    Tick,
    /// The monitor said this (a final ply, a retraction, an alert), as one line of JSON.
    Told(String),
}

/// Length and checksum.
pub(super) const FRAME: usize = 8;
/// Kind, board, seq, at, wall.
const HEAD: usize = 27;
/// No record is longer; a length beyond it is damage.
pub(super) const LONGEST: usize = 1 << 20;

impl Entry {
    /// The record's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, payload) = self.kind.encode();
        let payload = &payload[..payload.len().min(LONGEST - HEAD)];
        let mut body = Vec::with_capacity(HEAD + payload.len());
        body.push(kind);
        body.extend(self.board.0.to_le_bytes());
        body.extend(self.seq.to_le_bytes());
        body.extend(self.at.0.to_le_bytes());
        body.extend(self.wall.as_millisecond().to_le_bytes());
        body.extend(payload);
        let mut record = Vec::with_capacity(FRAME + body.len());
        record.extend((body.len() as u32).to_le_bytes());
        record.extend(crc32fast::hash(&body).to_le_bytes());
        record.extend(body);
        record
    }

    /// Reads the record at the start of `bytes`; with it the number of bytes it takes. `None` when
    /// no whole and sound record stands there.
    pub fn decode(bytes: &[u8]) -> Option<(Entry, usize)> {
        let len = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        if !(HEAD..=LONGEST).contains(&len) {
            return None;
        }
        let crc = u32::from_le_bytes(bytes.get(4..FRAME)?.try_into().ok()?);
        let body = bytes.get(FRAME..FRAME + len)?;
        if crc32fast::hash(body) != crc {
            return None;
        }
        let number = |at: usize| Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?));
        let entry = Entry {
            board: BoardNo(u16::from_le_bytes([body[1], body[2]])),
            seq: number(3)?,
            at: At(number(11)?),
            wall: Timestamp::from_millisecond(number(19)? as i64).ok()?,
            kind: Kind::decode(body[0], &body[HEAD..])?,
        };
        Some((entry, FRAME + len))
    }
}

impl Kind {
    fn encode(&self) -> (u8, Vec<u8>) {
        match self {
            Kind::Boot { boot, version } => (1, format!("{boot}\n{version}").into_bytes()),
            // plain structs of strings and numbers always serialise
            Kind::Settings(settings) => (2, serde_json::to_vec(settings).unwrap_or_default()),
            Kind::Opened => (3, Vec::new()),
            Kind::Closed { reason } => (4, reason.clone().into_bytes()),
            Kind::Absent { reason } => (5, reason.clone().into_bytes()),
            Kind::Bytes(bytes) => (6, bytes.clone()),
            Kind::Written(bytes) => (7, bytes.clone()),
            Kind::Tick => (8, Vec::new()),
            Kind::Told(line) => (9, line.clone().into_bytes()),
        }
    }

    fn decode(kind: u8, payload: &[u8]) -> Option<Kind> {
        let text = || String::from_utf8(payload.to_vec()).ok();
        Some(match kind {
            1 => {
                let text = text()?;
                let (boot, version) = text.split_once('\n')?;
                Kind::Boot {
                    boot: boot.to_owned(),
                    version: version.to_owned(),
                }
            }
            2 => Kind::Settings(serde_json::from_slice(payload).ok()?),
            3 => Kind::Opened,
            4 => Kind::Closed { reason: text()? },
            5 => Kind::Absent { reason: text()? },
            6 => Kind::Bytes(payload.to_vec()),
            7 => Kind::Written(payload.to_vec()),
            8 => Kind::Tick,
            9 => Kind::Told(text()?),
            _ => return None,
        })
    }
}

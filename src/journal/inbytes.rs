//! Captures of other programs as journal entries. Pure.
//!
//! An `.inbytes` capture holds one message a line in base64. Before it may stand the milliseconds
//! since the start. Empty lines and lines that begin with `#` are notes.

use base64::{DecodeError, Engine, prelude::BASE64_STANDARD};
use jiff::{SignedDuration, Timestamp};

use super::entry::{Entry, Kind};
use crate::words::{At, BoardNo};

/// Where and when a capture is taken to be from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The board it belongs to.
    pub board: BoardNo,
    /// Wall clock at its start.
    pub start: Timestamp,
    /// Between two lines without a time of their own, ms.
    pub spacing_ms: u64,
}

/// A line that cannot be read. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// Not base64.
    #[error("line {line} is not base64 ({source}): expected one message, as in `jgAFNAA=`")]
    Base64 {
        /// Which line.
        line: usize,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// The time is no number.
    #[error(
        "line {line}: `{time}` is not a time: write milliseconds since the start, then the message"
    )]
    Time {
        /// Which line.
        line: usize,
        /// What stands there.
        time: String,
    },
    /// Time runs backwards.
    #[error(
        "line {line} is at {at} ms, before the line above it at {before} ms: sort the lines by time"
    )]
    Backwards {
        /// Which line.
        line: usize,
        /// Its time, ms.
        at: u64,
        /// The time of the line before, ms.
        before: u64,
    },
}

/// The capture as entries: [`Kind::Opened`] at 0, then one [`Kind::Bytes`] a line.
///
/// # Errors
///
/// On the first line that cannot be read.
pub fn read_inbytes(text: &str, origin: Origin) -> Result<Vec<Entry>, CaptureError> {
    let mut entries = vec![entry(origin, 0, 0, Kind::Opened)];
    let mut last = 0_u64;
    for (index, content) in text.lines().enumerate() {
        let (line, content) = (index + 1, content.trim());
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let (time, message) = match content.split_once(char::is_whitespace) {
            Some((time, message)) => (Some(time), message.trim_start()),
            None => (None, content),
        };
        let at = match time {
            None => last.saturating_add(origin.spacing_ms),
            Some(time) => time.parse().map_err(|_| CaptureError::Time {
                line,
                time: time.to_owned(),
            })?,
        };
        if at < last {
            let before = last;
            return Err(CaptureError::Backwards { line, at, before });
        }
        let bytes = BASE64_STANDARD
            .decode(message)
            .map_err(|source| CaptureError::Base64 { line, source })?;
        entries.push(entry(origin, entries.len() as u64, at, Kind::Bytes(bytes)));
        last = at;
    }
    Ok(entries)
}

fn entry(origin: Origin, seq: u64, at: u64, kind: Kind) -> Entry {
    let since = SignedDuration::from_millis(i64::try_from(at).unwrap_or(i64::MAX));
    Entry {
        board: origin.board,
        seq: seq + 1,
        at: At(at),
        wall: origin.start.saturating_add(since).unwrap_or(Timestamp::MAX),
        kind,
    }
}

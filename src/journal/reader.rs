//! Reads a segment, whatever happened to it. Pure.

use super::entry::Entry;

/// The first bytes of a segment.
pub(super) const MAGIC: &[u8] = b"ATJ1\n";

/// Whether these bytes begin a segment.
pub fn is_segment(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Bytes of a segment that are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {skipped} bytes are no record{}", if *.at_end { " (torn end)" } else { "" })]
pub struct Damage {
    /// Where they begin.
    pub offset: usize,
    /// How many.
    pub skipped: usize,
    /// Nothing follows: power failed, or the record is still being written.
    pub at_end: bool,
}

/// The records of a segment in order, with the damage between them.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    /// Reads `bytes`, a whole segment. A damaged first line is damage like any other.
    pub fn new(bytes: &'a [u8]) -> Records<'a> {
        let at = if is_segment(bytes) { MAGIC.len() } else { 0 };
        Records { bytes, at }
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Entry, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        if let Some((entry, len)) = Entry::decode(rest) {
            self.at += len;
            return Some(Ok(entry));
        }
        let offset = self.at;
        let next = (1..rest.len()).find(|&skip| Entry::decode(&rest[skip..]).is_some());
        let skipped = next.unwrap_or(rest.len());
        self.at += skipped;
        Some(Err(Damage {
            offset,
            skipped,
            at_end: next.is_none(),
        }))
    }
}

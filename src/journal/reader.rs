//! Reads the bytes of a segment, whatever became of them. Pure; never fails, only reports.

use std::fmt;

use super::entry::{DecodeError, Entry};

/// The first bytes of a segment.
pub const MAGIC: &[u8] = b"ATJ1\n";

/// What stands in a segment.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// A whole entry.
    Entry(Entry),
    /// A whole record that this version cannot read.
    Unread {
        /// Where, bytes from the start of the segment.
        offset: usize,
        /// Its format and kind.
        tag: u8,
    },
    /// Bytes that are no record, with good records behind them: the disk or somebody changed them.
    Damaged {
        /// Where, bytes from the start of the segment.
        offset: usize,
        /// How many bytes.
        skipped: usize,
    },
    /// The segment ends in bytes that are no record: the power went while it was written.
    Torn {
        /// Where the good part ends, bytes from the start of the segment.
        offset: usize,
    },
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Entry(entry) => write!(f, "entry {} of board {}", entry.seq, entry.board),
            Found::Unread { offset, tag } => write!(
                f,
                "byte {offset}: a record of kind {tag:#04x}, which this version does not know"
            ),
            Found::Damaged { offset, skipped } => {
                write!(
                    f,
                    "byte {offset}: {skipped} bytes are no record; reading on behind them"
                )
            }
            Found::Torn { offset } => {
                write!(f, "byte {offset}: the end is torn; all before it was read")
            }
        }
    }
}

/// An iterator over what stands in a segment.
#[derive(Debug, Clone)]
pub struct Reader<B> {
    bytes: B,
    offset: usize,
}

impl<B: AsRef<[u8]>> Reader<B> {
    /// Reads from the start. Bytes that do not begin with [`MAGIC`] are searched for records all the
    /// same.
    pub fn new(bytes: B) -> Reader<B> {
        let headed = bytes.as_ref().starts_with(MAGIC);
        Reader {
            offset: if headed { MAGIC.len() } else { 0 },
            bytes,
        }
    }

    fn rest(&self, offset: usize) -> &[u8] {
        self.bytes.as_ref().get(offset..).unwrap_or_default()
    }
}

impl<B: AsRef<[u8]>> Iterator for Reader<B> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        let offset = self.offset;
        let end = self.bytes.as_ref().len();
        if offset >= end {
            return None;
        }
        match Entry::decode(self.rest(offset)) {
            Ok((entry, len)) => {
                self.offset += len;
                Some(Found::Entry(entry))
            }
            Err(DecodeError::Unread { tag, len }) => {
                self.offset += len;
                Some(Found::Unread { offset, tag })
            }
            Err(DecodeError::Invalid) => {
                // A length that cannot be believed says nothing about the next record: look at
                // every byte. A wrong hit would need a matching checksum.
                let valid = |&at: &usize| {
                    !matches!(Entry::decode(self.rest(at)), Err(DecodeError::Invalid))
                };
                let next = (offset + 1..end).find(valid);
                self.offset = next.unwrap_or(end);
                Some(match next {
                    Some(next) => Found::Damaged {
                        offset,
                        skipped: next - offset,
                    },
                    None => Found::Torn { offset },
                })
            }
        }
    }
}

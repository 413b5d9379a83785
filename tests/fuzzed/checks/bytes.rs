//! Bytes as choices.

use std::io::Write as _;

use tempfile::NamedTempFile;

/// Gives choices until the bytes are used up.
pub struct Choices<'a>(pub &'a [u8]);

impl<'a> Choices<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// So many bytes, or what is left.
    pub fn some(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// One of several.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let byte = self.byte()?;
        Some(all[usize::from(byte) % all.len()])
    }
}

/// A file with these bytes; its name ends so.
pub fn file(bytes: &[u8], ending: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new()
        .suffix(ending)
        .tempfile()
        .expect("a file");
    file.write_all(bytes).expect("it writes");
    file
}

/// How many lines a text has at most, whatever ends them.
pub fn most_lines(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .filter(|byte| matches!(byte, b'\n' | b'\r'))
        .count()
        + 1
}

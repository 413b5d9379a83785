//! What a board writes down by itself, whether anybody listens or not (protocol section 5).

use std::collections::VecDeque;

use crate::dgt::{ClockTimes, Entry, Hand};

/// Bytes kept; the oldest are overwritten.
const SIZE: usize = 0x1f00;

/// The start array as a board reads it whose connector is at White's left.
const START: [u8; 64] = {
    let mut codes = [0; 64];
    let row = [2, 3, 4, 6, 5, 4, 3, 2];
    let mut file = 0;
    while file < 8 {
        codes[file] = row[file] + 6;
        codes[8 + file] = 7;
        codes[48 + file] = 1;
        codes[56 + file] = row[file];
        file += 1;
    }
    codes
};

/// One board's memory.
#[derive(Debug, Default)]
pub(super) struct EventMemory {
    bytes: VecDeque<u8>,
    lever: Option<Hand>,
    /// Bytes written in all, those overwritten since included.
    written: u64,
}

impl EventMemory {
    /// The scan saw a square change; `seen` is the whole board after it.
    pub fn square(&mut self, square: u8, code: u8, seen: &[u8; 64]) {
        self.write(Entry::Field { square, code });
        if *seen == START {
            self.write(Entry::StartArray { turned: false });
        } else if seen.iter().rev().eq(&START) {
            self.write(Entry::StartArray { turned: true });
        }
    }

    /// The board looked at the clock. Two presses between two looks are not noticed.
    pub fn clock(&mut self, times: &ClockTimes) {
        let lever = times.running.then_some(times.lever).or(self.lever);
        let before = std::mem::replace(&mut self.lever, lever);
        if let Some(hand) = before.filter(|_| before != lever) {
            let seconds = match hand {
                Hand::Left => times.left.seconds,
                Hand::Right => times.right.seconds,
            };
            self.write(Entry::Pressed { hand, seconds });
        }
    }

    /// All that is kept, the oldest first.
    pub fn dump(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.bytes.iter().copied().collect();
        Entry::End.encode(&mut bytes);
        bytes
    }

    /// Where the next entry goes, counted from the first ever.
    pub const fn end(&self) -> u64 {
        self.written
    }

    /// What was written from a place on, as far as it is still kept.
    pub fn since(&self, place: u64) -> Vec<u8> {
        let kept = self.bytes.len() as u64;
        let count = self.written.saturating_sub(place).min(kept);
        let skipped = usize::try_from(kept - count).unwrap_or(usize::MAX);
        self.bytes.iter().copied().skip(skipped).collect()
    }

    /// A game begins: the tag, then all men.
    pub fn start(&mut self, seen: &[u8; 64]) {
        self.write(Entry::StartTag);
        for (square, &code) in (0..64).zip(seen).filter(|(_, code)| **code != 0) {
            self.write(Entry::Field { square, code });
        }
    }

    fn write(&mut self, entry: Entry) {
        let mut bytes = Vec::with_capacity(3);
        entry.encode(&mut bytes);
        self.written += bytes.len() as u64;
        self.bytes.extend(bytes);
        // One byte is left for the end mark.
        let too_many = self.bytes.len().saturating_sub(SIZE - 1);
        self.bytes.drain(..too_many);
    }
}

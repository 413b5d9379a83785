//! Bytes on their way at the pace of the cable.

use std::collections::VecDeque;

/// Time of one byte at 9600 baud, 8N1, in microseconds.
const BYTE_US: u64 = 1_042;

#[derive(Debug, Default)]
pub(super) struct Wire {
    waiting: VecDeque<u8>,
    /// End of the last byte sent, in microseconds.
    end_us: u64,
}

impl Wire {
    /// Bytes that may go from this moment on, behind those that wait.
    pub fn send(&mut self, bytes: Vec<u8>, now_ms: u64) {
        if self.waiting.is_empty() {
            self.end_us = self.end_us.max(now_ms * 1000);
        }
        self.waiting.extend(bytes);
    }

    /// What waits is lost.
    pub fn cut(&mut self) {
        self.waiting.clear();
    }

    /// When all that waits will have crossed, ms.
    pub fn clear_at(&self) -> Option<u64> {
        let whole = self.end_us + self.waiting.len() as u64 * BYTE_US;
        (!self.waiting.is_empty()).then(|| whole.div_ceil(1000))
    }

    /// Appends the bytes that have crossed by now.
    pub fn take(&mut self, now_ms: u64, out: &mut Vec<u8>) {
        let ready = (now_ms * 1000).saturating_sub(self.end_us) / BYTE_US;
        let count = usize::try_from(ready).unwrap_or(usize::MAX);
        let count = self.waiting.len().min(count);
        out.extend(self.waiting.drain(..count));
        self.end_us += count as u64 * BYTE_US;
    }
}

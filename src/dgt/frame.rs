//! Cutting the byte stream into messages (protocol section 2.2).
//!
//! There is no checksum. What keeps the reader in step is the high bit, which marks the first byte
//! of a message and no other, and the lengths, which are known for nearly every id.

use super::message::{HEADER, Message, id, is_data, length_fits};

/// Unread bytes kept at most. A line at 9600 baud needs 18 minutes for this much, so only a
/// reader that has stopped reading ever loses the oldest bytes.
const BACKLOG: usize = 1 << 20;

/// Collects bytes and gives out whole messages.
#[derive(Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    /// Where the unread part of `bytes` begins.
    start: usize,
    /// Payload bytes of the message at `start` found to be data, so that a long message that
    /// comes in small pieces is not looked through again for each.
    checked: usize,
    skipped: u64,
    /// By [`Message::kind`].
    given: [u64; Message::KINDS.len()],
}

impl Frames {
    /// A reader that has seen nothing.
    #[must_use]
    pub fn new() -> Frames {
        Frames::default()
    }

    /// Takes the next bytes of the stream, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        // Moved down only when the read part is the larger: each byte is moved once on average.
        let unread = self.bytes.len() - self.start;
        if self.start >= unread {
            self.bytes.copy_within(self.start.., 0);
            self.bytes.truncate(unread);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
        let unread = self.bytes.len() - self.start;
        if unread > BACKLOG {
            self.skip(unread - BACKLOG);
        }
    }

    /// The next whole message, if there is one. Call it until it gives `None`.
    pub fn next_message(&mut self) -> Option<Message> {
        loop {
            let rest = &self.bytes[self.start..];
            let &id = rest.first()?;
            if id < 0x80 {
                let stray = rest.iter().take_while(|byte| **byte < 0x80).count();
                self.skip(stray);
                continue;
            }
            let &high = rest.get(1)?;
            if high >= 0x80 {
                self.skip(1);
                continue;
            }
            let &low = rest.get(2)?;
            if low >= 0x80 {
                self.skip(2);
                continue;
            }
            let length = usize::from(high) << 7 | usize::from(low);
            // Zero lengths (`80 00 00` comes in floods) end here too, with the two bytes behind the
            // id dropped as strays.
            if length < HEADER || !length_fits(id, length - HEADER) {
                self.skip(1);
                continue;
            }
            let payload = &rest[HEADER..length.min(rest.len())];
            let fresh = &payload[self.checked..];
            if let Some(at) = fresh.iter().position(|byte| !is_data(id, *byte)) {
                self.skip(HEADER + self.checked + at);
                continue;
            }
            if rest.len() < length {
                self.checked = payload.len();
                return None;
            }
            let Some(message) = Message::decode(id, payload) else {
                self.skip(length);
                continue;
            };
            self.start += length;
            self.checked = 0;
            self.given[message.kind()] += 1;
            return Some(message);
        }
    }

    /// No message is half read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// The message half read is the event memory, which is some 8 s on the way.
    #[must_use]
    pub fn in_event_memory(&self) -> bool {
        let rest = &self.bytes[self.start..];
        rest.first() == Some(&id::EVENT_MEMORY) && rest.len() >= HEADER
    }

    /// Bytes dropped so far because they were part of no message.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Messages given out so far.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.given.iter().sum()
    }

    /// The same by [`Message::kind`].
    #[must_use]
    pub const fn given_by_kind(&self) -> [u64; Message::KINDS.len()] {
        self.given
    }

    /// Messages given out so far as [`Message::Unknown`].
    #[must_use]
    pub const fn unknown(&self) -> u64 {
        self.given[Message::KINDS.len() - 1]
    }

    fn skip(&mut self, count: usize) {
        self.start += count;
        self.checked = 0;
        self.skipped += count as u64;
    }
}

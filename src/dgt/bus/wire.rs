//! Calls and replies as bytes. Each ends with a checksum: the low seven bits of the sum of all before.

use super::super::{clock::ClockMessage, message::id as single};

/// The number that calls every board.
pub const ALL: u16 = 0;
/// id, two bytes of length, two of the number, checksum.
const FRAME: usize = 6;
/// The longest reply is the whole event memory.
const LONGEST: usize = FRAME + 0x1f00;

/// What may be asked of a board on a bus. None of these ends the bus, resets a board or changes its
/// settings: there is no way to say such a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Call {
    /// The clock.
    Clock = 0x81,
    /// The whole board.
    Board = 0x82,
    /// What the board wrote into its memory since it was last asked this.
    Changes = 0x83,
    /// The last answer to [`Call::Changes`] once more.
    RepeatChanges = 0x84,
    /// Write into the memory that a game begins, and all men.
    StartGame = 0x85,
    /// The memory from the last beginning of a game on.
    FromStart = 0x86,
    /// Are you there?
    Ping = 0x87,
    /// Be silent at the next ping for all.
    IgnorePing = 0x8a,
    /// Firmware version.
    Version = 0x8b,
}

impl Call {
    /// The bytes on the wire; of a number above 14 bits the high ones are lost.
    #[must_use]
    pub const fn bytes(self, number: u16) -> [u8; 4] {
        let [low, high] = (number << 1).to_le_bytes();
        let (high, low) = (high & 0x7f, low >> 1);
        let sum = (self as u8).wrapping_add(high).wrapping_add(low) & 0x7f;
        [self as u8, high, low, sum]
    }
}

/// What a board answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Which board.
    pub number: u16,
    /// What.
    pub body: Body,
}

/// The content of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// 0x83: the whole board.
    Board(Box<[u8; 64]>),
    /// 0x84.
    Clock(ClockMessage),
    /// 0x85 or 0x8b: entries of the event memory.
    Changes(Vec<u8>),
    /// 0x86: entries of the event memory.
    FromStart(Vec<u8>),
    /// 0x87.
    Ping,
    /// 0x88.
    StartGameWritten,
    /// 0x89; old firmware says nothing more.
    Version(Option<(u8, u8)>),
    /// Any id this program has no meaning for.
    Unknown(u8),
}

/// Collects bytes and gives out whole replies whose checksum is right.
#[derive(Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    damaged: u64,
}

impl Frames {
    /// Takes the next bytes of the stream, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // More than one reply at a time is never on the way; anything longer is noise.
        let excess = self.bytes.len().saturating_sub(2 * LONGEST);
        self.bytes.drain(..excess);
    }

    /// Drops what is half read: the reply it belonged to will not be finished.
    pub fn clear(&mut self) {
        self.damaged += self.bytes.len() as u64;
        self.bytes.clear();
    }

    /// Bytes dropped so far because they were part of no reply.
    #[must_use]
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The next whole reply, if there is one. Call it until it gives `None`.
    pub fn next_reply(&mut self) -> Option<Reply> {
        loop {
            let &id = self.bytes.first()?;
            if id < 0x80 {
                self.skip();
                continue;
            }
            let &[high, low] = self.bytes.get(1..3)? else {
                return None;
            };
            let length = usize::from(high) << 7 | usize::from(low);
            let possible = high < 0x80 && low < 0x80;
            if !possible || !length_fits(id, length) {
                self.skip();
                continue;
            }
            // A high bit means that bytes were lost and another reply has begun.
            let whole = &self.bytes[..length.min(self.bytes.len())];
            if whole[1..].iter().any(|byte| *byte >= 0x80) {
                self.skip();
                continue;
            }
            let [.., sum] = *whole else { return None };
            if whole.len() < length {
                return None;
            }
            if checksum(&whole[..length - 1]) != sum {
                self.skip();
                continue;
            }
            let reply = decode(whole);
            self.bytes.drain(..length);
            return Some(reply);
        }
    }

    fn skip(&mut self) {
        let rest = self.bytes.iter().skip(1);
        let stray = 1 + rest.take_while(|byte| **byte < 0x80).count();
        self.bytes.drain(..stray);
        self.damaged += stray as u64;
    }
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) & 0x7f
}

fn length_fits(id: u8, length: usize) -> bool {
    match id {
        0x83 => length == FRAME + 64,
        0x84 => length == FRAME + 7,
        0x87 | 0x88 => length == FRAME,
        0x89 => length == FRAME || length == FRAME + 2,
        _ => (FRAME..=LONGEST).contains(&length),
    }
}

/// A whole reply with the right checksum and a length that fits.
fn decode(whole: &[u8]) -> Reply {
    let number = u16::from(whole[3]) << 7 | u16::from(whole[4]);
    let data = &whole[5..whole.len() - 1];
    let body = match (whole[0], data) {
        (0x83, codes) => match <[u8; 64]>::try_from(codes) {
            Ok(codes) => Body::Board(Box::new(codes.map(|code| code & 0x0f))),
            Err(_) => Body::Unknown(whole[0]),
        },
        (0x84, bytes) => match bytes.try_into() {
            Ok(bytes) => Body::Clock(ClockMessage::decode(bytes)),
            Err(_) => Body::Unknown(whole[0]),
        },
        (0x85 | 0x8b, entries) => Body::Changes(entries.to_vec()),
        (single::DUMP, entries) => Body::FromStart(entries.to_vec()),
        (0x87, _) => Body::Ping,
        (0x88, _) => Body::StartGameWritten,
        (0x89, &[major, minor]) => Body::Version(Some((major, minor))),
        (0x89, _) => Body::Version(None),
        (id, _) => Body::Unknown(id),
    };
    Reply { number, body }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Serial number 01025 and the checksum of the protocol's own example.
    #[test]
    fn the_example_of_2_3() {
        assert_eq!(Call::Clock.bytes(1025), [0x81, 0x08, 0x01, 0x0a]);
        assert_eq!(
            Call::Clock.bytes(0x10 << 7 | 0x06),
            [0x81, 0x10, 0x06, 0x17]
        );
        assert_eq!(Call::Ping.bytes(ALL), [0x87, 0, 0, 0x07]);
    }

    fn framed(id: u8, number: u16, data: &[u8]) -> Vec<u8> {
        let length = data.len() + FRAME;
        let mut bytes = vec![id, (length >> 7) as u8, (length & 0x7f) as u8];
        bytes.extend([(number >> 7) as u8 & 0x7f, number as u8 & 0x7f]);
        bytes.extend(data);
        bytes.push(checksum(&bytes));
        bytes
    }

    fn replies(frames: &mut Frames) -> Vec<Reply> {
        std::iter::from_fn(|| frames.next_reply()).collect()
    }

    #[test]
    fn replies_are_read() {
        let mut frames = Frames::default();
        frames.push(&framed(0x87, 1025, &[]));
        frames.push(&framed(0x85, 1025, &[0x40, 52, 0x41, 36]));
        frames.push(&framed(0x89, 7, &[1, 8]));
        let bodies: Vec<_> = replies(&mut frames).into_iter().collect();
        let reply = |number, body| Reply { number, body };
        assert_eq!(
            bodies,
            [
                reply(1025, Body::Ping),
                reply(1025, Body::Changes(vec![0x40, 52, 0x41, 36])),
                reply(7, Body::Version(Some((1, 8)))),
            ]
        );
        assert_eq!(frames.damaged(), 0);
    }

    proptest! {
        #[test]
        fn a_flipped_bit_makes_no_reply_of_its_own(
            data in prop::collection::vec(0..0x80_u8, 0..40),
            number in 1..0x4000_u16,
            at in any::<prop::sample::Index>(),
            bit in 0..8,
        ) {
            let good = framed(0x85, number, &data);
            let mut bad = good.clone();
            let at = at.index(bad.len());
            bad[at] ^= 1_u8 << bit;
            let mut frames = Frames::default();
            frames.push(&bad);
            // A length that grew waits for more; whoever asked gives up after a while.
            let read = replies(&mut frames);
            let same = Reply { number, body: Body::Changes(data) };
            prop_assert!(!read.contains(&same));
            frames.clear();
            frames.push(&good);
            prop_assert_eq!(replies(&mut frames), [same]);
        }

        #[test]
        fn any_bytes_are_read_to_their_end(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..20),
        ) {
            let mut frames = Frames::default();
            for piece in &pieces {
                frames.push(piece);
                replies(&mut frames);
            }
        }
    }
}

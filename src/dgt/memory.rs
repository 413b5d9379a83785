//! The board's own memory of what happened on it (protocol section 5): entries to bytes and back.

use super::clock::Hand;

/// One entry of the event memory. Squares are physical, codes as in a field update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entry {
    /// A square changed.
    Field {
        /// Physical square, 0 to 63.
        square: u8,
        /// New code, 0 to 15.
        code: u8,
    },
    /// The lever went over; the hand's time when it stopped.
    Pressed {
        /// The clock that stopped. Never swapped for a turned board.
        hand: Hand,
        /// Its time, s.
        seconds: u32,
    },
    /// The board was switched on; one field entry for each man follows, in no order.
    PowerUp,
    /// Nothing was written after this.
    End,
    /// All men on the outer rows, but in no array a game starts from.
    FourRows,
    /// No man on the board.
    Empty,
    /// The memory was read.
    Downloaded,
    /// The start array stands.
    StartArray {
        /// The connector is at White's right.
        turned: bool,
    },
    /// What was before belongs to another game.
    StartTag,
    /// The board restarted itself; a power-up follows.
    Watchdog,
}

/// Entries in the order they were written. Fillers and bytes without a meaning are skipped one by
/// one: the oldest entry of a full memory is usually half overwritten.
pub fn entries(memory: &[u8]) -> impl Iterator<Item = Entry> + '_ {
    let mut rest = memory;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (entry, length) = first(rest);
            rest = &rest[length..];
            if entry.is_some() {
                return entry;
            }
        }
        None
    })
}

fn first(bytes: &[u8]) -> (Option<Entry>, usize) {
    let plain = |entry| (Some(entry), 1);
    match *bytes {
        [head @ 0x40..=0x5f, square @ 0..=63, ..] => {
            let code = head & 0x0f;
            (Some(Entry::Field { square, code }), 2)
        }
        [head @ (0x60..=0x69 | 0x70..=0x79), minutes, seconds, ..] => {
            let hand = if head < 0x70 { Hand::Right } else { Hand::Left };
            match (bcd(minutes), bcd(seconds)) {
                (Some(minutes), Some(seconds)) => {
                    let seconds = (u32::from(head & 0x0f) * 60 + minutes) * 60 + seconds;
                    (Some(Entry::Pressed { hand, seconds }), 3)
                }
                _ => (None, 1),
            }
        }
        [0x6a, ..] => plain(Entry::PowerUp),
        [0x6b, ..] => plain(Entry::End),
        [0x6c, ..] => plain(Entry::FourRows),
        [0x6d, ..] => plain(Entry::Empty),
        [0x6e, ..] => plain(Entry::Downloaded),
        [0x6f, ..] => plain(Entry::StartArray { turned: false }),
        [0x7a, ..] => plain(Entry::StartArray { turned: true }),
        [0x7b, ..] => plain(Entry::StartTag),
        [0x7c, ..] => plain(Entry::Watchdog),
        _ => (None, 1),
    }
}

/// Two decimal digits below sixty.
fn bcd(byte: u8) -> Option<u32> {
    let (tens, ones) = (byte >> 4, byte & 0x0f);
    (tens < 6 && ones < 10).then(|| u32::from(tens) * 10 + u32::from(ones))
}

impl Entry {
    /// Appends the entry as a board writes it. A time above 9:59:59 is written as that.
    pub fn encode(self, out: &mut Vec<u8>) {
        match self {
            Entry::Field { square, code } => out.extend([0x40 | code & 0x0f, square & 63]),
            Entry::Pressed { hand, seconds } => {
                let seconds = seconds.min(9 * 3600 + 59 * 60 + 59);
                let head = match hand {
                    Hand::Right => 0x60,
                    Hand::Left => 0x70,
                };
                let digits = |number: u32| (number / 10 * 16 + number % 10).to_le_bytes()[0];
                out.extend([
                    head | digits(seconds / 3600),
                    digits(seconds / 60 % 60),
                    digits(seconds % 60),
                ]);
            }
            Entry::PowerUp => out.push(0x6a),
            Entry::End => out.push(0x6b),
            Entry::FourRows => out.push(0x6c),
            Entry::Empty => out.push(0x6d),
            Entry::Downloaded => out.push(0x6e),
            Entry::StartArray { turned: false } => out.push(0x6f),
            Entry::StartArray { turned: true } => out.push(0x7a),
            Entry::StartTag => out.push(0x7b),
            Entry::Watchdog => out.push(0x7c),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table_of_5_2() {
        let memory = [
            0x17, 0x7f, 0x00, 0x6a, 0x41, 0x34, 0x50, 0x24, 0x61, 0x29, 0x58, 0x70, 0x00, 0x07,
            0x6f, 0x7a, 0x7b, 0xff, 0x6b,
        ];
        let read: Vec<Entry> = entries(&memory).collect();
        assert_eq!(
            read,
            [
                Entry::PowerUp,
                Entry::Field {
                    square: 52,
                    code: 1
                },
                Entry::Field {
                    square: 36,
                    code: 0
                },
                Entry::Pressed {
                    hand: Hand::Right,
                    seconds: 5398
                },
                Entry::Pressed {
                    hand: Hand::Left,
                    seconds: 7
                },
                Entry::StartArray { turned: false },
                Entry::StartArray { turned: true },
                Entry::StartTag,
                Entry::End,
            ]
        );
    }

    fn any_entry() -> impl Strategy<Value = Entry> {
        let hand = prop_oneof![Just(Hand::Left), Just(Hand::Right)];
        prop_oneof![
            (0..64u8, 0..16u8).prop_map(|(square, code)| Entry::Field { square, code }),
            (hand, 0..36_000u32).prop_map(|(hand, seconds)| Entry::Pressed { hand, seconds }),
            Just(Entry::PowerUp),
            Just(Entry::End),
            Just(Entry::FourRows),
            Just(Entry::Empty),
            Just(Entry::Downloaded),
            any::<bool>().prop_map(|turned| Entry::StartArray { turned }),
            Just(Entry::StartTag),
            Just(Entry::Watchdog),
        ]
    }

    proptest! {
        #[test]
        fn there_and_back(written in prop::collection::vec(any_entry(), 0..200)) {
            let mut memory = Vec::new();
            for entry in &written {
                entry.encode(&mut memory);
            }
            prop_assert_eq!(entries(&memory).collect::<Vec<_>>(), written);
        }

        #[test]
        fn any_bytes_are_read_to_their_end(memory in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(entries(&memory).count() <= memory.len());
        }
    }
}

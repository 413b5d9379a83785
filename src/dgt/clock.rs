//! The clock message (`BWTIME`, protocol section 4.2): times, or the answer to a clock command.

use serde::{Deserialize, Serialize};

/// A side of the clock as seen from its front. Which of them is White's is not the clock's to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Hand {
    /// The clock's left side (message bytes p3 to p5).
    Left,
    /// The clock's right side (message bytes p0 to p2).
    Right,
}

impl Hand {
    /// The other side.
    #[must_use]
    pub const fn other(self) -> Hand {
        match self {
            Hand::Left => Hand::Right,
            Hand::Right => Hand::Left,
        }
    }
}

/// One side's display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct HandTime {
    /// Seconds shown.
    pub seconds: u32,
    /// D4: the flag has fallen and the clock is blocked at zero.
    pub flag_fallen: bool,
    /// D5: time per move (Fischer, Bronstein) is on.
    pub time_per_move: bool,
    /// D6: a flag is shown, the clock may still run.
    pub flag_shown: bool,
}

/// Both times with the status byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClockTimes {
    /// Right side, first in the message.
    pub right: HandTime,
    /// Left side.
    pub left: HandTime,
    /// D0 of the status: the clock runs.
    pub running: bool,
    /// D1 of the status: whose turn the lever shows. The turn bits D3 and D4 are never used
    /// (protocol section 4.2: their meaning changed twice).
    pub lever: Hand,
    /// D2: battery of the clock is low.
    pub battery_low: bool,
    /// D5 inverted: a clock is connected. The rest means nothing when it is not.
    pub connected: bool,
}

/// Answer of the clock to a command, or a button press: four bytes, unfolded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClockAck(pub [u8; 4]);

/// What a `BWTIME` message carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClockMessage {
    /// Times.
    Times(ClockTimes),
    /// An acknowledgement; says nothing of the time.
    Ack(ClockAck),
    /// All zero, or digits that are no time: no meaning, ignore.
    Meaningless,
}

impl ClockMessage {
    /// Reads the seven payload bytes p0 to p6.
    #[must_use]
    pub fn decode(p: &[u8; 7]) -> ClockMessage {
        if *p == [0; 7] {
            return ClockMessage::Meaningless;
        }
        if p[0] & 0x0f == 0x0a || p[3] & 0x0f == 0x0a {
            return ClockMessage::Ack(ClockAck::unfold(p));
        }
        let (right, left) = (hand(&p[0..3]), hand(&p[3..6]));
        let connected = p[6] & 0x20 == 0;
        let (right, left) = match (right, left) {
            (Some(right), Some(left)) => (right, left),
            // Without a clock any digits may stand there, yet that it is missing must be heard.
            _ if !connected => (HandTime::default(), HandTime::default()),
            _ => return ClockMessage::Meaningless,
        };
        ClockMessage::Times(ClockTimes {
            right,
            left,
            running: p[6] & 0x01 != 0,
            lever: if p[6] & 0x02 != 0 {
                Hand::Right
            } else {
                Hand::Left
            },
            battery_low: p[6] & 0x04 != 0,
            connected,
        })
    }

    /// The seven payload bytes. Times above 9:59:59 are shown as that, as the clock itself does.
    #[must_use]
    pub fn encode(&self) -> [u8; 7] {
        match self {
            ClockMessage::Meaningless => [0; 7],
            ClockMessage::Ack(ack) => ack.fold(),
            ClockMessage::Times(times) => {
                let [r0, r1, r2] = hand_bytes(times.right);
                let [l0, l1, l2] = hand_bytes(times.left);
                // The turn bits go as every clock of the captures sets them: D3 left, D4 right.
                let lever = match times.lever {
                    Hand::Left => 0x08,
                    Hand::Right => 0x12,
                };
                let status = u8::from(times.running)
                    | lever
                    | u8::from(times.battery_low) << 2
                    | u8::from(!times.connected) << 5;
                [r0, r1, r2, l0, l1, l2, status]
            }
        }
    }
}

impl ClockAck {
    /// The high bits of the four bytes travel in p0 and p3, where 0xa marks an answer.
    fn unfold(p: &[u8; 7]) -> ClockAck {
        ClockAck([
            p[1] & 0x7f | (p[3] << 3) & 0x80,
            p[2] & 0x7f | (p[3] << 2) & 0x80,
            p[4] & 0x7f | (p[0] << 3) & 0x80,
            p[5] & 0x7f | (p[0] << 2) & 0x80,
        ])
    }

    fn fold(self) -> [u8; 7] {
        let [a, b, c, d] = self.0;
        let high = |first: u8, second: u8| 0x0a | (first & 0x80) >> 3 | (second & 0x80) >> 2;
        let low = |byte: u8| byte & 0x7f;
        [high(c, d), low(a), low(b), high(a, b), low(c), low(d), 0]
    }
}

/// Hours, minutes, seconds of one side; `None` when they are no time.
fn hand(p: &[u8]) -> Option<HandTime> {
    let &[hours, minutes, seconds] = p else {
        return None;
    };
    let display = bcd_sixty(minutes)? * 60 + bcd_sixty(seconds)?;
    let hours_digit = u32::from(hours & 0x0f);
    (hours_digit <= 9).then_some(HandTime {
        seconds: hours_digit * 3600 + display,
        flag_fallen: hours & 0x10 != 0,
        time_per_move: hours & 0x20 != 0,
        flag_shown: hours & 0x40 != 0,
    })
}

fn hand_bytes(hand: HandTime) -> [u8; 3] {
    let shown = hand.seconds.min(9 * 3600 + 59 * 60 + 59);
    // All three are below 60 after the clamp, so the low byte is the whole number.
    let [hours, minutes, seconds] =
        [shown / 3600, shown / 60 % 60, shown % 60].map(|n| n.to_le_bytes()[0]);
    let bcd = |n: u8| ((n / 10) << 4) | (n % 10);
    [
        hours
            | u8::from(hand.flag_fallen) << 4
            | u8::from(hand.time_per_move) << 5
            | u8::from(hand.flag_shown) << 6,
        bcd(minutes),
        bcd(seconds),
    ]
}

/// Packed BCD from 00 to 59.
fn bcd_sixty(byte: u8) -> Option<u32> {
    let (tens, ones) = (byte >> 4, byte & 0x0f);
    (tens <= 5 && ones <= 9).then_some(u32::from(tens) * 10 + u32::from(ones))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(bytes: [u8; 7]) -> ClockTimes {
        match ClockMessage::decode(&bytes) {
            ClockMessage::Times(times) => times,
            other => panic!("{bytes:02x?} is {other:?}"),
        }
    }

    #[test]
    fn a_capture_line() {
        // 1.inbytes: White's clock (left) at 3:01 and running.
        let seen = times([0x20, 0x03, 0x02, 0x20, 0x03, 0x01, 0x09]);
        assert_eq!((seen.right.seconds, seen.left.seconds), (182, 181));
        assert!(seen.running && seen.connected && !seen.battery_low);
        assert!(seen.left.time_per_move && !seen.left.flag_fallen);
        assert_eq!(seen.lever, Hand::Left);
    }

    #[test]
    fn flag_fall_of_the_johan_capture() {
        let seen = times([0x30, 0, 0, 0x20, 0x01, 0x10, 0x12]);
        assert!(seen.right.flag_fallen && !seen.running);
        assert_eq!(seen.lever, Hand::Right);
    }

    #[test]
    fn acks_are_no_times() {
        // The constructed examples of section 4.2.
        for (bytes, ack) in [
            (
                [0x0a, 0x10, 0x08, 0x2a, 0x05, 0x31, 0],
                [0x10, 0x88, 5, 0x31],
            ),
            ([0x0a, 0x10, 0x09, 0x0a, 0x20, 0, 0], [0x10, 9, 0x20, 0]),
        ] {
            let message = ClockMessage::decode(&bytes);
            assert_eq!(message, ClockMessage::Ack(ClockAck(ack)));
            assert_eq!(message.encode(), bytes);
        }
    }

    #[test]
    fn no_time_has_no_meaning() {
        for bytes in [
            [0; 7],
            [0x0b, 0, 0, 0, 0, 0, 8],
            [0, 0x60, 0, 0, 0, 0, 8],
            [0, 0x0a, 0, 0, 0, 0, 8],
            [0, 0, 0, 0, 0, 0x7f, 8],
        ] {
            assert_eq!(ClockMessage::decode(&bytes), ClockMessage::Meaningless);
        }
    }

    #[test]
    fn an_unplugged_clock_is_heard_through_bad_digits() {
        assert!(!times([0x0f, 0x7f, 0x7f, 0, 0, 0, 0x20]).connected);
        assert!(!times([0x20, 0x03, 0x02, 0x20, 0x03, 0x01, 0x28]).connected);
    }

    #[test]
    fn more_than_the_display_holds_is_clamped() {
        let long = ClockTimes {
            right: HandTime {
                seconds: u32::MAX,
                ..HandTime::default()
            },
            left: HandTime::default(),
            running: false,
            lever: Hand::Left,
            battery_low: false,
            connected: true,
        };
        let bytes = ClockMessage::Times(long).encode();
        assert_eq!(bytes, [9, 0x59, 0x59, 0, 0, 0, 8]);
    }
}

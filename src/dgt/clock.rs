//! The clock message (`BWTIME`, protocol section 4.2): times, or the answer to a clock command.

/// A side of the clock as seen from its front. Which of them is White's is not the clock's to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

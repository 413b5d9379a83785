//! The chess clock beside the board: running times.

use crate::{
    dgt::{ClockTimes, Hand, HandTime},
    words::Side,
};

/// The clock. Times in ms; the display rounds up, so that it shows zero only at flag fall, which
/// these players never reach: their clock stands at its last second instead.
#[derive(Debug, Clone)]
pub struct Clock {
    white_ms: u64,
    black_ms: u64,
    running: Option<Side>,
    lever: Side,
    since_ms: u64,
}

impl Clock {
    /// A stopped clock with White to start.
    #[must_use]
    pub const fn new(ms: u64) -> Clock {
        Clock {
            white_ms: ms,
            black_ms: ms,
            running: None,
            lever: Side::White,
            since_ms: 0,
        }
    }

    /// Milliseconds a side has left.
    #[must_use]
    pub fn left_ms(&self, side: Side, now_ms: u64) -> u64 {
        let ms = side.fold_wb(self.white_ms, self.black_ms);
        if self.running == Some(side) {
            ms.saturating_sub(now_ms.saturating_sub(self.since_ms))
                .max(ms.min(1))
        } else {
            ms
        }
    }

    /// Seconds on a side's display.
    #[must_use]
    pub fn shown_s(&self, side: Side, now_ms: u64) -> u32 {
        u32::try_from(self.left_ms(side, now_ms).div_ceil(1000)).unwrap_or(u32::MAX)
    }

    /// The side whose time runs.
    #[must_use]
    pub const fn running(&self) -> Option<Side> {
        self.running
    }

    fn settle(&mut self, now_ms: u64) {
        self.white_ms = self.left_ms(Side::White, now_ms);
        self.black_ms = self.left_ms(Side::Black, now_ms);
        self.since_ms = now_ms;
    }

    /// Sets one side's time.
    pub fn set(&mut self, side: Side, ms: u64, now_ms: u64) {
        self.settle(now_ms);
        match side {
            Side::White => self.white_ms = ms,
            Side::Black => self.black_ms = ms,
        }
    }

    /// The time of `side` runs from now on, and the lever shows it.
    pub fn run(&mut self, side: Side, now_ms: u64) {
        self.settle(now_ms);
        self.running = Some(side);
        self.lever = side;
    }

    /// The clock is stopped; the lever stays.
    pub fn stop(&mut self, now_ms: u64) {
        self.settle(now_ms);
        self.running = None;
    }

    /// Both times anew, stopped, the lever showing who begins.
    pub fn reset(&mut self, ms: u64, first: Side, now_ms: u64) {
        *self = Clock {
            lever: first,
            since_ms: now_ms,
            ..Clock::new(ms)
        };
    }

    /// When the running display changes next.
    #[must_use]
    pub fn next_tick(&self, now_ms: u64) -> Option<u64> {
        let left = self.left_ms(self.running?, now_ms);
        (left > 1000).then(|| now_ms + (left - 1) % 1000 + 1)
    }

    /// What the board reads of it. White sits at the clock's left, or right of a turned board.
    #[must_use]
    pub fn times(&self, turned: bool, now_ms: u64) -> ClockTimes {
        let hand = |side| HandTime {
            seconds: self.shown_s(side, now_ms),
            time_per_move: true,
            ..HandTime::default()
        };
        let (white, black) = (hand(Side::White), hand(Side::Black));
        let (left, right) = if turned {
            (black, white)
        } else {
            (white, black)
        };
        ClockTimes {
            right,
            left,
            running: self.running.is_some(),
            lever: if (self.lever == Side::White) == turned {
                Hand::Right
            } else {
                Hand::Left
            },
            battery_low: false,
            connected: true,
        }
    }
}

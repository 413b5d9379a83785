//! Whose time runs, who pressed, how much is left (protocol sections 4.2 and 7).
//!
//! The lever is a level, not an event: a press is a change of the running side between two
//! messages. Which of the clock's hands is White's the clock does not know.

use crate::{
    dgt::{ClockTimes, Hand},
    words::Side,
};

/// Where White's time stands on the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClockSide {
    /// Guess from the way the board lies, correct from the first running side.
    #[default]
    Auto,
    /// White's time is on the clock's left.
    WhiteLeft,
    /// White's time is on the clock's right.
    WhiteRight,
    /// No clock at this board.
    None,
}

/// A text that names no side of the clock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no clock side: auto, white-left, white-right or none")]
pub struct UnknownClockSide(pub String);

impl ClockSide {
    /// The name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            ClockSide::Auto => "auto",
            ClockSide::WhiteLeft => "white-left",
            ClockSide::WhiteRight => "white-right",
            ClockSide::None => "none",
        }
    }
}

impl std::str::FromStr for ClockSide {
    type Err = UnknownClockSide;

    fn from_str(name: &str) -> Result<ClockSide, UnknownClockSide> {
        let all = [
            ClockSide::Auto,
            ClockSide::WhiteLeft,
            ClockSide::WhiteRight,
            ClockSide::None,
        ];
        let found = all.into_iter().find(|side| side.as_str() == name);
        found.ok_or_else(|| UnknownClockSide(name.to_owned()))
    }
}

/// Both times and the running side, in the game's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockFacts {
    /// White's time left, s.
    pub white_s: Option<u32>,
    /// Black's time left, s.
    pub black_s: Option<u32>,
    /// Whose time runs; `None` when stopped or not connected.
    pub running: Option<Side>,
    /// A clock is connected.
    pub connected: bool,
    /// Whose flag the clock shows as fallen.
    pub flag: Option<Side>,
}

impl ClockFacts {
    /// One side's time left, s.
    pub fn time_of(&self, side: Side) -> Option<u32> {
        match side {
            Side::White => self.white_s,
            Side::Black => self.black_s,
        }
    }
}

/// What one clock message changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockChange {
    /// Only the times, or nothing.
    Ticked,
    /// This side pressed: its time ran, now the other's does.
    Pressed(Side),
    /// The clock stopped while this side's time ran.
    Stopped(Side),
    /// The clock runs (again) for this side.
    Started(Side),
}

/// Follows one clock.
#[derive(Debug, Clone)]
pub struct ClockWatch {
    setting: ClockSide,
    /// Which hand is White's; guessed until locked.
    white: Hand,
    locked: bool,
    last: Option<ClockTimes>,
    facts: ClockFacts,
    /// Ticks in a row on which the time fell on the side the lever says is at rest.
    contradictions: u8,
    lever_inverted: bool,
}

/// So many ticks against the lever and the falling time is believed instead: a clock with its lever
/// wired the other way. A flip merges at most two ticks of the old side into the new one's.
const LEVER_DISBELIEVED_AFTER: u8 = 3;

impl ClockWatch {
    /// A clock that was never heard yet.
    pub fn new(setting: ClockSide) -> ClockWatch {
        ClockWatch {
            setting,
            white: match setting {
                ClockSide::WhiteRight => Hand::Right,
                _ => Hand::Left,
            },
            locked: matches!(setting, ClockSide::WhiteLeft | ClockSide::WhiteRight),
            last: None,
            facts: ClockFacts::default(),
            contradictions: 0,
            lever_inverted: false,
        }
    }

    /// The newest facts.
    pub fn facts(&self) -> &ClockFacts {
        &self.facts
    }

    /// The last message with times in it, while a clock is connected.
    pub fn last(&self) -> Option<&ClockTimes> {
        self.last.as_ref()
    }

    /// A clock is configured and heard: the press is evidence at this board.
    pub fn is_evidence(&self) -> bool {
        self.setting != ClockSide::None && self.facts.connected
    }

    /// The board lies turned (or not): the clock stands on the same side of the *board*, so its
    /// left is then Black's (captures 1 and 2 of protocol section 9.1).
    pub fn board_lies(&mut self, turned: bool) {
        if !self.locked {
            self.set_white(if turned { Hand::Right } else { Hand::Left });
        }
    }

    /// The clock runs while the start array stands untouched: that time is White's.
    pub fn runs_for_white(&mut self) {
        if self.locked || self.setting == ClockSide::None {
            return;
        }
        if self.facts.running == Some(Side::Black) {
            self.set_white(self.white.other());
        }
        self.locked = self.facts.running.is_some();
    }

    /// Swaps the sides by hand (or takes a new guess when the board was turned).
    pub fn swap(&mut self) {
        self.set_white(self.white.other());
        self.locked = true;
    }

    /// A new game: an automatic guess may be made again.
    pub fn new_game(&mut self) {
        self.locked = matches!(self.setting, ClockSide::WhiteLeft | ClockSide::WhiteRight);
    }

    /// One clock message with times in it.
    pub fn times(&mut self, times: &ClockTimes) -> ClockChange {
        if self.setting == ClockSide::None {
            return ClockChange::Ticked;
        }
        if !times.connected {
            let was = self.facts.running.take();
            self.facts.connected = false;
            self.last = None;
            return was.map_or(ClockChange::Ticked, ClockChange::Stopped);
        }
        self.weigh_lever(times);
        let before = self.facts.running;
        self.last = Some(*times);
        self.facts = self.translate(times);
        match (before, self.facts.running) {
            (Some(old), Some(new)) if old != new => ClockChange::Pressed(old),
            (Some(old), None) => ClockChange::Stopped(old),
            (None, Some(new)) => ClockChange::Started(new),
            _ => ClockChange::Ticked,
        }
    }

    fn weigh_lever(&mut self, times: &ClockTimes) {
        let Some(last) = &self.last else { return };
        if !(last.running && times.running && last.lever == times.lever) {
            self.contradictions = 0;
            return;
        }
        let fell = |hand: Hand| hand_time(times, hand) < hand_time(last, hand);
        let lever = self.believed_lever(times);
        match (fell(lever), fell(lever.other())) {
            (false, true) => self.contradictions += 1,
            (true, _) => self.contradictions = 0,
            (false, false) => {}
        }
        if self.contradictions >= LEVER_DISBELIEVED_AFTER {
            self.lever_inverted = !self.lever_inverted;
            self.contradictions = 0;
        }
    }

    fn believed_lever(&self, times: &ClockTimes) -> Hand {
        if self.lever_inverted {
            times.lever.other()
        } else {
            times.lever
        }
    }

    /// Whose time this hand shows.
    pub fn side_of(&self, hand: Hand) -> Side {
        if hand == self.white {
            Side::White
        } else {
            Side::Black
        }
    }

    fn translate(&self, times: &ClockTimes) -> ClockFacts {
        let flag = [Hand::Left, Hand::Right]
            .into_iter()
            .find(|&hand| match hand {
                Hand::Left => times.left.flag_fallen,
                Hand::Right => times.right.flag_fallen,
            })
            .map(|hand| self.side_of(hand));
        ClockFacts {
            white_s: Some(hand_time(times, self.white)),
            black_s: Some(hand_time(times, self.white.other())),
            running: times
                .running
                .then(|| self.side_of(self.believed_lever(times))),
            connected: true,
            flag,
        }
    }

    fn set_white(&mut self, hand: Hand) {
        if self.white != hand {
            self.white = hand;
            if let Some(last) = self.last {
                self.facts = self.translate(&last);
            }
        }
    }
}

fn hand_time(times: &ClockTimes, hand: Hand) -> u32 {
    match hand {
        Hand::Left => times.left.seconds,
        Hand::Right => times.right.seconds,
    }
}

//! The time control of an event or a game.

use std::{fmt, str::FromStr};

/// One period of a time control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Period {
    /// Moves to make in it; none for the rest of the game.
    moves: Option<u32>,
    /// Time added at its start, s.
    base_s: u32,
    /// Fischer increment, s.
    increment_s: u32,
}

/// A PGN TimeControl: `40/5400+30:1800+30`, `900+10`, `180`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeControl {
    text: String,
    first: Period,
    later: Vec<Period>,
}

/// A text that is no time control.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no time control: write MOVES/SECONDS+INCREMENT, periods parted by a colon, such as \
     40/5400+30:1800+30 or 180+2"
)]
pub struct NoTimeControl(pub String);

impl Default for TimeControl {
    /// 90 minutes and 30 seconds a move: what an unknown control is played with.
    fn default() -> TimeControl {
        TimeControl {
            text: "5400+30".to_owned(),
            first: Period {
                moves: None,
                base_s: 5_400,
                increment_s: 30,
            },
            later: Vec::new(),
        }
    }
}

impl FromStr for TimeControl {
    type Err = NoTimeControl;

    fn from_str(text: &str) -> Result<TimeControl, NoTimeControl> {
        let wrong = || NoTimeControl(text.to_owned());
        let number = |digits: &str| digits.parse::<u32>().map_err(|_| wrong());
        let period = |text: &str| {
            let (moves, rest) = match text.split_once('/') {
                Some((moves, rest)) => (Some(number(moves)?), rest),
                None => (None, text),
            };
            let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
            Ok(Period {
                moves,
                base_s: number(base)?,
                increment_s: number(increment)?,
            })
        };
        let mut periods = text.split(':').map(period);
        Ok(TimeControl {
            text: text.to_owned(),
            first: periods.next().ok_or_else(wrong)??,
            later: periods.collect::<Result<_, _>>()?,
        })
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TimeControl {
    /// Seconds both clocks begin with.
    #[must_use]
    pub const fn first_s(&self) -> u32 {
        self.first.base_s
    }

    /// Seconds a side gains with each of its first moves.
    #[must_use]
    pub const fn increment_s(&self) -> u32 {
        self.first.increment_s
    }

    fn periods(&self) -> impl Iterator<Item = &Period> {
        std::iter::once(&self.first).chain(&self.later)
    }

    /// Moves due at the end of each period that has a number of moves, counted from the start of the game:
    /// `40/5400+30:20/3600+30:900+30` gives 40, 60.
    pub fn due(&self) -> impl Iterator<Item = u32> {
        let lengths = self.periods().map_while(|period| period.moves);
        lengths.scan(0u32, |end, length| {
            *end = end.saturating_add(length);
            Some(*end)
        })
    }

    /// What a side's clock gains by its press number `moves` (from 1), ms.
    #[must_use]
    pub fn gain_ms(&self, moves: u32) -> u64 {
        let ended = self.due().take_while(|&end| end < moves).count();
        let period = self.periods().nth(ended).or(self.later.last());
        let own = period.unwrap_or(&self.first).increment_s;
        let next = match self.due().nth(ended) {
            Some(end) if end == moves => self.later.get(ended).map_or(0, |next| next.base_s),
            _ => 0,
        };
        1000 * (u64::from(own) + u64::from(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_control_tells_its_times_and_its_moves() {
        let control: TimeControl = "40/5400+30:20/3600+10:900+5".parse().expect("a control");
        assert_eq!(control.to_string(), "40/5400+30:20/3600+10:900+5");
        assert_eq!((control.first_s(), control.increment_s()), (5400, 30));
        assert_eq!(control.due().collect::<Vec<_>>(), [40, 60]);
        let gains = [1, 39, 40, 41, 60, 61].map(|moves| control.gain_ms(moves));
        assert_eq!(gains, [30_000, 30_000, 3_630_000, 10_000, 910_000, 5_000]);
        let one: TimeControl = "40/180+2".parse().expect("a control");
        assert_eq!([40, 41].map(|moves| one.gain_ms(moves)), [2_000, 2_000]);
        let default = TimeControl::default();
        assert_eq!(default.to_string().parse(), Ok(default));
    }

    #[test]
    fn what_is_none_is_said_to_be_none() {
        for text in ["", "?", "-", "90 minutes", "40/", "180+", "180+2:", "-3"] {
            assert_eq!(text.parse::<TimeControl>(), Err(NoTimeControl(text.into())));
        }
    }
}

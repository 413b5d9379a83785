//! What the clock was seen to show, and what it showed at a press that no look caught.

use std::collections::VecDeque;

use crate::{
    board::ClockFacts,
    words::{At, Side},
};

/// Looks at the clock that are kept.
const MOST_LOOKS: usize = 64;
/// Of the looks while nothing happens only the first so many and the last are kept.
const LOOKS_ALIKE: usize = 2;
/// A second of a running clock, ms.
const SECOND_MS: u64 = 1000;
/// The clock is read so long after a press at most, ms (protocol section 7).
const READ_LAG_MS: u64 = 300;
/// A ply that landed so long after its side's last tick was pressed near the next one, ms: a hand
/// goes from the man to the clock within half a second.
const NEAR_NEXT_TICK_MS: u64 = 450;

/// The clock since the last final ply, and a little before.
#[derive(Debug, Clone, Default)]
pub(super) struct Looks {
    kept: VecDeque<(At, ClockFacts)>,
    alike: usize,
}

/// A side's time at the end of a ply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeShown {
    /// Seconds; `None` without a clock.
    pub time_s: Option<u32>,
    /// It was not read at the press itself.
    pub about: bool,
}

impl Looks {
    /// Something happened on the board: the next looks tell of it.
    pub fn keep_next(&mut self) {
        self.alike = 0;
    }

    /// The clock shows this now.
    pub fn add(&mut self, facts: ClockFacts, at: At) {
        let news = self.kept.back().is_none_or(|(_, last)| {
            facts.running != last.running || two_presses_between(last, &facts)
        });
        if news {
            self.alike = 0;
        }
        if self.alike > LOOKS_ALIKE {
            self.kept.pop_back();
        } else {
            self.alike += 1;
        }
        if self.kept.len() >= MOST_LOOKS {
            self.kept.pop_front();
        }
        self.kept.push_back((at, facts));
    }

    /// The mover's time after a ply whose own press was not seen: as the clock shows it when the
    /// other side's time first runs; if two presses fell between two looks, at the look that gives
    /// them away or when the reply stands.
    pub fn of_ply(&self, side: Side, shown: At, replied: Option<At>) -> TimeShown {
        let since = |from: At| self.kept.iter().filter(move |(at, _)| *at >= from);
        let pairs = self.kept.iter().zip(self.kept.iter().skip(1));
        let gave_away = pairs
            .filter(|(_, (at, _))| *at >= shown)
            .find(|((_, before), (_, facts))| presses_hid(side, before, facts));
        let at_rest = since(shown).find(|(_, facts)| facts.running != Some(side));
        let in_time = |(at, _): &&(At, ClockFacts)| {
            replied.is_none_or(|replied| *at <= replied)
                && gave_away.is_none_or(|(_, (hid, _))| at < hid)
        };
        let exact = at_rest.filter(in_time);
        let look = exact
            .or(gave_away.map(|(_, look)| look))
            .or_else(|| replied.and_then(|replied| since(replied).next()))
            .or(at_rest);
        let read = look
            .filter(|(_, facts)| facts.connected)
            .and_then(|(_, facts)| facts.time_of(side));
        let ticked = exact.is_none()
            && gave_away.is_some_and(|((tick, _), (back, facts))| {
                facts.running == Some(side) && self.ticked_since_reply(side, *tick, *back, shown)
            });
        TimeShown {
            time_s: read.map(|seconds| seconds + u32::from(ticked)),
            about: exact.is_none(),
        }
    }

    /// Whether a side's time, which runs again after a reply, had gone down a second before the
    /// look that first shows it. Its part of a second stood still meanwhile: pressed shortly before
    /// its next tick, it ticks shortly after the reply, and then a whole second later.
    fn ticked_since_reply(&self, side: Side, tick: At, back: At, landed: At) -> bool {
        let next = self
            .kept
            .iter()
            .find(|(at, _)| *at > back)
            .filter(|(_, facts)| facts.running == Some(side));
        let whole_second_later =
            next.is_none_or(|(at, _)| at.ms_since(back) > SECOND_MS - READ_LAG_MS);
        let pressed_late = landed.ms_since(tick) % SECOND_MS > NEAR_NEXT_TICK_MS;
        whole_second_later && pressed_late
    }
}

/// Whether this side pressed between two looks at the clock, and did not leave its time standing.
fn presses_hid(side: Side, before: &ClockFacts, after: &ClockFacts) -> bool {
    let given = |side: Side| after.time_of(side) > before.time_of(side);
    let there_and_back = after.running == Some(side) && two_presses_between(before, after);
    let three_presses =
        before.running == Some(side) && after.running == Some(side.other()) && given(side.other());
    there_and_back || three_presses
}

/// The time at rest changed though the same side's runs: it ran in between.
fn two_presses_between(before: &ClockFacts, after: &ClockFacts) -> bool {
    before.running == after.running
        && after
            .running
            .is_some_and(|side| before.time_of(side.other()) != after.time_of(side.other()))
}

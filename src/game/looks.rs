//! What the clock was seen to show, and what it showed at a press that no look caught.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::RangeInclusive,
};

use super::press::SCAN_MS;
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
/// The clock is read so long after a press, ms (protocol section 7).
const READ_LAG_MS: RangeInclusive<u64> = 15..=LONGEST_READ_LAG_MS;
const LONGEST_READ_LAG_MS: u64 = 310;
/// A hand that let go of its man presses within this time, ms.
const HAND_MS: u64 = 700;
/// A man is carried to his square in so long, ms.
const CARRY_MS: u64 = 400;
/// Looks further apart, ms, leave the presses between them open.
const LONGEST_RECKONED_MS: u64 = 5000;
/// Moments of a press are weighed in steps of so many ms.
const GRID_MS: u64 = 15;
/// The last presses that tell what one usually adds, and how many of them must agree.
const LAST_GAINS: usize = 4;
const GAINS_ALIKE: usize = 3;
/// Ticks that no look showed may have been at these moments, in steps of so many ms.
const TICK_GRID_MS: u64 = 50;
/// How much less likely a press is that adds other than usual.
const UNUSUAL_GAIN: f64 = 0.2;
/// That a tick before the press was not told.
const UNSEEN_TICK: f64 = 0.02;
/// That the next tick came at another time than the presses make it.
const OFF_TICK: f64 = 0.02;
/// That the clock was read later than boards do.
const READ_SLOWLY: f64 = 0.1;
/// That a hand waited after its man had landed.
const HAND_WAITED: f64 = 0.05;

type Look = (At, ClockFacts);

/// The clock since the last final ply, and a little before.
#[derive(Debug, Clone, Default)]
pub(super) struct Looks {
    kept: VecDeque<Look>,
    alike: usize,
    /// What the last presses added, s.
    gains: VecDeque<i64>,
}

/// How a ply and its reply came to stand on the board.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stood {
    /// The board first showed the men as the ply leaves them.
    pub shown: At,
    /// The man was read on the square its ply ends on.
    pub landed: Option<At>,
    /// The man was read to have left his square.
    pub lifted: Option<At>,
    /// The reply's man was.
    pub reply_landed: Option<At>,
    /// The board first showed the men as the reply leaves them.
    pub replied: Option<At>,
    /// The last update by then.
    pub heard: At,
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
        let look = (at, facts);
        let news = self
            .kept
            .back()
            .is_none_or(|last| facts.running != last.1.running || two_presses_between(last, &look));
        if news {
            self.alike = 0;
        }
        if let Some(&(_, last)) = self.kept.back() {
            self.note_gain(&last, &facts);
        }
        if self.alike > LOOKS_ALIKE {
            self.kept.pop_back();
        } else {
            self.alike += 1;
        }
        if self.kept.len() >= MOST_LOOKS {
            self.kept.pop_front();
        }
        self.kept.push_back(look);
    }

    fn note_gain(&mut self, before: &ClockFacts, after: &ClockFacts) {
        let pressed = before
            .running
            .filter(|side| after.running == Some(side.other()));
        let Some(side) = pressed else { return };
        let times = before.time_of(side).zip(after.time_of(side));
        let stands = before.time_of(side.other()) == after.time_of(side.other());
        if let (Some((before, after)), true) = (times, stands) {
            if self.gains.len() == LAST_GAINS {
                self.gains.pop_front();
            }
            self.gains.push_back(i64::from(after) - i64::from(before));
        }
    }

    /// The mover's time after a ply whose own press was not seen: as the clock shows it when the
    /// other side's time first runs; if two presses fell between two looks, as both ticks, the look
    /// that gives them away and the landings let it be reckoned; if not even that was seen, when the
    /// reply stands.
    pub fn of_ply(&self, side: Side, stood: &Stood) -> TimeShown {
        let since = |from: At| self.kept.iter().filter(move |(at, _)| *at >= from);
        let read = stood.landed.unwrap_or(stood.shown);
        let landed = At(read.0.saturating_sub(SCAN_MS));
        let pairs = || {
            let next = self.kept.iter().skip(1);
            let pairs = self.kept.iter().zip(next);
            pairs.filter(move |(_, (at, _))| *at >= landed)
        };
        let hidden = pairs().find(|(before, after)| presses_hid(side, before, after));
        let before_hidden = |at: At| hidden.is_none_or(|(_, (given_away, _))| at < *given_away);
        let pressed = pairs()
            .find(|((_, before), (at, after))| {
                shows_press(side, before, after) && before_hidden(*at)
            })
            .map(|(_, (_, facts))| facts);
        let at_rest = since(stood.shown).find(|(_, facts)| facts.running != Some(side));
        let rested = at_rest
            .filter(|(at, _)| {
                stood.replied.is_none_or(|replied| *at <= replied) && before_hidden(*at)
            })
            .map(|(_, facts)| facts);
        let time_of = |facts: &ClockFacts| facts.time_of(side).filter(|_| facts.connected);
        if let Some(facts) = rested.or(pressed.filter(|_| stood.landed.is_some())) {
            return TimeShown {
                time_s: time_of(facts),
                about: false,
            };
        }
        let reckoned = hidden.and_then(|(before, after)| self.reckon(side, before, after, stood));
        let look = hidden
            .map(|(_, look)| look)
            .or_else(|| stood.replied.and_then(|replied| since(replied).next()))
            .or(at_rest);
        TimeShown {
            time_s: reckoned.or(look.and_then(|(_, facts)| time_of(facts))),
            about: true,
        }
    }

    /// A side's time after its own press, of which the clock only showed that it and the reply's
    /// fell between two looks: of all moments the two presses may have had, those that fit best what
    /// was seen. A press moves no tick, so the side's next tick tells how long the other side's time
    /// ran, but for whole seconds.
    fn reckon(&self, side: Side, before: &Look, after: &Look, stood: &Stood) -> Option<u32> {
        let ((before_at, before), (after_at, after)) = (before, after);
        let there_and_back = before.running == Some(side) && after.running == Some(side);
        let apart_ms = after_at.ms_since(*before_at);
        if !there_and_back || !after.connected || apart_ms > LONGEST_RECKONED_MS {
            return None;
        }
        let back_s = after.time_of(side)?;
        let shown_s = before.time_of(side)?;
        let next_tick = self.next_tick(side, *after_at);
        let usual_gain = self.usual_gain();
        let look_lost = apart_ms > SECOND_MS + 2 * LONGEST_READ_LAG_MS;
        let moments = |from: At| {
            let steps = after_at.ms_since(from) / GRID_MS;
            (0..=steps).map(move |step| from.plus_ms(step * GRID_MS))
        };
        let earliest = At(before_at.0.saturating_sub(LONGEST_READ_LAG_MS));
        let told_until = if look_lost {
            stood.heard.min(*after_at)
        } else {
            *after_at
        };
        let hand = stood
            .landed
            .or(stood.lifted.map(|lifted| lifted.plus_ms(CARRY_MS)));
        let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
        for ticked in self.last_ticks(side, *before_at) {
            for pressed in moments(earliest.max(ticked)) {
                let ran_ms = pressed.ms_since(ticked);
                let to_next_tick = SECOND_MS - ran_ms % SECOND_MS;
                let own_ticks = ran_ms / SECOND_MS;
                let unseen = own_ticks > 0 && ticked.plus_ms(SECOND_MS) <= told_until;
                let chance_of_press = likely_after(pressed, hand) * unless(!unseen, UNSEEN_TICK);
                for replied in moments(pressed) {
                    let back_ms = after_at.ms_since(replied);
                    let ticks = (back_ms + SECOND_MS - to_next_tick) / SECOND_MS;
                    let time_s = back_s + ticks as u32;
                    let gain = i64::from(time_s) - i64::from(shown_s) + own_ticks as i64;
                    let due = replied.plus_ms(to_next_tick + ticks * SECOND_MS);
                    let read_in_time = READ_LAG_MS.contains(&back_ms)
                        && replied.ms_since(pressed) <= *READ_LAG_MS.end();
                    let chance = chance_of_press
                        * likely_after(replied, stood.reply_landed)
                        * unless(look_lost || read_in_time, READ_SLOWLY)
                        * unless(usual_gain == Some(gain), UNUSUAL_GAIN)
                        * unless(
                            next_tick.is_none_or(|tick| tick.0.abs_diff(due.0) <= 2 * GRID_MS),
                            OFF_TICK,
                        );
                    *weights.entry(time_s).or_default() += chance;
                }
            }
        }
        let likeliest = weights.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
        likeliest
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(time_s, _)| time_s)
    }

    /// When a side's running time may have last gone down a second by this look: a tick that was
    /// seen, or, if none was since its time began to run, any moment of the second before.
    fn last_ticks(&self, side: Side, until: At) -> Vec<At> {
        let turn: Vec<&Look> = self
            .kept
            .iter()
            .rev()
            .skip_while(|(at, _)| *at > until)
            .take_while(|(_, facts)| facts.running == Some(side))
            .collect();
        let ticked = turn
            .windows(2)
            .find(|pair| ticks(side, &pair[1].1, &pair[0].1))
            .map(|pair| pair[0].0);
        ticked.map_or_else(
            || {
                (0..SECOND_MS / TICK_GRID_MS)
                    .map(|step| At(until.0.saturating_sub(step * TICK_GRID_MS)))
                    .collect()
            },
            |tick| vec![tick],
        )
    }

    /// Whether a side had not pressed yet so long after this moment that the clock would have been read
    /// meanwhile.
    pub fn ran_on_after(&self, side: Side, at: At) -> bool {
        let read = at.plus_ms(LONGEST_READ_LAG_MS);
        let looks = self.kept.iter().filter(|(look, _)| *look >= at);
        looks
            .take_while(|(_, facts)| facts.running == Some(side))
            .last()
            .is_some_and(|(look, _)| *look >= read)
    }

    /// When a side's time, running at a look, next went down a second.
    fn next_tick(&self, side: Side, from: At) -> Option<At> {
        let looks = self.kept.iter().skip_while(|(at, _)| *at < from);
        let turn = looks.take_while(|(_, facts)| facts.running == Some(side));
        let (_, (at, _)) = turn
            .clone()
            .zip(turn.skip(1))
            .find(|((_, before), (_, after))| ticks(side, before, after))?;
        Some(*at)
    }

    /// What a press has usually added of late, s.
    fn usual_gain(&self) -> Option<i64> {
        let alike = |gain: &i64| self.gains.iter().filter(|other| *other == gain).count();
        self.gains
            .iter()
            .copied()
            .find(|gain| alike(gain) >= GAINS_ALIKE)
    }
}

/// How likely a press is at a moment, as the landing of its man was read.
fn likely_after(pressed: At, landed: Option<At>) -> f64 {
    let Some(landed) = landed else { return 1.0 };
    let earliest = landed.0.saturating_sub(SCAN_MS);
    if pressed.0 < earliest {
        0.0
    } else if pressed < landed {
        // The scan reached the square at any time of its pass.
        (pressed.0 - earliest) as f64 / SCAN_MS as f64
    } else if pressed.ms_since(landed) <= HAND_MS {
        1.0
    } else {
        HAND_WAITED
    }
}

const fn unless(usual: bool, chance: f64) -> f64 {
    if usual { 1.0 } else { chance }
}

/// Whether the time of a side went down between two looks, while it ran in both.
fn ticks(side: Side, before: &ClockFacts, after: &ClockFacts) -> bool {
    let ran = |facts: &ClockFacts| facts.running == Some(side);
    let shown = before.time_of(side).zip(after.time_of(side));
    ran(before) && ran(after) && shown.is_some_and(|(before, after)| before > after)
}

/// Whether the later of two looks shows that this side pressed: the other's time runs, and this
/// side's ran before, or has changed.
fn shows_press(side: Side, before: &ClockFacts, after: &ClockFacts) -> bool {
    after.running == Some(side.other())
        && (before.running == Some(side) || before.time_of(side) != after.time_of(side))
}

/// Whether this side pressed between two looks at the clock, and did not leave its time standing.
fn presses_hid(side: Side, before: &Look, after: &Look) -> bool {
    let given = |side: Side| after.1.time_of(side) > before.1.time_of(side);
    let there_and_back = after.1.running == Some(side) && two_presses_between(before, after);
    let three_presses = before.1.running == Some(side)
        && after.1.running == Some(side.other())
        && given(side.other());
    there_and_back || three_presses
}

/// The same side's time runs in both looks, and the other's ran in between: it changed, or the
/// running one did other than by its ticks.
fn two_presses_between((before_at, before): &Look, (after_at, after): &Look) -> bool {
    let Some(side) = before.running.filter(|_| before.running == after.running) else {
        return false;
    };
    let most_ticks = after_at.ms_since(*before_at) / SECOND_MS + 1;
    let times = before.time_of(side).zip(after.time_of(side));
    let jumped = times
        .is_some_and(|(before, after)| after > before || u64::from(before - after) > most_ticks);
    jumped || before.time_of(side.other()) != after.time_of(side.other())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks as a board of a rough game told them: when, White's time, Black's, whose runs.
    fn looks(told: &[(u64, u32, u32, Side)]) -> Looks {
        let mut looks = Looks::default();
        for &(at, white, black, runs) in told {
            let facts = ClockFacts {
                white_s: Some(white),
                black_s: Some(black),
                running: Some(runs),
                connected: true,
                ..ClockFacts::default()
            };
            looks.keep_next();
            looks.add(facts, At(at));
        }
        looks
    }

    fn stood(landed: u64, reply_landed: u64) -> Stood {
        Stood {
            shown: At(landed),
            landed: Some(At(landed)),
            lifted: None,
            reply_landed: Some(At(reply_landed)),
            replied: Some(At(reply_landed)),
            heard: At(reply_landed),
        }
    }

    /// Black pressed at 7584 with 3160 s and White at 7692; Black's time ticked at 7723, and the clock
    /// was read at 7900.
    #[test]
    fn a_tick_between_the_reply_and_the_look_is_added_back() {
        let looks = looks(&[
            (4615, 2893, 3132, Side::Black),
            (5615, 2893, 3131, Side::Black),
            (6615, 2893, 3130, Side::Black),
            (7900, 2923, 3159, Side::Black),
            (8723, 2923, 3158, Side::Black),
        ]);
        let shown = looks.of_ply(Side::Black, &stood(7512, 7791));
        assert_eq!(shown, about(3160));
    }

    /// Black pressed at 7400 and White at 7665: the next tick was due at 7880 only.
    #[test]
    fn no_tick_is_added_where_the_next_one_leaves_no_room() {
        let looks = looks(&[
            (5615, 2893, 3131, Side::Black),
            (6615, 2893, 3130, Side::Black),
            (7700, 2923, 3160, Side::Black),
            (7880, 2923, 3159, Side::Black),
        ]);
        let shown = looks.of_ply(Side::Black, &stood(7312, 7491));
        assert_eq!(shown, about(3160));
    }

    #[test]
    fn a_press_that_a_look_shows_is_no_guess() {
        let looks = looks(&[
            (6615, 2893, 3130, Side::Black),
            (7100, 2893, 3160, Side::White),
            (7900, 2923, 3160, Side::Black),
        ]);
        let shown = looks.of_ply(Side::Black, &stood(7012, 7791));
        assert_eq!(
            shown,
            TimeShown {
                time_s: Some(3160),
                about: false
            }
        );
    }

    #[test]
    fn looks_too_far_apart_leave_the_time_as_read() {
        let looks = looks(&[
            (6615, 2893, 3130, Side::Black),
            (70_000, 2923, 3140, Side::Black),
        ]);
        let shown = looks.of_ply(Side::Black, &stood(7512, 9000));
        assert_eq!(shown, about(3140));
    }

    fn about(seconds: u32) -> TimeShown {
        TimeShown {
            time_s: Some(seconds),
            about: true,
        }
    }
}

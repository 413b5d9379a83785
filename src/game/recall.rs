//! A gap filled from the board's own memory (protocol section 5): what it remembers is followed as
//! if it had been heard in time.

use shakmaty::Square;

use super::{
    event::Event,
    follow::{Game, Stage},
    tree::Tree,
};
use crate::{
    board::{ClockFacts, Edge, Placement, Reading, Remembered},
    words::{At, Side},
};

/// Whether the board was asked for what it remembers of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Recall {
    /// There is nothing to ask, or it was not asked yet.
    #[default]
    Idle,
    /// Asked then; no answer yet.
    Asked(At),
    /// It answered, or it never will.
    Over,
}

/// The men stand so long before the line is given away to the memory, ms.
const IDLE_MS: u64 = 1_000;
/// An answer takes 8.3 s on the wire; one that takes longer than this does not come any more, ms.
const ANSWER_MS: u64 = 15_000;
/// Men that never stand still for so long after a gap are judged without the memory, ms.
const MOST_WAIT_MS: u64 = 5_000;
/// After so many questions in a row that filled nothing the board is not asked again.
const MOST_FRUITLESS: u8 = 2;
/// Behind a press that is remembered nothing follows for so long, ms: all that waits for quiet is
/// decided by then.
const AFTER_PRESS_MS: u64 = 1_900;

impl Game {
    /// Asks for the board's memory where updates were lost and no single way leads to the men.
    pub(super) fn notice_gap(&mut self, quiet: u64, at: At) {
        if !self.has_gap() {
            self.recall = Recall::Idle;
        } else if self.recall == Recall::Idle && self.fruitless >= MOST_FRUITLESS {
            self.recall = Recall::Over;
        } else if self.recall == Recall::Idle && quiet >= IDLE_MS {
            self.recall = Recall::Asked(at);
            self.out.push(Event::WantMemory);
        } else if matches!(self.recall, Recall::Asked(asked) if at.ms_since(asked) >= ANSWER_MS) {
            self.fruitless += 1;
            self.recall = Recall::Over;
        }
    }

    /// The memory is about to be asked for, or may still answer.
    pub(super) fn recalls(&self, at: At) -> bool {
        let waits = match self.recall {
            Recall::Idle => self
                .patched
                .is_some_and(|patched| at.ms_since(patched) < MOST_WAIT_MS),
            Recall::Asked(_) => true,
            Recall::Over => false,
        };
        waits && self.has_gap()
    }

    /// When [`Game::notice_gap`] has something to do.
    pub(super) fn recall_due(&self) -> Option<At> {
        match self.recall {
            Recall::Idle => self.has_gap().then(|| self.changed.plus_ms(IDLE_MS)),
            Recall::Asked(asked) => Some(asked.plus_ms(ANSWER_MS)),
            Recall::Over => None,
        }
    }

    pub(super) fn has_gap(&self) -> bool {
        let began = self.tree.anchor().shown;
        self.stage() == Stage::Playing
            && self.current.is_none()
            && self.open.is_none()
            && self.patched.is_some_and(|patched| patched >= began)
    }

    /// What the board remembers, oldest first. It is believed only if it leads from the last final
    /// position by legal plies to the men as they stand; true then.
    pub fn remembered(&mut self, past: &[Remembered], at: At) -> bool {
        if !matches!(self.recall, Recall::Asked(_)) {
            return false;
        }
        self.recall = Recall::Over;
        let Some(since) = self.last_final_in(past) else {
            return false;
        };
        let mut followed = self.at_last_final();
        followed.follow(&past[since..]);
        let only_plies = followed
            .out
            .iter()
            .all(|event| matches!(event, Event::Ply { .. } | Event::WantDump));
        if !only_plies || followed.seen != self.seen {
            return false;
        }
        if followed.current.is_none() {
            // A man is in the air: asked again when it stands.
            self.fruitless += 1;
            self.recall = Recall::Idle;
            return false;
        }
        self.fruitless = 0;
        self.drop_ways();
        for mut event in followed.out.drain(..) {
            if let Event::Ply { recorded, .. } = &mut event {
                recorded.at = at;
                self.out.push(event);
            }
        }
        for recorded in &mut followed.record[self.record.len()..] {
            recorded.at = at;
        }
        self.record = followed.record;
        self.history = followed.history;
        self.tree = followed.tree;
        self.tree.shown_by(at);
        self.current = followed.current;
        self.edges.clear();
        true
    }

    /// The place behind the last final position in the memory. The press that closed it tells it
    /// from the same men at another time.
    fn last_final_in(&self, past: &[Remembered]) -> Option<usize> {
        let stood = self.tree.anchor().placement;
        let mut men = self.before_all(past);
        let (mut places, mut presses) = (Vec::new(), Vec::new());
        let last = self.record.last();
        for (index, entry) in past.iter().enumerate() {
            match *entry {
                Remembered::Changed(square, reading) => men[usize::from(square)] = Some(reading),
                Remembered::Fresh => {
                    places.clear();
                    presses.clear();
                }
                Remembered::Pressed(..) => {}
            }
            let fits = |square: Square| {
                men[usize::from(square)].is_none_or(|reading| reading == stood.get(square))
            };
            if Square::ALL.into_iter().all(fits) {
                places.push(index + 1);
                if let (Remembered::Pressed(side, left_s), Some(last)) = (*entry, last)
                    && last.side == side
                {
                    presses.push((index + 1, last.clock_s == Some(left_s)));
                }
            }
        }
        let has_clock = |entry: &Remembered| matches!(entry, Remembered::Pressed(..));
        if last.is_none() || !past.iter().any(has_clock) {
            return places.last().copied();
        }
        let at_that_time = presses.iter().rfind(|(_, same_time)| *same_time);
        match (at_that_time, presses.as_slice()) {
            (Some((place, _)), _) | (None, [(place, _)]) => Some(*place),
            _ => None,
        }
    }

    /// What stood before all that is remembered: known where nothing is remembered of a square.
    fn before_all(&self, past: &[Remembered]) -> [Option<Reading>; 64] {
        let mut men = Square::ALL.map(|square| Some(self.read.get(square)));
        for entry in past {
            if let Remembered::Changed(square, _) = entry {
                men[usize::from(*square)] = None;
            }
        }
        men
    }

    /// The game as it stood at the last final ply.
    fn at_last_final(&self) -> Game {
        let anchor = self.tree.anchor();
        let mut game = Game::new(self.mode, self.limits);
        game.tree = Tree::new(anchor.ground.clone(), anchor.shown);
        game.current = Some(0);
        game.seen = anchor.placement;
        game.read = anchor.placement;
        game.changed = anchor.shown;
        game.record.clone_from(&self.record);
        game.history = self.history.clone();
        game.facts = ClockFacts {
            running: Some(anchor.ground.turn()),
            ..self.facts
        };
        game.stage = Stage::Playing;
        game
    }

    /// Follows what is remembered, at a pace at which nothing is missed.
    fn follow(&mut self, past: &[Remembered]) {
        let mut at = self.changed;
        let mut men: Placement = self.read;
        for entry in past {
            match *entry {
                Remembered::Changed(square, to) => {
                    let from = men.get(square);
                    men.set_reading(square, to);
                    let edge = Edge {
                        at,
                        square,
                        from,
                        to,
                    };
                    self.saw(&[edge], &men, at);
                    at = self.pass_time(at, self.limits.settle_ms);
                }
                Remembered::Pressed(side, left_s) => {
                    self.remembered_press(side, left_s, at);
                    at = self.pass_time(at, AFTER_PRESS_MS);
                }
                Remembered::Fresh => {}
            }
        }
    }

    fn remembered_press(&mut self, side: Side, left_s: u32, at: At) {
        let time = |of: Side, known| if of == side { Some(left_s) } else { known };
        let facts = ClockFacts {
            white_s: time(Side::White, self.facts.white_s),
            black_s: time(Side::Black, self.facts.black_s),
            running: Some(side.other()),
            connected: true,
            ..self.facts
        };
        self.clock(&facts, at);
        self.pressed(side, at);
    }

    fn pass_time(&mut self, from: At, ms: u64) -> At {
        let end = from.plus_ms(ms);
        let mut now = from;
        while let Some(next) = self.wake_at(now).filter(|next| *next <= end) {
            self.tick(next);
            now = next;
        }
        end
    }
}

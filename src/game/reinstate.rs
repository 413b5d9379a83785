//! An arbiter puts the game back to a ply, and says which plies really followed it (Article 7.5.1,
//! reconstruction.md 7.11).

use shakmaty::Move;
use thiserror::Error;

use super::{
    event::{Event, Recorded},
    follow::{Game, Stage},
    ground::Ground,
};
use crate::words::{At, Side};

/// Why a game cannot be put back so.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unreinstated {
    /// There is nothing to put back.
    #[error("no game is on the board")]
    NoGame,
    /// The game never got there.
    #[error("the game has {0} plies")]
    TooFar(usize),
    /// One of the plies that are to follow.
    #[error("ply {ply}: '{said}' is no legal move there")]
    Illegal {
        /// Its number, from 1.
        ply: usize,
        /// What was said.
        said: String,
    },
}

/// A game as it would be after it was put back: [`Game::put_back_to`].
#[derive(Debug, Clone)]
pub struct Reinstated {
    stands: usize,
    follow: Vec<Recorded>,
    anchor: Ground,
}

impl Reinstated {
    /// The position the record would end with.
    pub const fn ground(&self) -> &Ground {
        &self.anchor
    }
}

impl Game {
    /// How the game would be, put back to where it stood after `ply` (0: before the first) with
    /// `moves` to follow, in standard or UCI notation. Plies that were taken back before get their
    /// times again.
    ///
    /// # Errors
    /// When there is no such ply or a move is not legal.
    pub fn reinstated(
        &self,
        ply: u16,
        moves: &[String],
        at: At,
    ) -> Result<Reinstated, Unreinstated> {
        if self.stage == Stage::Setup {
            return Err(Unreinstated::NoGame);
        }
        let stands = usize::from(ply);
        if stands > self.record.len() {
            return Err(Unreinstated::TooFar(self.record.len()));
        }
        let known: Vec<&Recorded> = self.record.iter().chain(&self.taken_back).collect();
        let from = match stands.checked_sub(1) {
            Some(last) => &self.record[last].after,
            None => self.start(),
        };
        let follow = plies_from(from, ply, moves, &known, at)?;
        let anchor = follow.last().map_or(from, |last| &last.after).clone();
        Ok(Reinstated {
            stands,
            follow,
            anchor,
        })
    }

    /// Puts the game back so. Until the men stand as the record says, no ply is read from them.
    pub fn put_back_to(&mut self, to: Reinstated, at: At) {
        self.take_off(to.stands, &to.follow);
        for recorded in to.follow {
            self.put_on(recorded);
        }
        self.stage = Stage::Playing;
        self.forget_the_turn(to.anchor, at);
        self.open = None;
        self.wait_for_men();
    }

    fn take_off(&mut self, stands: usize, follow: &[Recorded]) {
        let said = self
            .record
            .len()
            .max(self.open.map_or(0, |open| open.ply.into()));
        let same = self.record[stands..].iter().zip(follow);
        let same = same.take_while(|(was, is)| was.san == is.san).count();
        if stands + same < self.record.len() {
            self.taken_back = self.record.split_off(stands);
            self.out.push(Event::Retracted {
                back_to: stands as u16,
                reason: "reinstated",
            });
        } else {
            self.record.truncate(stands);
        }
        self.drop_ways();
        // Whatever was told of the plies that fall is settled with them, and so is what was told of
        // the men of this turn.
        let settled = (stands..=said.max(stands)).map(|before| before as u16 + 1);
        self.out.extend(settled.map(|ply| Event::Restored { ply }));
        self.rebuild_history();
    }

    pub(super) fn put_on(&mut self, recorded: Recorded) {
        let history = self.history.clone();
        self.history.note(&recorded);
        self.out.push(Event::Ply {
            late: None,
            edges: Vec::new(),
            history,
            recorded: Box::new(recorded.clone()),
        });
        self.record.push(recorded);
    }

    /// While the men are being put back: whether they stand now.
    pub(super) fn put_back(&mut self) -> bool {
        if self.restoring && self.tree.anchor().placement == self.seen {
            self.restoring = false;
            self.edges.clear();
            // Whatever updates were lost on the way, none is lost of the ply that follows.
            self.patched = None;
        }
        !self.restoring
    }

    /// A press while the men are being put back counts when they stand as after a legal ply of the
    /// presser: they were put right and moved before the board was read.
    pub(super) fn played_on(&mut self, presser: Side, at: At) -> bool {
        let anchor = self.tree.anchor();
        let legal = |(_, after): &(Move, _)| *after == self.seen;
        if self.restoring
            && anchor.ground.turn() == presser
            && anchor.successors().iter().any(legal)
        {
            self.restoring = false;
            self.look(at);
        }
        !self.restoring
    }

    /// From now on the men have to stand as the record says before a ply is read from them.
    pub fn wait_for_men(&mut self) {
        self.restoring = self.tree.anchor().placement != self.seen;
        if self.restoring {
            self.current = None;
        }
    }

    /// The men have to be put back as the record says, and do not stand so yet.
    pub const fn restoring(&self) -> bool {
        self.restoring
    }
}

/// The plies that `moves` are, from the position after `ply` on.
fn plies_from(
    from: &Ground,
    ply: u16,
    moves: &[String],
    known: &[&Recorded],
    at: At,
) -> Result<Vec<Recorded>, Unreinstated> {
    let mut before = from.clone();
    let mut plies = Vec::with_capacity(moves.len());
    for (index, said) in moves.iter().enumerate() {
        let number = ply.saturating_add(index as u16 + 1);
        let fen = before.fen();
        let was = known.iter().rev().find(|was| {
            was.ply == number && same_move(&was.san, &was.uci, said) && was.before.fen() == fen
        });
        let recorded = match was {
            Some(was) => (*was).clone(),
            None => entered(&before, number, said, at).ok_or_else(|| Unreinstated::Illegal {
                ply: number.into(),
                said: said.clone(),
            })?,
        };
        before = recorded.after.clone();
        plies.push(recorded);
    }
    Ok(plies)
}

/// A ply an arbiter says; the clock's time at its press is not known.
fn entered(before: &Ground, ply: u16, said: &str, at: At) -> Option<Recorded> {
    let (mv, _) = before
        .successors()
        .into_iter()
        .find(|&(mv, _)| same_move(&before.san(mv), &before.uci(mv), said))?;
    Some(Recorded {
        ply,
        side: before.turn(),
        mv: Some(mv),
        san: before.san(mv),
        uci: before.uci(mv),
        clock_s: None,
        clock_about: false,
        before: before.clone(),
        after: before.after(mv),
        at,
    })
}

fn same_move(san: &str, uci: &str, said: &str) -> bool {
    let bare = |text: &str| {
        text.trim_end_matches(['+', '#', '!', '?'])
            .replace('0', "O")
    };
    said == san || (!uci.is_empty() && said == uci) || bare(said) == bare(san)
}

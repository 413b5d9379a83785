//! The ordered record of every board of a round, each ply with the moment it was made final. It is
//! what all outputs are cut from, and what is kept on disk so that a delay survives a restart.

use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Chess};

use crate::{
    game::{Ground, Recorded},
    words::GameId,
};

/// Milliseconds since 1970, UTC. Within one run of the daemon it never runs backwards.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Moment(pub u64);

/// A ply of a game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ply {
    /// UCI notation; empty for an irregular ply.
    pub uci: String,
    /// As the record names it; only an irregular ply is shown by this.
    pub san: String,
    /// The mover's time after the press, s.
    pub clock_s: Option<u32>,
    /// FEN after an irregular ply, where the next segment begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// When it became final.
    pub at: Moment,
}

impl Ply {
    fn is(&self, other: &Ply) -> bool {
        (&self.uci, &self.san, &self.after) == (&other.uci, &other.san, &other.after)
    }
}

/// How a game ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// `1-0`, `0-1`, `1/2-1/2`, `0-0`.
    pub score: String,
    /// One word of the contract: `mate`, `kings`, `flag`, ...
    pub by: String,
    /// When it was known.
    pub at: Moment,
}

/// One game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet {
    /// Its name.
    pub game: GameId,
    /// Chess960.
    pub chess960: bool,
    /// FEN of the start.
    pub start: String,
    /// All plies that are final now.
    pub plies: Vec<Ply>,
    /// Once it is over.
    pub ending: Option<Ending>,
    /// How often an arbiter put it right.
    #[serde(default)]
    pub repairs: u32,
}

impl Sheet {
    /// The game as a monitor holds it at `at`. The book knows better when the plies it has seen
    /// before became final.
    pub fn new(
        game: GameId,
        start: &Ground,
        record: &[Recorded],
        ending: Option<(&str, &str)>,
        at: Moment,
    ) -> Sheet {
        let ply = |one: &Recorded| Ply {
            uci: one.uci.clone(),
            san: one.san.clone(),
            clock_s: one.clock_s,
            after: one.mv.is_none().then(|| one.after.fen()),
            at,
        };
        Sheet {
            game,
            chess960: start.mode().is_chess960(),
            start: start.fen(),
            plies: record.iter().map(ply).collect(),
            ending: ending.map(|(score, by)| Ending {
                score: score.to_owned(),
                by: by.to_owned(),
                at,
            }),
            repairs: 0,
        }
    }
}

/// The games of one board in one round, as they came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Games {
    /// In order.
    pub sheets: Vec<Sheet>,
    /// Rises with every change.
    pub rev: u64,
}

impl Games {
    /// Takes the present state of a game in: what was known before keeps its moment. True when
    /// anything changed.
    pub fn take(&mut self, mut new: Sheet) -> bool {
        let Some(old) = self.sheets.iter_mut().find(|old| old.game == new.game) else {
            self.sheets.push(new);
            self.rev += 1;
            return true;
        };
        let same_start = (&old.start, old.chess960) == (&new.start, new.chess960);
        let both = old.plies.iter().zip(&new.plies);
        let common = match same_start {
            true => both.take_while(|(old, new)| old.is(new)).count(),
            false => 0,
        };
        // A finished game is frozen. Only what an arbiter put right, a record that goes the same way (a
        // result taken back), or one that brings a result of its own, is a correction of it.
        let gone = new.plies.is_empty() && !old.plies.is_empty();
        let strays = common < old.plies.len().min(new.plies.len()) || gone;
        let repaired = new.repairs > old.repairs;
        if old.ending.is_some() && new.ending.is_none() && strays && !repaired {
            return false;
        }
        for (new, old) in new.plies[..common].iter_mut().zip(&old.plies) {
            new.at = old.at;
            new.clock_s = new.clock_s.or(old.clock_s);
        }
        if let (Some(new), Some(old)) = (&mut new.ending, &old.ending)
            && new.score == old.score
        {
            new.at = old.at;
        }
        if *old == new {
            return false;
        }
        *old = new;
        self.rev += 1;
        true
    }

    /// Takes an arbiter's word on the result of one of the games in, also of one that was never begun.
    /// True when anything changed.
    pub fn rule(&mut self, game: GameId, chess960: bool, ending: Option<Ending>) -> bool {
        let known = self.sheets.iter().find(|sheet| sheet.game == game);
        let mode = CastlingMode::from_chess960(chess960);
        let sheet = known.cloned().unwrap_or_else(|| Sheet {
            game,
            chess960,
            start: Ground::of(Chess::default(), mode).fen(),
            plies: Vec::new(),
            ending: None,
            repairs: 0,
        });
        self.take(Sheet { ending, ..sheet })
    }
}

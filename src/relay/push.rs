//! What is pushed to a Lichess broadcast round, and what its answer means (relay.md 1.3, 1.5).

use serde::Deserialize;

use super::{
    book::Moment,
    pgn::{self, Clocks, Form},
    profile::Profile,
    round::{Player, Table, tables},
    world::World,
};
use crate::words::BoardNo;

/// Lichess takes no longer body.
pub const MOST_BYTES: usize = 512 * 1024;
/// And no more games.
pub const MOST_GAMES: usize = 100;

/// One push: always the whole round in board order, since a single game may be taken for another
/// board's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Push {
    /// The body.
    pub text: String,
    /// Its games in order, with their plies.
    pub games: Vec<(BoardNo, usize)>,
    /// Boards Lichess would pass over: a side has neither name nor FIDE number, or they are too
    /// many.
    pub left_out: Vec<BoardNo>,
}

/// Writes the push. Clock times go first when it grows too long: of finished games, then of all but
/// the last two plies. `None` when it is too long even so.
pub fn push(world: &World, profile: &Profile, now: Moment) -> Option<Push> {
    let over = |table: &Table<'_>| table.shown.is_some_and(|shown| shown.ending.is_some());
    let named = |player: &Player| player.name.chars().count() > 1 || player.fide_id.is_some();
    let (mut whole, mut left_out): (Vec<_>, Vec<_>) =
        tables(world, profile, now).into_iter().partition(|table| {
            table
                .seat
                .is_some_and(|seat| named(&seat.white) && named(&seat.black))
        });
    left_out.extend(whole.split_off(whole.len().min(MOST_GAMES)));
    let ways: [fn(bool) -> Clocks; 3] = [
        |_| Clocks::All,
        |over| if over { Clocks::Last } else { Clocks::All },
        |_| Clocks::Last,
    ];
    ways.iter().find_map(|way| {
        let mut push = Push {
            left_out: left_out.iter().map(|table| table.board).collect(),
            ..Push::default()
        };
        for table in &whole {
            let clocks = if profile.clocks {
                way(over(table))
            } else {
                Clocks::No
            };
            // Comments are thrown away there.
            let form = Form {
                clocks,
                remarks: false,
            };
            let mut games = pgn::games(&world.event, table, form);
            push.text.push_str(&games.swap_remove(0));
            push.games.push((table.board, pgn::plies(table)));
        }
        (push.text.len() <= MOST_BYTES).then_some(push)
    })
}

/// What Lichess made of one game.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct GameAnswer {
    moves: Option<usize>,
    error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    games: Vec<GameAnswer>,
    error: Option<String>,
}

/// What came of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Taken, but for these boards: what was wrong with each.
    Taken(Vec<(BoardNo, String)>),
    /// Too many requests.
    TooMany,
    /// Nothing was taken, and the same again will not be until somebody does something.
    Refused(String),
    /// It did not come through.
    Failed(String),
}

impl Push {
    /// Reads the answer. A 200 alone is no success.
    pub fn outcome(&self, status: u16, body: &str) -> Outcome {
        let answer: Result<Answer, _> = serde_json::from_str(body);
        let error = answer.as_ref().ok().and_then(|answer| answer.error.clone());
        let said = || error.clone().unwrap_or_else(|| format!("HTTP {status}"));
        match (status, &answer) {
            (429, _) => Outcome::TooMany,
            (200, Ok(answer)) => self.weigh(&answer.games),
            (200, Err(why)) => Outcome::Failed(format!("the answer does not read: {why}")),
            (401 | 403, _) => Outcome::Refused(format!(
                "{}: is the token of a contributor, with study:write?",
                said()
            )),
            (404, _) => Outcome::Refused(format!("{}: there is no such round", said())),
            (400..=499, _) => Outcome::Refused(said()),
            _ => Outcome::Failed(said()),
        }
    }

    fn weigh(&self, games: &[GameAnswer]) -> Outcome {
        let whole = games.len() == self.games.len();
        let errors: Vec<&String> = games
            .iter()
            .filter_map(|game| game.error.as_ref())
            .collect();
        if !self.games.is_empty() && (games.is_empty() || errors.len() == games.len()) {
            let what = errors
                .first()
                .map_or("the answer names no game", |what| what.as_str());
            return Outcome::Refused(what.to_owned());
        }
        if !whole {
            let what = format!(
                "of {} games only {} were looked at",
                self.games.len(),
                games.len()
            );
            return Outcome::Refused(what);
        }
        let wrong = self
            .games
            .iter()
            .zip(games)
            .filter_map(|((board, plies), game)| match (&game.error, game.moves) {
                (Some(what), _) => Some((*board, what.clone())),
                (None, Some(moves)) if moves < *plies => {
                    Some((*board, format!("of {plies} plies {moves} were taken")))
                }
                _ => None,
            });
        Outcome::Taken(wrong.collect())
    }
}

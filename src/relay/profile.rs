//! What one output may show: which boards, how late, with clocks or without.

use std::{collections::BTreeSet, str::FromStr};

use super::book::{Ending, Games, Moment, Ply, Sheet};
use crate::words::BoardNo;

/// A game that was so long is the board's game of the round, whatever is set up afterwards; a
/// shorter one without a result was a false start if another follows.
const REAL_GAME: usize = 10;

/// Boards by number: `1-4,9`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boards(BTreeSet<u16>);

/// A text that is no list of boards.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no list of boards: write it as 1-4,9")]
pub struct BoardsError(String);

impl Boards {
    /// Whether the board is one of them.
    pub fn has(&self, board: BoardNo) -> bool {
        self.0.contains(&board.0)
    }
}

impl FromStr for Boards {
    type Err = BoardsError;

    fn from_str(text: &str) -> Result<Boards, BoardsError> {
        let wrong = || BoardsError(text.to_owned());
        let mut boards = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<u16>().ok().filter(|n| *n > 0);
            let (Some(first), Some(last)) = (number(first), number(last)) else {
                return Err(wrong());
            };
            if first > last {
                return Err(wrong());
            }
            boards.extend(first..=last);
        }
        Ok(Boards(boards))
    }
}

/// What one output may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// These boards; `None`: all.
    pub boards: Option<Boards>,
    /// A ply is shown so long after it became final, ms.
    pub delay_ms: u64,
    /// And when so many plies follow it, or the game is over.
    pub delay_plies: usize,
    /// The boards that are delayed; `None`: the whole round.
    pub delay_boards: Option<Boards>,
    /// Clock times.
    pub clocks: bool,
    /// What was played after an irregular ply, as games of their own.
    pub segments: bool,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile {
            boards: None,
            delay_ms: 0,
            delay_plies: 0,
            delay_boards: None,
            clocks: true,
            segments: true,
        }
    }
}

/// What may be shown of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown<'a> {
    /// The game.
    pub sheet: &'a Sheet,
    /// Its plies as far as they may be seen.
    pub plies: &'a [Ply],
    /// The result, when every move before it is out.
    pub ending: Option<&'a Ending>,
}

impl Profile {
    /// Whether the board stands in this output at all.
    pub fn has(&self, board: BoardNo) -> bool {
        self.boards.as_ref().is_none_or(|boards| boards.has(board))
    }

    /// Whether anything of this board is held back.
    pub fn delays(&self, board: BoardNo) -> bool {
        let meant = self.delay_boards.as_ref();
        (self.delay_ms > 0 || self.delay_plies > 0) && meant.is_none_or(|boards| boards.has(board))
    }

    /// The board's game of the round as it may be shown at `now`: what an undelayed reader saw
    /// `delay_ms` ago (with what was corrected since), less the last plies while the game is on.
    /// `None`: no move of it may be seen.
    pub fn shown<'a>(&self, board: BoardNo, games: &'a Games, now: Moment) -> Option<Shown<'a>> {
        let (delay_ms, held) = match self.delays(board) {
            true => (self.delay_ms, self.delay_plies),
            false => (0, 0),
        };
        // The clock has not run so long: nothing can be old enough.
        let then = Moment(now.0.checked_sub(delay_ms)?);
        let seen = games.sheets.iter().filter_map(|sheet| {
            let out = sheet.plies.iter().take_while(|ply| ply.at <= then).count();
            let ending = sheet.ending.as_ref();
            let ending = ending.filter(|end| end.at <= then && out == sheet.plies.len());
            let shown = match ending {
                Some(_) => out,
                None => out.saturating_sub(held),
            };
            let plies = &sheet.plies[..shown];
            let any = !plies.is_empty() || ending.is_some();
            any.then_some(Shown {
                sheet,
                plies,
                ending,
            })
        });
        let mut last = None;
        for shown in seen {
            if shown.ending.is_some() || shown.plies.len() >= REAL_GAME {
                return Some(shown);
            }
            last = Some(shown);
        }
        last
    }

    /// When more of the board may be shown, if nothing new comes.
    pub fn next_change(&self, board: BoardNo, games: &Games, now: Moment) -> Option<Moment> {
        if !self.delays(board) {
            return None;
        }
        let due = |at: Moment| Moment(at.0.saturating_add(self.delay_ms));
        let sheets = games.sheets.iter();
        let moments = sheets.flat_map(|sheet| {
            let plies = sheet.plies.iter().rev().map(|ply| due(ply.at));
            let ending = sheet.ending.iter().map(|end| due(end.at));
            plies.take_while(|due| *due > now).chain(ending)
        });
        moments.filter(|due| *due > now).min()
    }
}

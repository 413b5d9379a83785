//! A round as one output may show it: the event, and a table for every board.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    book::{Games, Moment},
    profile::{Profile, Shown},
    world::World,
};
use crate::words::BoardNo;

/// What is the same for all boards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Name.
    pub name: String,
    /// Site; `?` when not known.
    pub site: String,
    /// `YYYY.MM.DD`, with `?` for what is not known.
    pub date: String,
    /// Round.
    pub round: String,
    /// As PGN writes it.
    pub time_control: Option<String>,
    /// What the clocks begin with, s.
    pub first_s: Option<u32>,
    /// Chess960.
    pub chess960: bool,
    /// The file the players came from: it is read again when the configuration is.
    pub pairings: Option<PathBuf>,
}

/// A player as the pairings tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Player {
    /// `Family, Given`.
    pub name: String,
    /// `GM`, `WIM`, ...
    pub title: Option<String>,
    /// Rating.
    pub elo: Option<u32>,
    /// FIDE's number; 0: really has none.
    pub fide_id: Option<u32>,
    /// Three letters.
    pub federation: Option<String>,
    /// Team.
    pub team: Option<String>,
}

impl Player {
    /// Nobody told.
    pub const UNKNOWN: Player = Player {
        name: String::new(),
        title: None,
        elo: None,
        fide_id: None,
        federation: None,
        team: None,
    };

    /// A player of whom only the name is known.
    pub fn named(name: impl Into<String>) -> Player {
        Player {
            name: name.into(),
            ..Player::UNKNOWN
        }
    }

    /// No player: the other one has a bye.
    pub fn is_bye(&self) -> bool {
        let name = self.name.trim();
        name.is_empty() || name.eq_ignore_ascii_case("bye")
    }
}

/// Who plays at a board.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seat {
    /// White.
    pub white: Player,
    /// Black.
    pub black: Player,
    /// A result the pairings came with: a forfeit.
    pub result: Option<String>,
}

/// Who plays where.
pub type Seats = BTreeMap<BoardNo, Seat>;

/// One board of a round as it may be shown.
#[derive(Debug, Clone)]
pub struct Table<'a> {
    /// Its number.
    pub board: BoardNo,
    /// Who plays.
    pub seat: Option<&'a Seat>,
    /// What may be shown of the game.
    pub shown: Option<Shown<'a>>,
    /// A move was made, shown or not.
    pub begun: bool,
}

/// The tables of a round in board order: those with players, and those where somebody plays. A bye
/// is no table.
pub fn tables<'a>(world: &'a World, profile: &Profile, now: Moment) -> Vec<Table<'a>> {
    let mut tables: BTreeMap<BoardNo, Table<'a>> = BTreeMap::new();
    let seated = world
        .seats
        .iter()
        .filter(|(_, seat)| !seat.white.is_bye() && !seat.black.is_bye());
    for (board, seat) in seated {
        tables.insert(*board, table(*board, Some(seat)));
    }
    let played = |games: &Games| {
        let mut sheets = games.sheets.iter();
        sheets.any(|sheet| !sheet.plies.is_empty() || sheet.ending.is_some())
    };
    for (board, games) in world.games.iter().filter(|(_, games)| played(games)) {
        // Whether there is a game at a board nobody is paired at is told only once a move is out.
        let shown = profile.shown(*board, games, now);
        if shown.is_some() || tables.contains_key(board) {
            let table = tables.entry(*board).or_insert_with(|| table(*board, None));
            table.shown = shown;
            table.begun = true;
        }
    }
    tables
        .into_values()
        .filter(|table| profile.has(table.board))
        .collect()
}

fn table<'a>(board: BoardNo, seat: Option<&'a Seat>) -> Table<'a> {
    Table {
        board,
        seat,
        shown: None,
        begun: false,
    }
}

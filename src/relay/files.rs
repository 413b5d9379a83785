//! The files of a round, for folders and for readers over HTTP alike.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{
    book::Moment,
    cloud,
    pgn::{self, Clocks, Form},
    profile::Profile,
    round::{Event, Seats, Table, tables},
    world::World,
};
use crate::words::{BoardNo, GameId};

/// Paths with `/`, and what stands in them.
pub type Files = BTreeMap<String, Arc<str>>;

/// The folder of a round: `round-5`. What is no letter, digit or `-` in its name is left out.
pub fn folder(event: &Event) -> String {
    let name = event
        .round
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '-');
    format!("round-{}", name.collect::<String>())
}

/// What a table was written from; the same again gives the same again.
#[derive(Debug, PartialEq, Eq)]
struct Stand {
    game: Option<GameId>,
    rev: u64,
    plies: usize,
    over: bool,
    begun: bool,
    serial: Option<String>,
}

/// A table, written.
#[derive(Debug)]
struct Sheets {
    stand: Stand,
    pgn: Vec<Arc<str>>,
    json: Arc<str>,
}

/// Writes the files of all rounds anew where something changed, and remembers the rest.
#[derive(Debug, Default)]
pub struct Printer(HashMap<String, Press>);

impl Printer {
    /// The files as this profile may show them at `now`.
    pub fn print(&mut self, world: &World, profile: &Profile, now: Moment) -> Files {
        let mut files = Files::new();
        let mut rounds = Vec::new();
        for round in world.rounds() {
            let tables = tables(round, profile, now);
            let press = self.0.entry(folder(&round.event)).or_default();
            press.print(round, profile, &tables, &mut files);
            rounds.push((round, tables));
        }
        let tournament = cloud::tournament(&rounds).to_string();
        files.insert("tournament.json".to_owned(), tournament.into());
        files
    }
}

/// The same for one round.
#[derive(Debug, Default)]
struct Press {
    event: Arc<Event>,
    seats: Arc<Seats>,
    done: HashMap<BoardNo, Sheets>,
}

impl Press {
    fn print(&mut self, world: &World, profile: &Profile, tables: &[Table<'_>], files: &mut Files) {
        if !Arc::ptr_eq(&self.event, &world.event) || !Arc::ptr_eq(&self.seats, &world.seats) {
            self.done.clear();
            self.event = Arc::clone(&world.event);
            self.seats = Arc::clone(&world.seats);
        }
        let folder = folder(&world.event);
        let mut whole = String::new();
        let mut further = String::new();
        for (place, table) in (1..).zip(tables) {
            let sheets = self.table(world, profile, table);
            let board = table.board;
            for (part, pgn) in sheets.pgn.iter().enumerate() {
                let letter = match part {
                    0 => String::new(),
                    1..=25 => char::from(b'a' + part as u8).to_string(),
                    _ => format!("-part{part}"),
                };
                files.insert(
                    format!("{folder}/game-{board}{letter}.pgn"),
                    Arc::clone(pgn),
                );
                // Behind all boards: readers that go by the order find each game in its place.
                if part == 0 { &mut whole } else { &mut further }.push_str(pgn);
            }
            files.insert(
                format!("{folder}/game-{place}.json"),
                Arc::clone(&sheets.json),
            );
        }
        whole.push_str(&further);
        files.insert(format!("{folder}/games.pgn"), whole.into());
        let index = cloud::index(&world.event, tables).to_string();
        files.insert(format!("{folder}/index.json"), index.into());
    }

    fn table(&mut self, world: &World, profile: &Profile, table: &Table<'_>) -> &Sheets {
        let stand = Stand {
            game: table.shown.map(|shown| shown.sheet.game.clone()),
            rev: world.games.get(&table.board).map_or(0, |games| games.rev),
            plies: table.shown.map_or(0, |shown| shown.plies.len()),
            over: table.shown.is_some_and(|shown| shown.ending.is_some()),
            begun: table.begun,
            serial: world.serials.get(&table.board).cloned(),
        };
        if self
            .done
            .get(&table.board)
            .is_none_or(|done| done.stand != stand)
        {
            let form = Form {
                clocks: if profile.clocks {
                    Clocks::All
                } else {
                    Clocks::No
                },
                remarks: true,
            };
            let mut pgn = pgn::games(&world.event, table, form);
            if !profile.segments {
                pgn.truncate(1);
            }
            let json = cloud::game(world, table, profile.clocks).to_string();
            let sheets = Sheets {
                stand,
                pgn: pgn.into_iter().map(Arc::from).collect(),
                json: json.into(),
            };
            self.done.insert(table.board, sheets);
        }
        &self.done[&table.board]
    }
}

//! The relay's record on disk: a folder for each round, in it `round.json` (event and players) and a
//! file for every board. A delay goes on behind a restart by it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{
    book::{Games, Moment},
    files,
    folder::replace,
    round::{Event, Seats},
    world::{Book, World},
};
use crate::words::BoardNo;

/// What was made final longer ago is of another event, ms. No round lasts so long.
const OLDEST_MS: u64 = 36 * 60 * 60 * 1000;
/// Event and players of a round.
const ROUND: &str = "round.json";

/// The folder of records.
#[derive(Debug, Clone)]
pub(super) struct Store(pub(super) PathBuf);

#[derive(Debug, Default, Serialize, Deserialize)]
struct Head {
    event: Event,
    seats: Seats,
}

impl Store {
    fn dir(&self, event: &Event) -> PathBuf {
        self.0.join(files::folder(event))
    }

    /// What was kept of a round that is played now. A record of long ago is put aside.
    pub(super) fn games(&self, event: &Event, now: Moment) -> Book {
        let dir = self.dir(event);
        let games = boards(&dir);
        let Some(newest) = newest(&games).filter(|newest| !fresh(*newest, now)) else {
            return games;
        };
        let aside = self
            .0
            .join(format!("{}-{}", files::folder(event), newest.0));
        match fs::rename(&dir, &aside) {
            Ok(()) => tracing::info!(record = %aside.display(), "a round of long ago is put aside"),
            Err(why) => tracing::error!(record = %dir.display(), %why, "a round of long ago stays"),
        }
        Book::new()
    }

    /// The rounds before this one that may still say something, oldest first.
    pub(super) fn past(&self, event: &Event, now: Moment) -> Vec<World> {
        let mut past = Vec::new();
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let dir = entry.path();
            let head = dir.join(ROUND);
            if dir == self.dir(event) || !head.exists() {
                continue;
            }
            let games = boards(&dir);
            let newest = newest(&games).filter(|newest| fresh(*newest, now));
            if let (Some(newest), Some(Head { event, seats })) = (newest, read(&head)) {
                let world = World {
                    event: Arc::new(event),
                    seats: Arc::new(seats),
                    games,
                    ..World::default()
                };
                past.push((newest, world));
            }
        }
        past.sort_by_key(|(newest, _)| *newest);
        past.into_iter().map(|(_, world)| world).collect()
    }

    /// Keeps event and players of a round.
    pub(super) fn keep_round(&self, event: &Event, seats: &Seats) -> io::Result<()> {
        let head = Head {
            event: event.clone(),
            seats: seats.clone(),
        };
        let text = serde_json::to_string(&head).map_err(io::Error::other)?;
        replace(&self.dir(event).join(ROUND), text.as_bytes())
    }

    /// Keeps the games of a board.
    pub(super) fn keep_board(
        &self,
        event: &Event,
        board: BoardNo,
        games: &Games,
    ) -> io::Result<()> {
        let text = serde_json::to_string(games).map_err(io::Error::other)?;
        let path = self.dir(event).join(format!("board-{board}.json"));
        replace(&path, text.as_bytes())
    }
}

/// When something was last known of these games.
fn newest(games: &Book) -> Option<Moment> {
    let sheets = games.values().flat_map(|games| &games.sheets);
    let moments = sheets.flat_map(|sheet| {
        let ended = sheet.ending.iter().map(|ending| ending.at);
        sheet.plies.iter().map(|ply| ply.at).chain(ended)
    });
    moments.max()
}

fn fresh(newest: Moment, now: Moment) -> bool {
    newest.0.saturating_add(OLDEST_MS) > now.0
}

/// A file that does not read is left alone until it is written again.
fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Option<T> {
    let read = fs::read(path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    let tell = |why: &io::Error| {
        let path = path.display();
        tracing::error!(%path, %why, "a record of the relay does not read");
    };
    read.inspect_err(tell).ok()
}

fn boards(dir: &Path) -> Book {
    let mut games = Book::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name
            .strip_prefix("board-")
            .and_then(|rest| rest.strip_suffix(".json"));
        let Some(number) = number.and_then(|number| number.parse().ok()) else {
            continue;
        };
        if let Some(one) = read::<Games>(&entry.path()) {
            games.insert(BoardNo(number), Arc::new(one));
        }
    }
    games
}

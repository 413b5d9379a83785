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
    world::Book,
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
        let plies = games.values().flat_map(|games| &games.sheets);
        let newest = plies.flat_map(|sheet| sheet.plies.iter().map(|ply| ply.at));
        let Some(newest) = newest.max() else {
            return games;
        };
        if newest.0.saturating_add(OLDEST_MS) > now.0 {
            return games;
        }
        let aside = self
            .0
            .join(format!("{}-{}", files::folder(event), newest.0));
        match fs::rename(&dir, &aside) {
            Ok(()) => tracing::info!(record = %aside.display(), "a round of long ago is put aside"),
            Err(why) => tracing::error!(record = %dir.display(), %why, "a round of long ago stays"),
        }
        Book::new()
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

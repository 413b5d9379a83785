//! Small words shared by every room: board numbers, game names, moments.

mod time_control;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use time_control::{NoTimeControl, TimeControl};

/// Which side of the game: White or Black.
pub type Side = shakmaty::Color;

/// A moment in milliseconds on the monotonic clock of one boot of the daemon (or of a replayed
/// journal). The core never asks for the time; it is told.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct At(pub u64);

impl At {
    /// This moment plus so many milliseconds.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> At {
        At(self.0.saturating_add(ms))
    }

    /// Milliseconds since an earlier moment; zero when `earlier` lies ahead.
    pub const fn ms_since(self, earlier: At) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The number of a board in the hall, from 1.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct BoardNo(pub u16);

impl fmt::Display for BoardNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Name of one game: `<round>.<board>`, with a letter behind it for a second game on the same
/// board in the same round (`5.3`, `5.3b`). Never contains a player's name.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct GameId(pub String);

impl GameId {
    /// The round's name.
    pub fn round(&self) -> &str {
        self.0.rsplit_once('.').map_or("", |(round, _)| round)
    }

    /// The board; `None` when this is no game's name.
    pub fn board(&self) -> Option<u16> {
        let (_, rest) = self.0.rsplit_once('.')?;
        let digits = rest.find(|c: char| !c.is_ascii_digit());
        rest[..digits.unwrap_or(rest.len())].parse().ok()
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The names of the sides, for the contract's schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", rename = "Side")]
pub enum SideName {
    /// White.
    White,
    /// Black.
    Black,
}

/// The name of a side as it stands in payloads: `white` or `black`.
pub const fn side_name(side: Side) -> &'static str {
    match side {
        Side::White => "white",
        Side::Black => "black",
    }
}

/// Seconds as a clock shows them: `1:23:45`.
pub fn clock_text(seconds: u32) -> String {
    format!(
        "{}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

//! Virtual DGT boards that play real games: the same bytes a real board sends, over ptys or in
//! memory. Shares nothing with the rooms that read boards except the protocol itself, so that a
//! mistake in one is not repeated in the other.

mod bus;
mod clock;
mod event_memory;
mod games;
mod hands;
mod mishap;
mod noise;
mod past;
mod player;
mod pty;
mod scan;
mod session;
#[cfg(test)]
mod tests;
mod truth;
mod virtual_board;
mod wire;

pub use bus::Bus;
pub use clock::Clock;
pub use games::{GamesError, PlannedGame, PlannedPly, parse_games, read_games};
pub use noise::{Noise, UnknownNoise};
pub use pty::{Error, Options, PtyBoard, Summary, run, run_boards};
pub use session::Session;
pub use truth::{Truth, TruthEvent};
pub use virtual_board::VirtualBoard;

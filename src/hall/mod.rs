//! The wiring: settings, pairings, clocks, and which board is at which port.

mod gate;
mod herald;
mod now;
mod orders;
pub mod pairings;
mod plan;
pub mod probe;
mod relays;
mod serve;
pub mod settings;
mod watch;

pub use now::Clock;
pub use pairings::{Pairing, Pairings, PairingsError};
pub use plan::{Plan, Plans};
pub use relays::{RelayDesk, RelayError, target, token_file};
pub use serve::{Hall, Login, ServeError, login, serve_page};
pub use settings::{Settings, SettingsError, Sources};
pub use watch::{Desk, Left, Post, Told, watch};

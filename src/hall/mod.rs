//! The wiring: settings, pairings, clocks, and which board is at which port.

mod bus;
mod gate;
mod herald;
mod lookout;
mod now;
mod orders;
pub mod pairings;
mod plan;
mod ports;
pub mod probe;
mod relays;
mod seek;
mod serve;
pub mod settings;
mod watch;

pub use bus::{Buses, Seat};
pub use lookout::Lookout;
pub use now::Clock;
pub use pairings::{Pairing, Pairings, PairingsError};
pub use plan::{Plan, Plans};
pub use ports::{Port, Ports, PortsError};
pub use relays::{RelayDesk, RelayError, target, token_file};
pub use seek::{Held, Seeker};
pub use serve::{Hall, Login, ServeError, login, serve_page};
pub use settings::{Settings, SettingsError, Sources};
pub use watch::{Desk, Left, Post, Told, Way, watch};

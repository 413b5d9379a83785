//! The wiring: settings, pairings, clocks, and which board is at which port.

mod bus;
mod gate;
mod herald;
mod lookout;
mod metrics;
mod now;
mod orders;
mod outside;
pub mod pairings;
mod plan;
mod ports;
pub mod probe;
mod pulse;
mod relays;
mod seek;
mod serve;
pub mod settings;
mod watch;

pub use bus::{Buses, Seat};
pub use lookout::Lookout;
pub use metrics::{Meter, Metrics};
pub use now::{Clock, Stopwatch};
pub use outside::{OutsideError, View};
pub use pairings::{Pairing, Pairings, PairingsError};
pub use plan::{Plan, Plans};
pub use ports::{Port, Ports, PortsError};
pub use pulse::{Beat, Pulse, Standing};
pub use relays::{RelayDesk, RelayError, address as relay_address, depot, target, token_file};
pub use seek::{Held, Seeker};
pub use serve::{Hall, Login, ServeError, broker_tls, login, serve_page};
pub use settings::{Settings, SettingsError, Sources};
pub use watch::{Desk, Left, Post, Told, Way, watch};

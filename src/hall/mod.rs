//! The wiring: settings, pairings, clocks, and which board is at which port.

mod now;
pub mod pairings;
pub mod probe;
pub mod settings;

pub use now::Clock;
pub use pairings::{Pairing, Pairings, PairingsError};
pub use settings::{Settings, SettingsError, Sources};

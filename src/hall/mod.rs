//! The wiring: settings, pairings and clocks.

mod now;
pub mod pairings;
pub mod settings;

pub use now::Clock;
pub use pairings::{Pairing, Pairings, PairingsError};
pub use settings::{Settings, SettingsError, Sources};

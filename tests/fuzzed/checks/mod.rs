//! What must hold of any bytes, reader by reader. The fuzz targets (`tests/fuzz`) and their twins in
//! `cargo test` (`tests/fuzzed`) call the same functions: each takes bytes, and panics when something
//! is not so.
#![allow(dead_code, reason = "each fuzz target calls one")]

mod bytes;
mod commands;
mod configuration;
mod frames;
mod journal;
mod pairings;
mod reconstruction;
mod table;

pub use commands::commands;
pub use configuration::configuration;
pub use frames::frames;
pub use journal::journal;
pub use pairings::{csv, pgn, trf};
pub use reconstruction::reconstruction;

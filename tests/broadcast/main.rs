//! The broadcast, end to end: from the men on a board to everything the public sees.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod corrections;
mod hall;
mod leaks;
mod public;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/table.rs"]
mod table;

//! What goes out of the house: legal for every reader, and never before its time.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod far;
mod folder;
mod http;
mod leaks;
mod lichess;
mod livechess;
mod played;
mod readers;
mod servers;
mod standing;
#[path = "../support/mod.rs"]
mod support;
mod times;

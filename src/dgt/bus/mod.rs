//! Several boards on one line, each called by its number (protocol sections 2.3, 3.3 and 4.3). Pure.
//!
//! Boards on a bus say nothing unless asked. The [`Master`] asks them in turn and turns what they answer
//! into the messages of a board that has the line for itself, so that nothing behind it need know.

mod master;
mod wire;

pub use master::{Event, Master};
pub use wire::{ALL, Body, Call, Frames, Reply};

//! The record of one game: candidate continuations that explain what was seen, plies that are
//! final, and the placements no legal ply explains. Pure.
//!
//! [`Game`] is the follower; [`Ground`] is a position, legal or not, from which it looks ahead.

mod catch_up;
mod doubt;
mod event;
mod follow;
mod ground;
mod history;
mod join;
mod landings;
mod looks;
pub mod pgn;
mod press;
mod recall;
mod reinstate;
mod reply;
mod ruling;
mod start;
mod tree;

pub use event::{Case, Event, Limits, Recorded};
pub use follow::{Game, Stage};
pub use ground::Ground;
pub use history::History;
pub use join::quarter_turned;
pub use reinstate::{Reinstated, Unreinstated};
pub use ruling::ADOPTED;
pub use start::{is_start_array, shown_result};

//! Names the rule that broke, how sure that is, and the remedy. Pure.

mod castling;
mod catalogue;
mod en_passant;
mod finding;
mod geometry;
mod hints;
mod judge;
mod turn;

pub use catalogue::{Code, UnknownCode};
pub use finding::{Certainty, Finding, Instead};
pub use hints::hints;
pub use judge::{judge, late_placement, out_of_turn};
pub use turn::{Edge, Past, Stand, Turn};

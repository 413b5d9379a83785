//! What the sensors say: placement, orientation, clock facts, doubt. Pure.

mod placement;

pub use placement::{Placement, Reading};

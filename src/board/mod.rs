//! What the sensors say: placement, orientation, clock facts, doubt. Pure.
//!
//! [`Sensors`] folds the board's messages into one [`Placement`] with White at the bottom;
//! [`ClockWatch`] folds its clock messages into who runs, who pressed, and how much is left.

mod clock;
mod memory;
mod placement;
mod sensors;

pub use clock::{ClockChange, ClockFacts, ClockSide, ClockWatch, UnknownClockSide};
pub use memory::{Remembered, remembered};
pub use placement::{Placement, Reading};
pub use sensors::{Edge, Sensors};

//! The DGT single-board serial protocol: bytes to messages and back. Pure; never fails, only skips
//! and counts.

mod clock;
mod message;

pub use clock::{ClockAck, ClockMessage, ClockTimes, Hand, HandTime};
pub use message::{Battery, Message};

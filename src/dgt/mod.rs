//! The DGT serial protocol, one board on a line or several on a bus: bytes to messages and back. Pure;
//! never fails, only skips and counts.

pub mod bus;
mod clock;
mod command;
mod frame;
mod memory;
mod message;
mod square;

pub use clock::{ClockAck, ClockMessage, ClockTimes, Hand, HandTime};
pub use command::{ClockCommand, Command, Request};
pub use frame::Frames;
pub use memory::{Entry, entries};
pub use message::{Battery, Message};
pub use square::{physical_of, square_of};

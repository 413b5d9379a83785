//! What an arbiter must look at: alerts with a life cycle. Pure.

mod alert;
mod book;

pub use alert::{Alert, AlertChange, ClockAt, Level, Remedy, Status, Window};
pub use book::{Book, alert_id};

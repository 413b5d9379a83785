//! What an arbiter must look at: alerts with a life cycle. Pure.

mod alert;

pub use alert::{Alert, AlertChange, ClockAt, Level, Remedy, Status, Window};

//! What an arbiter must look at: alerts with a life cycle, and what arbiters say to them. Pure.

mod alert;
mod answers;
mod book;
mod order;

pub use alert::{
    Alert, AlertChange, Care, ClockAt, Level, Note, Outcome, Reason, Remedy, Status, Window,
};
pub use answers::{Answer, Answers};
pub use book::{Book, Rules, Said, alert_id};
pub use order::{How, MAX_NOTE, MAX_ORDER, Order, Refusal, VERBS, Verb};

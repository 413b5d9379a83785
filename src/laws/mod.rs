//! Names the rule that broke, how sure that is, and the remedy. Pure.

mod catalogue;
mod finding;

pub use catalogue::{Code, UnknownCode};
pub use finding::{Certainty, Finding, Instead};

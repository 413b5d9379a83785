//! Names the rule that broke, how sure that is, and the remedy. Pure.

mod finding;

pub use finding::{Certainty, Finding, Instead};

/// The rows of the catalogue, by their code in kebab-case (`king-left-in-check`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(&'static str);

//! Names the rule that broke, how sure that is, and the remedy. Pure.

mod castling;
mod catalogue;
mod en_passant;
mod explain;
mod finding;
mod geometry;
mod hints;
mod impossible;
mod judge;
mod log;
mod mate;
mod remedy;
mod rows;
mod terms;
mod turn;

pub use catalogue::{Code, UnknownCode};
pub use explain::{Lang, UnknownLang, describe, explain, notation, surety};
pub use finding::{Certainty, Finding, Instead};
pub use hints::hints;
pub use impossible::{Proof, Reason, from_anchor, impossible, unplayable};
pub use judge::{judge, late_placement, not_completed, out_of_turn};
pub use log::{brought_about, is_dead};
pub use mate::{Answer, CanMate, can_mate, cannot_mate};
pub use remedy::remedy;
pub use rows::{Counts, Edition, Row, UnknownEdition, Witness, Words};
pub use terms::{Regime, Rulings, Terms, UnknownRegime};
pub use turn::{Past, Stand, Turn};

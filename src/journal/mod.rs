//! The log of truth: every byte and event with its time, appended, and played again (design.md 5).
//!
//! A segment is a file of records, each with its length and checksum. Power may fail at any byte:
//! what was synced is read again whatever follows it, and a torn or flipped record costs itself
//! alone (operations.md 2.5). A database would give queries nobody asks for here, and a file that
//! one bad page makes unreadable.

mod entry;
mod inbytes;
mod reader;
mod replay;
mod segments;
mod told;
mod writer;

pub use entry::{Entry, Kind};
pub use inbytes::{InbytesError, read_inbytes};
pub use reader::{Damage, Records, is_segment};
pub use replay::{Replay, Replayed};
pub use segments::{JournalError, last_seqs, segments};
pub use told::told;
pub use writer::{Health, Journal, JournalThread};

//! The log that is the truth: every byte read, every command, with its time. What the daemon knows
//! can be worked out from it again, bit for bit.
//!
//! **Why files of our own.** The journal is only ever appended to and read from start to end. Records
//! with a checksum, one behind another, are the whole need: a crash can hurt nothing but the end of
//! the newest file, and a reader steps over a bad sector. A database (SQLite with `synchronous=FULL`)
//! would write each page twice, check no checksums unless told to, and can be lost whole; it would give
//! queries and transactions that nobody here asks for.
//!
//! **What is on disk when.** `append` puts the record into a queue and returns. A thread writes what
//! has gathered and calls `fdatasync`, at most every 20 ms: one sync costs 0.2 ms on a good disk but
//! tens on an SD card, and 700 blitz boards give 233 plies a second. After a power cut at most those
//! last milliseconds are gone. Who must know that a thing is safe (before an alert is published, at
//! the stop) waits for [`Journal::flushed`], which also cuts the pause short.
//!
//! **When the disk fails** the daemon goes on: records wait in memory, in order, and the fault is told
//! in [`Health`]. After a failed sync the kernel may have thrown the pages away, so the same file is
//! never tried again: what was not safe is written once more, to a new segment.
//!
//! **Segments** are `atalaya-<time>-<n>.atj`: [`MAGIC`], then records (their bytes: [`Entry`]), the
//! first of which are [`Kind::Seqs`] and [`Kind::Cuts`]. `n` gives the order, not the time, for a small computer without
//! a battery may wake up in 1970. A segment is never touched again once another is begun.

mod begun;
mod entry;
mod files;
mod inbytes;
mod past;
mod queue;
mod reader;
mod recover;
mod replay;
mod segment;
mod stub;
mod told;
mod writer;

pub use entry::{Cuts, DAEMON, DecodeError, EncodeError, Entry, Kind, MAX_PAYLOAD, Seqs};
pub use files::{FileError, History, segments};
pub use inbytes::{InbytesError, read_inbytes};
pub use past::Past;
pub use queue::{Flushed, NotOnDisk};
pub use reader::{Found, MAGIC, Reader};
pub use recover::recover;
pub use replay::{Rebuilt, Replay, Replayed, Undelivered};
pub use stub::{Journal, JournalThread, OpenError};
pub use told::told;
pub use writer::{Figures, Health, Limits};

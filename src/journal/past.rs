//! What the end of a journal says of all of it: how far the numbers and the time went, and where each
//! running game begins.

use std::path::Path;

use super::{
    entry::{Cuts, Entry, Kind, Seqs},
    files::{FileError, read, segments},
    reader::Found,
};
use crate::words::At;

/// How far a journal went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Past {
    /// The last sequence number of each board.
    pub seqs: Seqs,
    /// Where each board's running game begins.
    pub cuts: Cuts,
    /// The last moment.
    pub at: At,
}

impl Past {
    /// Reads only as far back as the newest segment whose head is whole, for that one tells what was
    /// before it. What is damaged there is logged.
    ///
    /// # Errors
    ///
    /// When the folder or a segment cannot be read.
    pub fn read(dir: &Path) -> Result<Past, FileError> {
        let mut past = Past::default();
        for path in segments(dir)?.into_iter().rev() {
            let mut headed = false;
            for found in read(&path)? {
                match found {
                    Found::Entry(entry) => {
                        headed |= matches!(entry.kind, Kind::Seqs(_));
                        past.note(&entry);
                    }
                    other => tracing::warn!("{}: {other}", path.display()),
                }
            }
            if headed {
                break;
            }
        }
        Ok(past)
    }

    /// Takes one entry in.
    pub(super) fn note(&mut self, entry: &Entry) {
        self.at = self.at.max(entry.at);
        match &entry.kind {
            Kind::Seqs(seqs) => self.raise(seqs),
            Kind::Cuts(cuts) => {
                for (&board, &cut) in cuts {
                    let known = self.cuts.entry(board).or_insert(cut);
                    *known = cut.max(*known);
                }
            }
            kind => {
                self.raise(&Seqs::from([(entry.board, entry.seq)]));
                if matches!(kind, Kind::Cut(_)) {
                    let known = self.cuts.entry(entry.board).or_default();
                    *known = (entry.seq, entry.wall).max(*known);
                }
            }
        }
    }

    /// Takes the higher number of each board.
    fn raise(&mut self, seqs: &Seqs) {
        for (&board, &seq) in seqs {
            let known = self.seqs.entry(board).or_default();
            *known = seq.max(*known);
        }
    }

    /// Takes in what came later.
    pub(super) fn append(&mut self, later: &Past) {
        self.at = self.at.max(later.at);
        self.raise(&later.seqs);
        self.cuts.extend(&later.cuts);
    }
}

//! What the end of a journal says of all of it: how far the numbers and the time went, and where the
//! games begin that are still needed.

use std::{collections::BTreeMap, path::Path};

use jiff::Timestamp;

use super::{
    begun::Begun,
    entry::{Cuts, Entry, Kind, Seqs},
    files::{FileError, read, segments},
    reader::Found,
};
use crate::words::{At, BoardNo};

/// How far a journal went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Past {
    /// The last sequence number of each board.
    pub seqs: Seqs,
    /// The last moment.
    pub at: At,
    begun: BTreeMap<BoardNo, Begun>,
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
            Kind::Seqs(seqs) => {
                self.raise(seqs);
                // Any of it may have been told.
                for (&board, &seq) in seqs {
                    self.begun(board).told(seq);
                }
            }
            Kind::Cuts(cuts) => {
                for (&board, &(seq, wall)) in cuts {
                    self.begun(board).cut(seq, wall);
                }
            }
            kind => {
                self.raise(&Seqs::from([(entry.board, entry.seq)]));
                self.note_words(kind, entry);
            }
        }
    }

    fn note_words(&mut self, kind: &Kind, entry: &Entry) {
        match kind {
            Kind::Cut(_) => self.begun(entry.board).cut(entry.seq, entry.wall),
            Kind::Told(_) => self.begun(entry.board).told(entry.seq),
            Kind::Delivered(seqs) => {
                for (&board, &seq) in seqs {
                    self.begun(board).delivered(seq);
                }
            }
            _ => {}
        }
    }

    fn begun(&mut self, board: BoardNo) -> &mut Begun {
        self.begun.entry(board).or_default()
    }

    /// From where each board's entries must be read, so that the running game and all that the broker
    /// may not have can be told again; games begun before `not_before` are over and done with.
    pub fn needed(&self, not_before: Timestamp) -> Cuts {
        self.cuts(|begun| begun.first(not_before))
    }

    /// Where each board's running game begins.
    pub fn running(&self) -> Cuts {
        self.cuts(Begun::last)
    }

    fn cuts(&self, choose: impl Fn(&Begun) -> Option<(u64, Timestamp)>) -> Cuts {
        let boards = self.begun.iter();
        boards
            .filter_map(|(board, begun)| Some((*board, choose(begun)?)))
            .collect()
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
        for (board, begun) in &later.begun {
            self.begun(*board).append(begun);
        }
    }
}

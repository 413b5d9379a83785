//! The folder of segments.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    entry::Kind,
    reader::{Records, is_segment},
};
use crate::words::BoardNo;

/// Why the journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}; give journal.dir a folder this user may write")]
pub struct JournalError {
    /// Which file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl JournalError {
    pub(super) fn of(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
        let path = path.to_owned();
        move |source| JournalError { path, source }
    }
}

/// The segments of a folder, oldest first; none when there is no folder.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn segments(dir: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(JournalError::of(dir)(why)),
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "atj"))
        .collect();
    // The names begin with the wall clock in digits, then a number: text order is time order.
    found.sort();
    Ok(found)
}

/// The highest number each board has used. Only segments back to the last start of the daemon are
/// read: each start notes every board.
///
/// # Errors
/// When a segment cannot be read.
pub fn last_seqs(dir: &Path) -> Result<BTreeMap<BoardNo, u64>, JournalError> {
    let mut highest = BTreeMap::new();
    for path in segments(dir)?.iter().rev() {
        let bytes = fs::read(path).map_err(JournalError::of(path))?;
        if !is_segment(&bytes) {
            continue;
        }
        let mut booted = false;
        for entry in Records::new(&bytes).flatten() {
            booted |= matches!(entry.kind, Kind::Boot { .. });
            let seq = highest.entry(entry.board).or_insert(entry.seq);
            *seq = entry.seq.max(*seq);
        }
        if booted {
            break;
        }
    }
    Ok(highest)
}

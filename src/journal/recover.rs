//! The boards of a journal as they stood when the daemon ended, however it ended.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
};

use jiff::{SignedDuration, Timestamp};

use super::{
    entry::{Cuts, Kind, Seqs},
    files::{FileError, History, read, segments},
    past::Past,
    reader::Found,
    replay::{Rebuilt, Replay},
};
use crate::words::BoardNo;

/// A game that began longer ago is over, whatever the journal says. Only a label's age, but no round
/// lasts so long and no clock is so wrong for long.
const OLDEST: SignedDuration = SignedDuration::from_hours(36);

/// Plays every running game of the journal again from its beginning, and those before it of which the
/// broker may not have everything: what is given is each board's monitor as it was, and what it told
/// that has no acknowledgement. `wall` is now.
///
/// A board whose replay tells something else than was told then (another version of Atalaya, a damaged
/// journal) is logged, and goes on from what is told now.
///
/// # Errors
/// When the folder or a segment cannot be read.
pub fn recover(
    dir: &Path,
    past: &Past,
    wall: Timestamp,
) -> Result<BTreeMap<BoardNo, Rebuilt>, FileError> {
    let cuts = past.needed(wall.saturating_sub(OLDEST).unwrap_or(Timestamp::MIN));
    let segments = needed(segments(dir)?, &cuts)?;
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (cuts, segments) = (&cuts, &segments);
        let threads: Vec<_> = (0..workers)
            .map(|worker| scope.spawn(move || share(segments, cuts, worker, workers)))
            .collect();
        let mut boards = BTreeMap::new();
        for thread in threads {
            match thread.join() {
                Ok(part) => boards.extend(part?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(boards)
    })
}

/// The segments from the one on in which the oldest running game begins.
fn needed(mut segments: Vec<PathBuf>, cuts: &Cuts) -> Result<Vec<PathBuf>, FileError> {
    if cuts.is_empty() {
        return Ok(Vec::new());
    }
    for first in (0..segments.len()).rev() {
        let before = head(&segments[first])?;
        let all_behind = |seqs: Seqs| {
            cuts.iter()
                .all(|(board, (seq, _))| seqs.get(board).is_none_or(|last| last < seq))
        };
        if before.is_some_and(all_behind) {
            return Ok(segments.split_off(first));
        }
    }
    Ok(segments)
}

/// What was on disk before this segment, when its head is whole.
fn head(path: &Path) -> Result<Option<Seqs>, FileError> {
    Ok(match read(path)?.next() {
        Some(Found::Entry(entry)) => match entry.kind {
            Kind::Seqs(seqs) => Some(seqs),
            _ => None,
        },
        _ => None,
    })
}

/// Every `workers`-th board.
fn share(
    segments: &[PathBuf],
    cuts: &Cuts,
    worker: usize,
    workers: usize,
) -> Result<BTreeMap<BoardNo, Rebuilt>, FileError> {
    let mut replay = Replay::new();
    let mut history = History::new(segments.to_vec());
    // What is wrong in the newest, behind which ours was begun, was said when it was opened.
    let older = &segments[..segments.len().saturating_sub(2)];
    while let Some(found) = history.next() {
        let entry = match found? {
            Found::Entry(entry) => entry,
            damage => {
                let path = history.path();
                if worker == 0 && older.iter().any(|older| older == path) {
                    tracing::warn!("{}: {damage}", path.display());
                }
                continue;
            }
        };
        let ours = usize::from(entry.board.0) % workers == worker;
        let begun = |(seq, _): &(u64, Timestamp)| entry.seq >= *seq;
        if matches!(entry.kind, Kind::Delivered(_))
            || ours && cuts.get(&entry.board).is_some_and(begun)
        {
            replay.entry(&entry);
        }
    }
    for difference in replay.differences() {
        tracing::warn!("the journal played again: {difference}");
    }
    Ok(replay.into_boards())
}

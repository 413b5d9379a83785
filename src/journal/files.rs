//! The segments of a folder, in order, and what stands in them.

use std::{
    collections::VecDeque,
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    entry::{Kind, Seqs},
    reader::{Found, Reader},
};

/// A folder or segment cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}; check that it exists and that Atalaya may read it", path.display())]
pub struct FileError {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// All segments in a folder, oldest first.
///
/// # Errors
///
/// When the folder cannot be read.
pub fn segments(dir: &Path) -> Result<Vec<PathBuf>, FileError> {
    let numbered = list(dir).map_err(|source| FileError {
        path: dir.to_owned(),
        source,
    })?;
    Ok(numbered.into_iter().map(|(_, path)| path).collect())
}

/// The segments with their numbers, oldest first.
pub(super) fn list(dir: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for file in fs::read_dir(dir)? {
        let path = file?.path();
        if let Some(number) = number(&path) {
            found.push((number, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// `17` of `atalaya-20261130T061500Z-17.atj`.
fn number(path: &Path) -> Option<u64> {
    if path.extension() != Some(OsStr::new("atj")) {
        return None;
    }
    let stem = path.file_stem()?.to_str()?.strip_prefix("atalaya-")?;
    stem.rsplit_once('-')?.1.parse().ok()
}

pub(super) fn read(path: &Path) -> Result<Reader<Vec<u8>>, FileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Reader::new(bytes)),
        Err(source) => Err(FileError {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Reads segments one after another, as one history: what the writer put at their heads is left
/// out, and so is an entry it wrote a second time after a fault (its number is not above the last
/// of its board). Holds one segment in memory.
#[derive(Debug)]
pub struct History {
    waiting: VecDeque<PathBuf>,
    path: PathBuf,
    reader: Option<Reader<Vec<u8>>>,
    last: Seqs,
}

impl History {
    /// The segments must be given oldest first, as [`segments`] does.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> History {
        History {
            waiting: paths.into_iter().collect(),
            path: PathBuf::new(),
            reader: None,
            last: Seqs::new(),
        }
    }

    /// The segment of the last thing found; empty before the first.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes the entry's number; whether it was not there before.
    fn is_new(&mut self, found: &Found) -> bool {
        let Found::Entry(entry) = found else {
            return true;
        };
        if matches!(entry.kind, Kind::Seqs(_) | Kind::Cuts(_))
            || self
                .last
                .get(&entry.board)
                .is_some_and(|last| entry.seq <= *last)
        {
            return false;
        }
        self.last.insert(entry.board, entry.seq);
        true
    }
}

impl Iterator for History {
    type Item = Result<Found, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.reader.as_mut().and_then(Iterator::next) {
                Some(found) if self.is_new(&found) => return Some(Ok(found)),
                Some(_) => {}
                None => {
                    self.path = self.waiting.pop_front()?;
                    match read(&self.path) {
                        Ok(reader) => self.reader = Some(reader),
                        Err(error) => {
                            self.reader = None;
                            return Some(Err(error));
                        }
                    }
                }
            }
        }
    }
}

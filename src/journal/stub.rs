//! The stub that never waits for the disk, and the handle of the thread that does.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
};

use jiff::Timestamp;
use tokio::sync::{oneshot, watch};

use super::{
    entry::Entry,
    files::{self, FileError},
    past::Past,
    queue::{Flushed, NotOnDisk, Queue},
    writer::{Figures, Health, Limits, Writer, fault_of_the_disk},
};

/// The journal cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder or a segment in it cannot be read.
    #[error(transparent)]
    Read(#[from] FileError),
    /// The folder cannot be written.
    #[error("cannot write the journal in {}: {source}; set `[journal] dir` to a folder that Atalaya may write", dir.display())]
    Write {
        /// The folder.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another daemon writes there.
    #[error("another Atalaya writes the journal in {}: stop it, or set `[journal] dir` to another folder", dir.display())]
    InUse {
        /// The folder.
        dir: PathBuf,
    },
}

/// The stub: takes entries, from anywhere, without waiting.
#[derive(Debug, Clone)]
pub struct Journal {
    queue: Arc<Queue>,
    health: watch::Receiver<Health>,
    past: Arc<Past>,
    figures: Figures,
}

impl Journal {
    /// Opens the journal in a folder, makes the folder if need be, and begins a new segment there;
    /// what a crash left behind stays as it is. `boot_wall` is the wall clock now.
    ///
    /// A disk that is full, failing or read-only is no error here as long as the folder is there: the
    /// daemon must watch the boards all the same, and the fault is told in [`Health`].
    ///
    /// # Errors
    ///
    /// When the folder cannot be read or written, or another daemon writes there.
    pub fn open(dir: &Path, boot_wall: Timestamp) -> Result<(Journal, JournalThread), OpenError> {
        Journal::open_with(dir, boot_wall, Limits::default())
    }

    /// Opens the journal with limits of one's own.
    ///
    /// # Errors
    ///
    /// As [`Journal::open`].
    pub fn open_with(
        dir: &Path,
        boot_wall: Timestamp,
        limits: Limits,
    ) -> Result<(Journal, JournalThread), OpenError> {
        let unwritable = |source| OpenError::Write {
            dir: dir.to_owned(),
            source,
        };
        fs::create_dir_all(dir).map_err(unwritable)?;
        let lock = lock(dir)?;
        let past = Past::read(dir)?;
        let newest = files::list(dir).map_err(unwritable)?.pop();
        let number = newest.map_or(0, |(number, _)| number);
        let queue = Arc::new(Queue::new(limits.queue_bytes));
        let mut writer = Writer::new(dir, limits, Arc::clone(&queue), number, past.clone());
        writer.first(boot_wall).map_err(unwritable)?;
        let (health, figures) = (writer.health(), writer.figures());
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                writer.run();
                drop(lock);
            })
            .map_err(unwritable)?;
        let stub = Journal {
            queue: Arc::clone(&queue),
            health,
            past: Arc::new(past),
            figures,
        };
        let thread = JournalThread {
            queue,
            thread: Some(thread),
        };
        Ok((stub, thread))
    }

    /// Takes an entry. The entries of one board must come in the order of their numbers. An entry
    /// that finds no room is lost and counted in [`Health`].
    pub fn append(&self, entry: &Entry) {
        if let Err(error) = self.queue.push(entry) {
            tracing::error!(board = entry.board.0, seq = entry.seq, %error, "entry not journalled");
        }
    }

    /// Waits, when asked to, until all that was appended before is on disk.
    pub fn flushed(&self) -> Flushed {
        self.queue.flushed()
    }

    /// What was there when it was opened.
    pub fn past(&self) -> &Past {
        &self.past
    }

    /// Resolves when the writer's thread comes by, whether the disk takes anything or not.
    pub fn moving(&self) -> oneshot::Receiver<()> {
        self.queue.moving()
    }

    /// What it counts.
    pub const fn figures(&self) -> &Figures {
        &self.figures
    }

    /// How the journal is, and each change of it.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.health.clone()
    }
}

/// Only one daemon may number the entries of a folder. The lock goes with the process. A disk that
/// takes no new file must do without, as must a file system without locks.
fn lock(dir: &Path) -> Result<Option<File>, OpenError> {
    let path = dir.join("lock");
    let file = match File::create(&path) {
        Ok(file) => file,
        Err(error) if fault_of_the_disk(&error) => match File::open(&path) {
            Ok(file) => file,
            Err(_) => return Ok(None),
        },
        Err(source) => {
            return Err(OpenError::Write {
                dir: dir.to_owned(),
                source,
            });
        }
    };
    match file.try_lock() {
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse {
            dir: dir.to_owned(),
        }),
    }
}

/// The writer's thread. Dropping it stops it, too.
#[derive(Debug)]
pub struct JournalThread {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl JournalThread {
    /// Takes no more entries, writes what waits and ends. Blocks for as long as the disk needs; a
    /// disk that fails is tried once more only.
    ///
    /// # Errors
    ///
    /// When something could not be written; it is counted in [`Health`].
    pub fn stop(mut self) -> Result<(), NotOnDisk> {
        let before = self.queue.lost();
        self.finish();
        if self.queue.lost() == before {
            Ok(())
        } else {
            Err(NotOnDisk)
        }
    }

    fn finish(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the journal's thread panicked");
        }
    }
}

impl Drop for JournalThread {
    fn drop(&mut self) {
        self.finish();
    }
}

//! The stub that never waits for the disk, and the thread that does.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::watch;

use super::{
    entry::{Entry, Seqs},
    files::{self, FileError, raise},
    queue::{Batch, Flushed, NotOnDisk, Queue},
    segment::Segment,
};

/// How much and how often. The defaults are right for a hall; tests make them small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A segment is not made longer than this, bytes.
    pub segment_bytes: u64,
    /// So many bytes may wait for the disk; entries beyond that are lost, and counted. A hall of 700
    /// boards gives about 40 kB/s: minutes, and hours for a club.
    pub queue_bytes: usize,
    /// Between two syncs, at least.
    pub commit: Duration,
    /// After a fault the disk is tried again so much later.
    pub retry: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            segment_bytes: 64 << 20,
            queue_bytes: 16 << 20,
            commit: Duration::from_millis(20),
            retry: Duration::from_secs(1),
        }
    }
}

/// How the journal is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// What the disk said when it was tried last; `None` when all is well.
    pub fault: Option<String>,
    /// Failed attempts since the start.
    pub failures: u64,
    /// Entries that will never be on disk, since the start.
    pub lost: u64,
}

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
}

impl Journal {
    /// Opens the journal in a folder, makes the folder if need be, and begins a new segment there;
    /// what a crash left behind stays as it is. `boot_wall` is the wall clock now.
    ///
    /// A full disk is no error here: the daemon must watch the boards all the same, and the fault
    /// is told in [`Health`].
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
        let seqs = files::last_seqs(dir)?;
        let newest = files::list(dir).map_err(unwritable)?.pop();
        let queue = Arc::new(Queue::new(limits.queue_bytes));
        let (told, health) = watch::channel(Health::default());
        let mut writer = Writer {
            dir: dir.to_owned(),
            limits,
            queue: Arc::clone(&queue),
            health: told,
            segment: None,
            number: newest.map_or(0, |(number, _)| number),
            seqs,
            _lock: lock,
        };
        match writer.begin(boot_wall) {
            Ok(segment) => writer.segment = Some(segment),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => writer.failed(&error),
            Err(error) => return Err(unwritable(error)),
        }
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run())
            .map_err(unwritable)?;
        let stub = Journal {
            queue: Arc::clone(&queue),
            health,
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

    /// How the journal is, and each change of it.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.health.clone()
    }
}

/// Only one daemon may number the entries of a folder. The lock goes with the process.
fn lock(dir: &Path) -> Result<File, OpenError> {
    let unwritable = |source| OpenError::Write {
        dir: dir.to_owned(),
        source,
    };
    let file = File::create(dir.join("lock")).map_err(unwritable)?;
    match file.try_lock() {
        // a file system without locks must do without
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
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

struct Writer {
    dir: PathBuf,
    limits: Limits,
    queue: Arc<Queue>,
    health: watch::Sender<Health>,
    segment: Option<Segment>,
    /// Of the last segment begun.
    number: u64,
    /// The last sequence numbers on disk.
    seqs: Seqs,
    _lock: File,
}

impl Writer {
    fn run(mut self) {
        while let Some(batch) = self.queue.take() {
            if self.insist(&batch) {
                batch.acknowledge();
                self.queue.gather(self.limits.commit);
            } else {
                self.queue.give_up(batch);
                self.tell(|_| {});
            }
        }
    }

    /// Tries until the batch is on disk; `false` when it is the end and it is not.
    fn insist(&mut self, batch: &Batch) -> bool {
        loop {
            let last_attempt = self.queue.closed();
            match self.commit(batch) {
                Ok(()) => {
                    self.tell(|health| health.fault = None);
                    return true;
                }
                Err(error) => self.failed(&error),
            }
            if last_attempt {
                return false;
            }
            self.queue.pause_unless_closed(self.limits.retry);
        }
    }

    fn commit(&mut self, batch: &Batch) -> io::Result<()> {
        let Some(wall) = batch.wall else {
            return Ok(());
        };
        let most = self.limits.segment_bytes;
        let mut segment = match self.segment.take() {
            Some(segment) if segment.takes(batch.bytes.len(), wall, most) => segment,
            Some(_) | None => self.begin(wall)?,
        };
        if let Err(error) = segment.append(&batch.bytes) {
            segment.abandon();
            return Err(error);
        }
        self.segment = Some(segment);
        raise(&mut self.seqs, &batch.seqs);
        Ok(())
    }

    /// A number is used once, even when the file could not be made: it may be there all the same.
    fn begin(&mut self, wall: Timestamp) -> io::Result<Segment> {
        self.number += 1;
        Segment::create(&self.dir, self.number, wall, &self.seqs)
    }

    fn failed(&self, error: &io::Error) {
        let dir = self.dir.display();
        let fault = format!("cannot write the journal in {dir}: {error}");
        self.tell(|health| {
            health.failures += 1;
            health.fault = Some(fault);
        });
    }

    /// Tells a change, and logs when a fault comes or goes.
    fn tell(&self, change: impl FnOnce(&mut Health)) {
        let lost = self.queue.lost();
        self.health.send_if_modified(|health| {
            let before = health.clone();
            change(health);
            health.lost = lost;
            if health.fault != before.fault {
                match &health.fault {
                    Some(fault) => tracing::error!("{fault}; entries wait in memory"),
                    None => tracing::info!("the journal is on disk again"),
                }
            }
            *health != before
        });
    }
}

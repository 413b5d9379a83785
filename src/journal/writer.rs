//! What the journal's thread does: it takes what waits and insists until it is on disk.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use nix::errno::Errno;
use prometheus_client::metrics::{
    counter::Counter,
    histogram::{Histogram, exponential_buckets},
};
use tokio::sync::watch;

use super::{
    past::Past,
    queue::{Batch, Queue},
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

/// What the journal counts since the start. Copies count together.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Bytes on disk.
    pub written: Counter,
    /// How long the disk took for a batch, s.
    pub sync: Histogram,
}

impl Default for Figures {
    fn default() -> Figures {
        Figures {
            written: Counter::default(),
            // 0.1 ms, a good disk, to 3.3 s, a dying card
            sync: Histogram::new(exponential_buckets(0.0001, 2.0, 16)),
        }
    }
}

pub(super) struct Writer {
    dir: PathBuf,
    limits: Limits,
    queue: Arc<Queue>,
    health: watch::Sender<Health>,
    segment: Option<Segment>,
    /// Of the last segment begun.
    number: u64,
    /// What is on disk.
    past: Past,
    figures: Figures,
}

impl Writer {
    /// `number` is that of the newest segment there is, `past` what is on disk already.
    pub(super) fn new(
        dir: &Path,
        limits: Limits,
        queue: Arc<Queue>,
        number: u64,
        past: Past,
    ) -> Writer {
        Writer {
            dir: dir.to_owned(),
            limits,
            queue,
            health: watch::Sender::default(),
            segment: None,
            number,
            past,
            figures: Figures::default(),
        }
    }

    pub(super) fn figures(&self) -> Figures {
        self.figures.clone()
    }

    pub(super) fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    /// Begins the first segment; a disk that is full or failing is only told.
    pub(super) fn first(&mut self, wall: Timestamp) -> io::Result<()> {
        match self.begin(wall) {
            Ok(segment) => self.segment = Some(segment),
            Err(error) if fault_of_the_disk(&error) => self.failed(&error),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Writes until the queue is closed and empty.
    pub(super) fn run(mut self) {
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
        #[expect(clippy::disallowed_methods, reason = "it times its own disk")]
        let began = std::time::Instant::now();
        if let Err(error) = segment.append(&batch.bytes) {
            segment.abandon();
            return Err(error);
        }
        self.figures.sync.observe(began.elapsed().as_secs_f64());
        self.figures.written.inc_by(batch.bytes.len() as u64);
        self.segment = Some(segment);
        self.past.append(&batch.past);
        Ok(())
    }

    /// A number is used once, even when the file could not be made: it may be there all the same.
    fn begin(&mut self, wall: Timestamp) -> io::Result<Segment> {
        self.number += 1;
        Segment::create(&self.dir, self.number, wall, &self.past)
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

/// Nobody's settings are wrong, and it may pass: full, failing, or made read-only by the system
/// because it fails.
pub(super) fn fault_of_the_disk(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge
            | io::ErrorKind::ReadOnlyFilesystem
    ) || error.raw_os_error() == Some(Errno::EIO as i32)
}

//! Appends entries in a thread of its own: a disk may take seconds, and no board waits for it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::oneshot;

use super::{entry::Entry, reader::MAGIC, segments::JournalError};

/// Entries wait so long for others to share one sync with.
const GATHER: Duration = Duration::from_millis(20);
/// After a disk fault, between attempts.
const AGAIN: Duration = Duration::from_millis(500);
/// A segment is closed beyond this size.
const SEGMENT_BYTES: u64 = 64 << 20;
/// Waiting for a disk that takes nothing, no more than this is kept; then the newest is lost, and
/// counted.
const MOST_WAITING: usize = 256 << 20;

enum Order {
    Append(Timestamp, Vec<u8>),
    Flushed(oneshot::Sender<()>),
}

/// How the disk is.
#[derive(Debug, Default)]
pub struct Health {
    waiting: AtomicUsize,
    faults: AtomicU64,
    lost: AtomicU64,
}

impl Health {
    /// Failed attempts to write since the start.
    pub fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    /// Entries lost because the disk took nothing for too long.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// The stub: appends from anywhere, without waiting.
#[derive(Debug, Clone)]
pub struct Journal {
    orders: mpsc::Sender<Order>,
    health: Arc<Health>,
}

/// The thread behind it.
#[derive(Debug)]
pub struct JournalThread(thread::JoinHandle<()>);

impl JournalThread {
    /// Waits until all stubs are gone and all they gave is on disk.
    pub fn join(self) {
        if self.0.join().is_err() {
            tracing::error!("the journal's thread ended badly");
        }
    }
}

impl Journal {
    /// Opens a new segment in `dir`, which is made if it is missing. Older segments are never
    /// written to: a torn end stays as it is. `now` names the segment.
    ///
    /// # Errors
    /// When the folder or the segment cannot be made.
    pub fn open(dir: &Path, now: Timestamp) -> Result<(Journal, JournalThread), JournalError> {
        fs::create_dir_all(dir).map_err(JournalError::of(dir))?;
        let segment = Segment::create(dir, now).map_err(JournalError::of(dir))?;
        let (orders, inbox) = mpsc::channel();
        let health = Arc::new(Health::default());
        let writer = Writer {
            dir: dir.to_owned(),
            segment,
            health: Arc::clone(&health),
        };
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run(&inbox))
            .map_err(JournalError::of(dir))?;
        Ok((Journal { orders, health }, JournalThread(thread)))
    }

    /// Takes an entry in; it is on disk some 20 ms later.
    pub fn append(&self, entry: Entry) {
        let bytes = entry.encode();
        if self.health.waiting.load(Ordering::Relaxed) + bytes.len() > MOST_WAITING {
            self.health.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.health
            .waiting
            .fetch_add(bytes.len(), Ordering::Relaxed);
        // the thread outlives every stub
        let _ = self.orders.send(Order::Append(entry.wall, bytes));
    }

    /// Waits until all that was appended so far is on disk.
    pub async fn flushed(&self) {
        let (done, wait) = oneshot::channel();
        if self.orders.send(Order::Flushed(done)).is_ok() {
            // the thread answers, or is gone with all it had
            let _ = wait.await;
        }
    }

    /// How the disk is.
    pub fn health(&self) -> &Health {
        &self.health
    }
}

struct Segment {
    file: File,
    /// Up to here the file is sound.
    len: u64,
    day: String,
}

impl Segment {
    fn create(dir: &Path, now: Timestamp) -> io::Result<Segment> {
        let stamp = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        for number in 0..u16::MAX {
            let path: PathBuf = dir.join(format!("atalaya-{stamp}-{number:05}.atj"));
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(MAGIC)?;
                    file.sync_data()?;
                    // the name itself must survive, too
                    File::open(dir)?.sync_all()?;
                    return Ok(Segment {
                        file,
                        len: MAGIC.len() as u64,
                        day: day(now),
                    });
                }
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
                Err(why) => return Err(why),
            }
        }
        Err(io::Error::other("65535 segments in one second"))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self
            .file
            .write_all(bytes)
            .and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.len += bytes.len() as u64,
            // a half-written batch would be written twice
            Err(_) => self.file.set_len(self.len)?,
        }
        written
    }
}

fn day(wall: Timestamp) -> String {
    wall.strftime("%Y%m%d").to_string()
}

struct Writer {
    dir: PathBuf,
    segment: Segment,
    health: Arc<Health>,
}

impl Writer {
    fn run(mut self, inbox: &mpsc::Receiver<Order>) {
        while let Ok(first) = inbox.recv() {
            let mut batch = Vec::new();
            let mut waiters = Vec::new();
            let mut newest = None;
            let mut take = |order| match order {
                Order::Append(wall, bytes) => {
                    newest = Some(wall);
                    batch.extend(bytes);
                }
                Order::Flushed(done) => waiters.push(done),
            };
            let hurried = matches!(first, Order::Flushed(_));
            take(first);
            if !hurried {
                thread::sleep(GATHER);
            }
            while let Ok(order) = inbox.try_recv() {
                take(order);
            }
            if let Some(wall) = newest {
                self.write(&batch, wall);
                self.health
                    .waiting
                    .fetch_sub(batch.len(), Ordering::Relaxed);
            }
            for waiter in waiters {
                // who asked may have gone
                let _ = waiter.send(());
            }
        }
    }

    /// Writes, and tries again until it is done: what comes later waits, so the order stays.
    fn write(&mut self, batch: &[u8], wall: Timestamp) {
        let mut complained = false;
        while let Err(why) = self.try_write(batch, wall) {
            self.health.faults.fetch_add(1, Ordering::Relaxed);
            if !complained {
                tracing::error!(dir = %self.dir.display(), %why, "the journal cannot be written; trying again");
                complained = true;
            }
            thread::sleep(AGAIN);
        }
        if complained {
            tracing::info!("the journal is written again");
        }
    }

    fn try_write(&mut self, batch: &[u8], wall: Timestamp) -> io::Result<()> {
        if self.segment.len >= SEGMENT_BYTES || self.segment.day != day(wall) {
            self.segment = Segment::create(&self.dir, wall)?;
        }
        self.segment.append(batch)
    }
}

//! What waits for the disk: encoded records between the daemon and the writer's thread.
//!
//! A mutex and a condition variable and not a channel: the lock is held only while a few bytes are
//! copied, never across a write, so nobody waits for the disk; the memory in use is known to the byte;
//! and the writer takes all that has gathered at once.

use std::{
    mem,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::oneshot;

use super::{
    entry::{EncodeError, Entry},
    past::Past,
};

/// Records that go to disk together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The records, one behind another.
    pub bytes: Vec<u8>,
    /// How many.
    pub entries: u64,
    /// Wall clock of the first.
    pub wall: Option<Timestamp>,
    /// How far they go.
    pub past: Past,
    /// Who waits for them.
    waiters: Vec<oneshot::Sender<()>>,
}

impl Batch {
    /// All of it is on disk.
    pub(super) fn acknowledge(self) {
        for waiter in self.waiters {
            // it may have stopped waiting
            let _ = waiter.send(());
        }
    }
}

/// Waits until all that was appended before is on disk.
#[derive(Debug)]
#[must_use = "nothing waits unless `wait` is called"]
pub struct Flushed(oneshot::Receiver<()>);

/// The journal stopped before it could write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the journal stopped before all was on disk: look at the fault it told")]
pub struct NotOnDisk;

impl Flushed {
    /// Waits. While the disk fails this does not end: set a limit to it.
    ///
    /// # Errors
    ///
    /// When the journal stopped first.
    pub async fn wait(self) -> Result<(), NotOnDisk> {
        self.0.await.map_err(|_| NotOnDisk)
    }

    /// Waits outside of async code.
    ///
    /// # Errors
    ///
    /// When the journal stopped first.
    ///
    /// # Panics
    ///
    /// When called inside of async code.
    pub fn wait_blocking(self) -> Result<(), NotOnDisk> {
        self.0.blocking_recv().map_err(|_| NotOnDisk)
    }
}

#[derive(Debug, Default)]
struct State {
    batch: Batch,
    lost: u64,
    closed: bool,
    /// Who asks whether the writer still moves.
    pulse: Vec<oneshot::Sender<()>>,
}

#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    limit: usize,
}

impl Queue {
    /// Holds at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Queue {
        Queue {
            state: Mutex::default(),
            changed: Condvar::new(),
            limit,
        }
    }

    /// Every change under the lock is whole before the next begins, so one made by a thread that
    /// panicked is too.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the entry at the end. Counts it as lost when there is no room or the queue is closed:
    /// the newest goes, so that what is kept has no hole but the last.
    pub(super) fn push(&self, entry: &Entry) -> Result<(), EncodeError> {
        let mut state = self.lock();
        let State {
            batch,
            lost,
            closed,
            ..
        } = &mut *state;
        if *closed || batch.bytes.len() >= self.limit {
            *lost += 1;
            return Ok(());
        }
        if let Err(error) = entry.encode(&mut batch.bytes) {
            *lost += 1;
            return Err(error);
        }
        batch.entries += 1;
        batch.wall.get_or_insert(entry.wall);
        batch.past.note(entry);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for what was put in before, and cuts the writer's pause short.
    pub(super) fn flushed(&self) -> Flushed {
        let (waiter, flushed) = oneshot::channel();
        let mut state = self.lock();
        // of a closed queue nobody takes: the waiter is dropped, and says so
        if !state.closed {
            state.batch.waiters.push(waiter);
        }
        drop(state);
        self.changed.notify_one();
        Flushed(flushed)
    }

    /// Resolves when the writer comes by: it need not have written anything.
    pub(super) fn moving(&self) -> oneshot::Receiver<()> {
        let (asked, moves) = oneshot::channel();
        self.lock().pulse.push(asked);
        self.changed.notify_one();
        moves
    }

    /// All that has gathered, when there is something; `None` when closed and empty.
    pub(super) fn take(&self) -> Option<Batch> {
        let nothing = |state: &mut State| {
            feel(state);
            !state.closed && state.batch.entries == 0 && state.batch.waiters.is_empty()
        };
        let mut state = self
            .changed
            .wait_while(self.lock(), nothing)
            .unwrap_or_else(PoisonError::into_inner);
        let batch = mem::take(&mut state.batch);
        (batch.entries > 0 || !batch.waiters.is_empty()).then_some(batch)
    }

    /// Lets records gather for so long; shorter when somebody waits for them, or at the end.
    pub(super) fn gather(&self, pause: Duration) {
        self.pause(pause, |state| {
            !state.closed && state.batch.waiters.is_empty()
        });
    }

    /// Waits for so long; shorter at the end.
    pub(super) fn pause_unless_closed(&self, pause: Duration) {
        self.pause(pause, |state| !state.closed);
    }

    fn pause(&self, pause: Duration, mut going: impl FnMut(&mut State) -> bool) {
        let going = |state: &mut State| {
            feel(state);
            going(state)
        };
        let ended = self.changed.wait_timeout_while(self.lock(), pause, going);
        drop(ended);
    }

    /// Takes no more.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    pub(super) fn closed(&self) -> bool {
        self.lock().closed
    }

    /// Gives up a batch and all that waits behind it.
    pub(super) fn give_up(&self, batch: Batch) {
        let mut state = self.lock();
        let rest = mem::take(&mut state.batch);
        state.lost += batch.entries + rest.entries;
    }

    /// Entries that never came to disk.
    pub(super) fn lost(&self) -> u64 {
        self.lock().lost
    }
}

/// The writer is here.
fn feel(state: &mut State) {
    for asked in state.pulse.drain(..) {
        // it may have stopped waiting
        let _ = asked.send(());
    }
}

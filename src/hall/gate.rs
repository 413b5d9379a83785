//! Nothing is told to the world that the disk does not hold: a crash between the two would make the
//! daemon tell it otherwise afterwards. While the disk fails, watching goes before remembering.

use std::time::Duration;

use tokio::{sync::mpsc, task::JoinHandle, time::timeout};

use super::Beat;
use crate::{
    journal::{Flushed, Journal},
    publish::{Publisher, payload::Outgoing},
};

/// A disk that needs longer than this is not waited for; the journal tells its fault itself.
const PATIENCE: Duration = Duration::from_millis(200);

enum Passing {
    Messages(Option<Flushed>, Vec<Outgoing>),
    Settled,
}

/// Messages on their way out, in order. Copies share one way.
#[derive(Clone)]
pub struct Gate {
    waiting: mpsc::UnboundedSender<Passing>,
}

impl Gate {
    /// Opens the way; its task ends with the last copy, when all is handed over.
    pub fn open(journal: &Journal, publisher: Publisher, mut beat: Beat) -> (Gate, JoinHandle<()>) {
        let (waiting, mut messages) = mpsc::unbounded_channel();
        let health = journal.health();
        let task = tokio::spawn(async move {
            loop {
                let passing = tokio::select! {
                    passing = messages.recv() => passing,
                    () = beat.felt() => continue,
                };
                let Some(passing) = passing else { return };
                let Passing::Messages(flushed, messages) = passing else {
                    publisher.settled();
                    continue;
                };
                if let Some(flushed) = flushed
                    && health.borrow().fault.is_none()
                {
                    // Late or stopped: told all the same.
                    let _ = timeout(PATIENCE, flushed.wait()).await;
                }
                publisher.send(messages);
            }
        });
        (Gate { waiting }, task)
    }

    /// Sends messages that nothing hangs on, behind those that wait.
    pub fn send(&self, messages: Vec<Outgoing>) {
        // The task ends only after the last sender.
        let _ = self.waiting.send(Passing::Messages(None, messages));
    }

    /// Sends messages once all that was journalled before is on disk.
    pub fn send_when_safe(&self, journal: &Journal, messages: Vec<Outgoing>) {
        let flushed = Some(journal.flushed());
        let _ = self.waiting.send(Passing::Messages(flushed, messages));
    }

    /// All boards have said how they stand: what the broker keeps beside it is of an earlier run.
    pub fn settled(&self) {
        let _ = self.waiting.send(Passing::Settled);
    }
}

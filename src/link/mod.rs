//! The wire to one board: a serial port, a pty or a TCP port. The only room that touches devices.
//!
//! A port that goes away is an everyday event here, a cable kicked under the table. It is dropped,
//! and the same stable path is opened again until it answers.
#![expect(
    clippy::disallowed_methods,
    reason = "it spaces its own commands; bytes are stamped elsewhere"
)]

mod address;
mod backoff;
mod lines;
mod open;

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

pub use address::{Address, AddressError};
use backoff::{Backoff, Patience};
pub use lines::{Level, Lines, UnknownLevel};
use open::{Port, open};

/// Between the beginnings of two commands: the board's buffer holds ten bytes (section 2.1).
const SPACING: Duration = Duration::from_millis(60);
/// A port that does not take a few bytes in this time is stuck, and opened again.
const WRITE: Duration = Duration::from_secs(2);

/// How a port is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// How its lines are set.
    pub lines: Lines,
    /// Between the beginnings of two commands.
    pub spacing: Duration,
}

impl Default for Manner {
    fn default() -> Manner {
        Manner {
            lines: Lines::default(),
            spacing: SPACING,
        }
    }
}

impl Manner {
    /// Boards on a bus: who speaks waits for the answer before the next call.
    pub const BUS: Manner = Manner {
        lines: Lines::LOW,
        spacing: Duration::ZERO,
    };
}

/// What happens on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// The port is open; commands sent from now on reach it.
    Opened,
    /// Bytes as they came, never empty.
    Bytes(Vec<u8>),
    /// An open port was lost.
    Closed {
        /// Why, in words.
        reason: String,
    },
    /// The port does not open. Said once per reason in a row, not at each attempt.
    Absent {
        /// Why, in words.
        reason: String,
    },
}

/// Keeps the port open and carries bytes both ways, until `stop` is cancelled or nobody listens to
/// `bytes_out`. Commands that come while the port is closed are dropped: they were meant for a
/// board in a state that is gone.
///
/// A port that is open, takes commands and answers nothing is given up after a while and opened
/// again: a serial server that lost its power or its memory of the connection looks just so, and a
/// serial adapter that hangs does too.
pub async fn run(
    address: Address,
    manner: Manner,
    bytes_out: mpsc::Sender<LinkEvent>,
    commands: mpsc::Receiver<Vec<u8>>,
    stop: CancellationToken,
) {
    let mut link = Link {
        address,
        manner,
        events: bytes_out,
        commands,
        backoff: Backoff::new(),
        patience: Patience::new(),
    };
    // Dropping the future at any await is safe: it drops the port.
    tokio::select! {
        () = stop.cancelled() => {}
        _ = link.keep() => {}
    }
}

/// Nobody listens any more.
struct Unheard;

struct Link {
    address: Address,
    manner: Manner,
    events: mpsc::Sender<LinkEvent>,
    commands: mpsc::Receiver<Vec<u8>>,
    backoff: Backoff,
    patience: Patience,
}

impl Link {
    async fn keep(&mut self) -> Result<(), Unheard> {
        let mut said = None;
        loop {
            match open(&self.address, self.manner.lines).await {
                Ok(port) => {
                    said = None;
                    while self.commands.try_recv().is_ok() {}
                    tracing::debug!(address = %self.address, "port opened");
                    self.say(LinkEvent::Opened).await?;
                    let reason = self.carry(port).await?;
                    self.say(LinkEvent::Closed { reason }).await?;
                }
                Err(reason) => {
                    if said.as_ref() != Some(&reason) {
                        said = Some(reason.clone());
                        self.say(LinkEvent::Absent { reason }).await?;
                    }
                }
            }
            self.wait().await;
        }
    }

    async fn say(&self, event: LinkEvent) -> Result<(), Unheard> {
        self.events.send(event).await.map_err(|_| Unheard)
    }

    /// The pause before the next attempt; commands are emptied so that no sender is held up.
    async fn wait(&mut self) {
        let pause = sleep(self.backoff.next());
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = &mut pause => return,
                Some(_) = self.commands.recv() => {}
            }
        }
    }

    /// Carries bytes until the port is lost, and gives the reason.
    async fn carry(&mut self, port: Box<dyn Port>) -> Result<String, Unheard> {
        let (reader, writer) = tokio::io::split(port);
        let unanswered = Unanswered::default();
        let lost = tokio::select! {
            reason = read(reader, &self.events, &unanswered) => reason,
            reason = write(writer, &mut self.commands, self.manner.spacing, &unanswered) => Ok(reason),
            reason = unanswered.too_long(self.patience.long()) => {
                self.patience.lengthen();
                Ok(reason)
            }
        };
        // Only a port that spoke counts as back; one that opens and closes at once does not shorten
        // the waits.
        if unanswered.was_answered() {
            self.backoff.reset();
            self.patience.reset();
        }
        lost
    }
}

/// Since when commands have been sent and nothing has come.
#[derive(Debug, Default)]
struct Unanswered {
    since: Mutex<Option<Instant>>,
    answered: AtomicBool,
    changed: Notify,
}

impl Unanswered {
    fn asked(&self) {
        self.since().get_or_insert_with(Instant::now);
        self.changed.notify_one();
    }

    fn answered(&self) {
        *self.since() = None;
        self.answered.store(true, Ordering::Relaxed);
    }

    fn was_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends when nothing has come for so long.
    async fn too_long(&self, patience: Duration) -> String {
        loop {
            let since = *self.since();
            match since {
                None => self.changed.notified().await,
                Some(since) if since.elapsed() >= patience => {
                    return format!("no answer for {} s", patience.as_secs());
                }
                Some(since) => sleep_until(since + patience).await,
            }
        }
    }
}

async fn read(
    mut port: ReadHalf<Box<dyn Port>>,
    events: &mpsc::Sender<LinkEvent>,
    unanswered: &Unanswered,
) -> Result<String, Unheard> {
    let mut buffer = [0; 1024];
    loop {
        match port.read(&mut buffer).await {
            // A tty without carrier reads as empty for ever: to go on reading would spin.
            Ok(0) => return Ok("the other end is gone".to_owned()),
            Ok(count) => {
                unanswered.answered();
                let bytes = LinkEvent::Bytes(buffer[..count].to_vec());
                events.send(bytes).await.map_err(|_| Unheard)?;
            }
            Err(error) => return Ok(error.to_string()),
        }
    }
}

async fn write(
    mut port: WriteHalf<Box<dyn Port>>,
    commands: &mut mpsc::Receiver<Vec<u8>>,
    spacing: Duration,
    unanswered: &Unanswered,
) -> String {
    let mut free = Instant::now();
    while let Some(command) = commands.recv().await {
        sleep_until(free).await;
        free = Instant::now() + spacing;
        match timeout(WRITE, port.write_all(&command)).await {
            Ok(Ok(())) => unanswered.asked(),
            Ok(Err(error)) => return error.to_string(),
            Err(_) => return "the port takes no more bytes".to_owned(),
        }
    }
    // Nobody will send again; the reader goes on alone.
    std::future::pending().await
}

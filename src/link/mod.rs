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
mod open;

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

pub use address::{Address, AddressError};
use backoff::Backoff;
use open::{Port, open};

/// Between the beginnings of two commands: the board's buffer holds ten bytes (section 2.1).
const SPACING: Duration = Duration::from_millis(60);
/// A port that does not take a few bytes in this time is stuck, and opened again.
const WRITE: Duration = Duration::from_secs(2);

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
pub async fn run(
    address: Address,
    bytes_out: mpsc::Sender<LinkEvent>,
    commands: mpsc::Receiver<Vec<u8>>,
    stop: CancellationToken,
) {
    let mut link = Link {
        address,
        events: bytes_out,
        commands,
        backoff: Backoff::new(),
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
    events: mpsc::Sender<LinkEvent>,
    commands: mpsc::Receiver<Vec<u8>>,
    backoff: Backoff,
}

impl Link {
    async fn keep(&mut self) -> Result<(), Unheard> {
        let mut said = None;
        loop {
            match open(&self.address).await {
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
        tokio::select! {
            reason = read(reader, &self.events, &mut self.backoff) => reason,
            reason = write(writer, &mut self.commands) => Ok(reason),
        }
    }
}

async fn read(
    mut port: ReadHalf<Box<dyn Port>>,
    events: &mpsc::Sender<LinkEvent>,
    backoff: &mut Backoff,
) -> Result<String, Unheard> {
    let mut buffer = [0; 1024];
    loop {
        match port.read(&mut buffer).await {
            // A tty without carrier reads as empty for ever: to go on reading would spin.
            Ok(0) => return Ok("the other end is gone".to_owned()),
            Ok(count) => {
                // Only a port that spoke counts as back; one that opens and closes at once does
                // not shorten the waits.
                backoff.reset();
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
) -> String {
    let mut free = Instant::now();
    while let Some(command) = commands.recv().await {
        sleep_until(free).await;
        free = Instant::now() + SPACING;
        match timeout(WRITE, port.write_all(&command)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return error.to_string(),
            Err(_) => return "the port takes no more bytes".to_owned(),
        }
    }
    // Nobody will send again; the reader goes on alone.
    std::future::pending().await
}

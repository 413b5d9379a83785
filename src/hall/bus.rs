//! Boards that share one line: the line is opened once, and each board's watch rides on it as if it had
//! it for itself.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    sync::mpsc,
    time::{sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    Clock,
    seek::{Held, Seeker},
};
use crate::{
    dgt::{
        Command, Message,
        bus::{Event, Master},
    },
    link::{self, Address, LinkEvent, Manner},
};

/// Commands for the line that may wait; the master gives one at a time.
const WAITING: usize = 64;

/// The lines with several boards.
#[derive(Debug, Clone)]
pub struct Buses {
    clock: Clock,
    seeker: Seeker,
    lines: Arc<Mutex<BTreeMap<String, mpsc::UnboundedSender<ToLine>>>>,
}

/// One board of a line.
#[derive(Debug, Clone)]
pub struct Seat {
    /// The line.
    pub address: Address,
    /// The board's number on it.
    pub number: u16,
}

/// What a board's watch tells its line.
#[derive(Debug)]
enum ToLine {
    Join(u16, mpsc::Sender<LinkEvent>),
    Say(u16, Vec<u8>),
    Leave(u16),
}

impl Buses {
    /// No line yet.
    pub fn new(clock: Clock, seeker: Seeker) -> Buses {
        Buses {
            clock,
            seeker,
            lines: Arc::default(),
        }
    }

    /// Carries the bytes of one board, until `stop` is cancelled or nobody listens: as [`link::run`]
    /// does for a board that has the line for itself. The first board of a line sets its levels.
    pub async fn ride(
        &self,
        seat: Seat,
        manner: Manner,
        bytes_out: mpsc::Sender<LinkEvent>,
        mut commands: mpsc::Receiver<Vec<u8>>,
        stop: CancellationToken,
    ) {
        let number = seat.number;
        loop {
            let line = self.join(&seat, manner, bytes_out.clone());
            let ended = loop {
                tokio::select! {
                    () = stop.cancelled() => break true,
                    () = bytes_out.closed() => break true,
                    () = line.closed() => break false,
                    Some(command) = commands.recv() => drop(line.send(ToLine::Say(number, command))),
                }
            };
            if ended {
                // A line that is gone needs no word.
                let _ = line.send(ToLine::Leave(number));
                return;
            }
            // The line ended as this board came; the next one is its own.
            sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    fn lines(&self) -> MutexGuard<'_, BTreeMap<String, mpsc::UnboundedSender<ToLine>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn join(
        &self,
        seat: &Seat,
        manner: Manner,
        events: mpsc::Sender<LinkEvent>,
    ) -> mpsc::UnboundedSender<ToLine> {
        let mut lines = self.lines();
        let key = seat.address.to_string();
        if let Some(line) = lines.get(&key)
            && line.send(ToLine::Join(seat.number, events.clone())).is_ok()
        {
            return line.clone();
        }
        let (line, told) = mpsc::unbounded_channel();
        // The receiver is in hand, so it is taken.
        let _ = line.send(ToLine::Join(seat.number, events));
        let held = self.seeker.hold(seat.address.clone());
        tokio::spawn(keep_line(held, manner, self.clock, told));
        lines.insert(key, line.clone());
        line
    }
}

/// Until the last board has left.
async fn keep_line(
    held: Held,
    manner: Manner,
    clock: Clock,
    mut told: mpsc::UnboundedReceiver<ToLine>,
) {
    let (events, mut heard) = mpsc::channel(WAITING);
    let (say, commands) = mpsc::channel(WAITING);
    let address = held.address.clone();
    let link = link::run(address, manner, events, commands, CancellationToken::new());
    let mut line = Line {
        address: held.address.to_string(),
        clock,
        master: Master::default(),
        boards: BTreeMap::new(),
        state: None,
    };
    let work = async {
        loop {
            let wake = line.master.wake_at().map(|at| clock.instant_of(at));
            tokio::select! {
                Some(event) = heard.recv() => line.link(event).await,
                Some(word) = told.recv() => {
                    if !line.told(word).await {
                        return;
                    }
                }
                () = async { match wake {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                } } => {}
            }
            while let Some(call) = line.master.poll_call(clock.at()) {
                // A full link means a port that takes nothing; the master asks again.
                let _ = say.try_send(call.to_vec());
            }
            line.tell().await;
        }
    };
    tokio::select! {
        () = link => {}
        () = work => {}
    }
}

struct Line {
    address: String,
    clock: Clock,
    master: Master,
    boards: BTreeMap<u16, mpsc::Sender<LinkEvent>>,
    /// Why the line is not open, if it is not: a board that comes later is told.
    state: Option<LinkEvent>,
}

impl Line {
    async fn link(&mut self, event: LinkEvent) {
        let now = self.clock.at();
        match event {
            LinkEvent::Opened => {
                self.state = None;
                self.master.opened(now);
            }
            LinkEvent::Bytes(bytes) => self.master.bytes(&bytes, now),
            LinkEvent::Closed { .. } | LinkEvent::Absent { .. } => {
                self.master.closed();
                for board in self.boards.values() {
                    send(board, event.clone()).await;
                }
                self.state = Some(event);
            }
        }
    }

    /// False when the last board has left.
    async fn told(&mut self, word: ToLine) -> bool {
        match word {
            ToLine::Join(number, events) => {
                if let Some(state) = &self.state {
                    send(&events, state.clone()).await;
                }
                if self.boards.insert(number, events).is_none() {
                    self.master.add(number, self.clock.at());
                }
            }
            ToLine::Say(number, bytes) => {
                for byte in bytes {
                    // The monitor says nothing but requests.
                    if let Some(Command::Request(request)) = Command::from_byte(byte) {
                        self.master.ask(number, request);
                    }
                }
            }
            ToLine::Leave(number) => {
                self.boards.remove(&number);
                self.master.remove(number);
            }
        }
        !self.boards.is_empty()
    }

    async fn tell(&mut self) {
        while let Some(event) = self.master.poll_event() {
            match event {
                Event::Found(number) => self.tell_one(number, LinkEvent::Opened).await,
                Event::Lost(number) => {
                    let reason =
                        format!("board {number} on the bus {} answers no more", self.address);
                    self.tell_one(number, LinkEvent::Closed { reason }).await;
                }
                Event::Said(number, message) => {
                    let bytes = encoded(&message);
                    self.tell_one(number, LinkEvent::Bytes(bytes)).await;
                }
                Event::Stranger(number) => tracing::warn!(
                    bus = self.address,
                    number,
                    "a board on the bus is in no [[board]]: to watch it, add port and bus = {number}"
                ),
            }
        }
    }

    async fn tell_one(&self, number: u16, event: LinkEvent) {
        if let Some(board) = self.boards.get(&number) {
            send(board, event).await;
        }
    }
}

fn encoded(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

async fn send(board: &mpsc::Sender<LinkEvent>, event: LinkEvent) {
    // A watch that ended has said, or will say, that it left.
    let _ = board.send(event).await;
}

//! Boards found by their serial number, wherever they are plugged in.
//!
//! One seeker asks the ports for all boards that are missing: two questions at one port at a time would
//! take each other's answers. It never touches a port that is in use.
#![expect(
    clippy::disallowed_methods,
    reason = "it spaces its own questions; bytes are stamped elsewhere"
)]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    ports::{Port, Ports, real},
    probe::{self, Answer, ProbeError},
};
use crate::{
    dgt::{Frames, Message},
    link::{self, Address, LinkEvent, Manner},
};

/// How often the ports are looked over while a board is missing.
const LOOK: Duration = Duration::from_secs(1);
/// A board answers within half a second; one that wakes up, or a slow hub, takes longer.
const PATIENCE: Duration = Duration::from_secs(3);
/// A port where no missing board answered is asked again after this, then after twice as long, ...
const AGAIN: Duration = Duration::from_secs(1);
/// ... up to this.
const AGAIN_AT_MOST: Duration = Duration::from_secs(8);
/// Ports asked at one time.
const AT_ONCE: usize = 32;
/// A board that is plugged in is found by then.
const FOUND_BY: Duration = Duration::from_secs(6);
/// As many as the watch itself keeps.
const WAITING: usize = 64;

/// Hands out ports: to who names one, and to who names a board.
#[derive(Debug, Clone)]
pub struct Seeker(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ports: Ports,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    wanted: BTreeMap<String, oneshot::Sender<Held>>,
    /// The ports in use.
    held: BTreeMap<u64, Address>,
    last: u64,
    /// A board is missing that was not missing before.
    fresh: bool,
}

/// A port that nobody else asks as long as this lives.
#[derive(Debug)]
pub struct Held {
    /// Where.
    pub address: Address,
    id: u64,
    seeker: Seeker,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.seeker.state().held.remove(&self.id);
        self.seeker.0.changed.notify_one();
    }
}

/// A port that was asked in vain.
struct Asked {
    again: Instant,
    wait: Duration,
}

impl Seeker {
    /// Looks on these ports, once [`Seeker::run`] runs.
    pub fn new(ports: Ports) -> Seeker {
        Seeker(Arc::new(Inner {
            ports,
            state: Mutex::default(),
            changed: Notify::new(),
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps everybody else away from a port.
    #[must_use]
    pub fn hold(&self, address: Address) -> Held {
        let mut state = self.state();
        state.last += 1;
        let id = state.last;
        state.held.insert(id, address.clone());
        Held {
            address,
            id,
            seeker: self.clone(),
        }
    }

    /// The port of the board with this serial number; waits until there is one.
    async fn find(&self, serial: &str) -> Held {
        loop {
            let (found, port) = oneshot::channel();
            {
                let mut state = self.state();
                state.wanted.insert(serial.to_owned(), found);
                state.fresh = true;
            }
            self.0.changed.notify_one();
            if let Ok(held) = port.await {
                return held;
            }
        }
    }

    /// Seeks, until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.seek() => {}
        }
    }

    async fn seek(&self) {
        let mut asked: Vec<(Address, Asked)> = Vec::new();
        // Answers on their way, with the port held meanwhile.
        let mut probes: JoinSet<(Port, Held, Result<Answer, ProbeError>)> = JoinSet::new();
        loop {
            if self.missing() {
                let ports = self.0.ports.clone();
                let listed = tokio::task::spawn_blocking(move || ports.list()).await;
                let listed = listed.unwrap_or_default();
                // A port that went away and came back is another one.
                asked.retain(|(real, _)| listed.iter().any(|port| port.real == *real));
                if std::mem::take(&mut self.state().fresh) {
                    asked.clear();
                }
                for port in listed {
                    let waits = asked
                        .iter()
                        .any(|(real, asked)| *real == port.real && asked.again > Instant::now());
                    if waits || probes.len() >= AT_ONCE || self.is_held(&port) {
                        continue;
                    }
                    let held = self.hold(port.address.clone());
                    probes.spawn(async move {
                        let address = port.address.clone();
                        let answer = probe::serial(address, PATIENCE).await;
                        (port, held, answer)
                    });
                }
            }
            let wait = async {
                if self.missing() {
                    sleep(LOOK).await;
                } else {
                    std::future::pending().await
                }
            };
            tokio::select! {
                Some(done) = probes.join_next() => {
                    // A panic has been logged by tokio.
                    let Ok((port, held, answer)) = done else { continue };
                    if !self.hand_over(held, answer.as_ref()) {
                        again_later(&mut asked, port.real);
                    }
                }
                () = self.0.changed.notified() => {}
                () = wait => {}
            }
        }
    }

    fn missing(&self) -> bool {
        let mut state = self.state();
        state.wanted.retain(|_, found| !found.is_closed());
        !state.wanted.is_empty()
    }

    fn is_held(&self, port: &Port) -> bool {
        let held: Vec<Address> = self.state().held.values().cloned().collect();
        held.iter()
            .any(|address| *address == port.address || real(address).as_ref() == Some(&port.real))
    }

    /// True when the board that answered was missing.
    fn hand_over(&self, held: Held, answer: Result<&Answer, &ProbeError>) -> bool {
        let Ok(answer) = answer else { return false };
        let found = {
            let mut state = self.state();
            let mut names = [&answer.serial, &answer.short].into_iter().flatten();
            names.find_map(|name| state.wanted.remove(name))
        };
        let Some(found) = found else { return false };
        tracing::info!(port = %held.address, serial = answer.serial, "board found");
        // Who sought it may have stopped: the port goes free with what is sent.
        drop(found.send(held));
        true
    }
}

fn again_later(asked: &mut Vec<(Address, Asked)>, real: Address) {
    let wait = match asked.iter().position(|(known, _)| *known == real) {
        Some(at) => (asked.swap_remove(at).1.wait * 2).min(AGAIN_AT_MOST),
        None => AGAIN,
    };
    let again = Instant::now() + wait;
    asked.push((real, Asked { again, wait }));
}

/// Carries a board's bytes from wherever it is plugged in, until `stop` is cancelled or nobody listens:
/// as [`link::run`] does from one port. A board that is lost is sought on all ports again; one that
/// answers with another number is not listened to.
pub async fn follow(
    serial: String,
    seeker: Seeker,
    manner: Manner,
    bytes_out: mpsc::Sender<LinkEvent>,
    commands: mpsc::Receiver<Vec<u8>>,
    stop: CancellationToken,
) {
    let mut follower = Follower {
        serial,
        seeker,
        manner,
        events: bytes_out,
        commands,
    };
    // Dropping the future at any await is safe: it drops the port.
    tokio::select! {
        () = stop.cancelled() => {}
        _ = follower.keep() => {}
    }
}

/// Nobody listens any more.
struct Unheard;

struct Follower {
    serial: String,
    seeker: Seeker,
    manner: Manner,
    events: mpsc::Sender<LinkEvent>,
    commands: mpsc::Receiver<Vec<u8>>,
}

impl Follower {
    async fn keep(&mut self) -> Result<(), Unheard> {
        loop {
            let held = self.find().await?;
            let (events, mut heard) = mpsc::channel(WAITING);
            let (say, commands) = mpsc::channel(WAITING);
            let link = link::run(
                held.address.clone(),
                self.manner,
                events,
                commands,
                CancellationToken::new(),
            );
            tokio::select! {
                () = link => {}
                lost = self.carry(&mut heard, &say) => lost?,
            }
        }
    }

    /// Commands are emptied meanwhile, so that no sender is held up.
    async fn find(&mut self) -> Result<Held, Unheard> {
        let (seeker, serial) = (self.seeker.clone(), self.serial.clone());
        let found = seeker.find(&serial);
        tokio::pin!(found);
        let early = timeout(FOUND_BY, async {
            loop {
                tokio::select! {
                    held = &mut found => return held,
                    Some(_) = self.commands.recv() => {}
                }
            }
        });
        if let Ok(held) = early.await {
            return Ok(held);
        }
        let reason = format!(
            "no port answers with the serial number {serial}: is the board plugged in and switched on?"
        );
        self.say(LinkEvent::Absent { reason }).await?;
        loop {
            tokio::select! {
                held = &mut found => return Ok(held),
                Some(_) = self.commands.recv() => {}
                () = self.events.closed() => return Err(Unheard),
            }
        }
    }

    async fn say(&self, event: LinkEvent) -> Result<(), Unheard> {
        self.events.send(event).await.map_err(|_| Unheard)
    }

    /// Until the port is lost.
    async fn carry(
        &mut self,
        heard: &mut mpsc::Receiver<LinkEvent>,
        say: &mpsc::Sender<Vec<u8>>,
    ) -> Result<(), Unheard> {
        let mut badge = Badge::new(&self.serial);
        loop {
            let event = tokio::select! {
                event = heard.recv() => event,
                Some(command) = self.commands.recv() => {
                    // A full link means a port that takes nothing; it is given up by itself.
                    let _ = say.try_send(command);
                    continue;
                }
            };
            match event {
                None | Some(LinkEvent::Absent { .. }) => return Ok(()),
                Some(LinkEvent::Bytes(bytes)) => {
                    if let Some(other) = badge.stranger(&bytes) {
                        let reason = format!(
                            "the board {other} answers where {} was: it is looked for elsewhere",
                            self.serial
                        );
                        return self.say(LinkEvent::Closed { reason }).await;
                    }
                    self.say(LinkEvent::Bytes(bytes)).await?;
                }
                Some(LinkEvent::Opened) => self.say(LinkEvent::Opened).await?,
                Some(closed @ LinkEvent::Closed { .. }) => return self.say(closed).await,
            }
        }
    }
}

/// Whether it is still the same board: on a serial adapter another one can be put without the port
/// going away.
struct Badge {
    serial: String,
    frames: Frames,
}

impl Badge {
    fn new(serial: &str) -> Badge {
        Badge {
            serial: serial.to_owned(),
            frames: Frames::new(),
        }
    }

    /// The number of another board, if one speaks. A board has two numbers, and only the kind that is
    /// known can differ.
    fn stranger(&mut self, bytes: &[u8]) -> Option<String> {
        self.frames.push(bytes);
        let mut other = None;
        while let Some(message) = self.frames.next_message() {
            let name = match message {
                Message::LongSerial(name) if self.serial.len() > probe::SHORT => name,
                Message::Serial(name) if self.serial.len() <= probe::SHORT => probe::short(&name),
                _ => continue,
            };
            other = Some(name).filter(|name| *name != self.serial).or(other);
        }
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_tells_a_stranger_by_the_number_that_is_known() {
        let said = |messages: &[Message]| {
            let mut bytes = Vec::new();
            messages
                .iter()
                .for_each(|message| message.encode(&mut bytes));
            bytes
        };
        let short = |text: &str| Message::Serial(text.to_owned());
        let long = |text: &str| Message::LongSerial(text.to_owned());
        let ours = said(&[short("13001"), long("3000113001")]);
        let other = said(&[short("13002"), long("3000113002")]);
        let old = said(&[short("13001 1.0")]);
        assert_eq!(Badge::new("3000113001").stranger(&ours), None);
        assert_eq!(Badge::new("13001").stranger(&ours), None);
        assert_eq!(Badge::new("13001").stranger(&old), None);
        let stranger = Badge::new("3000113001").stranger(&other);
        assert_eq!(stranger.as_deref(), Some("3000113002"));
        let stranger = Badge::new("13001").stranger(&other);
        assert_eq!(stranger.as_deref(), Some("13002"));
    }
}

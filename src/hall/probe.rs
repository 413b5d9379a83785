//! Asks ports whether a board is there, and which.

use std::time::Duration;

use serde::Serialize;
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    board::Sensors,
    dgt::{ClockMessage, Frames, Message, Request},
    game::is_start_array,
    link::{self, Address, LinkEvent, Manner},
    words::At,
};

/// Safe at any time, a game under way included; the board's update mode stays as it is.
const QUESTIONS: [Request; 6] = [
    Request::Version,
    Request::Serial,
    Request::LongSerial,
    Request::Board,
    Request::Clock,
    Request::Battery,
];

/// Digits of the short serial number.
pub(super) const SHORT: usize = 5;

/// The number in a short serial message; older firmware adds more text.
pub(super) fn short(text: &str) -> String {
    text.chars().take(SHORT).collect()
}

/// How the board lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Orientation {
    /// Its connector at White's left.
    Upright,
    /// Its connector at White's right.
    Turned,
}

/// A clock, as far as a board tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FoundClock {
    /// Whether one is connected.
    pub connected: bool,
    /// Whether it runs.
    pub running: bool,
    /// Its battery is low.
    pub battery_low: bool,
    /// Seconds on its left side.
    pub left_s: u32,
    /// Seconds on its right side.
    pub right_s: u32,
}

/// What a port answered. Boards differ in what they can tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Serial number, the long one where there is one.
    pub serial: Option<String>,
    /// Firmware, `major.minor`.
    pub firmware: Option<String>,
    /// The clock.
    pub clock: Option<FoundClock>,
    /// Charge in percent.
    pub battery_percent: Option<u8>,
    /// Known only while the men stand in a start array.
    pub orientation: Option<Orientation>,
    /// The five digits that every board has, also where there is a long number.
    #[serde(skip)]
    pub short: Option<String>,
    #[serde(skip)]
    heard: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// The port does not open, or was lost.
    #[error("{0}")]
    Closed(String),
    /// It is open and says nothing a board would say.
    #[error("no board answers; is it switched on?")]
    Silent,
}

/// Asks one port, and listens until all is answered or `patience` is over.
///
/// # Errors
/// When the port does not open or no board answers.
pub async fn probe(address: Address, patience: Duration) -> Result<Answer, ProbeError> {
    ask(address, patience, &QUESTIONS, Answer::complete).await
}

/// Asks one port for the board's serial number alone.
///
/// # Errors
/// When the port does not open or no board answers.
pub async fn serial(address: Address, patience: Duration) -> Result<Answer, ProbeError> {
    let questions = [Request::Serial, Request::LongSerial];
    ask(address, patience, &questions, Answer::long).await
}

async fn ask(
    address: Address,
    patience: Duration,
    questions: &[Request],
    enough: fn(&Answer) -> bool,
) -> Result<Answer, ProbeError> {
    let (events, mut heard) = mpsc::channel(64);
    let (commands, to_send) = mpsc::channel(questions.len());
    let stop = CancellationToken::new();
    let link = link::run(address, Manner::default(), events, to_send, stop.clone());
    let mut answer = Answer::default();
    let listen = async {
        let mut frames = Frames::new();
        while let Some(event) = heard.recv().await {
            match event {
                LinkEvent::Opened => {
                    for question in questions {
                        // It has room for them all; the link parts them in time.
                        let _ = commands.try_send(vec![question.byte()]);
                    }
                }
                LinkEvent::Bytes(bytes) => {
                    frames.push(&bytes);
                    while let Some(message) = frames.next_message() {
                        answer.take(message);
                    }
                    if enough(&answer) {
                        return None;
                    }
                }
                LinkEvent::Closed { reason } | LinkEvent::Absent { reason } => {
                    return Some(reason);
                }
            }
        }
        None
    };
    let lost = tokio::select! {
        lost = timeout(patience, listen) => lost.ok().flatten(),
        () = link => None,
    };
    match lost {
        _ if answer.heard => Ok(answer),
        Some(reason) => Err(ProbeError::Closed(reason)),
        None => Err(ProbeError::Silent),
    }
}

impl Answer {
    fn take(&mut self, message: Message) {
        match message {
            Message::Version { major, minor } => {
                self.firmware = Some(format!("{major}.{minor}"));
            }
            Message::Serial(text) => {
                let short = short(&text);
                self.serial.get_or_insert(short.clone());
                self.short = Some(short);
            }
            Message::LongSerial(text) => self.serial = Some(text),
            Message::Battery(battery) => self.battery_percent = Some(battery.percent),
            Message::Clock(ClockMessage::Times(times)) => {
                self.clock = Some(FoundClock {
                    connected: times.connected,
                    running: times.running,
                    battery_low: times.battery_low,
                    left_s: times.left.seconds,
                    right_s: times.right.seconds,
                });
            }
            Message::Dump(codes) => {
                let mut sensors = Sensors::default();
                sensors.dump(&codes, At::default());
                let lies = if sensors.turned() {
                    Orientation::Turned
                } else {
                    Orientation::Upright
                };
                self.orientation = is_start_array(sensors.placement(), false).then_some(lies);
            }
            // Any other port may send bytes that look like a message nobody knows.
            _ => return,
        }
        self.heard = true;
    }

    fn long(&self) -> bool {
        let mut serial = self.serial.iter();
        serial.any(|serial| serial.len() > SHORT)
    }

    /// Everything a board with all abilities tells.
    fn complete(&self) -> bool {
        self.long()
            && self.firmware.is_some()
            && self.clock.is_some()
            && self.battery_percent.is_some()
    }
}

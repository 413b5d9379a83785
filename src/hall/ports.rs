//! The serial ports of this machine, by names that stay the same when a cable is moved back.

use std::{fs, path::Path, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{
    dgt::{ClockMessage, Frames, Message, Request},
    link::{self, Address, LinkEvent},
};

/// Names that follow the socket, not the order of plugging in.
const STABLE: &str = "/dev/serial/by-path";
/// A board answers within a second; a slow USB hub takes another.
const PATIENCE: Duration = Duration::from_secs(3);

/// Every serial port a board may hang on, in a fixed order.
pub fn all() -> Vec<Address> {
    let mut paths = names(Path::new(STABLE), |_| true);
    if paths.is_empty() {
        paths = names(Path::new("/dev"), |name| {
            name.starts_with("ttyUSB") || name.starts_with("ttyACM")
        });
    }
    paths
        .iter()
        .filter_map(|path| path.parse().ok())
        .collect()
}

fn names(dir: &Path, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<String> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(&wanted))
        .filter_map(|entry| entry.path().to_str().map(str::to_owned))
        .collect();
    found.sort();
    found
}

/// What a port answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Why nothing could be asked.
    pub fault: Option<String>,
    /// Serial number, the long one if the board has one.
    pub serial: Option<String>,
    /// `major.minor`.
    pub firmware: Option<String>,
    /// Battery charge in percent.
    pub battery: Option<u8>,
    /// Whether a clock is connected.
    pub clock: Option<bool>,
    /// The 64 codes of the board.
    pub dump: Option<[u8; 64]>,
}

/// Asks one port for all it knows of itself; only what is safe in play.
pub async fn probe(address: &Address) -> Answer {
    let (events_in, mut events) = mpsc::channel(16);
    let (commands, commands_out) = mpsc::channel(16);
    let stop = CancellationToken::new();
    let link = tokio::spawn(link::run(
        address.clone(),
        events_in,
        commands_out,
        stop.clone(),
    ));
    let answer = listen(&mut events, &commands).await;
    stop.cancel();
    drop(events);
    // The link ends with its token; a panic there has been logged.
    let _ = link.await;
    answer
}

async fn listen(
    events: &mut mpsc::Receiver<LinkEvent>,
    commands: &mpsc::Sender<Vec<u8>>,
) -> Answer {
    let mut answer = Answer::default();
    let mut frames = Frames::new();
    let mut deadline = Instant::now() + PATIENCE;
    while let Ok(Some(event)) = timeout_at(deadline, events.recv()).await {
        match event {
            LinkEvent::Opened => {
                for request in [
                    Request::Version,
                    Request::Serial,
                    Request::LongSerial,
                    Request::Battery,
                    Request::Clock,
                    Request::Board,
                ] {
                    // a port that takes nothing answers nothing
                    let _ = commands.send(vec![request.byte()]).await;
                }
            }
            LinkEvent::Bytes(bytes) => {
                frames.push(&bytes);
                while let Some(message) = frames.next_message() {
                    answer.note(message);
                }
                if answer.dump.is_some() {
                    // the board was asked last; the rest of the line may still come
                    deadline = deadline.min(Instant::now() + Duration::from_millis(300));
                }
            }
            LinkEvent::Closed { reason } | LinkEvent::Absent { reason } => {
                answer.fault = Some(reason);
                return answer;
            }
        }
    }
    answer
}

impl Answer {
    fn note(&mut self, message: Message) {
        match message {
            Message::Serial(serial) => {
                self.serial.get_or_insert(serial.trim().to_owned());
            }
            Message::LongSerial(serial) => self.serial = Some(serial.trim().to_owned()),
            Message::Version { major, minor } => self.firmware = Some(format!("{major}.{minor}")),
            Message::Battery(battery) => self.battery = Some(battery.percent),
            Message::Clock(ClockMessage::Times(times)) => self.clock = Some(times.connected),
            Message::Dump(codes) => self.dump = Some(codes),
            _ => {}
        }
    }
}

/// The port whose board has this serial number.
pub async fn with_serial(serial: &str) -> Option<Address> {
    for address in all() {
        if probe(&address).await.serial.as_deref() == Some(serial) {
            return Some(address);
        }
    }
    None
}

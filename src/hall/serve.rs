//! The daemon: broker, client, journal and one watch per board, from start to stop.

use std::{path::PathBuf, time::Duration};

use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{
    Clock, Settings,
    pairings::{Pairings, PairingsError},
    probe,
    relays::{RelayError, Relays},
    settings::BrokerAddress,
    watch::{Desk, Post, Told, watch},
};
use crate::{
    journal::{DAEMON, Entry, FileError, Journal, JournalThread, Kind, OpenError, Seqs, last_seqs},
    link::Address,
    monitor,
    publish::{
        Actor, Broker, BrokerError, BrokerSettings, ClientSettings, Publisher, TopicError, Topics,
        channel,
        payload::{Info, info},
    },
    words::BoardNo,
};

/// Half the time after which a silent broker is given up.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How often the ports are looked over for a board that was plugged in, when no board is named.
const LOOK_FOR_BOARDS: Duration = Duration::from_secs(3);

/// A board answers within a second; a slow USB hub takes another.
const PROBE_PATIENCE: Duration = Duration::from_secs(3);

/// Why the daemon does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Venue or root make no topic.
    #[error("mqtt.root, venue.id: {0}")]
    Topics(#[from] TopicError),
    /// The embedded broker.
    #[error("[broker]: {0}")]
    Broker(#[from] BrokerError),
    /// The journal.
    #[error("[journal]: {0}")]
    Journal(#[from] OpenError),
    /// An older segment of the journal.
    #[error("[journal]: {0}")]
    OldJournal(#[from] FileError),
    /// The pairings.
    #[error("event.pairings: {0}")]
    Pairings(#[from] PairingsError),
    /// The password file.
    #[error("mqtt.password_file: {path}: {source}")]
    Password {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An output of the relay.
    #[error("[[relay]]: {0}")]
    Relay(#[from] RelayError),
    /// A broker that asks for TLS.
    #[error("mqtt.broker: this build speaks no TLS; use mqtt://, or a local Mosquitto as a bridge")]
    Tls,
}

/// A running daemon.
pub struct Hall {
    relays: Relays,
    broker: Option<Broker>,
    client: (String, u16),
    boards: JoinSet<()>,
    actor: tokio::task::JoinHandle<()>,
    journal: Journal,
    journal_thread: JournalThread,
    stop_boards: CancellationToken,
    stop_actor: CancellationToken,
}

impl Hall {
    /// Starts everything. Boards that are not there are waited for.
    ///
    /// # Errors
    /// When the broker cannot listen, the journal cannot be written, or a file does not read.
    pub async fn start(
        settings: &Settings,
        clock: Clock,
        onlooker: Option<mpsc::UnboundedSender<Told>>,
    ) -> Result<Hall, ServeError> {
        let topics = Topics::new(&settings.mqtt.root, &settings.venue.id)?;
        let pairings = match &settings.event.pairings {
            Some(path) => {
                let pairings = Pairings::read(path, &settings.event.round)?;
                for note in pairings.notes() {
                    tracing::warn!("{}", note.at(path));
                }
                pairings
            }
            None => Pairings::default(),
        };
        let (journal, journal_thread) = Journal::open(&settings.journal.dir, clock.wall())?;
        let seqs = last_seqs(&settings.journal.dir)?;
        let (broker, client) = broker(settings).await?;
        let boot = boot_name(&clock);
        let (publisher, actor) = self::client(settings, &client, &topics, &boot)?;
        let stop_actor = CancellationToken::new();
        let actor = tokio::spawn(actor.run(stop_actor.clone()));
        journal.append(&Entry {
            board: DAEMON,
            seq: seqs.get(&DAEMON).map_or(1, |last| last + 1),
            at: clock.at(),
            wall: clock.wall(),
            kind: Kind::Boot {
                boot: boot.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        });
        let numbers: Vec<BoardNo> = settings
            .boards
            .iter()
            .map(|board| BoardNo(board.number))
            .collect();
        let hello = Info {
            version: env!("CARGO_PKG_VERSION"),
            boards: &numbers,
            regime: settings.event.regime.name(),
            schema: "urn:atalaya:mqtt:v1",
        };
        publisher.send(vec![info(&topics, &boot, 1, clock.wall(), &hello)]);
        let (relays, relay) = Relays::start(settings, &pairings, clock).await?;
        let desk = Desk {
            clock,
            boot,
            topics,
            edition: settings.event.laws,
            publisher,
            journal: journal.clone(),
            relay,
            onlooker,
        };
        let stop_boards = CancellationToken::new();
        let mut boards = JoinSet::new();
        for board in &settings.boards {
            let own = monitor_settings(settings, &pairings, board.number, board.clock.as_str());
            let seq = seqs.get(&BoardNo(board.number)).copied().unwrap_or(0);
            let (desk, stop) = (desk.clone(), stop_boards.clone());
            match (&board.port, &board.serial) {
                (Some(address), _) => {
                    let post = Post {
                        address: address.clone(),
                        settings: own,
                    };
                    boards.spawn(watch(post, desk, seq, stop));
                }
                (None, Some(serial)) => {
                    boards.spawn(watch_by_serial(serial.clone(), own, desk, seq, stop));
                }
                (None, None) => {}
            }
        }
        if settings.boards.is_empty() {
            let (settings, stop) = (settings.clone(), stop_boards.clone());
            boards.spawn(watch_all_ports(settings, pairings, desk, seqs, stop));
        }
        Ok(Hall {
            relays,
            broker,
            client,
            boards,
            actor,
            journal,
            journal_thread,
            stop_boards,
            stop_actor,
        })
    }

    /// Where MQTT clients find the boards: host and port.
    pub fn broker(&self) -> (&str, u16) {
        (&self.client.0, self.client.1)
    }

    /// Stops in order: boards, journal, client, broker. Nothing that was seen is lost.
    pub async fn stop(mut self) {
        self.stop_boards.cancel();
        while self.boards.join_next().await.is_some() {}
        self.relays.stop().await;
        drop(self.journal);
        let ended = tokio::task::spawn_blocking(|| self.journal_thread.stop()).await;
        if !matches!(ended, Ok(Ok(()))) {
            tracing::error!("stopped before the journal was all on disk");
        }
        self.stop_actor.cancel();
        if self.actor.await.is_err() {
            tracing::error!("the MQTT client ended badly");
        }
        if let Some(broker) = self.broker {
            broker.stop().await;
        }
    }
}

/// A board known by its number only: the ports are asked until one answers with it.
async fn watch_by_serial(
    serial: String,
    settings: monitor::Settings,
    desk: Desk,
    seq: u64,
    stop: CancellationToken,
) {
    loop {
        let found = tokio::select! {
            () = stop.cancelled() => return,
            found = port_with_serial(&serial) => found,
        };
        if let Some(address) = found {
            return watch(Post { address, settings }, desk, seq, stop).await;
        }
        tracing::warn!(
            board = settings.board,
            serial,
            "no port answers with this serial number"
        );
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_FOR_BOARDS) => {}
        }
    }
}

/// The port whose board has this serial number.
async fn port_with_serial(serial: &str) -> Option<Address> {
    for address in probe::serial_ports() {
        let answer = probe::probe(address.clone(), PROBE_PATIENCE).await;
        if answer.is_ok_and(|answer| answer.serial.as_deref() == Some(serial)) {
            return Some(address);
        }
    }
    None
}

/// No board is named: every port that is there, or comes, is one; numbered in the order of their
/// stable paths, then as they come.
async fn watch_all_ports(
    settings: Settings,
    pairings: Pairings,
    desk: Desk,
    seqs: Seqs,
    stop: CancellationToken,
) {
    let mut known: Vec<Address> = Vec::new();
    let mut boards = JoinSet::new();
    loop {
        for address in probe::serial_ports() {
            if known.contains(&address) || known.len() >= usize::from(u16::MAX) {
                continue;
            }
            known.push(address.clone());
            let number = known.len() as u16;
            tracing::info!(board = number, port = %address, "port found");
            let own = monitor_settings(&settings, &pairings, number, "auto");
            let seq = seqs.get(&BoardNo(number)).copied().unwrap_or(0);
            let post = Post {
                address,
                settings: own,
            };
            boards.spawn(watch(post, desk.clone(), seq, stop.clone()));
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(LOOK_FOR_BOARDS) => {}
        }
    }
    while boards.join_next().await.is_some() {}
}

fn monitor_settings(
    settings: &Settings,
    pairings: &Pairings,
    board: u16,
    clock: &str,
) -> monitor::Settings {
    let event = &settings.event;
    let pairing = pairings.get(BoardNo(board));
    let control = event.time_control.as_ref();
    monitor::Settings {
        board,
        venue: settings.venue.id.clone(),
        event: event.name.clone(),
        site: event.site.clone().unwrap_or_else(|| "?".to_owned()),
        date: event.pgn_date(),
        round: event.round.clone(),
        white: pairing.map(|pair| pair.white.name.clone()),
        black: pairing.map(|pair| pair.black.name.clone()),
        time_control: control.map(ToString::to_string),
        increment_s: control.map_or(0, super::settings::TimeControl::increment_s),
        regime: event.regime.name().to_owned(),
        chess960: event.variant == super::settings::Variant::Chess960,
        clock: clock.to_owned(),
        press_grace_ms: settings.timing.press_grace_ms,
        confirm_ms: settings.timing.confirm_ms,
        settle_ms: settings.timing.settle_ms,
        gesture_ms: settings.timing.gesture_ms,
        ..monitor::Settings::default()
    }
}

async fn broker(settings: &Settings) -> Result<(Option<Broker>, (String, u16)), ServeError> {
    match &settings.mqtt.broker {
        BrokerAddress::Embedded => {
            let broker = Broker::start(BrokerSettings {
                listen: settings.broker.listen,
                websocket: settings.broker.websocket,
                users: Vec::new(),
            })
            .await?;
            let mut address = broker.addr();
            if address.ip().is_unspecified() {
                address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
            }
            let client = (address.ip().to_string(), address.port());
            Ok((Some(broker), client))
        }
        BrokerAddress::Remote { tls: true, .. } => Err(ServeError::Tls),
        BrokerAddress::Remote { host, port, .. } => Ok((None, (host.clone(), *port))),
    }
}

fn client(
    settings: &Settings,
    (host, port): &(String, u16),
    topics: &Topics,
    boot: &str,
) -> Result<(Publisher, Actor), ServeError> {
    let mqtt = &settings.mqtt;
    let login = match (&mqtt.username, &mqtt.password_file) {
        (Some(user), Some(path)) => {
            let text = std::fs::read_to_string(path).map_err(|source| ServeError::Password {
                path: path.clone(),
                source,
            })?;
            let password = text.lines().next().unwrap_or_default().to_owned();
            Some((user.clone(), password))
        }
        _ => None,
    };
    Ok(channel(ClientSettings {
        host: host.clone(),
        port: *port,
        client_id: format!("atalaya-{}", topics.venue()),
        login,
        keep_alive: KEEP_ALIVE,
        topics: topics.clone(),
        boot: boot.to_owned(),
    }))
}

/// Short, and new at each start as long as the wall clock moves.
fn boot_name(clock: &Clock) -> String {
    format!("{:x}", clock.wall().as_millisecond())
}

//! The ways out for the games: profiles from the settings, and the tasks that keep them.

use std::{
    collections::BTreeMap,
    env, io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinHandle, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    Clock, Pairings, Settings,
    settings::{Relay, RelayKind, Variant},
};
use crate::{
    monitor::{Monitor, Output},
    relay::{self, Event, Feed, Moment, News, Profile, Reader, Seat, Sheet, Time, lichess},
    words::{At, BoardNo},
};

/// LiveChess's own port.
const LIVECHESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1982);
/// A port Lichess polls (relay.md 1.4).
const HTTP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8491);

/// Why an output does not start.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The address is taken, or not ours.
    #[error("relay.listen: {address}: {source}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The token does not read.
    #[error("relay.token_file: {path}: {source}")]
    Token {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No TLS.
    #[error("relay.url: {0}")]
    Client(#[from] reqwest::Error),
}

/// Where the token is: the file, or systemd's credential of the same name where there is no such
/// file.
pub fn token_file(path: &Path) -> PathBuf {
    let credentials = env::var_os("CREDENTIALS_DIRECTORY").filter(|_| !path.exists());
    let credential = credentials.and_then(|dir| Some(Path::new(&dir).join(path.file_name()?)));
    credential
        .filter(|path| path.exists())
        .unwrap_or_else(|| path.to_owned())
}

/// The Lichess round of a relay of that kind.
///
/// # Errors
/// When the token cannot be read.
pub fn target(relay: &Relay) -> Result<lichess::Target, RelayError> {
    let path = token_file(relay.token_file.as_deref().unwrap_or(Path::new("")));
    let text =
        std::fs::read_to_string(&path).map_err(|source| RelayError::Token { path, source })?;
    let token = text.lines().next().unwrap_or_default().trim().to_owned();
    let url = relay.url.clone().unwrap_or_default();
    Ok(lichess::Target::new(url, token, lichess::Pace::default())?)
}

async fn listen(address: Option<SocketAddr>, usual: SocketAddr) -> Result<TcpListener, RelayError> {
    let address = address.unwrap_or(usual);
    let bound = TcpListener::bind(address).await;
    bound.map_err(|source| RelayError::Listen { address, source })
}

/// Under the journal's folder.
const RECORD: &str = "relay";

/// The daemon's clock as moments that outlive it. The wall clock is read once, so that its jumps
/// let nothing out early.
#[derive(Debug, Clone, Copy)]
struct RelayTime {
    clock: Clock,
    start_ms: u64,
}

impl RelayTime {
    fn new(clock: Clock) -> RelayTime {
        let wall = u64::try_from(clock.wall().as_millisecond()).unwrap_or(0);
        RelayTime {
            clock,
            start_ms: wall.saturating_sub(clock.at().0),
        }
    }

    fn moment(&self, at: At) -> Moment {
        Moment(self.start_ms.saturating_add(at.0))
    }
}

impl Time for RelayTime {
    fn now(&self) -> Moment {
        self.moment(self.clock.at())
    }

    fn instant_of(&self, moment: Moment) -> Instant {
        self.clock
            .instant_of(At(moment.0.saturating_sub(self.start_ms)))
    }
}

/// Where a board's watch tells the relay. Without any output nothing is told.
#[derive(Debug, Clone, Default)]
pub struct RelayDesk(Option<(Feed, RelayTime)>);

impl RelayDesk {
    /// Tells what a monitor said.
    pub fn tell(&self, board: BoardNo, output: &Output, monitor: &Monitor, at: At) {
        let Some((feed, time)) = &self.0 else { return };
        match output {
            Output::Pgn { game, .. } => {
                let ending = match monitor.game().stage() {
                    crate::game::Stage::Ended { score, by } => Some((score, by)),
                    _ => None,
                };
                let (start, record) = (monitor.game().start(), monitor.record());
                let sheet = Sheet::new(game.clone(), start, record, ending, time.moment(at));
                feed.tell(News::Game(board, sheet));
            }
            Output::Link(report) => feed.tell(News::Link(board, report.clone())),
            Output::State(state) => feed.tell(News::State(board, state.clone())),
            Output::Clock(view) => feed.tell(News::Clock(board, *view, time.moment(at))),
            _ => {}
        }
    }
}

/// The running outputs.
#[derive(Debug)]
pub(super) struct Relays {
    keeper: Option<JoinHandle<()>>,
    outputs: JoinSet<()>,
    stop: CancellationToken,
}

impl Relays {
    /// Starts all outputs of the settings.
    ///
    /// # Errors
    /// When an address cannot be listened on, or the token cannot be read.
    pub(super) async fn start(
        settings: &Settings,
        pairings: &Pairings,
        clock: Clock,
    ) -> Result<(Relays, RelayDesk), RelayError> {
        let mut relays = Relays {
            keeper: None,
            outputs: JoinSet::new(),
            stop: CancellationToken::new(),
        };
        if settings.relays.is_empty() {
            return Ok((relays, RelayDesk::default()));
        }
        let time = RelayTime::new(clock);
        let dir = settings.journal.dir.join(RECORD);
        let (feed, keeper, sight) = relay::feed(event(settings), seats(pairings), &dir);
        relays.keeper = Some(tokio::spawn(keeper.run()));
        for one in &settings.relays {
            let reader = Reader::new(sight.world.clone(), profile(one), time);
            let stop = relays.stop.clone();
            match one.kind {
                RelayKind::Folder => {
                    let dir = one.dir.clone().unwrap_or_default();
                    relays.outputs.spawn(relay::folder::run(dir, reader, stop));
                }
                RelayKind::Http => {
                    let listener = listen(one.listen, HTTP).await?;
                    relays
                        .outputs
                        .spawn(relay::http::run(listener, reader, stop));
                }
                RelayKind::Livechess => {
                    let listener = listen(one.listen, LIVECHESS).await?;
                    let lives = sight.lives.clone();
                    relays
                        .outputs
                        .spawn(relay::livechess::run(listener, reader, lives, stop));
                }
                RelayKind::Lichess => {
                    let standing = watch::Sender::default();
                    let push = lichess::run(target(one)?, reader, standing, stop);
                    relays.outputs.spawn(push);
                }
            }
        }
        Ok((relays, RelayDesk(Some((feed, time)))))
    }

    /// Ends them when all boards have ended; what is due goes out first.
    pub(super) async fn stop(mut self) {
        if let Some(keeper) = self.keeper.take()
            && keeper.await.is_err()
        {
            tracing::error!("the relay's record ended badly");
        }
        self.stop.cancel();
        while let Some(ended) = self.outputs.join_next().await {
            if ended.is_err() {
                tracing::error!("an output of the relay ended badly");
            }
        }
    }
}

fn profile(relay: &Relay) -> Profile {
    Profile {
        boards: relay.boards.clone(),
        delay_ms: u64::from(relay.delay_seconds) * 1000,
        delay_plies: usize::from(relay.delay_plies),
        delay_boards: relay.delay_boards.clone(),
        clocks: relay.clocks,
        segments: relay.segments,
    }
}

fn event(settings: &Settings) -> Event {
    let event = &settings.event;
    let control = event.time_control.as_ref();
    Event {
        name: event.name.clone(),
        site: event.site.clone().unwrap_or_else(|| "?".to_owned()),
        date: event.pgn_date(),
        round: event.round.clone(),
        time_control: control.map(ToString::to_string),
        first_s: control.map(super::settings::TimeControl::first_s),
        chess960: event.variant == Variant::Chess960,
    }
}

fn seats(pairings: &Pairings) -> BTreeMap<BoardNo, Seat> {
    let seat = |(board, pairing): (BoardNo, &super::Pairing)| {
        let seat = Seat {
            white: pairing.white.clone(),
            black: pairing.black.clone(),
            result: pairing.result.clone(),
        };
        (board, seat)
    };
    pairings.iter().map(seat).collect()
}

//! The ways out for the games: profiles from the settings, and the tasks that keep them.

use std::{
    collections::BTreeMap,
    env, io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use tokio::{net::TcpListener, sync::watch, task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    Clock, Lookout, Pairings, Plan, Settings,
    lookout::Outlet,
    settings::{Relay, RelayKind, Variant},
};
use crate::{
    monitor::{Monitor, Output},
    relay::{
        self, Event, Feed, Moment, News, Profile, Reader, Seat, Sheet, Sight, Standing, Time,
        World, book::Ending, far, lichess, sftp, standing,
    },
    words::{At, BoardNo, GameId},
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
    /// A password or key does not read.
    #[error("relay: {path}: {why}")]
    Secret {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Not where files can be sent to.
    #[error("relay.url: {0}")]
    Place(#[from] far::PlaceError),
    /// Nothing says which machine is the right one.
    #[error("relay.host_key: is missing")]
    HostKey,
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

/// The far folder of a relay of that kind.
///
/// # Errors
/// When its password or key cannot be read.
pub fn depot(relay: &Relay) -> Result<far::Depot, RelayError> {
    let secret = |file: &Path| {
        let path = token_file(file);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok((path, text)),
            Err(why) => Err(RelayError::Secret {
                path,
                why: why.to_string(),
            }),
        }
    };
    let password = || {
        let file = relay.password_file.as_deref().unwrap_or(Path::new(""));
        let (_, text) = secret(file)?;
        Ok::<_, RelayError>(text.lines().next().unwrap_or_default().to_owned())
    };
    let login = match relay.kind {
        RelayKind::Sftp => {
            let proof = match &relay.key_file {
                Some(file) => {
                    let (path, text) = secret(file)?;
                    sftp::Proof::key(&text).map_err(|why| RelayError::Secret {
                        path,
                        why: why.to_string(),
                    })?
                }
                None => sftp::Proof::Password(password()?),
            };
            far::Login::Sftp(relay.host_key.ok_or(RelayError::HostKey)?, proof)
        }
        _ => far::Login::Ftp(password()?),
    };
    let place = relay.url.as_deref().unwrap_or_default().parse()?;
    Ok(far::Depot { place, login })
}

/// Where a relay of that kind listens.
pub fn address(relay: &Relay) -> Option<SocketAddr> {
    let usual = match relay.kind {
        RelayKind::Http => HTTP,
        RelayKind::Livechess => LIVECHESS,
        RelayKind::Folder | RelayKind::Lichess | RelayKind::Ftp | RelayKind::Sftp => return None,
    };
    Some(relay.listen.unwrap_or(usual))
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
pub struct RelayDesk(Arc<OnceLock<Line>>);

/// The way to the relay, and what is known there.
#[derive(Debug)]
struct Line {
    feed: Feed,
    time: RelayTime,
    world: watch::Receiver<Arc<World>>,
}

impl RelayDesk {
    /// Whether the relay has, or may have, a game of this name.
    pub fn knows(&self, board: BoardNo, game: &GameId) -> bool {
        let line = self.0.get();
        line.is_some_and(|line| line.world.borrow().knows(board, game))
    }

    /// Tells what a monitor said.
    pub fn tell(&self, board: BoardNo, output: &Output, monitor: &Monitor, at: At) {
        let Some(Line { feed, time, .. }) = self.0.get() else {
            return;
        };
        match output {
            Output::Pgn { game, .. } => {
                let ending = monitor.result();
                let (start, record) = (monitor.game().start(), monitor.record());
                let sheet = Sheet {
                    repairs: monitor.repairs(),
                    ..Sheet::new(game.clone(), start, record, ending, time.moment(at))
                };
                feed.tell(News::Game(board, sheet));
            }
            Output::Result { game, result } => {
                let ending = result.map(|(score, by)| Ending {
                    score: score.to_owned(),
                    by: by.to_owned(),
                    at: time.moment(at),
                });
                feed.tell(News::Result(board, game.clone(), ending));
            }
            Output::Link(report) => feed.tell(News::Link(board, report.clone())),
            Output::State(state) => feed.tell(News::State(board, state.clone())),
            Output::Clock(view) => feed.tell(News::Clock(board, *view, time.moment(at))),
            _ => {}
        }
    }
}

/// One running output.
#[derive(Debug)]
struct Running {
    relay: Relay,
    /// The round it was started in; an output to Lichess stays with it.
    round: String,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    async fn stop(self) {
        self.stop.cancel();
        if self.task.await.is_err() {
            tracing::error!("an output of the relay ended badly");
        }
    }
}

/// What an output needs that can fail.
enum Ready {
    Folder,
    Depot(far::Depot),
    Listener(TcpListener),
    Target(Box<lichess::Target>),
}

impl Ready {
    async fn make(relay: &Relay) -> Result<Ready, RelayError> {
        let Some(address) = address(relay) else {
            return Ok(match relay.kind {
                RelayKind::Lichess => Ready::Target(Box::new(target(relay)?)),
                RelayKind::Ftp | RelayKind::Sftp => Ready::Depot(depot(relay)?),
                _ => Ready::Folder,
            });
        };
        let bound = TcpListener::bind(address).await;
        bound
            .map(Ready::Listener)
            .map_err(|source| RelayError::Listen { address, source })
    }
}

/// The running outputs.
#[derive(Debug, Default)]
pub(super) struct Relays {
    keeper: Option<JoinHandle<()>>,
    sight: Option<Sight>,
    outputs: Vec<Running>,
    /// Outputs of this plan that did not start. The next plan starts them.
    unstarted: Vec<watch::Sender<Standing>>,
    pub(super) lookout: Lookout,
}

impl Relays {
    /// Goes over to the outputs and the round of a plan: what stays the same runs on, and a Lichess
    /// round that is over takes its last moves and corrections still. With an error nothing changes.
    ///
    /// # Errors
    /// When an address cannot be listened on, or the token cannot be read.
    pub(super) async fn turn_to(
        &mut self,
        plan: &Plan,
        desk: &RelayDesk,
        clock: Clock,
    ) -> Result<(), RelayError> {
        let settings = &plan.settings;
        let round = &settings.event.round;
        let mut stay = vec![false; self.outputs.len()];
        let mut fresh = Vec::new();
        for relay in &settings.relays {
            let same = |(at, one): (usize, &Running)| {
                let bound = relay.kind == RelayKind::Lichess && one.round != *round;
                !stay[at] && one.relay == *relay && !bound
            };
            match self.outputs.iter().enumerate().position(same) {
                Some(at) => stay[at] = true,
                None => fresh.push(relay.clone()),
            }
        }
        for (one, stay) in self.outputs.iter().zip(&mut stay) {
            let lichess = one.relay.kind == RelayKind::Lichess && one.round != *round;
            let again = settings
                .relays
                .iter()
                .any(|relay| relay.url == one.relay.url);
            if lichess && again {
                let url = one.relay.url.as_deref().unwrap_or_default();
                tracing::warn!(
                    url,
                    "relay.url is that of the round before: its games are overwritten"
                );
            }
            *stay |= lichess && !again;
        }
        let mut held = self.outputs.iter().zip(&stay).filter(|(_, stay)| !**stay);
        let mut ready = Vec::new();
        for relay in fresh {
            // What a present output holds is free in a moment.
            let wait = address(&relay).is_some()
                && held.any(|(one, _)| address(&one.relay) == address(&relay));
            let made = match wait {
                true => None,
                false => Some(Ready::make(&relay).await?),
            };
            ready.push((relay, made));
        }
        if self.sight.is_none() && !settings.relays.is_empty() {
            let time = RelayTime::new(clock);
            let dir = settings.journal.dir.join(RECORD);
            let seats = seats(&plan.pairings);
            let (feed, keeper, sight) = relay::feed(event(settings), seats, &dir, time.now());
            self.keeper = Some(tokio::spawn(keeper.run()));
            let world = sight.world.clone();
            self.sight = Some(sight);
            // Nobody else sets it.
            let _ = desk.0.set(Line { feed, time, world });
        }
        let Some(Line { feed, time, world }) = desk.0.get() else {
            return Ok(());
        };
        let seats = seats(&plan.pairings);
        for put_right in seats_before(&world.borrow(), round) {
            feed.tell(put_right);
        }
        feed.tell(News::Round(event(settings), seats, time.now()));
        let outputs = std::mem::take(&mut self.outputs).into_iter().zip(stay);
        for (output, stay) in outputs {
            match stay {
                true => self.outputs.push(output),
                false => output.stop().await,
            }
        }
        self.unstarted.clear();
        for (relay, made) in ready {
            let made = match made {
                Some(made) => made,
                None => match Ready::make(&relay).await {
                    Ok(made) => made,
                    Err(why) => {
                        tracing::error!(%why, "an output of the relay does not start");
                        let standing = self.stand(&relay);
                        standing::fails(&standing, why);
                        self.unstarted.push(standing);
                        continue;
                    }
                },
            };
            self.spawn(relay, made, round, *time);
        }
        Ok(())
    }

    /// Where an output tells how it stands.
    fn stand(&self, relay: &Relay) -> watch::Sender<Standing> {
        let standing = watch::Sender::default();
        let follow = self
            .lookout
            .clone()
            .follow(outlet(relay), standing.subscribe());
        tokio::spawn(follow);
        standing
    }

    fn spawn(&mut self, relay: Relay, made: Ready, round: &str, time: RelayTime) {
        let Some(sight) = &self.sight else { return };
        let reader = Reader::new(sight.world.clone(), profile(&relay), time);
        let stop = CancellationToken::new();
        let ended = stop.clone();
        let standing = self.stand(&relay);
        let task = match made {
            Ready::Folder => {
                let dir = relay.dir.clone().unwrap_or_default();
                tokio::spawn(relay::folder::run(dir, reader, standing, ended))
            }
            Ready::Depot(depot) => tokio::spawn(far::run(depot, reader, standing, ended)),
            Ready::Listener(listener) if relay.kind == RelayKind::Http => {
                tokio::spawn(relay::http::run(listener, reader, standing, ended))
            }
            Ready::Listener(listener) => {
                let lives = sight.lives.clone();
                tokio::spawn(relay::livechess::run(
                    listener, reader, lives, standing, ended,
                ))
            }
            Ready::Target(target) => {
                let reader = reader.of_round(round.to_owned());
                tokio::spawn(lichess::run(*target, reader, standing, ended))
            }
        };
        self.outputs.push(Running {
            relay,
            round: round.to_owned(),
            stop,
            task,
        });
    }

    /// Ends them when all boards have ended; what is due goes out first.
    pub(super) async fn stop(self) {
        if let Some(keeper) = self.keeper
            && keeper.await.is_err()
        {
            tracing::error!("the relay's record ended badly");
        }
        for output in &self.outputs {
            output.stop.cancel();
        }
        for output in self.outputs {
            output.stop().await;
        }
    }
}

/// An output as the operator reads of it; who logs in there is nobody's business.
fn outlet(relay: &Relay) -> Outlet {
    let place = match (relay.kind, address(relay)) {
        (RelayKind::Lichess, _) => return Outlet::Lichess,
        (RelayKind::Folder, _) => relay.dir.as_deref().map(|dir| dir.display().to_string()),
        (_, Some(address)) => Some(format!("http://{address}")),
        (_, None) => relay.url.clone().map(|url| match url.split_once("://") {
            Some((scheme, rest)) => {
                let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
                format!("{scheme}://{rest}")
            }
            None => url,
        }),
    };
    Outlet::To(place.unwrap_or_default())
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
        first_s: control.map(crate::words::TimeControl::first_s),
        chess960: event.variant == Variant::Chess960,
        pairings: event.pairings.clone(),
    }
}

/// The players of the other rounds, as their files name them now.
fn seats_before(world: &World, round: &str) -> Vec<News> {
    let mut news = Vec::new();
    for past in world.rounds().filter(|past| past.event.round != round) {
        let (Some(file), round) = (&past.event.pairings, &past.event.round) else {
            continue;
        };
        match Pairings::read(file, round) {
            Ok(pairings) => news.push(News::Seats(round.clone(), seats(&pairings))),
            Err(why) => tracing::warn!(round, %why, "the players of this round stay as they were"),
        }
    }
    news
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

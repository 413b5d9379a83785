//! The daemon: broker, client, journal and one watch per board, from start to stop.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{mpsc, watch as latest},
    task::{JoinHandle, JoinSet},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::{
    Clock, Metrics, Pulse, Settings, View,
    bus::{Buses, Seat},
    gate::Gate,
    herald::Herald,
    orders::{Orders, Switchboard},
    outside::{self, OutsideError},
    pairings::PairingsError,
    plan::{Plan, Plans},
    ports::{Port, Ports},
    relays::{RelayDesk, RelayError, Relays},
    seek::Seeker,
    settings::{self, BrokerAddress, Mqtt, WebTls},
    watch::{Desk, Left, Post, Told, Way, watch},
};
use crate::{
    incident::VERBS,
    journal::{
        DAEMON, Entry, FileError, Journal, JournalThread, Kind, OpenError, Rebuilt, Seqs, recover,
    },
    link::{Address, Manner},
    publish::{
        Actor, Broker, BrokerError, BrokerSettings, ClientSettings, Hear, Heard, Password,
        Publisher, Speaks, StatusWords, Tls, TlsError, TlsFiles, TopicError, Topics, User, channel,
    },
    web::{
        Users, UsersError, Web, WebError, WebSettings,
        phones::{NtfyUser, PhoneSettings, Phones},
        random_password,
        tls::{Certificate, CertificateError},
    },
    words::BoardNo,
};

/// Half the time after which a silent broker is given up.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How often the ports are looked over for a board that was plugged in, when no board is named.
const LOOK_FOR_BOARDS: Duration = Duration::from_secs(3);

/// Receipts that come in this time are journalled together.
const RECEIPTS_GATHER: Duration = Duration::from_millis(20);
/// The daemon's name at its own broker; no user can have it, for `*` is no letter.
const DAEMON_USER: &str = "*daemon*";

/// A board whose port is not known yet is not waited for any longer before what an earlier run left at
/// the broker is emptied; when it is found, it says all again.
const SETTLE: Duration = Duration::from_secs(10);

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
    /// The page.
    #[error("[web]: {0}")]
    Web(#[from] WebError),
    /// The users of the page.
    #[error("web.users: {0}")]
    Users(#[from] UsersError),
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
    /// The way to a broker that asks for TLS.
    #[error("[mqtt]: {0}")]
    Tls(#[from] TlsError),
    /// ntfy by TLS.
    #[error("[[ntfy]]: {0}")]
    Ntfy(#[from] reqwest::Error),
    /// The page's certificate.
    #[error("[web]: {0}")]
    Certificate(#[from] CertificateError),
    /// The metrics.
    #[error("[metrics]: {0}")]
    Outside(#[from] OutsideError),
}

/// A running daemon.
pub struct Hall {
    relays: Relays,
    broker: Option<Broker>,
    client: (String, u16),
    boards: Vec<Watched>,
    /// Who hears the commands; and who looks for boards where none is named.
    others: JoinSet<()>,
    plans: latest::Sender<Arc<Plan>>,
    desk: Desk,
    gate: JoinHandle<()>,
    actor: JoinHandle<()>,
    receipts: JoinHandle<()>,
    journal_thread: JournalThread,
    stop_boards: CancellationToken,
    stop_actor: CancellationToken,
    web: Option<Web>,
    phones: Option<Phones>,
    view: View,
}

/// A board that is watched.
struct Watched {
    board: settings::Board,
    stop: CancellationToken,
    task: JoinHandle<Left>,
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
        let plan = Plan::read(settings)?;
        plan.tell_notes();
        let (journal, journal_thread) = Journal::open(&settings.journal.dir, clock.wall())?;
        let (clock, mut past) = past(&settings.journal.dir, &journal, clock).await?;
        let (broker, client, login) = broker(settings, &topics).await?;
        let boot = boot_name(&clock);
        let (ear, heard) = mpsc::unbounded_channel();
        let tls = broker_tls(settings)?;
        let (publisher, actor) = self::client(&client, tls, login.clone(), &topics, &boot, ear);
        let stop_actor = CancellationToken::new();
        let actor = tokio::spawn(actor.run(stop_actor.clone()));
        let mut diary = Diary {
            journal: journal.clone(),
            clock,
            seq: past.take(DAEMON).seq,
        };
        diary.note(Kind::Boot {
            boot: boot.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        });
        let receipts = tokio::spawn(note_receipts(publisher.delivered(), diary));
        let (pulse, metrics) = (Pulse::default(), Metrics::new(&journal, &publisher));
        let view = View {
            metrics: metrics.clone(),
            pulse: pulse.clone(),
            journal: journal.clone(),
            publisher: publisher.clone(),
        };
        let (gate, gate_task) = Gate::open(&journal, publisher.clone(), pulse.watch("gate"));
        let relay = RelayDesk::default();
        let mut relays = Relays::default();
        relays.turn_to(&plan, &relay, clock).await?;
        let lookout = relays.lookout.clone();
        let (plans, seen) = latest::channel(Arc::new(plan));
        let herald = Herald {
            topics: topics.clone(),
            boot: boot.clone(),
            clock,
            publisher,
            plans: seen.clone(),
            lookout: lookout.clone(),
        };
        tokio::spawn(herald.run(journal.health()));
        let seeker = Seeker::new(settings.ports.search.clone());
        let desk = Desk {
            clock,
            boot,
            topics,
            gate,
            journal,
            relay,
            lookout,
            onlooker,
            buses: Buses::new(clock, seeker.clone()),
            seeker,
            switchboard: Switchboard::default(),
            metrics,
            pulse,
        };
        let stop_boards = CancellationToken::new();
        let mut others = JoinSet::new();
        let (silence, gate) = (past.silence(), desk.gate.clone());
        others.spawn(settle(silence, gate, stop_boards.clone()));
        others.spawn(desk.seeker.clone().run(stop_boards.clone()));
        others.spawn(Orders::new(desk.clone()).run(heard, stop_boards.clone()));
        others.spawn(feel_elsewhere(view.clone(), stop_boards.clone()));
        if let Some(address) = settings.metrics.listen {
            let listener = outside::listen(address).await?;
            others.spawn(outside::serve(listener, view.clone(), stop_boards.clone()));
        }
        let mut boards = Vec::new();
        for board in &settings.boards {
            let left = past.take(BoardNo(board.number));
            boards.push(watched(board, &seen, &desk, left, &stop_boards));
        }
        if settings.boards.is_empty() {
            others.spawn(watch_all_ports(
                settings.ports.search.clone(),
                seen,
                desk.clone(),
                past,
                stop_boards.clone(),
            ));
        }
        let phones = phones(settings, client.clone(), login.clone(), clock)?;
        let web = match settings.web.listen {
            Some(listen) => Some(serve_page(settings, client.clone(), login, listen, clock).await?),
            None => None,
        };
        Ok(Hall {
            relays,
            web,
            phones,
            broker,
            client,
            boards,
            others,
            plans,
            desk,
            gate: gate_task,
            actor,
            receipts,
            journal_thread,
            stop_boards,
            stop_actor,
            view,
        })
    }

    /// Goes over to another configuration: the next round, new pairings, other boards and outputs.
    /// What only a new start can change stays, and is named in the log. With an error everything
    /// stays as it was.
    ///
    /// # Errors
    /// When a file does not read, or an output cannot be started.
    pub async fn reload(&mut self, settings: &Settings) -> Result<(), ServeError> {
        let before = self.plans.borrow().clone();
        let (plan, unchanged) = Plan::read(settings)?.without_restart(&before.settings);
        let (desk, clock) = (self.desk.relay.clone(), self.desk.clock);
        self.relays.turn_to(&plan, &desk, clock).await?;
        for key in unchanged {
            tracing::warn!("{key}: changes with the next start only");
        }
        plan.tell_notes();
        let boards = plan.settings.boards.clone();
        self.plans.send_replace(Arc::new(plan));
        self.watch_these(&boards).await;
        Ok(())
    }

    /// Ends the watch of boards that are named no more, goes to where others are now, and begins with
    /// new ones.
    async fn watch_these(&mut self, boards: &[settings::Board]) {
        let place = |board: &settings::Board| {
            let (port, serial) = (board.port.clone(), board.serial.clone());
            (board.number, port, board.bus, serial, board.manner())
        };
        let mut left = BTreeMap::new();
        let stays = |one: &Watched| boards.iter().any(|board| place(board) == place(&one.board));
        let (stay, end): (Vec<_>, Vec<_>) = self.boards.drain(..).partition(stays);
        self.boards = stay;
        for one in end {
            one.stop.cancel();
            let number = one.board.number;
            match one.task.await {
                Ok(rest) => drop(left.insert(number, rest)),
                Err(why) => tracing::error!(board = number, %why, "a watch ended badly"),
            }
            self.desk.switchboard.disconnect(BoardNo(number));
            self.desk.lookout.forget(BoardNo(number));
        }
        for board in boards {
            if self
                .boards
                .iter()
                .all(|one| place(&one.board) != place(board))
            {
                let left = left.remove(&board.number).unwrap_or_default();
                let plans = self.plans.subscribe();
                let one = watched(board, &plans, &self.desk, left, &self.stop_boards);
                self.boards.push(one);
            }
        }
    }

    /// Where MQTT clients find the boards: host and port.
    pub fn broker(&self) -> (&str, u16) {
        (&self.client.0, self.client.1)
    }

    /// Whether every vital loop of the daemon has moved since this was asked last.
    pub fn moves(&self) -> bool {
        self.view.pulse.check()
    }

    /// The watchdog was told that all is well.
    pub fn kicked(&self) {
        self.view.metrics.kicked(self.desk.clock.wall());
    }

    /// How it stands, in a line.
    pub fn standing(&self) -> String {
        let (up, watched) = self.view.metrics.boards_up();
        let round = &self.plans.borrow().settings.event.round;
        let faults = self.view.faults();
        let faults = match faults.is_empty() {
            true => String::new(),
            false => format!("; {}", faults.join("; ")),
        };
        format!("round {round}: {up} of {watched} boards up{faults}")
    }

    /// Where the page is served.
    pub fn page(&self) -> Option<String> {
        self.web.as_ref().map(Web::url)
    }

    /// Stops in order: page, boards, client, journal, broker. Nothing that was seen is lost.
    pub async fn stop(mut self) {
        if let Some(web) = self.web.take() {
            web.stop().await;
        }
        if let Some(phones) = self.phones.take() {
            phones.stop().await;
        }
        self.stop_boards.cancel();
        for board in self.boards {
            // A panic has been logged by tokio.
            let _ = board.task.await;
        }
        while self.others.join_next().await.is_some() {}
        drop(self.desk);
        self.relays.stop().await;
        if self.gate.await.is_err() {
            tracing::error!("the way to the MQTT client ended badly");
        }
        self.stop_actor.cancel();
        if self.actor.await.is_err() || self.receipts.await.is_err() {
            tracing::error!("the MQTT client ended badly");
        }
        let ended = tokio::task::spawn_blocking(|| self.journal_thread.stop()).await;
        if !matches!(ended, Ok(Ok(()))) {
            tracing::error!("stopped before the journal was all on disk");
        }
        if let Some(broker) = self.broker {
            broker.stop().await;
        }
    }
}

/// What earlier runs of the daemon left of the boards.
struct Past {
    seqs: Seqs,
    rebuilt: BTreeMap<BoardNo, Rebuilt>,
    silent: Option<mpsc::Sender<Infallible>>,
}

impl Past {
    /// Ends when every board taken until [`Past::all_taken`] has said how it stands.
    fn silence(&mut self) -> mpsc::Receiver<Infallible> {
        let (silent, silence) = mpsc::channel(1);
        self.silent = Some(silent);
        silence
    }

    fn all_taken(&mut self) {
        self.silent = None;
    }

    fn take(&mut self, board: BoardNo) -> Left {
        Left {
            seq: self.seqs.get(&board).copied().unwrap_or(0),
            rebuilt: self.rebuilt.remove(&board),
            silent: self.silent.clone(),
        }
    }
}

/// Plays the running games again; the clock goes on behind them.
async fn past(
    dir: &std::path::Path,
    journal: &Journal,
    clock: Clock,
) -> Result<(Clock, Past), ServeError> {
    let known = journal.past().clone();
    let (dir, wall) = (dir.to_owned(), clock.wall());
    let began = clock.at();
    let worker = tokio::task::spawn_blocking(move || {
        recover(&dir, &known, wall).map(|rebuilt| (known, rebuilt))
    });
    let (known, rebuilt) = match worker.await {
        Ok(recovered) => recovered?,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    };
    let took_ms = clock.at().ms_since(began);
    tracing::info!(
        games = rebuilt.len(),
        took_ms,
        "the journal was played again"
    );
    let seqs = known.seqs;
    let past = Past {
        seqs,
        rebuilt,
        silent: None,
    };
    Ok((clock.behind(known.at), past))
}

/// The daemon's own entries.
struct Diary {
    journal: Journal,
    clock: Clock,
    seq: u64,
}

impl Diary {
    fn note(&mut self, kind: Kind) {
        self.seq += 1;
        self.journal.append(&Entry {
            board: DAEMON,
            seq: self.seq,
            at: self.clock.at(),
            wall: self.clock.wall(),
            kind,
        });
    }
}

/// Journals what the broker has, so that it is not told again after a crash; ends with the client.
async fn note_receipts(mut delivered: latest::Receiver<Seqs>, mut diary: Diary) {
    let mut noted = Seqs::new();
    while delivered.changed().await.is_ok() {
        sleep(RECEIPTS_GATHER).await;
        let all = delivered.borrow_and_update().clone();
        let mut fresh = all.clone();
        fresh.retain(|board, seq| noted.get(board) != Some(seq));
        noted = all;
        if !fresh.is_empty() {
            diary.note(Kind::Delivered(fresh));
        }
    }
}

/// Hands the pulse on to the loops that know nothing of it.
async fn feel_elsewhere(view: View, stop: CancellationToken) {
    let (journal, publisher) = (view.journal, view.publisher);
    // A disk that hangs would hang at the next start too: the boards are watched meanwhile.
    let written = view.pulse.watch_aside("journal");
    let told = view.pulse.watch("MQTT client");
    tokio::select! {
        () = stop.cancelled() => {}
        () = written.relay(|| journal.moving()) => {}
        () = told.relay(|| publisher.moving()) => {}
    }
}

/// Once every board has said how it stands, what earlier runs left at the broker goes.
async fn settle(mut silence: mpsc::Receiver<Infallible>, gate: Gate, stop: CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => return,
        _ = silence.recv() => {}
        () = sleep(SETTLE) => {}
    }
    gate.settled();
}

/// Begins to watch a board.
fn watched(
    board: &settings::Board,
    plans: &Plans,
    desk: &Desk,
    left: Left,
    stop_all: &CancellationToken,
) -> Watched {
    let stop = stop_all.child_token();
    let (number, plans, desk, ended) = (
        BoardNo(board.number),
        plans.clone(),
        desk.clone(),
        stop.clone(),
    );
    let way = match (&board.port, board.bus, &board.serial) {
        (Some(address), None, _) => Some(Way::Port(address.clone())),
        (Some(address), Some(number), _) => Some(Way::Bus(Seat {
            address: address.clone(),
            number,
        })),
        (None, _, serial) => serial.clone().map(Way::Serial),
    };
    let task = match way {
        // The settings ask for one of the two.
        None => tokio::spawn(async { left }),
        Some(way) => {
            let post = Post {
                board: number,
                way,
                manner: board.manner(),
                plans,
            };
            tokio::spawn(watch(post, desk, left, ended))
        }
    };
    Watched {
        board: board.clone(),
        stop,
        task,
    }
}

/// No board is named: every port that is there, or comes, is one; numbered in the order of their
/// stable paths, then as they come.
async fn watch_all_ports(
    ports: Ports,
    plans: Plans,
    desk: Desk,
    mut past: Past,
    stop: CancellationToken,
) {
    let mut known: Vec<Address> = Vec::new();
    let mut boards = JoinSet::new();
    loop {
        for Port { address, .. } in ports.list() {
            if known.contains(&address) || known.len() >= usize::from(u16::MAX) {
                continue;
            }
            known.push(address.clone());
            let board = BoardNo(known.len() as u16);
            tracing::info!(%board, port = %address, "port found");
            let left = past.take(board);
            let post = Post {
                board,
                way: Way::Port(address),
                manner: Manner::default(),
                plans: plans.clone(),
            };
            boards.spawn(watch(post, desk.clone(), left, stop.clone()));
        }
        past.all_taken();
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(LOOK_FOR_BOARDS) => {}
        }
    }
    while boards.join_next().await.is_some() {}
}

/// The broker, if it is our own; where it is reached, and how the daemon gets in.
async fn broker(
    settings: &Settings,
    topics: &Topics,
) -> Result<(Option<Broker>, (String, u16), Option<Login>), ServeError> {
    let (host, port) = match &settings.mqtt.broker {
        BrokerAddress::Embedded => return own_broker(settings, topics).await,
        BrokerAddress::Remote { host, port, .. } => (host.clone(), *port),
    };
    Ok((None, (host, port), login(&settings.mqtt)?))
}

/// Our own broker lets the users of the page in, each for its own commands; and the daemon, which
/// speaks for all, under a password of this run.
async fn own_broker(
    settings: &Settings,
    topics: &Topics,
) -> Result<(Option<Broker>, (String, u16), Option<Login>), ServeError> {
    let known = users(settings)?;
    let login = known
        .is_some()
        .then(|| (DAEMON_USER.to_owned(), random_password()));
    let mut users = Vec::new();
    for user in known.into_iter().flat_map(|known| known.users) {
        let verbs = VERBS.iter().filter(|verb| user.role.may(verb)).copied();
        let verbs: Vec<_> = verbs.collect();
        users.push(User {
            speaks: match verbs.is_empty() {
                true => Speaks::Nothing,
                false => Speaks::Commands(verbs),
            },
            name: user.name,
            password: Password::Hash(user.password),
        });
    }
    if let Some((name, password)) = &login {
        users.push(User {
            name: name.clone(),
            password: Password::Clear(password.clone()),
            speaks: Speaks::Everything,
        });
    }
    let broker = Broker::start(BrokerSettings {
        listen: settings.broker.listen,
        websocket: settings.broker.websocket,
        users,
        topics: topics.clone(),
    })
    .await?;
    let mut address = broker.addr();
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    let client = (address.ip().to_string(), address.port());
    Ok((Some(broker), client, login))
}

fn client(
    (host, port): &(String, u16),
    tls: Option<Tls>,
    login: Option<Login>,
    topics: &Topics,
    boot: &str,
    ear: mpsc::UnboundedSender<Heard>,
) -> (Publisher, Actor) {
    channel(ClientSettings {
        host: host.clone(),
        port: *port,
        tls,
        client_id: format!("atalaya-{}", topics.venue()),
        login,
        keep_alive: KEEP_ALIVE,
        status: Some(StatusWords {
            topics: topics.clone(),
            boot: boot.to_owned(),
        }),
        hear: Some(Hear {
            filters: vec![topics.commands()],
            ear,
        }),
    })
}

/// Serves the page of a daemon's venue, from the broker it publishes to.
///
/// # Errors
/// When the users do not read, or the address is taken.
pub async fn serve_page(
    settings: &Settings,
    broker: (String, u16),
    login: Option<Login>,
    listen: SocketAddr,
    clock: Clock,
) -> Result<Web, ServeError> {
    let web = &settings.web;
    let certificate = match (web.tls, &web.certificate, &web.key) {
        (WebTls::Generated, _, _) => {
            let dir = &settings.journal.dir;
            let made = Certificate::generated(dir, listen.ip(), clock.wall())?;
            let fingerprint = made.fingerprint()?;
            tracing::info!(
                fingerprint,
                "browsers ask once whether they trust the page's certificate: compare this"
            );
            Some(made)
        }
        (WebTls::Files, Some(chain), Some(key)) => Some(Certificate {
            chain: chain.clone(),
            key: key.clone(),
        }),
        _ => None,
    };
    Ok(Web::start(WebSettings {
        listen,
        broker,
        broker_tls: broker_tls(settings)?,
        certificate,
        login,
        topics: Topics::new(&settings.mqtt.root, &settings.venue.id)?,
        users: users(settings)?,
        language: settings.event.language.code(),
    })
    .await?)
}

/// The bridges to devices that know nothing of the page, if there are any.
fn phones(
    settings: &Settings,
    broker: (String, u16),
    login: Option<Login>,
    clock: Clock,
) -> Result<Option<Phones>, ServeError> {
    let user = |one: &settings::Ntfy| {
        let token = one.token_file.as_deref().map(first_line).transpose()?;
        Ok::<_, ServeError>(NtfyUser {
            url: one.url.clone(),
            user: one.user.clone(),
            language: one.language.unwrap_or(settings.event.language),
            checks: one.checks,
            token,
        })
    };
    let phones = PhoneSettings {
        broker,
        broker_tls: broker_tls(settings)?,
        login,
        topics: Topics::new(&settings.mqtt.root, &settings.venue.id)?,
        lines: settings.phones.lines,
        home_assistant: settings.phones.home_assistant.clone(),
        ntfy: settings.ntfy.iter().map(user).collect::<Result<_, _>>()?,
        wall: clock.wall(),
    };
    if phones.is_empty() {
        return Ok(None);
    }
    Ok(Some(Phones::start(phones)?))
}

fn users(settings: &Settings) -> Result<Option<Users>, ServeError> {
    Ok(settings.web.users.as_deref().map(Users::read).transpose()?)
}

/// How the venue's broker is spoken to, if by TLS.
///
/// # Errors
/// When a file does not read, or the files do not fit together.
pub fn broker_tls(settings: &Settings) -> Result<Option<Tls>, TlsError> {
    let mqtt = &settings.mqtt;
    let BrokerAddress::Remote {
        host,
        port,
        tls: true,
    } = &mqtt.broker
    else {
        return Ok(None);
    };
    let files = TlsFiles {
        authority: mqtt.ca_file.clone(),
        own: mqtt.client_cert.clone().zip(mqtt.client_key.clone()),
    };
    Tls::new(host, *port, &files).map(Some)
}

/// User name and password.
pub type Login = (String, String);

/// User name and password at the venue's broker, if it asks for any.
///
/// # Errors
/// When the password file does not read.
pub fn login(mqtt: &Mqtt) -> Result<Option<Login>, ServeError> {
    let (Some(user), Some(path)) = (&mqtt.username, &mqtt.password_file) else {
        return Ok(None);
    };
    Ok(Some((user.clone(), first_line(path)?)))
}

/// A password or a token.
fn first_line(path: &Path) -> Result<String, ServeError> {
    let text = std::fs::read_to_string(path).map_err(|source| ServeError::Password {
        path: path.to_owned(),
        source,
    })?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Short, and new at each start as long as the wall clock moves.
fn boot_name(clock: &Clock) -> String {
    format!("{:x}", clock.wall().as_millisecond())
}

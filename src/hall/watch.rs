//! One board's watch: the link's events into the monitor, and what it says to the world.

use std::convert::Infallible;

use jiff::Timestamp;
use tokio::{sync::mpsc, time::sleep_until};
use tokio_util::sync::CancellationToken;

use super::{
    Clock, Lookout, Meter, Metrics, Pulse, RelayDesk, Stopwatch,
    bus::{Buses, Seat},
    gate::Gate,
    orders::Switchboard,
    plan::Plans,
    seek::{self, Seeker},
};
use crate::{
    incident::Order,
    journal::{Entry, Journal, Kind, Rebuilt, Replayed, Undelivered, told},
    laws::Edition,
    link::{self, Address, LinkEvent, Manner},
    monitor::{self, Cut, Input, Monitor, Output},
    publish::{
        Context, Topics, messages,
        payload::{Outgoing, Qos},
    },
    words::{At, BoardNo},
};

/// Link events that may wait for the monitor, and commands for the link. Both are emptied in
/// microseconds; a full one only means that the machine stood still.
const WAITING: usize = 64;

/// One board to be watched.
#[derive(Debug, Clone)]
pub struct Post {
    /// Its number.
    pub board: BoardNo,
    /// Where it is reached.
    pub way: Way,
    /// How its port is used.
    pub manner: Manner,
    /// What its monitor must know, now and after each reload.
    pub plans: Plans,
}

/// How the way to a board is known.
#[derive(Debug, Clone)]
pub enum Way {
    /// By its port.
    Port(Address),
    /// By its serial number.
    Serial(String),
    /// By its number on a line with several.
    Bus(Seat),
}

/// What is left of a board from an earlier watch, or from before the daemon started.
#[derive(Debug, Default)]
pub struct Left {
    /// The last number it used.
    pub seq: u64,
    /// Its monitor, when a game may still be on.
    pub rebuilt: Option<Rebuilt>,
    /// Dropped when the board has said how it stands.
    pub silent: Option<mpsc::Sender<Infallible>>,
}

/// What all boards share.
#[derive(Clone)]
pub struct Desk {
    /// The time.
    pub clock: Clock,
    /// Names this run.
    pub boot: String,
    /// The venue's topics.
    pub topics: Topics,
    /// The way out.
    pub gate: Gate,
    /// The log of truth.
    pub journal: Journal,
    /// The ways out for the games.
    pub relay: RelayDesk,
    /// Who has which port.
    pub seeker: Seeker,
    /// The lines with several boards.
    pub buses: Buses,
    /// Who looks whether all goes together.
    pub lookout: Lookout,
    /// Where the commands of arbiters find the boards.
    pub switchboard: Switchboard,
    /// What is counted.
    pub metrics: Metrics,
    /// Which loops move.
    pub pulse: Pulse,
    /// Who looks over the shoulder, if anybody.
    pub onlooker: Option<mpsc::UnboundedSender<Told>>,
}

/// One thing a board's monitor said.
#[derive(Debug, Clone)]
pub struct Told {
    /// Which board.
    pub board: BoardNo,
    /// When.
    pub at: At,
    /// What.
    pub output: Output,
}

/// Watches one board until `stop`, and goes on where an earlier watch left it.
pub async fn watch(post: Post, desk: Desk, left: Left, stop: CancellationToken) -> Left {
    let (events_in, mut events) = mpsc::channel(WAITING);
    let (commands, commands_out) = mpsc::channel(WAITING);
    let mut orders = desk.switchboard.connect(post.board);
    let (seeker, manner, ended) = (desk.seeker.clone(), post.manner, stop.clone());
    let link = match post.way {
        Way::Port(address) => tokio::spawn(async move {
            let held = seeker.hold(address);
            let address = held.address.clone();
            link::run(address, manner, events_in, commands_out, ended).await;
        }),
        Way::Serial(serial) => {
            let follow = seek::follow(serial, seeker, manner, events_in, commands_out, ended);
            tokio::spawn(follow)
        }
        Way::Bus(seat) => {
            let buses = desk.buses.clone();
            tokio::spawn(async move {
                let ride = buses.ride(seat, manner, events_in, commands_out, ended);
                ride.await;
            })
        }
    };
    let mut plans = post.plans;
    let plan = plans.borrow_and_update().clone();
    let edition = plan.settings.event.laws;
    let mut beat = desk.pulse.watch(format!("board {}", post.board));
    let mut watch = Watch::begin(plan.of_board(post.board), edition, desk, commands, left);
    loop {
        let wake = watch.monitor.wake_at();
        let wake = wake.map(|at| watch.desk.clock.instant_of(at));
        tokio::select! {
            () = stop.cancelled() => break,
            event = events.recv() => match event {
                Some(event) => watch.take(event),
                None => break,
            },
            () = beat.felt() => {}
            Some(order) = orders.recv() => watch.order(&order),
            Ok(()) = plans.changed() => {
                let plan = plans.borrow_and_update().clone();
                watch.edition = plan.settings.event.laws;
                watch.configure(plan.of_board(post.board));
            }
            () = async { match wake {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            } } => watch.tick(),
        }
    }
    // The link ends with the same token; a task that panicked has been logged by tokio.
    let _ = link.await;
    watch.meter.gone();
    Left {
        seq: watch.seq,
        rebuilt: Some(Rebuilt {
            monitor: watch.monitor,
            undelivered: Default::default(),
        }),
        silent: None,
    }
}

struct Watch {
    board: BoardNo,
    seq: u64,
    commands: mpsc::Sender<Vec<u8>>,
    desk: Desk,
    monitor: Monitor,
    meter: Meter,
    settings: monitor::Settings,
    /// Edition that numbers the articles.
    edition: Edition,
}

impl Watch {
    fn begin(
        settings: monitor::Settings,
        edition: Edition,
        desk: Desk,
        commands: mpsc::Sender<Vec<u8>>,
        left: Left,
    ) -> Watch {
        let at = desk.clock.at();
        let (monitor, undelivered) = match left.rebuilt {
            Some(rebuilt) => (Some(rebuilt.monitor), rebuilt.undelivered),
            None => (None, Default::default()),
        };
        let resumed = monitor.is_some();
        let board = BoardNo(settings.board);
        let monitor = monitor.unwrap_or_else(|| Monitor::new(settings.clone()));
        let mut watch = Watch {
            board,
            meter: desk.metrics.meter(board, &monitor),
            seq: left.seq,
            commands,
            desk,
            monitor,
            settings: settings.clone(),
            edition,
        };
        if !resumed {
            watch.note(Kind::Cut(Box::new(Cut::fresh(settings))), at);
            return watch;
        }
        for old in undelivered {
            watch.deliver(old);
        }
        watch.note(Kind::Settings(Box::new(settings.clone())), at);
        watch.monitor.configure(settings, at);
        watch.drain(at);
        let reason = "the watch began again".to_owned();
        watch.note(Kind::Closed { reason }, at);
        watch.handle(Input::Closed, at);
        // A broker that was away, or is new, has nothing of it.
        let standing = watch.monitor.standing();
        watch.seq += 1;
        for output in &standing {
            let relay = &watch.desk.relay;
            relay.tell(watch.board, output, &watch.monitor, at);
            watch.desk.switchboard.note(watch.board, output);
            let lookout = &watch.desk.lookout;
            lookout.note(watch.board, output, &watch.monitor);
        }
        let messages = standing.iter().flat_map(|output| {
            let all = watch.messages(output, at, watch.desk.clock.wall(), watch.seq);
            all.into_iter().filter(|message| message.retained)
        });
        let messages = messages.collect();
        watch.desk.gate.send(messages);
        watch
    }

    /// Goes on under other settings.
    fn configure(&mut self, settings: monitor::Settings) {
        let at = self.desk.clock.at();
        if settings != self.settings {
            self.note(Kind::Settings(Box::new(settings.clone())), at);
            self.settings = settings.clone();
            self.monitor.configure(settings, at);
            self.drain(at);
        }
        // A relay that was not there before has heard nothing yet.
        for output in &self.monitor.standing() {
            self.desk.relay.tell(self.board, output, &self.monitor, at);
        }
    }

    /// What was said before the daemon ended, and perhaps not heard.
    fn deliver(&mut self, old: Undelivered) {
        let Undelivered { seq, said } = old;
        let Replayed {
            at, wall, output, ..
        } = said;
        let seq = seq.unwrap_or_else(|| {
            let line = told(&output).unwrap_or_default();
            self.note(Kind::Told(line), at);
            self.seq
        });
        let messages = self.messages(&output, at, wall, seq);
        let events = messages.into_iter().filter(|message| !message.retained);
        let events = events.collect();
        self.desk.gate.send_when_safe(&self.desk.journal, events);
    }

    fn take(&mut self, event: LinkEvent) {
        let at = self.desk.clock.at();
        let (input, kind) = match &event {
            LinkEvent::Opened => {
                self.meter.opened();
                (Input::Opened, Kind::Opened)
            }
            LinkEvent::Bytes(bytes) => {
                self.meter.bytes(bytes.len(), self.desk.clock.wall());
                (Input::Bytes(bytes), Kind::Bytes(bytes.clone()))
            }
            LinkEvent::Closed { reason } => {
                tracing::warn!(board = %self.board, reason, "the board's port was lost");
                let reason = reason.clone();
                (Input::Closed, Kind::Closed { reason })
            }
            LinkEvent::Absent { reason } => {
                tracing::warn!(board = %self.board, reason, "the board's port does not open");
                let reason = reason.clone();
                (Input::Absent, Kind::Absent { reason })
            }
        };
        self.note(kind, at);
        self.handle(input, at);
    }

    fn order(&mut self, order: &Order) {
        let at = self.desk.clock.at();
        tracing::info!(board = %self.board, user = order.user, verb = ?order.verb, "command");
        match serde_json::to_string(order) {
            Ok(text) => self.note(Kind::Command(text), at),
            // An order that was read from JSON always turns into it again.
            Err(why) => tracing::error!(%why, "a command that is not in the journal"),
        }
        self.handle(Input::Order(order), at);
    }

    fn tick(&mut self) {
        let at = self.desk.clock.at();
        self.note(Kind::Tick, at);
        self.handle(Input::Tick, at);
    }

    fn handle(&mut self, input: Input<'_>, at: At) {
        let work = Stopwatch::start();
        self.monitor.handle(input, at);
        self.meter.worked(&self.monitor, work.seconds());
        self.drain(at);
    }

    fn drain(&mut self, at: At) {
        let (mut out, mut weighty, mut plies) = (Vec::new(), false, 0);
        while let Some(output) = self.monitor.poll_output() {
            if let Output::Write(bytes) = output {
                self.write(bytes, at);
                continue;
            }
            let line = told(&output);
            weighty |= line.is_some();
            match line {
                Some(line) => self.note(Kind::Told(line), at),
                None => self.seq += 1,
            }
            log(self.board, &output);
            plies += usize::from(matches!(output, Output::Ply(_)));
            self.meter.said(&output, at);
            self.desk.relay.tell(self.board, &output, &self.monitor, at);
            self.desk.switchboard.note(self.board, &output);
            self.desk.lookout.note(self.board, &output, &self.monitor);
            out.extend(self.messages(&output, at, self.desk.clock.wall(), self.seq));
            if let Some(onlooker) = &self.desk.onlooker {
                let board = self.board;
                // An onlooker who left misses nothing.
                let _ = onlooker.send(Told { board, at, output });
            }
        }
        self.meter.made_final(plies);
        if let Some(cut) = self.monitor.take_cut() {
            self.note(Kind::Cut(cut), at);
        }
        if weighty {
            self.desk.gate.send_when_safe(&self.desk.journal, out);
        } else if !out.is_empty() {
            self.desk.gate.send(out);
        }
    }

    fn write(&mut self, bytes: Vec<u8>, at: At) {
        self.note(Kind::Written(bytes.clone()), at);
        if self.commands.try_send(bytes).is_err() {
            tracing::debug!(board = %self.board, "the port takes no commands now");
        }
    }

    fn note(&mut self, kind: Kind, at: At) {
        self.seq += 1;
        self.desk.journal.append(&Entry {
            board: self.board,
            seq: self.seq,
            at,
            wall: self.desk.clock.wall(),
            kind,
        });
    }

    fn messages(&self, output: &Output, at: At, wall: Timestamp, seq: u64) -> Vec<Outgoing> {
        let game = self.monitor.current_game();
        let context = Context {
            topics: &self.desk.topics,
            boot: &self.desk.boot,
            seq,
            ts: wall,
            now: at,
            board: self.board,
            round: Some(&self.settings.round),
            white: self.settings.white.as_deref(),
            black: self.settings.black.as_deref(),
            game: game.as_ref(),
            edition: self.edition,
        };
        let mut messages = messages(output, &context);
        for message in &mut messages {
            if !message.retained && message.qos == Qos::AtLeastOnce {
                message.receipt = Some((self.board, seq));
            }
        }
        messages
    }
}

fn log(board: BoardNo, output: &Output) {
    match output {
        Output::Ply(ply) => tracing::debug!(
            %board, game = %ply.game, ply = ply.ply, san = ply.san, irregular = ply.irregular, "ply"
        ),
        Output::Alert { change, alert } => tracing::info!(
            %board, ?change, code = alert.finding.code.as_str(), level = ?alert.level,
            ply = alert.ply, played = alert.move_text, id = alert.id, "alert"
        ),
        Output::Link(report) if report.noise => tracing::warn!(
            %board, "the port gives bytes, but nothing a board says: is it another device, another \
             speed (boards speak 9600 baud, 8N1), or a damaged cable?"
        ),
        Output::Link(report) => tracing::info!(%board, state = ?report.state, "link"),
        _ => {}
    }
}

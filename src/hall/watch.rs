//! One board's watch: the link's events into the monitor, and what it says to the world.

use tokio::{sync::mpsc, time::sleep_until};
use tokio_util::sync::CancellationToken;

use super::{Clock, RelayDesk};
use crate::{
    journal::{Entry, Journal, Kind, told},
    laws::Edition,
    link::{self, Address, LinkEvent},
    monitor::{self, Input, Monitor, Output},
    publish::{Context, Publisher, Topics, messages},
    words::{At, BoardNo},
};

/// Link events that may wait for the monitor, and commands for the link. Both are emptied in
/// microseconds; a full one only means that the machine stood still.
const WAITING: usize = 64;

/// One board to be watched.
#[derive(Debug, Clone)]
pub struct Post {
    /// Where it is reached.
    pub address: Address,
    /// What its monitor must know.
    pub settings: monitor::Settings,
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
    /// Edition that numbers the articles.
    pub edition: Edition,
    /// The way out.
    pub publisher: Publisher,
    /// The log of truth.
    pub journal: Journal,
    /// The ways out for the games.
    pub relay: RelayDesk,
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

/// Watches one board until `stop`. `seq` is the last number this board used.
pub async fn watch(post: Post, desk: Desk, seq: u64, stop: CancellationToken) {
    let (events_in, mut events) = mpsc::channel(WAITING);
    let (commands, commands_out) = mpsc::channel(WAITING);
    let link = tokio::spawn(link::run(
        post.address,
        events_in,
        commands_out,
        stop.clone(),
    ));
    let mut watch = Watch {
        board: BoardNo(post.settings.board),
        seq,
        commands,
        desk,
        monitor: Monitor::new(post.settings.clone()),
        settings: post.settings,
    };
    let settings = Kind::Settings(Box::new(watch.settings.clone()));
    watch.note(settings, watch.desk.clock.at());
    loop {
        let wake = watch.monitor.wake_at();
        let wake = wake.map(|at| watch.desk.clock.instant_of(at));
        tokio::select! {
            () = stop.cancelled() => break,
            event = events.recv() => match event {
                Some(event) => watch.take(event),
                None => break,
            },
            () = async { match wake {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            } } => watch.tick(),
        }
    }
    // The link ends with the same token; a task that panicked has been logged by tokio.
    let _ = link.await;
}

struct Watch {
    board: BoardNo,
    seq: u64,
    commands: mpsc::Sender<Vec<u8>>,
    desk: Desk,
    monitor: Monitor,
    settings: monitor::Settings,
}

impl Watch {
    fn take(&mut self, event: LinkEvent) {
        let at = self.desk.clock.at();
        let (input, kind) = match &event {
            LinkEvent::Opened => (Input::Opened, Kind::Opened),
            LinkEvent::Bytes(bytes) => (Input::Bytes(bytes), Kind::Bytes(bytes.clone())),
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

    fn tick(&mut self) {
        let at = self.desk.clock.at();
        self.note(Kind::Tick, at);
        self.handle(Input::Tick, at);
    }

    fn handle(&mut self, input: Input<'_>, at: At) {
        self.monitor.handle(input, at);
        while let Some(output) = self.monitor.poll_output() {
            self.tell(output, at);
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

    fn tell(&mut self, output: Output, at: At) {
        if let Output::Write(bytes) = &output {
            self.note(Kind::Written(bytes.clone()), at);
            if self.commands.try_send(bytes.clone()).is_err() {
                tracing::debug!(board = %self.board, "the port takes no commands now");
            }
            return;
        }
        if let Some(line) = told(&output) {
            self.note(Kind::Told(line), at);
        } else {
            self.seq += 1;
        }
        log(self.board, &output);
        let board = self.board;
        self.desk.relay.tell(board, &output, &self.monitor, at);
        let game = self.monitor.current_game();
        let context = Context {
            topics: &self.desk.topics,
            boot: &self.desk.boot,
            seq: self.seq,
            ts: self.desk.clock.wall(),
            now: at,
            board: self.board,
            round: Some(&self.settings.round),
            white: self.settings.white.as_deref(),
            black: self.settings.black.as_deref(),
            game: game.as_ref(),
            edition: self.desk.edition,
        };
        self.desk.publisher.send(messages(&output, &context));
        if let Some(onlooker) = &self.desk.onlooker {
            // An onlooker who left misses nothing.
            let _ = onlooker.send(Told { board, at, output });
        }
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
        Output::Link(report) => tracing::info!(%board, state = ?report.state, "link"),
        _ => {}
    }
}

//! The relay's own task: takes in what the monitors say, keeps the record on disk, and hands every
//! output the newest state.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

use super::{
    book::{Games, Moment, Sheet},
    files,
    folder::replace,
    profile::Profile,
    round::{Event, Seats},
    world::{Live, Lives, World},
};
use crate::{
    monitor::{BoardState, ClockView, LinkReport},
    words::BoardNo,
};

/// News taken in before the outputs are told.
const AT_ONCE: usize = 1024;

/// Who tells the time, and sleeps until it.
pub trait Time: Clone + Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Moment;
    /// When to wake to find that moment reached.
    fn instant_of(&self, moment: Moment) -> Instant;
}

/// One thing the relay is told.
#[derive(Debug, Clone)]
pub enum News {
    /// A game as it is now.
    Game(BoardNo, Sheet),
    /// How a board's cable is.
    Link(BoardNo, LinkReport),
    /// What a board shows.
    State(BoardNo, Box<BoardState>),
    /// A board's clocks.
    Clock(BoardNo, ClockView, Moment),
    /// A round begins, or its pairings changed.
    Round(Event, Seats),
}

/// The way in. Never waits; after the relay has ended nothing is missed.
#[derive(Debug, Clone)]
pub struct Feed(mpsc::UnboundedSender<News>);

impl Feed {
    /// Tells the relay.
    pub fn tell(&self, news: News) {
        // Only a relay that has stopped takes nothing, and it needs nothing.
        let _ = self.0.send(news);
    }
}

/// The relay's own task, before it runs.
#[derive(Debug)]
pub struct Keeper {
    inbox: mpsc::UnboundedReceiver<News>,
    world: watch::Sender<Arc<World>>,
    lives: watch::Sender<Lives>,
    dir: PathBuf,
}

/// What the outputs look at.
#[derive(Debug, Clone)]
pub struct Sight {
    /// The record.
    pub world: watch::Receiver<Arc<World>>,
    /// What the boards show now.
    pub lives: watch::Receiver<Lives>,
}

/// Makes the relay for a round. `dir` is where its record is kept; what is there of this round is
/// read, so that no delay begins anew.
pub fn feed(event: Event, seats: Seats, dir: &Path) -> (Feed, Keeper, Sight) {
    let (sender, inbox) = mpsc::unbounded_channel();
    let games = kept(&dir.join(files::folder(&event)));
    let world = World {
        event: Arc::new(event),
        seats: Arc::new(seats),
        games,
        serials: BTreeMap::new(),
    };
    let (world, world_seen) = watch::channel(Arc::new(world));
    let (lives, lives_seen) = watch::channel(Lives::new());
    let keeper = Keeper {
        inbox,
        world,
        lives,
        dir: dir.to_owned(),
    };
    let sight = Sight {
        world: world_seen,
        lives: lives_seen,
    };
    (Feed(sender), keeper, sight)
}

impl Keeper {
    /// Runs until every [`Feed`] is gone.
    pub async fn run(mut self) {
        let mut waiting = Vec::new();
        while self.inbox.recv_many(&mut waiting, AT_ONCE).await > 0 {
            let mut world = World::clone(&self.world.borrow());
            let mut changed = Vec::new();
            let mut news_of_world = false;
            for news in waiting.drain(..) {
                match news {
                    News::Game(board, sheet) => {
                        let games = world.games.entry(board).or_default();
                        if Arc::make_mut(games).take(sheet) {
                            changed.push(board);
                        }
                    }
                    News::Round(event, seats) => {
                        if event.round != world.event.round {
                            world.games = kept(&self.dir.join(files::folder(&event)));
                        }
                        world.event = Arc::new(event);
                        world.seats = Arc::new(seats);
                        news_of_world = true;
                    }
                    News::Link(board, report) => {
                        if let Some(serial) = &report.serial {
                            let old = world.serials.insert(board, serial.clone());
                            news_of_world |= old.as_ref() != Some(serial);
                        }
                        self.live(board, |live| {
                            live.link = Some(report.state);
                            live.battery = report.battery;
                        });
                    }
                    News::State(board, state) => self.live(board, |live| {
                        live.placement = Some(state.placement);
                        live.flipped = state.flipped;
                    }),
                    News::Clock(board, view, at) => self.live(board, |live| {
                        live.clock = view.connected.then_some((view.at, at));
                    }),
                }
            }
            if news_of_world || !changed.is_empty() {
                self.keep(&world, changed).await;
                self.world.send_replace(Arc::new(world));
            }
        }
    }

    fn live(&self, board: BoardNo, change: impl FnOnce(&mut Live)) {
        self.lives
            .send_modify(|lives| change(lives.entry(board).or_default()));
    }

    async fn keep(&self, world: &World, mut boards: Vec<BoardNo>) {
        boards.sort_unstable();
        boards.dedup();
        let dir = self.dir.join(files::folder(&world.event));
        let games = boards.into_iter().filter_map(|board| {
            let games = world.games.get(&board)?;
            Some((dir.join(format!("board-{board}.json")), Arc::clone(games)))
        });
        let games: Vec<_> = games.collect();
        if games.is_empty() {
            return;
        }
        let written = tokio::task::spawn_blocking(move || {
            for (path, games) in games {
                let text = serde_json::to_string(&*games).map_err(io::Error::other)?;
                replace(&path, text.as_bytes())?;
            }
            Ok::<(), io::Error>(())
        });
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(why)) => {
                let dir = self.dir.display();
                tracing::error!(%dir, %why, "the relay's record is not kept: a restart would begin its delays anew");
            }
            Err(why) => tracing::error!(%why, "the relay's record is not kept"),
        }
    }
}

/// What was kept of a round. A file that does not read is left alone until its board plays on.
fn kept(dir: &Path) -> BTreeMap<BoardNo, Arc<Games>> {
    let mut games = BTreeMap::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name
            .strip_prefix("board-")
            .and_then(|rest| rest.strip_suffix(".json"));
        let Some(number) = number.and_then(|number| number.parse().ok()) else {
            continue;
        };
        let path = entry.path();
        let read = fs::read(&path).and_then(|bytes| Ok(serde_json::from_slice::<Games>(&bytes)?));
        match read {
            Ok(one) => {
                games.insert(BoardNo(number), Arc::new(one));
            }
            Err(why) => {
                let path = path.display();
                tracing::error!(%path, %why, "the relay's record of this board does not read");
            }
        }
    }
    games
}

/// One output's view of the world.
#[derive(Debug, Clone)]
pub struct Reader<T> {
    world: watch::Receiver<Arc<World>>,
    profile: Profile,
    time: T,
    fresh: bool,
}

impl<T: Time> Reader<T> {
    /// An output with this profile.
    pub fn new(world: watch::Receiver<Arc<World>>, profile: Profile, time: T) -> Reader<T> {
        Reader {
            world,
            profile,
            time,
            fresh: true,
        }
    }

    /// What may be shown.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What is known now, and the time; at once.
    pub fn current(&mut self) -> (Arc<World>, Moment) {
        self.fresh = false;
        (Arc::clone(&self.world.borrow_and_update()), self.time.now())
    }

    /// Waits until there may be something new to show; the first time at once. `None` when nothing
    /// will come any more. Safe to drop and call again.
    pub async fn next(&mut self) -> Option<(Arc<World>, Moment)> {
        if !self.fresh {
            let due = self
                .world
                .borrow()
                .next_change(&self.profile, self.time.now());
            let due = due.map(|due| self.time.instant_of(due));
            tokio::select! {
                changed = self.world.changed() => changed.ok()?,
                () = async { match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                } } => {}
            }
        }
        Some(self.current())
    }
}

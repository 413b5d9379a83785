//! The relay's own task: takes in what the monitors say, keeps the record on disk, and hands every
//! output the newest state.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

use super::{
    book::{Ending, Moment, Sheet},
    profile::Profile,
    round::{Event, Seats},
    store::Store,
    world::{Live, Lives, World},
};
use crate::{
    monitor::{BoardState, ClockView, LinkReport},
    words::{BoardNo, GameId},
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
    /// An arbiter's word on the result of a game that is no more on this board; without an ending it is
    /// not over.
    Result(BoardNo, GameId, Option<Ending>),
    /// How a board's cable is.
    Link(BoardNo, LinkReport),
    /// What a board shows.
    State(BoardNo, Box<BoardState>),
    /// A board's clocks.
    Clock(BoardNo, ClockView, Moment),
    /// A round begins, or its pairings changed.
    Round(Event, Seats, Moment),
    /// The pairings of a round that is over were put right.
    Seats(String, Seats),
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
    store: Store,
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
pub fn feed(event: Event, seats: Seats, dir: &Path, now: Moment) -> (Feed, Keeper, Sight) {
    let (sender, inbox) = mpsc::unbounded_channel();
    let store = Store(dir.to_owned());
    let games = store.games(&event, now);
    let past = store.past(&event, now);
    let world = World {
        event: Arc::new(event),
        seats: Arc::new(seats),
        games,
        past: past.into_iter().map(Arc::new).collect(),
        ..World::default()
    };
    let (world, world_seen) = watch::channel(Arc::new(world));
    let (lives, lives_seen) = watch::channel(Lives::new());
    let keeper = Keeper {
        inbox,
        world,
        lives,
        store,
    };
    let sight = Sight {
        world: world_seen,
        lives: lives_seen,
    };
    (Feed(sender), keeper, sight)
}

/// What has to be written down.
#[derive(Debug, Default)]
struct Changed {
    /// Event and players of these rounds.
    heads: BTreeSet<String>,
    /// The games of these boards, by round.
    boards: BTreeSet<(String, BoardNo)>,
    /// A serial number was told.
    serials: bool,
}

impl Keeper {
    /// Runs until every [`Feed`] is gone.
    pub async fn run(mut self) {
        let first = World::clone(&self.world.borrow());
        let mut changed = Changed::default();
        changed.heads.insert(first.event.round.clone());
        self.keep(&first, changed).await;
        let mut waiting = Vec::new();
        while self.inbox.recv_many(&mut waiting, AT_ONCE).await > 0 {
            let mut world = World::clone(&self.world.borrow());
            let mut changed = Changed::default();
            for news in waiting.drain(..) {
                self.take(news, &mut world, &mut changed);
            }
            if changed.serials || !changed.heads.is_empty() || !changed.boards.is_empty() {
                self.keep(&world, changed).await;
                self.world.send_replace(Arc::new(world));
            }
        }
    }

    fn take(&self, news: News, world: &mut World, changed: &mut Changed) {
        match news {
            News::Game(board, sheet) => {
                let round = sheet.game.round().to_owned();
                let Some(book) = world.games_of(&round) else {
                    tracing::warn!(%board, round, "a game of a round that is not known");
                    return;
                };
                if Arc::make_mut(book.entry(board).or_default()).take(sheet) {
                    changed.boards.insert((round, board));
                }
            }
            News::Result(board, game, ending) => {
                let round = game.round().to_owned();
                let chess960 = world.event.chess960;
                let Some(book) = world.games_of(&round) else {
                    tracing::warn!(%game, "a result of a round that is not known");
                    return;
                };
                let games = Arc::make_mut(book.entry(board).or_default());
                if games.rule(game, chess960, ending) {
                    changed.boards.insert((round, board));
                }
            }
            News::Seats(round, seats) => {
                if world.seat(&round, seats) {
                    changed.heads.insert(round);
                }
            }
            News::Round(event, seats, now) => {
                changed.heads.insert(event.round.clone());
                world.turn_to(event, seats, |event| self.store.games(event, now));
            }
            News::Link(board, report) => {
                if let Some(serial) = &report.serial {
                    let old = world.serials.insert(board, serial.clone());
                    changed.serials |= old.as_ref() != Some(serial);
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

    fn live(&self, board: BoardNo, change: impl FnOnce(&mut Live)) {
        self.lives
            .send_modify(|lives| change(lives.entry(board).or_default()));
    }

    async fn keep(&self, world: &World, changed: Changed) {
        let (world, store) = (world.clone(), self.store.clone());
        let written = tokio::task::spawn_blocking(move || {
            for round in world.rounds() {
                if changed.heads.contains(&round.event.round) {
                    store.keep_round(&round.event, &round.seats)?;
                }
                for (board, games) in &round.games {
                    if changed
                        .boards
                        .contains(&(round.event.round.clone(), *board))
                    {
                        store.keep_board(&round.event, *board, games)?;
                    }
                }
            }
            Ok::<(), std::io::Error>(())
        });
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(why)) => {
                let dir = self.store.0.display();
                tracing::error!(%dir, %why, "the relay's record is not kept: a restart would begin its delays anew");
            }
            Err(why) => tracing::error!(%why, "the relay's record is not kept"),
        }
    }
}

/// One output's view of the world.
#[derive(Debug, Clone)]
pub struct Reader<T> {
    world: watch::Receiver<Arc<World>>,
    profile: Profile,
    time: T,
    fresh: bool,
    round: Option<String>,
}

impl<T: Time> Reader<T> {
    /// An output with this profile.
    pub fn new(world: watch::Receiver<Arc<World>>, profile: Profile, time: T) -> Reader<T> {
        Reader {
            world,
            profile,
            time,
            fresh: true,
            round: None,
        }
    }

    /// The same of this round only, also when it is over.
    #[must_use]
    pub fn of_round(self, round: String) -> Reader<T> {
        Reader {
            round: Some(round),
            ..self
        }
    }

    /// Another round is the present one.
    pub fn is_over(&self) -> bool {
        let world = self.world.borrow();
        self.round
            .as_ref()
            .is_some_and(|round| *round != world.event.round)
    }

    fn look(&self, world: &Arc<World>) -> Arc<World> {
        let meant = |past: &&Arc<World>| self.round.as_ref() == Some(&past.event.round);
        match self.round.as_ref() == Some(&world.event.round) {
            true => Arc::clone(world),
            false if self.round.is_none() => Arc::clone(world),
            // Before its round has begun there is nothing to see.
            false => world
                .past
                .iter()
                .find(meant)
                .map(Arc::clone)
                .unwrap_or_default(),
        }
    }

    /// What may be shown.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What is known now, and the time; at once.
    pub fn current(&mut self) -> (Arc<World>, Moment) {
        self.fresh = false;
        let world = Arc::clone(&self.world.borrow_and_update());
        (self.look(&world), self.time.now())
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

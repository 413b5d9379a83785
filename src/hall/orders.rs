//! The way of a command from its topic to the board it speaks of.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Desk;
use crate::{
    incident::{Answer, Order, Refusal, Status, Verb},
    monitor::Output,
    publish::{Heard, answer},
    words::{BoardNo, GameId},
};

/// Commands that may wait for one board; it takes them in microseconds.
const WAITING: usize = 32;

/// Which boards take commands, and which alerts are open.
#[derive(Debug, Clone, Default)]
pub struct Switchboard(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    boards: HashMap<BoardNo, mpsc::Sender<Order>>,
    games: HashMap<BoardNo, GameId>,
    /// Open alerts that nobody has, oldest first.
    open: Vec<String>,
}

impl Switchboard {
    /// The commands for this board.
    pub fn connect(&self, board: BoardNo) -> mpsc::Receiver<Order> {
        let (line, orders) = mpsc::channel(WAITING);
        self.lines().boards.insert(board, line);
        orders
    }

    /// Nobody watches this board any more.
    pub fn disconnect(&self, board: BoardNo) {
        self.lines().boards.remove(&board);
    }

    /// Learns from what a board says which game is on it, and which alerts are open.
    pub fn note(&self, board: BoardNo, output: &Output) {
        let alert = match output {
            Output::Alert { alert, .. } => alert,
            Output::State(state) => {
                let game = state.game.clone();
                game.map(|game| self.lines().games.insert(board, game));
                return;
            }
            _ => return,
        };
        let mut lines = self.lines();
        let known = lines.open.iter().position(|id| *id == alert.id);
        match (known, alert.status == Status::Open) {
            (None, true) => lines.open.push(alert.id.clone()),
            (Some(at), false) => drop(lines.open.remove(at)),
            _ => {}
        }
    }

    fn plays(&self, board: BoardNo, game: &GameId) -> bool {
        self.lines().games.get(&board) == Some(game)
    }

    fn newest(&self) -> Option<String> {
        self.lines().open.last().cloned()
    }

    fn send(&self, order: Order) -> Result<(), Refusal> {
        let board = order.verb.board();
        let line = board.and_then(|board| self.lines().boards.get(&BoardNo(board)).cloned());
        let refusal = || match (order.verb.alert(), board) {
            (Some(alert), _) => Refusal::Alert(alert.to_owned()),
            (None, board) => Refusal::Board(board.unwrap_or_default()),
        };
        let line = line.ok_or_else(refusal)?;
        line.try_send(order)
            .map_err(|_| Refusal::Value("the board takes no commands now; try again".to_owned()))
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Lines> {
        // A thread that panicked left the lists whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears the commands of the venue.
pub struct Orders {
    desk: Desk,
    answered: u64,
}

impl Orders {
    /// Answers by way of `desk`.
    pub const fn new(desk: Desk) -> Orders {
        Orders { desk, answered: 0 }
    }

    /// Hands every command to its board, and refuses what is none, until `stop`.
    pub async fn run(mut self, mut heard: mpsc::UnboundedReceiver<Heard>, stop: CancellationToken) {
        let mut beat = self.desk.pulse.watch("commands");
        loop {
            let heard = tokio::select! {
                () = stop.cancelled() => return,
                () = beat.felt() => continue,
                heard = heard.recv() => heard,
            };
            match heard {
                Some(Heard::Message {
                    topic,
                    payload,
                    retained,
                }) => self.hear(&topic, &payload, retained),
                Some(Heard::Connected | Heard::Lost) => {}
                None => return,
            }
        }
    }

    /// A result of another game than the one on the board goes to the relay, and must be known there.
    fn known(&self, order: &Order) -> Result<(), Refusal> {
        let Verb::Result {
            board,
            game: Some(game),
            ..
        } = &order.verb
        else {
            return Ok(());
        };
        let (board, id) = (BoardNo(*board), GameId(game.clone()));
        let known = self.desk.switchboard.plays(board, &id) || self.desk.relay.knows(board, &id);
        let why = || Refusal::Value(format!("no game '{game}' is known at board {board}"));
        known.then_some(()).ok_or_else(why)
    }

    fn hear(&mut self, topic: &str, payload: &[u8], retained: bool) {
        let Some((user, verb)) = self.desk.topics.command(topic) else {
            return;
        };
        if retained && payload.is_empty() {
            return;
        }
        let newest = self.desk.switchboard.newest();
        let order = if retained {
            Err((None, Refusal::Retained))
        } else {
            Order::read(user, verb, payload, newest.as_deref())
        };
        let refused = order.and_then(|order| {
            let transaction = order.transaction.clone();
            let known = self.known(&order);
            let sent = known.and_then(|()| self.desk.switchboard.send(order));
            sent.map_err(|refusal| (transaction, refusal))
        });
        if let Err((transaction, refusal)) = refused {
            tracing::warn!(user, verb, %refusal, "command refused");
            self.answered += 1;
            let refusal = Answer {
                user: user.to_owned(),
                transaction,
                outcome: Err(refusal),
            };
            let desk = &self.desk;
            let wall = desk.clock.wall();
            let reply = answer(&desk.topics, &desk.boot, self.answered, wall, &refusal);
            desk.gate.send(vec![reply]);
        }
    }
}

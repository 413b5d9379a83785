//! Play as the daemon journals it, in virtual time.

use std::sync::Arc;

use atalaya::{
    journal::{Entry, Kind, told},
    monitor::{Cut, Input, Monitor, Output, Settings},
    simulate::{Noise, PlannedGame, Session},
    words::{At, BoardNo},
};
use jiff::{SignedDuration, Timestamp};

/// What is to be played on one board.
pub struct Plan {
    pub board: u16,
    pub games: Vec<Arc<PlannedGame>>,
    /// Chance of an illegal move per ply.
    pub mishaps: f64,
    /// When the journal ends, ms of play.
    pub until_ms: u64,
    /// The wall clock at its beginning.
    pub begun: Timestamp,
}

struct Desk {
    board: u16,
    begun: Timestamp,
    entries: Vec<Entry>,
}

impl Desk {
    fn note(&mut self, kind: Kind, at: At) {
        let wall = self.begun + SignedDuration::from_millis(at.0 as i64);
        let (board, seq) = (BoardNo(self.board), self.entries.len() as u64 + 1);
        self.entries.push(Entry {
            board,
            seq,
            at,
            wall,
            kind,
        });
    }
}

/// The entries of one board, from the port's opening on.
pub fn journalled(plan: Plan) -> Vec<Entry> {
    let board = plan.board;
    let seed = u64::from(board);
    let mut session = Session::new(board, plan.games, seed, Noise::Hall, plan.mishaps, false);
    let settings = Settings {
        board,
        ..Settings::default()
    };
    let mut desk = Desk {
        board,
        begun: plan.begun,
        entries: Vec::new(),
    };
    desk.note(Kind::Cut(Box::new(Cut::fresh(settings.clone()))), At(0));
    desk.note(Kind::Opened, At(0));
    let mut monitor = Monitor::new(settings);
    monitor.handle(Input::Opened, At(0));
    let mut now = 0;
    loop {
        while let Some(output) = monitor.poll_output() {
            if let Output::Write(bytes) = &output {
                session.command(bytes, now);
                desk.note(Kind::Written(bytes.clone()), At(now));
            } else if let Some(line) = told(&output) {
                desk.note(Kind::Told(line), At(now));
            }
        }
        if let Some(cut) = monitor.take_cut() {
            desk.note(Kind::Cut(cut), At(now));
        }
        let wakes = [session.next_wake(), monitor.wake_at().map(|at| at.0)];
        let next = wakes.into_iter().flatten().min().unwrap_or(u64::MAX);
        now = next.max(now + 1);
        if now > plan.until_ms {
            return desk.entries;
        }
        let mut bytes = Vec::new();
        session.advance_to(now, &mut bytes);
        if bytes.is_empty() {
            desk.note(Kind::Tick, At(now));
            monitor.handle(Input::Tick, At(now));
        } else {
            monitor.handle(Input::Bytes(&bytes), At(now));
            desk.note(Kind::Bytes(bytes), At(now));
        }
    }
}

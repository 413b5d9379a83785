//! A virtual board and a monitor at one table, in virtual time.
#![allow(dead_code, reason = "each test uses its part")]

pub mod journalled;

use std::{env, path::PathBuf, sync::Arc};

use atalaya::{
    incident::{Alert, AlertChange, Level, Status},
    monitor::{Input, Monitor, Output, Settings},
    simulate::{Noise, PlannedGame, Session, Truth, TruthEvent},
    words::At,
};

/// The shared folder, or `None` (said in print) where it is absent. Absent in CI is a failure.
pub fn shared(part: &str) -> Option<PathBuf> {
    let shared = env::var_os("ATALAYA_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let path = shared.join(part);
    if path.exists() {
        return Some(path);
    }
    assert!(env::var_os("CI").is_none(), "{} is missing", path.display());
    println!("skipped: {} is missing", path.display());
    None
}

/// What one board's day brought.
#[derive(Debug, Default)]
pub struct Day {
    /// What really happened.
    pub truth: Vec<Truth>,
    /// Final plies by game of the day (from 1): SAN and clock.
    pub games: Vec<Vec<(String, Option<u32>)>>,
    /// Of the same plies: whether the clock is told to be only about right.
    pub about: Vec<Vec<bool>>,
    /// Alerts raised, with when they were raised.
    pub raised: Vec<(u64, Alert)>,
    /// Alerts that became urgent after a while.
    pub grown: Vec<(u64, Alert)>,
    /// Alerts as they ended.
    pub ended: Vec<Alert>,
    /// Alerts taken off the retained tree, with when.
    pub gone: Vec<(u64, String)>,
    /// Results told.
    pub results: Vec<Option<String>>,
    /// What the board sent, with when, ms.
    pub heard: Vec<(u64, Vec<u8>)>,
    /// Commands that must never be sent.
    pub forbidden: u64,
}

impl Day {
    /// Plies really played: SAN and clock.
    pub fn played(&self) -> Vec<(String, Option<u32>)> {
        self.truth
            .iter()
            .filter_map(|line| match &line.event {
                TruthEvent::Ply { san, clock_s, .. } => Some((san.clone(), *clock_s)),
                _ => None,
            })
            .collect()
    }

    /// Urgent alerts raised.
    pub fn urgent(&self) -> impl Iterator<Item = &(u64, Alert)> {
        self.raised
            .iter()
            .chain(&self.grown)
            .filter(|(_, alert)| alert.level == Level::Urgent)
    }
}

/// Plays games on one board to their end.
pub fn play(
    games: Vec<Arc<PlannedGame>>,
    seed: u64,
    noise: Noise,
    mishaps: f64,
    turned: bool,
) -> Day {
    let chess960 = games.iter().any(|game| game.mode.is_chess960());
    let mut session = Session::new(1, games, seed, noise, mishaps, turned);
    let mut monitor = Monitor::new(Settings {
        chess960,
        ..Settings::default()
    });
    let mut day = Day::default();
    let mut bytes = Vec::new();
    let mut now = 0;
    monitor.handle(Input::Opened, At(now));
    loop {
        while let Some(output) = monitor.poll_output() {
            day.take(output, now, &mut session);
        }
        let board = session.next_wake();
        let Some(next) = [board, monitor.wake_at().map(|at| at.0)]
            .into_iter()
            .flatten()
            .min()
        else {
            break;
        };
        now = next.max(now + 1);
        session.advance_to(now, &mut bytes);
        if bytes.is_empty() {
            monitor.handle(Input::Tick, At(now));
        } else {
            monitor.handle(Input::Bytes(&bytes), At(now));
            day.heard.push((now, std::mem::take(&mut bytes)));
        }
        day.truth.extend(session.truth());
        if session.finished() && board.is_none_or(|at| at > now + 60_000) {
            break;
        }
    }
    day.forbidden = session.board().forbidden();
    day
}

impl Day {
    fn take(&mut self, output: Output, now: u64, session: &mut Session) {
        match output {
            Output::Write(bytes) => session.command(&bytes, now),
            Output::Ply(ply) => {
                if ply.ply == 1 {
                    self.games.push(Vec::new());
                    self.about.push(Vec::new());
                    self.results.push(None);
                }
                if let (Some(game), Some(about)) = (self.games.last_mut(), self.about.last_mut()) {
                    game.push((ply.san, ply.clock_s));
                    about.push(ply.clock_about);
                }
            }
            Output::Retract(retraction) => {
                if let (Some(game), Some(about)) = (self.games.last_mut(), self.about.last_mut()) {
                    game.truncate(usize::from(retraction.back_to));
                    about.truncate(usize::from(retraction.back_to));
                }
            }
            Output::State(state) => {
                if let Some(result) = self.results.last_mut() {
                    *result = state.result.or(result.take());
                }
            }
            Output::Alert { change, alert } => match change {
                AlertChange::Raised => self.raised.push((now, *alert)),
                AlertChange::Updated if alert.status == Status::Open => {
                    self.grown.push((now, *alert));
                }
                _ if alert.status == Status::Open => {}
                _ => self.ended.push(*alert),
            },
            Output::Link(_)
            | Output::Clock(_)
            | Output::Pgn { .. }
            | Output::Result { .. }
            | Output::Answer(_) => {}
            Output::AlertGone(id) => self.gone.push((now, id)),
        }
    }
}

/// Whether a ply came back as it was played; a ply played without a clock time may have any.
pub fn came_back(played: &(String, Option<u32>), rebuilt: &(String, Option<u32>)) -> bool {
    played.0 == rebuilt.0 && (played.1.is_none() || played.1 == rebuilt.1)
}

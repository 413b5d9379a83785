//! Plays entries through the pure core again. Pure.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;

use super::{
    entry::{Entry, Kind},
    told::told,
};
use crate::{
    monitor::{Input, Monitor, Output, Settings},
    words::{At, BoardNo},
};

/// One thing the core said again.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// Which board.
    pub board: BoardNo,
    /// When, on the monotonic clock of that boot.
    pub at: At,
    /// When, on the wall.
    pub wall: Timestamp,
    /// What.
    pub output: Output,
}

/// The boards of a journal.
#[derive(Debug, Default)]
pub struct Replay {
    boards: BTreeMap<BoardNo, Board>,
    differences: Vec<String>,
}

#[derive(Debug)]
struct Board {
    monitor: Monitor,
    said_again: VecDeque<String>,
}

impl Replay {
    /// No board yet.
    pub fn new() -> Replay {
        Replay::default()
    }

    /// Plays one entry; gives what the board's monitor says to it.
    pub fn entry(&mut self, entry: &Entry) -> Vec<Replayed> {
        let Some(input) = self.input(entry) else {
            return Vec::new();
        };
        // A journal whose beginning is missing still tells what it can.
        let board = self.boards.entry(entry.board).or_insert_with(|| {
            Board::new(Settings {
                board: entry.board.0,
                ..Settings::default()
            })
        });
        board.monitor.handle(input, entry.at);
        let mut outputs = Vec::new();
        while let Some(output) = board.monitor.poll_output() {
            board.said_again.extend(told(&output));
            outputs.push(Replayed {
                board: entry.board,
                at: entry.at,
                wall: entry.wall,
                output,
            });
        }
        outputs
    }

    /// Plies, retractions and alerts in which the replay differs from what was told then.
    pub fn differences(&self) -> &[String] {
        &self.differences
    }

    fn input<'a>(&mut self, entry: &'a Entry) -> Option<Input<'a>> {
        Some(match &entry.kind {
            Kind::Opened => Input::Opened,
            Kind::Closed { .. } => Input::Closed,
            Kind::Absent { .. } => Input::Absent,
            Kind::Bytes(bytes) => Input::Bytes(bytes),
            Kind::Tick => Input::Tick,
            Kind::Settings(settings) => {
                self.boards
                    .insert(entry.board, Board::new((**settings).clone()));
                return None;
            }
            Kind::Told(line) => {
                self.compare(entry, line);
                return None;
            }
            Kind::Boot { .. } | Kind::Written(_) | Kind::Command(_) | Kind::Seqs(_) => return None,
        })
    }

    fn compare(&mut self, entry: &Entry, line: &str) {
        let board = self.boards.get_mut(&entry.board);
        let again = board.and_then(|board| board.said_again.pop_front());
        if again.as_deref() != Some(line) {
            self.differences.push(format!(
                "board {} entry {}: told {line}, now {}",
                entry.board,
                entry.seq,
                again.as_deref().unwrap_or("nothing")
            ));
        }
    }
}

impl Board {
    fn new(settings: Settings) -> Board {
        Board {
            monitor: Monitor::new(settings),
            said_again: VecDeque::new(),
        }
    }
}

//! Plays entries through the pure core again. Pure.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;

use super::{
    entry::{Entry, Kind, Seqs},
    told::told,
};
use crate::{
    incident::Order,
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

/// A board as it stands after the last entry.
#[derive(Debug)]
pub struct Rebuilt {
    /// Its monitor.
    pub monitor: Monitor,
    /// What it told and the broker has not acknowledged, oldest first.
    pub undelivered: VecDeque<Undelivered>,
}

/// Something told that the broker may not have.
#[derive(Debug, Clone, PartialEq)]
pub struct Undelivered {
    /// Under this number; `None` when the daemon ended before it told.
    pub seq: Option<u64>,
    /// What, and when.
    pub said: Replayed,
}

#[derive(Debug)]
struct Board {
    monitor: Monitor,
    said_again: VecDeque<(String, Replayed)>,
    undelivered: VecDeque<Undelivered>,
}

impl Replay {
    /// No board yet.
    pub fn new() -> Replay {
        Replay::default()
    }

    /// Plays one entry; gives what the board's monitor says to it.
    pub fn entry(&mut self, entry: &Entry) -> Vec<Replayed> {
        let order;
        let input = match &entry.kind {
            Kind::Opened => Input::Opened,
            Kind::Closed { .. } => Input::Closed,
            Kind::Absent { .. } => Input::Absent,
            Kind::Bytes(bytes) => Input::Bytes(bytes),
            Kind::Tick => Input::Tick,
            Kind::Command(text) => {
                // What was no command then is none now.
                let Ok(read) = serde_json::from_str::<Order>(text) else {
                    return Vec::new();
                };
                order = read;
                Input::Order(&order)
            }
            Kind::Settings(settings) => {
                let board = self.board(entry.board);
                board.monitor.configure((**settings).clone(), entry.at);
                return board.drain(entry);
            }
            // A board that is known has cut itself off at the same place.
            Kind::Cut(cut) => {
                let resumed = || Board::new(Monitor::resume(cut, entry.at));
                self.boards.entry(entry.board).or_insert_with(resumed);
                return Vec::new();
            }
            Kind::Told(line) => {
                self.compare(entry, line);
                return Vec::new();
            }
            Kind::Delivered(seqs) => {
                self.delivered(seqs);
                return Vec::new();
            }
            Kind::Boot { .. } | Kind::Written(_) | Kind::Seqs(_) | Kind::Cuts(_) => {
                return Vec::new();
            }
        };
        let board = self.board(entry.board);
        board.monitor.handle(input, entry.at);
        board.drain(entry)
    }

    /// The boards as they stand now. What they said and the journal does not hold is undelivered, too.
    pub fn into_boards(self) -> BTreeMap<BoardNo, Rebuilt> {
        let rebuilt = |board: Board| {
            let untold = board.said_again.into_iter();
            let mut undelivered = board.undelivered;
            undelivered.extend(untold.map(|(_, said)| Undelivered { seq: None, said }));
            Rebuilt {
                monitor: board.monitor,
                undelivered,
            }
        };
        let boards = self.boards.into_iter();
        boards
            .map(|(number, board)| (number, rebuilt(board)))
            .collect()
    }

    /// Plies, retractions and alerts in which the replay differs from what was told then.
    pub fn differences(&self) -> &[String] {
        &self.differences
    }

    /// A journal whose beginning is missing still tells what it can.
    fn board(&mut self, number: BoardNo) -> &mut Board {
        self.boards.entry(number).or_insert_with(|| {
            Board::new(Monitor::new(Settings {
                board: number.0,
                ..Settings::default()
            }))
        })
    }

    fn delivered(&mut self, seqs: &Seqs) {
        for (number, last) in seqs {
            if let Some(board) = self.boards.get_mut(number) {
                board
                    .undelivered
                    .retain(|told| told.seq.is_none_or(|seq| seq > *last));
            }
        }
    }

    fn compare(&mut self, entry: &Entry, line: &str) {
        let board = self.board(entry.board);
        let again = board.said_again.pop_front();
        let (text, said) = again.unzip();
        board.undelivered.extend(said.map(|said| Undelivered {
            seq: Some(entry.seq),
            said,
        }));
        if text.as_deref() != Some(line) {
            self.differences.push(format!(
                "board {} entry {}: told {line}, now {}",
                entry.board,
                entry.seq,
                text.as_deref().unwrap_or("nothing")
            ));
        }
    }
}

impl Board {
    fn new(monitor: Monitor) -> Board {
        Board {
            monitor,
            said_again: VecDeque::new(),
            undelivered: VecDeque::new(),
        }
    }

    /// All the monitor has to say to this entry.
    fn drain(&mut self, entry: &Entry) -> Vec<Replayed> {
        // Nobody needs to cut a journal that is there.
        self.monitor.take_cut();
        let mut outputs = Vec::new();
        while let Some(output) = self.monitor.poll_output() {
            let line = told(&output);
            let said = Replayed {
                board: entry.board,
                at: entry.at,
                wall: entry.wall,
                output,
            };
            self.said_again
                .extend(line.map(|line| (line, said.clone())));
            outputs.push(said);
        }
        outputs
    }
}

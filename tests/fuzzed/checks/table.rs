//! A monitor at a table where anything may happen, in virtual time. What it is told stands in a journal.

use std::collections::BTreeMap;

use atalaya::{
    dgt::{ClockMessage, ClockTimes, Hand, HandTime, Message, Request},
    incident::Order,
    journal::{Entry, Kind},
    monitor::{Cut, Input, Monitor, Output, Settings},
    words::{At, BoardNo, GameId},
};
use jiff::Timestamp;
use shakmaty::{Chess, Color, Piece, Position, Role, Square, fen::Fen};

/// The board's number.
pub const BOARD: BoardNo = BoardNo(1);
/// From a request to the board's answer, ms.
const ANSWER_MS: u64 = 30;

/// The men and the clock as they really stand, and what the monitor said of them.
pub struct Table {
    pub monitor: Monitor,
    pub settings: Settings,
    /// What each square holds, as the board codes it.
    pub codes: [u8; 64],
    /// The game the players mean.
    pub chess: Chess,
    pub clock: ClockTimes,
    /// The board does not answer.
    pub deaf: bool,
    pub now: u64,
    /// All the monitor was told.
    pub entries: Vec<Entry>,
    /// All it said, each with the moment.
    pub said: Vec<(At, Output)>,
    /// The last place to begin a replay, as the number of entries before it, and what is known there.
    pub cut: Option<(usize, Box<Cut>)>,
    plies: BTreeMap<GameId, u16>,
    asked: bool,
}

/// The code of a man.
fn code(man: Option<Piece>) -> u8 {
    let Some(man) = man else { return 0 };
    let code = match man.role {
        Role::Pawn => 1,
        Role::Rook => 2,
        Role::Knight => 3,
        Role::Bishop => 4,
        Role::King => 5,
        Role::Queen => 6,
    };
    code + man.color.fold_wb(0, 6)
}

/// The codes of a position, White at the bottom.
fn codes(chess: &Chess) -> [u8; 64] {
    let mut codes = [0; 64];
    for square in Square::ALL {
        let place = (7 - usize::from(square.rank())) * 8 + usize::from(square.file());
        codes[place] = code(chess.board().piece_at(square));
    }
    codes
}

impl Table {
    /// The start array, and a clock that stands.
    pub fn new() -> Table {
        let settings = Settings {
            board: BOARD.0,
            ..Settings::default()
        };
        let time = HandTime {
            seconds: 3600,
            ..HandTime::default()
        };
        let mut table = Table {
            monitor: Monitor::new(settings.clone()),
            settings,
            codes: codes(&Chess::default()),
            chess: Chess::default(),
            clock: ClockTimes {
                right: time,
                left: time,
                running: false,
                lever: Hand::Left,
                battery_low: false,
                connected: true,
            },
            deaf: false,
            now: 0,
            entries: Vec::new(),
            said: Vec::new(),
            cut: None,
            plies: BTreeMap::new(),
            asked: false,
        };
        table.tell(Kind::Opened);
        table.show_clock();
        table.dump();
        table.wait(1_000);
        table
    }

    /// Tells the monitor, and listens to what it says.
    pub fn tell(&mut self, kind: Kind) {
        let at = At(self.now);
        match &kind {
            Kind::Opened => self.monitor.handle(Input::Opened, at),
            Kind::Closed { .. } => self.monitor.handle(Input::Closed, at),
            Kind::Absent { .. } => self.monitor.handle(Input::Absent, at),
            Kind::Bytes(bytes) => self.monitor.handle(Input::Bytes(bytes), at),
            Kind::Tick => self.monitor.handle(Input::Tick, at),
            Kind::Command(text) => {
                let order: Order = serde_json::from_str(text).expect("an order");
                self.monitor.handle(Input::Order(&order), at);
            }
            Kind::Settings(settings) => {
                // Another round names its games anew.
                if settings.round != self.settings.round {
                    self.plies.clear();
                }
                self.settings = (**settings).clone();
                self.monitor.configure(self.settings.clone(), at);
            }
            other => panic!("nobody tells a monitor {other:?}"),
        }
        self.entries.push(Entry {
            board: BOARD,
            seq: self.entries.len() as u64 + 1,
            at,
            wall: Timestamp::UNIX_EPOCH,
            kind,
        });
        if let Some(cut) = self.monitor.take_cut() {
            self.cut = Some((self.entries.len(), cut));
        }
        while let Some(output) = self.monitor.poll_output() {
            self.hear(output);
        }
    }

    pub fn order(&mut self, order: &Order) {
        let text = serde_json::to_string(order).expect("an order is JSON");
        self.tell(Kind::Command(text));
    }

    pub fn send(&mut self, message: &Message) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.tell(Kind::Bytes(bytes));
    }

    pub fn dump(&mut self) {
        self.send(&Message::Dump(Box::new(self.codes)));
    }

    pub fn show_clock(&mut self) {
        self.send(&Message::Clock(ClockMessage::Times(self.clock)));
    }

    /// A square changes, and the board says so.
    pub fn put(&mut self, place: u8, code: u8) {
        self.codes[usize::from(place)] = code;
        self.send(&Message::Field {
            square: place,
            code,
        });
    }

    /// The game's players move and press.
    pub fn play(&mut self, choice: u8) {
        let legal = self.chess.legal_moves();
        if legal.is_empty() {
            return;
        }
        self.chess
            .play_unchecked(legal[usize::from(choice) % legal.len()]);
        self.stand_as_meant();
        self.press(self.chess.turn());
    }

    /// The men are put as the game has them: first lifted, then set down.
    pub fn stand_as_meant(&mut self) {
        let meant = codes(&self.chess);
        for empty in [true, false] {
            for place in 0..64_u8 {
                let code = meant[usize::from(place)];
                if (code == 0) == empty && self.codes[usize::from(place)] != code {
                    self.put(place, code);
                }
            }
        }
    }

    /// The clock runs for this side; White has its left.
    pub fn press(&mut self, side: Color) {
        self.clock.running = true;
        self.clock.lever = side.fold_wb(Hand::Left, Hand::Right);
        self.show_clock();
    }

    /// Time passes; the monitor wakes when it wished to.
    pub fn wait(&mut self, ms: u64) {
        let end = self.now.saturating_add(ms);
        let mut woken = 0;
        while let Some(due) = self.due().filter(|due| *due <= end) {
            self.now = due.max(self.now + 1);
            woken += 1;
            assert!(woken <= 40 + ms / 20, "woken {woken} times in {ms} ms");
            if std::mem::take(&mut self.asked) {
                self.dump();
            } else {
                self.tell(Kind::Tick);
            }
        }
        let passed = (end - self.now.min(end)) / 1000;
        self.now = self.now.max(end);
        if self.clock.running {
            let hand = match self.clock.lever {
                Hand::Left => &mut self.clock.left,
                Hand::Right => &mut self.clock.right,
            };
            hand.seconds = hand.seconds.saturating_sub(passed as u32);
            self.show_clock();
        }
    }

    fn due(&self) -> Option<u64> {
        let answer = self.asked.then(|| self.now + ANSWER_MS);
        let wake = self.monitor.wake_at().map(|at| at.0);
        [answer, wake].into_iter().flatten().min()
    }

    fn hear(&mut self, output: Output) {
        match &output {
            Output::Write(bytes) => {
                self.asked |= !self.deaf && bytes.contains(&Request::Board.byte());
            }
            Output::Ply(ply) => {
                let plies = self.plies.entry(ply.game.clone()).or_default();
                *plies += 1;
                assert_eq!(ply.ply, *plies, "a ply of game {} out of order", ply.game);
                assert!(ply.fen.parse::<Fen>().is_ok(), "{}", ply.fen);
            }
            Output::Retract(retraction) => {
                let plies = self.plies.entry(retraction.game.clone()).or_default();
                assert!(retraction.back_to < *plies, "nothing to take back");
                *plies = retraction.back_to;
            }
            Output::State(state) => {
                let told = state.game.as_ref().and_then(|game| self.plies.get(game));
                assert_eq!(state.ply, told.copied().unwrap_or_default());
                assert!(state.fen.parse::<Fen>().is_ok(), "{}", state.fen);
            }
            _ => {}
        }
        self.said.push((At(self.now), output));
    }
}

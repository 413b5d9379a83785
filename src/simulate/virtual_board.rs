//! A board as the other end of the cable sees it: commands in, paced bytes out. Pure.

use shakmaty::{Piece, Role, Square};

use super::{clock::Clock, event_memory::EventMemory, noise::Rates, scan::Scan, wire::Wire};
use crate::{
    dgt::{Battery, ClockMessage, ClockTimes, Command, Message, Request, physical_of},
    words::Side,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Idle,
    Update,
    UpdateBoard,
    UpdateNice,
}

/// One virtual board with its clock.
#[derive(Debug)]
pub struct VirtualBoard {
    number: u16,
    turned: bool,
    rates: Rates,
    rng: fastrand::Rng,
    scan: Scan,
    clock: Clock,
    memory: EventMemory,
    mode: Mode,
    /// The clock as last told, and when.
    told: Option<(ClockTimes, u64)>,
    /// The clock was handled; the board polls it then.
    poll_ms: Option<u64>,
    wire: Wire,
    /// Bytes of a command with data still to come: size byte first.
    body: Option<u8>,
    body_size_next: bool,
    forbidden: u64,
}

impl VirtualBoard {
    pub(super) fn new(number: u16, turned: bool, rates: Rates, mut rng: fastrand::Rng) -> Self {
        VirtualBoard {
            number,
            turned,
            rates,
            scan: Scan::new(rng.u64(200..=250)),
            rng,
            clock: Clock::new(0),
            memory: EventMemory::default(),
            mode: Mode::Idle,
            told: None,
            poll_ms: None,
            wire: Wire::default(),
            body: None,
            body_size_next: false,
            forbidden: 0,
        }
    }

    /// Commands seen that a daemon must never send in play: anything but a plain request.
    #[must_use]
    pub const fn forbidden(&self) -> u64 {
        self.forbidden
    }

    /// The clock beside the board.
    #[must_use]
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Its number on a bus: that of its serial number.
    pub(super) const fn bus_number(&self) -> u16 {
        self.serial() as u16 & 0x3fff
    }

    const fn serial(&self) -> u32 {
        13_000 + self.number as u32
    }

    /// The chance that a message loses a byte.
    pub(super) const fn lost_byte(&self) -> f64 {
        self.rates.lost_byte
    }

    /// The whole board as the scan saw it.
    pub(super) const fn seen(&self) -> &[u8; 64] {
        self.scan.seen()
    }

    pub(super) fn clock_bytes(&self, now_ms: u64) -> [u8; 7] {
        let times = self.clock.times(self.turned, now_ms);
        ClockMessage::Times(times).encode()
    }

    pub(super) const fn memory(&self) -> &EventMemory {
        &self.memory
    }

    /// Writes into the memory that a game begins.
    pub(super) fn write_start(&mut self) {
        self.memory.start(self.scan.seen());
    }

    pub(super) const fn pass_ms(&self) -> u64 {
        self.scan.pass_ms()
    }

    /// A hand changes a square.
    pub(super) fn put(&mut self, square: Square, man: Option<Piece>, now_ms: u64) {
        let stuck = self.rates.stuck > 0.0 && self.rng.f64() < self.rates.stuck;
        let blind = if stuck { self.rng.u64(500..3000) } else { 0 };
        let square = physical_of(square, self.turned);
        self.scan.put(square, man.map_or(0, code_of), now_ms, blind);
    }

    /// A hand is at the clock; the board notices at its next poll, 20 to 300 ms later.
    pub(super) fn handle_clock(&mut self, now_ms: u64, act: impl FnOnce(&mut Clock)) {
        act(&mut self.clock);
        self.poll_ms = Some(now_ms + self.rng.u64(20..=300));
    }

    /// Bytes from the other end.
    pub fn handle_command(&mut self, bytes: &[u8], now_ms: u64) {
        for &byte in bytes {
            if self.body_size_next {
                self.body_size_next = false;
                self.body = Some(byte).filter(|size| *size > 0);
            } else if let Some(left) = self.body {
                self.body = Some(left - 1).filter(|left| *left > 0);
            } else {
                match Command::from_byte(byte) {
                    Some(Command::Request(request)) => self.answer(request, now_ms),
                    Some(command) => {
                        self.forbidden += 1;
                        self.body_size_next = command.has_body();
                    }
                    None => {}
                }
            }
        }
    }

    fn answer(&mut self, request: Request, now_ms: u64) {
        let serial = self.serial();
        let message = match request {
            Request::Reset => return self.enter(Mode::Idle),
            Request::Update => return self.enter(Mode::Update),
            Request::UpdateBoard => return self.enter(Mode::UpdateBoard),
            Request::UpdateNice => return self.enter(Mode::UpdateNice),
            Request::Clock => {
                Message::Clock(ClockMessage::Times(self.clock.times(self.turned, now_ms)))
            }
            Request::Board => Message::Dump(Box::new(*self.scan.seen())),
            Request::Serial => Message::Serial(format!("{serial:05}")),
            Request::LongSerial => Message::LongSerial(format!("30001{serial:05}")),
            Request::BusAddress => Message::BusAddress(self.bus_number()),
            Request::Trademark => {
                Message::Trademark("Digital Game Technology\r\nVirtual board".to_owned())
            }
            Request::HardwareVersion => Message::HardwareVersion { major: 1, minor: 0 },
            Request::Version => Message::Version { major: 3, minor: 1 },
            Request::Battery => Message::Battery(Battery {
                percent: 80,
                remaining_minutes: None,
                charging: false,
                discharging: true,
            }),
            Request::EventMemory => Message::EventMemory(self.memory.dump()),
        };
        self.send(&message, now_ms);
    }

    fn enter(&mut self, mode: Mode) {
        self.mode = mode;
        self.told = None;
    }

    fn send(&mut self, message: &Message, now_ms: u64) {
        let mut bytes = Vec::with_capacity(70);
        message.encode(&mut bytes);
        if self.rates.lost_byte > 0.0 && self.rng.f64() < self.rates.lost_byte {
            bytes.remove(self.rng.usize(..bytes.len()));
        }
        self.wire.send(bytes, now_ms);
        if self.rates.reconnect > 0.0 && self.rng.f64() < self.rates.reconnect {
            self.wire.cut();
            self.enter(Mode::Idle);
        }
    }

    const fn clock_told_in_mode(&self) -> bool {
        matches!(self.mode, Mode::Update | Mode::UpdateNice)
    }

    /// When the clock is to be told next. The display's ticks wait while a press is unnoticed.
    fn clock_due(&self, now_ms: u64) -> Option<u64> {
        if !self.clock_told_in_mode() {
            return None;
        }
        let Some((_, told_ms)) = self.told else {
            return Some(self.poll_ms.unwrap_or(now_ms));
        };
        let tick = self.poll_ms.or_else(|| self.clock.next_tick(told_ms));
        match self.mode {
            Mode::Update if self.poll_ms.is_none() => {
                Some(tick.map_or(told_ms + 1000, |tick| tick.min(told_ms + 1000)))
            }
            _ => tick,
        }
    }

    /// The board's next own deed (not the line's).
    pub(super) fn next_deed(&self, now_ms: u64) -> Option<u64> {
        match (self.scan.next(), self.clock_due(now_ms)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// When something happens next: a square seen, the clock told, a byte sent.
    #[must_use]
    pub fn next_wake(&self, now_ms: u64) -> Option<u64> {
        match (self.next_deed(now_ms), self.wire.clear_at()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Scans and polls up to this moment.
    pub fn advance(&mut self, now_ms: u64) {
        while let Some((square, code)) = self.scan.look(now_ms) {
            self.memory.square(square, code, self.scan.seen());
            if self.mode != Mode::Idle {
                self.send(&Message::Field { square, code }, now_ms);
            }
        }
        if self.poll_ms.is_some_and(|at| at <= now_ms) {
            self.poll_ms = None;
            self.memory.clock(&self.clock.times(self.turned, now_ms));
            self.tell_clock(now_ms);
        } else if self.clock_due(now_ms).is_some_and(|at| at <= now_ms) {
            self.tell_clock(now_ms);
        }
    }

    fn tell_clock(&mut self, now_ms: u64) {
        if !self.clock_told_in_mode() {
            return;
        }
        let times = self.clock.times(self.turned, now_ms);
        let changed = self.told.as_ref().is_none_or(|told| told.0 != times);
        self.told = Some((times, now_ms));
        if changed || self.mode == Mode::Update {
            self.send(&Message::Clock(ClockMessage::Times(times)), now_ms);
        }
    }

    /// Appends the bytes that have crossed the wire by now.
    pub fn take_bytes(&mut self, now_ms: u64, out: &mut Vec<u8>) {
        self.wire.take(now_ms, out);
    }
}

/// The board's code of a man (protocol section 6.2): P R N B K Q from 1, black six higher.
const fn code_of(man: Piece) -> u8 {
    let role = match man.role {
        Role::Pawn => 1,
        Role::Rook => 2,
        Role::Knight => 3,
        Role::Bishop => 4,
        Role::King => 5,
        Role::Queen => 6,
    };
    match man.color {
        Side::White => role,
        Side::Black => role + 6,
    }
}

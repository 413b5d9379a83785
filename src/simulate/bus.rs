//! Virtual boards on one line, each called by its number; written from the protocol's text (sections
//! 2.3, 3.3, 4.3 and 5) and apart from the program's own way of calling, so that a mistake in one is not
//! repeated in the other.

use std::collections::VecDeque;

use super::{session::Session, truth::Truth, wire::Wire};

/// A board answers so soon.
const THINKS_MS: u64 = 4;
/// A board answers a ping for all at some moment within this.
const PING_MS: u64 = 1100;

/// Several boards with their players on one line.
#[derive(Debug)]
pub struct Bus {
    seats: Vec<Seat>,
    now_ms: u64,
    rng: fastrand::Rng,
    /// Bytes of a call not yet whole.
    call: Vec<u8>,
    /// Replies on their way: when the first byte may go, and the bytes.
    replies: VecDeque<(u64, Vec<u8>)>,
    wire: Wire,
    forbidden: u64,
}

#[derive(Debug)]
struct Seat {
    session: Session,
    number: u16,
    /// How far into its memory the board has told its changes.
    told: u64,
    /// The last answer with changes.
    last: Vec<u8>,
    /// Where in its memory the game began.
    start: u64,
    ignores_ping: bool,
}

impl Bus {
    /// These boards on one line.
    #[must_use]
    pub fn new(sessions: Vec<Session>, seed: u64) -> Bus {
        let seats = sessions.into_iter().map(|session| Seat {
            number: session.board().bus_number(),
            session,
            told: 0,
            last: Vec::new(),
            start: 0,
            ignores_ping: false,
        });
        Bus {
            seats: seats.collect(),
            now_ms: 0,
            rng: fastrand::Rng::with_seed(seed),
            call: Vec::new(),
            replies: VecDeque::new(),
            wire: Wire::default(),
            forbidden: 0,
        }
    }

    /// Games begun so far.
    #[must_use]
    pub fn games_begun(&self) -> usize {
        self.seats
            .iter()
            .map(|seat| seat.session.games_begun())
            .sum()
    }

    /// Bytes that no call holds, and calls that a watcher must never make.
    #[must_use]
    pub const fn forbidden(&self) -> u64 {
        self.forbidden
    }

    /// What happened since the last call.
    pub fn truth(&mut self) -> Vec<Truth> {
        let seats = self.seats.iter_mut();
        seats.flat_map(|seat| seat.session.truth()).collect()
    }

    /// When `advance_to` has something to do next.
    #[must_use]
    pub fn next_wake(&self) -> Option<u64> {
        let reply = self.replies.iter().map(|(at, _)| *at).min();
        let boards = self
            .seats
            .iter()
            .filter_map(|seat| seat.session.next_wake());
        boards.chain(self.wire.clear_at()).chain(reply).min()
    }

    /// Lets time pass to `now_ms`; bytes that have crossed the wire are appended to `out`.
    pub fn advance_to(&mut self, now_ms: u64, out: &mut Vec<u8>) {
        self.now_ms = now_ms.max(self.now_ms);
        let mut unasked = Vec::new();
        for seat in &mut self.seats {
            seat.session.advance_to(self.now_ms, &mut unasked);
        }
        // A board on a bus speaks only when asked; one that does not is a fault of this program.
        self.forbidden += unasked.len() as u64;
        let now = self.now_ms;
        while let Some(place) = self.replies.iter().position(|(at, _)| *at <= now) {
            if let Some((at, reply)) = self.replies.remove(place) {
                self.wire.send(reply, at);
            }
        }
        self.wire.take(now, out);
    }

    /// Bytes from the reader: four to a call.
    pub fn command(&mut self, bytes: &[u8], now_ms: u64) {
        self.now_ms = now_ms.max(self.now_ms);
        for &byte in bytes {
            if byte >= 0x80 {
                self.forbidden += self.call.len() as u64;
                self.call.clear();
            } else if self.call.is_empty() {
                // A board for itself would hear a command in this, and every board leave the bus.
                self.forbidden += 1;
                continue;
            }
            self.call.push(byte);
            if let [code, high, low, sum] = self.call[..] {
                self.call.clear();
                let right = u32::from(code) + u32::from(high) + u32::from(low);
                if right % 128 == u32::from(sum) {
                    self.called(code, u16::from(high) * 128 + u16::from(low));
                } else {
                    self.forbidden += 1;
                }
            }
        }
    }

    fn called(&mut self, code: u8, number: u16) {
        // To end the bus, to restart boards, to set them: not a watcher's business.
        if !matches!(code, 0x81..=0x87 | 0x8a | 0x8b) {
            self.forbidden += 1;
            return;
        }
        let now = self.now_ms;
        for place in 0..self.seats.len() {
            let to_all = number == 0;
            let seat = &mut self.seats[place];
            if to_all && code == 0x87 {
                if !std::mem::take(&mut seat.ignores_ping) {
                    let reply = framed(0x87, seat.number, &[]);
                    let at = now + self.rng.u64(THINKS_MS..PING_MS);
                    self.replies.push_back((at, reply));
                }
            } else if seat.number == number {
                let mut reply = seat.answer(code, now);
                let lost = seat.session.board().lost_byte();
                if lost > 0.0 && self.rng.f64() < lost {
                    let gone = self.rng.usize(..reply.len());
                    reply.remove(gone);
                }
                self.replies.push_back((now + THINKS_MS, reply));
            }
        }
    }
}

impl Seat {
    fn answer(&mut self, code: u8, now_ms: u64) -> Vec<u8> {
        let board = self.session.board_mut();
        let (id, data) = match code {
            0x81 => (0x84, board.clock_bytes(now_ms).to_vec()),
            0x82 => (0x83, board.seen().to_vec()),
            0x83 => {
                self.last = board.memory().since(self.told);
                self.told = board.memory().end();
                (0x85, self.last.clone())
            }
            0x84 => (0x85, self.last.clone()),
            0x85 => {
                self.start = board.memory().end();
                board.write_start();
                (0x88, Vec::new())
            }
            0x86 => {
                let whole = board.memory().since(self.start);
                let pending = board.memory().since(self.told.max(self.start));
                (0x86, whole[..whole.len() - pending.len()].to_vec())
            }
            0x8a => {
                self.ignores_ping = true;
                (0x87, Vec::new())
            }
            0x8b => (0x89, vec![1, 8]),
            _ => (0x87, Vec::new()),
        };
        framed(id, self.number, &data)
    }
}

/// id, length of the whole, number, data, and the sum of all of it.
fn framed(id: u8, number: u16, data: &[u8]) -> Vec<u8> {
    let length = 6 + data.len();
    let sevens = |value: usize| [(value / 128 % 128) as u8, (value % 128) as u8];
    let mut reply = vec![id];
    reply.extend(sevens(length));
    reply.extend(sevens(usize::from(number)));
    reply.extend_from_slice(data);
    let sum: u32 = reply.iter().copied().map(u32::from).sum();
    reply.push((sum % 128) as u8);
    reply
}

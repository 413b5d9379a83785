//! One board with its players, driven in virtual time.

use std::{collections::VecDeque, sync::Arc};

use super::{
    games::PlannedGame,
    noise::Noise,
    player::{Act, Players},
    truth::{Truth, TruthEvent},
    virtual_board::VirtualBoard,
};

/// A virtual board and the games played on it. The same arguments give the same bytes, as long as
/// the same commands come at the same moments.
#[derive(Debug)]
pub struct Session {
    number: u16,
    now_ms: u64,
    board: VirtualBoard,
    players: Players,
    script: VecDeque<(u64, Act)>,
    truth: Vec<Truth>,
}

impl Session {
    /// A board that plays each game once. `mishap_rate` is the chance of an illegal move per ply;
    /// `turned` sets the board with its connector at White's right.
    #[must_use]
    pub fn new(
        board_no: u16,
        games: Vec<Arc<PlannedGame>>,
        seed: u64,
        noise: Noise,
        mishap_rate: f64,
        turned: bool,
    ) -> Session {
        let mut rng = fastrand::Rng::with_seed(seed ^ (u64::from(board_no) << 32));
        let wire = rng.fork();
        Session {
            number: board_no,
            now_ms: 0,
            board: VirtualBoard::new(board_no, turned, noise.rates(), wire),
            players: Players::new(games, rng, noise.rates(), mishap_rate),
            script: VecDeque::new(),
            truth: Vec::new(),
        }
    }

    /// Begins again with the first game after the last one, for ever.
    #[must_use]
    pub fn repeating(mut self) -> Session {
        self.players.repeat();
        self
    }

    /// The board, for its counters.
    #[must_use]
    pub const fn board(&self) -> &VirtualBoard {
        &self.board
    }

    pub(super) const fn board_mut(&mut self) -> &mut VirtualBoard {
        &mut self.board
    }

    /// Games begun so far.
    #[must_use]
    pub const fn games_begun(&self) -> usize {
        self.players.begun
    }

    /// All games are played and every deed is done.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.players.done() && self.script.is_empty()
    }

    /// What happened since the last call.
    pub fn truth(&mut self) -> Vec<Truth> {
        std::mem::take(&mut self.truth)
    }

    /// Bytes from the reader.
    pub fn command(&mut self, bytes: &[u8], now_ms: u64) {
        self.board.handle_command(bytes, now_ms.max(self.now_ms));
    }

    /// When `advance_to` has something to do next; `None` when all is over.
    #[must_use]
    pub fn next_wake(&self) -> Option<u64> {
        let script = self.script.front().map(|(at, _)| *at);
        let script = script.or_else(|| (!self.players.done()).then_some(self.now_ms + 1));
        if script.is_none() && self.board.clock().running().is_none() {
            return self
                .board
                .next_wake(self.now_ms)
                .filter(|at| *at > self.now_ms);
        }
        match (script, self.board.next_wake(self.now_ms)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Lets time pass to `now_ms`; bytes that have crossed the wire are appended to `out`.
    pub fn advance_to(&mut self, now_ms: u64, out: &mut Vec<u8>) {
        loop {
            if self.script.is_empty() && !self.players.done() {
                let pass = self.board.pass_ms();
                self.script
                    .extend(self.players.next(self.board.clock(), self.now_ms, pass));
            }
            let script = self.script.front().map(|(at, _)| *at);
            let deed = self
                .board
                .next_deed(self.now_ms)
                .map(|at| at.max(self.now_ms));
            match (script, deed) {
                (Some(at), deed) if at <= now_ms && deed.is_none_or(|deed| at <= deed) => {
                    self.now_ms = at.max(self.now_ms);
                    if let Some((_, act)) = self.script.pop_front() {
                        self.perform(act);
                    }
                }
                (_, Some(deed)) if deed <= now_ms => {
                    self.board.take_bytes(deed, out);
                    self.now_ms = deed;
                    self.board.advance(deed);
                }
                _ => break,
            }
        }
        self.now_ms = now_ms.max(self.now_ms);
        self.board.take_bytes(self.now_ms, out);
    }

    fn tell(&mut self, event: TruthEvent) {
        self.truth.push(Truth {
            board: self.number,
            at_ms: self.now_ms,
            game: self.players.begun,
            event,
        });
    }

    fn perform(&mut self, act: Act) {
        let now = self.now_ms;
        match act {
            Act::Touch(square, man) => self.board.put(square, man, now),
            Act::Reset(ms, first) => self.board.handle_clock(now, |c| c.reset(ms, first, now)),
            Act::Run(side, times) => self.board.handle_clock(now, |clock| {
                if let Some((white, black)) = times {
                    clock.set(shakmaty::Color::White, white, now);
                    clock.set(shakmaty::Color::Black, black, now);
                }
                clock.run(side, now);
            }),
            Act::Stop => self.board.handle_clock(now, |clock| clock.stop(now)),
            Act::Tell(event) => self.tell(event),
            Act::Press {
                side,
                force_s,
                gain_ms,
                ply,
            } => {
                self.board.handle_clock(now, |clock| {
                    let gained = clock.left_ms(side, now) + gain_ms;
                    let ms = force_s.map_or(gained, |seconds| showing(seconds, gained));
                    clock.set(side, ms, now);
                    clock.run(side.other(), now);
                });
                let clock_s = self.board.clock().shown_s(side, now);
                if let Some((ply, san, uci)) = ply {
                    self.tell(TruthEvent::Ply {
                        ply,
                        san,
                        uci,
                        clock_s: Some(clock_s),
                    });
                }
                self.tell(TruthEvent::press(side, clock_s));
            }
        }
    }
}

/// A clock that shows these seconds, with the part of a second that `ms` has: a press moves no
/// tick.
fn showing(seconds: u32, ms: u64) -> u64 {
    (u64::from(seconds) * 1000).saturating_sub(999 - (ms + 999) % 1000)
}

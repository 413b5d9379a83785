//! Two players at one board: what they do, turn by turn, in virtual time.

use std::sync::Arc;

use shakmaty::{Board, Chess, Piece, Position, Role, Square, uci::UciMove};

use super::{
    clock::Clock, games::PlannedGame, hands::Hands, mishap, noise::Rates, past::Past,
    truth::TruthEvent,
};
use crate::words::{Side, TimeControl, side_name};

/// A deed at the board or the clock.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// A square gets a man or none.
    Touch(Square, Option<Piece>),
    /// Both clocks to so many ms, stopped.
    Reset(u64, Side),
    /// A side's time runs; with the times both sides are set to, in ms.
    Run(Side, Option<(u64, u64)>),
    /// The clock is stopped.
    Stop,
    /// A side presses: its time becomes `force_s`, or gains `gain_ms`. `ply` is the completed ply.
    Press {
        side: Side,
        force_s: Option<u32>,
        gain_ms: u64,
        ply: Option<(usize, String, String)>,
    },
    /// For the truth file.
    Tell(TruthEvent),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    SetUp,
    Play,
    Done,
}

/// The players and their pile of games.
#[derive(Debug)]
pub(super) struct Players {
    games: Vec<Arc<PlannedGame>>,
    repeat: bool,
    /// Games begun so far.
    pub begun: usize,
    rng: fastrand::Rng,
    rates: Rates,
    mishap_rate: f64,
    phase: Phase,
    pos: Chess,
    ply: usize,
    control: TimeControl,
    presses: [u32; 2],
    since_mishap: u32,
    /// The men as they stand.
    men: Board,
    out: Vec<(u64, Act)>,
}

impl Players {
    pub(super) fn new(
        games: Vec<Arc<PlannedGame>>,
        rng: fastrand::Rng,
        rates: Rates,
        mishap_rate: f64,
    ) -> Players {
        Players {
            phase: if games.is_empty() {
                Phase::Done
            } else {
                Phase::SetUp
            },
            games,
            repeat: false,
            begun: 0,
            rng,
            rates,
            mishap_rate,
            pos: Chess::default(),
            ply: 0,
            control: TimeControl::default(),
            presses: [0; 2],
            since_mishap: 0,
            men: Board::empty(),
            out: Vec::new(),
        }
    }

    pub(super) const fn repeat(&mut self) {
        self.repeat = true;
    }

    pub(super) fn done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// The deeds of the next turn, in order of time; none when all games are played.
    pub(super) fn next(&mut self, clock: &Clock, now_ms: u64, pass_ms: u64) -> Vec<(u64, Act)> {
        match self.phase {
            Phase::Done => {}
            Phase::SetUp => self.set_up(now_ms, pass_ms),
            Phase::Play => self.turn(clock, now_ms, pass_ms),
        }
        self.out.sort_by_key(|(at, _)| *at);
        std::mem::take(&mut self.out)
    }

    fn act(&mut self, at: u64, act: Act) {
        self.out.push((at, act));
    }

    fn with_hands<T>(
        &mut self,
        at: &mut u64,
        pass_ms: u64,
        work: impl FnOnce(&mut Hands<'_>) -> T,
    ) -> T {
        let mut hands = Hands {
            rates: &self.rates,
            rng: &mut self.rng,
            touches: Vec::new(),
            at: *at,
            pass_ms,
        };
        let result = work(&mut hands);
        *at = hands.at;
        let touches = hands.touches;
        for (at, square, man) in touches {
            match man {
                Some(man) => self.men.set_piece_at(square, man),
                None => self.men.discard_piece_at(square),
            }
            self.act(at, Act::Touch(square, man));
        }
        result
    }

    fn rearrange(&mut self, at: &mut u64, pass_ms: u64, target: &Board, gap_ms: u64) {
        let now = self.men.clone();
        self.with_hands(at, pass_ms, |hands| hands.rearrange(&now, target, gap_ms));
    }

    fn set_up(&mut self, now_ms: u64, pass_ms: u64) {
        let game = Arc::clone(&self.games[self.begun % self.games.len()]);
        self.begun += 1;
        self.control = game.time_control.parse().unwrap_or_default();
        let first_clock = game.plies.iter().find_map(|ply| ply.clock_s);
        if game.time_control == "?"
            && let Some(seconds) = first_clock
        {
            // Unknown control with clocks: begin near what the first press shows.
            self.control = format!("{seconds}+0").parse().unwrap_or_default();
        }
        self.pos = game.start.clone();
        self.presses = [0; 2];
        self.ply = 0;
        let mut at = now_ms + self.rng.u64(2_000..20_000);
        let target = self.pos.board().clone();
        self.rearrange(&mut at, pass_ms, &target, 300);
        let turn = self.pos.turn();
        self.act(
            at,
            Act::Reset(u64::from(self.control.first_s()) * 1000, turn),
        );
        at += self.rng.u64(5_000..30_000);
        self.act(
            at,
            Act::Tell(TruthEvent::Start {
                fen: game.start_fen(),
            }),
        );
        self.act(at, Act::Run(turn, None));
        self.phase = Phase::Play;
    }

    /// Thinking time in ms before the hand moves.
    fn think_ms(&mut self, clock: &Clock, now_ms: u64, side: Side, clk: Option<u32>) -> u64 {
        let left = clock.left_ms(side, now_ms);
        let gain = self.control.gain_ms(self.presses[side as usize] + 1);
        let spare = left.saturating_sub(8_000);
        let wanted = match clk {
            Some(seconds) => (left + gain)
                .saturating_sub(u64::from(seconds) * 1000)
                .saturating_sub(1_500),
            None => {
                let mean = (u64::from(self.control.first_s()) * 20 + gain / 2).max(1_000);
                self.rng.u64(200..2 * mean)
            }
        };
        wanted.min(spare).max(300)
    }

    fn turn(&mut self, clock: &Clock, now_ms: u64, pass_ms: u64) {
        let game = Arc::clone(&self.games[(self.begun - 1) % self.games.len()]);
        let planned = &game.plies[self.ply];
        let side = self.pos.turn();
        let think = self.think_ms(clock, now_ms, side, planned.clock_s);
        let hurry = self.rng.f64() < self.rates.hurry;
        let mut at = now_ms + if hurry { 10 } else { think };
        self.since_mishap += 1;
        if self.since_mishap > 6 && self.rng.f64() < self.mishap_rate {
            self.mishap(clock, now_ms, &mut at, pass_ms);
        }
        self.fidget(&mut at, pass_ms);
        let (board, mv) = (self.pos.board().clone(), planned.mv);
        self.with_hands(&mut at, pass_ms, |hands| hands.make(&board, side, mv));
        self.pos.play_unchecked(mv);
        // Hands may only differ from the game within a turn.
        debug_assert_eq!(&self.men, self.pos.board());
        self.ply += 1;
        let last = self.ply == game.plies.len();
        let uci = UciMove::from_move(mv, game.mode).to_string();
        let ply = (self.ply, planned.san.clone(), uci);
        at += if hurry {
            self.rng.u64(10..200)
        } else {
            pass_ms + self.rng.u64(20..400)
        };
        let presses = !last
            || planned.clock_s.is_some()
            || (!self.pos.is_game_over() && self.rng.f64() < 0.7);
        if presses {
            self.presses[side as usize] += 1;
            let gain_ms = self.control.gain_ms(self.presses[side as usize]);
            self.act(
                at,
                Act::Press {
                    side,
                    force_s: planned.clock_s,
                    gain_ms,
                    ply: Some(ply),
                },
            );
        } else {
            let (ply, san, uci) = ply;
            self.act(
                at,
                Act::Tell(TruthEvent::Ply {
                    ply,
                    san,
                    uci,
                    clock_s: None,
                }),
            );
        }
        if last {
            self.end(&game.result, at, pass_ms);
        }
    }

    /// Small doings in own time that change nothing.
    fn fidget(&mut self, at: &mut u64, pass_ms: u64) {
        let side = self.pos.turn();
        let board = self.pos.board().clone();
        if self.rng.f64() < self.rates.adjust {
            self.lift_and_return(at, pass_ms, 1, Some(side));
        }
        if self.rng.f64() < self.rates.bump {
            self.lift_and_return(at, pass_ms, 1, None);
        }
        if self.rng.f64() < self.rates.knock {
            self.lift_and_return(at, pass_ms, 4, None);
        }
        if self.rng.f64() < self.rates.take_back {
            let moves = self.pos.legal_moves();
            let index = self.rng.usize(..moves.len());
            self.with_hands(at, pass_ms, |hands| {
                hands.make(&board, side, moves[index]);
                hands.pause();
            });
            self.rearrange(at, pass_ms, &board, pass_ms + 50);
        }
    }

    fn lift_and_return(&mut self, at: &mut u64, pass_ms: u64, count: usize, whose: Option<Side>) {
        let board = self.men.clone();
        let mut bare = board.clone();
        let own = whose.map_or(board.occupied(), |side| board.by_color(side));
        for _ in 0..count {
            if let Some(square) = self.rng.choice(own) {
                bare.discard_piece_at(square);
            }
        }
        self.rearrange(at, pass_ms, &bare, 30);
        *at += pass_ms + self.rng.u64(200..800);
        self.rearrange(at, pass_ms, &board, pass_ms);
        *at += pass_ms + 50;
    }

    /// An illegal move, completed by the press, and what follows until the right side thinks again.
    fn mishap(&mut self, clock: &Clock, now_ms: u64, at: &mut u64, pass_ms: u64) {
        let game = &self.games[(self.begun - 1) % self.games.len()];
        let past = Past::of(game, self.ply);
        let Some(mishap) = mishap::pick(&self.pos, past.as_ref(), &mut self.rng) else {
            return;
        };
        self.since_mishap = 0;
        let (side, board) = (self.pos.turn(), self.pos.board().clone());
        self.rearrange(at, pass_ms, &mishap.after, pass_ms + 60);
        *at += pass_ms + self.rng.u64(50..400);
        let capture =
            mishap::king_taken(&self.pos, &mishap.after, &mut self.rng).filter(|_| self.rng.bool());
        let reply = (capture.is_none() && self.rng.f64() < 0.15)
            .then(|| mishap::reply(&self.pos, &mishap.after, &mut self.rng))
            .flatten();
        let stands = capture.is_some() || reply.is_some();
        self.press_wrongly(*at, side, mishap.code, 1, !stands);
        *at += self.rng.u64(1_500..4_000);
        if let Some(men) = &capture {
            self.rearrange(at, pass_ms, men, pass_ms + 60);
            *at += pass_ms + self.rng.u64(50..400);
            self.press_wrongly(*at, side.other(), "king-captured", 2, true);
        } else if let Some(reply) = reply {
            let men = self.men.clone();
            self.with_hands(at, pass_ms, |hands| hands.make(&men, side.other(), reply));
            *at += pass_ms + self.rng.u64(50..400);
            self.press_idly(*at, side.other());
        }
        if stands {
            *at += 8_000;
        }
        // The arbiter stops the clock, the men go back, and both times are as before the fault.
        self.act(*at, Act::Stop);
        *at += 500;
        self.rearrange(at, pass_ms, &board, pass_ms + 60);
        *at += 1_000;
        let used = |who| clock.left_ms(who, now_ms).saturating_sub(5_000).max(3_000);
        let times = (used(Side::White), used(Side::Black));
        self.act(*at, Act::Run(side, Some(times)));
        *at += self.rng.u64(2_000..5_000);
    }

    /// A press that completes an illegal move, so many plies after the last of the game.
    fn press_wrongly(&mut self, at: u64, side: Side, code: &str, ahead: usize, corrected: bool) {
        self.act(
            at,
            Act::Tell(TruthEvent::Mishap {
                code: code.to_owned(),
                side: side_name(side).to_owned(),
                ply: self.ply + ahead,
                corrected,
            }),
        );
        self.press_idly(at, side);
    }

    /// A press that completes no ply of the game.
    fn press_idly(&mut self, at: u64, side: Side) {
        self.act(
            at,
            Act::Press {
                side,
                force_s: None,
                gain_ms: 0,
                ply: None,
            },
        );
    }

    /// The clock is stopped, the result may be shown with the kings, the next game follows.
    fn end(&mut self, result: &str, at: u64, pass_ms: u64) {
        let mut at = at + self.rng.u64(500..3_000);
        self.act(at, Act::Stop);
        let result = result.to_owned();
        let centre = match result.as_str() {
            "1-0" => Some((Square::E4, Square::D5)),
            "0-1" => Some((Square::D4, Square::E5)),
            "1/2-1/2" => Some((Square::E4, Square::E5)),
            _ => None,
        };
        self.act(at, Act::Tell(TruthEvent::End { result }));
        at += self.rng.u64(1_500..5_000);
        if let Some((white, black)) = centre
            && self.rng.f64() < 0.6
        {
            let mut shown = self.men.clone();
            for (side, square) in [(Side::White, white), (Side::Black, black)] {
                if let Some(king) = shown.king_of(side) {
                    shown.discard_piece_at(king);
                }
                shown.set_piece_at(square, Role::King.of(side));
            }
            self.rearrange(&mut at, pass_ms, &shown, 400);
        }
        // The pause behind the ceremony, before anyone sets up again.
        let waited = at + 6_000;
        self.act(waited, Act::Stop);
        let more = self.repeat || self.begun < self.games.len();
        self.phase = if more { Phase::SetUp } else { Phase::Done };
    }
}

//! What ends a game or calls the arbiter beside an irregular move (laws.md 6): draws, flags, the
//! clock's setting, moves after the end, illegal positions that stay (A.5.4), the move after a
//! restored one.

use shakmaty::{Bitboard, Board, Color, Rank, Square};

use super::{Monitor, clock_at, stand};
use crate::{
    board::ClockFacts,
    game::{Case, Recorded, Stage},
    incident::Alert,
    laws::{self, Certainty, Code, Finding, Stand},
    words::{At, Side, TimeControl},
};

/// Times at the start may differ so much from the time control: the clock runs already, s.
const SETTING_SLACK_S: u32 = 60;
/// A time that rose by more than this from one message to the next got a period's time, or an
/// arbiter's hand: no increment or penalty is as long, s.
const PERIOD_RISE_S: u32 = 600;

/// An arbiter's time bonus is no longer, s (7.5.5).
const BONUS_S: u32 = 180;
/// A clock that was started again for the wrong side is told after so long, ms: a move may be made at
/// once.
const WRONG_SIDE_MS: u64 = 15_000;
/// So many presses in a row by the side that had not moved: the clock stands the wrong way round.
const CONTRARY_PLIES: u8 = 4;
/// A clock that counts other moves than were made is told of so many moves before a control.
const COUNTER_MOVES: usize = 3;

/// A time that falls to zero was at most so long before, s.
const LAST_SECONDS_S: u32 = 60;

/// What was told of the running game, so that nothing is told twice.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// The ply that ended the game by itself (5.2.2, 9.6).
    over: Option<u16>,
    /// Men moved after it.
    moved_after: bool,
    /// White's, Black's time was seen above zero.
    had_time: [bool; 2],
    /// White's, Black's flag was told.
    flag: [bool; 2],
    /// Times a period's time was added: White, Black.
    added: [u8; 2],
    /// White's, Black's presses: what a clock counts as moves.
    presses: [usize; 2],
    /// That White's, Black's clock counts other moves than were made was told.
    counter_off: [bool; 2],
    /// The clock before this message.
    clock: ClockFacts,
    /// An illegal move that was put right: what bound the player then.
    restored: Option<Restored>,
    /// The clock's setting: White's, Black's time before the first ply, s.
    setting: [Option<u32>; 2],
    /// The times before the clock went back to its setting, until it runs on with them.
    reset: Option<ClockFacts>,
    /// The clock started again, and whether the right side's time runs is to be seen.
    pub(super) started: Option<At>,
    /// Plies at the last press.
    plies: usize,
    /// Presses in a row of the side that had not moved.
    contrary: u8,
    /// Presses of the side that had moved.
    straight: u8,
}

/// The touch-move rule after a restored illegal move (7.5.1).
#[derive(Debug, Clone)]
struct Restored {
    ply: u16,
    code: Code,
    bound: Vec<Square>,
}

impl Told {
    /// A new game, with the clock as it shows now.
    pub(super) fn new(clock: &ClockFacts) -> Told {
        Told {
            had_time: [clock.white_s, clock.black_s].map(|time| time.is_some_and(|time| time > 0)),
            clock: *clock,
            setting: [clock.white_s, clock.black_s],
            ..Told::default()
        }
    }
}

impl Monitor {
    /// What a final ply brought about.
    pub(super) fn weigh_ply(&mut self, recorded: &Recorded) {
        self.weigh_replacement(recorded);
        self.weigh_counter(recorded.side);
        if self.told.over.is_some_and(|over| over >= recorded.ply) {
            (self.told.over, self.told.moved_after) = (None, false);
        }
        if self.told.over.is_some() {
            if !std::mem::replace(&mut self.told.moved_after, true) {
                self.raise_ply(Code::MovedAfterEnd, recorded);
            }
            return;
        }
        let record = self.game.record();
        let until = record.get(..usize::from(recorded.ply)).unwrap_or(record);
        if let Some(finding) = laws::brought_about(until) {
            if matches!(
                finding.code,
                Code::DeadPosition | Code::Fivefold | Code::SeventyFiveMoves
            ) {
                self.told.over = Some(recorded.ply);
            }
            self.raise_finding(finding, recorded);
            return;
        }
        if self.waits_for_one_move()
            && pawn_on_last_rank(&recorded.before.setup().board)
            && pawn_on_last_rank(&recorded.after.setup().board)
        {
            self.raise_ply(Code::ClockRunsWithIllegalPosition, recorded);
        }
    }

    /// Both kings in check after a press, where the arbiter waits for one more move (A.5.4).
    pub(super) fn weigh_kings(&mut self, case: &Case, before: &Stand) {
        let seen = case.seen.to_board();
        if !self.waits_for_one_move() || case.pressed.is_none() || !both_in_check(&seen) {
            return;
        }
        let code = if both_in_check(before.board()) {
            Code::ClockRunsWithIllegalPosition
        } else {
            Code::BothKingsInCheck
        };
        let finding = Finding::certain(code, case.mover, seen.kings().into_iter().collect());
        let placement = case.seen.to_string();
        self.raise(finding, case.ply, before, &placement, case.pressed);
    }

    /// An irregular move was put right: whether the next one obeys 4.3 and 4.4.3 will be seen.
    pub(super) fn remember_restored(&mut self, ply: u16) {
        let of_ply = |alert: &&Alert| {
            alert.ply == ply
                && alert.care.restored
                && alert.finding.certainty == Certainty::Certain
                && !alert.remedy.touch_move.is_empty()
        };
        if let Some(alert) = self.book.alerts().find(of_ply) {
            self.told.restored = Some(Restored {
                ply,
                code: alert.finding.code,
                bound: alert.remedy.touch_move.clone(),
            });
        }
    }

    fn weigh_replacement(&mut self, recorded: &Recorded) {
        let Some(restored) = self.told.restored.take() else {
            return;
        };
        let Some(mv) = recorded.mv.filter(|_| restored.ply == recorded.ply) else {
            return;
        };
        let board = &recorded.before.setup().board;
        let king = board.king_of(recorded.side);
        let uses = |square: Square| mv.from() == Some(square) || mv.to() == square;
        if restored.bound.iter().any(|&square| uses(square)) {
            return;
        }
        let castled = restored.code.is_castling();
        let king_bound = king.is_some_and(|king| restored.bound.contains(&king));
        let (code, certainty) = if castled && king_bound {
            (Code::IllegalCastleNoKingMove, Certainty::Probable)
        } else {
            (Code::ReplacementNotTouchedPiece, Certainty::Certain)
        };
        let finding = Finding {
            certainty,
            squares: mv
                .from()
                .into_iter()
                .chain([mv.to()])
                .chain(restored.bound)
                .collect(),
            played: recorded.san.clone(),
            ..Finding::certain(code, recorded.side, Vec::new())
        };
        self.raise_finding(finding, recorded);
    }

    /// The clock spoke: flags, and times that nothing in the rules gives.
    pub(super) fn weigh_clock(&mut self) {
        let facts = *self.clock.facts();
        let before = std::mem::replace(&mut self.told.clock, facts);
        if self.game.stage() != Stage::Playing || !facts.connected {
            return;
        }
        self.weigh_reset(&before, &facts);
        for side in Side::ALL {
            let index = side.fold_wb(0, 1);
            let time = facts.time_of(side);
            if let (Some(was), Some(is)) = (before.time_of(side), time)
                && is > was + PERIOD_RISE_S
                // A clock is reset while it stands.
                && before.running.is_some()
                && facts.running.is_some()
                && self.told.had_time[index]
                && !self.game.record().is_empty()
            {
                self.time_was_added(side, was);
            }
            // A clock that is set to zero by hand had time enough before, and shows no flag.
            let ran_out = before.running == Some(side)
                && before
                    .time_of(side)
                    .is_some_and(|was| was <= LAST_SECONDS_S);
            if time.is_some_and(|time| time > 0) {
                self.told.had_time[index] = true;
            } else if time == Some(0)
                && self.told.had_time[index]
                && !self.told.flag[index]
                && (ran_out || facts.flag == Some(side))
            {
                self.flag_fell(side, &facts);
            }
        }
    }

    /// I06 of cases.md: both times are those of the setting again. A clock that is made ready for the next
    /// game is reset too, so it is told once the game goes on with these times.
    fn weigh_reset(&mut self, before: &ClockFacts, facts: &ClockFacts) {
        let now = Side::ALL.map(|side| facts.time_of(side));
        if self.game.record().is_empty() {
            if facts.running.is_none() {
                self.told.setting = now;
            }
            return;
        }
        let was = Side::ALL.map(|side| before.time_of(side));
        let rises = [0, 1].map(|at| {
            now[at]
                .zip(was[at])
                .map_or(0, |(is, was)| is.saturating_sub(was))
        });
        let whole = now == self.told.setting;
        let at_once = before.running.is_some() && before.connected && facts.running.is_some();
        let bonus = rises.contains(&0) && rises.into_iter().all(|rise| rise <= BONUS_S);
        if whole && !bonus && !at_once {
            self.told.reset = Some(*before);
        }
        if !whole && facts.running.is_none() {
            self.told.reset = None;
        }
        if let Some(good) = self.told.reset.filter(|_| facts.running.is_some()) {
            self.told.reset = None;
            let side = facts.running.unwrap_or(self.game.last_final().turn());
            let finding = Finding::certain(Code::ClockReset, side, Vec::new());
            self.raise_clock(finding, &good);
        }
    }

    /// A press is to be of the side that moved: where it never was, the clock stands the wrong way
    /// round.
    pub(super) fn weigh_sides(&mut self, presser: Side) {
        let Some(plies) = self.game.plies_seen() else {
            return;
        };
        let one_more = plies == self.told.plies + 1;
        self.told.plies = plies;
        if self.game.stage() != Stage::Playing || !one_more {
            self.told.contrary = 0;
            return;
        }
        let beside = plies - self.game.record().len();
        let to_move = self.game.last_final().turn();
        let moved = if beside.is_multiple_of(2) {
            !to_move
        } else {
            to_move
        };
        if moved == presser {
            self.told.contrary = 0;
            self.told.straight = self.told.straight.saturating_add(1);
            return;
        }
        self.told.contrary = self.told.contrary.saturating_add(1);
        if self.told.contrary == CONTRARY_PLIES {
            let code = if self.told.straight < CONTRARY_PLIES {
                Code::ClockTurned
            } else {
                Code::ClockRunsForWrongSide
            };
            self.raise_now(Finding::certain(code, moved, Vec::new()));
        }
    }

    /// When to see whether a clock that was started again runs for the wrong side.
    pub(super) fn wrong_side_due(&self) -> Option<At> {
        Some(self.told.started?.plus_ms(WRONG_SIDE_MS))
    }

    /// The clock was started again (6.11) and runs for the side that is not to move (6.10.2), the men
    /// standing as they did.
    pub(super) fn weigh_wrong_side(&mut self) {
        let Some(started) = self.told.started else {
            return;
        };
        let game = &self.game;
        let here = game.last_final();
        let wrong = game.stage() == Stage::Playing
            && !game.record().is_empty()
            && here.placement() == *self.sensors.placement()
            && self.clock.facts().running == Some(!here.turn());
        if !wrong {
            self.told.started = None;
        } else if self.now.ms_since(started) >= WRONG_SIDE_MS {
            self.told.started = None;
            let side = !here.turn();
            let code = Code::ClockRunsForWrongSide;
            self.raise_now(Finding::certain(code, side, Vec::new()));
        }
    }

    fn flag_fell(&mut self, side: Side, facts: &ClockFacts) {
        let needed = self.moves_due();
        let made = self.moves_made(side);
        let added = usize::from(self.told.added[side.fold_wb(0, 1)]);
        let code = match needed.get(added) {
            Some(&moves) if made < moves => Code::TimeControlNotMet,
            // The clock is about to add the next period's time.
            Some(_) => return,
            None => Code::Flag,
        };
        self.told.flag[side.fold_wb(0, 1)] = true;
        if facts.time_of(!side) == Some(0) && self.told.had_time[side.fold_wb(1, 0)] {
            self.told.flag = [true; 2];
            let marked = facts.flag.unwrap_or(side);
            self.raise_now(Finding::certain(Code::BothClocksAtZero, marked, Vec::new()));
        } else {
            self.raise_now(Finding::certain(code, side, Vec::new()));
        }
    }

    fn time_was_added(&mut self, side: Side, was_s: u32) {
        let needed = self.moves_due();
        let added = &mut self.told.added[side.fold_wb(0, 1)];
        let moves = needed.get(usize::from(*added)).copied();
        *added = added.saturating_add(1);
        let made = self.moves_made(side);
        // A clock that counts no moves adds at zero; one that counts adds at the press, before the
        // ply is final.
        let in_time = moves.is_none_or(|moves| made == moves || made + 1 == moves);
        let told = self.told.counter_off[side.fold_wb(0, 1)];
        if moves.is_some() && was_s > 0 && !in_time && !told {
            self.raise_now(Finding::certain(Code::MoveCounterOff, side, Vec::new()));
        }
    }

    /// The clock counts a press as a move.
    pub(super) fn count_press(&mut self, side: Side) {
        if self.game.stage() == Stage::Playing {
            self.told.presses[side.fold_wb(0, 1)] += 1;
        }
    }

    /// A side that pressed more often than it moved gets its time early: told before the control, while
    /// the clock can be set right.
    fn weigh_counter(&mut self, side: Side) {
        let index = side.fold_wb(0, 1);
        let made = self.moves_made(side);
        if self.told.presses[index] <= made || self.told.counter_off[index] {
            return;
        }
        let near = |due: &usize| (1..=COUNTER_MOVES).contains(&due.saturating_sub(made));
        if self.moves_due().iter().any(near) {
            self.told.counter_off[index] = true;
            self.raise_now(Finding::certain(Code::MoveCounterOff, side, Vec::new()));
        }
    }

    /// The clock starts at the start array: its times are to be those of the event.
    pub(super) fn weigh_setting(&mut self) {
        let Some(base) = self.time_control().map(|control| control.first_s()) else {
            return;
        };
        let facts = *self.clock.facts();
        let off = |side: &Side| {
            facts
                .time_of(*side)
                .is_some_and(|time| time.abs_diff(base) > SETTING_SLACK_S)
        };
        if let Some(side) = Side::ALL.into_iter().find(off) {
            self.raise_now(Finding::certain(Code::ClockSettingWrong, side, Vec::new()));
        }
    }

    fn time_control(&self) -> Option<TimeControl> {
        self.settings.time_control.as_deref()?.parse().ok()
    }

    /// Moves due at the end of each period but the last, counted from the start of the game.
    fn moves_due(&self) -> Vec<usize> {
        let control = self.time_control();
        let due = control.iter().flat_map(TimeControl::due);
        due.map(|moves| moves as usize).collect()
    }

    fn moves_made(&self, side: Side) -> usize {
        let record = self.game.record().iter();
        record.filter(|ply| ply.side == side).count()
    }

    fn waits_for_one_move(&self) -> bool {
        self.book.rules().terms.regime.window_closes_on_reply()
    }

    fn raise_ply(&mut self, code: Code, recorded: &Recorded) {
        let finding = Finding {
            played: recorded.san.clone(),
            ..Finding::certain(code, recorded.side, Vec::new())
        };
        self.raise_finding(finding, recorded);
    }

    fn raise_finding(&mut self, finding: Finding, recorded: &Recorded) {
        let before = stand(&recorded.before);
        let placement = recorded.after.placement().to_string();
        self.raise(finding, recorded.ply, &before, &placement, None);
    }

    /// Something that belongs to no move: it is told of the position as it stands.
    fn raise_now(&mut self, finding: Finding) {
        let facts = *self.clock.facts();
        self.raise_clock(finding, &facts);
    }

    /// The same, with the times that were good last as those of the press.
    fn raise_clock(&mut self, finding: Finding, good: &ClockFacts) {
        let here = stand(self.game.last_final());
        let placement = self.sensors.placement().to_string();
        let ply = self.game.record().len() as u16 + 1;
        self.raise_with(finding, ply, &here, &placement, None, clock_at(good));
    }
}

fn both_in_check(board: &Board) -> bool {
    Color::ALL.into_iter().all(|side| {
        let king = board.king_of(side);
        king.is_some_and(|king| board.attacks_to(king, !side, board.occupied()).any())
    })
}

fn pawn_on_last_rank(board: &Board) -> bool {
    let last = |side: Side| Bitboard::from(side.fold_wb(Rank::Eighth, Rank::First));
    Side::ALL
        .into_iter()
        .any(|side| (board.pawns() & board.by_color(side) & last(side)).any())
}

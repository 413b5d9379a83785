//! Follows one board's games: placements, presses and time in; final plies and cases out.

use shakmaty::{CastlingMode, Chess, Color, Move, Position, Role, Setup, Square};

use super::{
    catch_up::CATCH_UP_MS,
    doubt::Misread,
    event::{Case, Event, Limits, Recorded},
    ground::Ground,
    history::History,
    join::SET_UP_MS,
    looks::{Looks, Stood},
    press::Press,
    recall::Recall,
    start::{is_centre, is_start_array, king_in_centre, shown_result},
    tree::{Node, Step, Tree},
};
use crate::{
    board::{ClockFacts, Edge, Placement, Reading},
    words::{At, Side},
};

/// Where the follower is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// No game: men are being set up.
    Setup,
    /// A game is on, or stands ready.
    Playing,
    /// The game is over; what moves now is no ply.
    Ended {
        /// `1-0`, `0-1`, `1/2-1/2`.
        score: &'static str,
        /// `mate`, `stalemate`, `kings`, `arbiter`.
        by: &'static str,
    },
}

/// An irregular placement that was reported and is not yet answered or put right.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenCase {
    pub ply: u16,
    pub mover: Side,
}

/// So many squares away from every explanation and men are being set up, not moved.
const WANDERED_SQUARES: usize = 8;
/// The men must stand restored for so long, ms.
const RESTORED_MS: u64 = 500;
/// Changes kept of one turn; a board that flaps for hours must not fill the memory.
const MOST_EDGES: usize = 4096;
/// From this depth on the plies two below the newest are closed even without a press.
const CLOSED_BY_REPLIES: usize = 4;
/// A stopped clock with the last ply standing for so long closes that ply, ms.
const STOPPED_MS: u64 = 1000;

/// A king on a centre square so long before the clock stopped made a ply, not a sign, ms.
const KING_PLY_STOOD_MS: u64 = 800;

/// One board's record.
#[derive(Debug, Clone)]
pub struct Game {
    pub(super) limits: Limits,
    pub(super) mode: CastlingMode,
    pub(super) tree: Tree,
    pub(super) current: Option<usize>,
    pub(super) edges: Vec<Edge>,
    pub(super) seen: Placement,
    pub(super) changed: At,
    /// When a full board last agreed with all updates.
    pub(super) dumped: Option<At>,
    /// When a full board last told what no update had.
    pub(super) patched: Option<At>,
    pub(super) record: Vec<Recorded>,
    start: Ground,
    pub(super) history: History,
    pub(super) press: Option<Press>,
    /// A press without a move that waits for its proof although the opponent pressed back.
    pub(super) unmoved: Option<Press>,
    pub(super) open: Option<OpenCase>,
    pub(super) facts: ClockFacts,
    pub(super) looks: Looks,
    stopped: Option<At>,
    pub(super) stage: Stage,
    pub(super) wandered: bool,
    pub(super) asked: bool,
    pub(super) array_told: bool,
    /// What the sensors read; `seen` is what is believed to stand.
    pub(super) read: Placement,
    pub(super) misread: Vec<Misread>,
    pub(super) disturbed: bool,
    /// The men are to be put back as the record says.
    pub(super) restoring: bool,
    /// The plies an arbiter took back last.
    pub(super) taken_back: Vec<Recorded>,
    pub(super) ways: Vec<Vec<Move>>,
    /// Men that were set up, at a board without a clock: whose move it is, is not known.
    pub(super) joining: Option<Placement>,
    /// Presses since the last final ply that nothing explained yet.
    pub(super) unplaced: Vec<Press>,
    /// The placement of then was already looked for a way to.
    pub(super) caught_up: Option<At>,
    pub(super) recall: Recall,
    /// Questions for the memory in a row that filled nothing.
    pub(super) fruitless: u8,
    pub(super) out: Vec<Event>,
}

impl Game {
    /// A board of which nothing is known.
    pub fn new(mode: CastlingMode, limits: Limits) -> Game {
        let start = Ground::of(Chess::default(), mode);
        Game {
            limits,
            mode,
            tree: Tree::new(start.clone(), At::default()),
            current: None,
            edges: Vec::new(),
            seen: Placement::EMPTY,
            changed: At::default(),
            dumped: None,
            patched: None,
            record: Vec::new(),
            start,
            history: History::default(),
            press: None,
            open: None,
            facts: ClockFacts::default(),
            looks: Looks::default(),
            stopped: None,
            stage: Stage::Setup,
            wandered: false,
            asked: false,
            array_told: false,
            read: Placement::EMPTY,
            misread: Vec::new(),
            disturbed: false,
            restoring: false,
            taken_back: Vec::new(),
            ways: Vec::new(),
            joining: None,
            unmoved: None,
            unplaced: Vec::new(),
            caught_up: None,
            recall: Recall::default(),
            fruitless: 0,
            out: Vec::new(),
        }
    }

    /// Other limits from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Where the follower is.
    pub const fn stage(&self) -> Stage {
        self.stage
    }

    /// The final plies.
    pub fn record(&self) -> &[Recorded] {
        &self.record
    }

    /// The position the game began from.
    pub const fn start(&self) -> &Ground {
        &self.start
    }

    /// The last final position.
    pub fn last_final(&self) -> &Ground {
        &self.tree.anchor().ground
    }

    /// The clock was stopped in mid-game.
    pub const fn suspended(&self) -> bool {
        self.stopped.is_some()
    }

    /// Plies seen but not final, in standard notation.
    pub fn provisional(&self) -> Vec<String> {
        let Some(current) = self.current else {
            return Vec::new();
        };
        self.tree
            .path(current)
            .into_iter()
            .map(|id| self.notation(id).0)
            .collect()
    }

    /// Plies that are final, and those that stand on the board beside them; `None` while a man is in
    /// the air.
    pub fn plies_seen(&self) -> Option<usize> {
        let beside = self.tree.path(self.current?).len();
        Some(self.record.len() + beside)
    }

    /// Takes a position as a fact: a legal, completed move has just led to it, or an arbiter says
    /// so. With `rights_known` its castling and en passant fields are facts too.
    pub fn adopt(&mut self, setup: Setup, rights_known: bool, at: At) {
        let ground = Ground::from_setup(setup, self.mode);
        self.begin(ground, at);
        self.history = History {
            rights_known,
            ..History::default()
        };
    }

    /// What has happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.out)
    }

    /// The sensors changed. `edges` lead to `seen`.
    pub fn saw(&mut self, edges: &[Edge], seen: &Placement, at: At) {
        if self.press.is_some() && self.opponent_lifts(edges) {
            self.decide(at, true);
        }
        let room = MOST_EDGES.saturating_sub(self.edges.len());
        self.edges.extend(edges.iter().take(room));
        self.read = *seen;
        self.weigh_misread(seen);
        self.seen = self.believed(seen);
        self.looks.keep_next();
        self.changed = at;
        self.asked = false;
        self.look(at);
        if self.current.is_none() && self.press.is_none() {
            self.notice_read_late(at);
        }
    }

    /// A full board told what the updates had not: `edges` lead to `seen`.
    pub fn patched(&mut self, edges: &[Edge], seen: &Placement, at: At) {
        self.patched = Some(at);
        self.saw(edges, seen, at);
        self.moved_on_instead();
        let lost = self.stage == Stage::Playing && self.current.is_none();
        if lost && self.open.is_none() && !self.restoring {
            self.bridge_lost_updates();
        }
    }

    /// A full board arrived and adds nothing to what the updates had said.
    pub fn confirmed(&mut self, at: At) {
        self.dumped = Some(at);
        if self.stage == Stage::Setup {
            self.look(at);
        }
        self.tick(at);
    }

    /// New clock facts.
    pub fn clock(&mut self, facts: &ClockFacts, at: At) {
        self.facts = *facts;
        self.looks.add(*facts, at);
    }

    /// A side pressed.
    pub fn pressed(&mut self, side: Side, at: At) {
        if self.stage != Stage::Playing || !self.played_on(side, at) {
            return;
        }
        if self.press.as_ref().is_some_and(|press| press.side != side) {
            if self.current == Some(0) {
                self.unmoved = self.press.take();
            } else {
                self.decide(at, true);
                if let Some(press) = self.press.take() {
                    self.set_aside(press);
                }
            }
        }
        let in_air = self.current.is_none();
        self.press = Some(Press::seen(side, self.facts, at, in_air));
        self.tick(at);
    }

    /// The clock stopped.
    pub fn stopped(&mut self, at: At) {
        self.stopped = Some(at);
    }

    /// The clock runs (again) for this side. A press that was made meanwhile cannot be told from
    /// an arbiter's hand: it closes a legal ply, and accuses nobody.
    pub fn started(&mut self, side: Side, at: At) {
        self.stopped = None;
        if self.record.is_empty() && self.current == Some(0) {
            // Men moved before the clock first ran were only looked at.
            self.edges.clear();
        }
        let plays = self.stage == Stage::Playing && self.played_on(side.other(), at);
        if plays && self.press.is_none() {
            self.press = Some(Press::soft(side.other(), self.facts, at));
        }
        self.tick(at);
    }

    /// Time passed. Early and extra calls are harmless.
    pub fn tick(&mut self, at: At) {
        let quiet = at.ms_since(self.changed);
        match self.stage {
            Stage::Playing if self.restoring => return,
            Stage::Playing => {}
            Stage::Setup => return self.notice_set_up(quiet, at),
            Stage::Ended { .. } => return self.notice_wrong_array(quiet),
        }
        self.notice_gap(quiet, at);
        if self.press.is_some() {
            self.decide(at, false);
        }
        self.catch_up(quiet, at);
        self.close_without_press(quiet, at);
        self.notice_restored(quiet);
        self.notice_end(quiet, at);
        self.notice_taken_back(quiet, at);
        if self.current.is_none()
            && self.press.is_none()
            && self.open.is_none()
            && !self.asked
            && quiet >= self.limits.unexplained_ms
        {
            self.asked = true;
            let mover = self.last_final().turn().other();
            let case = self.case(mover, None);
            self.out.push(Event::Unexplained(Box::new(case)));
        }
    }

    /// When [`Game::tick`] should be called next; `None` when only news can change anything.
    pub fn wake_at(&self, now: At) -> Option<At> {
        match self.stage {
            Stage::Playing => {}
            Stage::Setup | Stage::Ended { .. } => {
                return Some(self.changed.plus_ms(SET_UP_MS)).filter(|&at| at > now);
            }
        }
        let l = &self.limits;
        let since_change = [
            l.hold_ms,
            l.confirm_ms,
            l.settle_ms,
            RESTORED_MS,
            STOPPED_MS,
            l.gesture_ms,
            l.unexplained_ms,
        ];
        let since_press = [l.hold_ms, l.confirm_ms, 2 * l.confirm_ms, l.grace_ms];
        let pressed = self.press.as_ref().map(|press| press.at);
        since_change
            .iter()
            .map(|&ms| self.changed.plus_ms(ms))
            .chain(
                pressed
                    .into_iter()
                    .flat_map(|at| since_press.map(|ms| at.plus_ms(ms))),
            )
            .chain(self.stopped.map(|at| at.plus_ms(STOPPED_MS)))
            .chain(self.recall_due())
            .chain(self.is_behind().then(|| self.changed.plus_ms(CATCH_UP_MS)))
            .filter(|&at| at > now)
            .min()
    }

    /// Makes the plies up to this candidate final.
    pub(super) fn make_final(&mut self, id: usize, press: Option<&Press>, at: At) {
        self.drop_ways();
        let path = self.tree.path(id);
        let closed_by = self.presses_of(path.len(), press);
        self.unplaced.clear();
        let mut turn_began = 0;
        for (index, &node_id) in path.iter().enumerate() {
            let node = self.tree.node(node_id).clone();
            let before = self.tree.node(node.parent).ground.clone();
            let (san, uci) = self.notation(node_id);
            let side = before.turn();
            let ply = self.record.len() as u16 + 1;
            let turn_ends = node.edges.clamp(turn_began, self.edges.len());
            let (clock_s, clock_about) = match &closed_by[index] {
                Some(press) if press.side == side => (press.facts.time_of(side), false),
                _ => {
                    let reply = path.get(index + 1).map(|&id| self.tree.node(id));
                    let stood = Stood {
                        shown: node.first_shown,
                        landed: self.landed(&node),
                        lifted: self.lifted(&node),
                        reply_landed: reply.and_then(|reply| self.landed(reply)),
                        replied: reply.map(|reply| reply.first_shown),
                        heard: self.last_update(reply.unwrap_or(&node).first_shown),
                    };
                    let look = self.looks.of_ply(side, &stood);
                    (look.time_s, look.about)
                }
            };
            let recorded = Recorded {
                ply,
                side,
                mv: match node.step {
                    Step::Move(mv) => Some(mv),
                    Step::Anchor | Step::Irregular | Step::Pass => None,
                },
                san,
                uci,
                clock_s,
                clock_about,
                before: before.clone(),
                after: node.ground.clone(),
                at,
            };
            let history = self.history.clone();
            self.history.note(&recorded);
            if self.open.is_some_and(|open| open.ply == ply) {
                self.out.push(if recorded.mv.is_none() {
                    Event::Replied { ply }
                } else {
                    Event::Restored { ply }
                });
                self.open = None;
            }
            self.out.push(Event::Ply {
                late: press.and_then(|press| self.late(press, &recorded, node.shown)),
                edges: self.edges[turn_began..turn_ends].to_vec(),
                history,
                recorded: Box::new(recorded.clone()),
            });
            self.record.push(recorded);
            turn_began = turn_ends;
        }
        self.edges.drain(..turn_began);
        self.current = self.tree.rebase(id, self.current);
    }

    /// The case of the men as they stand.
    pub(super) fn case(&self, mover: Side, pressed: Option<At>) -> Case {
        Case {
            ply: self.record.len() as u16 + 1,
            mover,
            before: self.last_final().clone(),
            seen: self.seen,
            edges: self.edges.clone(),
            history: self.history.clone(),
            pressed,
            one_square_off: pressed.is_some() && self.one_square_off(),
        }
    }

    pub(super) fn look(&mut self, at: At) {
        if self.is_new_start() {
            self.begin(self.ground_of_array(), at);
            return;
        }
        if self.stage == Stage::Setup {
            self.join_at_ply(at);
        }
        if self.stage != Stage::Playing {
            return;
        }
        self.current = if self.put_back() {
            self.tree
                .find(&self.seen, at, self.edges.len(), self.current)
        } else {
            None
        };
        if self.current.is_none() && !self.misread.is_empty() {
            self.current = self
                .tree
                .find(&self.read, at, self.edges.len(), self.current);
            if self.current.is_some() {
                self.seen = self.read;
                self.believe_sensors();
            }
        }
        self.notice_disturbance();
        if self.current.is_some() {
            self.drop_ways();
        }
        if self.current.is_none()
            && self.tree.anchor().placement.differs(&self.seen).count() >= WANDERED_SQUARES
        {
            self.wandered = true;
        }
    }

    fn is_new_start(&self) -> bool {
        let fresh = match self.stage {
            Stage::Setup | Stage::Ended { .. } => true,
            Stage::Playing => self.wandered || self.record.is_empty(),
        };
        fresh
            && !(self.stage == Stage::Playing
                && self.record.is_empty()
                && self.tree.anchor().placement == self.seen)
            && is_start_array(&self.seen, self.mode == CastlingMode::Chess960)
    }

    fn ground_of_array(&self) -> Ground {
        let board = self.seen.to_board();
        let home = |color: Color| board.by_piece(Role::Rook.of(color));
        Ground::from_setup(
            Setup {
                castling_rights: home(Color::White) | home(Color::Black),
                board,
                ..Setup::initial()
            },
            self.mode,
        )
    }

    pub(super) fn begin(&mut self, ground: Ground, at: At) {
        self.start = ground.clone();
        self.record.clear();
        self.history = History::from_start();
        self.open = None;
        self.taken_back.clear();
        self.stopped = None;
        self.settle_on(ground, at);
        self.out.push(Event::Began);
        if self.array_told && is_start_array(&self.seen, self.mode == CastlingMode::Chess960) {
            self.array_told = false;
            self.out.push(Event::Restored { ply: 1 });
        }
    }

    /// Plies that no press will close: the end of the game, a board without a clock, two presses
    /// between two looks at the clock.
    fn close_without_press(&mut self, quiet: u64, at: At) {
        let Some(current) = self.current.filter(|&id| id != 0) else {
            return;
        };
        let node = self.tree.node(current);
        if !matches!(node.step, Step::Move(_)) {
            return;
        }
        let over = node
            .ground
            .position()
            .is_some_and(|position| position.is_checkmate() || position.is_stalemate());
        let stopped_on = self.stopped.is_some_and(|stop| {
            self.stood_at_stop(node, stop) && at.ms_since(stop) >= STOPPED_MS && quiet >= STOPPED_MS
        });
        let first_half_of_sign = stopped_on
            && self
                .stopped
                .is_some_and(|stop| stop.ms_since(node.shown) < KING_PLY_STOOD_MS)
            && matches!(node.step, Step::Move(mv) if mv.role() == Role::King)
            && king_in_centre(&self.seen, node.ground.turn().other());
        // The press that usually follows a mate brings its clock time.
        if (over && quiet >= self.limits.grace_ms) || (stopped_on && !first_half_of_sign) {
            self.make_final(current, None, at);
            return;
        }
        let path = self.tree.path(current);
        let replies = if self.facts.connected {
            CLOSED_BY_REPLIES
        } else {
            2
        };
        if path.len() >= replies && quiet >= self.limits.settle_ms {
            let closed = path.len() - replies.min(path.len() - 1).clamp(1, 2);
            self.make_final(path[closed.saturating_sub(1)], None, at);
        }
    }

    fn notice_restored(&mut self, quiet: u64) {
        let (Some(open), Some(current)) = (self.open, self.current) else {
            return;
        };
        if quiet < RESTORED_MS {
            return;
        }
        let node = self.tree.node(current);
        let same_men = node.step == Step::Anchor;
        let pass_open = self.tree.has_pass();
        let put_right = match node.step {
            Step::Anchor => !pass_open || self.facts.running == Some(open.mover),
            Step::Move(_) => node.parent == 0 && node.ground.turn() != open.mover,
            Step::Irregular | Step::Pass => false,
        };
        if put_right {
            if same_men {
                let at = self.changed;
                self.tree = Tree::new(self.last_final().clone(), at);
                self.current = Some(0);
                self.edges.clear();
                self.unplaced.clear();
            }
            self.out.push(Event::Restored { ply: open.ply });
            self.open = None;
        }
    }

    fn notice_end(&mut self, quiet: u64, at: At) {
        let over = self
            .last_final()
            .position()
            .filter(|_| self.current == Some(0))
            .and_then(|position| {
                if position.is_checkmate() {
                    Some((position.turn().fold_wb("0-1", "1-0"), "mate"))
                } else if position.is_stalemate() {
                    Some(("1/2-1/2", "stalemate"))
                } else {
                    None
                }
            });
        let sign = (quiet >= self.limits.gesture_ms)
            .then(|| shown_result(&self.read, &self.last_final().placement()))
            .flatten()
            .map(|score| (score, "kings"));
        if let Some((score, by)) = over.or(sign) {
            self.close_before_sign(by, at);
            self.stage = Stage::Ended { score, by };
            self.press = None;
            self.out.push(Event::Ended { score, by });
        }
    }

    /// A legal ply that stood until the kings were put in the centre was made; a king's step to a
    /// centre square about when the clock stopped was the sign itself.
    pub(super) fn close_before_sign(&mut self, by: &str, at: At) {
        if by != "kings" || (self.stopped.is_none() && self.facts.connected) {
            return;
        }
        let standing = self
            .tree
            .reached_by_other(self.last_final().turn().other())
            .into_iter()
            .find(|&id| {
                let node = self.tree.node(id);
                let left = self.edges.get(node.edges).map(|edge| edge.at);
                let Some(sign_began) = self.stopped.or(left) else {
                    return false;
                };
                node.parent == 0
                    && match node.step {
                        Step::Move(mv) if mv.role() == Role::King => {
                            sign_began.ms_since(node.shown) >= KING_PLY_STOOD_MS
                                && (self.stopped.is_some() || !is_centre(mv.to()))
                        }
                        Step::Move(_) => self.stood_at_stop(node, sign_began),
                        Step::Anchor | Step::Irregular | Step::Pass => false,
                    }
            });
        if let Some(id) = standing {
            self.make_final(id, None, at);
        }
    }

    /// A ply that stood when the clock was stopped; or that a full board told of just after, when
    /// both were learnt as the link came back; or that lacked but a man it took, slow to be read as
    /// gone.
    fn stood_at_stop(&self, node: &Node, stop: At) -> bool {
        node.shown <= stop
            || (self.patched == Some(node.shown) && node.shown.ms_since(stop) < STOPPED_MS)
            || self.only_taken_man_left_since(node, stop)
    }

    fn only_taken_man_left_since(&self, node: &Node, stop: At) -> bool {
        let taken = match node.step {
            Step::Move(mv) => mv.capture().map(|role| role.of(node.ground.turn())),
            Step::Anchor | Step::Irregular | Step::Pass => None,
        };
        taken.is_some_and(|taken| {
            let mut since = self.edges.iter().filter(|edge| edge.at > stop);
            since.all(|edge| edge.from == Reading::Man(taken) && edge.to == Reading::Empty)
        })
    }

    /// The men stand as before an irregular ply that the game had gone on from: an arbiter put the
    /// game back (Article 7.5.1).
    fn notice_taken_back(&mut self, quiet: u64, at: At) {
        if self.current.is_some() || quiet < RESTORED_MS {
            return;
        }
        let Some(index) = self.record.iter().rposition(|recorded| {
            recorded.mv.is_none() && recorded.before.placement() == self.seen
        }) else {
            return;
        };
        self.take_back(index, at);
    }

    /// The side whose irregular ply stands at the end of the record presses again, with a legal ply
    /// in its place.
    pub(super) fn played_again(&mut self, side: Side, at: At) -> Option<usize> {
        let last = self.record.last()?;
        let legal = |(_, after): &(_, Placement)| *after == self.seen;
        if last.mv.is_some() || last.side != side || !last.before.successors().iter().any(legal) {
            return None;
        }
        self.take_back(self.record.len() - 1, at);
        self.current = self.tree.find(&self.seen, at, 0, None);
        self.current
    }

    pub(super) fn take_back(&mut self, index: usize, at: At) {
        let ground = self.record[index].before.clone();
        let ply = self.record[index].ply;
        self.record.truncate(index);
        self.tree = Tree::new(ground, at);
        self.current = Some(0);
        self.edges.clear();
        self.press = None;
        self.unplaced.clear();
        let open = self.open.take().map(|open| open.ply);
        self.rebuild_history();
        self.out.push(Event::Retracted {
            back_to: ply - 1,
            reason: "corrected",
        });
        for ply in std::iter::once(ply).chain(open) {
            self.out.push(Event::Restored { ply });
        }
    }

    pub(super) fn rebuild_history(&mut self) {
        let mut history = History {
            complete: self.history.complete,
            rights_known: self.history.rights_known,
            ..History::default()
        };
        for recorded in &self.record {
            history.note(recorded);
        }
        self.history = history;
    }

    fn opponent_lifts(&self, edges: &[Edge]) -> bool {
        let [edge] = edges else { return false };
        let Some(press) = &self.press else {
            return false;
        };
        matches!(edge.from, Reading::Man(man) if man.color != press.side)
            && edge.to == Reading::Empty
    }

    fn notation(&self, id: usize) -> (String, String) {
        let node = self.tree.node(id);
        let before = &self.tree.node(node.parent).ground;
        match node.step {
            Step::Move(mv) => (before.san(mv), before.uci(mv)),
            Step::Pass => ("--".to_owned(), String::new()),
            Step::Irregular | Step::Anchor => {
                let changed = before.placement().differs(&node.placement);
                let (left, came): (Vec<Square>, Vec<Square>) = changed
                    .into_iter()
                    .partition(|&square| node.placement.piece(square).is_none());
                let squares: Vec<String> =
                    left.iter().chain(&came).map(Square::to_string).collect();
                (squares.join("-"), String::new())
            }
        }
    }
}

//! What a press proves: which candidate it closes, or that none explains the men (Article 6.2.1,
//! 7.5.1).

use shakmaty::{Move, Role, Square};

use super::{
    event::{Event, Recorded},
    follow::{Game, OpenCase},
    landings::landing,
    reply::under_way,
    tree::{Node, Step},
};
use crate::{
    board::{ClockFacts, Edge, Placement, Reading},
    words::{At, Side},
};

/// The clock is read a few times a second: a press is seen so late, ms (protocol section 7).
const LEVER_LAG_MS: u64 = 290;
/// A board looks at each square once in so long, ms (protocol section 7).
pub(super) const SCAN_MS: u64 = 260;
/// A man that came to its square about when the clock was pressed, from another square where it had
/// stood, is believed there when all stood still for so long, ms: a man that was taken in the reply is
/// often sensed beside its square (reconstruction.md 2).
const MOVED_ON_MS: u64 = 500;

/// A gap of more plies is never closed by itself.
pub(super) const LONGEST_BRIDGE: usize = 4;

/// A press that has not been decided yet.
#[derive(Debug, Clone)]
pub(super) struct Press {
    pub side: Side,
    pub facts: ClockFacts,
    pub at: At,
    /// The clock only started again: closes a legal ply, never raises a case.
    soft: bool,
    /// No explained placement stood at the press.
    in_air: bool,
    asked_for_dump: bool,
}

impl Press {
    pub fn seen(side: Side, facts: ClockFacts, at: At, in_air: bool) -> Press {
        Press {
            side,
            facts,
            at,
            soft: false,
            in_air,
            asked_for_dump: false,
        }
    }

    pub fn soft(side: Side, facts: ClockFacts, at: At) -> Press {
        Press {
            soft: true,
            ..Press::seen(side, facts, at, false)
        }
    }
}

/// How surely the board showed a man on the square its ply ends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Never,
    Before,
    Now,
}

/// What is known of the updates since the last final ply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Updates {
    /// All came.
    Came,
    /// Some may be missing.
    Doubtful,
    /// A full board has just told what they had not.
    Lost,
}

enum Verdict {
    /// The plies up to this candidate were completed.
    Closes(usize),
    /// The plies up to this candidate, if the mover's man did not merely pass its square.
    ClosesUnlessPassing(usize),
    /// The press adds nothing to the record.
    Nothing,
    /// The men did not move since the turn began.
    Unmoved,
    /// No legal ply leads to these men.
    Unexplained,
}

impl Game {
    /// Weighs the press that waits. With `opponent_moved` the turn is over, whatever the scan may
    /// still bring.
    pub(super) fn decide(&mut self, at: At, opponent_moved: bool) {
        if self.current != Some(0) {
            self.unmoved = None;
        }
        let Some(press) = self.unmoved.clone().or_else(|| self.press.clone()) else {
            return;
        };
        let waited = at.ms_since(press.at);
        let quiet = at.ms_since(self.changed);
        match self.weigh(&press, at) {
            Verdict::Closes(id) => {
                if opponent_moved || waited >= self.limits.hold_ms || self.current.is_none() {
                    self.press = None;
                    self.make_final(id, Some(&press), at);
                }
            }
            Verdict::ClosesUnlessPassing(id) => {
                if quiet >= MOVED_ON_MS {
                    self.press = None;
                    self.make_final(id, Some(&press), at);
                }
            }
            Verdict::Nothing if self.current != Some(0) && !self.unplaced.is_empty() => {
                self.press = None;
                self.set_aside(press);
            }
            Verdict::Nothing => self.press = None,
            _ if press.soft || (press.side == self.last_final().turn() && self.open.is_some()) => {
                self.press = None;
            }
            Verdict::Unexplained if self.recalls(at) => {}
            Verdict::Unmoved | Verdict::Unexplained => {
                let settled = quiet >= self.limits.confirm_ms && waited >= self.limits.confirm_ms;
                if !settled {
                    return;
                }
                let confirmed = self.dumped.is_some_and(|dump| {
                    dump >= self.changed && dump.ms_since(press.at) >= self.limits.confirm_ms
                });
                if confirmed || opponent_moved || waited >= self.limits.grace_ms {
                    self.press = None;
                    self.unmoved = None;
                    self.no_legal_ply(&press, at);
                } else if !press.asked_for_dump {
                    self.out.push(Event::WantDump);
                    let asked = Press {
                        asked_for_dump: true,
                        ..press
                    };
                    match &mut self.unmoved {
                        Some(unmoved) => *unmoved = asked,
                        None => self.press = Some(asked),
                    }
                }
            }
        }
    }

    fn weigh(&mut self, press: &Press, at: At) -> Verdict {
        let presser = press.side;
        let Some(current) = self.current else {
            return self.closed_unseen(press, at);
        };
        let current = self.legal_way_instead(current).unwrap_or(current);
        let node = self.tree.node(current);
        if current == 0 {
            return if node.ground.turn() == presser {
                Verdict::Unmoved
            } else {
                Verdict::Nothing
            };
        }
        if node.ground.turn() != presser {
            let pressed = self.shown_at_press(current, press);
            return if self.tree.node(pressed).closes() {
                self.closes(pressed, press)
            } else {
                Verdict::Nothing
            };
        }
        // The opponent's ply stands already; this press closes the one before it (6.2.2).
        if node.parent == 0 || !self.tree.node(node.parent).closes() {
            Verdict::Nothing
        } else {
            self.closes(node.parent, press)
        }
    }

    /// The ply that this press closed, where the presser has made another since: the last that
    /// stood by then, or that the scan was slow to show while the reply before it stood long since.
    fn shown_at_press(&self, current: usize, press: &Press) -> usize {
        let path = self.tree.path(current);
        let mut own = path.iter().rev().step_by(2).copied();
        let stood = |&id: &usize| {
            let node = self.tree.node(id);
            let shown = node.first_shown;
            let answered = self.tree.node(node.parent).first_shown;
            let read_late = shown <= press.at.plus_ms(SCAN_MS)
                && node.parent != 0
                && press.at.ms_since(answered) > LEVER_LAG_MS;
            shown <= press.at || self.patched == Some(shown) || read_late
        };
        own.find(stood).unwrap_or(current)
    }

    /// A reply that leaves the men as a legal ply before it would have: an irregular one was only
    /// read so, for a square that stuck or a man that was taken at once.
    fn legal_way_instead(&mut self, current: usize) -> Option<usize> {
        let path = self.tree.path(current);
        if path.len() < 2 || self.is_legal(&path) || self.tree.has_pass() {
            return None;
        }
        let id = self.one_way(path.len(), Updates::Doubtful)?;
        self.current = Some(id);
        Some(id)
    }

    fn closes(&self, id: usize, press: &Press) -> Verdict {
        let node = self.tree.node(id);
        let (Step::Move(mv), true) = (node.step, node.parent == 0) else {
            return Verdict::Closes(id);
        };
        let came_lately = press.at.ms_since(node.first_shown) <= LEVER_LAG_MS;
        let stood_elsewhere = self.tree.nodes().any(|other| {
            other.parent == 0
                && other.first_shown < node.first_shown
                && matches!(other.step, Step::Move(before) if before.from() == mv.from())
        });
        if came_lately && stood_elsewhere {
            Verdict::ClosesUnlessPassing(id)
        } else {
            Verdict::Closes(id)
        }
    }

    /// The legal ply of the presser that the men prove although it never stood alone: all that
    /// differs from it is the opponent's reply, begun before the scan had shown the ply.
    ///
    /// The best evidence wins: the mover's man on its square now, then there at some time of the
    /// turn, then (the reply took it in the same scan) a complete reply. Two candidates of the
    /// best kind prove nothing yet.
    fn closed_unseen(&mut self, press: &Press, at: At) -> Verdict {
        let presser = press.side;
        let parents: Vec<usize> = if self.last_final().turn() == presser {
            vec![0]
        } else {
            self.tree.reached_by_other(presser)
        };
        let mut fitting: Vec<(Shown, usize, Move, Placement)> = Vec::new();
        for parent in parents {
            let node = self.tree.node(parent);
            if parent != 0 && !(node.closes() && node.parent == 0) {
                continue;
            }
            for (mv, stood) in node.successors() {
                if stood.differs(&self.seen).count() > 5 {
                    continue;
                }
                let shown = self.how_shown(*mv, stood, presser);
                if self.opponent_busy(node, *mv, stood, press, shown) {
                    fitting.push((shown, parent, *mv, *stood));
                }
            }
        }
        let Some(best) = fitting.iter().map(|(shown, ..)| *shown).max() else {
            return Verdict::Unexplained;
        };
        let (mut of_best, others): (Vec<_>, Vec<_>) =
            fitting.into_iter().partition(|(shown, ..)| *shown == best);
        let (Some((_, parent, mv, stood)), true) = (of_best.pop(), of_best.is_empty()) else {
            return Verdict::Unexplained;
        };
        let lifted_only = best == Shown::Before && self.seen.code(landing(mv, presser)) == 0;
        let sure_at_once = best != Shown::Never && !lifted_only;
        if !sure_at_once && at.ms_since(self.changed) < self.limits.confirm_ms {
            return Verdict::Unexplained;
        }
        let stood_elsewhere = others
            .iter()
            .any(|(shown, _, before, _)| *shown == Shown::Before && before.from() == mv.from());
        let edges = self.edges_of_ply(&stood);
        let id = self.tree.grow_known(parent, mv, self.changed, edges);
        if stood_elsewhere && self.landed_lately(mv, &stood, press) {
            Verdict::ClosesUnlessPassing(id)
        } else {
            Verdict::Closes(id)
        }
    }

    /// Whether the man of a ply came to its square about when the clock was pressed.
    fn landed_lately(&self, mv: Move, stood: &Placement, press: &Press) -> bool {
        let to = landing(mv, press.side);
        self.edges
            .iter()
            .rfind(|edge| edge.square == to && edge.to == stood.get(to))
            .is_some_and(|edge| press.at.ms_since(edge.at) <= LEVER_LAG_MS)
    }

    /// How the board showed the man that a ply of the presser brings to its square.
    fn how_shown(&self, mv: Move, stood: &Placement, presser: Side) -> Shown {
        let to = landing(mv, presser);
        if self.seen.code(to) == stood.code(to) {
            return Shown::Now;
        }
        let there = stood.get(to);
        if self
            .edges
            .iter()
            .any(|edge| edge.square == to && edge.to == there)
        {
            Shown::Before
        } else {
            Shown::Never
        }
    }

    /// Edges up to the one that put the mover's man where the ply ends.
    fn edges_of_ply(&self, stood: &Placement) -> usize {
        let changed: Vec<Square> = self
            .last_final()
            .placement()
            .differs(stood)
            .into_iter()
            .collect();
        let reads =
            |edge: &Edge| changed.contains(&edge.square) && edge.to == stood.get(edge.square);
        self.edges
            .iter()
            .rposition(reads)
            .map_or(self.edges.len(), |index| index + 1)
    }

    /// Whether all that differs from the candidate is the opponent's reply under way: begun after
    /// the press, or so shortly before it was seen that the lever's lag explains it.
    fn opponent_busy(
        &self,
        before: &Node,
        mv: Move,
        stood: &Placement,
        press: &Press,
        shown: Shown,
    ) -> bool {
        let changed = stood.differs(&self.seen);
        let too_early = changed.into_iter().any(|square| {
            self.edges
                .iter()
                .rfind(|edge| edge.square == square)
                .is_some_and(|edge| press.at.ms_since(edge.at) > LEVER_LAG_MS)
        });
        if too_early {
            return false;
        }
        let ground = before.ground.after(mv);
        if shown == Shown::Never {
            return ground
                .successors()
                .iter()
                .any(|(_, after)| *after == self.seen);
        }
        under_way(&ground, stood, &self.seen)
    }

    /// Plies whose presses or updates never reached us: the one legal way of a few plies that ends
    /// with the presser's. Three plies or more are believed only when each was seen to land, in its
    /// turn, or when a full board told of updates that were lost.
    fn bridge(&mut self, press: &Press) -> Option<usize> {
        let began = self.tree.anchor().shown;
        let updates = match self.patched {
            Some(patched) if patched >= began => Updates::Lost,
            _ => Updates::Came,
        };
        let shortest = if self.last_final().turn() == press.side {
            3
        } else {
            2
        };
        (shortest..=LONGEST_BRIDGE)
            .step_by(2)
            .find_map(|plies| self.one_way(plies, updates))
    }

    /// The men after a full board told of lost updates: the shortest way there if it is the only
    /// one of its length; if not, nothing is chosen.
    pub(super) fn bridge_lost_updates(&mut self) {
        let shortest = (2..=LONGEST_BRIDGE)
            .map(|plies| self.best_ways(plies, Updates::Lost))
            .find(|ways| !ways.is_empty());
        match shortest.as_deref() {
            Some([way]) => {
                let edges = self.edges.len();
                self.current = Some(self.tree.grow_way(way, self.changed, edges));
            }
            Some(_) => self.hold_ways(shortest.unwrap_or_default()),
            None => {}
        }
    }

    fn one_way(&mut self, plies: usize, updates: Updates) -> Option<usize> {
        let ways = self.best_ways(plies, updates);
        let [way] = ways.as_slice() else {
            return None;
        };
        let edges = self.edges.len();
        Some(self.tree.grow_way(way, self.changed, edges))
    }

    /// The ways of so many plies that the order of the landings speaks for most.
    pub(super) fn best_ways(&self, plies: usize, updates: Updates) -> Vec<Vec<Move>> {
        let there_and_back = updates == Updates::Lost;
        let mut ways = self.tree.ways_to(&self.seen, plies, there_and_back);
        if plies > 2 && updates == Updates::Came {
            ways.retain(|way| self.landings(way).is_sorted_by(|a, b| a.is_some() && a < b));
        }
        let disorder = |way: &Vec<Move>| {
            let landed = self.landings(way).into_iter().flatten();
            let landed: Vec<At> = landed.map(|index| self.edges[index].at).collect();
            landed.windows(2).filter(|pair| pair[0] > pair[1]).count()
        };
        let least = ways.iter().map(disorder).min();
        ways.retain(|way| Some(disorder(way)) == least);
        ways
    }

    /// The edges that last showed each ply of a way on its square.
    fn landings(&self, way: &[Move]) -> Vec<Option<usize>> {
        let mut side = self.last_final().turn();
        way.iter()
            .map(|&mv| {
                let man = Reading::Man(mv.promotion().unwrap_or(mv.role()).of(side));
                let to = landing(mv, side);
                side = side.other();
                self.edges
                    .iter()
                    .rposition(|edge| edge.square == to && edge.to == man)
            })
            .collect()
    }

    fn no_legal_ply(&mut self, press: &Press, at: At) {
        let anchor_turn = self.last_final().turn();
        if self.current.is_none()
            && let Some(id) = self.bridge(press)
        {
            self.current = Some(id);
            self.make_final(id, Some(press), at);
            return;
        }
        if let Some(id) = self.played_again(press.side, at) {
            self.make_final(id, Some(press), at);
            return;
        }
        if anchor_turn != press.side {
            // The ply before was never closed by its own press, or was irregular: this one closes it.
            let Some(id) = self
                .tree
                .reached_by_other(press.side)
                .into_iter()
                .find(|&id| {
                    let closes = self.tree.node(id).closes() && !self.was_left_at_press(id);
                    closes || self.king_taken(id, press.side) || self.answered_unsafely(id)
                })
            else {
                return self.set_aside(press.clone());
            };
            self.make_final(id, None, at);
        }
        let case = self.case(press.side, Some(press.at));
        if self.all_but_one_square(press, &case, at) {
            return;
        }
        self.open = Some(OpenCase {
            ply: case.ply,
            mover: press.side,
        });
        self.set_aside(press.clone());
        let id = self.tree.add_irregular(0, &self.seen, at, self.edges.len());
        if self.tree.node(id).step == Step::Irregular {
            self.current = Some(id);
        }
        self.out.push(Event::Unexplained(Box::new(case)));
    }

    /// Whether the reply to an irregular ply leaves the replier's own king attacked: both kings may be
    /// then (A.5.4).
    fn answered_unsafely(&self, id: usize) -> bool {
        let node = self.tree.node(id);
        node.step == Step::Irregular && node.ground.steps_to(&self.seen)
    }

    /// Whether this ply's man had gone from its square when the mover pressed, and did not come
    /// back: that press closed another ply, which was not read in full yet.
    fn was_left_at_press(&self, id: usize) -> bool {
        let node = self.tree.node(id);
        let (Step::Move(mv), Some(pressed)) = (node.step, self.unplaced.last()) else {
            return false;
        };
        let to = landing(mv, pressed.side);
        let left = self.edges.iter().rfind(|edge| edge.square == to);
        pressed.side != node.ground.turn()
            && self.seen.piece(to).is_none()
            && left.is_some_and(|edge| pressed.at.ms_since(edge.at) > LEVER_LAG_MS)
    }

    /// Whether the replier took the king that the irregular ply left to be taken.
    fn king_taken(&self, id: usize, replier: Side) -> bool {
        let node = self.tree.node(id);
        let king = Role::King.of(replier.other());
        let Some(stood) = node.placement.men().find(|(_, man)| *man == king) else {
            return false;
        };
        let taker = self.seen.piece(stood.0);
        matches!(node.step, Step::Irregular | Step::Pass)
            && taker.is_some_and(|man| man.color == replier)
            && self.seen.men().all(|(_, man)| man != king)
    }

    /// A man that was in the air at the press and landed later than one scan: 6.2.4.
    pub(super) fn late(
        &self,
        press: &Press,
        recorded: &Recorded,
        shown: At,
    ) -> Option<(Square, Square)> {
        let mv = recorded.mv?;
        (press.in_air
            && !press.soft
            && recorded.side == press.side
            && self.patched != Some(shown)
            && shown.ms_since(press.at) > self.limits.hold_ms)
            .then(|| (mv.from().unwrap_or(mv.to()), mv.to()))
    }
}

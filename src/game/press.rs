//! What a press proves: which candidate it closes, or that none explains the men (Article 6.2.1,
//! 7.5.1).

use shakmaty::Square;

use super::{
    event::{Event, Recorded},
    follow::{Game, OpenCase},
    tree::Step,
};
use crate::{
    board::{ClockFacts, Placement},
    words::{At, Side},
};

/// The clock is read a few times a second: a press is seen so late, ms (protocol section 7).
const LEVER_LAG_MS: u64 = 250;

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

enum Verdict {
    /// The plies up to this candidate were completed.
    Closes(usize),
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
        let Some(press) = self.press.clone() else {
            return;
        };
        let waited = at.ms_since(press.at);
        let quiet = at.ms_since(self.changed);
        match self.weigh(&press) {
            Verdict::Closes(id) => {
                if opponent_moved || waited >= self.limits.hold_ms || self.current.is_none() {
                    self.press = None;
                    self.make_final(id, Some(&press), at);
                }
            }
            Verdict::Nothing => self.press = None,
            _ if press.soft || (press.side == self.last_final().turn() && self.open.is_some()) => {
                self.press = None;
            }
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
                    self.no_legal_ply(&press, at);
                } else if !press.asked_for_dump {
                    self.out.push(Event::WantDump);
                    self.press = Some(Press {
                        asked_for_dump: true,
                        ..press
                    });
                }
            }
        }
    }

    fn weigh(&mut self, press: &Press) -> Verdict {
        let presser = press.side;
        let Some(current) = self.current else {
            let closed = self
                .tree
                .reached_by_other(presser.other())
                .into_iter()
                .filter(|&id| self.tree.node(id).closes())
                .find(|&id| self.opponent_busy(&self.tree.node(id).placement, press))
                .or_else(|| self.closed_unseen(press));
            return closed.map_or(Verdict::Unexplained, Verdict::Closes);
        };
        let node = self.tree.node(current);
        if current == 0 {
            return if node.ground.turn() == presser {
                Verdict::Unmoved
            } else {
                Verdict::Nothing
            };
        }
        if node.ground.turn() != presser {
            return if node.closes() {
                Verdict::Closes(current)
            } else {
                Verdict::Nothing
            };
        }
        // The opponent's ply stands already; this press closes the one before it (6.2.2).
        if node.parent == 0 || !self.tree.node(node.parent).closes() {
            Verdict::Nothing
        } else {
            Verdict::Closes(node.parent)
        }
    }

    /// The ply and the lift of the reply fell into one scan, so that the placement between was
    /// never read alone: the one legal ply that leaves all but the lifted man.
    fn closed_unseen(&mut self, press: &Press) -> Option<usize> {
        let anchor = self.tree.anchor();
        if anchor.ground.turn() != press.side {
            return None;
        }
        let mut fitting = anchor
            .ground
            .successors()
            .into_iter()
            .filter(|(_, stood)| self.opponent_busy(stood, press));
        let (_, stood) = fitting.next()?;
        if fitting.next().is_some() {
            return None;
        }
        self.tree.find(&stood, press.at, self.edges.len(), None)
    }

    /// Whether all that differs from the candidate is the opponent's reply under way: his men
    /// lifted after the press, or so shortly before it was seen that the lever's lag explains it.
    fn opponent_busy(&self, stood: &Placement, press: &Press) -> bool {
        let mut lifted = false;
        let all = stood.differs(&self.seen).into_iter().all(|square| {
            let was = stood.piece(square).map(|man| man.color);
            let is = self.seen.piece(square).map(|man| man.color);
            if was == Some(press.side.other()) && is != was {
                lifted = true;
                let since = self.edges.iter().rfind(|edge| edge.square == square);
                if since.is_some_and(|edge| press.at.ms_since(edge.at) > LEVER_LAG_MS) {
                    return false;
                }
            }
            is != Some(press.side)
        });
        all && lifted
    }

    fn no_legal_ply(&mut self, press: &Press, at: At) {
        let anchor_turn = self.last_final().turn();
        if anchor_turn != press.side
            && self.current.is_none()
            && let Some(id) = self.tree.bridge(0, &self.seen, 2, at, self.edges.len())
        {
            self.current = Some(id);
            self.make_final(id, Some(press), at);
            return;
        }
        if anchor_turn != press.side {
            // The opponent's own ply was never closed by his press; this one closes it.
            let Some(id) = self
                .tree
                .reached_by_other(press.side)
                .into_iter()
                .find(|&id| self.tree.node(id).closes())
            else {
                return;
            };
            self.make_final(id, None, at);
        }
        let case = self.case(press.side, Some(press.at));
        self.open = Some(OpenCase {
            ply: case.ply,
            mover: press.side,
        });
        let id = self.tree.add_irregular(0, &self.seen, at, self.edges.len());
        if self.tree.node(id).step == Step::Irregular {
            self.current = Some(id);
        }
        self.out.push(Event::Unexplained(Box::new(case)));
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

//! When the squares told that men were lifted and landed, and what they told late.

use shakmaty::{CastlingSide, Move, Square};

use super::{
    follow::Game,
    press::{Press, SCAN_MS, Updates},
    tree::{Node, Step},
};
use crate::{
    board::{Edge, Reading},
    words::{At, Side},
};

impl Game {
    /// When an update told of the man of a ply on the square that it ended on.
    pub(super) fn landed(&self, node: &Node) -> Option<At> {
        let Step::Move(mv) = node.step else {
            return None;
        };
        let to = landing(mv, node.ground.turn().other());
        let until = node.edges.min(self.edges.len());
        let mut updates = self.edges[..until].iter().rev();
        let came = updates.find(|edge| edge.square == to && edge.to == node.placement.get(to));
        came.filter(|edge| self.is_update(edge)).map(|edge| edge.at)
    }

    /// When an update told that the man of a ply had left his square, if none told more of him.
    pub(super) fn lifted(&self, node: &Node) -> Option<At> {
        let Step::Move(mv) = node.step else {
            return None;
        };
        let from = mv.from()?;
        let last = self.updates_backwards().find(|edge| edge.square == from)?;
        (last.to == Reading::Empty).then_some(last.at)
    }

    /// The last update until then; the start of all time where none came.
    pub(super) fn last_update(&self, until: At) -> At {
        let last = self.updates_backwards().find(|edge| edge.at <= until);
        last.map_or(At::default(), |edge| edge.at)
    }

    /// What squares told since the last final ply, the newest first.
    fn updates_backwards(&self) -> impl Iterator<Item = &Edge> {
        let edges = self.edges.iter().rev();
        edges.filter(|edge| self.is_update(edge))
    }

    /// Told by the square itself, not by a full board.
    fn is_update(&self, edge: &Edge) -> bool {
        self.patched != Some(edge.at)
    }

    /// The man of the last ply is read on a further square, and only long after on the one before no
    /// more: he had moved on before the press, past a square that was slow to show him and one that was
    /// slow to let go.
    pub(super) fn notice_read_late(&mut self, at: At) {
        let (Some(last), [came, left]) = (self.record.last(), self.edges.as_slice()) else {
            return;
        };
        let side = last.side;
        let slow = left.at.ms_since(came.at) > SCAN_MS;
        let same_man = came.to == left.from && left.to == Reading::Empty;
        let from_same_square = |mv: &Move| {
            let before = last.mv.filter(|before| before.to() == left.square);
            before.is_some_and(|before| before.from() == mv.from())
        };
        let instead = last.before.successors();
        let explained = instead
            .iter()
            .any(|(mv, stood)| *stood == self.seen && from_same_square(mv));
        if !(slow && same_man && explained && self.facts.running == Some(side.other())) {
            return;
        }
        self.take_back(self.record.len() - 1, at);
        self.current = self.tree.find(&self.seen, at, 0, None);
        if let Some(id) = self.current {
            let press = Press::seen(side, self.facts, at, false);
            self.make_final(id, Some(&press), at);
        }
    }

    /// A ply that its man had left again before the press, though the men would let it be followed by
    /// the opponent's: the one other ply that does.
    pub(super) fn moved_on_instead(&mut self) {
        let path = self.current.map(|id| self.tree.path(id));
        let Some([first, _]) = path.as_deref() else {
            return;
        };
        let node = self.tree.node(*first);
        let Step::Move(passed) = node.step else {
            return;
        };
        let mover = node.ground.turn().other();
        let to = landing(passed, mover);
        let man = node.placement.get(to);
        let left = self
            .updates_backwards()
            .find(|edge| edge.square == to)
            .filter(|edge| edge.from == man && edge.to == Reading::Empty);
        if !left.is_some_and(|left| self.looks.ran_on_after(mover, left.at)) {
            return;
        }
        let mut ways = self.best_ways(2, Updates::Lost);
        ways.retain(|way| way[0] != passed);
        if let [way] = ways.as_slice() {
            let edges = self.edges.len();
            self.current = Some(self.tree.leave_only(way, self.changed, edges));
        }
    }
}

/// The square on which the moving man (when castling: the king) ends.
pub(super) fn landing(mv: Move, mover: Side) -> Square {
    match mv {
        Move::Castle { king, rook } => CastlingSide::from_king_side(king < rook).king_to(mover),
        _ => mv.to(),
    }
}

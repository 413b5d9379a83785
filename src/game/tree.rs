//! The candidate continuations since the last final ply.
//!
//! Every placement that a legal ply explains becomes a node; stops of a slide become branches that
//! nothing grows from, and cost nothing (reconstruction.md 3.5). Node 0 is the last final position.

use shakmaty::Move;

use super::ground::Ground;
use crate::{
    board::Placement,
    words::{At, Side},
};

/// How a node follows its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The last final position itself.
    Anchor,
    /// A move of the men.
    Move(Move),
    /// The men as the mover left them at the press; no legal ply.
    Irregular,
    /// The clock was pressed without a move.
    Pass,
}

/// One position that may have stood.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub parent: usize,
    pub step: Step,
    pub ground: Ground,
    pub placement: Placement,
    pub depth: usize,
    /// When the board first came to show it.
    pub first_shown: At,
    /// When the board last came to show it.
    pub shown: At,
    /// Edges of the episode that had happened when the board last came to show it.
    pub edges: usize,
    successors: Vec<(Move, Placement)>,
}

/// Above so many candidates the older ones may no longer grow.
const MOST_NODES: usize = 48;
/// Plies looked ahead of the last final one.
const DEEPEST: usize = 6;
/// More ways than this are not told apart.
const MOST_WAYS: usize = 24;
/// Squares one ply changes at most (castling).
const MOST_SQUARES_A_PLY: usize = 4;

/// All candidates.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    pub fn new(ground: Ground, at: At) -> Tree {
        Tree {
            nodes: vec![Node::new(0, Step::Anchor, ground, 0, at, 0)],
        }
    }

    pub fn node(&self, id: usize) -> &Node {
        &self.nodes[id]
    }

    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    pub fn anchor(&self) -> &Node {
        &self.nodes[0]
    }

    /// The candidate that shows exactly these men: one known, or a legal ply from one known.
    pub fn find(
        &mut self,
        seen: &Placement,
        at: At,
        edges: usize,
        current: Option<usize>,
    ) -> Option<usize> {
        if let Some(id) = self.nodes.iter().position(|node| node.placement == *seen) {
            self.nodes[id].shown = at;
            self.nodes[id].edges = edges;
            return Some(id);
        }
        // The branch that was on the board last is the one most likely to grow.
        let mut parents: Vec<usize> = (0..self.nodes.len())
            .filter(|&id| {
                let node = &self.nodes[id];
                node.depth < DEEPEST && node.placement.differs(seen).count() <= MOST_SQUARES_A_PLY
            })
            .collect();
        parents.sort_by_key(|&id| (Some(id) != current, std::cmp::Reverse(self.nodes[id].edges)));
        for parent in parents {
            if let Some(mv) = self.nodes[parent].move_to(seen) {
                return Some(self.grow(parent, Step::Move(mv), at, edges));
            }
        }
        None
    }

    /// The candidate that this move makes of a known one; new if it was never shown.
    pub fn grow_known(&mut self, parent: usize, mv: Move, at: At, edges: usize) -> usize {
        let known = (0..self.nodes.len()).find(|&id| {
            id != 0 && self.nodes[id].parent == parent && self.nodes[id].step == Step::Move(mv)
        });
        known.unwrap_or_else(|| self.grow(parent, Step::Move(mv), at, edges))
    }

    /// Adds the men as they stand, as a ply of the mover that no rule allows.
    pub fn add_irregular(
        &mut self,
        parent: usize,
        seen: &Placement,
        at: At,
        edges: usize,
    ) -> usize {
        let before = &self.nodes[parent];
        let step = if before.placement == *seen {
            Step::Pass
        } else {
            Step::Irregular
        };
        let ground = before.ground.with_men(seen);
        self.push(Node::new(parent, step, ground, before.depth + 1, at, edges))
    }

    /// The legal ways from the last final position to these men in exactly `plies` plies, so long
    /// as they are few; empty when there are too many to tell apart, too. With `there_and_back` a
    /// man may also take and go back.
    pub fn ways_to(&self, seen: &Placement, plies: usize, there_and_back: bool) -> Vec<Vec<Move>> {
        let mut search = Search {
            seen,
            there_and_back,
            path: Vec::new(),
            found: Vec::new(),
        };
        let anchor = self.anchor();
        search.from(&anchor.ground, &anchor.placement, &anchor.successors, plies);
        if search.found.len() > MOST_WAYS {
            return Vec::new();
        }
        search.found
    }

    /// Makes the plies of a way candidates; gives the last.
    pub fn grow_way(&mut self, way: &[Move], at: At, edges: usize) -> usize {
        way.iter()
            .fold(0, |parent, &mv| self.grow_known(parent, mv, at, edges))
    }

    /// Forgets all candidates but the plies of a way; gives the last.
    pub fn leave_only(&mut self, way: &[Move], at: At, edges: usize) -> usize {
        self.nodes.truncate(1);
        self.grow_way(way, at, edges)
    }

    /// All candidates came to be shown at this moment, and no edge is kept of how.
    pub fn shown_by(&mut self, at: At) {
        for node in &mut self.nodes {
            node.first_shown = at;
            node.shown = at;
            node.edges = 0;
        }
    }

    /// Whether a press without a move waits to be answered.
    pub fn has_pass(&self) -> bool {
        self.nodes.iter().any(|node| node.step == Step::Pass)
    }

    /// Candidates with this side to move, most recently shown first.
    pub fn reached_by_other(&self, to_move: Side) -> Vec<usize> {
        let mut ids: Vec<usize> = (1..self.nodes.len())
            .filter(|&id| self.nodes[id].ground.turn() == to_move)
            .collect();
        ids.sort_by_key(|&id| std::cmp::Reverse((self.nodes[id].edges, id)));
        ids
    }

    /// The nodes from the anchor (left out) to this one.
    pub fn path(&self, id: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = id;
        while at != 0 {
            path.push(at);
            at = self.nodes[at].parent;
        }
        path.reverse();
        path
    }

    /// Makes a node the anchor. What does not grow from it is forgotten. Returns the new id of
    /// `current`, if it is still there.
    pub fn rebase(&mut self, root: usize, current: Option<usize>) -> Option<usize> {
        let root_depth = self.nodes[root].depth;
        let root_edges = self.nodes[root].edges;
        let mut renamed: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut kept = Vec::new();
        for (id, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            let parent = if id == root {
                Some(0)
            } else {
                renamed[node.parent]
            };
            let Some(parent) = parent else { continue };
            renamed[id] = Some(kept.len());
            kept.push(Node {
                parent,
                depth: node.depth - root_depth,
                edges: node.edges.saturating_sub(root_edges),
                ..node
            });
        }
        kept[0].step = Step::Anchor;
        self.nodes = kept;
        current.and_then(|id| renamed[id])
    }

    fn grow(&mut self, parent: usize, step: Step, at: At, edges: usize) -> usize {
        let before = &self.nodes[parent];
        let ground = match step {
            Step::Move(mv) => before.ground.after(mv),
            Step::Anchor | Step::Irregular | Step::Pass => before.ground.clone(),
        };
        let depth = before.depth + 1;
        self.push(Node::new(parent, step, ground, depth, at, edges))
    }

    fn push(&mut self, node: Node) -> usize {
        if self.nodes.len() >= MOST_NODES {
            self.retire_oldest();
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Dozens of stops since the last press: the older half may no longer grow. Their places stay,
    /// since ids are held.
    fn retire_oldest(&mut self) {
        let oldest = self.nodes.len() / 2;
        for node in &mut self.nodes[1..oldest] {
            node.successors.clear();
        }
    }
}

impl Node {
    fn new(parent: usize, step: Step, ground: Ground, depth: usize, at: At, edges: usize) -> Node {
        Node {
            parent,
            step,
            placement: ground.placement(),
            successors: ground.successors(),
            ground,
            depth,
            first_shown: at,
            shown: at,
            edges,
        }
    }

    fn move_to(&self, seen: &Placement) -> Option<Move> {
        self.successors
            .iter()
            .find(|(_, placement)| placement == seen)
            .map(|&(mv, _)| mv)
    }

    /// Every legal continuation with the men it leaves; none for a retired candidate.
    pub fn successors(&self) -> &[(Move, Placement)] {
        &self.successors
    }

    /// Whether a press can close the game up to here.
    pub fn closes(&self) -> bool {
        matches!(self.step, Step::Move(_))
    }
}

struct Search<'a> {
    seen: &'a Placement,
    there_and_back: bool,
    path: Vec<Move>,
    found: Vec<Vec<Move>>,
}

impl Search<'_> {
    /// Goes on only over plies that leave no more squares wrong than before: in a gap of a few
    /// plies each man is on its way to where it stands now, or to where it was taken. A man that
    /// takes and goes back leaves one more wrong meanwhile.
    fn from(
        &mut self,
        ground: &Ground,
        here: &Placement,
        successors: &[(Move, Placement)],
        plies: usize,
    ) {
        let wrong = here.differs(self.seen).count();
        if self.found.len() > MOST_WAYS || wrong > MOST_SQUARES_A_PLY * plies {
            return;
        }
        for (mv, placement) in successors {
            if plies == 1 {
                if placement == self.seen {
                    let mut way = self.path.clone();
                    way.push(*mv);
                    self.found.push(way);
                }
            } else if placement.differs(self.seen).count()
                <= wrong + usize::from(self.there_and_back && mv.is_capture())
            {
                let next = ground.after(*mv);
                self.path.push(*mv);
                self.from(&next, placement, &next.successors(), plies - 1);
                self.path.pop();
            }
        }
    }
}

//! Presses that proved nothing when they came, and the men that explain them later: a square that
//! stuck, updates that were lost, a reply within the same scan.

use super::{
    follow::Game,
    press::{LONGEST_BRIDGE, Press, Updates},
    reply::under_way,
    tree::Step,
};
use crate::words::At;

/// The men stand so long before a way to them is looked for, ms.
pub(super) const CATCH_UP_MS: u64 = 300;
/// A square that was read late has been read by then, and the men stand, ms.
const READ_LATE_MS: u64 = 500;
/// Presses that are kept; more of them and the game is lost to sight anyway.
const MOST_UNPLACED: usize = 8;

impl Game {
    /// Keeps a press for which no ply was found.
    pub(super) fn set_aside(&mut self, press: Press) {
        if self.unplaced.len() < MOST_UNPLACED {
            self.unplaced.push(press);
        }
    }

    /// The press that closed each of so many plies from the last final position on, where it was
    /// seen. `last` came after all that were set aside. Presses that do not end with the last of
    /// the plies are of no use.
    pub(super) fn presses_of(&self, plies: usize, last: Option<&Press>) -> Vec<Option<Press>> {
        let mut closed_by = vec![None; plies];
        let presses: Vec<&Press> = self.unplaced.iter().chain(last).collect();
        let ends: Vec<usize> = self.plies_closed_by(&presses);
        if ends.last() == Some(&plies) {
            for (end, press) in ends.into_iter().zip(presses) {
                closed_by[end - 1] = Some(press.clone());
            }
        } else if let (Some(press), Some(place)) = (last, closed_by.last_mut()) {
            *place = Some(press.clone());
        }
        closed_by
    }

    /// How many plies were made at each of these presses, if no more were missed than must have
    /// been.
    fn plies_closed_by(&self, presses: &[&Press]) -> Vec<usize> {
        let mut turn = self.last_final().turn();
        let mut plies = 0;
        presses
            .iter()
            .map(|press| {
                plies += if press.side == turn { 1 } else { 2 };
                turn = press.side.other();
                plies
            })
            .collect()
    }

    /// Whether presses wait for men that explain them.
    pub(super) fn is_behind(&self) -> bool {
        !self.unplaced.is_empty() || self.has_gap()
    }

    /// Closes the plies of presses that were set aside, once the men explain them.
    pub(super) fn catch_up(&mut self, quiet: u64, at: At) {
        if self.press.is_some() || !self.is_behind() || self.tree.has_pass() {
            return;
        }
        let path = self.current.map(|id| self.tree.path(id));
        match path {
            Some(path) if path.is_empty() && quiet >= READ_LATE_MS => self.unplaced.clear(),
            Some(path) if self.is_legal(&path) => self.close_read_late(&path, quiet, at),
            _ if quiet >= CATCH_UP_MS && self.caught_up != Some(self.changed) => {
                self.caught_up = Some(self.changed);
                if !self.ply_under_way() {
                    self.find_way(at);
                }
            }
            _ => {}
        }
    }

    pub(super) fn is_legal(&self, path: &[usize]) -> bool {
        path.iter()
            .all(|&id| matches!(self.tree.node(id).step, Step::Move(_)))
    }

    /// A ply that was pressed with one square unread: it is closed when the square is read, and
    /// nothing else has changed since.
    fn close_read_late(&mut self, path: &[usize], quiet: u64, at: At) {
        let presses: Vec<&Press> = self.unplaced.iter().collect();
        let (Some(&plies), Some(last)) = (
            self.plies_closed_by(&presses).last(),
            presses.last().copied(),
        ) else {
            return;
        };
        if plies == path.len() && quiet >= READ_LATE_MS && self.one_square_was_late(last.at) {
            let last = self.unplaced.pop();
            self.make_final(path[plies - 1], last.as_ref(), at);
        }
    }

    /// All that changed since then is one square that had still read as before the ply.
    fn one_square_was_late(&self, since: At) -> bool {
        let mut edges = self.edges.iter().filter(|edge| edge.at > since);
        edges.next().is_some_and(|first| {
            first.from == self.tree.anchor().placement.get(first.square)
                && edges.all(|edge| edge.square == first.square)
        })
    }

    /// The men are simply between a known candidate and the ply that follows it.
    fn ply_under_way(&self) -> bool {
        self.tree
            .nodes()
            .any(|node| under_way(&node.ground, &node.placement, &self.seen))
    }

    /// The only way of as few plies as the presses allow.
    fn find_way(&mut self, at: At) {
        let presses: Vec<&Press> = self.unplaced.iter().collect();
        let pressed = self.plies_closed_by(&presses).last().copied();
        let fewest = pressed.unwrap_or(2);
        let shortest = (fewest..=LONGEST_BRIDGE)
            .map(|plies| self.best_ways(plies, Updates::Doubtful))
            .find(|ways| !ways.is_empty());
        let Some(ways) = shortest else { return };
        let [way] = ways.as_slice() else {
            if self.has_gap() {
                self.hold_ways(ways);
            }
            return;
        };
        let end = self.tree.grow_way(way, self.changed, self.edges.len());
        self.current = Some(end);
        if let Some(pressed) = pressed {
            let surplus = (way.len() - pressed) % 2;
            let closed = self.tree.path(end)[way.len() - surplus - 1];
            let last = self.unplaced.pop();
            self.make_final(closed, last.as_ref(), at);
        }
    }
}

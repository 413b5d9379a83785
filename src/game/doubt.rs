//! What the sensors do not tell truly: men read as others or not at all, men knocked over, gaps with
//! more than one way across.

use shakmaty::{Move, Piece, Square};

use super::{
    event::{Case, Event},
    follow::Game,
    press::Press,
};
use crate::{board::Placement, words::At};

/// A square that no ply touched and that reads another man of its man's side, or nothing; or one
/// that still reads the man who left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Misread {
    square: Square,
    /// The code the square reads.
    reads: u8,
    /// The man that stands there.
    man: Option<Piece>,
    /// The ply at whose press it was noticed.
    ply: u16,
}

/// So many men gone from the board at once were knocked over: two hands hold fewer.
const KNOCKED_MEN: usize = 4;

impl Game {
    /// What stands on the board as far as is known, where the sensors read this.
    pub(super) fn believed(&self, read: &Placement) -> Placement {
        let mut believed = *read;
        for misread in &self.misread {
            if read.code(misread.square) == misread.reads {
                believed.set(misread.square, misread.man);
            }
        }
        believed
    }

    /// Forgets what was held against the sensors where they read something new.
    pub(super) fn weigh_misread(&mut self, read: &Placement) {
        let (stays, changed): (Vec<Misread>, Vec<Misread>) = std::mem::take(&mut self.misread)
            .into_iter()
            .partition(|misread| read.code(misread.square) == misread.reads);
        self.misread = stays;
        self.no_longer(changed);
    }

    /// The sensors are right after all.
    pub(super) fn believe_sensors(&mut self) {
        let held = std::mem::take(&mut self.misread);
        self.no_longer(held);
    }

    fn no_longer(&mut self, misread: Vec<Misread>) {
        for Misread { ply, .. } in misread {
            self.out.push(Event::Restored { ply });
        }
    }

    /// Squares whose men are held to be others than the sensors read.
    pub fn misread(&self) -> impl Iterator<Item = Square> + '_ {
        self.misread.iter().map(|misread| misread.square)
    }

    /// The one legal ply of the presser that explains the men, but for one square: a man that it did
    /// not touch is read wrong or was taken off, or the square that its man left is slow to let go.
    /// The case is told, the ply stands.
    pub(super) fn all_but_one_square(&mut self, press: &Press, case: &Case, at: At) -> bool {
        if self.last_final().turn() != press.side || self.one_square_not_reached_yet() {
            return false;
        }
        let mut fitting = self.plies_but_for_one_square().filter(|(mv, square)| {
            let stood = self.tree.anchor().placement.piece(*square);
            let read = self.seen.piece(*square);
            mv.from() == Some(*square)
                || stood.is_some_and(|man| read.is_none_or(|read| read.color == man.color))
        });
        let (Some((mv, square)), None) = (fitting.next(), fitting.next()) else {
            return false;
        };
        drop(fitting);
        self.out.push(Event::Unexplained(Box::new(case.clone())));
        let id = self.tree.grow_known(0, mv, self.changed, self.edges.len());
        self.misread.push(Misread {
            square,
            reads: self.seen.code(square),
            man: self.tree.node(id).placement.piece(square),
            ply: case.ply,
        });
        self.seen = self.believed(&self.seen);
        self.current = Some(id);
        self.make_final(id, Some(press), at);
        true
    }

    /// Whether a legal ply explains the men but for one square.
    pub(super) fn one_square_off(&self) -> bool {
        self.plies_but_for_one_square().next().is_some()
    }

    /// Whether a legal ply explains the men but for a square that its man comes to or a man taken in
    /// passing leaves, which reads as if it had not been played yet.
    fn one_square_not_reached_yet(&self) -> bool {
        let anchor = &self.tree.anchor().placement;
        self.but_for_one_square().any(|(mv, stood, square)| {
            stood.code(square) != anchor.code(square)
                && self.seen.code(square) == anchor.code(square)
                && mv.from() != Some(square)
        })
    }

    /// Legal plies that explain the men but for one square, which they do not touch or which their
    /// man left.
    fn plies_but_for_one_square(&self) -> impl Iterator<Item = (Move, Square)> + '_ {
        let anchor = &self.tree.anchor().placement;
        self.but_for_one_square()
            .filter_map(move |(mv, stood, square)| {
                let untouched = stood.code(square) == anchor.code(square);
                let left_behind = mv.from() == Some(square)
                    && !mv.is_castle()
                    && self.seen.code(square) == anchor.code(square);
                (untouched || left_behind).then_some((mv, square))
            })
    }

    /// Legal plies that explain the men but for one square, with the men they leave.
    fn but_for_one_square(&self) -> impl Iterator<Item = (Move, &Placement, Square)> + '_ {
        let successors = self.tree.anchor().successors();
        successors.iter().filter_map(|(mv, stood)| {
            let square = stood.differs(&self.seen).single_square()?;
            Some((*mv, stood, square))
        })
    }

    /// Takes note of men knocked over, and of their return.
    pub(super) fn notice_disturbance(&mut self) {
        if self.current == Some(0) && self.disturbed {
            self.edges.clear();
        }
        let men = |placement: &Placement| placement.occupied().count();
        let gone = men(&self.tree.anchor().placement).saturating_sub(men(&self.seen));
        self.disturbed = self.current.is_none() && (self.disturbed || gone >= KNOCKED_MEN);
    }

    /// Men were knocked over and do not stand again as they did.
    pub const fn disturbed(&self) -> bool {
        self.disturbed
    }

    /// The ways across a gap of lost updates while there are several, each as its plies in standard
    /// notation.
    pub fn candidates(&self) -> Vec<Vec<String>> {
        self.ways.iter().map(|way| self.in_san(way)).collect()
    }

    fn in_san(&self, way: &[Move]) -> Vec<String> {
        let mut ground = self.last_final().clone();
        way.iter()
            .map(|&mv| {
                let san = ground.san(mv);
                ground = ground.after(mv);
                san
            })
            .collect()
    }

    /// Several ways lead across the gap: none is chosen here.
    pub(super) fn hold_ways(&mut self, ways: Vec<Vec<Move>>) {
        if self.ways.is_empty() && !ways.is_empty() {
            let mover = self.last_final().turn();
            let case = self.case(mover, None);
            self.out.push(Event::Gap(Box::new(case)));
        }
        self.ways = ways;
    }

    /// The gap is closed, or the men stand as before it.
    pub(super) fn drop_ways(&mut self) {
        if !self.ways.is_empty() {
            self.ways.clear();
            let ply = self.record.len() as u16 + 1;
            self.out.push(Event::Restored { ply });
        }
    }

    /// An arbiter says which way it was, counted from 0. False when there is no such way.
    pub fn choose(&mut self, way: usize, at: At) -> bool {
        let Some(way) = self.ways.get(way).cloned() else {
            return false;
        };
        let id = self.tree.grow_way(&way, self.changed, self.edges.len());
        self.current = (self.tree.node(id).placement == self.seen).then_some(id);
        self.make_final(id, None, at);
        true
    }
}

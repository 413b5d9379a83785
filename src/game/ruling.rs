//! What an arbiter says of the game, against or beyond what the board shows.

use shakmaty::{CastlingMode, Setup};

use super::{
    event::{Event, Recorded},
    follow::{Game, Stage},
    ground::Ground,
    start::is_start_array,
    tree::Tree,
};
use crate::words::At;

/// The notation of the ply that is none, where an arbiter let the game go on from the men as they stood.
pub const ADOPTED: &str = "adopted";

impl Game {
    /// A position an arbiter adopts, as a rule that of the men as they stand, is right, and the game goes
    /// on from it. What was recorded before stays;
    /// between it and what follows stands a ply that is none.
    pub fn goes_on_from(&mut self, setup: Setup, rights_known: bool, at: At) {
        let ground = Ground::from_setup(setup.clone(), self.mode);
        let fresh = is_start_array(&ground.placement(), self.mode == CastlingMode::Chess960);
        if self.record.is_empty() || fresh {
            return self.adopt(setup, rights_known, at);
        }
        let recorded = Recorded {
            ply: self.record.len() as u16 + 1,
            side: ground.turn().other(),
            mv: None,
            san: ADOPTED.to_owned(),
            uci: String::new(),
            clock_s: None,
            clock_about: false,
            before: self.last_final().clone(),
            after: ground.clone(),
            at,
        };
        if let Some(open) = self.open.take() {
            self.out.push(Event::Replied { ply: open.ply });
        }
        self.put_on(recorded);
        self.history.rights_known |= rights_known;
        self.settle_on(ground, at);
    }

    /// The game is over. A legal ply that was just pressed, or stood when the clock was stopped, was made.
    pub fn ruled_over(&mut self, score: &'static str, at: At) {
        match &mut self.stage {
            Stage::Setup => {}
            Stage::Ended { score: old, by } if *by == RULED => *old = score,
            Stage::Ended { .. } => {}
            Stage::Playing => {
                if self.press.is_some() && self.current.is_some() {
                    self.decide(at, true);
                }
                self.close_before_sign("kings", at);
                self.stage = Stage::Ended { score, by: RULED };
                self.press = None;
            }
        }
    }

    /// The game is not over. What the board itself shows to be the end ends it again.
    pub fn ruled_on(&mut self, at: At) {
        if let Stage::Ended { .. } = self.stage {
            self.stage = Stage::Playing;
            self.look(at);
        }
    }

    /// All that was on the way is of no matter any more: the men stand on `ground`.
    pub(super) fn settle_on(&mut self, ground: Ground, at: At) {
        self.forget_the_turn(ground, at);
        self.restoring = false;
        self.joining = None;
        self.stage = Stage::Playing;
        self.wandered = false;
        self.asked = false;
    }

    /// The record ends with `ground`, and nothing is known of what follows.
    pub(super) fn forget_the_turn(&mut self, ground: Ground, at: At) {
        self.seen = self.read;
        self.tree = Tree::new(ground, at);
        self.current = (self.tree.anchor().placement == self.seen).then_some(0);
        self.edges.clear();
        self.press = None;
        self.unmoved = None;
        self.unplaced.clear();
        self.misread.clear();
        self.disturbed = false;
        self.ways.clear();
    }
}

/// Who says that the game is over.
const RULED: &str = "arbiter";

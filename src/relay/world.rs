//! All the relay knows at one moment. Cheap to hand around: whatever did not change is shared.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    book::{Games, Moment},
    profile::Profile,
    round::{Event, Seats},
};
use crate::{incident::ClockAt, monitor::LinkState, words::BoardNo};

/// What a board shows now. None of it may go into a delayed output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Live {
    /// How the cable is.
    pub link: Option<LinkState>,
    /// Battery charge in percent.
    pub battery: Option<u8>,
    /// What the sensors say, FEN board part.
    pub placement: Option<String>,
    /// The board lies the other way round.
    pub flipped: bool,
    /// Both clocks, with the moment they were read; `None` without a clock.
    pub clock: Option<(ClockAt, Moment)>,
}

/// What all boards show now.
pub type Lives = BTreeMap<BoardNo, Live>;

/// All the relay knows.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// The event.
    pub event: Arc<Event>,
    /// Who plays where.
    pub seats: Arc<Seats>,
    /// What is played.
    pub games: BTreeMap<BoardNo, Arc<Games>>,
    /// The boards' serial numbers.
    pub serials: BTreeMap<BoardNo, String>,
}

impl World {
    /// When an output may show more, if nothing new comes.
    pub fn next_change(&self, profile: &Profile, now: Moment) -> Option<Moment> {
        let boards = self.games.iter().filter(|(board, _)| profile.has(**board));
        let due = boards.filter_map(|(board, games)| profile.next_change(*board, games, now));
        due.min()
    }
}

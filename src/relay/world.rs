//! All the relay knows at one moment. Cheap to hand around: whatever did not change is shared.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    book::{Games, Moment},
    profile::Profile,
    round::{Event, Seats},
};
use crate::{
    incident::ClockAt,
    monitor::LinkState,
    words::{BoardNo, GameId},
};

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

/// What is played at each board of a round.
pub type Book = BTreeMap<BoardNo, Arc<Games>>;

/// All the relay knows.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// The event.
    pub event: Arc<Event>,
    /// Who plays where.
    pub seats: Arc<Seats>,
    /// What is played.
    pub games: Book,
    /// The boards' serial numbers.
    pub serials: BTreeMap<BoardNo, String>,
    /// The rounds before, oldest first: their last moves may still be held back, and their games
    /// corrected.
    pub past: Vec<Arc<World>>,
}

impl World {
    /// The rounds in the order they were played, this one last.
    pub fn rounds(&self) -> impl Iterator<Item = &World> {
        self.past.iter().map(Arc::as_ref).chain([self])
    }

    /// The next round begins: what is known of this one goes to the past. `known` are the games of
    /// a round that is not among the past ones.
    pub fn turn_to(&mut self, event: Event, seats: Seats, known: impl FnOnce(&Event) -> Book) {
        if event.round != self.event.round {
            let again = self
                .past
                .iter()
                .position(|past| past.event.round == event.round);
            let games = match again {
                Some(at) => self.past.remove(at).games.clone(),
                None => known(&event),
            };
            let past = std::mem::take(&mut self.past);
            let games = std::mem::replace(&mut self.games, games);
            let old = World {
                games,
                ..self.clone()
            };
            self.past = past;
            self.past.push(Arc::new(old));
        }
        self.event = Arc::new(event);
        self.seats = Arc::new(seats);
    }

    /// Other players in a round that is over. True when anything changed.
    pub fn seat(&mut self, round: &str, seats: Seats) -> bool {
        let mut past = self.past.iter_mut();
        let past = past.find(|past| past.event.round == round && *past.seats != seats);
        past.map(|past| Arc::make_mut(past).seats = Arc::new(seats))
            .is_some()
    }

    /// Whether there is, or may be, a game of this name: the round is known, and somebody plays at the
    /// board.
    pub fn knows(&self, board: BoardNo, game: &GameId) -> bool {
        let mut rounds = self.rounds();
        rounds.any(|round| {
            let games = round.games.get(&board);
            let first = format!("{}.{board}", round.event.round);
            let played =
                games.is_some_and(|games| games.sheets.iter().any(|one| one.game == *game));
            played || (game.0 == first && round.seats.contains_key(&board))
        })
    }

    /// The games of a round, if it is known.
    pub fn games_of(&mut self, round: &str) -> Option<&mut Book> {
        if *round == self.event.round {
            return Some(&mut self.games);
        }
        let past = self.past.iter_mut().find(|past| past.event.round == round);
        past.map(|past| &mut Arc::make_mut(past).games)
    }

    /// When an output may show more, if nothing new comes.
    pub fn next_change(&self, profile: &Profile, now: Moment) -> Option<Moment> {
        let boards = self.rounds().flat_map(|round| &round.games);
        let boards = boards.filter(|(board, _)| profile.has(**board));
        let due = boards.filter_map(|(board, games)| profile.next_change(*board, games, now));
        due.min()
    }
}

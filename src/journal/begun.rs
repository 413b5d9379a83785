//! Where one board's games begin in the journal, as far back as one is needed: the running game, and
//! any before it of which something was told that the broker has not acknowledged. Pure.

use jiff::Timestamp;

/// The beginnings of one board's games, oldest first. Numbers are those of the board's entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Begun {
    cuts: Vec<Beginning>,
    /// The last thing told.
    told: u64,
    /// Up to here the broker has what was told.
    delivered: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Beginning {
    seq: u64,
    wall: Timestamp,
    /// The last thing told before.
    told_before: u64,
}

impl Begun {
    /// A game begins.
    pub(super) fn cut(&mut self, seq: u64, wall: Timestamp) {
        self.insert(seq, wall);
        self.forget();
    }

    fn insert(&mut self, seq: u64, wall: Timestamp) {
        let place = self.cuts.partition_point(|cut| cut.seq < seq);
        if self.cuts.get(place).is_none_or(|cut| cut.seq != seq) {
            let told_before = self.told.min(seq.saturating_sub(1));
            let cut = Beginning {
                seq,
                wall,
                told_before,
            };
            self.cuts.insert(place, cut);
        }
    }

    /// Something was told that the broker must acknowledge.
    pub(super) fn told(&mut self, seq: u64) {
        self.told = self.told.max(seq);
        let later = self.cuts.partition_point(|cut| cut.seq < seq);
        for cut in &mut self.cuts[later..] {
            cut.told_before = cut.told_before.max(seq);
        }
    }

    /// The broker has all that was told up to there.
    pub(super) fn delivered(&mut self, seq: u64) {
        self.delivered = self.delivered.max(seq);
        self.forget();
    }

    /// What came after all of this.
    pub(super) fn append(&mut self, later: &Begun) {
        for cut in &later.cuts {
            self.insert(cut.seq, cut.wall);
        }
        for told in later.cuts.iter().map(|cut| cut.told_before) {
            self.told(told);
        }
        self.told(later.told);
        self.delivered(later.delivered);
    }

    /// From where the journal must be read, but not from a game begun before `not_before`.
    pub(super) fn first(&self, not_before: Timestamp) -> Option<(u64, Timestamp)> {
        let cut = self.cuts.iter().find(|cut| cut.wall >= not_before)?;
        Some((cut.seq, cut.wall))
    }

    /// Where the running game begins.
    pub(super) fn last(&self) -> Option<(u64, Timestamp)> {
        let cut = self.cuts.last()?;
        Some((cut.seq, cut.wall))
    }

    /// A game is not needed once the broker has all that was told before the next.
    fn forget(&mut self) {
        let needed = self.cuts.iter().skip(1);
        let over = needed.take_while(|next| next.told_before <= self.delivered);
        let over = over.count();
        self.cuts.drain(..over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_AGO: Timestamp = Timestamp::UNIX_EPOCH;

    fn wall(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_game_whose_moves_the_broker_has_is_not_read_again() {
        let mut begun = Begun::default();
        begun.cut(1, wall(10));
        begun.told(5);
        begun.delivered(5);
        begun.cut(8, wall(20));
        assert_eq!(begun.first(LONG_AGO), Some((8, wall(20))));
    }

    #[test]
    fn a_game_is_kept_until_its_last_word_is_delivered() {
        let mut begun = Begun::default();
        begun.cut(1, wall(10));
        begun.told(5);
        begun.told(6);
        begun.cut(8, wall(20));
        begun.told(9);
        begun.cut(12, wall(30));
        begun.delivered(5);
        assert_eq!(begun.first(LONG_AGO), Some((1, wall(10))));
        assert_eq!(begun.last(), Some((12, wall(30))));
        begun.delivered(6);
        assert_eq!(begun.first(LONG_AGO), Some((8, wall(20))));
        begun.delivered(9);
        assert_eq!(begun.first(LONG_AGO), Some((12, wall(30))));
    }

    #[test]
    fn a_game_too_old_does_not_hide_the_running_one() {
        let mut begun = Begun::default();
        begun.cut(1, wall(10));
        begun.told(5);
        begun.cut(8, wall(20));
        assert_eq!(begun.first(wall(15)), Some((8, wall(20))));
        assert_eq!(begun.first(wall(25)), None);
    }

    #[test]
    fn what_is_taken_in_parts_is_the_same() {
        let steps: [fn(&mut Begun); 6] = [
            |begun| begun.cut(1, wall(10)),
            |begun| begun.told(5),
            |begun| begun.cut(8, wall(20)),
            |begun| begun.told(9),
            |begun| begun.delivered(5),
            |begun| begun.cut(12, wall(30)),
        ];
        let mut whole = Begun::default();
        steps.iter().for_each(|step| step(&mut whole));
        for parting in 0..=steps.len() {
            let (mut early, mut late) = (Begun::default(), Begun::default());
            steps[..parting].iter().for_each(|step| step(&mut early));
            steps[parting..].iter().for_each(|step| step(&mut late));
            early.append(&late);
            assert_eq!(early, whole, "parted at {parting}");
        }
    }
}

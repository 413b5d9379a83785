//! What a board remembers, in the game's words.

use shakmaty::Square;

use super::{clock::ClockWatch, placement::Reading, sensors::Sensors};
use crate::{dgt::Entry, words::Side};

/// One thing a board remembers. It does not remember when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remembered {
    /// A square came to read this.
    Changed(Square, Reading),
    /// A side pressed with so much time left, s.
    Pressed(Side, u32),
    /// The start array stood, or the board had no power: another game.
    Fresh,
}

/// Entries of the event memory as this board lies and as its clock stands.
pub fn remembered(
    entries: impl Iterator<Item = Entry>,
    sensors: &Sensors,
    clock: &ClockWatch,
) -> Vec<Remembered> {
    entries
        .take_while(|entry| *entry != Entry::End)
        .filter_map(|entry| match entry {
            Entry::Field { square, code } => Some(Remembered::Changed(
                sensors.square(square),
                Reading::from_code(code),
            )),
            Entry::Pressed { hand, seconds } => {
                Some(Remembered::Pressed(clock.side_of(hand), seconds))
            }
            Entry::PowerUp | Entry::StartArray { .. } | Entry::StartTag | Entry::Watchdog => {
                Some(Remembered::Fresh)
            }
            Entry::End | Entry::FourRows | Entry::Empty | Entry::Downloaded => None,
        })
        .collect()
}

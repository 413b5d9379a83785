//! Where a game stands ready, and what is known of the board there.

use serde::{Deserialize, Serialize};

use super::Settings;
use crate::dgt::ClockTimes;

/// All that matters of a board at the beginning of its game. [`Monitor::resume`] and the inputs since
/// give the monitor again, bit for bit, so nobody has to read what the journal holds before.
///
/// [`Monitor::resume`]: super::Monitor::resume
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Settings of the board.
    pub settings: Settings,
    /// How many games the board has seen, this one included.
    pub games: u32,
    /// The men as the board sends them, 64 codes; none when no board was read yet.
    pub codes: Vec<u8>,
    /// What the clock shows, if there is one.
    pub clock: Option<ClockTimes>,
}

impl Cut {
    /// A board nothing is known of.
    pub fn fresh(settings: Settings) -> Cut {
        Cut {
            settings,
            games: 0,
            codes: Vec::new(),
            clock: None,
        }
    }
}

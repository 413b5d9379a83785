//! One alert as the arbiters see it (design.md 4.2), before it is put into words and JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    laws::Finding,
    words::{At, Side},
};

/// How loud.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// For the timeline.
    Info,
    /// Sensor doubt, wrong start, clock fault.
    Check,
    /// A made illegal move, a displaced man, a press without a move.
    Urgent,
}

/// Where the alert stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Raised, nobody has it.
    Open,
    /// An arbiter is on the way.
    Claimed,
    /// An arbiter says it was so; it counts if its rule does.
    Confirmed,
    /// An arbiter says it was nothing.
    Dismissed,
    /// The board shows it put right, or an arbiter says so.
    Corrected,
    /// The opponent replied (or the game ended) and nobody acted.
    Stands,
}

/// Whether the arbiter can still act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// Until the game ends (standard, A.4, B.2).
    Open,
    /// Until the opponent's next move stands (A.5, B.3).
    UntilReply,
    /// Too late.
    Closed,
}

/// Both clocks at one moment, in seconds, and whose time runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, JsonSchema)]
pub struct ClockAt {
    /// White's time left, s.
    pub white_s: Option<u32>,
    /// Black's time left, s.
    pub black_s: Option<u32>,
    /// Whose time runs; `None` when stopped or unknown.
    #[serde(serialize_with = "crate::incident::alert::side_or_null")]
    #[schemars(with = "Option<crate::words::SideName>")]
    pub running: Option<Side>,
}

pub(crate) fn side_or_null<S: serde::Serializer>(
    side: &Option<Side>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match side {
        Some(side) => to.serialize_str(crate::words::side_name(*side)),
        None => to.serialize_none(),
    }
}

/// What the Laws tell the arbiter to do (laws.md 3.2, 3.3). A proposal, never a ruling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// FEN of the position to restore; `None` when nothing is undone.
    pub restore: Option<String>,
    /// Seconds to add to the opponent, for a first offence that counts.
    pub add_s: Option<(Side, u32)>,
    /// Increment the press gave, to be taken off again, s.
    pub remove_increment_s: Option<u32>,
    /// Squares of the men the touch-move rule binds afterwards.
    pub touch_move: Vec<shakmaty::Square>,
    /// How the game ends: by a second offence that counts (7.5.5), a flag (6.9), or a position still
    /// illegal after one more move (A.5.4).
    pub outcome: Option<Outcome>,
    /// Where the game is lost: legal moves of both sides, SAN, by which the opponent can mate. Empty when
    /// he cannot, or nothing ends the game.
    pub mate_line: Vec<String>,
    /// It is an offence of 7.5.5 once an arbiter confirms it.
    pub counts: bool,
}

/// The end of a game by a breach or a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Lost by the offender.
    Lost,
    /// Drawn: the opponent cannot mate by any series of legal moves.
    Drawn,
    /// Nobody has proved yet whether the opponent can mate.
    Unknown,
}

/// Why an arbiter says that an alert was nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The board misread its men.
    Sensors,
    /// The men stood so, but no rule was broken.
    NoBreach,
    /// Men were adjusted, knocked over or analysed with.
    NotPlayed,
    /// Another alert of the same move was confirmed or dismissed.
    SameMove,
    /// Something else: see the notes.
    Other,
}

/// Something an arbiter wrote to an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Who.
    pub by: String,
    /// What.
    pub text: String,
    /// When.
    pub at: At,
}

/// What the arbiters did about an alert.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Care {
    /// Who is on the way.
    pub claimed_by: Option<String>,
    /// When the claim runs out.
    pub expires: Option<At>,
    /// Nobody claimed it in time: it is everybody's now.
    pub escalated: bool,
    /// The board showed the men put right.
    pub restored: bool,
    /// Who confirmed, dismissed or resolved it.
    pub decided_by: Option<String>,
    /// Why it was dismissed or muted.
    pub reason: Option<Reason>,
    /// Who wants it quiet.
    pub muted_by: Option<String>,
    /// What they wrote, oldest first.
    pub notes: Vec<Note>,
}

/// One thing an arbiter must look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// Hash of venue, game, ply, code and placement: the same fault found again has the same id.
    pub id: String,
    /// Rises with each change; receivers keep the highest.
    pub rev: u32,
    /// When it was raised.
    pub raised: At,
    /// What the laws room says.
    pub finding: Finding,
    /// How loud.
    pub level: Level,
    /// Where it stands.
    pub status: Status,
    /// Whether it can still be acted on.
    pub window: Window,
    /// Number of the half-move it concerns, from 1.
    pub ply: u16,
    /// The move with its number: `17. Nf3`, `17... Kxe2`.
    pub move_text: String,
    /// FEN of the last legal position.
    pub fen: String,
    /// FEN board part seen at the press.
    pub placement: String,
    /// Both clocks when the turn began.
    pub clock_at_turn_start: ClockAt,
    /// Both clocks at the press.
    pub clock_at_press: ClockAt,
    /// Both clocks when the alert was raised or last changed.
    pub clock: ClockAt,
    /// When the press was seen; `None` when no press belongs to it.
    pub pressed: Option<At>,
    /// The arbiter's confirmed counts: white, black.
    pub offences: (u8, u8),
    /// What to do.
    pub remedy: Remedy,
    /// What the arbiters did about it.
    pub care: Care,
}

impl Alert {
    /// How loud it is told: what an arbiter muted is only for the timeline.
    pub fn loudness(&self) -> Level {
        match self.care.muted_by {
            Some(_) => Level::Info,
            None => self.level,
        }
    }
}

/// What happened to an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlertChange {
    /// New.
    Raised,
    /// Some field changed.
    Updated,
    /// An arbiter is on the way.
    Claimed,
    /// An arbiter confirmed it.
    Confirmed,
    /// An arbiter dismissed it.
    Dismissed,
    /// It came to its end: see the status.
    Resolved,
}

//! What a monitor tells the world. Every room behind it (journal, publish, relay, web) reads these.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    incident::{Alert, AlertChange, Answer, ClockAt},
    words::{At, GameId, Side},
};

/// One thing a monitor says, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Bytes for the board.
    Write(Vec<u8>),
    /// The link's retained state changed.
    Link(LinkReport),
    /// The board's retained state changed (design.md 4.1).
    State(Box<BoardState>),
    /// A ply became final.
    Ply(FinalPly),
    /// Final plies were taken back.
    Retract(Retraction),
    /// Both clocks, at most once a second.
    Clock(ClockView),
    /// The game's text changed.
    Pgn {
        /// Which game.
        game: GameId,
        /// The whole game as PGN.
        pgn: String,
    },
    /// An arbiter's word on the result of a game that is no more on this board.
    Result {
        /// Which game.
        game: GameId,
        /// Score, and what brought it about; `None`: it is not over.
        result: Option<(&'static str, &'static str)>,
    },
    /// An alert rose or changed.
    Alert {
        /// What happened to it.
        change: AlertChange,
        /// The alert as it is now.
        alert: Box<Alert>,
    },
    /// The alert of this id is closed and aged: its retained topic is emptied.
    AlertGone(String),
    /// The answer to a command.
    Answer(Answer),
}

/// A ply nobody will change any more, except an arbiter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalPly {
    /// Which game.
    pub game: GameId,
    /// Half-move number from 1.
    pub ply: u16,
    /// Who moved.
    pub side: Side,
    /// Standard algebraic notation; for an irregular ply the squares (`Ke1-e3`).
    pub san: String,
    /// UCI notation (king takes rook for Chess960 castling).
    pub uci: String,
    /// Position after the ply.
    pub fen: String,
    /// The mover's time left after the press, s, increment included.
    pub clock_s: Option<u32>,
    /// The clock was not looked at between the press and the reply's: the time may be a little off.
    pub clock_about: bool,
    /// Not a legal move; it stands because the game went on.
    pub irregular: bool,
    /// When it became final.
    pub at: At,
}

impl FinalPly {
    /// The move with its number, as players write it: `17. Nf3`, `17... Kxe2`.
    pub fn numbered(&self) -> String {
        let dots = if self.ply % 2 == 1 { "." } else { "..." };
        format!("{}{dots} {}", self.ply.div_ceil(2), self.san)
    }
}

/// Final plies taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retraction {
    /// Which game.
    pub game: GameId,
    /// The last ply that still stands (0: none).
    pub back_to: u16,
    /// Why, as one word of the contract: `takeback`, `reinstated`, `corrected`.
    pub reason: &'static str,
    /// When.
    pub at: At,
}

/// Both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockView {
    /// Times and running side.
    pub at: ClockAt,
    /// A clock is connected.
    pub connected: bool,
}

/// How the cable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// The board talks.
    Up,
    /// The port is open but no board speaks.
    Silent,
    /// The port closed under us.
    Lost,
    /// The port was never there.
    Absent,
}

/// The retained link topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkReport {
    /// How it is.
    pub state: LinkState,
    /// The board's serial number, the long one if it has one.
    pub serial: Option<String>,
    /// Firmware, `major.minor`.
    pub firmware: Option<String>,
    /// Battery charge in percent.
    pub battery: Option<u8>,
    /// A silent board's port gives bytes, but nothing a board says: another device, another speed or a
    /// damaged cable.
    pub noise: bool,
    /// Since when it is so.
    pub since: At,
}

/// Where a board is in its day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// No full board read yet.
    NoBoard,
    /// Men are being set up.
    Setup,
    /// The start array stands.
    Ready,
    /// A game is on.
    Playing,
    /// The clock is stopped in mid-game.
    Suspended,
    /// Men were knocked over.
    Disturbed,
    /// The game is over.
    Ended,
    /// Men are moved after the end.
    PostGame,
}

/// The retained state topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardState {
    /// Which game; `None` before the first.
    pub game: Option<GameId>,
    /// Round, as configured.
    pub round: Option<String>,
    /// White's name, as paired.
    pub white: Option<String>,
    /// Black's name, as paired.
    pub black: Option<String>,
    /// Where the board is in its day.
    pub phase: Phase,
    /// Last final position.
    pub fen: String,
    /// What the sensors say now, FEN board part.
    pub placement: String,
    /// Plies seen but not final, SAN.
    pub provisional: Vec<String>,
    /// The last final ply.
    pub last: Option<FinalPly>,
    /// Number of final plies.
    pub ply: u16,
    /// Both clocks, the running side, whether one is connected.
    pub clock: ClockView,
    /// `1-0`, `0-1`, `1/2-1/2`.
    pub result: Option<String>,
    /// What says so: `mate`, `stalemate`, `kings`, `magic-piece`, `arbiter`.
    pub result_by: Option<&'static str>,
    /// An arbiter confirmed it.
    pub result_confirmed: bool,
    /// Confirmed offences: white, black.
    pub offences: (u8, u8),
    /// Ids of open alerts.
    pub alerts: Vec<String>,
    /// The board lies the other way round.
    pub flipped: bool,
    /// Squares the sensors disagree on.
    pub doubt: Vec<shakmaty::Square>,
    /// After lost updates: the plies that may have been played, each way in SAN, when there are
    /// several.
    pub candidates: Vec<Vec<String>>,
}

//! The payloads of the contract as structs: field names and order of design.md 4.1 and 4.2. Pure.

use schemars::JsonSchema;
use serde::Serialize;
use shakmaty::Square;

use super::payload::{Context, DaemonState, Info};
use crate::{
    incident::{
        Alert, AlertChange, ClockAt, Level, Outcome, Reason, Status as AlertStatus, Window,
    },
    laws::{Certainty, Code, Lang, Words, describe, surety},
    monitor::{BoardState, ClockView, FinalPly, LinkState, Phase},
    words::{BoardNo, GameId, Side, SideName, side_name},
};

/// What every payload carries.
#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct Head<'a> {
    /// Minor version of the schema.
    pub v: u32,
    /// Names one run of the daemon.
    pub boot: &'a str,
    /// Rises for each board, also over a restart.
    pub seq: u64,
    /// UTC wall clock, a label only.
    #[schemars(extend("format" = "date-time"))]
    pub ts: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Status<'a> {
    #[serde(flatten)]
    pub head: Head<'a>,
    pub state: DaemonState,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct InfoObject<'a> {
    #[serde(flatten)]
    pub head: Head<'a>,
    #[serde(flatten)]
    pub info: &'a Info<'a>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Link<'a> {
    #[serde(flatten)]
    pub head: Head<'a>,
    pub board: BoardNo,
    pub state: LinkState,
    pub serial: Option<&'a str>,
    pub firmware: Option<&'a str>,
    pub battery: Option<u8>,
    pub noise: bool,
    pub since: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct State<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    board: BoardNo,
    game: Option<&'a GameId>,
    round: Option<&'a str>,
    white: Option<&'a str>,
    black: Option<&'a str>,
    phase: Phase,
    fen: &'a str,
    placement: &'a str,
    provisional: &'a [String],
    last: Option<Last<'a>>,
    ply: u16,
    clock: ClockNow,
    result: Option<GameResult<'a>>,
    offences: Offences,
    alerts: &'a [String],
    flipped: bool,
    doubt: Vec<String>,
    candidates: Vec<Vec<String>>,
}

impl<'a> State<'a> {
    pub fn new(head: Head<'a>, board: BoardNo, state: &'a BoardState) -> State<'a> {
        State {
            head,
            board,
            game: state.game.as_ref(),
            round: state.round.as_deref(),
            white: state.white.as_deref(),
            black: state.black.as_deref(),
            phase: state.phase,
            fen: &state.fen,
            placement: &state.placement,
            provisional: &state.provisional,
            last: state.last.as_ref().map(|last| Last {
                san: &last.san,
                uci: &last.uci,
                ply: last.ply,
            }),
            ply: state.ply,
            clock: ClockNow::new(&state.clock),
            result: state.result.as_deref().map(|score| GameResult {
                score,
                by: state.result_by,
                confirmed: state.result_confirmed,
            }),
            offences: Offences::new(state.offences),
            alerts: &state.alerts,
            flipped: state.flipped,
            doubt: names(&state.doubt),
            candidates: state.candidates.clone(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Last<'a> {
    san: &'a str,
    uci: &'a str,
    ply: u16,
}

#[derive(Serialize, JsonSchema)]
struct GameResult<'a> {
    /// `1-0`, `0-1`, `1/2-1/2`.
    score: &'a str,
    by: Option<&'static str>,
    confirmed: bool,
}

#[derive(Serialize, JsonSchema)]
struct Offences {
    white: u8,
    black: u8,
}

impl Offences {
    fn new((white, black): (u8, u8)) -> Offences {
        Offences { white, black }
    }
}

/// Both times as they are now, in seconds.
#[derive(Serialize, JsonSchema)]
pub(super) struct ClockNow {
    #[serde(flatten)]
    at: ClockAt,
    connected: bool,
}

impl ClockNow {
    pub fn new(view: &ClockView) -> ClockNow {
        ClockNow {
            at: view.at,
            connected: view.connected,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Clock<'a> {
    #[serde(flatten)]
    pub head: Head<'a>,
    pub board: BoardNo,
    #[serde(flatten)]
    pub clock: ClockNow,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Move<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    board: BoardNo,
    game: &'a GameId,
    ply: u16,
    #[schemars(with = "SideName")]
    side: &'static str,
    san: &'a str,
    uci: &'a str,
    fen: &'a str,
    /// The mover's time left, s; null when no clock is known.
    clock: Option<u32>,
    /// The clock was not looked at between this press and the next: `clock` may be a second or two off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    clock_about: bool,
    irregular: bool,
}

impl<'a> Move<'a> {
    pub fn new(head: Head<'a>, board: BoardNo, ply: &'a FinalPly) -> Move<'a> {
        Move {
            head,
            board,
            game: &ply.game,
            ply: ply.ply,
            side: side_name(ply.side),
            san: &ply.san,
            uci: &ply.uci,
            fen: &ply.fen,
            clock: ply.clock_s,
            clock_about: ply.clock_about,
            irregular: ply.irregular,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Retract<'a> {
    #[serde(flatten)]
    pub head: Head<'a>,
    pub board: BoardNo,
    pub game: &'a GameId,
    pub retract: bool,
    pub back_to: u16,
    pub reason: &'static str,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Pgn<'a> {
    #[serde(flatten)]
    pub head: Head<'a>,
    pub board: BoardNo,
    pub game: &'a GameId,
    pub pgn: &'a str,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Reply<'a> {
    #[serde(flatten)]
    pub head: Head<'a>,
    pub transaction: Option<&'a str>,
    /// `ok` or `error`.
    #[schemars(extend("enum" = ["ok", "error"]))]
    pub status: &'static str,
    /// Why not, for whoever wrote the client.
    pub error: Option<String>,
    /// The same as one word, for programs.
    pub code: Option<&'static str>,
    /// The same for an arbiter, where the word does not say it all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Bilingual>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct AlertEvent<'a> {
    #[serde(flatten)]
    pub head: Head<'a>,
    pub event: AlertChange,
    pub alert: &'a AlertObject<'a>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct AlertObject<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    id: &'a str,
    rev: u32,
    board: BoardNo,
    game: Option<&'a GameId>,
    round: Option<&'a str>,
    white: Option<&'a str>,
    black: Option<&'a str>,
    code: Code,
    articles: Vec<&'static str>,
    #[schemars(with = "SideName")]
    side: &'static str,
    certainty: Certainty,
    level: Level,
    status: AlertStatus,
    window: Window,
    ply: u16,
    #[serde(rename = "move")]
    move_text: &'a str,
    fen: &'a str,
    placement: &'a str,
    squares: Vec<String>,
    clock: AlertClock,
    offences: Offences,
    remedy: Remedy<'a>,
    title: Bilingual,
    text: Bilingual,
    instead: Option<Instead>,
    claimed_by: Option<&'a str>,
    /// When the claim runs out.
    expires: Option<String>,
    raised: String,
    pressed: Option<String>,
    /// What the arbiter does, and how sure the finding is.
    action: Bilingual,
    surety: Bilingual,
    /// It can count as an offence (7.5.5).
    counts: bool,
    escalated: bool,
    restored: bool,
    decided_by: Option<&'a str>,
    /// An arbiter wants this row quiet on this board until the game is over: `level` is `info`.
    muted_by: Option<&'a str>,
    reason: Option<Reason>,
    notes: Vec<NoteObject<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct NoteObject<'a> {
    by: &'a str,
    text: &'a str,
    ts: String,
}

impl<'a> AlertObject<'a> {
    pub fn new(ctx: &Context<'a>, head: Head<'a>, alert: &'a Alert) -> AlertObject<'a> {
        let (finding, remedy, care) = (&alert.finding, &alert.remedy, &alert.care);
        let (title_en, text_en) = describe(finding, Lang::En, ctx.edition);
        let (title_es, text_es) = describe(finding, Lang::Es, ctx.edition);
        AlertObject {
            head,
            id: &alert.id,
            rev: alert.rev,
            board: ctx.board,
            game: ctx.game,
            round: ctx.round,
            white: ctx.white,
            black: ctx.black,
            code: finding.code,
            articles: finding.code.row().articles(ctx.edition),
            side: side_name(finding.side),
            certainty: finding.certainty,
            level: alert.loudness(),
            status: alert.status,
            window: alert.window,
            ply: alert.ply,
            move_text: &alert.move_text,
            fen: &alert.fen,
            placement: &alert.placement,
            squares: names(&finding.squares),
            clock: AlertClock {
                now: alert.clock,
                at_turn_start: alert.clock_at_turn_start,
                at_press: alert.clock_at_press,
            },
            offences: Offences::new(alert.offences),
            remedy: Remedy {
                restore: remedy.restore.as_deref(),
                add_s: AddSeconds::new(remedy.add_s),
                remove_increment_s: remedy.remove_increment_s,
                outcome: remedy.outcome,
                mate_line: Some(remedy.mate_line.as_slice()).filter(|line| !line.is_empty()),
                touch_move: names(&remedy.touch_move),
            },
            title: Bilingual {
                en: title_en,
                es: title_es,
            },
            text: Bilingual {
                en: text_en,
                es: text_es,
            },
            instead: finding.instead.as_ref().map(|instead| Instead {
                code: instead.code,
                title: Bilingual::of(instead.code.row().title),
                squares: names(&instead.squares),
            }),
            claimed_by: care.claimed_by.as_deref(),
            expires: care.expires.map(|at| ctx.label_of(at)),
            raised: ctx.label_of(alert.raised),
            pressed: alert.pressed.map(|at| ctx.label_of(at)),
            action: Bilingual::of(finding.code.row().action),
            surety: Bilingual::of(surety(finding)),
            counts: remedy.counts,
            escalated: care.escalated,
            restored: care.restored,
            decided_by: care.decided_by.as_deref(),
            muted_by: care.muted_by.as_deref(),
            reason: care.reason,
            notes: care
                .notes
                .iter()
                .map(|note| NoteObject {
                    by: &note.by,
                    text: &note.text,
                    ts: ctx.label_of(note.at),
                })
                .collect(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Bilingual {
    pub en: String,
    pub es: String,
}

impl Bilingual {
    fn of(words: Words) -> Bilingual {
        Bilingual {
            en: words.en.to_owned(),
            es: words.es.to_owned(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct AlertClock {
    #[serde(flatten)]
    now: ClockAt,
    at_turn_start: ClockAt,
    at_press: ClockAt,
}

#[derive(Serialize, JsonSchema)]
struct Remedy<'a> {
    restore: Option<&'a str>,
    add_s: AddSeconds,
    remove_increment_s: Option<u32>,
    /// How the game ends if this is confirmed as the second offence that counts.
    outcome: Option<Outcome>,
    /// If the game is lost: legal moves of both sides, SAN, by which the opponent can mate.
    #[serde(skip_serializing_if = "Option::is_none")]
    mate_line: Option<&'a [String]>,
    touch_move: Vec<String>,
}

/// Seconds to add, only the side that gets any; `{}` for nothing.
#[derive(Serialize, JsonSchema)]
struct AddSeconds {
    #[serde(skip_serializing_if = "Option::is_none")]
    white: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    black: Option<u32>,
}

impl AddSeconds {
    fn new(add: Option<(Side, u32)>) -> AddSeconds {
        let for_side = |wanted| add.and_then(|(side, s)| (side == wanted).then_some(s));
        AddSeconds {
            white: for_side(Side::White),
            black: for_side(Side::Black),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Instead {
    code: Code,
    title: Bilingual,
    squares: Vec<String>,
}

fn names(squares: &[Square]) -> Vec<String> {
    squares.iter().map(Square::to_string).collect()
}

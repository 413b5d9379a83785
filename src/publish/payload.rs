//! Turns what a monitor says into messages of the contract (design.md 4). Pure.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{schema, topic::Topics};
use crate::{
    incident::{Answer, Refusal},
    laws::{Edition, Lang},
    monitor::Output,
    words::{At, BoardNo, GameId},
};

/// Minor number of the payload schema; rises when keys are added.
pub const SCHEMA: u32 = 3;

/// How hard a message is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Qos {
    /// QoS 0: dropped when nobody can take it now.
    AtMostOnce,
    /// QoS 1: kept until the broker acknowledges it.
    AtLeastOnce,
}

/// One message for the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Where to.
    pub topic: String,
    /// The broker keeps it for new subscribers.
    pub retained: bool,
    /// How hard it is delivered.
    pub qos: Qos,
    /// JSON; empty and retained: the topic is emptied.
    pub payload: Vec<u8>,
    /// Under which number of which board this was told, when somebody must know that it arrived.
    pub receipt: Option<(BoardNo, u64)>,
}

impl Outgoing {
    /// The message that empties a retained topic this daemon no longer owns, such as the one of a
    /// closed and aged alert.
    pub fn emptied(topic: String) -> Outgoing {
        Outgoing {
            topic,
            retained: true,
            qos: Qos::AtLeastOnce,
            payload: Vec::new(),
            receipt: None,
        }
    }
}

/// What a payload says beside the monitor's own words.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The venue's topics.
    pub topics: &'a Topics,
    /// Names one run of the daemon.
    pub boot: &'a str,
    /// Number of this output; rises per board and survives a restart.
    pub seq: u64,
    /// Wall clock at `now`; stands as `ts` in UTC with milliseconds.
    pub ts: Timestamp,
    /// The same moment on the monotonic clock the outputs speak of.
    pub now: At,
    /// The board that speaks.
    pub board: BoardNo,
    /// Round, as configured.
    pub round: Option<&'a str>,
    /// White's name, as paired.
    pub white: Option<&'a str>,
    /// Black's name, as paired.
    pub black: Option<&'a str>,
    /// The game on the board.
    pub game: Option<&'a GameId>,
    /// Edition of the Laws that numbers an alert's articles.
    pub edition: Edition,
}

impl<'a> Context<'a> {
    fn head(&self) -> schema::Head<'a> {
        schema::Head {
            v: SCHEMA,
            boot: self.boot,
            seq: self.seq,
            ts: label(self.ts),
        }
    }

    /// The wall-clock label of a moment on the monotonic clock.
    pub(super) fn label_of(&self, at: At) -> String {
        let ms = |ms| i64::try_from(ms).unwrap_or(i64::MAX);
        let moment = self.ts.as_millisecond();
        let moment = moment.saturating_sub(ms(self.now.ms_since(at)));
        let moment = moment.saturating_add(ms(at.ms_since(self.now)));
        label(Timestamp::from_millisecond(moment).unwrap_or(Timestamp::UNIX_EPOCH))
    }
}

/// `2026-11-29T17:03:11.482Z`: the form of every wall-clock label in the contract.
pub fn label(moment: Timestamp) -> String {
    format!("{moment:.3}")
}

/// The messages that tell one output, in order. Those of one output share its `seq`; bytes for the
/// board are nobody else's business and give none.
pub fn messages(output: &Output, ctx: &Context<'_>) -> Vec<Outgoing> {
    let (topics, board, head) = (ctx.topics, ctx.board, ctx.head());
    match output {
        Output::Write(_) => Vec::new(),
        Output::Link(report) => vec![retained(
            topics.link(board),
            &schema::Link {
                head,
                board,
                state: report.state,
                serial: report.serial.as_deref(),
                firmware: report.firmware.as_deref(),
                battery: report.battery,
                noise: report.noise,
                since: ctx.label_of(report.since),
            },
        )],
        Output::State(state) => vec![retained(
            topics.state(board),
            &schema::State::new(head, board, state),
        )],
        Output::Ply(ply) => vec![event(
            topics.moves(board),
            &schema::Move::new(head, board, ply),
        )],
        Output::Retract(retraction) => vec![event(
            topics.moves(board),
            &schema::Retract {
                head,
                board,
                game: &retraction.game,
                retract: true,
                back_to: retraction.back_to,
                reason: retraction.reason,
            },
        )],
        Output::Clock(view) => vec![Outgoing {
            qos: Qos::AtMostOnce,
            ..event(
                topics.clock(board),
                &schema::Clock {
                    head,
                    board,
                    clock: schema::ClockNow::new(view),
                },
            )
        }],
        Output::Pgn { game, pgn } => vec![retained(
            topics.pgn(board),
            &schema::Pgn {
                head,
                board,
                game,
                pgn,
            },
        )],
        // The retained texts are those of the games on the boards.
        Output::Result { .. } => Vec::new(),
        Output::AlertGone(id) => vec![Outgoing::emptied(topics.alert(id))],
        Output::Answer(given) => vec![answer(topics, ctx.boot, ctx.seq, ctx.ts, given)],
        Output::Alert { change, alert } => {
            let object = schema::AlertObject::new(ctx, head.clone(), alert);
            let told = schema::AlertEvent {
                head,
                event: *change,
                alert: &object,
            };
            vec![
                retained(topics.alert(&alert.id), &object),
                event(topics.alert_event(), &told),
            ]
        }
    }
}

/// The answer to a command. A user whose name no topic can bear gets none that arrives.
pub fn answer(topics: &Topics, boot: &str, seq: u64, ts: Timestamp, given: &Answer) -> Outgoing {
    let head = schema::Head {
        v: SCHEMA,
        boot,
        seq,
        ts: label(ts),
    };
    let refusal = given.outcome.as_ref().err();
    let reply = schema::Reply {
        head,
        transaction: given.transaction.as_deref(),
        status: if refusal.is_none() { "ok" } else { "error" },
        error: refusal.map(ToString::to_string),
        code: refusal.map(Refusal::word),
        text: refusal.and_then(|refusal| {
            let (en, es) = (refusal.text(Lang::En)?, refusal.text(Lang::Es)?);
            Some(schema::Bilingual { en, es })
        }),
    };
    event(topics.reply(&given.user), &reply)
}

/// The state of the daemon as its status topic says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DaemonState {
    /// Connected, and everything retained is asserted.
    Online,
    /// The last will: the broker lost us.
    Offline,
    /// Stopped on purpose.
    Stopped,
}

/// The retained status. `seq` numbers the connections of this boot. `ts` of the last will is when
/// the connection was made that left it: the broker cannot write a later one.
pub fn status(
    topics: &Topics,
    boot: &str,
    seq: u64,
    ts: Timestamp,
    state: DaemonState,
) -> Outgoing {
    let head = schema::Head {
        v: SCHEMA,
        boot,
        seq,
        ts: label(ts),
    };
    retained(topics.status(), &schema::Status { head, state })
}

/// What the info topic says of the daemon.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Info<'a> {
    /// Version of Atalaya.
    pub version: &'a str,
    /// Numbers of the boards watched.
    pub boards: &'a [BoardNo],
    /// The regime, as configured (`standard`, `blitz-b2`).
    pub regime: &'a str,
    /// Where the contract's schema is found.
    pub schema: &'a str,
    /// Why nothing comes to disk; null when all does.
    pub journal_fault: Option<&'a str>,
    /// What does not go together, for the operator.
    pub faults: &'a [Fault],
}

/// One thing the operator has to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fault {
    /// At which board, if at one.
    pub board: Option<BoardNo>,
    /// `pairings` (so many remarks, `atalaya check` names them), `other-board` (its serial number, the
    /// paired one), `no-board`, `no-moves`, `forfeit-played` (the result paired), `nobody-paired`,
    /// `kings-differ` (the result given, the one the kings tell), `lichess-silent` (no push is taken:
    /// why), `lichess-refuses` (this game: why), `relay-silent` (an output other than Lichess: its address
    /// or folder, why nothing goes out there).
    pub code: &'static str,
    /// The particulars of the code, in that order.
    pub about: Vec<String>,
}

/// The retained info.
pub fn info(topics: &Topics, boot: &str, seq: u64, ts: Timestamp, info: &Info<'_>) -> Outgoing {
    let head = schema::Head {
        v: SCHEMA,
        boot,
        seq,
        ts: label(ts),
    };
    retained(topics.info(), &schema::InfoObject { head, info })
}

fn retained(topic: String, payload: &impl Serialize) -> Outgoing {
    Outgoing {
        retained: true,
        ..event(topic, payload)
    }
}

fn event(topic: String, payload: &impl Serialize) -> Outgoing {
    // only maps with other keys than strings can fail, and the schema has none
    let payload = serde_json::to_vec(payload).expect("the schema's structs are plain JSON");
    Outgoing {
        topic,
        retained: false,
        qos: Qos::AtLeastOnce,
        payload,
        receipt: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use shakmaty::Square;

    use super::*;
    use crate::{
        incident::{Alert, AlertChange, Care, ClockAt, Level, Remedy, Status, Window},
        laws::{Certainty, Code, Finding, Instead, Words, describe, surety},
        monitor::{ClockView, FinalPly, LinkReport, LinkState, Retraction},
        words::Side,
    };

    fn said(output: &Output) -> Vec<(Outgoing, Value)> {
        let topics = Topics::new("atalaya", "hall-1").unwrap();
        let game = GameId("5.3".to_owned());
        let context = Context {
            topics: &topics,
            boot: "b1",
            seq: 7,
            ts: "2026-11-29T17:03:11.482999Z".parse().unwrap(),
            now: At(60_000),
            board: BoardNo(3),
            round: Some("5"),
            white: Some("W"),
            black: None,
            game: Some(&game),
            edition: Edition::E2023,
        };
        let parsed = |message: Outgoing| {
            let json = serde_json::from_slice(&message.payload).unwrap();
            (message, json)
        };
        messages(output, &context).into_iter().map(parsed).collect()
    }

    fn one(output: &Output) -> (Outgoing, Value) {
        let mut all = said(output);
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    #[test]
    fn a_link_says_since_when_on_the_wall() {
        let (message, json) = one(&Output::Link(LinkReport {
            state: LinkState::Silent,
            serial: Some("3000147740".to_owned()),
            firmware: None,
            battery: Some(80),
            noise: true,
            since: At(58_500),
        }));
        assert!(message.retained);
        assert_eq!(message.topic, "atalaya/v1/hall-1/board/3/link");
        assert_eq!(
            json,
            json!({"v": SCHEMA, "boot": "b1", "seq": 7, "ts": "2026-11-29T17:03:11.482Z", "board": 3,
                "state": "silent", "serial": "3000147740", "firmware": null, "battery": 80, "noise": true,
                "since": "2026-11-29T17:03:09.982Z"})
        );
    }

    #[test]
    fn a_ply_and_its_retraction_go_the_same_way() {
        let game = GameId("5.3".to_owned());
        let (played, json) = one(&Output::Ply(FinalPly {
            game: game.clone(),
            ply: 33,
            side: Side::White,
            san: "Nf3".to_owned(),
            uci: "g1f3".to_owned(),
            fen: "fen".to_owned(),
            clock_s: None,
            clock_about: false,
            irregular: true,
            at: At(1),
        }));
        assert_eq!(
            json,
            json!({"v": SCHEMA, "boot": "b1", "seq": 7, "ts": "2026-11-29T17:03:11.482Z", "board": 3,
                "game": "5.3", "ply": 33, "side": "white", "san": "Nf3", "uci": "g1f3",
                "fen": "fen", "clock": null, "irregular": true})
        );
        let (retracted, json) = one(&Output::Retract(Retraction {
            game,
            back_to: 32,
            reason: "takeback",
            at: At(1),
        }));
        assert_eq!(json["retract"], true);
        assert_eq!(json["back_to"], 32);
        assert_eq!(json["reason"], "takeback");
        assert_eq!(played.topic, retracted.topic);
        assert!(!played.retained && !retracted.retained);
    }

    #[test]
    fn an_alert_is_the_contract_s_example() {
        let squares = vec![Square::E1, Square::E2];
        let clock = ClockAt {
            white_s: Some(312),
            black_s: Some(287),
            running: Some(Side::Black),
        };
        let alert = Alert {
            id: "b3-9f2c".to_owned(),
            rev: 2,
            raised: At(59_000),
            finding: Finding {
                code: Code::KingLeftInCheck,
                side: Side::White,
                certainty: Certainty::Certain,
                squares: vec![Square::G1, Square::F3],
                played: "Ng1-f3".to_owned(),
                instead: Some(Instead {
                    code: Code::PieceMissingAtPress,
                    squares: squares.clone(),
                }),
            },
            level: Level::Urgent,
            status: Status::Open,
            window: Window::UntilReply,
            ply: 33,
            move_text: "17. Nf3".to_owned(),
            fen: "legal".to_owned(),
            placement: "seen".to_owned(),
            clock_at_turn_start: ClockAt::default(),
            clock_at_press: clock,
            clock,
            pressed: Some(At(59_000)),
            offences: (0, 1),
            remedy: Remedy {
                counts: true,
                restore: Some("legal".to_owned()),
                add_s: Some((Side::Black, 120)),
                remove_increment_s: Some(30),
                touch_move: vec![Square::G1],
                outcome: None,
                mate_line: Vec::new(),
            },
            care: Care::default(),
        };
        let words = |lang| describe(&alert.finding, lang, Edition::E2023);
        let (en, es) = (words(Lang::En), words(Lang::Es));
        let (row, sure) = (Code::KingLeftInCheck.row(), surety(&alert.finding));
        let both = |words: Words| json!({"en": words.en, "es": words.es});
        let articles = row.articles(Edition::E2023);
        assert!(articles.contains(&"3.9.2"), "{articles:?}");
        let output = Output::Alert {
            change: AlertChange::Raised,
            alert: Box::new(alert),
        };
        let all = said(&output);
        let [(kept, object), (told, event)] = all.as_slice() else {
            panic!("two messages, not {}", all.len());
        };
        assert_eq!(kept.topic, "atalaya/v1/hall-1/alert/b3-9f2c");
        assert!(kept.retained);
        let then = json!({"white_s": null, "black_s": null, "running": null});
        let now = json!({"white_s": 312, "black_s": 287, "running": "black"});
        let mut expected = json!({"v": SCHEMA, "boot": "b1", "seq": 7, "ts": "2026-11-29T17:03:11.482Z",
                "id": "b3-9f2c", "rev": 2, "board": 3, "game": "5.3", "round": "5",
                "white": "W", "black": null, "code": "king-left-in-check",
                "articles": articles, "side": "white", "certainty": "certain",
                "level": "urgent", "status": "open", "window": "until-reply", "ply": 33,
                "move": "17. Nf3", "fen": "legal", "placement": "seen",
                "squares": ["g1", "f3"],
                "clock": {"white_s": 312, "black_s": 287, "running": "black",
                    "at_turn_start": then, "at_press": now},
                "offences": {"white": 0, "black": 1},
                "remedy": {"restore": "legal", "add_s": {"black": 120},
                    "remove_increment_s": 30, "outcome": null, "touch_move": ["g1"]},
                "title": {"en": en.0, "es": es.0},
                "text": {"en": en.1, "es": es.1},
                "instead": {"code": "piece-missing-at-press", "squares": ["e1", "e2"],
                    "title": both(Code::PieceMissingAtPress.row().title)},
                "claimed_by": null, "expires": null});
        let care = json!({"raised": "2026-11-29T17:03:10.482Z", "pressed": "2026-11-29T17:03:10.482Z",
                "action": both(row.action), "surety": both(sure), "counts": true,
                "escalated": false, "restored": false, "decided_by": null, "reason": null,
                "muted_by": null, "notes": []});
        let all = expected.as_object_mut().expect("an object");
        all.extend(care.as_object().expect("an object").clone());
        assert_eq!(*object, expected);
        assert_eq!(told.topic, "atalaya/v1/hall-1/alert-event");
        assert!(!told.retained);
        assert_eq!(event["event"], "raised");
        assert_eq!(event["alert"], *object);
    }

    #[test]
    fn a_clock_may_be_dropped_and_bytes_are_nobodys_business() {
        let (message, json) = one(&Output::Clock(ClockView {
            at: ClockAt {
                white_s: Some(5),
                black_s: None,
                running: None,
            },
            connected: true,
        }));
        assert_eq!(message.qos, Qos::AtMostOnce);
        assert!(!message.retained);
        assert_eq!(
            json,
            json!({"v": SCHEMA, "boot": "b1", "seq": 7, "ts": "2026-11-29T17:03:11.482Z", "board": 3,
                "white_s": 5, "black_s": null, "running": null, "connected": true})
        );
        assert!(said(&Output::Write(vec![0x42])).is_empty());
    }
}

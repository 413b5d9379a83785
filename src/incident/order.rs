//! What an arbiter commands (design.md 4.3), read from its topic and payload. Pure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::Reason;
use crate::{
    game::Unreinstated,
    laws::{Lang, Proof, Words},
    words::{Side, SideName},
};

/// Longest payload of a command, bytes.
pub const MAX_ORDER: usize = 16 * 1024;
/// Longest note, characters.
pub const MAX_NOTE: usize = 1000;

/// One command: who says it, and what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The user: the topic's segment, so the broker's access list proves it.
    pub user: String,
    /// The sender's own name for this command; the answer carries it. A repeat gets the first answer.
    #[serde(default)]
    pub transaction: Option<String>,
    /// What.
    #[serde(flatten)]
    pub verb: Verb,
}

/// What is commanded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verb", rename_all = "kebab-case")]
pub enum Verb {
    /// I am on my way.
    Claim {
        /// Which alert.
        alert: String,
    },
    /// It was so.
    Confirm {
        /// Which alert.
        alert: String,
    },
    /// It was nothing.
    Dismiss {
        /// Which alert.
        alert: String,
        /// Why.
        reason: Reason,
    },
    /// It was put right, and nothing is to be counted.
    Resolve {
        /// Which alert.
        alert: String,
    },
    /// Words for the file.
    Note {
        /// Which alert.
        alert: String,
        /// The words.
        text: String,
    },
    /// Keep this alert quiet, and this game's later ones of its row unless they are certain.
    Mute {
        /// Which alert.
        alert: String,
        /// Why.
        reason: Reason,
    },
    /// Takes back the last claim, confirmation, dismissal, resolution or muting.
    Undo {
        /// Which alert.
        alert: String,
    },
    /// An offence the arbiter saw and the board cannot show, such as `two-hands`.
    Offence {
        /// Which board.
        board: u16,
        /// Whose.
        #[serde(with = "side")]
        #[schemars(with = "SideName")]
        side: Side,
        /// Row of the catalogue.
        code: String,
    },
    /// The game is over.
    Result {
        /// Which board.
        board: u16,
        /// `1-0`, `0-1`, `1/2-1/2`; `0-0` when both have lost; `*` takes it back.
        result: String,
        /// What brought it about.
        #[serde(default)]
        how: How,
        /// Which game, if not the one on the board: `5.1` is the first of round 5 at board 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        game: Option<String>,
    },
    /// The men on the board are right: the game goes on from them.
    Adopt {
        /// Which board.
        board: u16,
        /// Who is to move.
        #[serde(with = "side")]
        #[schemars(with = "SideName")]
        turn: Side,
        /// Other men than those on the board, as FEN; the side to move is `turn`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fen: Option<String>,
    },
    /// The game goes back to where it stood after a ply, and on from there.
    Reinstate {
        /// Which board.
        board: u16,
        /// The last half-move that stands (0: none).
        ply: u16,
        /// The plies that really followed it, in standard or UCI notation.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        moves: Vec<String>,
    },
    /// Which of the candidates was played, where the sensors leave it open.
    Choose {
        /// Which board.
        board: u16,
        /// Place in the state's `candidates`, from 0.
        candidate: usize,
    },
    /// The board's connector is on the other side.
    Flip {
        /// Which board.
        board: u16,
    },
    /// The clock stands the other way round.
    SwapClock {
        /// Which board.
        board: u16,
    },
    /// Ask the board for all its squares now.
    Resync {
        /// Which board.
        board: u16,
    },
}

/// What brought a result about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// The players: mate, resignation, agreement.
    #[default]
    Normal,
    /// The time ran out.
    Flag,
    /// Illegal moves.
    Illegal,
    /// A player, or both, did not come.
    Forfeit,
    /// An arbiter's decision.
    Adjudication,
}

impl How {
    /// The word of the contract.
    pub const fn word(self) -> &'static str {
        match self {
            How::Normal => "normal",
            How::Flag => "flag",
            How::Illegal => "illegal",
            How::Forfeit => "forfeit",
            How::Adjudication => "adjudication",
        }
    }
}

/// All verbs of the contract, as they stand in topics.
pub const VERBS: [&str; 15] = [
    "claim",
    "confirm",
    "dismiss",
    "resolve",
    "note",
    "mute",
    "undo",
    "offence",
    "result",
    "adopt",
    "reinstate",
    "choose",
    "flip",
    "swap-clock",
    "resync",
];

impl Verb {
    /// The alert it speaks of, if any.
    pub fn alert(&self) -> Option<&str> {
        match self {
            Verb::Claim { alert }
            | Verb::Confirm { alert }
            | Verb::Dismiss { alert, .. }
            | Verb::Resolve { alert }
            | Verb::Note { alert, .. }
            | Verb::Mute { alert, .. }
            | Verb::Undo { alert } => Some(alert),
            _ => None,
        }
    }

    /// The board it speaks of; of an alert's id the number behind the `b`.
    pub fn board(&self) -> Option<u16> {
        match self {
            Verb::Offence { board, .. }
            | Verb::Result { board, .. }
            | Verb::Adopt { board, .. }
            | Verb::Reinstate { board, .. }
            | Verb::Choose { board, .. }
            | Verb::Flip { board }
            | Verb::SwapClock { board }
            | Verb::Resync { board } => Some(*board),
            _ => {
                let (board, _) = self.alert()?.strip_prefix('b')?.split_once('-')?;
                board.parse().ok()
            }
        }
    }
}

/// Why a command is refused; the text is for whoever wrote the client.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The broker kept it: a command of long ago must not be carried out.
    #[error("a command must not be retained")]
    Retained,
    /// More than [`MAX_ORDER`].
    #[error("a command of {0} bytes is longer than {MAX_ORDER}")]
    Long(usize),
    /// No such verb.
    #[error("no verb is named '{name}': {}", VERBS.join(", "))]
    Verb {
        /// What was said.
        name: String,
    },
    /// Not the payload of this verb.
    #[error("the payload does not fit the verb: {0}")]
    Malformed(String),
    /// The payload names another user than the topic.
    #[error("the payload names user '{said}', the topic '{topic}'")]
    User {
        /// In the payload.
        said: String,
        /// In the topic.
        topic: String,
    },
    /// Nobody watches this board.
    #[error("board {0} is not watched here")]
    Board(u16),
    /// Nobody knows this alert (any more).
    #[error("no alert '{0}'")]
    Alert(String),
    /// Somebody else has it.
    #[error("{by} has it")]
    Claimed {
        /// Who.
        by: String,
    },
    /// It is decided, or there is nothing to undo.
    #[error("the alert is {0}: undo that first")]
    Decided(&'static str),
    /// Nothing to take back.
    #[error("nothing to undo")]
    Nothing,
    /// The game cannot be put back so.
    #[error("{0}")]
    Back(Unreinstated),
    /// Nobody can play on from that position.
    #[error("{}", no_game(.0, Lang::En))]
    Impossible(Vec<Proof>),
    /// A value that makes no sense here.
    #[error("{0}")]
    Value(String),
}

fn no_game(proofs: &[Proof], lang: Lang) -> String {
    let reasons: Vec<String> = proofs.iter().map(|proof| proof.text(lang)).collect();
    let why = lang.of(Words {
        en: "no game can go on from that position",
        es: "ninguna partida puede seguir desde esa posición",
    });
    format!("{why}: {}", reasons.join("; "))
}

impl Refusal {
    /// One word of the contract, for programs.
    pub const fn word(&self) -> &'static str {
        match self {
            Refusal::Retained => "retained",
            Refusal::Long(_) => "too-long",
            Refusal::Verb { .. } => "unknown-verb",
            Refusal::Malformed(_) => "malformed",
            Refusal::User { .. } => "wrong-user",
            Refusal::Board(_) => "unknown-board",
            Refusal::Alert(_) => "unknown-alert",
            Refusal::Claimed { .. } => "claimed",
            Refusal::Decided(_) => "decided",
            Refusal::Nothing => "nothing-to-undo",
            Refusal::Back(_) | Refusal::Value(_) => "bad-value",
            Refusal::Impossible(_) => "impossible-position",
        }
    }

    /// The reason as an arbiter reads it, where [`Refusal::word`] does not say it all.
    pub fn text(&self, lang: Lang) -> Option<String> {
        match self {
            Refusal::Back(why) => Some(match (why, lang) {
                (_, Lang::En) => why.to_string(),
                (Unreinstated::NoGame, Lang::Es) => {
                    "no hay ninguna partida en el tablero".to_owned()
                }
                (Unreinstated::TooFar(plies), Lang::Es) => {
                    format!("la partida tiene {plies} medias jugadas")
                }
                (Unreinstated::Illegal { ply, said }, Lang::Es) => {
                    format!("media jugada {ply}: '{said}' no es ahí una jugada legal")
                }
            }),
            Refusal::Impossible(proofs) => Some(no_game(proofs, lang)),
            _ => None,
        }
    }
}

impl Order {
    /// Reads a command. A payload that is the bare word `ack` claims `newest`, the newest open alert:
    /// buttons of simple phone apps can send fixed text only.
    ///
    /// # Errors
    /// With the transaction, as far as it could be read, and the reason.
    pub fn read(
        user: &str,
        verb: &str,
        payload: &[u8],
        newest: Option<&str>,
    ) -> Result<Order, (Option<String>, Refusal)> {
        if payload.len() > MAX_ORDER {
            return Err((None, Refusal::Long(payload.len())));
        }
        if !VERBS.contains(&verb) && verb != "ack" {
            return Err((
                None,
                Refusal::Verb {
                    name: verb.to_owned(),
                },
            ));
        }
        if payload.trim_ascii() == b"ack" {
            let alert = newest.ok_or((None, Refusal::Alert("newest".to_owned())))?;
            return Ok(Order {
                user: user.to_owned(),
                transaction: None,
                verb: Verb::Claim {
                    alert: alert.to_owned(),
                },
            });
        }
        let malformed = |why: &dyn ToString| Refusal::Malformed(why.to_string());
        let mut object = match serde_json::from_slice(payload) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return Err((None, malformed(&"not a JSON object"))),
            Err(why) => return Err((None, malformed(&why))),
        };
        let transaction = object.get("transaction").and_then(Value::as_str);
        let transaction = transaction.map(str::to_owned);
        if let Some(said) = object.get("user").and_then(Value::as_str)
            && said != user
        {
            let refusal = Refusal::User {
                said: said.to_owned(),
                topic: user.to_owned(),
            };
            return Err((transaction, refusal));
        }
        object.insert("user".to_owned(), user.into());
        object.insert("verb".to_owned(), verb.into());
        let order = serde_json::from_value::<Order>(Value::Object(object));
        match order {
            Ok(order) => match order.verb {
                Verb::Note { ref text, .. } if text.chars().count() > MAX_NOTE => {
                    let why = format!("a note has at most {MAX_NOTE} characters");
                    Err((transaction, Refusal::Value(why)))
                }
                _ => Ok(order),
            },
            Err(why) => Err((transaction, malformed(&why))),
        }
    }
}

mod side {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::words::{Side, side_name};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub fn serialize<S: Serializer>(side: &Side, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(side_name(*side))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Side, D::Error> {
        match String::deserialize(from)?.as_str() {
            "white" => Ok(Side::White),
            "black" => Ok(Side::Black),
            other => Err(D::Error::custom(format!(
                "'{other}' is no side: white or black"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(verb: &str, payload: &str) -> &'static str {
        let refusal = Order::read("ana", verb, payload.as_bytes(), None);
        refusal.expect_err("it is refused").1.word()
    }

    #[test]
    fn a_command_is_read_and_comes_again_from_the_journal() {
        let payload = br#"{"transaction":"t1","alert":"b3-9f","reason":"sensors","new":1}"#;
        let order = Order::read("ana", "dismiss", payload, None).expect("it reads");
        assert_eq!(order.user, "ana");
        assert_eq!(order.transaction.as_deref(), Some("t1"));
        assert_eq!(order.verb.board(), Some(3));
        let text = serde_json::to_string(&order).expect("it writes");
        assert_eq!(
            serde_json::from_str::<Order>(&text).expect("it reads"),
            order
        );
    }

    #[test]
    fn the_bare_word_claims_the_newest() {
        let order = Order::read("ana", "ack", b"ack", Some("b7-1")).expect("it reads");
        assert_eq!(order.verb.alert(), Some("b7-1"));
        assert_eq!(refused("ack", "ack"), "unknown-alert");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_word() {
        assert_eq!(refused("explode", "{}"), "unknown-verb");
        assert_eq!(refused("claim", "{"), "malformed");
        assert_eq!(refused("claim", "[]"), "malformed");
        assert_eq!(refused("claim", "{}"), "malformed");
        assert_eq!(refused("claim", r#"{"alert":7}"#), "malformed");
        assert_eq!(
            refused("dismiss", r#"{"alert":"b1-0","reason":"x"}"#),
            "malformed"
        );
        assert_eq!(
            refused("claim", r#"{"alert":"b1-0","user":"eve"}"#),
            "wrong-user"
        );
        assert_eq!(refused("claim", &"x".repeat(1 << 20)), "too-long");
        let long = format!(
            r#"{{"alert":"b1-0","text":"{}"}}"#,
            "x".repeat(MAX_NOTE + 1)
        );
        assert_eq!(refused("note", &long), "bad-value");
        assert_eq!(refused("adopt", r#"{"board":1,"turn":"red"}"#), "malformed");
    }

    #[test]
    fn every_verb_of_the_list_is_known_to_the_reader() {
        for verb in VERBS {
            let error = Order::read("ana", verb, b"{}", None).expect_err("nothing is named");
            assert!(
                !error.1.to_string().contains("variant"),
                "{verb}: {}",
                error.1
            );
        }
    }
}

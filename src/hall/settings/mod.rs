//! The configuration as types (design.md 3). Every key stands in [`TABLES`] too, with the check
//! that its text must pass; a test keeps the two and `config/atalaya.toml` together.

mod fault;
mod keys;
mod load;
mod survey;
mod words;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::Deserialize;

pub use fault::{Fault, Place, SettingsError};
pub use keys::{Key, TABLES, Table};
pub use load::Sources;
pub use words::{BrokerAddress, InvertedRook, RelayKind, RookFirst, UnknownWord, Variant, WebTls};

use super::Ports;
use crate::{
    board::ClockSide,
    laws::{Edition, Lang, Regime, Rulings},
    link::{Address, Level, Lines, Manner},
    words::TimeControl,
};

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `[venue]`
    pub venue: Venue,
    /// `[event]`
    pub event: Event,
    /// `[[board]]`; empty: every board found on the serial ports.
    #[serde(rename = "board")]
    pub boards: Vec<Board>,
    /// `[ports]`
    pub ports: SerialPorts,
    /// `[mqtt]`
    pub mqtt: Mqtt,
    /// `[broker]`
    pub broker: Broker,
    /// `[web]`
    pub web: Web,
    /// `[phones]`
    pub phones: Phones,
    /// `[[ntfy]]`
    pub ntfy: Vec<Ntfy>,
    /// `[metrics]`
    pub metrics: Metrics,
    /// `[journal]`
    pub journal: Journal,
    /// `[timing]`
    pub timing: Timing,
    /// `[[relay]]`
    #[serde(rename = "relay")]
    pub relays: Vec<Relay>,
}

impl Settings {
    /// The first key that serves others than this machine while nobody has to say who they are, or while
    /// passwords would travel in clear.
    pub fn exposed(&self) -> Option<(&'static str, String)> {
        let open = |address: &SocketAddr| !address.ip().is_loopback();
        let embedded = self.mqtt.broker == BrokerAddress::Embedded;
        let page = self.web.listen.filter(open);
        if self.web.users.is_some() {
            let page = page.filter(|_| self.web.tls == WebTls::None)?;
            let what = format!(
                "{page} is reached from other machines, and passwords would travel in clear: set web.tls = \
                 \"generated\" (a certificate is made), or \"files\" with web.certificate and web.key, or \
                 \"proxy\" when another server before it speaks TLS"
            );
            return Some(("web.listen", what));
        }
        let broker = self.broker.listen;
        let listens = [
            ("broker.listen", Some(broker).filter(|_| embedded)),
            (
                "broker.websocket",
                self.broker.websocket.filter(|_| embedded),
            ),
            ("web.listen", page),
        ];
        listens.into_iter().find_map(|(key, address)| {
            let address = address.filter(open)?;
            let what = format!(
                "{address} is reached from other machines, where anybody could then rule: name a file of \
                 users in web.users (write its lines with `atalaya user NAME`), or listen on 127.0.0.1"
            );
            Some((key, what))
        })
    }
}

/// The place.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Venue {
    /// Topic segment: a-z 0-9 -.
    pub id: String,
}

/// What is played.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Event {
    /// Name for the PGN.
    pub name: String,
    /// Site for the PGN.
    pub site: Option<String>,
    /// Day of the round.
    #[serde(deserialize_with = "words::optional")]
    pub date: Option<jiff::civil::Date>,
    /// The round.
    pub round: String,
    /// Language of texts that have one language only.
    #[serde(deserialize_with = "words::word")]
    pub language: Lang,
    /// Penalty rules.
    #[serde(deserialize_with = "words::word")]
    pub regime: Regime,
    /// Seconds for a first offence in `blitz-b2`.
    pub blitz_b2_penalty_s: u32,
    /// What a rook upside down on the promotion square is.
    #[serde(deserialize_with = "words::word")]
    pub inverted_rook: InvertedRook,
    /// What castling begun with the rook is.
    #[serde(deserialize_with = "words::word")]
    pub rook_first: RookFirst,
    /// Time control.
    #[serde(deserialize_with = "words::optional")]
    pub time_control: Option<TimeControl>,
    /// Which chess.
    #[serde(deserialize_with = "words::word")]
    pub variant: Variant,
    /// Edition of the Laws whose article numbers are named.
    #[serde(deserialize_with = "words::word")]
    pub laws: Edition,
    /// File of pairings.
    pub pairings: Option<PathBuf>,
}

/// One board.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Its number, from 1.
    pub number: u16,
    /// Where it is reached. Either this or `serial` is given, never both.
    #[serde(default, deserialize_with = "words::optional")]
    pub port: Option<Address>,
    /// Its serial number: looked for on all serial ports.
    #[serde(default)]
    pub serial: Option<String>,
    /// Which side of the clock is White's.
    #[serde(default, deserialize_with = "words::word")]
    pub clock: ClockSide,
    /// Its number on a port with several boards.
    #[serde(default, deserialize_with = "words::optional")]
    pub bus: Option<u16>,
    /// The port's line DTR; low for a bus by default, and otherwise as it was.
    #[serde(default, deserialize_with = "words::optional")]
    pub dtr: Option<Level>,
    /// The port's line RTS, likewise.
    #[serde(default, deserialize_with = "words::optional")]
    pub rts: Option<Level>,
}

impl Board {
    /// How the port is used.
    pub fn manner(&self) -> Manner {
        let usual = match self.bus {
            Some(_) => Manner::BUS,
            None => Manner::default(),
        };
        Manner {
            lines: Lines {
                dtr: self.dtr.unwrap_or(usual.lines.dtr),
                rts: self.rts.unwrap_or(usual.lines.rts),
            },
            ..usual
        }
    }
}

/// The serial ports of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SerialPorts {
    /// Where boards are looked for.
    #[serde(deserialize_with = "words::word")]
    pub search: Ports,
}

/// The broker we publish to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mqtt {
    /// Our own, or whose.
    #[serde(deserialize_with = "words::word")]
    pub broker: BrokerAddress,
    /// First segments of all topics.
    pub root: String,
    /// User name.
    pub username: Option<String>,
    /// File whose first line is the password.
    pub password_file: Option<PathBuf>,
    /// Certificates that sign the broker's, PEM.
    pub ca_file: Option<PathBuf>,
    /// Our certificate, PEM.
    pub client_cert: Option<PathBuf>,
    /// Its key, PEM.
    pub client_key: Option<PathBuf>,
}

/// The embedded broker.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Broker {
    /// TCP.
    pub listen: SocketAddr,
    /// WebSocket, path `/mqtt`; `none` for none.
    #[serde(deserialize_with = "words::listen_or_none")]
    pub websocket: Option<SocketAddr>,
}

/// The arbiters' page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Web {
    /// HTTP; `none` for no page.
    #[serde(deserialize_with = "words::listen_or_none")]
    pub listen: Option<SocketAddr>,
    /// File of users, who then have to come in with a password.
    pub users: Option<PathBuf>,
    /// How browsers are spoken to.
    #[serde(deserialize_with = "words::word")]
    pub tls: WebTls,
    /// Its certificates, PEM, its own first.
    pub certificate: Option<PathBuf>,
    /// The key, PEM.
    pub key: Option<PathBuf>,
}

/// Devices that know nothing of the page.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Phones {
    /// Each alert is also told as one line of plain text.
    pub lines: bool,
    /// Home Assistant's discovery prefix; left out: it is not told.
    pub home_assistant: Option<String>,
}

/// One arbiter's ntfy topic.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ntfy {
    /// Server and name of the topic.
    pub url: String,
    /// Under which name its buttons answer.
    pub user: String,
    /// In which language; that of the event when left out.
    #[serde(default, deserialize_with = "words::optional")]
    pub language: Option<Lang>,
    /// Also what may be looked at in passing.
    #[serde(default)]
    pub checks: bool,
    /// File whose first line is the server's access token.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
}

/// How the daemon is seen from outside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// HTTP: `/metrics`, `/live`, `/ready`; `none` for none.
    #[serde(deserialize_with = "words::listen_or_none")]
    pub listen: Option<SocketAddr>,
}

/// The log of truth.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Journal {
    /// Its folder.
    pub dir: PathBuf,
}

/// How long things may take (reconstruction.md 7.12).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timing {
    /// Grace after a press without a confirming full board.
    pub press_grace_ms: u64,
    /// Quiet before a full board is asked for.
    pub confirm_ms: u64,
    /// Quiet in which a placement stands without a clock.
    pub settle_ms: u64,
    /// How long the kings must stand in the centre.
    pub gesture_ms: u64,
    /// An alert nobody claims is everybody's after so long; by default 15 s in rapid and blitz, 60 s
    /// in standard chess.
    pub escalate_s: Option<u64>,
    /// A claim without a decision runs out after so long.
    pub claim_s: u64,
}

impl Timing {
    /// [`Timing::escalate_s`], or what the regime asks for.
    pub fn escalate_seconds(&self, regime: Regime) -> u64 {
        let by_regime = if regime == Regime::Standard { 60 } else { 15 };
        self.escalate_s.unwrap_or(by_regime)
    }
}

/// One way out for the games.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relay {
    /// Which way.
    #[serde(deserialize_with = "words::word")]
    pub kind: RelayKind,
    /// These boards, as `1-4,9`; all when left out.
    #[serde(default, deserialize_with = "words::optional")]
    pub boards: Option<crate::relay::Boards>,
    /// How far the moves lag behind the boards.
    #[serde(default)]
    pub delay_seconds: u32,
    /// How many plies are held back while a game is on.
    #[serde(default)]
    pub delay_plies: u16,
    /// The boards that are delayed; all when left out.
    #[serde(default, deserialize_with = "words::optional")]
    pub delay_boards: Option<crate::relay::Boards>,
    /// Whether clock times go out.
    #[serde(default = "yes")]
    pub clocks: bool,
    /// Whether what was played after an irregular ply goes out, as games of their own.
    #[serde(default = "yes")]
    pub segments: bool,
    /// Where to send to (`lichess`, `ftp`, `sftp`).
    #[serde(default)]
    pub url: Option<String>,
    /// Where readers are served (`http`, `livechess`).
    #[serde(default, deserialize_with = "words::optional")]
    pub listen: Option<SocketAddr>,
    /// Where to write to (`folder`).
    #[serde(default)]
    pub dir: Option<PathBuf>,
    /// File whose first line is the token (`lichess`).
    #[serde(default)]
    pub token_file: Option<PathBuf>,
    /// File whose first line is the password (`ftp`, `sftp`).
    #[serde(default)]
    pub password_file: Option<PathBuf>,
    /// File with the private key (`sftp`).
    #[serde(default)]
    pub key_file: Option<PathBuf>,
    /// The key that the far machine must show (`sftp`).
    #[serde(default, deserialize_with = "words::optional")]
    pub host_key: Option<crate::relay::sftp::HostKey>,
}

impl Relay {
    /// The files with what is secret, and their keys in the configuration.
    pub fn secrets(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [
            ("relay.token_file", &self.token_file),
            ("relay.password_file", &self.password_file),
            ("relay.key_file", &self.key_file),
        ];
        files
            .into_iter()
            .filter_map(|(key, file)| Some((key, file.as_deref()?)))
    }
}

impl Event {
    /// What the event settles where the Laws leave it open.
    pub fn rulings(&self) -> Rulings {
        Rulings {
            blitz_b2_penalty_s: self.blitz_b2_penalty_s,
            inverted_rook_illegal: self.inverted_rook == InvertedRook::Illegal,
            rook_first_illegal: self.rook_first == RookFirst::Illegal,
        }
    }

    /// The day as PGN writes it.
    pub fn pgn_date(&self) -> String {
        let day = self.date.map(|day| day.strftime("%Y.%m.%d").to_string());
        day.unwrap_or_else(|| "????.??.??".to_owned())
    }
}

impl Default for Venue {
    fn default() -> Venue {
        Venue {
            id: "hall-1".to_owned(),
        }
    }
}

impl Default for Event {
    fn default() -> Event {
        Event {
            name: "?".to_owned(),
            site: None,
            date: None,
            round: "1".to_owned(),
            language: Lang::En,
            regime: Regime::Standard,
            blitz_b2_penalty_s: Rulings::default().blitz_b2_penalty_s,
            inverted_rook: InvertedRook::default(),
            rook_first: RookFirst::default(),
            time_control: None,
            variant: Variant::Standard,
            laws: Edition::E2023,
            pairings: None,
        }
    }
}

impl Default for Mqtt {
    fn default() -> Mqtt {
        Mqtt {
            broker: BrokerAddress::Embedded,
            root: "atalaya".to_owned(),
            username: None,
            password_file: None,
            ca_file: None,
            client_cert: None,
            client_key: None,
        }
    }
}

impl Default for Broker {
    fn default() -> Broker {
        Broker {
            listen: local(1883),
            websocket: Some(local(9001)),
        }
    }
}

impl Default for Web {
    fn default() -> Web {
        Web {
            listen: Some(local(8080)),
            users: None,
            tls: WebTls::None,
            certificate: None,
            key: None,
        }
    }
}

impl Default for Journal {
    fn default() -> Journal {
        Journal {
            dir: PathBuf::from("state"),
        }
    }
}

impl Default for Timing {
    fn default() -> Timing {
        let limits = crate::game::Limits::default();
        Timing {
            press_grace_ms: limits.grace_ms,
            confirm_ms: limits.confirm_ms,
            settle_ms: limits.settle_ms,
            gesture_ms: limits.gesture_ms,
            escalate_s: None,
            claim_s: 300,
        }
    }
}

const fn yes() -> bool {
    true
}

/// Nobody outside this machine is served unless the settings say so.
fn local(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

//! Every key of the configuration, with the check its text must pass.

use std::{net::SocketAddr, str::FromStr};

use super::super::Ports;
use super::words::{
    BrokerAddress, InvertedRook, RelayKind, RookFirst, Variant, WebTls, parse_listen_or_none,
};
use crate::{
    board::ClockSide,
    laws::{Edition, Lang, Regime},
    link::{Address, Level},
    publish::Topics,
    relay::{Boards, far::Place, sftp::HostKey},
    web::is_user_name,
    words::TimeControl,
};

/// A table of the configuration.
#[derive(Debug)]
pub struct Table {
    /// `venue`.
    pub name: &'static str,
    /// Written `[[name]]`, once per board or relay.
    pub many: bool,
    /// What may stand in it.
    pub keys: &'static [Key],
}

/// A key in a table.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What is wrong with a value, if anything.
    pub(super) check: fn(&str) -> Result<(), String>,
    /// A file or folder; from a file it is meant beside that file.
    pub(super) path: bool,
}

const fn key(name: &'static str, check: fn(&str) -> Result<(), String>) -> Key {
    Key {
        name,
        check,
        path: false,
    }
}

const fn path(name: &'static str) -> Key {
    Key {
        name,
        check: filled,
        path: true,
    }
}

const fn table(name: &'static str, keys: &'static [Key]) -> Table {
    Table {
        name,
        many: false,
        keys,
    }
}

const fn tables(name: &'static str, keys: &'static [Key]) -> Table {
    Table {
        name,
        many: true,
        keys,
    }
}

/// All tables.
pub const TABLES: &[Table] = &[
    table("venue", &[key("id", venue)]),
    table(
        "event",
        &[
            key("name", filled),
            key("site", filled),
            key("date", date),
            key("round", filled),
            key("language", word::<Lang>),
            key("regime", word::<Regime>),
            key("blitz_b2_penalty_s", number::<0, 600>),
            key("inverted_rook", word::<InvertedRook>),
            key("rook_first", word::<RookFirst>),
            key("time_control", word::<TimeControl>),
            key("variant", word::<Variant>),
            key("laws", word::<Edition>),
            path("pairings"),
        ],
    ),
    tables(
        "board",
        &[
            key("number", number::<1, { u16::MAX as u64 }>),
            key("port", word::<Address>),
            key("serial", filled),
            key("clock", word::<ClockSide>),
            key("bus", number::<1, 0x3fff>),
            key("dtr", word::<Level>),
            key("rts", word::<Level>),
        ],
    ),
    table("ports", &[key("search", word::<Ports>)]),
    table(
        "mqtt",
        &[
            key("broker", word::<BrokerAddress>),
            key("root", root),
            key("username", filled),
            path("password_file"),
            path("ca_file"),
            path("client_cert"),
            path("client_key"),
        ],
    ),
    table(
        "broker",
        &[key("listen", listen), key("websocket", listen_or_none)],
    ),
    table(
        "web",
        &[
            key("listen", listen_or_none),
            path("users"),
            key("tls", word::<WebTls>),
            path("certificate"),
            path("key"),
        ],
    ),
    table(
        "phones",
        &[key("lines", truth), key("home_assistant", prefix)],
    ),
    tables(
        "ntfy",
        &[
            key("url", topic_url),
            key("user", user),
            key("language", word::<Lang>),
            key("checks", truth),
            path("token_file"),
        ],
    ),
    table("metrics", &[key("listen", listen_or_none)]),
    // no `path`: beside /etc/atalaya/atalaya.toml nobody may write
    table("journal", &[key("dir", filled)]),
    table(
        "timing",
        &[
            key("press_grace_ms", number::<0, MINUTE_MS>),
            key("confirm_ms", number::<0, MINUTE_MS>),
            key("settle_ms", number::<0, MINUTE_MS>),
            key("gesture_ms", number::<0, MINUTE_MS>),
            key("escalate_s", number::<1, DAY_S>),
            key("claim_s", number::<1, DAY_S>),
        ],
    ),
    tables(
        "relay",
        &[
            key("kind", word::<RelayKind>),
            key("boards", word::<Boards>),
            key("delay_seconds", number::<0, DAY_S>),
            key("delay_plies", number::<0, 100>),
            key("delay_boards", word::<Boards>),
            key("clocks", truth),
            key("segments", truth),
            key("url", relay_url),
            key("listen", listen),
            path("dir"),
            path("token_file"),
            path("password_file"),
            path("key_file"),
            key("host_key", word::<HostKey>),
        ],
    ),
];

/// A longer limit would be a slip of the unit.
const MINUTE_MS: u64 = 60_000;
const DAY_S: u64 = 86_400;

fn filled(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("is empty: write a value, or leave the key out".to_owned());
    }
    Ok(())
}

fn word<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<(), String> {
    text.parse::<T>().map(drop).map_err(|why| why.to_string())
}

fn number<const LEAST: u64, const MOST: u64>(text: &str) -> Result<(), String> {
    match text.parse::<u64>() {
        Ok(number) if (LEAST..=MOST).contains(&number) => Ok(()),
        _ => Err(format!(
            "`{text}` is no whole number from {LEAST} to {MOST}"
        )),
    }
}

fn truth(text: &str) -> Result<(), String> {
    let known = text.parse::<bool>().map(drop);
    known.map_err(|_| format!("`{text}` is neither true nor false"))
}

fn date(text: &str) -> Result<(), String> {
    let known = text.parse::<jiff::civil::Date>().map(drop);
    known.map_err(|_| format!("`{text}` is no date: write it as 2026-11-30"))
}

fn venue(text: &str) -> Result<(), String> {
    let topics = Topics::new("atalaya", text).map(drop);
    topics.map_err(|why| why.to_string())
}

fn root(text: &str) -> Result<(), String> {
    let topics = Topics::new(text, "hall").map(drop);
    topics.map_err(|why| why.to_string())
}

fn listen(text: &str) -> Result<(), String> {
    text.parse::<SocketAddr>().map(drop).map_err(|_| {
        format!("`{text}` is no listen address: write an IP address and a port such as 127.0.0.1:1883 or [::]:1883")
    })
}

fn listen_or_none(text: &str) -> Result<(), String> {
    parse_listen_or_none(text)
        .map(drop)
        .map_err(|why| why.to_string())
}

fn prefix(text: &str) -> Result<(), String> {
    match Topics::new(text, "hall") {
        Ok(_) => Ok(()),
        Err(_) => Err(format!(
            "`{text}` is no discovery prefix: write \"homeassistant\", or leave the key out"
        )),
    }
}

fn user(text: &str) -> Result<(), String> {
    if is_user_name(text) {
        return Ok(());
    }
    Err(format!(
        "`{text}` is no name: use at most 32 letters, digits, '.', '_' and '-'"
    ))
}

fn topic_url(text: &str) -> Result<(), String> {
    url(text)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match text.splitn(4, '/').nth(3) {
        // ntfy's names have 64 letters at most, and the answers' name is longer by 8.
        Some(topic) if (1..=56).contains(&topic.len()) && topic.chars().all(plain) => Ok(()),
        _ => Err(format!(
            "`{text}` is no ntfy topic: write server and name, such as https://ntfy.example.org/ana-7h3kq9"
        )),
    }
}

/// Where a relay sends to.
fn relay_url(text: &str) -> Result<(), String> {
    match text.starts_with("ftp://") || text.starts_with("sftp://") {
        true => word::<Place>(text),
        false => url(text),
    }
}

fn url(text: &str) -> Result<(), String> {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    match rest {
        Some(rest) if !rest.is_empty() && !text.contains(char::is_whitespace) => Ok(()),
        _ => Err(format!(
            "`{text}` is no address: write it as https://host/path"
        )),
    }
}

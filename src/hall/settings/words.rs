//! The words that stand as values in the configuration.

use std::{fmt, net::SocketAddr, str::FromStr};

use serde::{Deserialize, Deserializer, de::Error as _};

/// A text that is none of the known words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {what}: write {choice}")]
pub struct UnknownWord {
    /// As it was written.
    pub text: String,
    /// What was looked for.
    pub what: &'static str,
    /// What may stand there.
    pub choice: &'static str,
}

fn unknown(text: &str, what: &'static str, choice: &'static str) -> UnknownWord {
    UnknownWord {
        text: text.to_owned(),
        what,
        choice,
    }
}

/// Which chess.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The usual start array.
    #[default]
    Standard,
    /// Any of the 960.
    Chess960,
}

impl FromStr for Variant {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Variant, UnknownWord> {
        match text {
            "standard" => Ok(Variant::Standard),
            "chess960" => Ok(Variant::Chess960),
            _ => Err(unknown(text, "variant", "standard or chess960")),
        }
    }
}

/// What a rook upside down on the promotion square is; the Laws leave it open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum InvertedRook {
    /// It is a rook, whatever was meant (Arbiters' Manual).
    #[default]
    Rook,
    /// An illegal move.
    Illegal,
}

impl FromStr for InvertedRook {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<InvertedRook, UnknownWord> {
        match text {
            "rook" => Ok(InvertedRook::Rook),
            "illegal" => Ok(InvertedRook::Illegal),
            _ => Err(unknown(
                text,
                "ruling on an inverted rook",
                "rook or illegal",
            )),
        }
    }
}

/// What castling begun with the rook is; arbiters differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum RookFirst {
    /// A matter of touched men (4.4.2).
    #[default]
    TouchMove,
    /// An illegal move.
    Illegal,
}

impl FromStr for RookFirst {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<RookFirst, UnknownWord> {
        match text {
            "touch-move" => Ok(RookFirst::TouchMove),
            "illegal" => Ok(RookFirst::Illegal),
            _ => Err(unknown(text, "ruling on castling", "touch-move or illegal")),
        }
    }
}

/// A way out for the games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RelayKind {
    /// PGN files in a folder.
    Folder,
    /// PGN and LiveChess Cloud files for readers that poll an address.
    Http,
    /// A Lichess broadcast round.
    Lichess,
    /// The LiveChess local interface.
    Livechess,
    /// The files of a folder, on an FTP server.
    Ftp,
    /// The files of a folder, on an SFTP server.
    Sftp,
}

impl FromStr for RelayKind {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<RelayKind, UnknownWord> {
        match text {
            "folder" => Ok(RelayKind::Folder),
            "http" => Ok(RelayKind::Http),
            "lichess" => Ok(RelayKind::Lichess),
            "livechess" => Ok(RelayKind::Livechess),
            "ftp" => Ok(RelayKind::Ftp),
            "sftp" => Ok(RelayKind::Sftp),
            _ => Err(unknown(
                text,
                "relay",
                "folder, ftp, sftp, http, lichess or livechess",
            )),
        }
    }
}

/// How browsers are spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WebTls {
    /// In clear.
    None,
    /// With a certificate made here.
    Generated,
    /// With the venue's own.
    Files,
    /// In clear, to a server before us that speaks TLS.
    Proxy,
}

impl FromStr for WebTls {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<WebTls, UnknownWord> {
        match text {
            "none" => Ok(WebTls::None),
            "generated" => Ok(WebTls::Generated),
            "files" => Ok(WebTls::Files),
            "proxy" => Ok(WebTls::Proxy),
            _ => Err(unknown(text, "tls", "none, generated, files or proxy")),
        }
    }
}

/// Whose broker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BrokerAddress {
    /// Our own, in this process.
    Embedded,
    /// The venue's.
    Remote {
        /// Host name or address, an IPv6 address without its brackets.
        host: String,
        /// TCP port.
        port: u16,
        /// `mqtts://`.
        tls: bool,
    },
}

impl FromStr for BrokerAddress {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<BrokerAddress, UnknownWord> {
        let choice = "embedded, mqtt://host:1883 or mqtts://host:8883";
        let wrong = || unknown(text, "broker", choice);
        if text == "embedded" {
            return Ok(BrokerAddress::Embedded);
        }
        let (rest, tls, usual) = if let Some(rest) = text.strip_prefix("mqtt://") {
            (rest, false, 1883)
        } else {
            (text.strip_prefix("mqtts://").ok_or_else(wrong)?, true, 8883)
        };
        let (host, port) = match rest.rsplit_once(':') {
            // the last colon of a bracketed address stands inside
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().ok().filter(|port| *port > 0))
            }
            _ => (rest, Some(usual)),
        };
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        let odd = |c: char| c.is_whitespace() || matches!(c, '/' | '@' | '[' | ']' | '?' | '#');
        let host = bare.unwrap_or(host);
        if host.is_empty() || host.contains(odd) || (bare.is_none() && host.contains(':')) {
            return Err(wrong());
        }
        Ok(BrokerAddress::Remote {
            host: host.to_owned(),
            port: port.ok_or_else(wrong)?,
            tls,
        })
    }
}

/// Where to listen, or `none`.
pub(super) fn parse_listen_or_none(text: &str) -> Result<Option<SocketAddr>, UnknownWord> {
    if text == "none" {
        return Ok(None);
    }
    match text.parse() {
        Ok(address) => Ok(Some(address)),
        Err(_) => Err(unknown(
            text,
            "listen address",
            "an IP address and a port such as 127.0.0.1:8080 or [::]:8080, or none",
        )),
    }
}

/// Reads a value from its word.
pub(super) fn word<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

/// The same for a key that may be left out.
pub(super) fn optional<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    word(from).map(Some)
}

/// The same for a listen address that may be `none`.
pub(super) fn listen_or_none<'de, D>(from: D) -> Result<Option<SocketAddr>, D::Error>
where
    D: Deserializer<'de>,
{
    let text = String::deserialize(from)?;
    parse_listen_or_none(&text).map_err(D::Error::custom)
}

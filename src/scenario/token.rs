//! The tokens of a scenario's `events`.

use shakmaty::{Piece, Square};
use thiserror::Error;

use crate::{board::Reading, words::Side};

/// One token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token {
    /// `e2-`, `e4=P`, `h5=1/2`: the square reads this now.
    Reads(Square, Reading),
    /// `W>B`, `B>W`: the lever goes over; this side pressed.
    Press(Side),
    /// `stop`.
    Stop,
    /// `go`.
    Go,
    /// `flag W`.
    Flag(Side),
    /// `~`: a pause longer than any settle time.
    Pause,
    /// `+0.05`: distance of the next event, ms.
    Distance(u64),
    /// `dump`: a full board arrives.
    Dump,
    /// `lost`: the next event never reaches us.
    Lost,
    /// `off`: the link drops.
    Off,
    /// `on`: the link is back, with a full board.
    On,
    /// `clk W 0:04:59`, s.
    Clock(Side, u32),
}

/// A token that does not read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "token {index} '{text}' is none of: e2- e4=P h5=1/2 W>B B>W stop go flag W ~ +0.05 dump lost off on clk W 0:04:59"
)]
pub struct TokenError {
    /// Its place, from 1.
    pub index: usize,
    /// Its text.
    pub text: String,
}

/// Reads a line of tokens.
///
/// # Errors
/// The first token that does not read, with its place.
pub fn tokens(events: &str) -> Result<Vec<Token>, TokenError> {
    let mut words = events.split_whitespace().enumerate();
    let mut found = Vec::new();
    while let Some((index, word)) = words.next() {
        let mut argument = || words.next().map(|(_, word)| word);
        let token = match word {
            "stop" => Some(Token::Stop),
            "go" => Some(Token::Go),
            "~" => Some(Token::Pause),
            "dump" => Some(Token::Dump),
            "lost" => Some(Token::Lost),
            "off" => Some(Token::Off),
            "on" => Some(Token::On),
            "W>B" => Some(Token::Press(Side::White)),
            "B>W" => Some(Token::Press(Side::Black)),
            "flag" => argument().and_then(side).map(Token::Flag),
            "clk" => match (argument().and_then(side), argument().and_then(seconds)) {
                (Some(side), Some(time)) => Some(Token::Clock(side, time)),
                _ => None,
            },
            _ => distance(word).or_else(|| reads(word)),
        };
        found.push(token.ok_or_else(|| TokenError {
            index: index + 1,
            text: word.to_owned(),
        })?);
    }
    Ok(found)
}

fn side(word: &str) -> Option<Side> {
    match word {
        "W" => Some(Side::White),
        "B" => Some(Side::Black),
        _ => None,
    }
}

fn seconds(word: &str) -> Option<u32> {
    let parts: Vec<u32> = word
        .split(':')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    match parts.as_slice() {
        &[h, m, s] if h < 10 && m < 60 && s < 60 => Some(h * 3600 + m * 60 + s),
        _ => None,
    }
}

fn distance(word: &str) -> Option<Token> {
    let seconds: f64 = word.strip_prefix('+')?.parse().ok()?;
    (0.0..=86_400.0)
        .contains(&seconds)
        .then_some(Token::Distance((seconds * 1000.0) as u64))
}

fn reads(word: &str) -> Option<Token> {
    let (square, reading) = match word.strip_suffix('-') {
        Some(square) if !square.contains('=') => (square, Reading::Empty),
        _ => {
            let (square, thing) = word.split_once('=')?;
            (square, result_piece(thing).or_else(|| man(thing))?)
        }
    };
    Some(Token::Reads(square.parse().ok()?, reading))
}

fn man(word: &str) -> Option<Reading> {
    let mut chars = word.chars();
    let piece = Piece::from_char(chars.next()?)?;
    chars.next().is_none().then_some(Reading::Man(piece))
}

/// DGT's result pieces (protocol section 6.2).
fn result_piece(word: &str) -> Option<Reading> {
    let code = match word {
        "1/2" => 13,
        "1-0" => 14,
        "0-1" => 15,
        _ => return None,
    };
    Some(Reading::Magic(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_token_is_named_with_its_place() {
        let error = tokens("e2- e9=P").expect_err("e9 is no square");
        assert_eq!((error.index, error.text.as_str()), (2, "e9=P"));
        assert!(tokens("clk W 0:99:00").is_err());
        assert!(tokens("+-1").is_err());
        assert_eq!(
            tokens("flag B +0.05").expect("both read"),
            [Token::Flag(Side::Black), Token::Distance(50)]
        );
    }
}

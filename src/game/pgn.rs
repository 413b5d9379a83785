//! The game as PGN text: legal plies with `%clk`; an irregular ply ends the moves and is explained in
//! a comment, since readers stop at the first move they cannot play.

use std::fmt::Write as _;

use super::{event::Recorded, ground::Ground, ruling::ADOPTED};
use crate::words::clock_text;

/// The tag pairs, in order.
pub type Tags = Vec<(&'static str, String)>;

/// Writes a game.
pub fn write(tags: &Tags, start: &Ground, record: &[Recorded], result: &str) -> String {
    let mut text = String::new();
    for (name, value) in tags {
        let _ = writeln!(text, "[{name} \"{}\"]", escaped(value));
    }
    let _ = writeln!(text, "[Result \"{result}\"]");
    let usual = Ground::of(shakmaty::Chess::default(), shakmaty::CastlingMode::Standard);
    if start.fen() != usual.fen() {
        if start.mode().is_chess960() {
            let _ = writeln!(text, "[Variant \"Chess960\"]");
        }
        let _ = writeln!(text, "[SetUp \"1\"]\n[FEN \"{}\"]", start.fen());
    }
    text.push('\n');
    let mut line = Line::default();
    let mut number_due = true;
    for ply in record {
        if ply.mv.is_none() {
            let said = match ply.san.as_str() {
                ADOPTED => "an arbiter let the game go on from another position".to_owned(),
                san => format!("{} played {san}", crate::words::side_name(ply.side)),
            };
            line.word(&mut text, &format!("{{irregular: {said}}}"));
            break;
        }
        let fullmove = ply.before.setup().fullmoves;
        match ply.side {
            shakmaty::Color::White => line.word(&mut text, &format!("{fullmove}.")),
            shakmaty::Color::Black if number_due => line.word(&mut text, &format!("{fullmove}...")),
            shakmaty::Color::Black => {}
        }
        line.word(&mut text, &ply.san);
        number_due = ply.clock_s.is_some();
        if let Some(s) = ply.clock_s {
            line.word(&mut text, &format!("{{[%clk {}]}}", clock_text(s)));
        }
    }
    // A double forfeit is no token of the movetext: `0-0` is read as castling (relay.md 1.5).
    line.word(&mut text, if result == "0-0" { "*" } else { result });
    text.push_str("\n\n");
    text
}

fn escaped(value: &str) -> String {
    value
        .chars()
        .filter(|c| !c.is_control())
        .flat_map(|c| match c {
            '"' | '\\' => vec!['\\', c],
            _ => vec![c],
        })
        .collect()
}

/// Breaks lines below 80 characters.
#[derive(Debug, Default)]
pub struct Line {
    width: usize,
}

impl Line {
    /// Adds a word that is not broken.
    pub fn word(&mut self, text: &mut String, word: &str) {
        let width = word.chars().count();
        if self.width > 0 && self.width + 1 + width >= 80 {
            text.push('\n');
            self.width = 0;
        } else if self.width > 0 {
            text.push(' ');
            self.width += 1;
        }
        text.push_str(word);
        self.width += width;
    }
    /// Adds the words of a text, which may be broken between them.
    pub fn words(&mut self, text: &mut String, words: &str) {
        for word in words.split_whitespace() {
            self.word(text, word);
        }
    }
}

//! The PGN dialect that passed every reader (relay.md 7): LF, tag names of letters, one comment a
//! move, the number again before Black's move behind a comment, lines below 80 characters.

use std::fmt::Write as _;

use super::{
    line::{Segment, fen, segments},
    profile::Shown,
    round::{Event, Player, Table},
};
use crate::{
    game::{ADOPTED, pgn::Line},
    words::{Side, clock_text, side_name},
};

/// What a tag's value is cut to, so that no line passes 255 characters.
const LONGEST: usize = 200;

/// How much is said beside the moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clocks {
    /// `%clk` on every ply.
    All,
    /// On the last two plies.
    Last,
    /// None.
    No,
}

/// How a game is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Which plies tell the clock.
    pub clocks: Clocks,
    /// Say why the moves of a game end before the game does.
    pub remarks: bool,
}

/// The games of a board: the game of the round, then what was played after each irregular ply. A
/// board without a move gives its headers.
pub fn games(event: &Event, table: &Table<'_>, form: Form) -> Vec<String> {
    let Some(shown) = &table.shown else {
        return vec![game(event, table, None, 1, form)];
    };
    let segments = segments(shown, event.first_s);
    let parts = (1..).zip(&segments);
    parts
        .map(|(part, segment)| game(event, table, Some(segment), part, form))
        .collect()
}

/// How many plies of the table's game are written.
pub fn plies(table: &Table<'_>) -> usize {
    let shown = table.shown.iter();
    shown
        .map(|shown| segments(shown, None)[0].steps.len())
        .sum()
}

/// The result of the table as it may be shown: the game's, or the one the pairings came with when
/// no move was ever made.
pub fn score<'a>(table: &Table<'a>) -> &'a str {
    match (&table.shown, table.seat) {
        (Some(Shown { ending, .. }), _) => ending.map_or("*", |end| end.score.as_str()),
        (None, Some(seat)) if !table.begun => seat.result.as_deref().unwrap_or("*"),
        (None, _) => "*",
    }
}

fn game(
    event: &Event,
    table: &Table<'_>,
    segment: Option<&Segment<'_>>,
    part: usize,
    form: Form,
) -> String {
    // The later parts are no games of the round: whoever counts points counts the first.
    let result = if part == 1 { score(table) } else { "*" };
    let mut text = String::new();
    let mut tag = |name: &str, value: &str| {
        let _ = writeln!(text, "[{name} \"{}\"]", clean(value));
    };
    let round = match part {
        1 => format!("{}.{}", event.round, table.board),
        _ => format!("{}.{}.{part}", event.round, table.board),
    };
    let (white, black) = match table.seat {
        Some(seat) => (&seat.white, &seat.black),
        None => (&Player::UNKNOWN, &Player::UNKNOWN),
    };
    tag("Event", &event.name);
    tag("Site", &event.site);
    tag("Date", &event.date);
    tag("Round", &round);
    tag("White", known(&white.name));
    tag("Black", known(&black.name));
    tag("Result", result);
    let start = segment.and_then(|segment| segment.start.as_ref().map(|start| (segment, start)));
    let start = start
        .filter(|(segment, _)| event.chess960 || !segment.usual_start())
        .map(|(_, start)| fen(start));
    let set_up = start.is_some().then(|| "1".to_owned());
    let chess960 = event.chess960.then(|| "Chess960".to_owned());
    let ending = table
        .shown
        .as_ref()
        .and_then(|shown| shown.ending)
        .filter(|_| part == 1);
    let unplayed = (!table.begun && result != "*").then_some("abandoned");
    let termination = ending.map(|end| termination(&end.by)).or(unplayed);
    let further = [
        ("BlackElo", black.elo.map(|elo| elo.to_string())),
        ("BlackFed", black.federation.clone()),
        ("BlackFideId", black.fide_id.map(|id| id.to_string())),
        ("BlackTeam", black.team.clone()),
        ("BlackTitle", black.title.clone()),
        ("Board", Some(table.board.to_string())),
        ("FEN", start),
        ("GameId", Some(round.clone())),
        ("SetUp", set_up),
        ("Termination", termination.map(str::to_owned)),
        ("TimeControl", event.time_control.clone()),
        ("Variant", chess960),
        ("WhiteElo", white.elo.map(|elo| elo.to_string())),
        ("WhiteFed", white.federation.clone()),
        ("WhiteFideId", white.fide_id.map(|id| id.to_string())),
        ("WhiteTeam", white.team.clone()),
        ("WhiteTitle", white.title.clone()),
    ];
    for (name, value) in further {
        if let Some(value) = value {
            tag(name, &value);
        }
    }
    text.push('\n');
    // A double forfeit is no token of the movetext: `0-0` is read as castling (relay.md 1.5).
    let token = if result == "0-0" { "*" } else { result };
    moves(&mut text, segment, form, token);
    text
}

fn moves(text: &mut String, segment: Option<&Segment<'_>>, form: Form, token: &str) {
    let mut line = Line::default();
    let steps = segment.map_or(&[][..], |segment| &segment.steps);
    let remark = segment.filter(|_| form.remarks).and_then(remark);
    let mut number_due = true;
    if let Some(remark) = remark.as_ref().filter(|_| steps.is_empty()) {
        line.words(text, &format!("{{{remark}}}"));
    }
    for (i, step) in steps.iter().enumerate() {
        match step.side {
            Side::White => line.word(text, &format!("{}.", step.number)),
            Side::Black if number_due => line.word(text, &format!("{}...", step.number)),
            Side::Black => {}
        }
        line.word(text, &step.san);
        let told = match form.clocks {
            Clocks::All => true,
            Clocks::Last => i + 2 >= steps.len(),
            Clocks::No => false,
        };
        let clock = step
            .clock_s
            .filter(|_| told)
            .map(|s| format!("[%clk {}]", clock_text(s)));
        let remark = remark.clone().filter(|_| i + 1 == steps.len());
        number_due = clock.is_some();
        match (clock, remark) {
            // Readers take a break within a comment, but not all within a command.
            (Some(clock), Some(remark)) => {
                line.word(text, &format!("{{{clock}"));
                line.words(text, &format!("{remark}}}"));
            }
            (Some(clock), None) => line.word(text, &format!("{{{clock}}}")),
            (None, Some(remark)) => line.words(text, &format!("{{{remark}}}")),
            (None, None) => {}
        }
    }
    line.word(text, token);
    text.push_str("\n\n");
}

/// Why the moves end here.
fn remark(segment: &Segment<'_>) -> Option<String> {
    if segment.start.is_none() {
        return Some(format!("No game can begin at {}", segment.fen));
    }
    let cut = segment.cut?;
    if cut.san == ADOPTED {
        let what = "The record ends here: an arbiter let the game go on from another position";
        return Some(what.to_owned());
    }
    let side = side_name(shakmaty::Position::turn(segment.end.as_ref()?));
    let what = clean(&cut.san).replace(['{', '}'], "");
    Some(format!(
        "The record ends here: {side} played {what}, which is no legal move"
    ))
}

/// The word of the PGN standard for what ended a game.
fn termination(by: &str) -> &'static str {
    match by {
        "flag" | "time" | "flag-fall" => "time forfeit",
        "illegal" | "illegal-move" | "offence" | "offences" | "penalty" => "rules infraction",
        "forfeit" | "absent" | "default" => "abandoned",
        "adjudication" | "arbiter" => "adjudication",
        _ => "normal",
    }
}

/// A name, or the mark for none.
fn known(name: &str) -> &str {
    if name.is_empty() { "?" } else { name }
}

/// A value no reader stumbles over: no line breaks, quotes or backslashes, not too long.
fn clean(value: &str) -> String {
    let kept = value.chars().filter(|c| !c.is_control());
    let kept = kept.map(|c| match c {
        '"' => '\'',
        '\\' => '/',
        c => c,
    });
    kept.take(LONGEST).collect()
}

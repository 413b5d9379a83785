//! PGN headers, as pairing programs write them. The games behind them are not read.

use std::collections::{BTreeSet, HashMap};

use super::{About, List, Pairing, board_no, of_round, result};

/// The tags of one game: name to line and value.
type Tags = HashMap<String, (usize, String)>;

pub(super) fn read(text: &str, round: &str, list: &mut List) {
    let mut games: Vec<(usize, Tags)> = Vec::new();
    let mut open = false;
    for (number, line) in (1..).zip(text.lines()) {
        // Only at the start of a line: comments in games hold brackets too.
        let Some((name, value)) = tag(line) else {
            open = false;
            continue;
        };
        if !open {
            games.push((number, Tags::new()));
            open = true;
        }
        if let Some((_, tags)) = games.last_mut() {
            tags.insert(name.to_owned(), (number, value));
        }
    }
    let rounds: BTreeSet<String> = games.iter().filter_map(|(_, tags)| place(tags).0).collect();
    let single = rounds.len() <= 1;
    for (line, tags) in &games {
        if of_round(place(tags).0.as_deref(), round, single) {
            pairing(*line, tags, list);
        }
    }
}

/// The round, and the board with its line.
fn place(tags: &Tags) -> (Option<String>, Option<(usize, String)>) {
    let (round, behind_dot) = match tags.get("Round") {
        Some((line, text)) => match text.split_once('.') {
            // `5.3`, or `5.3.1` for a second game at the board.
            Some((round, rest)) => {
                let board = rest.split('.').next().unwrap_or_default();
                (round, Some((*line, board.to_owned())))
            }
            None => (text.as_str(), None),
        },
        None => ("", None),
    };
    let round = Some(round.to_owned()).filter(|round| !matches!(round.as_str(), "" | "?" | "-"));
    (round, tags.get("Board").cloned().or(behind_dot))
}

fn pairing(line: usize, tags: &Tags, list: &mut List) {
    let value = |name: &str| tags.get(name).map(|(_, value)| value.as_str());
    let (Some(white), Some(black)) = (value("White"), value("Black")) else {
        return list.fault(line, "the game lacks a White or a Black tag".to_owned());
    };
    let (round, board) = place(tags);
    let result = result(list, line, value("Result").unwrap_or_default());
    let mut player = |side: &str, name: &str| {
        let more = |what: &str| value(&format!("{side}{what}")).unwrap_or_default();
        let about = About {
            title: more("Title"),
            elo: more("Elo"),
            fide_id: more("FideId"),
            federation: more("Fed"),
            team: more("Team"),
        };
        list.player(line, name, about)
    };
    let pairing = Pairing {
        white: player("White", white),
        black: player("Black", black),
        round,
        result,
        serial: None,
    };
    match board {
        None if pairing.white.is_bye() || pairing.black.is_bye() => {}
        None => {
            let what = "no board: add [Board \"3\"], or write the round as [Round \"5.3\"]";
            list.fault(line, what.to_owned());
        }
        Some((line_of_board, text)) => match board_no(&text) {
            None => list.fault(line_of_board, format!("`{text}` is no board number")),
            Some(board) => list.add(line, board, pairing),
        },
    }
}

/// Name and value of a tag line.
fn tag(line: &str) -> Option<(&str, String)> {
    let (name, rest) = line.strip_prefix('[')?.split_once(char::is_whitespace)?;
    let mut value = String::new();
    let mut escaped = false;
    for c in rest.trim_start().strip_prefix('"')?.chars() {
        match c {
            _ if escaped => {
                value.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return Some((name, value)),
            _ => value.push(c),
        }
    }
    None
}

//! PGN headers: `White`, `Black`, `Round`, `Board`. The games behind them are not read.

use super::{List, Pairing, board_no};

/// The tags of one game.
#[derive(Default)]
struct Headers {
    /// Line of the first.
    line: usize,
    white: Option<String>,
    black: Option<String>,
    round: Option<(usize, String)>,
    board: Option<(usize, String)>,
}

pub(super) fn read(text: &str, list: &mut List) {
    let mut headers: Option<Headers> = None;
    for (number, line) in (1..).zip(text.lines()) {
        // Only at the start of a line: comments in games hold brackets too.
        let Some((name, value)) = tag(line) else {
            if let Some(headers) = headers.take() {
                finish(headers, list);
            }
            continue;
        };
        let headers = headers.get_or_insert_with(|| Headers {
            line: number,
            ..Headers::default()
        });
        match name {
            "White" => headers.white = Some(value),
            "Black" => headers.black = Some(value),
            "Round" => headers.round = Some((number, value)),
            "Board" => headers.board = Some((number, value)),
            _ => {}
        }
    }
    if let Some(headers) = headers {
        finish(headers, list);
    }
}

fn finish(headers: Headers, list: &mut List) {
    let (round, behind_dot) = match &headers.round {
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
    let board = headers.board.or(behind_dot);
    let (Some(white), Some(black)) = (headers.white, headers.black) else {
        let what = "the game lacks a White or a Black tag".to_owned();
        return list.fault(headers.line, what);
    };
    match board {
        None => {
            let what = "no board: add [Board \"3\"], or write the round as [Round \"5.3\"]";
            list.fault(headers.line, what.to_owned());
        }
        Some((line, text)) => match board_no(&text) {
            None => list.fault(line, format!("`{text}` is no board number")),
            Some(board) => {
                let pairing = Pairing {
                    white,
                    black,
                    round,
                };
                list.add(headers.line, board, pairing);
            }
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

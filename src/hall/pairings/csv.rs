//! A table with a header line: `board,white,black`, and `round`, `result`, `serial` and for either
//! side `white_title`, `white_elo`, `white_fideid`, `white_fed`, `white_team`, in any order; `;` and
//! tabs part the columns too, as spreadsheets write them.

use std::collections::BTreeSet;

use super::{About, List, Pairing, board_no, of_round, result};

/// What may stand in the first line.
const COLUMNS: [&str; 16] = [
    "round",
    "board",
    "white",
    "white_title",
    "white_elo",
    "white_fideid",
    "white_fed",
    "white_team",
    "black",
    "black_title",
    "black_elo",
    "black_fideid",
    "black_fed",
    "black_team",
    "result",
    "serial",
];

pub(super) fn read(text: &str, round: &str, list: &mut List) {
    let mut lines = (1..).zip(text.lines());
    let Some((number, header)) = lines.find(|(_, line)| !line.trim().is_empty()) else {
        return;
    };
    let parts = [',', ';', '\t'];
    let part = parts.into_iter().max_by_key(|c| header.matches(*c).count());
    let part = part.unwrap_or(',');
    let Some(names) = cells(header, part) else {
        return list.fault(number, "a quotation mark is not closed".to_owned());
    };
    let column = |name: &str| names.iter().position(|one| one.eq_ignore_ascii_case(name));
    let (Some(board), Some(white), Some(black)) =
        (column("board"), column("white"), column("black"))
    else {
        let what = "the first line names the columns: board,white,black or board,white,black,round";
        return list.fault(number, what.to_owned());
    };
    for name in names.iter().filter(|name| !name.is_empty()) {
        if !COLUMNS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            list.note(
                number,
                format!(
                    "the column `{name}` is not read; known are {}",
                    COLUMNS.join(",")
                ),
            );
        }
    }
    let mut rows = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        match cells(line, part) {
            Some(cells) => rows.push((number, cells)),
            None => list.fault(number, "a quotation mark is not closed".to_owned()),
        }
    }
    let cell = |cells: &[String], at: Option<usize>| -> Option<String> {
        at.and_then(|at| cells.get(at))
            .filter(|text| !text.is_empty())
            .cloned()
    };
    let (round_at, result_at, serial) = (column("round"), column("result"), column("serial"));
    let rounds: BTreeSet<String> = rows
        .iter()
        .filter_map(|(_, cells)| cell(cells, round_at))
        .collect();
    for (number, cells) in &rows {
        let told = cell(cells, round_at);
        if !of_round(told.as_deref(), round, rounds.len() <= 1) {
            continue;
        }
        let board_text = cell(cells, Some(board)).unwrap_or_default();
        let Some(board) = board_no(&board_text) else {
            list.fault(*number, format!("`{board_text}` is no board number"));
            continue;
        };
        let (Some(white), Some(black)) = (cell(cells, Some(white)), cell(cells, Some(black)))
        else {
            list.fault(
                *number,
                format!("board {board} lacks a player (write BYE for a bye)"),
            );
            continue;
        };
        let score = cell(cells, result_at).unwrap_or_default();
        let score = result(list, *number, &score);
        let mut player = |side: &str, name: &str| {
            let more =
                |what: &str| cell(cells, column(&format!("{side}_{what}"))).unwrap_or_default();
            let (title, elo, fide_id) = (more("title"), more("elo"), more("fideid"));
            let (federation, team) = (more("fed"), more("team"));
            let about = About {
                title: &title,
                elo: &elo,
                fide_id: &fide_id,
                federation: &federation,
                team: &team,
            };
            list.player(*number, name, about)
        };
        let pairing = Pairing {
            white: player("white", &white),
            black: player("black", &black),
            round: told,
            result: score,
            serial: cell(cells, serial),
        };
        list.add(*number, board, pairing);
    }
}

/// The cells of a line; none when a quotation mark is not closed. A cell is one line long.
fn cells(line: &str, part: char) -> Option<Vec<String>> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cells.last_mut()?.push('"');
            }
            '"' => quoted = !quoted,
            _ if c == part && !quoted => cells.push(String::new()),
            _ => cells.last_mut()?.push(c),
        }
    }
    let trimmed = cells.iter().map(|cell| cell.trim().to_owned()).collect();
    (!quoted).then_some(trimmed)
}

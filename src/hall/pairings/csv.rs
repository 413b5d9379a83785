//! A table with a header line: `board,white,black[,round]`, in any order; `;` and tabs part the
//! columns too, as spreadsheets write them.

use super::{List, Pairing, board_no};

pub(super) fn read(text: &str, list: &mut List) {
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
    let round = column("round");
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let Some(cells) = cells(line, part) else {
            list.fault(number, "a quotation mark is not closed".to_owned());
            continue;
        };
        let cell = |at: usize| cells.get(at).map(String::as_str).unwrap_or_default();
        let Some(board) = board_no(cell(board)) else {
            list.fault(number, format!("`{}` is no board number", cell(board)));
            continue;
        };
        if cell(white).is_empty() || cell(black).is_empty() {
            list.fault(number, format!("board {board} lacks a player"));
            continue;
        }
        let pairing = Pairing {
            white: cell(white).to_owned(),
            black: cell(black).to_owned(),
            round: round
                .map(|at| cell(at).to_owned())
                .filter(|round| !round.is_empty()),
        };
        list.add(number, board, pairing);
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

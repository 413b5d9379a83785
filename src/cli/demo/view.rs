//! The live view: a table on a terminal, lines elsewhere.

use std::collections::BTreeMap;

use super::print;
use crate::{
    hall::Told,
    incident::{Alert, AlertChange, Level},
    laws::{Edition, Lang, describe},
    monitor::{BoardState, LinkState, Output},
    words::{BoardNo, clock_text},
};

#[derive(Default)]
struct Row {
    link: Option<LinkState>,
    state: Option<BoardState>,
    last: String,
}

/// What is on the screen.
pub(super) struct View {
    terminal: bool,
    rows: BTreeMap<BoardNo, Row>,
    /// Alerts not printed yet.
    news: Vec<String>,
    drawn: usize,
}

impl View {
    pub fn new(boards: u16, terminal: bool) -> View {
        View {
            terminal,
            rows: (1..=boards).map(|n| (BoardNo(n), Row::default())).collect(),
            news: Vec::new(),
            drawn: 0,
        }
    }

    /// Takes note of what a monitor said.
    pub fn note(&mut self, told: &Told) {
        let Some(row) = self.rows.get_mut(&told.board) else {
            return;
        };
        match &told.output {
            Output::Link(report) => row.link = Some(report.state),
            Output::State(state) => row.state = Some((**state).clone()),
            Output::Ply(ply) => row.last = ply.numbered(),
            Output::Alert {
                change: AlertChange::Raised,
                alert,
            } if alert.level == Level::Urgent => {
                self.news.push(in_words(told.board, alert));
            }
            _ => {}
        }
    }

    /// Brings the screen up to date.
    pub fn draw(&mut self) {
        let mut text = String::new();
        if self.terminal && self.drawn > 0 {
            // up to the first line of the table, and all below it gone
            text.push_str(&format!("\x1b[{}A\x1b[J", self.drawn));
        }
        for news in self.news.drain(..) {
            text.push_str(&news);
        }
        if self.terminal {
            let table = table(&self.rows);
            self.drawn = table.lines().count();
            text.push_str(&table);
        }
        if !text.is_empty() {
            print(text);
        }
    }
}

fn in_words(board: BoardNo, alert: &Alert) -> String {
    let (title, text) = describe(&alert.finding, Lang::En, Edition::E2023);
    let mut words = format!(
        "ALERT  board {board}  {}  {title}  [{}]\n       {text}\n",
        alert.move_text,
        alert.finding.code.as_str()
    );
    if let Some(fen) = &alert.remedy.restore {
        words.push_str(&format!("       restore: {fen}\n"));
    }
    if let Some((side, seconds)) = alert.remedy.add_s {
        let side = side.fold_wb("White", "Black");
        words.push_str(&format!(
            "       if it counts, add to {side}: {seconds} s\n"
        ));
    }
    words
}

fn table(rows: &BTreeMap<BoardNo, Row>) -> String {
    let mut text = format!(
        "\n{:>5}  {:6}  {:10}  {:14}  {:>8}  {:>8}  {:7}  alerts\n",
        "board", "link", "phase", "last", "White", "Black", "result"
    );
    for (board, row) in rows {
        let link = row
            .link
            .map_or("-".to_owned(), |link| format!("{link:?}").to_lowercase());
        let Some(state) = &row.state else {
            text.push_str(&format!("{board:>5}  {link:6}\n"));
            continue;
        };
        let time = |s: Option<u32>| s.map_or("-".to_owned(), clock_text);
        text.push_str(&format!(
            "{board:>5}  {link:6}  {:10}  {:14}  {:>8}  {:>8}  {:7}  {}\n",
            format!("{:?}", state.phase).to_lowercase(),
            row.last,
            time(state.clock.at.white_s),
            time(state.clock.at.black_s),
            state.result.as_deref().unwrap_or(""),
            state.alerts.len()
        ));
    }
    text
}

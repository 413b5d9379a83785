//! Who sits at which board: read from PGN headers, a tournament report (TRF) or a table (CSV).

mod csv;
mod pgn;
mod trf;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use crate::words::BoardNo;

/// One board's players.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// White's name.
    pub white: String,
    /// Black's name.
    pub black: String,
    /// The round, when the file tells it.
    pub round: Option<String>,
}

/// The pairings of a round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairings(BTreeMap<BoardNo, Pairing>);

/// What is wrong in a file of pairings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairingFault {
    /// Line, from 1; none for the whole file.
    pub line: Option<usize>,
    /// What is wrong, and what to write instead.
    pub what: String,
}

/// A file of pairings that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PairingsError {
    /// Which file.
    pub file: PathBuf,
    /// All that is wrong with it.
    pub faults: Vec<PairingFault>,
}

impl fmt::Display for PairingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        for (i, fault) in self.faults.iter().enumerate() {
            let end = if i > 0 { "\n" } else { "" };
            match fault.line {
                Some(line) => write!(f, "{end}{file}:{line}: {}", fault.what)?,
                None => write!(f, "{end}{file}: {}", fault.what)?,
            }
        }
        Ok(())
    }
}

impl Pairings {
    /// Reads a file; `round` says which round of a tournament report is meant.
    ///
    /// # Errors
    /// When the file cannot be read, or with every fault in it.
    pub fn read(file: &Path, round: &str) -> Result<Pairings, PairingsError> {
        match std::fs::read(file) {
            // Older programs write Latin-1: a damaged letter in a name stops no round.
            Ok(bytes) => Pairings::parse(file, &String::from_utf8_lossy(&bytes), round),
            Err(why) => Err(PairingsError {
                file: file.to_owned(),
                faults: vec![PairingFault {
                    line: None,
                    what: format!("cannot be read: {why}"),
                }],
            }),
        }
    }

    /// The same from the text of a file. Its ending tells the form: `.pgn`, `.trf`, `.trfx`,
    /// `.txt` (a report too) or `.csv`.
    ///
    /// # Errors
    /// With every fault in the text.
    pub fn parse(file: &Path, text: &str, round: &str) -> Result<Pairings, PairingsError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let ending = file.extension().unwrap_or_default().to_string_lossy();
        let mut list = List::default();
        match ending.to_ascii_lowercase().as_str() {
            "pgn" => pgn::read(text, &mut list),
            "trf" | "trfx" | "txt" => trf::read(text, round, &mut list),
            "csv" => csv::read(text, &mut list),
            _ => list.fault(
                None,
                "has no known ending: name it .pgn, .trf or .csv".to_owned(),
            ),
        }
        if list.faults.is_empty() && list.pairings.is_empty() {
            list.fault(None, "has no pairing in it".to_owned());
        }
        if list.faults.is_empty() {
            let plain = list.pairings.into_iter();
            return Ok(Pairings(plain.map(|(no, (_, pair))| (no, pair)).collect()));
        }
        Err(PairingsError {
            file: file.to_owned(),
            faults: list.faults,
        })
    }

    /// The players of a board.
    pub fn get(&self, board: BoardNo) -> Option<&Pairing> {
        self.0.get(&board)
    }

    /// All boards, by number.
    pub fn iter(&self) -> impl Iterator<Item = (BoardNo, &Pairing)> {
        self.0.iter().map(|(board, pairing)| (*board, pairing))
    }
}

/// What the readers fill.
#[derive(Debug, Default)]
struct List {
    /// With the line each came from.
    pairings: BTreeMap<BoardNo, (usize, Pairing)>,
    faults: Vec<PairingFault>,
}

impl List {
    fn fault(&mut self, line: impl Into<Option<usize>>, what: String) {
        let line = line.into();
        self.faults.push(PairingFault { line, what });
    }

    fn add(&mut self, line: usize, board: BoardNo, pairing: Pairing) {
        if let Some((first, _)) = self.pairings.get(&board) {
            let what = format!("board {board} has players already, in line {first}");
            return self.fault(line, what);
        }
        self.pairings.insert(board, (line, pairing));
    }
}

/// A board number in digits.
fn board_no(text: &str) -> Option<BoardNo> {
    let number = text.trim().parse().ok().filter(|number| *number > 0)?;
    Some(BoardNo(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, text: &str) -> Result<Pairings, PairingsError> {
        Pairings::parse(Path::new(name), text, "2")
    }

    fn seen(pairings: &Pairings) -> Vec<String> {
        let say = |(no, p): (BoardNo, &Pairing)| {
            let round = p.round.as_deref().unwrap_or("-");
            format!("{no} {} - {} ({round})", p.white, p.black)
        };
        pairings.iter().map(say).collect()
    }

    #[test]
    fn pgn_headers() {
        let text = "[White \"Gil, \\\"Ana\\\"\"]\n[Black \"Roe, Bo\"]\n[Round \"5.2\"]\n\n1. e4 {[White \"x\"]} *\n\n\
                    [Round \"5\"]\n[Board \"1\"]\n[White \"C\"]\n[Black \"D\"]\n\n*\n";
        let pairings = parse("r.pgn", text).expect("it reads");
        assert_eq!(
            seen(&pairings),
            ["1 C - D (5)", "2 Gil, \"Ana\" - Roe, Bo (5)"]
        );
    }

    #[test]
    fn pgn_faults() {
        let text = "[White \"A\"]\n[Round \"5\"]\n\n*\n\n[White \"A\"]\n[Black \"B\"]\n[Board \"x\"]\n\n*\n";
        let error = parse("r.pgn", text).expect_err("it lacks things");
        let text = error.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("r.pgn:1: "), "{text}");
        assert!(text.contains("r.pgn:8: "), "{text}");
    }

    #[test]
    fn csv_tables() {
        let text = "Board;White;Black;Round\n2;\"Gil; Ana\";\"Bo \"\"B\"\" Roe\";5\n\n1;C;D;5\n";
        let pairings = parse("r.csv", text).expect("it reads");
        assert_eq!(
            seen(&pairings),
            ["1 C - D (5)", "2 Gil; Ana - Bo \"B\" Roe (5)"]
        );
        let text = "board,white\n";
        let error = parse("r.csv", text).expect_err("no black").to_string();
        assert!(error.starts_with("r.csv:1: "), "{error}");
        let text = "board,white,black\n1,A,B\n1,C,D\n0,E,F\n3,\"G,H\n";
        let error = parse("r.csv", text).expect_err("twice").to_string();
        for line in ["r.csv:3: ", "r.csv:4: ", "r.csv:5: "] {
            assert!(error.contains(line), "{error}");
        }
    }

    /// A `001` line: rank, name, then opponent, colour and result of each round.
    fn player(rank: u16, name: &str, rounds: &[&str]) -> String {
        let mut line = format!("{:<84}", format!("001 {rank:>4}      {name:<33}"));
        line.push_str("     ");
        for round in rounds {
            line.push_str("  ");
            line.push_str(round);
        }
        line
    }

    #[test]
    fn trf_boards_go_by_score() {
        let text = [
            "012 City Open".to_owned(),
            player(1, "Ace, A", &["   3 w 0", "   4 b  "]),
            player(2, "Bee, B", &["   4 b =", "   3 b  "]),
            player(3, "Cee, C", &["   1 b 1", "   2 w  "]),
            player(4, "Dee, D", &["   2 w =", "   1 w  "]),
            player(5, "Eee, E", &["0000 - -", "0000 - U"]),
        ]
        .join("\r\n");
        let pairings = parse("r.trf", &text).expect("it reads");
        assert_eq!(
            seen(&pairings),
            ["1 Cee, C - Bee, B (2)", "2 Dee, D - Ace, A (2)"]
        );
    }

    #[test]
    fn trf_faults() {
        let text = [
            player(1, "Ace, A", &["   3 w 0", "   9 w  "]),
            player(2, "Bee, B", &["   1 b 1", "   x w  "]),
        ]
        .join("\n");
        let error = parse("r.trf", &text).expect_err("it is wrong").to_string();
        assert!(
            error.contains("r.trf:1: ") && error.contains("r.trf:2: "),
            "{error}"
        );
        assert!(parse("r.trf", &player(1, "A", &["   2 w 0"])).is_err());
        assert!(parse("r.doc", "x").is_err());
    }
}

//! Who sits at which board: read from PGN headers, a tournament report (TRF) or a table (CSV).

mod csv;
mod encoding;
mod look;
mod pgn;
mod trf;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

pub use crate::relay::Player;
use crate::words::BoardNo;

/// One board's players.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairing {
    /// White.
    pub white: Player,
    /// Black.
    pub black: Player,
    /// The round, when the file tells it.
    pub round: Option<String>,
    /// A result that stands before the round: a forfeit.
    pub result: Option<String>,
    /// Serial number of the board they play on.
    pub serial: Option<String>,
}

/// The pairings of a round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairings {
    boards: BTreeMap<BoardNo, Pairing>,
    notes: Vec<PairingFault>,
}

/// What is wrong in a file of pairings, or should be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairingFault {
    /// Line, from 1; none for the whole file.
    pub line: Option<usize>,
    /// What is wrong, and what to write instead.
    pub what: String,
}

impl PairingFault {
    /// The fault with its place.
    pub fn at(&self, file: &Path) -> String {
        let (file, what) = (file.display(), &self.what);
        match self.line {
            Some(line) => format!("{file}:{line}: {what}"),
            None => format!("{file}: {what}"),
        }
    }
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
        let faults = self.faults.iter().map(|fault| fault.at(&self.file));
        f.write_str(&faults.collect::<Vec<_>>().join("\n"))
    }
}

impl Pairings {
    /// Reads a file; `round` says which round of a tournament report is meant.
    ///
    /// # Errors
    /// When the file cannot be read, or with every fault in it.
    pub fn read(file: &Path, round: &str) -> Result<Pairings, PairingsError> {
        match std::fs::read(file) {
            Ok(bytes) => {
                let (text, note) = encoding::decode(&bytes);
                let mut pairings = Pairings::parse(file, &text, round)?;
                pairings.notes.extend(note);
                Ok(pairings)
            }
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
            "pgn" => pgn::read(text, round, &mut list),
            "trf" | "trfx" | "txt" => trf::read(text, round, &mut list),
            "csv" => csv::read(text, round, &mut list),
            _ => list.fault(
                None,
                "has no known ending: name it .pgn, .trf or .csv".to_owned(),
            ),
        }
        if list.faults.is_empty() && list.pairings.is_empty() {
            list.fault(None, "has no pairing in it".to_owned());
        }
        if list.faults.is_empty() {
            let mut notes = list.notes;
            notes.extend(look::notes(&list.pairings, round));
            let plain = list.pairings.into_iter();
            return Ok(Pairings {
                boards: plain.map(|(no, (_, pair))| (no, pair)).collect(),
                notes,
            });
        }
        Err(PairingsError {
            file: file.to_owned(),
            faults: list.faults,
        })
    }

    /// The players of a board.
    pub fn get(&self, board: BoardNo) -> Option<&Pairing> {
        self.boards.get(&board)
    }

    /// All boards, by number.
    pub fn iter(&self) -> impl Iterator<Item = (BoardNo, &Pairing)> {
        self.boards.iter().map(|(board, pairing)| (*board, pairing))
    }

    /// What can be used, and should be looked at before the round.
    pub fn notes(&self) -> &[PairingFault] {
        &self.notes
    }

    /// The board that a serial number belongs to.
    pub fn board_of(&self, serial: &str) -> Option<BoardNo> {
        let mut boards = self.iter();
        boards
            .find(|(_, pair)| pair.serial.as_deref() == Some(serial))
            .map(|(board, _)| board)
    }
}

/// What the readers fill.
#[derive(Debug, Default)]
struct List {
    /// With the line each came from.
    pairings: BTreeMap<BoardNo, (usize, Pairing)>,
    faults: Vec<PairingFault>,
    notes: Vec<PairingFault>,
}

impl List {
    fn note(&mut self, line: usize, what: String) {
        self.notes.push(PairingFault {
            line: Some(line),
            what,
        });
    }

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

    /// Takes over what a file says of a player beside the name; what makes no sense is noted and
    /// left out.
    fn player(&mut self, line: usize, name: &str, about: About<'_>) -> Player {
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let mut number = |text: &str, what: &str| {
            // Programs write these for none.
            if matches!(text.trim(), "" | "-" | "?") {
                return None;
            }
            let number = text.trim().parse().ok();
            if number.is_none() {
                self.note(
                    line,
                    format!("{name}: `{text}` is no {what} and is left out"),
                );
            }
            number
        };
        let elo = number(about.elo, "rating").filter(|elo| *elo > 0);
        let fide_id = number(about.fide_id, "FIDE number");
        let title = text(about.title).map(|title| look::title(&title));
        if let Some(title) = title
            .as_deref()
            .filter(|title| !look::TITLES.contains(title))
        {
            self.note(line, format!("{name}: `{title}` is no title of FIDE"));
        }
        Player {
            name: name.trim().to_owned(),
            title,
            elo,
            fide_id,
            federation: text(about.federation),
            team: text(about.team),
        }
    }
}

/// A result as a file has it, when it is one.
fn result(list: &mut List, line: usize, text: &str) -> Option<String> {
    let result = match text.trim() {
        "" | "*" => return None,
        score @ ("1-0" | "0-1" | "0-0" | "1/2-1/2") => score,
        "+/-" | "+--" | "+:-" => "1-0",
        "-/+" | "--+" | "-:+" => "0-1",
        "-/-" | "---" | "-:-" => "0-0",
        other => {
            list.note(line, format!("`{other}` is no result and is left out"));
            return None;
        }
    };
    Some(result.to_owned())
}

/// What stands beside a name, as the file has it; empty for nothing.
#[derive(Debug, Clone, Copy, Default)]
struct About<'a> {
    title: &'a str,
    elo: &'a str,
    fide_id: &'a str,
    federation: &'a str,
    team: &'a str,
}

/// Whether a pairing of the round `told` is one of `round`: a file of a single round is taken for it
/// (and noted when the number differs).
fn of_round(told: Option<&str>, round: &str, single: bool) -> bool {
    single || told.is_none_or(|told| told == round)
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
            format!("{no} {} - {} ({round})", p.white.name, p.black.name)
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

    fn notes(pairings: &Pairings) -> Vec<String> {
        pairings
            .notes()
            .iter()
            .map(|note| note.at(Path::new("r")))
            .collect()
    }

    #[test]
    fn all_that_pgn_headers_tell() {
        let text = "[Event \"Open\"]\n[Round \"5.1\"]\n[White \"N\u{fa}\u{f1}ez, Jos\u{e9}\"]\n\
                    [WhiteTitle \"WIM\"]\n[WhiteElo \"2345\"]\n[WhiteFideId \"2200001\"]\n\
                    [WhiteTeam \"C\u{ed}rculo\"]\n[WhiteFed \"ESP\"]\n[Black \"Roe, Bo\"]\n\
                    [BlackElo \"-\"]\n[BlackFideId \"12x\"]\n[Result \"1-0\"]\n\n1-0\n\n\
                    [Round \"5.2\"]\n[White \"Free, F\"]\n[Black \"\"]\n[Result \"*\"]\n\n*\n\n\
                    [Round \"6.1\"]\n[White \"A\"]\n[Black \"B\"]\n\n*\n";
        let pairings = Pairings::parse(Path::new("r.pgn"), text, "5").expect("it reads");
        let first = pairings.get(BoardNo(1)).expect("board 1");
        assert_eq!(
            first.white,
            Player {
                name: "N\u{fa}\u{f1}ez, Jos\u{e9}".to_owned(),
                title: Some("WIM".to_owned()),
                elo: Some(2345),
                fide_id: Some(2_200_001),
                federation: Some("ESP".to_owned()),
                team: Some("C\u{ed}rculo".to_owned()),
            }
        );
        assert_eq!((first.black.elo, first.black.fide_id), (None, None));
        assert_eq!(first.result.as_deref(), Some("1-0"));
        assert!(
            pairings
                .get(BoardNo(2))
                .is_some_and(|pair| pair.black.is_bye())
        );
        let told = notes(&pairings).join("\n");
        assert!(told.contains("`12x` is no FIDE number"), "{told}");
        assert!(!told.contains("round"), "round 6 is another: {told}");
        let other = Pairings::parse(Path::new("r.pgn"), text, "6").expect("it reads");
        assert_eq!(seen(&other), ["1 A - B (6)"]);
    }

    #[test]
    fn all_that_a_table_tells() {
        let text = "round;board;white;white_elo;white_title;black;black_fideid;result;serial;colour\n\
                    5;1;Gil, Ana;2100;wg;Roe, Bo;0;+/-;24958;x\n5;3;Gil, Ana;;;Poe, Cy;;2;24958;\n";
        let pairings = Pairings::parse(Path::new("r.csv"), text, "7").expect("it reads");
        let first = pairings.get(BoardNo(1)).expect("board 1");
        assert_eq!(first.white.title.as_deref(), Some("WGM"));
        assert_eq!(first.black.fide_id, Some(0));
        assert_eq!(first.result.as_deref(), Some("1-0"));
        assert_eq!(pairings.board_of("24958"), Some(BoardNo(1)));
        let told = notes(&pairings);
        for (place, what) in [
            ("r:1: ", "`colour` is not read"),
            ("r: ", "is of round 5, but event.round is 7"),
            ("r:3: ", "gil, ana is at board 3 and at board 1 (line 2)"),
            ("r:3: ", "serial number 24958 is at board 3"),
            ("r:3: ", "`2` is no result"),
            ("r: ", "has no players at 1 of the boards up to 3: 2"),
            ("r:2: ", "Gil, Ana at board 1 has no FIDE number"),
        ] {
            let found = told
                .iter()
                .any(|one| one.starts_with(place) && one.contains(what));
            assert!(found, "{place}{what}: {told:?}");
        }
    }

    #[test]
    fn all_that_a_report_tells() {
        let line = |rank: u16, name: &str, game: &str| {
            format!(
                "001 {rank:>4} {:1}{:>3} {name:<33} {:>4} {:3} {:>11} {:10} {:>4} {rank:>4}  {game}",
                "m",
                "wm",
                2310,
                "ESP",
                2_200_000 + u32::from(rank),
                "1990/01/02",
                "0.0"
            )
        };
        let text = [
            line(1, "Ace, A", "   2 w +"),
            line(2, "Bee, B", "   1 b -"),
            format!("013 {:<32}{:>4} {:>4}", "Torre Sur", 2, 7),
        ]
        .join("\r");
        let pairings = Pairings::parse(Path::new("r.trf"), &text, "1").expect("it reads");
        let pair = pairings.get(BoardNo(1)).expect("board 1");
        assert_eq!(pair.white.title.as_deref(), Some("WIM"));
        assert_eq!(
            (pair.white.elo, pair.white.fide_id),
            (Some(2310), Some(2_200_001))
        );
        assert_eq!(pair.white.federation.as_deref(), Some("ESP"));
        assert_eq!(
            (&pair.white.team, pair.black.team.as_deref()),
            (&None, Some("Torre Sur"))
        );
        assert_eq!(pair.result.as_deref(), Some("1-0"));
        assert_eq!(notes(&pairings), Vec::<String>::new());
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

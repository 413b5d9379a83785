//! What is written is read again: by pgn-reader with every move played, by python-chess, by
//! pgn-extract and by chessops.

use std::{env, fs, ops::ControlFlow, os::unix::fs::symlink, path::Path, process::Command};

use atalaya::relay::{Moment, Profile, World, files::Printer, line};
use fastrand::Rng;
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};
use shakmaty::{CastlingMode, Chess, fen::Fen};

use crate::played::{Plan, USUAL, game, start_960, world};

const LATE: Moment = Moment(u64::MAX / 2);

/// All that a round can hold.
pub fn everything(chess960: bool) -> World {
    let mut rng = Rng::with_seed(9);
    let endings = [
        (Some("1-0"), "mate"),
        (Some("0-1"), "flag"),
        (Some("1/2-1/2"), "kings"),
        (Some("0-0"), "forfeit"),
        (Some("1-0"), "illegal-move"),
        (None, ""),
    ];
    let mut sheets = Vec::new();
    for n in 1..=30_usize {
        let (score, by) = endings[n % endings.len()];
        let plan = Plan {
            game: format!("5.{n}"),
            plies: [0, 1, 2, 30, 81, 300][n / 5 % 6],
            irregular: [None, Some(0), Some(1), Some(7), Some(20)][n % 5],
            score,
            by,
            chess960,
            timed: n % 7 != 0,
            ..Plan::default()
        };
        let start = match (chess960, n % 10) {
            (true, _) => start_960(n as u16 * 31),
            (false, 3) => "4k3/8/8/8/8/8/4P3/R3K3 b Q - 3 40".to_owned(),
            (false, _) => USUAL.to_owned(),
        };
        sheets.push(vec![game(&mut rng, &start, &plan)]);
    }
    world(sheets, chess960)
}

/// Plays a game with its tags and counts.
#[derive(Debug, Default)]
struct Played {
    position: Option<Chess>,
    plies: usize,
    clocks: usize,
    faults: Vec<String>,
    games: usize,
    timed: bool,
}

#[derive(Debug, Default)]
struct Tags {
    fen: Option<String>,
    chess960: bool,
    names: Vec<String>,
}

impl Visitor for Played {
    type Tags = Tags;
    type Movetext = usize;
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        let value = value.decode_utf8_lossy().into_owned();
        if !name.iter().all(u8::is_ascii_alphabetic) || value.contains(['"', '\\']) {
            self.faults.push(format!("tag {name:?} {value}"));
        }
        match name {
            b"FEN" => tags.fen = Some(value),
            b"Variant" => tags.chess960 = value == "Chess960",
            _ => {}
        }
        tags.names.push(String::from_utf8_lossy(name).into_owned());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<(), usize> {
        let roster = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];
        let further: Vec<&String> = tags.names.iter().skip(7).collect();
        if tags.names[..7] != roster || !further.is_sorted() {
            self.faults.push(format!("order of tags: {:?}", tags.names));
        }
        let mode = CastlingMode::from_chess960(tags.chess960);
        self.position = match tags.fen {
            None => Some(Chess::default()),
            Some(fen) => {
                let read = fen
                    .parse::<Fen>()
                    .ok()
                    .and_then(|fen| fen.into_position(mode).ok());
                read.or_else(|| line::position(&fen, mode))
            }
        };
        self.games += 1;
        self.timed = false;
        ControlFlow::Continue(0)
    }

    fn san(&mut self, game: &mut usize, san: SanPlus) -> ControlFlow<()> {
        let position = self.position.as_mut().expect("a start position");
        match san.san.to_move(position) {
            Ok(mv) => {
                let again = shakmaty::san::SanPlus::from_move_and_play_unchecked(position, mv);
                if again != san {
                    self.faults.push(format!("{san} is {again}"));
                }
            }
            Err(why) => self
                .faults
                .push(format!("game {}: {san}: {why}", self.games)),
        }
        *game += 1;
        self.plies += 1;
        ControlFlow::Continue(())
    }

    fn comment(&mut self, _: &mut usize, comment: RawComment<'_>) -> ControlFlow<()> {
        let text = String::from_utf8_lossy(comment.as_bytes());
        self.clocks += usize::from(text.starts_with("[%clk "));
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, _: usize) {}
}

fn played(text: &str) -> Played {
    let mut played = Played::default();
    let mut reader = Reader::new(text.as_bytes());
    while let Some(()) = reader.read_game(&mut played).expect("it reads") {}
    played
}

#[test]
fn every_move_written_can_be_played() {
    for chess960 in [false, true] {
        let world = everything(chess960);
        let files = Printer::default().print(&world, &Profile::default(), LATE);
        let whole = &files["round-5/games.pgn"];
        for line in whole.lines() {
            let moves = !line.starts_with('[');
            assert!(!moves || line.chars().count() < 80, "{line}");
            assert!(line.len() <= 255 && !line.contains('\r'), "{line}");
        }
        let seen = played(whole);
        assert_eq!(seen.faults, Vec::<String>::new());
        let sheets = world.games.values().map(|games| &games.sheets[0]);
        let regular = |ply: &&atalaya::relay::book::Ply| !ply.uci.is_empty();
        let plies: usize = sheets
            .clone()
            .map(|sheet| sheet.plies.iter().filter(regular).count())
            .sum();
        assert_eq!(seen.plies, plies, "no ply is lost");
        assert!(seen.games > 30 && seen.games == whole.matches("[Event ").count());
        let timed = sheets.filter(|sheet| sheet.plies.iter().any(|ply| ply.clock_s.is_some()));
        let timed: usize = timed
            .map(|sheet| sheet.plies.iter().filter(regular).count())
            .sum();
        assert_eq!(
            seen.clocks, timed,
            "a clock on every ply of every game with a clock"
        );
        assert!(whole.contains("[Result \"0-0\"]") && !whole.contains(" 0-0\n"));
        for word in ["time forfeit", "rules infraction", "abandoned", "normal"] {
            assert!(
                whole.contains(&format!("[Termination \"{word}\"]")),
                "{word}"
            );
        }
        assert!(
            whole.contains("which is no legal move"),
            "the cut is explained"
        );
        let single = files
            .iter()
            .filter(|(path, _)| path.contains("/game-") && path.ends_with(".pgn"));
        let joined: usize = single.map(|(_, text)| text.len()).sum();
        assert_eq!(joined, whole.len(), "one game a file, and the same text");
    }
}

#[test]
fn numbers_of_start_positions() {
    for number in 0..960 {
        let start = line::position(&start_960(number), CastlingMode::Chess960).expect("a start");
        assert_eq!(line::number_960(&start), Some(number));
    }
    assert_eq!(line::number_960(&Chess::default()), Some(518));
    let other = line::position("4k3/8/8/8/8/8/4P3/R3K3 b Q - 3 40", CastlingMode::Standard);
    assert_eq!(line::number_960(&other.expect("a position")), None);
}

#[test]
fn livechess_files_say_the_same() {
    let world = everything(true);
    let files = Printer::default().print(&world, &Profile::default(), LATE);
    let json =
        |path: &str| -> serde_json::Value { serde_json::from_str(&files[path]).expect("JSON") };
    let tournament = json("tournament.json");
    assert_eq!(tournament["rounds"][4]["count"], 30);
    assert_eq!(tournament["chess960"], "ANY");
    assert_eq!(tournament["eboards"][0], "25500");
    let index = json("round-5/index.json");
    assert_eq!(index["date"], "2026-11-30");
    assert_eq!(index["pairings"][0]["white"]["fname"], "María\\José");
    let pairings = index["pairings"].as_array().expect("a list");
    for (n, pairing) in (1..).zip(pairings) {
        let game = json(&format!("round-5/game-{n}.json"));
        let words = [
            ("1-0", "WHITEWIN"),
            ("0-1", "BLACKWIN"),
            ("1/2-1/2", "DRAW"),
            ("*", "*"),
        ];
        let word = words
            .iter()
            .find(|(score, _)| pairing["result"] == *score)
            .expect("a score");
        assert_eq!(game["result"], word.1);
        assert_eq!(game["live"], pairing["live"]);
        let first = &world.games[&atalaya::words::BoardNo(n)].sheets[0];
        let legal = first
            .plies
            .iter()
            .take_while(|ply| !ply.uci.is_empty())
            .count();
        assert_eq!(game["moves"].as_array().map(Vec::len), Some(legal));
        if !first.plies.is_empty() {
            assert_eq!(game["chess960"], n * 31);
        }
    }
}

/// Runs a reader on the files; `None` (said in print) where it is not installed, which is a failure
/// in CI.
fn run(program: &str, args: &[&str], dir: &Path) -> Option<(bool, String)> {
    match Command::new(program).args(args).current_dir(dir).output() {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            Some((
                output.status.success(),
                String::from_utf8_lossy(&text).into_owned(),
            ))
        }
        Err(why) => {
            assert!(env::var_os("CI").is_none(), "{program}: {why}");
            println!("skipped: {program}: {why}");
            None
        }
    }
}

const PYTHON: &str = r#"
import chess.pgn, sys
games = plies = clocks = 0
with open("games.pgn", encoding="utf-8", errors="strict") as file:
    while (game := chess.pgn.read_game(file)) is not None:
        assert not game.errors, (game.headers, game.errors)
        games += 1
        for node in game.mainline():
            plies += 1
            clocks += node.clock() is not None
print(games, plies, clocks)
"#;

#[test]
fn python_chess_and_pgn_extract_read_it() {
    for chess960 in [false, true] {
        let world = everything(chess960);
        let files = Printer::default().print(&world, &Profile::default(), LATE);
        let whole = &files["round-5/games.pgn"];
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("games.pgn"), whole.as_bytes()).expect("it writes");
        let ours = played(whole);
        let Some((_, there)) = run("python3", &["-c", "import chess.pgn"], dir.path()) else {
            return;
        };
        if there.is_empty() {
            let (good, said) = run("python3", &["-c", PYTHON], dir.path()).expect("it is there");
            assert!(good, "{said}");
            let counted = format!("{} {} {}", ours.games, ours.plies, ours.clocks);
            assert_eq!(said.trim(), counted, "games, plies, clocks");
        } else {
            assert!(env::var_os("CI").is_none(), "python3 -m pip install chess");
            println!("skipped: python-chess is not installed");
        }
        let Some((good, said)) = run("/usr/games/pgn-extract", &["-r", "games.pgn"], dir.path())
        else {
            return;
        };
        assert!(good, "{said}");
        let matched = format!("{} games matched out of {}.", ours.games, ours.games);
        assert!(said.contains(&matched), "{said}");
    }
}

/// Lichess's own reader. It takes nearly any text, so every move is played too.
const CHESSOPS: &str = r#"
import { readFileSync } from "node:fs";
import { parsePgn, startingPosition, parseComment } from "chessops/pgn";
import { parseSan } from "chessops/san";
let games = 0, plies = 0, clocks = 0;
for (const game of parsePgn(readFileSync("games.pgn", "utf-8"))) {
    games += 1;
    const position = startingPosition(game.headers).unwrap();
    for (const node of game.moves.mainline()) {
        const move = parseSan(position, node.san);
        if (!move) throw new Error(`${game.headers.get("Round")}: ${node.san}`);
        position.play(move);
        plies += 1;
        const seen = (node.comments ?? []).map(parseComment);
        if (seen.some((comment) => comment.clock !== undefined)) clocks += 1;
    }
}
console.log(games, plies, clocks);
"#;

#[test]
fn chessops_reads_it() {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/npm/node_modules");
    if !modules.join("chessops").exists() {
        let get = "npm install --no-save --prefix target/npm chessops@0.15.1";
        assert!(env::var_os("CI").is_none(), "{get}");
        println!("skipped: chessops is not installed: {get}");
        return;
    }
    for chess960 in [false, true] {
        let world = everything(chess960);
        let files = Printer::default().print(&world, &Profile::default(), LATE);
        let whole = &files["round-5/games.pgn"];
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("games.pgn"), whole.as_bytes()).expect("it writes");
        fs::write(dir.path().join("read.mjs"), CHESSOPS).expect("it writes");
        symlink(&modules, dir.path().join("node_modules")).expect("it links");
        let Some((good, said)) = run("node", &["read.mjs"], dir.path()) else {
            return;
        };
        assert!(good, "{said}");
        let ours = played(whole);
        let counted = format!("{} {} {}", ours.games, ours.plies, ours.clocks);
        assert_eq!(said.trim(), counted, "games, plies, clocks");
    }
}

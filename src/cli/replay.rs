//! `atalaya replay`: journals and captures through the pure core.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{IsTerminal, Read, stderr},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Failure, print};
use crate::{
    incident::AlertChange,
    journal::{Entry, Found, History, Kind, MAGIC, Replay, Replayed, read_inbytes, told},
    laws::{Edition, Lang, describe},
    monitor::{Output, Settings},
    publish::payload::label,
    words::{At, BoardNo, GameId, clock_text},
};

/// Plays journal segments or raw captures (.inbytes: one base64 message a line) through the core
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya replay --pgn state/*.atj")]
pub struct Args {
    /// Journal segments (in order) or captures (one board each)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Writes the games as PGN
    #[arg(long)]
    pub pgn: bool,
    /// Writes one JSON object per final ply, retraction and alert
    #[arg(long, conflicts_with = "pgn")]
    pub json: bool,
}

/// After the last message of a capture the board is watched on for so long, ms.
const AFTERWARDS_MS: u64 = 30_000;

/// Plays them all.
///
/// # Errors
/// When a file cannot be read, or a journal tells something else than it told then.
pub fn run(args: Args) -> Result<(), Failure> {
    let mut replay = Replay::new();
    let mut teller = Teller {
        pgn: args.pgn,
        json: args.json,
        games: BTreeMap::new(),
    };
    let mut segments = Vec::new();
    let mut captures = 0;
    for path in &args.files {
        let here =
            |why: &dyn std::fmt::Display| Failure::Usage(format!("{}: {why}", path.display()));
        let mut file = File::open(path).map_err(|why| here(&why))?;
        if stderr().is_terminal() {
            let size = file.metadata().map_err(|why| here(&why))?.len();
            eprintln!("{}: {size} bytes", path.display());
        }
        let mut bytes = Vec::new();
        let mut head = (&mut file).take(MAGIC.len() as u64);
        head.read_to_end(&mut bytes).map_err(|why| here(&why))?;
        if bytes == MAGIC {
            segments.push(path.clone());
            continue;
        }
        file.read_to_end(&mut bytes).map_err(|why| here(&why))?;
        captures += 1;
        let text =
            String::from_utf8(bytes).map_err(|_| here(&"neither a journal nor a capture"))?;
        let messages = read_inbytes(&text).map_err(|why| here(&why))?;
        play_capture(&mut replay, &mut teller, BoardNo(captures), &messages, path);
    }
    let mut history = History::new(segments);
    while let Some(found) = history.next() {
        match found.map_err(|why| Failure::Usage(why.to_string()))? {
            Found::Entry(entry) => teller.all(replay.entry(&entry)),
            other => eprintln!("{}: {other}", history.path().display()),
        }
    }
    teller.end();
    let differences = replay.differences();
    if let Some(first) = differences.first() {
        return Err(Failure::Check(format!(
            "{} differences from what was told then; the first: {first}",
            differences.len()
        )));
    }
    Ok(())
}

fn play_capture(
    replay: &mut Replay,
    teller: &mut Teller,
    board: BoardNo,
    messages: &[(At, Vec<u8>)],
    path: &Path,
) {
    let name = path
        .file_stem()
        .map(|name| name.to_string_lossy().into_owned());
    let settings = Settings {
        board: board.0,
        event: name.unwrap_or_default(),
        ..Settings::default()
    };
    let mut play = |at: At, kind: Kind| {
        let entry = Entry {
            board,
            seq: 0,
            at,
            wall: Timestamp::UNIX_EPOCH,
            kind,
        };
        teller.all(replay.entry(&entry));
    };
    play(At(0), Kind::Settings(Box::new(settings)));
    play(At(0), Kind::Opened);
    let mut now = 0;
    for (at, bytes) in messages {
        while now + TICK_MS < at.0 {
            now += TICK_MS;
            play(At(now), Kind::Tick);
        }
        now = at.0;
        play(*at, Kind::Bytes(bytes.clone()));
    }
    let end = now + AFTERWARDS_MS;
    while now < end {
        now += TICK_MS;
        play(At(now), Kind::Tick);
    }
}

/// How often time passes between the messages of a capture, ms.
const TICK_MS: u64 = 100;

struct Teller {
    pgn: bool,
    json: bool,
    games: BTreeMap<(BoardNo, GameId), String>,
}

impl Teller {
    fn all(&mut self, outputs: Vec<Replayed>) {
        for one in outputs {
            self.one(one);
        }
    }

    fn one(&mut self, one: Replayed) {
        if self.pgn {
            if let Output::Pgn { game, pgn } = one.output {
                self.games.insert((one.board, game), pgn);
            }
        } else if self.json {
            if let Some(line) = told(&one.output) {
                print(format!("{}\n", with_place(&one, &line)));
            }
        } else {
            print(in_words(&one).unwrap_or_default());
        }
    }

    fn end(&self) {
        for pgn in self.games.values() {
            print(format!("{}\n\n", pgn.trim_end()));
        }
    }
}

fn with_place(one: &Replayed, line: &str) -> Value {
    let mut value: Value = serde_json::from_str(line).unwrap_or_default();
    if let Value::Object(object) = &mut value {
        object.insert("board".to_owned(), json!(one.board));
        object.insert("at_ms".to_owned(), json!(one.at));
        object.insert("ts".to_owned(), json!(label(one.wall)));
    }
    value
}

fn in_words(one: &Replayed) -> Option<String> {
    let seconds = one.at.0 as f64 / 1000.0;
    let head = format!("{seconds:>9.1} s  board {}  ", one.board);
    let words = match &one.output {
        Output::Ply(ply) => {
            let clock = ply.clock_s.map(|s| format!("  {}", clock_text(s)));
            let mark = if ply.irregular {
                "  (not a legal move)"
            } else {
                ""
            };
            format!("{}{}{mark}", ply.numbered(), clock.unwrap_or_default())
        }
        Output::Retract(retraction) => {
            format!("back to ply {}: {}", retraction.back_to, retraction.reason)
        }
        Output::Alert { change, alert } => {
            let (title, _) = describe(&alert.finding, Lang::En, Edition::E2023);
            let mark = match change {
                AlertChange::Raised => "ALERT",
                _ => "alert",
            };
            format!(
                "{mark} {:?}: {}: {title}  [{}]",
                alert.status,
                alert.move_text,
                alert.finding.code.as_str()
            )
        }
        _ => return None,
    };
    Some(format!("{head}{words}\n"))
}

//! Games to play: PGN files read into plies with their clock times.

use std::{io, ops::ControlFlow, path::Path};

use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position, fen::Fen};

/// One ply as the players will make it.
#[derive(Debug, Clone)]
pub struct PlannedPly {
    /// The move.
    pub mv: Move,
    /// As the file writes it, with check signs.
    pub san: String,
    /// `[%clk]`: seconds left to the mover after the press, increment included.
    pub clock_s: Option<u32>,
}

/// A whole game.
#[derive(Debug, Clone)]
pub struct PlannedGame {
    /// All tags, in the order of the file.
    pub tags: Vec<(String, String)>,
    /// Position before the first ply.
    pub start: Chess,
    /// Standard or Chess960.
    pub mode: CastlingMode,
    /// The plies.
    pub plies: Vec<PlannedPly>,
    /// The Result tag (`*` without one).
    pub result: String,
    /// The TimeControl tag (`?` without one).
    pub time_control: String,
}

impl PlannedGame {
    /// Value of a tag.
    #[must_use]
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(tag, _)| tag == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The FEN of the start position.
    #[must_use]
    pub fn start_fen(&self) -> String {
        Fen::from_position(&self.start, EnPassantMode::Legal).to_string()
    }
}

/// Why a file of games could not be read.
#[derive(Debug, thiserror::Error)]
pub enum GamesError {
    /// The file itself.
    #[error("{file}: {source}")]
    Io {
        /// Path as given.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A game in it.
    #[error("{file}: game {game}, ply {ply}: {what}")]
    Game {
        /// Path as given.
        file: String,
        /// Number of the game in the file, from 1.
        game: usize,
        /// Ply at fault, from 1; 0 for the tags.
        ply: usize,
        /// What is wrong.
        what: String,
    },
    /// Not one game with a move.
    #[error("{file}: no game in it")]
    Empty {
        /// Path as given.
        file: String,
    },
}

/// Reads all games of a PGN file. Games without a single move are left out.
pub fn read_games(path: &Path) -> Result<Vec<PlannedGame>, GamesError> {
    let file = path.display().to_string();
    let opened = std::fs::File::open(path);
    let opened = opened.map_err(|source| GamesError::Io {
        file: file.clone(),
        source,
    })?;
    parse_games(io::BufReader::new(opened), &file)
}

/// Reads all games of a PGN text; `file` is the name for error messages.
pub fn parse_games(text: impl io::Read, file: &str) -> Result<Vec<PlannedGame>, GamesError> {
    let mut reader = Reader::new(text);
    let mut games = Vec::new();
    let mut number = 0;
    loop {
        number += 1;
        match reader.read_game(&mut Collector) {
            Err(source) => {
                return Err(GamesError::Io {
                    file: file.to_owned(),
                    source,
                });
            }
            Ok(None) => break,
            Ok(Some(Err((ply, what)))) => {
                return Err(GamesError::Game {
                    file: file.to_owned(),
                    game: number,
                    ply,
                    what,
                });
            }
            Ok(Some(Ok(game))) if game.plies.is_empty() => {}
            Ok(Some(Ok(game))) => games.push(game),
        }
    }
    if games.is_empty() {
        return Err(GamesError::Empty {
            file: file.to_owned(),
        });
    }
    Ok(games)
}

type Read = Result<PlannedGame, (usize, String)>;

struct Collector;

impl Visitor for Collector {
    type Tags = Vec<(String, String)>;
    type Movetext = (PlannedGame, Chess);
    type Output = Read;

    fn begin_tags(&mut self) -> ControlFlow<Read, Self::Tags> {
        ControlFlow::Continue(Vec::new())
    }

    fn tag(&mut self, tags: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Read> {
        let name = String::from_utf8_lossy(name).into_owned();
        tags.push((name, value.decode_utf8_lossy().into_owned()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Read, Self::Movetext> {
        let tag = |name: &str| {
            let found = tags.iter().find(|(tag, _)| tag == name);
            found.map(|(_, value)| value.clone())
        };
        let mode = match tag("Variant") {
            Some(v) if v.to_ascii_lowercase().contains("960") => CastlingMode::Chess960,
            _ => CastlingMode::Standard,
        };
        let start = match tag("FEN") {
            None => Chess::default(),
            Some(text) => {
                let parsed = text.parse::<Fen>().map_err(|e| e.to_string());
                let placed = parsed
                    .and_then(|fen| fen.into_position::<Chess>(mode).map_err(|e| e.to_string()));
                match placed {
                    Ok(position) => position,
                    Err(e) => return ControlFlow::Break(Err((0, format!("FEN tag: {e}")))),
                }
            }
        };
        let game = PlannedGame {
            start: start.clone(),
            mode,
            plies: Vec::new(),
            result: tag("Result").unwrap_or_else(|| "*".to_owned()),
            time_control: tag("TimeControl").unwrap_or_else(|| "?".to_owned()),
            tags,
        };
        ControlFlow::Continue((game, start))
    }

    fn san(&mut self, (game, pos): &mut Self::Movetext, san: SanPlus) -> ControlFlow<Read> {
        match san.san.to_move(pos) {
            Ok(mv) => {
                pos.play_unchecked(mv);
                game.plies.push(PlannedPly {
                    mv,
                    san: san.to_string(),
                    clock_s: None,
                });
                ControlFlow::Continue(())
            }
            Err(e) => ControlFlow::Break(Err((game.plies.len() + 1, format!("{san}: {e}")))),
        }
    }

    fn comment(
        &mut self,
        (game, _): &mut Self::Movetext,
        comment: RawComment<'_>,
    ) -> ControlFlow<Read> {
        if let (Some(ply), Some(clock)) = (game.plies.last_mut(), clock_in(comment.as_bytes())) {
            ply.clock_s = Some(clock);
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (game, _): Self::Movetext) -> Read {
        Ok(game)
    }
}

/// The seconds of a `[%clk h:mm:ss]` in a comment; fractions are cut.
fn clock_in(comment: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(comment).ok()?;
    let rest = &text[text.find("[%clk")? + 5..];
    let digits = rest[..rest.find(']')?].trim();
    let mut seconds = 0_u32;
    for part in digits.split('.').next()?.split(':') {
        let part: u32 = part.trim().parse().ok()?;
        seconds = seconds.checked_mul(60)?.checked_add(part)?;
    }
    Some(seconds)
}

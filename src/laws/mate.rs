//! Whether a side can still mate by any series of legal moves (Articles 5.2.2, 6.9, 7.5.5), with
//! chasolver's search.

use std::str::FromStr;

use chasolver::Winnability;
use serde::Serialize;
use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, Position, fen::Fen, san::SanPlus, uci::UciMove,
};

use crate::words::Side;

/// An answer that is never guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// A line to mate is known.
    Yes,
    /// No series of legal moves ends in mate.
    No,
    /// The search ended before it knew.
    Unknown,
}

/// Whether a side can still mate, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CanMate {
    /// The answer.
    pub answer: Answer,
    /// Moves of both sides that end in mate, SAN; empty unless the answer is yes.
    pub line: Vec<String>,
}

impl CanMate {
    const fn without_line(answer: Answer) -> CanMate {
        CanMate {
            answer,
            line: Vec::new(),
        }
    }
}

/// Searches for a mate by `side` with the help of the other side. Takes milliseconds as a rule and
/// seconds in hostile positions (the search ends after 2^24 nodes), so never call it while a board
/// waits. A line is played through before it is believed.
pub fn can_mate(position: &Chess, side: Side) -> CanMate {
    if position.is_checkmate() {
        let mated = position.turn() == side;
        return CanMate::without_line(if mated { Answer::No } else { Answer::Yes });
    }
    if position.has_insufficient_material(side) || position.is_stalemate() {
        return CanMate::without_line(Answer::No);
    }
    let fen = Fen::from_position(position, EnPassantMode::Legal).to_string();
    // Castling of Chess960 is not known to the search; nor may a position be that cannot castle so.
    let standard = position.castles().mode() == CastlingMode::Standard;
    let Some(board) = chess::Board::from_str(&fen).ok().filter(|_| standard) else {
        return CanMate::without_line(Answer::Unknown);
    };
    let winner = side.fold_wb(chess::Color::White, chess::Color::Black);
    match chasolver::winnability(&board, winner) {
        Some(Winnability::Unwinnable) => CanMate::without_line(Answer::No),
        Some(Winnability::Winnable { helpmate }) => {
            let moves = helpmate.iter().map(ToString::to_string);
            played_to_mate(position, side, moves).map_or(
                CanMate::without_line(Answer::Unknown),
                |line| CanMate {
                    answer: Answer::Yes,
                    line,
                },
            )
        }
        None => CanMate::without_line(Answer::Unknown),
    }
}

fn played_to_mate(
    position: &Chess,
    side: Color,
    moves: impl Iterator<Item = String>,
) -> Option<Vec<String>> {
    let mut position = position.clone();
    let mut line = Vec::new();
    for uci in moves {
        let mv = uci.parse::<UciMove>().ok()?.to_move(&position).ok()?;
        line.push(SanPlus::from_move_and_play_unchecked(&mut position, mv).to_string());
    }
    (position.is_checkmate() && position.turn() != side).then_some(line)
}

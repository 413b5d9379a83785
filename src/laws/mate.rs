//! Whether a side can still mate by any series of legal moves (Articles 5.2.2, 6.9, 7.5.5), with
//! chasolver's search under a limit of its own: counted in nodes, so that the answer to a position
//! is the same on every machine and in every replay.

use std::str::FromStr;

use chasolver::Winnability;
use schemars::JsonSchema;
use serde::Serialize;
use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, Position, fen::Fen, san::SanPlus, uci::UciMove,
};

use crate::words::Side;

/// At a flag, a resignation, a second offence: 200 ms at most, a few of them as a rule.
const RULING_NODES: u64 = 400_000;
/// After every move, for each side: the two together stay under 1 ms.
const WATCH_NODES: u64 = 1_000;

/// An answer that is never guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
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

/// Searches for a mate by `side` with the help of the other side, for at most 200 ms. A line is
/// played through before it is believed.
pub fn can_mate(position: &Chess, side: Side) -> CanMate {
    if let Some(answer) = at_a_glance(position, side) {
        return CanMate::without_line(answer);
    }
    let Some(board) = board(position) else {
        return CanMate::without_line(Answer::Unknown);
    };
    match chasolver::winnability_within(&board, winner(side), RULING_NODES) {
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

/// Whether it is proven that `side` cannot mate, in half a millisecond at most: for every move of a
/// game. What it does not prove may still be so.
pub fn cannot_mate(position: &Chess, side: Side) -> bool {
    match at_a_glance(position, side) {
        Some(answer) => answer == Answer::No,
        None => board(position).is_some_and(|board| {
            chasolver::is_unwinnable_fast_within(&board, winner(side), WATCH_NODES)
        }),
    }
}

/// Mate comes before material: some composed mates have too little of it.
fn at_a_glance(position: &Chess, side: Side) -> Option<Answer> {
    if position.is_checkmate() {
        let mated = position.turn() == side;
        return Some(if mated { Answer::No } else { Answer::Yes });
    }
    let never = position.has_insufficient_material(side) || position.is_stalemate();
    never.then_some(Answer::No)
}

/// The position for the search, which does not know castling of Chess960.
fn board(position: &Chess) -> Option<chess::Board> {
    let standard = position.castles().mode() == CastlingMode::Standard;
    let fen = Fen::from_position(position, EnPassantMode::Legal).to_string();
    chess::Board::from_str(&fen).ok().filter(|_| standard)
}

fn winner(side: Side) -> chess::Color {
    side.fold_wb(chess::Color::White, chess::Color::Black)
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

//! A chess helpmate solver and unwinnability detector.
//!
//! Given a position and an intended winner, determines whether a helpmate is
//! achievable (a sequence of legal moves ending in checkmate by the intended
//! winner) or proves that none exists.
//!
//! Note that in a helpmate both players cooperate toward that goal: the
//! intended winner delivers checkmate, but not necessarily by force.
//!
//! This copy adds [`winnability_within`] and [`is_unwinnable_fast_within`]: the same
//! analyses under a limit on their work, in nodes.
//!
//! See the [README](https://github.com/miguel-ambrona/chasolver#readme) for
//! the background motivating this crate, and for usage examples.

mod budget;
mod deduction;
mod search;
mod utils;
mod winnability;

use budget::Budget;
use chess::{Board, ChessMove, Color};
use winnability::{fast, full};

/// Result of a [`winnability`] analysis for the intended winner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Winnability {
    /// Helpmate is achievable for the intended winner; `helpmate` is a
    /// possible sequence of moves leading to checkmate.
    Winnable { helpmate: Vec<ChessMove> },

    /// Helpmate is provably impossible for the intended winner.
    Unwinnable,
}

/// Full helpmate search for `intended_winner`.
///
/// Returns `Some` result if the analysis is successful:
/// - [`Winnability::Winnable`] if the position is winnable for the intended
///   winner, together with a supporting helpmate sequence.
///
/// - [`Winnability::Unwinnable`] if no helpmate exists.
///
/// Returns `None` if winnability could not be decided on this position.
pub fn winnability(board: &Board, intended_winner: Color) -> Option<Winnability> {
    winnability_within(board, intended_winner, u64::MAX)
}

/// [`winnability`] that gives up (`None`) after `nodes` units of work, all phases together.
///
/// A unit is about one move made and looked at; a static analysis counts as many. The same
/// position and limit always give the same answer, however fast the machine is.
pub fn winnability_within(
    board: &Board,
    intended_winner: Color,
    nodes: u64,
) -> Option<Winnability> {
    let budget = Budget::new(nodes);
    match intended_winner {
        Color::White => full::analysis(board, budget),
        Color::Black => {
            let flipped_board = utils::mirror_board(board);
            let result = full::analysis(&flipped_board, budget);
            result.map(utils::mirror_moves)
        }
    }
}

/// Fast but incomplete check for unwinnability; cheaper than [`winnability`]
/// when a mating line isn't needed.
///
/// Returns `true` if the position is provably unwinnable for `intended_winner`,
/// `false` if the analysis is inconclusive (the position may still be
/// unwinnable).
pub fn is_unwinnable_fast(board: &Board, intended_winner: Color) -> bool {
    is_unwinnable_fast_within(board, intended_winner, u64::MAX)
}

/// [`is_unwinnable_fast`] that gives up (`false`) after `nodes` units of work, as in
/// [`winnability_within`].
pub fn is_unwinnable_fast_within(board: &Board, intended_winner: Color, nodes: u64) -> bool {
    let budget = Budget::new(nodes);
    match intended_winner {
        Color::White => fast::is_unwinnable(board, budget),
        Color::Black => fast::is_unwinnable(&utils::mirror_board(board), budget),
    }
}

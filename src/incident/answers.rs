//! Answers given to commands, so that a repeat gets the first one again.

use std::collections::VecDeque;

use super::order::{Order, Refusal};

/// Answers remembered; a phone repeats within seconds, not after hundreds of commands.
const REMEMBERED: usize = 256;

/// The answer to one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Who asked.
    pub user: String,
    /// The sender's name for the command.
    pub transaction: Option<String>,
    /// Done, or why not.
    pub outcome: Result<(), Refusal>,
}

/// The last answers of one board.
#[derive(Debug, Clone, Default)]
pub struct Answers(VecDeque<Answer>);

impl Answers {
    /// The answer this command has had already.
    pub fn given(&self, order: &Order) -> Option<&Answer> {
        order.transaction.as_ref()?;
        let same =
            |answer: &&Answer| answer.user == order.user && answer.transaction == order.transaction;
        self.0.iter().find(same)
    }

    /// Keeps an answer; the oldest is forgotten when there are too many.
    pub fn keep(&mut self, answer: Answer) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(answer);
    }
}

//! What the demo adds up: alerts against the mishaps that were really played.

use std::{collections::HashMap, fmt::Write};

use super::Args;
use crate::{
    hall::Told,
    incident::{AlertChange, Level},
    monitor::Output,
    simulate::{Summary, Truth, TruthEvent},
    words::At,
};

/// A mishap played so shortly before the end may have its alert still to come, ms of play.
const TOO_LATE_MS: u64 = 5_000;
/// An alert belongs to a mishap when it is raised within this time, ms of play.
const BELONGS_MS: u64 = 10_000;

struct Raised {
    board: u16,
    code: &'static str,
    instead: Option<&'static str>,
    at: At,
    urgent: bool,
    claimed: bool,
}

/// The sums.
#[derive(Default)]
pub(super) struct Count {
    plies: u64,
    raised: Vec<Raised>,
    pressed: HashMap<String, At>,
    worst_ms: Option<u64>,
    arrived: usize,
}

impl Count {
    /// Takes note of what a monitor said.
    pub fn note(&mut self, told: &Told) {
        match &told.output {
            Output::Ply(_) => self.plies += 1,
            Output::Alert {
                change: AlertChange::Raised,
                alert,
            } => {
                if let Some(pressed) = alert.pressed {
                    self.pressed.insert(alert.id.clone(), pressed);
                }
                self.raised.push(Raised {
                    board: told.board.0,
                    code: alert.finding.code.as_str(),
                    instead: alert
                        .finding
                        .instead
                        .as_ref()
                        .map(|other| other.code.as_str()),
                    at: told.at,
                    urgent: alert.level == Level::Urgent,
                    claimed: false,
                });
            }
            _ => {}
        }
    }

    /// An alert reached the subscriber.
    pub fn arrived(&mut self, id: &str, now: At) {
        self.arrived += 1;
        if let Some(pressed) = self.pressed.get(id) {
            self.worst_ms = self.worst_ms.max(Some(now.ms_since(*pressed)));
        }
    }

    /// The last words of the demo.
    pub fn summary(mut self, args: &Args, truth: &str, ended: At, played: &Summary) -> String {
        let mut mishaps = 0;
        let mut missed = Vec::new();
        let truth = truth
            .lines()
            .filter_map(|line| serde_json::from_str::<Truth>(line).ok());
        for line in truth {
            let TruthEvent::Mishap { code, ply, .. } = &line.event else {
                continue;
            };
            if line.at_ms + TOO_LATE_MS > ended.0 {
                continue;
            }
            mishaps += 1;
            let alert = self.raised.iter_mut().find(|alert| {
                !alert.claimed
                    && alert.board == line.board
                    && (alert.code == code || alert.instead == Some(code))
                    && alert.at.0 + 1_000 >= line.at_ms
                    && alert.at.0 <= line.at_ms + BELONGS_MS
            });
            match alert {
                Some(alert) => alert.claimed = true,
                None => missed.push(format!("board {}, ply {ply}: {code}", line.board)),
            }
        }
        let late = At(ended.0.saturating_sub(TOO_LATE_MS));
        let unasked = self
            .raised
            .iter()
            .filter(|alert| alert.urgent && !alert.claimed && alert.at < late);
        let mut text = format!(
            "\nboards {}, games begun {}, plies {}\n\
             illegal moves played {mishaps}, caught with the right code {}, urgent alerts without one {}\n",
            args.boards,
            played.games,
            self.plies,
            mishaps - missed.len(),
            unasked.count(),
        );
        if let Some(worst) = self.worst_ms {
            let real = worst as f64 / args.speed / 1000.0;
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "worst time from the press to an alert at a subscriber: {:.2} s on the board's clock ({real:.3} s of yours)",
                worst as f64 / 1000.0,
            );
        }
        for one in missed {
            let _ = writeln!(text, "not caught: {one}");
        }
        text
    }
}

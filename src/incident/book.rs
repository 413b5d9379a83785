//! Opens, corrects and closes the alerts of one board.

use sha2::{Digest, Sha256};

use super::alert::{Alert, AlertChange, Status, Window};

/// The alerts of one board's running game.
#[derive(Debug, Clone, Default)]
pub struct Book {
    alerts: Vec<Alert>,
}

impl Book {
    /// Ids of alerts nobody has closed.
    pub fn open_ids(&self) -> Vec<String> {
        self.alerts
            .iter()
            .filter(|alert| alert.status == Status::Open)
            .map(|alert| alert.id.clone())
            .collect()
    }

    /// All alerts of the running game, closed ones too.
    pub fn alerts(&self) -> &[Alert] {
        &self.alerts
    }

    /// Takes in a new alert. `None` when the same fault is known already (same id).
    pub fn raise(&mut self, alert: Alert) -> Option<(AlertChange, Alert)> {
        if self.alerts.iter().any(|known| known.id == alert.id) {
            return None;
        }
        self.alerts.push(alert.clone());
        Some((AlertChange::Raised, alert))
    }

    /// The men of this ply were put right (Article 7.5.1).
    pub fn corrected(&mut self, ply: u16) -> Vec<(AlertChange, Alert)> {
        self.close(|alert| alert.ply == ply, Status::Corrected)
    }

    /// What a sensor might have shown wrongly is still there: the open findings of this ply are as
    /// urgent as their rows say.
    pub fn proved(&mut self, ply: u16) -> Vec<(AlertChange, Alert)> {
        let mut changed = Vec::new();
        for alert in &mut self.alerts {
            let level = alert.finding.level();
            if alert.ply == ply && alert.status == Status::Open && alert.level < level {
                alert.rev += 1;
                alert.level = level;
                changed.push((AlertChange::Updated, alert.clone()));
            }
        }
        changed
    }

    /// The game went on from this ply: where the reply closes the window (A.5.2, B.3) it stands.
    pub fn replied(&mut self, ply: u16) -> Vec<(AlertChange, Alert)> {
        self.close(
            |alert| alert.ply == ply && alert.window == Window::UntilReply,
            Status::Stands,
        )
    }

    /// The game is over and another begins: what is open stands (Article 7.5, manual).
    pub fn game_over(&mut self) -> Vec<(AlertChange, Alert)> {
        let closed = self.close(|_| true, Status::Stands);
        self.alerts.clear();
        closed
    }

    fn close(&mut self, of: impl Fn(&Alert) -> bool, status: Status) -> Vec<(AlertChange, Alert)> {
        self.alerts
            .iter_mut()
            .filter(|alert| alert.status == Status::Open && of(alert))
            .map(|alert| {
                alert.rev += 1;
                alert.status = status;
                alert.window = Window::Closed;
                (AlertChange::Resolved, alert.clone())
            })
            .collect()
    }
}

/// The id of a fault: the same fault found again after a crash has the same one (design.md 4.2).
pub fn alert_id(
    venue: &str,
    board: u16,
    game: &str,
    ply: u16,
    code: &str,
    placement: &str,
) -> String {
    let mut hash = Sha256::new();
    for part in [venue, game, &ply.to_string(), code, placement] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let digest = hash.finalize();
    let hex: String = digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("b{board}-{hex}")
}

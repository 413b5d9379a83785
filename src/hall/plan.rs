//! What the configuration asks of the boards. A reload brings a new one, and every board's watch
//! goes by the newest.

use std::sync::Arc;

use tokio::sync::watch;

use super::{
    Settings,
    pairings::{Pairings, PairingsError},
    settings::Variant,
};
use crate::{
    monitor,
    words::{BoardNo, TimeControl},
};

/// The configuration with the pairings it names.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The configuration.
    pub settings: Settings,
    /// Who plays where.
    pub pairings: Pairings,
}

/// The newest plan.
pub type Plans = watch::Receiver<Arc<Plan>>;

impl Plan {
    /// Reads the pairings that the settings name.
    ///
    /// # Errors
    /// When the file of pairings cannot be used.
    pub fn read(settings: &Settings) -> Result<Plan, PairingsError> {
        let file = settings.event.pairings.as_deref();
        let pairings = file.map(|file| Pairings::read(file, &settings.event.round));
        Ok(Plan {
            settings: settings.clone(),
            pairings: pairings.transpose()?.unwrap_or_default(),
        })
    }

    /// Says in the log what is odd about the pairings.
    pub fn tell_notes(&self) {
        if let Some(file) = &self.settings.event.pairings {
            for note in self.pairings.notes() {
                tracing::warn!("{}", note.at(file));
            }
        }
    }

    /// What the monitor of a board must know.
    pub fn of_board(&self, board: BoardNo) -> monitor::Settings {
        let settings = &self.settings;
        let event = &settings.event;
        let pairing = self.pairings.get(board);
        let control = event.time_control.as_ref();
        let mut named = settings.boards.iter();
        let named = named.find(|one| one.number == board.0);
        monitor::Settings {
            board: board.0,
            venue: settings.venue.id.clone(),
            event: event.name.clone(),
            site: event.site.clone().unwrap_or_else(|| "?".to_owned()),
            date: event.pgn_date(),
            round: event.round.clone(),
            white: pairing.map(|pair| pair.white.name.clone()),
            black: pairing.map(|pair| pair.black.name.clone()),
            time_control: control.map(ToString::to_string),
            increment_s: control.map_or(0, TimeControl::increment_s),
            regime: event.regime.name().to_owned(),
            rulings: event.rulings(),
            chess960: event.variant == Variant::Chess960,
            clock: named
                .map(|one| one.clock)
                .unwrap_or_default()
                .as_str()
                .to_owned(),
            escalate_ms: 1000 * settings.timing.escalate_seconds(event.regime),
            claim_ms: 1000 * settings.timing.claim_s,
            press_grace_ms: settings.timing.press_grace_ms,
            confirm_ms: settings.timing.confirm_ms,
            settle_ms: settings.timing.settle_ms,
            gesture_ms: settings.timing.gesture_ms,
            ..monitor::Settings::default()
        }
    }

    /// The same with what only a new start can change as it was in `running`; and the names of the
    /// keys for which that makes a difference.
    #[must_use]
    pub fn without_restart(mut self, running: &Settings) -> (Plan, Vec<&'static str>) {
        let new = &mut self.settings;
        let every_port = |settings: &Settings| settings.boards.is_empty();
        let changed = [
            ("venue.id", new.venue != running.venue),
            ("[mqtt]", new.mqtt != running.mqtt),
            ("[broker]", new.broker != running.broker),
            ("[web]", new.web != running.web),
            ("[phones]", new.phones != running.phones),
            ("[[ntfy]]", new.ntfy != running.ntfy),
            ("[metrics]", new.metrics != running.metrics),
            ("journal.dir", new.journal != running.journal),
            ("ports.search", new.ports != running.ports),
            ("[[board]]", every_port(new) != every_port(running)),
        ];
        let changed = changed.into_iter().filter(|(_, changed)| *changed);
        let changed = changed.map(|(key, _)| key).collect();
        new.venue.clone_from(&running.venue);
        new.mqtt.clone_from(&running.mqtt);
        new.broker.clone_from(&running.broker);
        new.web.clone_from(&running.web);
        new.phones.clone_from(&running.phones);
        new.ntfy.clone_from(&running.ntfy);
        new.metrics.clone_from(&running.metrics);
        new.journal.clone_from(&running.journal);
        new.ports.clone_from(&running.ports);
        if every_port(new) != every_port(running) {
            new.boards.clone_from(&running.boards);
        }
        (self, changed)
    }
}

//! One place in the program that has much to say must not drown what others say, nor fill the disk: a
//! hub that loses its power tells of every board at once.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tracing::{Event, Level, Metadata};
use tracing_subscriber::layer::{Context, Filter};

/// Lines of one place that go out at once.
const BURST: f64 = 200.0;
/// Lines a second that it may go on with.
const RATE: f64 = 2.0;

/// A place that logs: file and line.
type Place = (&'static str, u32);

/// Lines of each place.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<HashMap<Place, Flow>>);

#[derive(Debug)]
struct Flow {
    /// Lines that may go out now.
    room: f64,
    seen: Instant,
    left_out: u64,
}

impl Throttle {
    /// Whether a line may go out now; counts it if not.
    fn admits(&self, place: Place, now: Instant) -> bool {
        let mut places = self.places();
        let flow = places.entry(place).or_insert(Flow {
            room: BURST,
            seen: now,
            left_out: 0,
        });
        let passed = now.saturating_duration_since(flow.seen).as_secs_f64();
        flow.room = (flow.room + passed * RATE).min(BURST);
        flow.seen = now;
        if flow.room < 1.0 {
            flow.left_out += 1;
            return false;
        }
        flow.room -= 1.0;
        true
    }

    /// Which places were cut short since the last call, and by how many lines.
    pub(super) fn take_left_out(&self) -> Vec<(String, u64)> {
        let mut places = self.places();
        let cut = places.iter_mut().filter(|(_, flow)| flow.left_out > 0);
        cut.map(|((file, line), flow)| {
            let lines = std::mem::take(&mut flow.left_out);
            (format!("{file}:{line}"), lines)
        })
        .collect()
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Place, Flow>> {
        // A thread that panicked left the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Filter<S> for &'static Throttle {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        let about = event.metadata();
        // Who asks for details wants them all.
        if *about.level() > Level::INFO {
            return true;
        }
        #[expect(clippy::disallowed_methods, reason = "it times its own lines")]
        let now = Instant::now();
        let file = about.file().unwrap_or(about.target());
        self.admits((file, about.line().unwrap_or(0)), now)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a moment to begin with")]
    fn a_flood_is_cut_and_counted_and_others_are_heard() {
        let throttle = Throttle::default();
        let start = Instant::now();
        let (flood, other) = (("watch.rs", 7), ("serve.rs", 7));
        let out = |place, now| usize::from(throttle.admits(place, now));
        let first: usize = (0..1_000).map(|_| out(flood, start)).sum();
        assert_eq!(first, 200);
        assert_eq!(out(other, start), 1);
        let later = start + Duration::from_secs(10);
        let second: usize = (0..1_000).map(|_| out(flood, later)).sum();
        assert_eq!(second, 20);
        let left_out = throttle.take_left_out();
        assert_eq!(left_out, [("watch.rs:7".to_owned(), 1_780)]);
        assert!(throttle.take_left_out().is_empty());
    }
}

//! The only place that reads clocks. Everybody else is told the time.
#![expect(clippy::disallowed_methods, reason = "somebody must")]

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::words::At;

/// The clock of one run of the daemon. Copies agree with each other.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
    /// The moment of `start`.
    first: At,
    speed: f64,
}

impl Clock {
    /// Starts now, at the speed of the world.
    pub fn new() -> Clock {
        Clock::scaled(1.0)
    }

    /// Starts now and runs `speed` times as fast, for virtual boards that do. A speed that is not
    /// above zero counts as 1.
    pub fn scaled(speed: f64) -> Clock {
        let sound = speed.is_finite() && speed > 0.0;
        Clock {
            start: Instant::now(),
            first: At(0),
            speed: if sound { speed } else { 1.0 },
        }
    }

    /// The same clock, going on from a moment that an earlier run had reached.
    #[must_use]
    pub fn behind(self, last: At) -> Clock {
        Clock {
            first: last.plus_ms(1),
            ..self
        }
    }

    /// Milliseconds since the start (of the first run, if there were some), as the core is told.
    pub fn at(&self) -> At {
        let real = self.start.elapsed();
        if self.speed == 1.0 {
            let real = u64::try_from(real.as_millis()).unwrap_or(u64::MAX);
            return self.first.plus_ms(real);
        }
        let scaled = real.as_secs_f64() * 1000.0 * self.speed;
        self.first.plus_ms(scaled as u64)
    }

    /// The wall clock, for labels only: it may jump.
    pub fn wall(&self) -> Timestamp {
        Timestamp::now()
    }

    /// When to wake for this moment: never before [`Clock::at`] has reached it.
    pub fn instant_of(&self, at: At) -> Instant {
        let since = at.ms_since(self.first);
        let real = if self.speed == 1.0 {
            Duration::from_millis(since)
        } else {
            // A millisecond on top makes up for rounding down.
            let seconds = since as f64 / 1000.0 / self.speed + 0.001;
            Duration::try_from_secs_f64(seconds).unwrap_or(FAR)
        };
        let far = self.start + FAR;
        self.start.checked_add(real).unwrap_or(far).min(far)
    }
}

/// How long a piece of work takes.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Stopwatch {
        Stopwatch(std::time::Instant::now())
    }

    /// Seconds since the start.
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Timers beyond this are not set; whoever wakes looks again.
const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Default for Clock {
    fn default() -> Clock {
        Clock::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_timer_never_wakes_before_its_moment() {
        for speed in [0.5, 1.0, 33.3] {
            let clock = Clock::scaled(speed);
            tokio::time::sleep_until(clock.instant_of(At(20))).await;
            assert!(clock.at() >= At(20), "{speed}");
        }
    }

    #[test]
    fn far_moments_and_odd_speeds_do_no_harm() {
        let clock = Clock::scaled(f64::NAN);
        assert!(clock.instant_of(At(u64::MAX)) > clock.instant_of(At(1)));
        assert!(Clock::scaled(1e-300).instant_of(At(u64::MAX)) > clock.instant_of(At(0)));
    }
}

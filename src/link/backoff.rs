//! Waiting between two attempts to open a port.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);

/// Doubles from 100 ms to 2 s. The wait drawn lies between half and all of the step: boards
/// behind one hub come back together and should not knock together.
#[derive(Debug)]
pub(super) struct Backoff(Duration);

impl Backoff {
    pub(super) const fn new() -> Backoff {
        Backoff(FIRST)
    }

    pub(super) const fn reset(&mut self) {
        self.0 = FIRST;
    }

    pub(super) fn next(&mut self) -> Duration {
        let step = self.0;
        self.0 = (step * 2).min(LONGEST);
        step.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_to_two_seconds_and_starts_over() {
        let mut backoff = Backoff::new();
        for step in [100, 200, 400, 800, 1600, 2000, 2000] {
            let drawn = backoff.next();
            assert!(drawn >= Duration::from_millis(step / 2));
            assert!(drawn <= Duration::from_millis(step));
        }
        backoff.reset();
        assert!(backoff.next() <= FIRST);
    }
}

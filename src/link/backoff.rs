//! Waiting between two attempts to open a port, and for an open port to answer.

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

const FIRST_PATIENCE: Duration = Duration::from_secs(20);
const LONGEST_PATIENCE: Duration = Duration::from_secs(320);

/// How long an open port may answer nothing. Doubles from 20 s to 320 s: behind a good port a board may
/// be switched off all night.
#[derive(Debug)]
pub(super) struct Patience(Duration);

impl Patience {
    pub(super) const fn new() -> Patience {
        Patience(FIRST_PATIENCE)
    }

    pub(super) const fn long(&self) -> Duration {
        self.0
    }

    pub(super) const fn reset(&mut self) {
        self.0 = FIRST_PATIENCE;
    }

    pub(super) fn lengthen(&mut self) {
        self.0 = (self.0 * 2).min(LONGEST_PATIENCE);
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

    #[test]
    fn patience_doubles_while_nothing_answers() {
        let mut patience = Patience::new();
        for seconds in [20, 40, 80, 160, 320, 320] {
            assert_eq!(patience.long(), Duration::from_secs(seconds));
            patience.lengthen();
        }
        patience.reset();
        assert_eq!(patience.long(), FIRST_PATIENCE);
    }
}

//! How much work an analysis may still do. Counted, never timed, so that an answer does not depend
//! on the machine.

/// What one saturation of the static analysis costs: it takes as long as looking at so many moves.
pub(crate) const STATIC: u64 = 300;

/// The units of work that are left.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    pub(crate) fn new(units: u64) -> Self {
        Self { left: units }
    }

    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Pays for `units` of work; `false` when they are not there, and then nothing is left.
    pub(crate) fn spend(&mut self, units: u64) -> bool {
        let enough = self.left >= units;
        self.left = self.left.saturating_sub(units);
        enough
    }
}

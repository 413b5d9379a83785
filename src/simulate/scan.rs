//! The board's scan: squares are read one after another, a pass takes 200 to 250 ms
//! (protocol section 6.5), so a change is seen when the scan next comes by its square.

/// Physical men and what the scan has seen of them, as piece codes by physical square.
#[derive(Debug)]
pub struct Scan {
    men: [u8; 64],
    seen: [u8; 64],
    pass_ms: u64,
    /// Squares to look at, with the moment the scan passes them.
    due: Vec<(u64, u8)>,
}

impl Scan {
    /// An empty board with a pass of so many ms.
    #[must_use]
    pub const fn new(pass_ms: u64) -> Scan {
        Scan {
            men: [0; 64],
            seen: [0; 64],
            pass_ms,
            due: Vec::new(),
        }
    }

    /// Length of a pass in ms.
    #[must_use]
    pub const fn pass_ms(&self) -> u64 {
        self.pass_ms
    }

    /// What the board would dump now.
    #[must_use]
    pub const fn seen(&self) -> &[u8; 64] {
        &self.seen
    }

    /// A hand changed a square; the scan sees it at its next visit, `blind_ms` later at least.
    pub fn put(&mut self, square: u8, code: u8, now_ms: u64, blind_ms: u64) {
        self.men[usize::from(square & 63)] = code;
        let phase = u64::from(square) * self.pass_ms / 64;
        let from = now_ms + blind_ms;
        let behind = (from + self.pass_ms - phase) % self.pass_ms;
        let visit = if behind == 0 {
            from
        } else {
            from + self.pass_ms - behind
        };
        self.due.push((visit, square & 63));
    }

    /// When the scan next passes a square that was touched.
    #[must_use]
    pub fn next(&self) -> Option<u64> {
        self.due.iter().map(|due| due.0).min()
    }

    /// The next change seen at or before `now_ms`: square and new code.
    pub fn look(&mut self, now_ms: u64) -> Option<(u8, u8)> {
        loop {
            let at = self.next().filter(|at| *at <= now_ms)?;
            let first = self.due.iter().position(|due| due.0 == at)?;
            let (_, square) = self.due.remove(first);
            let i = usize::from(square);
            if self.men[i] != self.seen[i] {
                self.seen[i] = self.men[i];
                return Some((square, self.seen[i]));
            }
        }
    }
}

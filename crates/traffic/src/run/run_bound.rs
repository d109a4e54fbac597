//! The bound of all runs of a reading.

use super::transmission_run::FINEST;

/// Most runs of all lines together, a bound on memory (30 MB): an hour and a half of a steady transfer. More than that makes runs twice as
/// long.
const MOST_RUNS: usize = 1 << 18;

/// Counts runs, and says how long they may be.
#[derive(Debug)]
pub(crate) struct RunBound {
    count: usize,
    width: i64,
}

impl Default for RunBound {
    fn default() -> Self {
        RunBound {
            count: 0,
            width: FINEST,
        }
    }
}

impl RunBound {
    /// Longest run that may be made now, nanoseconds.
    pub(crate) fn width(&self) -> i64 {
        self.width
    }

    /// Takes the new number of runs of a line.
    #[inline]
    pub(crate) fn count(&mut self, before: usize, now: usize) {
        self.count = self.count + now - before;
    }

    /// Tells whether there are too many runs.
    #[inline]
    pub(crate) fn is_reached(&self) -> bool {
        self.count > MOST_RUNS
    }

    /// Doubles the width until half of the room is free. `coarsen` joins what a width allows, and gives the number of runs that are left.
    #[cold]
    pub(crate) fn make_room(&mut self, mut coarsen: impl FnMut(i64) -> usize) {
        while self.count > MOST_RUNS / 2 {
            self.width *= 2;
            self.count = coarsen(self.width);
        }
    }
}

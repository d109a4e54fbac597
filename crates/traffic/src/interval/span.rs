//! The one type for a stretch of time.

use super::standstill::Standstill;
use rekeyscope_model::time::Timestamp;

/// A stretch of time, and the facts of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval<F = Standstill> {
    /// Begin of the stretch.
    pub from: Timestamp,
    /// End of the stretch.
    pub to: Timestamp,
    /// Facts of the stretch.
    pub facts: F,
}

impl<F> Interval<F> {
    /// Length of the stretch, nanoseconds.
    pub fn nanos(&self) -> i64 {
        self.to.nanos_since(self.from)
    }

    /// Begin and end of the stretch.
    pub fn span(&self) -> (Timestamp, Timestamp) {
        (self.from, self.to)
    }

    /// Whether the stretch has a moment in common with another one.
    pub fn touches(&self, (from, to): (Timestamp, Timestamp)) -> bool {
        self.from <= to && from <= self.to
    }

    /// The part of the stretch that lies in another one, if any does.
    pub fn within(self, (from, to): (Timestamp, Timestamp)) -> Option<Self> {
        let part = Interval {
            from: self.from.max(from),
            to: self.to.min(to),
            facts: self.facts,
        };
        (part.from < part.to).then_some(part)
    }
}

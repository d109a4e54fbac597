//! The longest gaps between packets.

use rekeyscope_model::time::Timestamp;
use std::cmp::Reverse;

/// A gap.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordedGap {
    pub(super) from: Timestamp,
    /// Nanoseconds.
    length: i64,
}

impl RecordedGap {
    pub(super) fn to(&self) -> Timestamp {
        self.from.plus_nanos(self.length)
    }
}

/// The longest first; of equal ones the earlier.
fn order(gap: &RecordedGap) -> (Reverse<i64>, Timestamp) {
    (Reverse(gap.length), gap.from)
}

/// Remembers the longest gaps, at most `limit` of them. A list that is thinned out now and then instead of a heap: most packets
/// touch nothing but the threshold.
#[derive(Debug)]
pub(super) struct GapRecorder {
    /// The longest, and those that came since they were chosen: at most a quarter as many.
    kept: Vec<RecordedGap>,
    /// A gap that is no longer than this is none of the longest.
    threshold: i64,
    limit: usize,
    latest: Option<Timestamp>,
}

impl GapRecorder {
    pub(super) fn new(limit: usize) -> Self {
        GapRecorder {
            kept: Vec::new(),
            threshold: -1,
            limit,
            latest: None,
        }
    }

    /// A packet that counts. One that is earlier than its predecessors ends no gap.
    pub(super) fn record(&mut self, time: Timestamp) {
        let Some(latest) = self.latest else {
            self.latest = Some(time);
            return;
        };
        let length = time.nanos_since(latest);
        if length < 0 {
            return;
        }
        self.latest = Some(time);
        if length > self.threshold {
            self.kept.push(RecordedGap { from: latest, length });
            if self.kept.len() > self.limit + self.limit / 4 {
                self.choose();
            }
        }
    }

    /// Keeps the longest only.
    fn choose(&mut self) {
        if self.kept.len() <= self.limit {
            return;
        }
        self.threshold = match self.limit.checked_sub(1) {
            Some(last) => self.kept.select_nth_unstable_by_key(last, order).1.length,
            None => i64::MAX,
        };
        self.kept.truncate(self.limit);
    }

    /// The next packet begins a part that was captured earlier: no silence lies between it and the last one.
    pub(super) fn begin_earlier_part(&mut self) {
        self.latest = None;
    }

    /// Keeps the longer half and does not grow again.
    pub(super) fn halve(&mut self) {
        self.limit = self.kept.len().min(self.limit) / 2;
        self.choose();
        self.kept.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// The longest, in order of their begin; of those that begin together the longer first.
    pub(super) fn in_order(&self) -> Vec<RecordedGap> {
        let mut gaps = self.kept.clone();
        if let Some(last) = self.limit.checked_sub(1).filter(|_| self.limit < gaps.len()) {
            gaps.select_nth_unstable_by_key(last, order);
        }
        gaps.truncate(self.limit);
        // Stable, as it knows stretches that are in order: most are.
        gaps.sort_by_key(|gap| (gap.from, Reverse(gap.length)));
        gaps
    }
}

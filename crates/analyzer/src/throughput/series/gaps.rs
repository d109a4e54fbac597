//! The longest gaps between packets that carry new data.

use rekeyscope_impact::Gap;
use rekeyscope_model::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Length and start in nanoseconds: ordered by length.
type Stored = (i64, i64);

/// Remembers the longest gaps, at most `limit` of them.
#[derive(Debug)]
pub(super) struct GapRecorder {
    /// Shortest on top.
    longest: BinaryHeap<Reverse<Stored>>,
    limit: usize,
    latest: Option<Timestamp>,
    total: u64,
}

impl GapRecorder {
    pub(super) fn new(limit: usize) -> Self {
        GapRecorder {
            longest: BinaryHeap::new(),
            limit,
            latest: None,
            total: 0,
        }
    }

    /// A packet with new data. One that is earlier than its predecessors ends no gap.
    pub(super) fn record(&mut self, time: Timestamp) {
        let Some(latest) = self.latest else {
            self.latest = Some(time);
            return;
        };
        self.total = self.total.saturating_add(1);
        let length = time.nanos_since(latest);
        if length < 0 {
            return;
        }
        self.latest = Some(time);
        if self.longest.len() < self.limit {
            self.longest.push(Reverse((length, latest.0)));
        } else if let Some(mut shortest) = self.longest.peek_mut()
            && shortest.0.0 < length
        {
            *shortest = Reverse((length, latest.0));
        }
    }

    /// The next packet begins a part that was captured earlier: no silence lies between it and the last one.
    pub(super) fn begin_earlier_part(&mut self) {
        self.latest = None;
    }

    /// Keeps the longer half and does not grow again.
    pub(super) fn halve(&mut self) {
        self.limit = self.longest.len() / 2;
        while self.longest.len() > self.limit {
            self.longest.pop();
        }
        self.longest.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.longest.len()
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Longest first, in seconds from `start`.
    pub(super) fn gaps(&self, start: Timestamp) -> Vec<Gap> {
        let mut gaps: Vec<Stored> = self.longest.iter().map(|gap| gap.0).collect();
        gaps.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        gaps.into_iter()
            .map(|(length, from)| Gap {
                start_s: Timestamp(from).seconds_since(start),
                end_s: Timestamp(from).plus_nanos(length).seconds_since(start),
            })
            .collect()
    }
}

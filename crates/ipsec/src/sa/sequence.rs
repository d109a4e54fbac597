//! Sequence numbers of one SA (RFC 4303 §2.2): loss, duplicates and reordering, in constant memory.

use rekeyscope_model::analysis::Sequence;

/// Tracker of one SA.
#[derive(Debug, Clone, Default)]
pub struct SequenceTracker {
    first: Option<u64>,
    lowest: u64,
    highest: u64,
    distinct: u64,
    duplicates: u64,
    reordered: u64,
}

impl SequenceTracker {
    /// Takes the number of one packet. `used`: an earlier packet had it ([`crate::sa::seen`]).
    pub fn observe(&mut self, number: u64, used: bool) {
        if self.first.is_none() {
            self.first = Some(number);
            (self.lowest, self.highest) = (number, number);
        } else if used {
            return self.count_duplicate();
        }
        self.distinct += 1;
        self.reordered += u64::from(number < self.highest);
        self.lowest = self.lowest.min(number);
        self.highest = self.highest.max(number);
    }

    /// Counts a packet whose number was there before.
    pub fn count_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// Numbers from 1 up to the lowest one that was seen.
    pub fn missing_at_start(&self) -> u64 {
        self.first.map_or(0, |_| self.lowest.saturating_sub(1))
    }

    /// The number of the first packet.
    pub fn first(&self) -> Option<u64> {
        self.first
    }

    /// The highest number so far.
    pub fn highest(&self) -> Option<u64> {
        self.first.map(|_| self.highest)
    }

    /// The tracker's part of the document.
    pub fn summary(&self) -> Sequence {
        let span = match self.first {
            Some(_) => (self.highest - self.lowest).saturating_add(1),
            None => 0,
        };
        Sequence {
            first: self.first,
            last: self.highest(),
            missing: span.saturating_sub(self.distinct),
            duplicates: self.duplicates,
            reordered: self.reordered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn tracked(numbers: &[u64]) -> Sequence {
        let (mut tracker, mut set) = (SequenceTracker::default(), HashSet::new());
        for &number in numbers {
            tracker.observe(number, !set.insert(number));
        }
        tracker.summary()
    }

    #[test]
    fn starting_at_two_is_no_loss() {
        let s = tracked(&(2..100).collect::<Vec<_>>());
        assert_eq!(
            (s.first, s.last, s.missing, s.duplicates, s.reordered),
            (Some(2), Some(99), 0, 0, 0)
        );
    }

    #[test]
    fn tells_a_late_number_from_a_repeated_one() {
        let s = tracked(&[1, 2, 2, 4, 3, 3]);
        assert_eq!((s.missing, s.duplicates, s.reordered), (0, 2, 1));
    }

    proptest! {
        #[test]
        fn survives_any_number(numbers in proptest::collection::vec(any::<u64>(), 1..50)) {
            tracked(&numbers);
        }
    }
}

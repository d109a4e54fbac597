//! Sequence numbers of one SA (RFC 4303 §2.2): loss, duplicates and reordering, in constant memory.

use rekeyscope_model::analysis::Sequence;

/// Numbers behind the highest one that are remembered, in bits. A number further behind cannot be told from a
/// duplicate; it counts as reordered. Far beyond the replay windows in use (32 to 4,096).
const WINDOW: u64 = 16_384;
/// Numbers that are remembered of an SA while all of its own are closer together: of a flood of SAs with a few packets each.
const FEW: u64 = 512;

/// Tracker of one SA.
#[derive(Debug, Clone, Default)]
pub struct SequenceTracker {
    first: Option<u64>,
    lowest: u64,
    highest: u64,
    distinct: u64,
    duplicates: u64,
    reordered: u64,
    /// A ring of bits, by number: of [`FEW`] numbers or of [`WINDOW`], and empty up to the second packet.
    seen: Vec<u64>,
}

impl SequenceTracker {
    /// Takes the number of one packet. Whether a packet whose number was there before is the very same one is told by [`crate::sa::seen`].
    pub fn observe(&mut self, number: u64) {
        if self.first.is_none() {
            self.first = Some(number);
            self.lowest = number;
            self.highest = number;
            self.distinct = 1;
            return;
        }
        if number > self.highest {
            self.make_room(number);
            self.clear_between(self.highest, number);
            self.highest = number;
            self.distinct += 1;
            self.mark(number);
            return;
        }
        let behind = self.highest - number;
        if behind < WINDOW {
            self.make_room(number);
        }
        if behind < WINDOW && self.is_marked(number) {
            self.duplicates += 1;
            return;
        }
        self.reordered += 1;
        self.distinct += 1;
        self.lowest = self.lowest.min(number);
        if behind < WINDOW {
            self.mark(number);
        }
    }

    /// A ring that holds `number` beside all that are remembered.
    fn make_room(&mut self, number: u64) {
        let span = self.highest.max(number) - self.lowest.min(number);
        let wanted = if span < FEW { FEW } else { WINDOW };
        if self.seen.len() as u64 * 64 >= wanted {
            return;
        }
        let before = std::mem::replace(&mut self.seen, vec![0; (wanted / 64) as usize]);
        if before.is_empty() {
            self.mark(self.highest);
        }
        for number in self.highest.saturating_sub(FEW - 1)..=self.highest {
            let at = number % FEW;
            if before
                .get((at / 64) as usize)
                .is_some_and(|word| word & (1 << (at % 64)) != 0)
            {
                self.mark(number);
            }
        }
    }

    /// Word and bit of a number.
    fn place_of(&self, number: u64) -> (usize, u64) {
        let at = number % (self.seen.len().max(1) as u64 * 64);
        ((at / 64) as usize, 1 << (at % 64))
    }

    fn mark(&mut self, number: u64) {
        let (word, bit) = self.place_of(number);
        if let Some(word) = self.seen.get_mut(word) {
            *word |= bit;
        }
    }

    fn is_marked(&self, number: u64) -> bool {
        let (word, bit) = self.place_of(number);
        self.seen.get(word).is_some_and(|word| word & bit != 0)
    }

    fn clear_between(&mut self, after: u64, until: u64) {
        if until - after >= self.seen.len() as u64 * 64 {
            self.seen.fill(0);
            return;
        }
        for number in after + 1..=until {
            let (word, bit) = self.place_of(number);
            if let Some(word) = self.seen.get_mut(word) {
                *word &= !bit;
            }
        }
    }

    /// Counts a packet that was there before, known by other means than this window.
    pub fn count_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// Numbers from 1 up to the lowest one that was seen.
    pub fn missing_at_start(&self) -> u64 {
        self.first.map_or(0, |_| self.lowest.saturating_sub(1))
    }

    /// The highest number so far.
    pub fn highest(&self) -> Option<u64> {
        self.first.map(|_| self.highest)
    }

    /// For the document.
    pub fn summary(&self) -> Sequence {
        let span = match self.first {
            Some(_) => self.highest - self.lowest + 1,
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

    #[test]
    fn starting_at_two_is_no_loss() {
        let mut t = SequenceTracker::default();
        (2..100).for_each(|n| t.observe(n));
        let s = t.summary();
        assert_eq!(
            (s.first, s.last, s.missing, s.duplicates, s.reordered),
            (Some(2), Some(99), 0, 0, 0)
        );
    }

    #[test]
    fn tells_a_late_number_from_a_repeated_one() {
        let mut t = SequenceTracker::default();
        [1, 2, 2, 4, 3, 3].into_iter().for_each(|n| t.observe(n));
        let s = t.summary();
        assert_eq!((s.missing, s.duplicates, s.reordered), (0, 2, 1));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set(numbers in proptest::collection::vec(0u64..5_000, 1..400)) {
            let mut t = SequenceTracker::default();
            let mut set = HashSet::new();
            for &n in &numbers {
                t.observe(n);
                set.insert(n);
            }
            let low = *numbers.iter().min().unwrap();
            let high = *numbers.iter().max().unwrap();
            let s = t.summary();
            prop_assert_eq!(s.missing, high - low + 1 - set.len() as u64);
            prop_assert_eq!(s.duplicates, numbers.len() as u64 - set.len() as u64);
        }

        /// Whether the ring was small before or not.
        #[test]
        fn a_ring_that_grows_forgets_nothing(close in proptest::collection::vec(0u64..500, 1..60), far in 0u64..20_000) {
            let mut t = SequenceTracker::default();
            for &n in &close {
                t.observe(n);
            }
            t.observe(far);
            let highest = close.iter().copied().max().unwrap().max(far);
            let before = t.summary().duplicates;
            let within: Vec<u64> = close.into_iter().filter(|n| highest - n < WINDOW).collect();
            within.iter().for_each(|n| t.observe(*n));
            prop_assert_eq!(t.summary().duplicates, before + within.len() as u64);
        }

        #[test]
        fn survives_any_number(numbers in proptest::collection::vec(any::<u64>(), 1..50)) {
            let mut t = SequenceTracker::default();
            for &n in &numbers {
                t.observe(n);
            }
            t.summary();
        }
    }
}

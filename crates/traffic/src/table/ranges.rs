//! Ranges of numbers, ascending and apart from each other.

/// Most ranges that are kept; at the bound the lowest is forgotten.
const MOST_RANGES: usize = 256;

/// A set of numbers as ranges, at most 256 of them; at the bound the lowest is forgotten.
#[derive(Debug, Default, Clone)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds a range. Gives those of its parts that were not there, through `new`.
    pub fn add(&mut self, start: u64, end: u64, mut new: impl FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        // All that overlap it, or touch it.
        let from = self.0.partition_point(|range| range.1 < start);
        let to = self.0.partition_point(|range| range.0 <= end);
        let (mut at, mut merged) = (start, (start, end));
        for &(left, right) in self.0.get(from..to).unwrap_or_default() {
            if at < left.min(end) {
                new(at, left.min(end));
            }
            at = at.max(right);
            merged = (merged.0.min(left), merged.1.max(right));
        }
        if at < end {
            new(at, end);
        }
        self.0.splice(from..to, [merged]);
        if self.0.len() > MOST_RANGES {
            self.0.remove(0);
        }
    }

    /// Forgets what lies below.
    pub(crate) fn forget_below(&mut self, bound: u64) {
        let gone = self.0.partition_point(|range| range.1 <= bound);
        if gone > 0 {
            self.0.drain(..gone);
        }
    }

    /// The range that a number lies in: its first number, and the one behind its last.
    pub fn around(&self, number: u64) -> Option<(u64, u64)> {
        let at = self.0.partition_point(|range| range.1 <= number);
        self.0.get(at).copied().filter(|range| range.0 <= number)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of them.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().map(|(from, to)| to - from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_set(list in proptest::collection::vec((0_u64..200, 0_u64..30), 0..60)) {
            let (mut ranges, mut set) = (Ranges::default(), std::collections::BTreeSet::new());
            for (start, len) in list {
                let mut new = Vec::new();
                ranges.add(start, start + len, |from, to| new.extend(from..to));
                let expected: Vec<u64> = (start..start + len).filter(|n| set.insert(*n)).collect();
                prop_assert_eq!(new, expected);
                prop_assert_eq!(ranges.total(), set.len() as u64);
            }
            for number in 0..240 {
                prop_assert_eq!(ranges.around(number).is_some(), set.contains(&number));
            }
        }
    }
}

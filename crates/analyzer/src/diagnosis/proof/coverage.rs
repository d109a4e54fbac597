//! Which bytes of a stream are sent at some later time.

use std::collections::BTreeMap;

/// Most separate ranges that are remembered of one stream; what would make one more is forgotten, and proves nothing.
const MOST_RANGES: usize = 1 << 12;

/// Ranges of bytes, disjoint: begin → end.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    ranges: BTreeMap<i64, i64>,
}

impl Coverage {
    /// Every byte of [from, to) is in it.
    pub(crate) fn holds(&self, from: i64, to: i64) -> bool {
        let before = self.ranges.range(..=from).next_back();
        before.is_some_and(|(_, &end)| end >= to)
    }

    pub(crate) fn add(&mut self, from: i64, to: i64) {
        let (mut begin, mut end) = (from, to);
        while let Some((&other, &its_end)) = self.ranges.range(..=end).next_back() {
            if its_end < begin {
                break;
            }
            (begin, end) = (begin.min(other), end.max(its_end));
            self.ranges.remove(&other);
        }
        if self.ranges.len() < MOST_RANGES {
            self.ranges.insert(begin, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn agrees_with_a_set(list in proptest::collection::vec((0_i64..200, 1_i64..30), 1..60)) {
            let mut coverage = Coverage::default();
            let mut set = HashSet::new();
            for &(from, len) in &list {
                prop_assert_eq!(coverage.holds(from, from + len), (from..from + len).all(|b| set.contains(&b)));
                coverage.add(from, from + len);
                set.extend(from..from + len);
            }
        }
    }
}

//! Which bytes of a stream are sent at some later time.

use std::collections::BTreeMap;

/// Most separate ranges that are remembered of one stream; what would make one more is forgotten, and proves nothing.
const MOST_RANGES: usize = 1 << 12;

/// Ranges of bytes, disjoint and apart.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// The one that was added to last: nearly every segment touches the one that was looked at before it.
    last: Option<(i64, i64)>,
    /// The others: begin → end.
    others: BTreeMap<i64, i64>,
}

impl Coverage {
    /// Every byte of [from, to) is in it.
    pub(super) fn holds(&self, from: i64, to: i64) -> bool {
        let in_last = self.last.is_some_and(|(begin, end)| begin <= from && to <= end);
        let before = || self.others.range(..=from).next_back();
        in_last || !self.others.is_empty() && before().is_some_and(|(_, &end)| end >= to)
    }

    pub(super) fn add(&mut self, from: i64, to: i64) {
        let touches = |(begin, end): &(i64, i64)| *begin <= to && from <= *end;
        let touched = self.last.filter(touches);
        let (begin, end) = touched.map_or((from, to), |(begin, end)| (begin.min(from), end.max(to)));
        let added = self.absorb(begin, end);
        match self.last.filter(|_| touched.is_none()) {
            Some(_) if self.others.len() + 1 >= MOST_RANGES => return,
            Some((begin, end)) => self.others.insert(begin, end),
            None => None,
        };
        self.last = Some(added);
    }

    /// Takes out the others that a range touches; what it makes with them.
    fn absorb(&mut self, mut begin: i64, mut end: i64) -> (i64, i64) {
        while !self.others.is_empty()
            && let Some((&other, &its_end)) = self.others.range(..=end).next_back()
            && its_end >= begin
        {
            (begin, end) = (begin.min(other), end.max(its_end));
            self.others.remove(&other);
        }
        (begin, end)
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

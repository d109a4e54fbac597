//! Tables that leave behind what is over: which entry has which index afterwards.

/// New indexes by old ones; `None` for what was left behind.
#[derive(Debug, Clone)]
pub struct Renumbering(Vec<Option<usize>>);

impl Renumbering {
    /// Selects from a table of `len` entries those that `keeps` names, in their order.
    pub fn new(len: usize, keeps: impl Fn(usize) -> bool) -> Self {
        let mut next = 0..;
        let entries = (0..len).map(|old| if keeps(old) { next.next() } else { None });
        Renumbering(entries.collect())
    }

    /// The new index.
    pub fn get(&self, old: usize) -> Option<usize> {
        self.0.get(old).copied().flatten()
    }

    /// Removes the entries that were left behind.
    pub fn apply<T>(&self, table: &mut Vec<T>) {
        let mut old = 0..;
        table.retain(|_| old.next().is_some_and(|old| self.get(old).is_some()));
        table.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_keeps_its_order() {
        let mut table = vec!['a', 'b', 'c', 'd'];
        let even = Renumbering::new(table.len(), |old| old % 2 == 0);
        even.apply(&mut table);
        assert_eq!(table, ['a', 'c']);
        let new: Vec<_> = (0..5).map(|old| even.get(old)).collect();
        assert_eq!(new, [Some(0), None, Some(1), None, None]);
    }
}

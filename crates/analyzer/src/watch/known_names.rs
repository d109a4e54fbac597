//! Names of events that were told.

use indexmap::IndexMap;
use std::hash::Hash;

/// Most names of a kind that are known; the oldest are forgotten, which the analysis left behind long ago.
const MOST_KNOWN: usize = 1 << 14;

/// Values by name, with a bound: the oldest give way.
#[derive(Debug)]
pub(super) struct KnownNames<T, V = ()>(IndexMap<T, V>);

impl<T, V> Default for KnownNames<T, V> {
    fn default() -> Self {
        KnownNames(IndexMap::new())
    }
}

impl<T: Copy + Eq + Hash, V> KnownNames<T, V> {
    /// True when it was not known.
    pub(super) fn insert(&mut self, name: T, what: V) -> bool {
        let new = self.0.insert(name, what).is_none();
        if self.0.len() > MOST_KNOWN {
            self.0.shift_remove_index(0);
        }
        new
    }

    pub(super) fn get_mut(&mut self, name: T) -> Option<&mut V> {
        self.0.get_mut(&name)
    }
}

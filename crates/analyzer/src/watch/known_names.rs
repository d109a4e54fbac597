//! Names of events that were told.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Most names of a kind that are known; the oldest are forgotten, which the analysis left behind long ago.
const MOST_KNOWN: usize = 1 << 14;

/// Values by name, with a bound: the oldest give way.
#[derive(Debug)]
pub(super) struct KnownNames<T, V = ()> {
    names: HashMap<T, V>,
    order: VecDeque<T>,
}

impl<T, V> Default for KnownNames<T, V> {
    fn default() -> Self {
        KnownNames {
            names: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T: Copy + Eq + Hash, V> KnownNames<T, V> {
    /// True when it was not known.
    pub(super) fn insert(&mut self, name: T, what: V) -> bool {
        let new = self.names.insert(name, what).is_none();
        if new {
            self.order.push_back(name);
            if self.order.len() > MOST_KNOWN
                && let Some(oldest) = self.order.pop_front()
            {
                self.names.remove(&oldest);
            }
        }
        new
    }

    pub(super) fn get_mut(&mut self, name: T) -> Option<&mut V> {
        self.names.get_mut(&name)
    }
}

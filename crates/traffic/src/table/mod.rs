//! Tables with bounds.

mod bounded;
mod ranges;

pub(crate) use bounded::BoundedTable;
pub use ranges::Ranges;

use foldhash::HashMap;
use std::hash::Hash;

/// Values by their keys, each list in the order in which they come.
pub(crate) fn by_key<K: Eq + Hash, V>(all: impl Iterator<Item = (K, V)>) -> HashMap<K, Vec<V>> {
    let mut of_keys: HashMap<K, Vec<V>> = HashMap::default();
    for (key, value) in all {
        of_keys.entry(key).or_default().push(value);
    }
    of_keys
}

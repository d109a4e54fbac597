//! A table that forgets what was not used lately.

use foldhash::HashMap;
use std::hash::Hash;

/// Entries that are looked at for one that was not used lately; where all were, the next one goes.
const MOST_STEPS: usize = 16;

#[derive(Debug)]
struct BoundedEntry<K, V> {
    key: K,
    value: V,
    /// Used since the hand passed it.
    used: bool,
}

/// At most `MOST` entries. Beyond, a new one takes the place of one that was not used since the last round (the clock
/// algorithm): a flood of keys that come once does not push out those that come again.
#[derive(Debug)]
pub(crate) struct BoundedTable<K, V, const MOST: usize> {
    places: HashMap<K, u32>,
    entries: Vec<BoundedEntry<K, V>>,
    hand: usize,
}

impl<K, V, const MOST: usize> Default for BoundedTable<K, V, MOST> {
    fn default() -> Self {
        BoundedTable {
            places: HashMap::default(),
            entries: Vec::new(),
            hand: 0,
        }
    }
}

impl<K: Copy + Eq + Hash, V, const MOST: usize> BoundedTable<K, V, MOST> {
    /// The place of a key, which counts as used now.
    pub(crate) fn find(&mut self, key: &K) -> Option<usize> {
        let place = *self.places.get(key)? as usize;
        self.entries.get_mut(place)?.used = true;
        Some(place)
    }

    /// The entry at a place.
    pub(crate) fn at(&self, place: usize) -> Option<&V> {
        self.entries.get(place).map(|entry| &entry.value)
    }

    /// The entry at a place, to change it.
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut V> {
        self.entries.get_mut(place).map(|entry| &mut entry.value)
    }

    /// The entry of a key.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.at(*self.places.get(key)? as usize)
    }

    /// The entry of a key, to change it.
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let place = self.find(key)?;
        self.at_mut(place)
    }

    /// Puts in a new key. Gives its place, and what had to go.
    pub(crate) fn insert(&mut self, key: K, value: V) -> (usize, Option<V>) {
        let entry = BoundedEntry {
            key,
            value,
            used: false,
        };
        if self.entries.len() < MOST {
            let place = self.entries.len();
            self.entries.push(entry);
            self.places.insert(key, place as u32);
            return (place, None);
        }
        let place = self.unused();
        self.hand = place + 1;
        let Some(slot) = self.entries.get_mut(place) else {
            return (place, Some(entry.value));
        };
        self.places.remove(&slot.key);
        self.places.insert(key, place as u32);
        let gone = std::mem::replace(slot, entry);
        (place, Some(gone.value))
    }

    /// The place of a key, which is put in where there was none; and what had to go then.
    pub(crate) fn place(&mut self, key: K, new: impl FnOnce() -> V) -> (usize, Option<V>) {
        let known = self.find(&key).map(|place| (place, None));
        known.unwrap_or_else(|| self.insert(key, new()))
    }

    fn unused(&mut self) -> usize {
        for _ in 0..MOST_STEPS {
            if self.hand >= self.entries.len() {
                self.hand = 0;
            }
            match self.entries.get_mut(self.hand) {
                Some(entry) if entry.used => entry.used = false,
                _ => return self.hand,
            }
            self.hand += 1;
        }
        if self.hand >= self.entries.len() {
            0
        } else {
            self.hand
        }
    }

    /// Tells whether there is no entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Keys and values, in no order that means anything.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|entry| (&entry.key, &entry.value))
    }

    /// The values, in no order that means anything.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|entry| &entry.value)
    }

    /// Values of the table, and nothing else of it.
    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        self.entries.into_iter().map(|entry| entry.value)
    }

    /// Values of the table, to change them.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|entry| &mut entry.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_pushes_out_what_came_once() {
        let mut table = BoundedTable::<u32, u32, 4>::default();
        table.insert(0, 0);
        for key in 1..1_000_u32 {
            assert_eq!(table.get_mut(&0), Some(&mut 0), "used all the time");
            let (_, gone) = table.insert(key, key);
            assert_eq!(table.get(&key), Some(&key));
            assert!(gone.is_none_or(|gone| gone > 0));
            assert!(table.entries.len() <= 4 && table.places.len() <= 4);
        }
    }
}

//! A bounded table by connection. Many packets of one connection come in a row, so the place of the last one is tried first.

use crate::throughput::flow::ConnectionId;
use foldhash::{HashMap, HashMapExt};

/// Something of each connection, of at most so many.
#[derive(Debug, Clone)]
pub(crate) struct ByConnection<T> {
    all: Vec<(ConnectionId, T)>,
    places: HashMap<ConnectionId, usize>,
    last: usize,
    most: usize,
}

impl<T: Default> ByConnection<T> {
    /// An empty table for at most `most` connections.
    pub(crate) fn with_bound(most: usize) -> Self {
        ByConnection {
            all: Vec::new(),
            places: HashMap::new(),
            last: 0,
            most,
        }
    }

    /// That of a connection, where it is known.
    #[inline]
    pub(crate) fn get(&mut self, connection: ConnectionId) -> Option<&mut T> {
        if self.all.get(self.last).is_none_or(|own| own.0 != connection) {
            self.last = *self.places.get(&connection)?;
        }
        self.all.get_mut(self.last).map(|own| &mut own.1)
    }

    /// That of a connection, new on first sight; `None` beyond the bound.
    #[inline]
    pub(crate) fn get_or_begin(&mut self, connection: ConnectionId) -> Option<&mut T> {
        if self.all.get(self.last).is_none_or(|own| own.0 != connection) {
            self.last = match self.places.get(&connection) {
                Some(&known) => known,
                None if self.all.len() >= self.most => return None,
                None => {
                    self.all.push((connection, T::default()));
                    self.places.insert(connection, self.all.len() - 1);
                    self.all.len() - 1
                }
            };
        }
        self.all.get_mut(self.last).map(|own| &mut own.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap as Plain;

    proptest! {
        #[test]
        fn agrees_with_a_map(steps in proptest::collection::vec((0_u32..9, 0_u8..6), 0..200)) {
            let (mut table, mut map) = (ByConnection::<u32>::with_bound(6), Plain::<u32, u32>::new());
            for (name, step) in steps {
                let connection = ConnectionId(name);
                match step {
                    0 | 1 => prop_assert_eq!(table.get(connection), map.get_mut(&name)),
                    _ => {
                        let own = (map.len() < 6 || map.contains_key(&name)).then(|| map.entry(name).or_default());
                        let found = table.get_or_begin(connection);
                        prop_assert_eq!(found.is_some(), own.is_some());
                        if let (Some(found), Some(own)) = (found, own) {
                            (*found, *own) = (*found + 1, *own + 1);
                        }
                    }
                }
            }
        }
    }
}

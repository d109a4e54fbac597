//! A database that goes on for days: keys that come late are tried, SAs that are over are left behind.

use super::{SaDatabase, SaIndex};
use crate::sa::renumbering::Renumbering;
use crate::sa::specimen::Specimen;
use rekeyscope_keylog::{EspKeyIndex, KeyMaterial};

impl SaDatabase {
    /// Takes `keys` in place of those that it has. SAs without a key try them on the packets that come.
    pub fn replace_keys(&mut self, keys: KeyMaterial) {
        self.index = EspKeyIndex::new(&keys);
        self.has_nothing = keys.esp.is_empty() && keys.blobs.is_empty();
        self.keys = keys;
        for association in self.associations.iter_mut().filter(|a| !a.opens()) {
            association.docket.reopen();
        }
    }

    /// Tries all keys on an SA at once, with packets of it that wait, and those kept before. True when that decided.
    pub fn prove_again<'a>(&mut self, sa: SaIndex, waiting: impl Iterator<Item = Specimen<'a>>) -> bool {
        if self.associations[sa].opens() {
            return false;
        }
        for specimen in waiting {
            self.take(sa, specimen);
        }
        self.try_keys(sa, true)
    }

    /// Leaves behind all SAs but those that `keeps` says; `exchanges` has the new numbers of the timeline.
    pub fn leave_behind(&mut self, keeps: impl Fn(usize) -> bool, exchanges: &Renumbering) -> Renumbering {
        let sas = Renumbering::new(self.associations.len(), keeps);
        sas.apply(&mut self.associations);
        for association in &mut self.associations {
            association.exchange = association.exchange.and_then(|e| exchanges.get(e));
        }
        let derived = self.derived.drain();
        self.derived = derived
            .filter_map(|(sa, keys)| Some((sas.get(sa)?, keys)))
            .collect();
        let holding = self.holding.drain(..);
        self.holding = holding.filter_map(|sa| sas.get(sa)).collect();
        self.newest.clear();
        self.by_end.clear();
        self.by_spi.clear();
        self.by_tunnel.clear();
        (0..self.associations.len()).for_each(|sa| self.name(sa));
        sas
    }
}

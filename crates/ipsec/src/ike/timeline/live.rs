//! A timeline that goes on for days: keys that come late are added, what is over is left behind.

use super::{ExchangeId, Timeline};
use crate::ike::fragment::Ikev1Fragments;
use crate::sa::renumbering::Renumbering;
use rekeyscope_keylog::{IkeKey, Seed};
use rekeyscope_model::time::Timestamp;
use std::collections::HashSet;

/// Most IKE keys while files grow.
const MOST_KEYS: usize = 1 << 16;

impl Timeline {
    /// Adds the keys that it does not have. Messages that were taken before are not read again.
    pub fn add_keys(&mut self, keys: Vec<IkeKey>, seeds: Vec<Seed>) {
        let of = |key: &IkeKey| {
            let place = (key.origin.file, key.origin.line);
            (place, key.version, key.initiator_spi, key.responder_spi)
        };
        let known: HashSet<_> = self.keys.iter().map(of).collect();
        let room = MOST_KEYS.saturating_sub(self.keys.len());
        for key in keys
            .into_iter()
            .filter(|key| !known.contains(&of(key)))
            .take(room)
        {
            let index = self.keys.len();
            self.keys_by_spi.entry(key.initiator_spi).or_default().push(index);
            self.keys.push(key);
        }
        self.seeds = seeds;
    }

    /// Leaves behind all exchanges but those that `keeps` says, and IKE SAs without them that were deleted or are older than half
    /// of the table. The new numbers of the exchanges.
    pub fn leave_behind(&mut self, keeps: impl Fn(usize) -> bool, before: Timestamp) -> Renumbering {
        let exchanges = Renumbering::new(self.exchanges.len(), keeps);
        exchanges.apply(&mut self.exchanges);
        exchanges.apply(&mut self.states);
        let used: HashSet<usize> = self.exchanges.iter().filter_map(|e| e.ike_sa).collect();
        let mut times: Vec<Timestamp> = self.ike_sas.iter().map(|sa| sa.last_time).collect();
        times.sort_unstable();
        let spare = times.len().saturating_sub(Self::MAX_IKE_SAS / 2);
        let oldest = times.get(spare).copied().unwrap_or_default();
        let ike_sas = Renumbering::new(self.ike_sas.len(), |index| {
            let sa = &self.ike_sas[index];
            let over = sa.deleted.is_some() && sa.last_time < before || sa.last_time < oldest;
            used.contains(&index) || !over
        });
        ike_sas.apply(&mut self.ike_sas);
        ike_sas.apply(&mut self.sa_states);
        for exchange in &mut self.exchanges {
            exchange.ike_sa = exchange.ike_sa.and_then(|sa| ike_sas.get(sa));
        }
        let by_spis = self.ike_sa_by_spis.drain();
        self.ike_sa_by_spis = by_spis
            .filter_map(|(spis, sa)| Some((spis, ike_sas.get(sa)?)))
            .collect();
        let by_id = self.exchange_by_id.drain();
        let moved = by_id.filter_map(|(id, exchange)| {
            let ike_sa = match id.ike_sa {
                Some(sa) => Some(ike_sas.get(sa)?),
                None => None,
            };
            Some((ExchangeId { ike_sa, ..id }, exchanges.get(exchange)?))
        });
        self.exchange_by_id = moved.collect();
        let informational = rekeyscope_model::analysis::ExchangeKind::Informational;
        self.informational = self.exchanges.iter().filter(|e| e.kind == informational).count();
        // Pieces are named by their IKE SA.
        self.fragments = Ikev1Fragments::default();
        exchanges
    }
}

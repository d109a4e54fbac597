//! A capture that goes on: what is known so far, keys that come late, and leaving behind what is over.

use super::Analyzer;
use super::duplicates::Duplicates;
use crate::pipeline::record::{Record, key_files};
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::seen::SeenPackets;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::time::Timestamp;
use std::collections::HashSet;

/// Sizes of those parts of the record that grow with the time of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct RecordSize {
    pub(crate) associations: usize,
    pub(crate) exchanges: usize,
    /// Seconds from its first frame to its last.
    pub(crate) seconds: f64,
}

impl Analyzer {
    pub(crate) fn so_far(&mut self, now: Timestamp) -> &Record {
        self.flush();
        let last = self.record.totals.last_time.map(|last| last.max(now));
        self.record.totals.last_time = last;
        self.take_incomplete();
        self.settle_initiators();
        self.close_windows(last);
        &self.record
    }

    /// Takes `keys` in place of those that it has, and tries them on the packets that wait for one.
    pub(crate) fn replace_keys(&mut self, mut keys: KeyMaterial) {
        self.record.key_files = key_files(&keys);
        let (ike, seeds) = (std::mem::take(&mut keys.ike), std::mem::take(&mut keys.seeds));
        self.record.timeline.add_keys(ike, seeds);
        self.record.sas.replace_keys(keys);
        self.try_awaited();
    }

    pub(crate) fn size(&self) -> RecordSize {
        RecordSize {
            associations: self.record.sas.associations().len(),
            exchanges: self.record.timeline.exchanges().len(),
            seconds: self.record.totals.seconds().unwrap_or(0.0),
        }
    }

    /// Begins the record anew: only tunnels, SAs that were in use or negotiated since `before`, and the exchanges of these stay, with all
    /// that was counted of them, so that the next rekey is told as if nothing had been left behind. Flows, series and what lay around
    /// rekeys begin anew.
    pub(crate) fn leave_behind(&mut self, before: Timestamp) {
        self.flush();
        let record = &mut self.record;
        let exchanges = record.timeline.exchanges();
        let lately = |exchange: usize| exchanges[exchange].last_time().is_some_and(|last| last >= before);
        let newest: HashSet<usize> = newest_sas(record.sas.associations()).collect();
        let associations = record.sas.associations();
        let lives = |sa: usize, a: &Association| {
            let used = a.last.is_some_and(|(last, _)| last >= before);
            used || a.exchange.is_some_and(lately) || newest.contains(&sa)
        };
        let living: Vec<bool> = associations
            .iter()
            .enumerate()
            .map(|(sa, a)| lives(sa, a))
            .collect();
        let of_living: HashSet<usize> = associations
            .iter()
            .zip(&living)
            .filter_map(|(a, lives)| a.exchange.filter(|_| *lives))
            .collect();
        let kept: Vec<bool> = (0..exchanges.len())
            .map(|exchange| lately(exchange) || of_living.contains(&exchange))
            .collect();
        let exchanges = record.timeline.leave_behind(|exchange| kept[exchange], before);
        exchanges.apply(&mut record.exchange_tunnels);
        let sas = record.sas.leave_behind(|sa| living[sa], &exchanges);
        record.snapshots.retain_mut(|snapshot| {
            let moved = exchanges.get(snapshot.exchange).zip(sas.get(snapshot.sa));
            if let Some((exchange, sa)) = moved {
                (snapshot.exchange, snapshot.sa) = (exchange, sa);
            }
            moved.is_some()
        });
        record.tunnels.leave_changes_behind();
        let fresh = Record::new(record.options.clone(), KeyMaterial::default(), Vec::new());
        let old = std::mem::replace(record, fresh);
        record.key_files = old.key_files;
        (record.timeline, record.exchange_tunnels) = (old.timeline, old.exchange_tunnels);
        (record.tunnels, record.sas, record.snapshots) = (old.tunnels, old.sas, old.snapshots);
        record.point = old.point;
        let superseded = self.superseded.drain();
        self.awaited.sas.clear();
        self.superseded = superseded
            .filter_map(|(old, new)| Some((sas.get(old)?, sas.get(new)?)))
            .collect();
        self.seen = SeenPackets::default();
        self.duplicates = Duplicates::default();
    }
}

/// The SA that carried a packet last in each direction of each tunnel.
fn newest_sas(associations: &[Association]) -> impl Iterator<Item = usize> {
    let mut newest = std::collections::HashMap::new();
    for (sa, a) in associations.iter().enumerate().filter(|(_, a)| a.last.is_some()) {
        let place = newest.entry((a.tunnel, a.direction)).or_insert(sa);
        if associations[*place].last < a.last {
            *place = sa;
        }
    }
    newest.into_values()
}

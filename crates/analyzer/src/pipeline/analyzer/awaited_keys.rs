//! Packets wait in the batch for a key that a log is about to hold, and all packets behind them with them, so that everything is read in
//! order: a daemon writes the key when its SA is made, a log server takes it to the file, and the first packets are there before.

use super::Analyzer;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::specimen::Specimen;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// Longest wait of a packet for a key: an outage is told within 2 s of when it is certain, a look comes every 0.4 s and takes some time, and
/// a second is left.
const PATIENCE: i64 = 1_000 * NANOS_PER_MILLI;
/// Most bytes that wait: a second at 128 Mbit/s. A faster link is read at once.
const MOST_BYTES: usize = 16 << 20;
/// Most packets that are tried with a new key of their SA: one is enough where it holds IP, eight always.
const MOST_TRIED: usize = 8;

impl Analyzer {
    /// Lets packets wait for their key from now on.
    pub(crate) fn keys_grow(&mut self) {
        self.awaited.grow = true;
    }

    /// Notes a packet of `sa`; the first one without a key waits for it.
    pub(super) fn await_key(&mut self, sa: SaIndex, time: Timestamp) {
        let association = &self.record.sas.associations()[sa];
        if self.awaited.grow && association.queued == 0 && !association.opens() {
            self.awaited.sas.push((sa, time));
        }
    }

    /// Tells whether packets wait for a key by the newest packet's time.
    pub(super) fn awaits_keys(&mut self) -> bool {
        let newest = self.record.totals.last_time;
        newest.is_some_and(|newest| self.awaits_keys_at(newest))
    }

    /// Tells whether packets wait for a key at `now`.
    pub(crate) fn awaits_keys_at(&mut self, now: Timestamp) -> bool {
        if self.awaited.sas.is_empty() {
            return false;
        }
        let sas = self.record.sas.associations();
        let recent = |since: Timestamp| now.nanos_since(since) < PATIENCE;
        self.awaited
            .sas
            .retain(|&(sa, since)| recent(since) && !sas[sa].opens());
        if self.batch.held_bytes() > MOST_BYTES {
            self.awaited.sas.clear();
        }
        !self.awaited.sas.is_empty()
    }

    /// Tells whether packets of an SA without a key were taken in as closed.
    pub(crate) fn has_unread(&mut self) -> bool {
        if !self.awaits_keys() {
            self.flush();
        }
        let mut sas = self.record.sas.associations().iter();
        sas.any(|a| !a.opens() && a.counters.packets > 0)
    }

    /// Counts packets that were taken in as closed, of SAs whose key is known now.
    pub(crate) fn half_read(&mut self) -> u64 {
        self.flush();
        let sas = self.record.sas.associations().iter().filter(|a| a.opens());
        sas.map(|a| a.counters.packets.saturating_sub(a.counters.opened))
            .sum()
    }

    /// Tries the keys on what waits for one.
    pub(super) fn try_awaited(&mut self) {
        let mut opened = Vec::new();
        for &(sa, _) in &self.awaited.sas {
            let batch = &self.batch;
            let own = batch.packets().iter().filter(|pending| pending.sa == sa);
            let waiting = own.take(MOST_TRIED).map(|pending| Specimen {
                packet: batch.bytes(pending),
                whole: !pending.cut,
            });
            if self.record.sas.prove_again(sa, waiting) {
                opened.push(sa);
            }
        }
        opened.into_iter().for_each(|sa| self.open_waiting(sa));
    }
}

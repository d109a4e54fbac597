//! A look at the document of a moment: what is settled, what is final, what is certain.

use rekeyscope_impact::ledger::RATE_SIDE;
use rekeyscope_ipsec::rekey::attempt::ON_ITS_WAY;
use rekeyscope_model::analysis::*;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_model::watch::TunnelEnds;
use std::collections::{BTreeMap, VecDeque};

/// An event is told when this much has passed since its last packet. An SA that goes on for more than a second beside its supposed
/// successor is none that was renewed (`ipsec::rekey::detect`); with looks every half second this stays below two seconds.
pub(super) const SETTLED: i64 = 1_250 * NANOS_PER_MILLI;
/// Outages of a direction that are remembered for that.
pub(super) const MOST_OUTAGES: usize = 64;
/// Time after which an outage that is over is looked at once more, and told again where it was another one: by then the ledger has its
/// [`RATE_SIDE`] behind it, and charon has repeated what it asked meanwhile (after 4 s).
pub(super) const REVIEWED: i64 = 10 * NANOS_PER_SECOND;
/// Longest time that a cost waits for the keys of the packets around it: half of the minute after which an SA without packets is left behind
/// ([`Retention::lately_s`](super::Retention)).
pub(super) const KEYS_AWAITED: i64 = 30 * NANOS_PER_SECOND;

/// First packet and last one without a key, of the SAs of a tunnel.
pub(super) type UnreadStretches = BTreeMap<TunnelEnds, VecDeque<(Timestamp, Timestamp)>>;
/// A direction of a tunnel.
pub(super) type WatchedDirection = (TunnelEnds, Direction);

/// A document, and the time of the look at it.
pub(super) struct Look<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) now: Timestamp,
    /// True where nothing comes after the look, so that all is settled.
    pub(super) last: bool,
    pub(super) unread: UnreadStretches,
}

impl<'a> Look<'a> {
    pub(super) fn ends(&self, tunnel: usize) -> Option<TunnelEnds> {
        self.analysis.tunnels.get(tunnel).map(ends_of)
    }

    /// The ledger's entry of a rekey in a direction.
    pub(super) fn own(&self, rekey: &Rekey, direction: Direction) -> Option<&'a LedgerRekey> {
        let ledger = self.analysis.ledger_of(rekey.tunnel, direction)?;
        ledger.rekeys.iter().find(|own| own.rekey == rekey.index)
    }

    /// Tells whether a rekey and all that it owns are over in a direction, long enough ago for the rate without it, and could be read.
    pub(super) fn cost_is_final(&self, ends: TunnelEnds, rekey: &Rekey, direction: Direction) -> bool {
        let intervals = self.own(rekey, direction).map_or(&[][..], |own| &own.intervals);
        let until = intervals.iter().map(|interval| interval.to);
        let Some(over) = until.chain(rekey.switched.values()).max() else {
            return self.last;
        };
        let from = intervals
            .iter()
            .map(|interval| interval.from)
            .min()
            .unwrap_or(over);
        // A ledger speaks of inner bytes where all packets around could be read, and of sealed ones elsewhere.
        let unread = self.is_unread(ends, from.plus_nanos(-RATE_SIDE), self.now);
        self.settled(over, if unread { KEYS_AWAITED } else { RATE_SIDE })
    }

    /// The silence of a rekey that began at `start`: its end, its length in seconds, and what ended it.
    pub(super) fn silence_of_rekey(
        &self,
        (ends, direction): WatchedDirection,
        start: Timestamp,
    ) -> Option<(Timestamp, f64, OutageEnd)> {
        let rekeys = self.analysis.rekeys.iter();
        let own = rekeys
            .filter(|rekey| self.ends(rekey.tunnel) == Some(ends))
            .flat_map(|rekey| {
                let intervals = self.own(rekey, direction).map_or(&[][..], |own| &own.intervals);
                intervals.iter().map(move |interval| (rekey, interval))
            });
        own.filter_map(|(rekey, interval)| {
            let end = interval.arrived?;
            let is_it = interval.from.nanos_since(start).abs() <= ON_ITS_WAY && start < end;
            let switched = rekey
                .switched
                .get(direction)
                .is_some_and(|switched| switched <= end);
            let ended_by = if switched {
                OutageEnd::NewSa
            } else {
                OutageEnd::OldSa
            };
            is_it.then(|| (end, end.seconds_since(interval.from), ended_by))
        })
        .next()
    }

    /// Tells whether an outage is certain: while packets of its tunnel wait for a key, they may have carried what is missed.
    pub(super) fn is_certain(&self, direction: WatchedDirection, outage: &Outage) -> bool {
        outage.confidence == Confidence::Low
            || !self.is_unread(direction.0, outage.start, outage.end.unwrap_or(self.now))
    }

    pub(super) fn settled(&self, since: Timestamp, nanos: i64) -> bool {
        self.last || self.now.nanos_since(since) >= nanos
    }

    /// Tells whether packets between `from` and `to` wait for a key: nobody knows what they carried or acknowledged.
    pub(super) fn is_unread(&self, ends: TunnelEnds, from: Timestamp, to: Timestamp) -> bool {
        let stretches = self.unread.get(&ends);
        stretches.is_some_and(|all| all.iter().any(|(first, last)| *first <= to && from <= *last))
    }
}

pub(super) fn ends_of(tunnel: &Tunnel) -> TunnelEnds {
    TunnelEnds {
        client: tunnel.a,
        gateway: tunnel.b,
    }
}

pub(super) fn is_opened(sa: &SecurityAssociation) -> bool {
    sa.inner_bytes.is_some() || sa.key.status == KeyStatus::Verified || sa.protocol == Protocol::Ah
}

pub(super) fn keys_given(analysis: &Analysis) -> bool {
    let mut files = analysis.key_files.iter();
    files.any(|file| file.esp_keys + file.ike_keys > 0)
}

/// Notes the SAs that wait for a key, where there are keys at all; without any nothing else comes.
pub(super) fn note_unread(analysis: &Analysis, unread: &mut UnreadStretches) {
    if !keys_given(analysis) {
        return;
    }
    for sa in analysis.security_associations.iter().filter(|sa| !is_opened(sa)) {
        let (Some(tunnel), Some(first), Some(last)) =
            (analysis.tunnels.get(sa.tunnel), sa.first_time, sa.last_time)
        else {
            continue;
        };
        let known = unread.entry(ends_of(tunnel)).or_default();
        match known.iter_mut().find(|(known, _)| *known == first) {
            Some(known) => known.1 = last,
            None => known.push_back((first, last)),
        }
        if known.len() > MOST_OUTAGES {
            known.pop_front();
        }
    }
}

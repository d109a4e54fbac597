//! Child SAs that stand side by side. Each subnet of a tunnel may have child SAs of its own; what one of them suffers does not show in what
//! all carry together, so each is judged on its own.

use crate::assembly::rests::{Rest, Rests};
use crate::pipeline::record::Record;
use rekeyscope_impact::ledger::RekeySpan;
use rekeyscope_ipsec::rekey::Succession;
use rekeyscope_ipsec::rekey::pair::ChildSa;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_model::analysis::{Attempt, Direction, Outage, Rekey};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{ConnectionId, DeliveryLine, LEAST_REST, TransmissionRun};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Two inner addresses; the lower one first, so that both directions have one name.
type InnerPair = (IpAddr, IpAddr);

/// A child SA and those that renewed it, in both directions.
#[derive(Debug, Clone, Default)]
pub(super) struct ChildLineage {
    sas: BTreeSet<SaIndex>,
    inner: BTreeSet<InnerPair>,
}

fn pair((a, b): (IpAddr, IpAddr)) -> InnerPair {
    (a.min(b), a.max(b))
}

/// SAs that belong together, each under the name of one of them.
#[derive(Default)]
struct Joined(BTreeMap<SaIndex, SaIndex>);

impl Joined {
    /// The SA that stands for itself; the next look is shorter.
    fn name(&mut self, sa: SaIndex) -> SaIndex {
        let mut name = sa;
        while let Some(&above) = self.0.get(&name).filter(|above| **above != name) {
            name = above;
        }
        self.0.insert(sa, name);
        name
    }

    fn join(&mut self, sas: impl IntoIterator<Item = SaIndex>) {
        let mut sas = sas.into_iter();
        let Some(first) = sas.next() else { return };
        for other in sas {
            let (one, other) = (self.name(first), self.name(other));
            self.0.insert(one.max(other), one.min(other));
        }
    }
}

/// The lineages of a tunnel; none where it has only one, or where an SA carries more inner addresses than are kept.
pub(super) fn lineages(known: Known<'_>, tunnel: TunnelIndex) -> Vec<ChildLineage> {
    let record = known.record;
    let associations = record.sas.associations();
    let mut by_pair: BTreeMap<InnerPair, Vec<SaIndex>> = BTreeMap::new();
    for &sa in record.sas.of_tunnel(tunnel) {
        if associations[sa].carries_more_inner_ends() {
            return Vec::new();
        }
        for &ends in associations[sa].inner_ends() {
            by_pair.entry(pair(ends)).or_default().push(sa);
        }
    }
    if by_pair.len() < 2 {
        return Vec::new();
    }
    let mut joined = Joined::default();
    for child in known.children.iter().filter(|child| child.tunnel == tunnel) {
        joined.join(child.sa.into_iter().flatten());
    }
    for s in known.successions.iter().filter(|s| s.tunnel == tunnel) {
        joined.join(s.old.into_iter().chain(s.new).flatten());
    }
    for sas in by_pair.values() {
        joined.join(sas.iter().copied());
    }
    let mut lineages: BTreeMap<SaIndex, ChildLineage> = BTreeMap::new();
    for (pair, sas) in by_pair {
        for sa in sas {
            let lineage = lineages.entry(joined.name(sa)).or_default();
            lineage.sas.insert(sa);
            lineage.inner.insert(pair);
        }
    }
    let all: Vec<ChildLineage> = lineages.into_values().collect();
    if all.len() < 2 { Vec::new() } else { all }
}

/// Rests of one lineage: silences of its own in which nothing that it had sent was lost or waited for an acknowledgement, and in which
/// nobody renewed it.
pub(super) fn rests_of(part: &DeliveryLine, rekeys: &[RekeySpan]) -> Vec<Rest> {
    let mut sent: Vec<(Timestamp, Timestamp, bool)> = Vec::new();
    let arrived = part.arrived.iter().map(|run| (run, run.acknowledged.is_some()));
    let runs = arrived.chain(part.in_vain.iter().map(|run| (run, false)));
    sent.extend(runs.map(|(run, delivered)| (run.from, run.to, delivered)));
    sent.sort_unstable();
    let mut rests = Vec::new();
    let mut last: Option<(Timestamp, bool)> = None;
    for (from, to, delivered) in sent {
        if let Some((end, true)) = last
            && from.nanos_since(end) >= LEAST_REST
            && !rekeys
                .iter()
                .any(|rekey| rekey.asked < from && rekey.last_message > end)
        {
            rests.push((end, from));
        }
        last = match last {
            Some((end, all)) if end > to => Some((end, all && delivered)),
            _ => Some((to, delivered)),
        };
    }
    rests
}

impl ChildLineage {
    /// The part of a direction's deliveries that the SAs of this lineage carried; `None` without any.
    pub(super) fn part_of(&self, line: &DeliveryLine) -> Option<DeliveryLine> {
        let own = |runs: &[TransmissionRun]| -> Vec<TransmissionRun> {
            let of_sa =
                |run: &&TransmissionRun| run.spi.is_some_and(|sa| self.sas.contains(&(sa as SaIndex)));
            runs.iter().filter(of_sa).copied().collect()
        };
        let arrived = own(&line.arrived);
        (!arrived.is_empty()).then(|| DeliveryLine {
            in_vain: own(&line.in_vain),
            arrived,
            ..line.clone()
        })
    }

    /// Tells whether a renewal is one of this lineage.
    pub(super) fn is_renewed_by(&self, succession: &Succession) -> bool {
        let mut sas = succession.old.iter().chain(&succession.new).flatten();
        sas.any(|sa| self.sas.contains(sa))
    }

    /// Tells whether an outage is one of this lineage; one without inner addresses may be.
    pub(super) fn suffers(&self, outage: &Outage) -> bool {
        outage.inner.is_none_or(|ends| self.inner.contains(&pair(ends)))
    }

    /// Tells whether an attempt may be one of this lineage: another one that stood still meanwhile was to be renewed by it.
    pub(super) fn is_asked_for_by(&self, attempt: &Attempt) -> bool {
        attempt.outage.as_ref().is_none_or(|outage| self.suffers(outage))
    }

    /// Tells whether a connection goes through these SAs.
    pub(super) fn carries(&self, record: &Record, connection: ConnectionId, direction: Direction) -> bool {
        let flow = record.flows.flow_of(connection, direction);
        flow.is_some_and(|flow| self.inner.contains(&pair((flow.src, flow.dst))))
    }

    /// Inner addresses of the data of a direction, sender and receiver: those with most bytes.
    pub(super) fn ends(&self, record: &Record, (tunnel, direction): Side) -> Option<(IpAddr, IpAddr)> {
        let own = |ends| self.inner.contains(&pair(ends));
        record.flows.busiest_ends(tunnel, direction, own)
    }
}

/// Facts of the document that the accounts are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) record: &'a Record,
    pub(crate) children: &'a [ChildSa],
    pub(crate) successions: &'a [Succession],
    pub(crate) attempts: &'a [Attempt],
    pub(crate) rekeys: &'a [Rekey],
    pub(crate) outages: &'a [Outage],
    pub(crate) rests: &'a Rests,
    /// The child SAs that are judged, where not all of a tunnel are.
    pub(crate) lineage: Option<&'a ChildLineage>,
}

impl<'a> Known<'a> {
    /// Outages of a side.
    pub(super) fn outages_of(self, (tunnel, direction): Side) -> impl Iterator<Item = &'a Outage> + Clone {
        let of = (tunnel, self.record.published((tunnel, direction)));
        let all = self.outages.iter();
        all.filter(move |o| (o.tunnel, o.direction) == of)
    }

    /// Attempts of a tunnel.
    pub(super) fn attempts_of(self, tunnel: TunnelIndex) -> impl Iterator<Item = &'a Attempt> + Clone {
        self.attempts.iter().filter(move |a| a.tunnel == tunnel)
    }
}

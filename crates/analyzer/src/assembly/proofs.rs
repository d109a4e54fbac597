//! What the packets prove of each rekey in one direction, and what follows from that for its series.

use crate::diagnosis::ProvenByPackets;
use crate::pipeline::record::Record;
use rekeyscope_impact::{Gap, ProvenEffect, ProvenOutage, Traffic};
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Direction, ProofRule};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::HashMap;

/// Of so many gaps between new data one is longer than what is usual: their 99.9 % quantile.
const USUAL_OF: u64 = 1_000;
/// As in the gap test: a gap counts as the rekey's when it begins by this long after the switch.
const GAP_ZONE: i64 = NANOS_PER_SECOND / 2;

/// The proofs of one direction.
#[derive(Debug)]
pub(crate) struct Proofs {
    /// By index of the rekey.
    found: HashMap<usize, ProvenByPackets>,
}

impl Proofs {
    pub(crate) fn new(
        record: &Record,
        (tunnel, direction): (TunnelIndex, Direction),
        successions: &[Succession],
        parts: &[Traffic],
    ) -> Self {
        let d = slot(direction);
        let start = parts.first().map(|t| t.start).unwrap_or_default();
        let own = || successions.iter().enumerate().filter(|(_, s)| s.tunnel == tunnel);
        let at = |t: Timestamp| t.seconds_since(start);
        let mut spans: Vec<(f64, f64)> = own()
            .filter_map(|(_, s)| {
                let switched = s.switched[d]?;
                Some((
                    at(s.first_message.unwrap_or(switched)),
                    at(switched.plus_nanos(GAP_ZONE)),
                ))
            })
            .collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let usual = usual_gap(parts, start, &spans);
        let proof = |(index, s): (usize, &Succession)| {
            let proof = record.diagnosis.proof(s, d)?.proven(usual)?;
            Some((index, proof.clone()))
        };
        Proofs {
            found: own().filter_map(proof).collect(),
        }
    }

    /// Of one rekey.
    pub(crate) fn of(&self, rekey: usize) -> Option<&ProvenByPackets> {
        self.found.get(&rekey)
    }

    /// Bytes that pass an SA's limit before the switch are no progress.
    pub(crate) fn take_back(&self, parts: &mut [Traffic]) {
        for traffic in parts {
            let length_s = traffic.bytes.len() as f64 * traffic.base_bin_s;
            let beyond = self.found.values().filter(|p| p.rule == ProofRule::NoFeedback);
            let gaps = beyond.map(|p| Gap {
                start_s: p.from.seconds_since(traffic.start),
                end_s: p.to.seconds_since(traffic.start),
            });
            let own: Vec<Gap> = gaps.filter(|g| (0.0..length_s).contains(&g.start_s)).collect();
            own.into_iter().for_each(|gap| silence(traffic, gap));
        }
    }
}

/// Nothing came in this time.
fn silence(traffic: &mut Traffic, gap: Gap) {
    let bin = |s: f64| (s / traffic.base_bin_s).max(0.0) as usize;
    let (from, to) = (bin(gap.start_s) + 1, bin(gap.end_s));
    if let Some(lost) = traffic.bytes.get_mut(from..to) {
        lost.fill(0);
    }
    let before = traffic.gaps.len();
    traffic
        .gaps
        .retain(|g| g.end_s <= gap.start_s || g.start_s >= gap.end_s);
    let gone = (before - traffic.gaps.len()) as u64;
    traffic.gaps_total = traffic.gaps_total.saturating_sub(gone) + 1;
    traffic.gaps.push(gap);
}

/// The longest of the usual gaps outside the rekeys (`spans`, in order of their begin, seconds from `start`), nanoseconds.
fn usual_gap(parts: &[Traffic], start: Timestamp, spans: &[(f64, f64)]) -> i64 {
    let touches = |from_s: f64, to_s: f64| {
        let begun = spans.partition_point(|s| s.0 <= to_s);
        // Only neighbours reach as far: a rekey is over before the one after the next begins.
        spans[..begun].iter().rev().take(2).any(|s| s.1 >= from_s)
    };
    let most = parts.iter().map(|traffic| traffic.gaps.len()).sum();
    let mut elsewhere: Vec<f64> = Vec::with_capacity(most);
    for traffic in parts {
        let moved = traffic.start.seconds_since(start);
        let free = traffic
            .gaps
            .iter()
            .filter(|g| !touches(g.start_s + moved, g.end_s + moved));
        elsewhere.extend(free.map(|g| g.end_s - g.start_s));
    }
    let total: u64 = parts.iter().map(|t| t.gaps_total).sum();
    let usual = usize::try_from(total / USUAL_OF).unwrap_or(usize::MAX);
    let descending = |a: &f64, b: &f64| b.total_cmp(a);
    let seconds = if usual < elsewhere.len() {
        *elsewhere.select_nth_unstable_by(usual, descending).1
    } else {
        0.0
    };
    (seconds * NANOS_PER_SECOND as f64) as i64
}

/// As the estimators want it.
pub(crate) fn proven(proof: &ProvenByPackets) -> ProvenEffect {
    match proof.rule {
        ProofRule::Acquitted => ProvenEffect::Acquitted,
        rule => ProvenEffect::Outage(ProvenOutage {
            seconds: proof.nanos() as f64 / NANOS_PER_SECOND as f64,
            rule,
        }),
    }
}

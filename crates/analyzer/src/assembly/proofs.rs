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
    start: Timestamp,
    /// By index of the rekey.
    found: HashMap<usize, ProvenByPackets>,
}

impl Proofs {
    pub(crate) fn new(
        record: &Record,
        (tunnel, direction): (TunnelIndex, Direction),
        successions: &[Succession],
        traffic: &Traffic,
    ) -> Self {
        let d = slot(direction);
        let own = || successions.iter().enumerate().filter(|(_, s)| s.tunnel == tunnel);
        let at = |t: Timestamp| t.seconds_since(traffic.start);
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
        let usual = usual_gap(traffic, &spans);
        let proof = |(index, s): (usize, &Succession)| {
            let proof = record.diagnosis.proof(s, d)?.proven(usual)?;
            Some((index, proof.clone()))
        };
        Proofs {
            start: traffic.start,
            found: own().filter_map(proof).collect(),
        }
    }

    /// Of one rekey.
    pub(crate) fn of(&self, rekey: usize) -> Option<&ProvenByPackets> {
        self.found.get(&rekey)
    }

    /// Bytes that pass an SA's limit before the switch are no progress.
    pub(crate) fn take_back(&self, traffic: &mut Traffic) {
        let beyond = self.found.values().filter(|p| p.rule == ProofRule::NoFeedback);
        for proof in beyond {
            let gap = Gap {
                start_s: proof.from.seconds_since(self.start),
                end_s: proof.to.seconds_since(self.start),
            };
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
    }
}

/// The longest of the usual gaps outside the rekeys (`spans`, in order of their begin), nanoseconds.
fn usual_gap(traffic: &Traffic, spans: &[(f64, f64)]) -> i64 {
    let touches = |g: &&Gap| {
        let begun = spans.partition_point(|s| s.0 <= g.end_s);
        // Only neighbours reach as far: a rekey is over before the one after the next begins.
        spans[..begun].iter().rev().take(2).any(|s| s.1 >= g.start_s)
    };
    let mut elsewhere: Vec<f64> = traffic
        .gaps
        .iter()
        .filter(|g| !touches(g))
        .map(|g| g.end_s - g.start_s)
        .collect();
    elsewhere.sort_by(|a, b| b.total_cmp(a));
    let usual = usize::try_from(traffic.gaps_total / USUAL_OF).unwrap_or(usize::MAX);
    let seconds = elsewhere.get(usual).copied().unwrap_or(0.0);
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

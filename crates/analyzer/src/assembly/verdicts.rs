//! The estimators of [`rekeyscope_impact`] run on every tunnel and direction with traffic.

use crate::assembly::attempts::Failures;
use crate::assembly::proofs::{Proofs, proven};
use crate::diagnosis::{Hole, ProvenByPackets, SilenceKind};
use crate::pipeline::record::Record;
use crate::throughput::rests::Rests;
use rekeyscope_impact::tell::failed::failed;
use rekeyscope_impact::{
    DirectionImpact, Gap, MethodSettings, PROJECTED_KILOBYTES, ProvenEffect, RekeyMoment, Start,
};
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_ipsec::sa::volume;
use rekeyscope_model::analysis::{
    Direction, Impact, MeanRekey, Projection, Rekey, RekeyImpact, TriggerKind, Tunnel, Verdict,
};
use rekeyscope_model::text::Said;
use rekeyscope_model::time::Timestamp;

/// Most tunnels with a verdict; those with most bytes.
const MOST_TUNNELS: usize = 64;

/// All verdicts, the headline's first.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    pub(crate) impact: Vec<Impact>,
    pub(crate) rekeys: Vec<(usize, RekeyImpact)>,
    pub(crate) mean_rekey: Vec<MeanRekey>,
    pub(crate) projection: Vec<Projection>,
}

/// Runs the method on every tunnel and direction, most new bytes first.
pub(crate) fn assess(
    record: &Record,
    successions: &[Succession],
    rekeys: &[Rekey],
    rests: &Rests,
) -> Verdicts {
    let mut verdicts = Verdicts::default();
    let of = |own: &_| assess_direction(record, successions, rekeys, rests, *own);
    // No more than two at a time: each holds a series of its own.
    for two in busiest_first(record).chunks(2) {
        let assessed = match two {
            [first, second] => <[_; 2]>::from(rayon::join(|| of(first), || of(second))),
            rest => [rest.first().and_then(of), None],
        };
        for result in assessed.into_iter().flatten() {
            verdicts.impact.push(result.impact);
            verdicts.rekeys.extend(result.rekeys);
            verdicts.mean_rekey.extend(result.mean_rekey);
            verdicts.projection.extend(result.projection);
        }
    }
    verdicts
}

/// Of one direction; `None` where it has no series.
fn assess_direction(
    record: &Record,
    successions: &[Succession],
    rekeys: &[Rekey],
    rests: &Rests,
    (tunnel, direction): (TunnelIndex, Direction),
) -> Option<DirectionImpact> {
    let series = record.meters.counted(tunnel, direction)?;
    let settings = settings(record, tunnel, direction, rekeys);
    let mut traffic = series.traffic(rests.of(tunnel, direction));
    for part in &mut traffic {
        if settings.outer && only_acknowledges(record, tunnel, direction) {
            (part.bytes, part.gaps, part.gaps_total) = (Vec::new(), Vec::new(), 0);
        }
        part.holes = holes(record, tunnel, part.start);
    }
    let proofs = Proofs::new(record, (tunnel, direction), successions, &traffic);
    proofs.take_back(&mut traffic);
    let moments = moments(record, (tunnel, direction), successions, &proofs, series.start());
    let mut result = rekeyscope_impact::assess_transfers(&traffic, &moments, &settings);
    for (index, impact) in &mut result.rekeys {
        let proof = proofs.of(*index);
        impact.hurt |= proof.is_some_and(|p| p.rule.is_outage());
        impact.proof = proof.map(ProvenByPackets::report);
    }
    Some(result)
}

/// What failed comes first, and ahead of what the statistics say of the rekeys that succeeded.
pub(crate) fn with_failures(
    mut impact: Vec<Impact>,
    failures: &Failures,
    rekeys: &[Rekey],
    tunnels: &[Tunnel],
    origin: Option<Timestamp>,
) -> Vec<Impact> {
    let origin = origin.unwrap_or_default();
    for told in failed((&failures.attempts, rekeys), &failures.outages, tunnels, origin) {
        let own = |i: &&mut Impact| {
            i.tunnel == told.tunnel && told.direction.is_none_or(|direction| i.direction == direction)
        };
        if let Some(of_it) = impact.iter_mut().find(own) {
            let mut messages = told.messages;
            if matches!(of_it.verdict, Verdict::Shown | Verdict::Some | Verdict::Bounded) {
                messages.append(&mut of_it.messages);
            }
            let said = Said::from(messages);
            (of_it.sentence, of_it.messages) = (said.sentence, said.messages);
            of_it.verdict = Verdict::Failed;
        }
    }
    impact.sort_by_key(|i| i.verdict != Verdict::Failed);
    impact
}

/// The proven holes of the capture, seconds from `start`.
fn holes(record: &Record, tunnel: TunnelIndex, start: Timestamp) -> Vec<Gap> {
    let gap = |h: &Hole| Gap {
        start_s: h.from.seconds_since(start),
        end_s: h.to.seconds_since(start),
    };
    record.diagnosis.holes(tunnel).map(gap).collect()
}

/// A TCP acknowledgement with timestamps and SACK blocks, in L2TP and ESP, stays below this many ESP bytes (the largest
/// seen in the lab: 164).
const ACKNOWLEDGEMENT_BYTES: u64 = 200;
/// Acknowledgements of full segments, one for each, are at most this share of them: 200 of 1,400 bytes.
const ACKNOWLEDGEMENT_SHARE: f64 = 0.15;

/// Without keys a direction of acknowledgements has bytes, but they are nobody's throughput.
fn only_acknowledges(record: &Record, tunnel: TunnelIndex, direction: Direction) -> bool {
    let meters = &record.meters;
    let own = meters.esp_bytes(tunnel, direction);
    let other = meters.esp_bytes(tunnel, direction.reverse());
    own <= ACKNOWLEDGEMENT_BYTES * meters.packets(tunnel, direction)
        && own as f64 <= ACKNOWLEDGEMENT_SHARE * other as f64
}

fn busiest_first(record: &Record) -> Vec<(TunnelIndex, Direction)> {
    let mut list: Vec<(u64, TunnelIndex, Direction)> = Vec::new();
    for (tunnel, direction) in record.meters.directions() {
        if let Some(series) = record.meters.counted(tunnel, direction) {
            list.push((series.counted_bytes(), tunnel, direction));
        }
    }
    list.sort_by_key(|&(bytes, tunnel, direction)| (std::cmp::Reverse(bytes), tunnel, direction));
    list.truncate(2 * MOST_TUNNELS);
    list.into_iter()
        .map(|(_, tunnel, direction)| (tunnel, direction))
        .collect()
}

fn settings(record: &Record, tunnel: TunnelIndex, direction: Direction, rekeys: &[Rekey]) -> MethodSettings {
    let own: Vec<&Rekey> = rekeys.iter().filter(|r| r.tunnel == tunnel).collect();
    let kind = |kind: TriggerKind| own.iter().filter(move |r| r.trigger.kind == kind).count();
    MethodSettings {
        tunnel,
        direction: record.tunnels.tunnels[tunnel].published(direction),
        time_triggered: 2 * kind(TriggerKind::Time) > own.len(),
        volume_triggered: kind(TriggerKind::Volume) > 0,
        outer: !record.meters.inner_is_whole(tunnel, direction),
        reference_bps: record.options.reference_bps,
        interest: record.options.interest,
        seed: record.options.seed,
        draws: record.options.draws,
        rekeys_total: own.len(),
        own_rekeys: own.iter().map(|r| r.index).collect(),
        projected_kilobytes: PROJECTED_KILOBYTES.to_vec(),
        lifetime_bytes_per_new_byte: counted_per_new(record, tunnel, direction),
    }
}

/// Bytes that the SA's lifetime counts (decrypted payload) per new byte of the series.
fn counted_per_new(record: &Record, tunnel: TunnelIndex, direction: Direction) -> f64 {
    if !record.meters.inner_is_whole(tunnel, direction) {
        return 1.0;
    }
    let inner: u64 = record
        .sas
        .associations()
        .iter()
        .filter(|a| a.tunnel == tunnel && a.direction == direction)
        .map(|a| a.counters.inner_bytes)
        .sum();
    let new = record
        .meters
        .counted(tunnel, direction)
        .map_or(0, |s| s.counted_bytes());
    if new == 0 { 1.0 } else { inner as f64 / new as f64 }
}

fn moments(
    record: &Record,
    (tunnel, direction): (TunnelIndex, Direction),
    successions: &[Succession],
    proofs: &Proofs,
    start: Timestamp,
) -> Vec<RekeyMoment> {
    let moment = |(index, s): (usize, &Succession)| {
        let proof = proofs.of(index);
        let switched = s.switched[slot(direction)].filter(|_| s.tunnel == tunnel)?;
        let first = s.switched.iter().flatten().min().copied().unwrap_or(switched);
        // An old SA that reached its hard limit drops what comes after: the outage begins there, also where the first
        // message was lost before the capture point, or came late. Where no limit can be read, the initiator's silence
        // shows it, or what was sent again.
        let silence = s.exchange.and_then(|e| record.diagnosis.silence_before(e));
        let deaf = silence.filter(|s| s.kind == SilenceKind::Deaf).map(|s| s.since);
        let proven_since = proof.filter(|p| p.rule.is_outage()).map(|p| p.from);
        let outage = expired(record, s)
            .into_iter()
            .chain(deaf)
            .chain(proven_since)
            .min();
        let earliest = |t: Timestamp| outage.map_or(t, |e| e.min(t)).seconds_since(start);
        // Both sides fell silent before it: a retransmission timeout doubles, so what was cut off goes on within twice the time.
        let both_silent = |t: Timestamp| {
            let both = silence.is_some_and(|s| {
                s.kind == SilenceKind::Both && switched.nanos_since(t) <= t.nanos_since(s.since)
            });
            both && outage.is_none()
        };
        Some(RekeyMoment {
            index,
            start: match (s.started, s.first_message) {
                (Some(t), _) if both_silent(t) => Start::AfterSilence(earliest(t)),
                (Some(t), _) => Start::Message(earliest(t)),
                (None, Some(t)) => Start::LaterMessage(earliest(t)),
                (None, None) => Start::Unseen {
                    first_switch_s: first.seconds_since(start),
                },
            },
            switched_s: switched.seconds_since(start),
            proven: proof.map_or(ProvenEffect::Nothing, proven),
        })
    };
    let mut moments: Vec<RekeyMoment> = successions.iter().enumerate().filter_map(moment).collect();
    join_collisions(&mut moments, successions);
    moments
}

/// A pair of colliding exchanges is one event: the rekey that switched last stands for both.
fn join_collisions(moments: &mut [RekeyMoment], successions: &[Succession]) {
    let collide = |a: &RekeyMoment, b: &RekeyMoment| {
        let (a, b) = (&successions[a.index], &successions[b.index]);
        a.collision && b.collision && a.initiator != b.initiator && b.started <= a.finished
    };
    for k in 1..moments.len() {
        let (before, behind) = moments.split_at_mut(k);
        let (Some(first), Some(second)) = (before.last_mut(), behind.first_mut()) else {
            continue;
        };
        if !collide(first, second) || first.proven == ProvenEffect::Collided {
            continue;
        }
        let (gone, stands) = if first.switched_s > second.switched_s {
            (second, first)
        } else {
            (first, second)
        };
        if gone.start.latest_s(gone.switched_s) < stands.start.latest_s(stands.switched_s) {
            stands.start = gone.start;
        }
        if !matches!(stands.proven, ProvenEffect::Outage(_)) && gone.proven != ProvenEffect::Acquitted {
            stands.proven = gone.proven;
        }
        gone.proven = ProvenEffect::Collided;
    }
}

/// When the first of the old SAs expired.
fn expired(record: &Record, succession: &Succession) -> Option<Timestamp> {
    let associations = record.sas.associations();
    let times = succession
        .old
        .iter()
        .flatten()
        .filter_map(|&sa| volume::expired(&associations[sa]));
    times.min()
}

//! Events → counters.

use crate::watch::look::ends_of;
use rekeyscope_model::analysis::{Analysis, Direction, KeyStatus, Protocol};
use rekeyscope_model::time::Timestamp;
use rekeyscope_model::watch::{
    BUCKETS, Histogram, Occurrence, TunnelEnds, WatchCounters, WatchEvent, WatchTotals,
};
use std::collections::HashMap;

/// Tunnels that are named in metrics; a gateway with more of them has a series for each of the first.
const MOST_TUNNELS: usize = 256;

/// A rekey whose cost is final, both directions together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SettledRekey {
    /// Longest silence, milliseconds.
    pub(super) silence_ms: f64,
    pub(super) cost_seconds: f64,
}

/// Counts a rekey whose cost is final.
pub(super) fn settle(totals: &mut WatchTotals, rekey: SettledRekey) {
    observe_millis(&mut totals.silence, Some(rekey.silence_ms));
    observe_millis(&mut totals.cost, Some(1_000.0 * rekey.cost_seconds));
}

/// The counters of what an earlier run told. The last events of a rekey say what it cost.
pub fn earlier_totals(events: &[WatchEvent]) -> WatchTotals {
    let mut totals = WatchTotals::default();
    events.iter().for_each(|event| count(&mut totals, event));
    settle_earlier(&mut totals, events);
    totals
}

fn settle_earlier(totals: &mut WatchTotals, events: &[WatchEvent]) {
    let mut costs = HashMap::new();
    for event in events {
        if let Occurrence::RekeyCost {
            direction,
            new,
            cost_seconds,
            silence_ms,
            ..
        } = &event.what
        {
            costs.insert((event.ends, *direction, *new), (*silence_ms, *cost_seconds));
        }
    }
    for event in events {
        let Occurrence::Rekey {
            new,
            silence_ms,
            cost_so_far_seconds,
            ..
        } = &event.what
        else {
            continue;
        };
        let known = Direction::ALL
            .iter()
            .filter_map(|direction| costs.get(&(event.ends, *direction, new.get(*direction))));
        let known: Vec<&(f64, f64)> = known.collect();
        let so_far = (silence_ms.unwrap_or(0.0), cost_so_far_seconds.unwrap_or(0.0));
        let known = if known.is_empty() { vec![&so_far] } else { known };
        let rekey = SettledRekey {
            silence_ms: known.iter().map(|(silence, _)| *silence).fold(0.0, f64::max),
            cost_seconds: known.iter().map(|(_, cost)| *cost).sum(),
        };
        settle(totals, rekey);
    }
}

/// Counts an event.
pub(super) fn count(totals: &mut WatchTotals, event: &WatchEvent) {
    count_what(&mut totals.all, &event.what);
    if let Some(ends) = event.ends
        && let Some(tunnel) = of_tunnel(totals, ends)
    {
        count_what(tunnel, &event.what);
    }
    match &event.what {
        Occurrence::Rekey {
            trigger,
            initiator,
            exchange_ms,
            gap_ms,
            ..
        } => {
            *totals.rekeys.entry((*trigger, *initiator)).or_default() += 1;
            totals.last_rekey = totals.last_rekey.max(Some(event.time));
            observe_millis(&mut totals.exchange, *exchange_ms);
            observe_millis(&mut totals.gap, *gap_ms);
        }
        Occurrence::RekeyFailed { outcome, .. } => *totals.failures.entry(*outcome).or_default() += 1,
        Occurrence::Kernel { counter, packets, .. } => {
            *totals.kernel.entry(counter.clone()).or_default() += packets;
        }
        _ => {}
    }
}

fn count_what(counters: &mut WatchCounters, what: &Occurrence) {
    match what {
        Occurrence::Rekey { .. } => counters.rekeys += 1,
        Occurrence::RekeyFailed { .. } => counters.failures += 1,
        Occurrence::RekeyCost { cost_seconds, .. } => counters.lost_seconds += cost_seconds,
        Occurrence::OutageBegan { .. } => counters.outages += 1,
        Occurrence::OutageEnded {
            seconds, announced, ..
        } => {
            counters.outages += u64::from(!announced);
            let counted = (seconds - counters.outage_credit).max(0.0);
            counters.outage_credit -= seconds - counted;
            counters.outage_seconds += counted;
        }
        Occurrence::OutageCorrected {
            seconds,
            told_seconds,
            ..
        } => {
            let more = seconds - told_seconds;
            counters.outage_seconds += more.max(0.0);
            counters.outage_credit += (-more).max(0.0);
        }
        Occurrence::Kernel { .. }
        | Occurrence::RekeyTrigger { .. }
        | Occurrence::KeyMissing { .. }
        | Occurrence::VerdictChanged { .. } => {}
    }
}

/// The counters of a tunnel; `None` beyond the bound.
fn of_tunnel(totals: &mut WatchTotals, ends: TunnelEnds) -> Option<&mut WatchCounters> {
    let room = totals.by_tunnel.len() < MOST_TUNNELS;
    if room {
        return Some(totals.by_tunnel.entry(ends).or_default());
    }
    totals.by_tunnel.get_mut(&ends)
}

fn observe_millis(histogram: &mut Histogram, millis: Option<f64>) {
    let Some(seconds) = millis.map(|ms| ms / 1_000.0) else {
        return;
    };
    let bucket = BUCKETS.partition_point(|end| *end < seconds);
    histogram.counts[bucket] += 1;
    histogram.sum += seconds;
}

/// What holds now: tunnels and SAs with packets since `lately`.
pub(super) fn observe(totals: &mut WatchTotals, analysis: &Analysis, lately: Timestamp) {
    let in_use = || {
        let sas = analysis.security_associations.iter();
        sas.filter(move |sa| sa.last_time.is_some_and(|last| last >= lately))
    };
    let keyless = in_use().filter(|sa| {
        sa.protocol == Protocol::Esp && sa.inner_bytes.is_none() && sa.key.status != KeyStatus::Verified
    });
    totals.keys_missing = keyless.count() as u64;
    totals.tunnels.clear();
    for tunnel in in_use().filter_map(|sa| analysis.tunnels.get(sa.tunnel)) {
        let ends = ends_of(tunnel);
        // Counters at 0 make the first failure an increase.
        of_tunnel(totals, ends);
        if totals.tunnels.len() < MOST_TUNNELS {
            let what = (tunnel.encapsulation, tunnel.ike_version);
            totals.tunnels.insert(ends, what);
        }
    }
}

/// Packets beyond the bounds of tunnels and SAs since the record was begun.
pub(super) fn not_analysed(analysis: &Analysis) -> u64 {
    let beyond = analysis.diagnostics.iter().filter(|d| d.kind == "too_many");
    beyond.map(|d| d.count).sum()
}

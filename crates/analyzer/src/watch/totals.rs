//! Events → counters.

use rekeyscope_model::analysis::{Analysis, KeyStatus, Protocol};
use rekeyscope_model::time::Timestamp;
use rekeyscope_model::watch::{BUCKETS, Histogram, Occurrence, TunnelEnds, WatchEvent, WatchTotals};

/// Tunnels that are named in metrics; a gateway with more of them has a series for each of the first.
const MOST_TUNNELS: usize = 256;

/// Counts an event.
pub fn count(totals: &mut WatchTotals, event: &WatchEvent) {
    match &event.what {
        Occurrence::Rekey {
            trigger,
            initiator,
            exchange_ms,
            gap_ms,
            silence_ms,
            ..
        } => {
            *totals.rekeys.entry((*trigger, *initiator)).or_default() += 1;
            totals.last_rekey = totals.last_rekey.max(Some(event.time));
            observe_millis(&mut totals.exchange, *exchange_ms);
            observe_millis(&mut totals.gap, *gap_ms);
            observe_millis(&mut totals.silence, *silence_ms);
        }
        Occurrence::RekeyFailed { outcome, .. } => *totals.failures.entry(*outcome).or_default() += 1,
        Occurrence::OutageEnded { seconds, .. } => {
            totals.outages.0 += 1;
            totals.outages.1 += seconds;
        }
        Occurrence::Kernel { counter, packets, .. } => {
            *totals.kernel.entry(counter.clone()).or_default() += packets;
        }
        Occurrence::RekeyCost { .. }
        | Occurrence::OutageBegan { .. }
        | Occurrence::KeyMissing { .. }
        | Occurrence::VerdictChanged { .. } => {}
    }
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
        if totals.tunnels.len() < MOST_TUNNELS {
            let ends = TunnelEnds {
                client: tunnel.a,
                gateway: tunnel.b,
            };
            totals
                .tunnels
                .insert(ends, (tunnel.encapsulation, tunnel.ike_version));
        }
    }
}

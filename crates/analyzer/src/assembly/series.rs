//! The throughput part of the document.

use crate::pipeline::record::Record;
use crate::throughput::series::highest_rate;
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_model::analysis::{Rekey, RekeySeries, Series, TunnelSeries};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};

/// What is shown around a rekey at full resolution: this long before the exchange …
const BEFORE_NANOS: i64 = 2 * NANOS_PER_SECOND;
/// … to this long after the switch.
const AFTER_NANOS: i64 = 5 * NANOS_PER_SECOND;
/// Bins of the whole run that are fine enough; with coarser ones the windows around rekeys are kept beside it.
const FINE_MS: f64 = 10.0;
/// Most windows.
const MOST_WINDOWS: usize = 500;

pub(crate) fn series(record: &Record, successions: &[Succession], rekeys: &[Rekey]) -> Series {
    let bin_ms = record.meters.document_bin_ms();
    let bin_nanos = (bin_ms * NANOS_PER_MILLI as f64).round() as i64;
    let mut tunnels = Vec::new();
    for (tunnel, internal) in record.meters.directions() {
        if let Some(series) = record.meters.counted(tunnel, internal) {
            let (inner_new_bytes, outer_bytes) = series.sums(bin_nanos);
            let direction = record.tunnels.tunnels[tunnel].published(internal);
            tunnels.push(TunnelSeries {
                tunnel,
                direction,
                start: series.start(),
                highest: highest_rate(&inner_new_bytes, bin_ms / 1000.0),
                inner_new_bytes,
                outer_bytes,
            });
        }
    }
    tunnels.sort_by_key(|s| (s.tunnel, s.direction));
    let around_rekeys = if bin_ms > FINE_MS {
        windows(record, successions, rekeys)
    } else {
        Vec::new()
    };
    Series {
        bin_ms,
        tunnels,
        around_rekeys,
    }
}

fn windows(record: &Record, successions: &[Succession], rekeys: &[Rekey]) -> Vec<RekeySeries> {
    let mut windows = Vec::new();
    for (succession, rekey) in successions.iter().zip(rekeys) {
        for internal in rekeyscope_model::analysis::Direction::BOTH {
            let Some(switched) = succession.switched[slot(internal)] else {
                continue;
            };
            let from = succession.started.unwrap_or(switched).plus_nanos(-BEFORE_NANOS);
            let direction = record.tunnels.tunnels[succession.tunnel].published(internal);
            let series = record.meters.counted(succession.tunnel, internal);
            let to = switched.plus_nanos(AFTER_NANOS);
            windows.extend(series.and_then(|s| s.window(rekey.index, direction, from, to)));
            if windows.len() >= MOST_WINDOWS {
                return windows;
            }
        }
    }
    windows
}

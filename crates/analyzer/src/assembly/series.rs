//! The throughput part of the document: bytes count when the copy that arrived passes, as in the ledger; in directions without a transfer, when
//! they pass first.

use crate::pipeline::record::Record;
use crate::traffic::DOCUMENT_BIN_NANOS;
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_ipsec::sa::tunnel::Side;
use rekeyscope_model::analysis::{Direction, HighestRate, Rekey, RekeySeries, Series, TunnelSeries};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::TransmissionRun;
use std::collections::HashMap;

type Arrived = HashMap<Side, Vec<TransmissionRun>>;

/// What is shown around a rekey at full resolution: this long before the exchange …
const BEFORE_NANOS: i64 = 2 * NANOS_PER_SECOND;
/// … to this long after the switch.
const AFTER_NANOS: i64 = 5 * NANOS_PER_SECOND;
/// Rates are spoken of over this long, seconds.
const SMOOTHED_S: f64 = 1.0;
/// Most windows.
const MOST_WINDOWS: usize = 500;

pub(crate) fn series(
    record: &Record,
    arrived: &Arrived,
    successions: &[Succession],
    rekeys: &[Rekey],
) -> Series {
    let bin_nanos = record.meters.document_bin_nanos();
    let bin_ms = (bin_nanos / NANOS_PER_MILLI) as f64;
    let mut tunnels = Vec::new();
    for (tunnel, internal) in record.meters.directions() {
        if let Some(series) = record.meters.counted(tunnel, internal) {
            let (mut inner_new_bytes, outer_bytes) = series.sums(bin_nanos);
            if let Some(runs) = arrived.get(&(tunnel, internal)) {
                fill(&mut inner_new_bytes, runs, (series.start(), bin_nanos));
            }
            let direction = record.published((tunnel, internal));
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
    // Beside coarser bins the windows around rekeys are kept.
    let around_rekeys = if bin_nanos > DOCUMENT_BIN_NANOS {
        windows(record, arrived, successions, rekeys)
    } else {
        Vec::new()
    };
    Series {
        bin_ms,
        tunnels,
        around_rekeys,
    }
}

/// The highest mean rate over [`SMOOTHED_S`]; `None` where no bin holds anything.
fn highest_rate(bytes: &[u64], bin_s: f64) -> Option<HighestRate> {
    let bins = ((SMOOTHED_S / bin_s).round() as usize).clamp(1, bytes.len().max(1));
    let sum = |window: &[u64]| window.iter().fold(0u64, |sum, &b| sum.saturating_add(b));
    let highest = bytes.windows(bins).map(sum).max().filter(|&b| b > 0)?;
    let seconds = bins as f64 * bin_s;
    Some(HighestRate {
        bps: highest as f64 * 8.0 / seconds,
        seconds,
    })
}

/// Replaces the bins of a series by what arrived in them. A run that lies in several bins gives to each by its time.
fn fill(bins: &mut [u64], runs: &[TransmissionRun], (start, width): (Timestamp, i64)) {
    bins.fill(0);
    let end = start.plus_nanos(width.saturating_mul(bins.len() as i64));
    let first = runs.partition_point(|run| run.to < start);
    for run in runs.iter().skip(first).take_while(|run| run.from < end) {
        let before = |time: Timestamp| -> u64 {
            let (passed, length) = (time.nanos_since(run.from), run.to.nanos_since(run.from));
            match passed {
                _ if passed > length => run.bytes,
                1.. => (u128::from(run.bytes) * passed as u128 / length.max(1) as u128) as u64,
                _ => 0,
            }
        };
        let bin = |time: Timestamp| time.nanos_since(start).div_euclid(width);
        let within = bin(run.from).max(0)..=bin(run.to).min(bins.len() as i64 - 1);
        for at in within {
            let begin = start.plus_nanos(width.saturating_mul(at));
            if let Some(sum) = bins.get_mut(at as usize) {
                *sum += before(begin.plus_nanos(width)) - before(begin);
            }
        }
    }
}

fn windows(
    record: &Record,
    arrived: &Arrived,
    successions: &[Succession],
    rekeys: &[Rekey],
) -> Vec<RekeySeries> {
    let mut windows = Vec::new();
    for (succession, rekey) in successions.iter().zip(rekeys) {
        for internal in Direction::BOTH {
            let Some(switched) = succession.switched[slot(internal)] else {
                continue;
            };
            let from = succession.started.unwrap_or(switched).plus_nanos(-BEFORE_NANOS);
            let direction = record.published((succession.tunnel, internal));
            let series = record.meters.counted(succession.tunnel, internal);
            let to = switched.plus_nanos(AFTER_NANOS);
            let mut window = series.and_then(|s| s.window(rekey.index, direction, (from, to)));
            if let Some((window, runs)) = window.as_mut().zip(arrived.get(&(succession.tunnel, internal))) {
                let width = (window.bin_ms * NANOS_PER_MILLI as f64).round() as i64;
                fill(&mut window.inner_new_bytes, runs, (window.start, width));
            }
            windows.extend(window);
            if windows.len() >= MOST_WINDOWS {
                return windows;
            }
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_give_their_bytes_by_time_and_lose_none() {
        let run = |from, to, bytes| TransmissionRun {
            from: Timestamp(from),
            to: Timestamp(to),
            frames: (0, 0),
            spi: None,
            packets: 1,
            superfluous: 0,
            bytes,
            acknowledged: None,
            lacking_since: Timestamp(from),
            beyond_gap: false,
        };
        let mut bins = [7; 4];
        let runs = [run(0, 0, 100), run(5, 25, 1_001), run(39, 45, 60), run(90, 90, 5)];
        fill(&mut bins, &runs, (Timestamp(0), 10));
        // 1,001 bytes in 20: 250 up to 10, 500 more up to 20; of 60 in 6 the first 10 lie in the last bin.
        assert_eq!(bins, [350, 500, 251, 10]);
    }
}

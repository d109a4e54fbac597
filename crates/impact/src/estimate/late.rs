//! What follows where the first message of an exchange is not in the capture: the window then begins too late, so the stall
//! within it is a lower bound. Over a slow stretch before it, only the upper end of the interval reaches back, because there
//! the error must not be understated.

use crate::decide::evaluation::Evaluation;
use crate::estimate::aggregate::MeanStall;
use crate::estimate::stall::{DIP_BELOW, HELD_S, MeasuredStall, SMOOTHING_S};
use crate::input::transfer::PlacedRekey;

/// Where windows begin too late, the mean's interval reaches up to what the slow stretches before them would add.
pub(crate) fn widen(transfers: &[&Evaluation], window: usize, mean: MeanStall) -> MeanStall {
    if transfers.iter().all(|e| e.late_starts() == 0) {
        return mean;
    }
    let stalls: Vec<f64> = transfers.iter().flat_map(|e| longest(e, window)).collect();
    let high = MeanStall::of(&stalls, mean.bias_s).map_or(mean.high, |m| m.high);
    MeanStall {
        high: mean.high.max(high),
        ..mean
    }
}

/// The stalls of one transfer's rekeys, each with the slow stretch before its window, seconds.
fn longest(e: &Evaluation, window: usize) -> Vec<f64> {
    let switches = latest_switches(&e.placed);
    let longest = |(k, s): (usize, &MeasuredStall)| {
        let before = reach_back_bins(e, &e.used[k], s.baseline.rate, &switches);
        let start = e.used[k].start;
        let lost = s.baseline.rate * e.grid.seconds(before) - e.grid.bytes(start - before, start);
        if s.baseline.rate > 0.0 {
            s.seconds + (lost / s.baseline.rate).max(0.0)
        } else {
            s.seconds
        }
    };
    e.stalls[window].iter().enumerate().map(longest).collect()
}

/// Bins before the window of a late start within which the rate stays below that of a dip (one that is back for less
/// than [`HELD_S`] goes on), back to the rekey before it at most.
fn reach_back_bins(e: &Evaluation, rekey: &PlacedRekey, rate: f64, switches: &[i64]) -> i64 {
    if !rekey.known.is_late() {
        return 0;
    }
    let before = e.placed.partition_point(|p| p.start < rekey.start);
    let latest = before.checked_sub(1).and_then(|last| switches.get(last)).copied();
    let limit = latest.unwrap_or(0).max(e.run.from);
    let (smooth, held) = (e.grid.length(SMOOTHING_S), e.grid.length(HELD_S));
    let mut above = 0;
    let mut bins = 0;
    for bin in (limit..rekey.start - smooth + 1).rev() {
        if e.grid.rate(bin, bin + smooth) < DIP_BELOW * rate {
            (above, bins) = (0, rekey.start - bin);
        } else {
            above += 1;
        }
        if above == held {
            break;
        }
    }
    bins
}

/// The latest switch of each rekey and those before it; they are in order of their starts.
fn latest_switches(placed: &[PlacedRekey]) -> Vec<i64> {
    placed
        .iter()
        .scan(i64::MIN, |latest, rekey| {
            *latest = rekey.switch.max(*latest);
            Some(*latest)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::start::Start;

    #[test]
    fn the_latest_switch_is_that_of_any_rekey_before() {
        let placed = [3, 9, 5, 12].map(|switch| PlacedRekey {
            moment: 0,
            started_s: 0.0,
            switched_s: 0.0,
            start: 0,
            switch,
            used: true,
            idle: false,
            unobserved: false,
            known: Start::Message(0.0),
        });
        assert_eq!(latest_switches(&placed), [3, 9, 9, 12]);
    }
}

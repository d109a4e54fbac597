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
    use crate::decide::made_up::stalled;
    use crate::input::grid::Grid;
    use crate::input::grid::tests::synthetic_series;
    use crate::input::start::Start;
    use std::sync::Arc;

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

    /// Rekeys at 3, 5 and 7 s that stall for 0.1, 0.2 and 0.3 s; before the second one of them only a tenth of the usual 20 kB/s
    /// comes in these bins of 10 ms.
    fn slow_in(slow: &[(usize, usize)]) -> Evaluation {
        let mut e = stalled(&[3.0, 5.0, 7.0], &[0.1, 0.2, 0.3]);
        let mut bytes = vec![100; 2_400];
        for (from, to) in slow {
            bytes[2 * from..2 * to].fill(10);
        }
        e.grid = Arc::new(Grid::new(&synthetic_series(bytes), 2, 0));
        (e.placed[1].known, e.used[1].known) = (Start::LaterMessage(5.0), Start::LaterMessage(5.0));
        e
    }

    fn reaches_back(e: &Evaluation, rekey: usize) -> i64 {
        reach_back_bins(e, &e.used[rekey], 20_000.0, &latest_switches(&e.placed))
    }

    /// Means of 50 ms are below four fifths as long as at most three of their five bins are fast.
    #[test]
    fn a_slow_stretch_before_a_late_start_is_reached_over() {
        assert_eq!(reaches_back(&slow_in(&[(400, 500)]), 1), 103);
        assert_eq!(
            reaches_back(&slow_in(&[(400, 500)]), 0),
            0,
            "its first message was captured"
        );
        assert_eq!(reaches_back(&slow_in(&[]), 1), 0);
        // Back for less than 100 ms it goes on.
        assert_eq!(reaches_back(&slow_in(&[(400, 450), (460, 500)]), 1), 103);
        assert_eq!(reaches_back(&slow_in(&[(400, 440), (460, 500)]), 1), 43);
        // No further than the rekey before.
        assert_eq!(reaches_back(&slow_in(&[(200, 500)]), 1), 500 - 310);
        let mut first = slow_in(&[(0, 500)]);
        first.placed.remove(0);
        assert_eq!(reaches_back(&first, 1), 400, "nor than the transfer");
    }

    #[test]
    fn the_upper_end_alone_reaches_back() {
        let e = slow_in(&[(400, 500)]);
        // 1.03 s of which 2,600 of 20,600 bytes came.
        let stalls = longest(&e, 1);
        let expected = [0.1, 0.2 + 0.9, 0.3];
        assert!(
            stalls.iter().zip(expected).all(|(s, e)| (s - e).abs() < 1e-9),
            "{stalls:?}"
        );
        let mean = MeanStall::of(&e.seconds(1), None).unwrap();
        let wide = widen(&[&e], 1, mean);
        let high = MeanStall::of(&expected, None).unwrap().high;
        assert_eq!((wide.mean, wide.low), (mean.mean, mean.low));
        assert!((wide.high - high).abs() < 1e-9 && high > mean.high);
        let mut captured = slow_in(&[(400, 500)]);
        captured.used[1].known = Start::Message(5.0);
        assert_eq!(widen(&[&captured], 1, mean), mean);
    }
}

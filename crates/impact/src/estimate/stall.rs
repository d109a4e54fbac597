//! What one rekey cost: bytes lost against its baseline, equivalent stall, depth and duration. Never clipped at zero: a
//! rekey that happens to fall in a fast moment has a negative loss, and only so do the losses average out.

use crate::estimate::baseline::{Baseline, Ruler, Window};

/// Length of the means that depth and duration look at, seconds.
pub(crate) const SMOOTHING_S: f64 = 0.05;
/// A dip begins when the smoothed rate falls below this share of the baseline.
pub(crate) const DIP_BELOW: f64 = 0.8;
/// A dip ends when the smoothed rate is back above it for this long, seconds.
pub(crate) const HELD_S: f64 = 0.1;

/// Loss of one rekey at one W.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeasuredStall {
    /// B_k.
    pub(crate) baseline: Baseline,
    /// L_k = Σ over [t_Q, t_k + W] of (B_k·Δ − b_i), bytes.
    pub(crate) lost_bytes: f64,
    /// s_k = L_k / B_k, seconds; 0 where the baseline is 0.
    pub(crate) seconds: f64,
}

/// Loss of a rekey that begins in bin `start` and switches before bin `switch`. The sum ends with the run: what comes
/// after the transfer is not lost.
pub(crate) fn stall(ruler: &Ruler<'_>, start: i64, switch: i64, window: &Window) -> MeasuredStall {
    let baseline = ruler.baseline(start, switch, window);
    let end = (switch + window.bins).min(ruler.run.to).max(start);
    let lost_bytes = baseline.rate * ruler.grid.seconds(end - start) - ruler.grid.bytes(start, end);
    let seconds = if baseline.rate > 0.0 {
        lost_bytes / baseline.rate
    } else {
        0.0
    };
    MeasuredStall {
        baseline,
        lost_bytes,
        seconds,
    }
}

/// Shape of the dip around one rekey.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dip {
    /// D_k = 1 − min(50 ms mean)/B_k within [t_Q, t_k + W].
    pub(crate) depth: f64,
    /// From a fall below 0.8·B_k within that window to the first return held for 100 ms, seconds; the longest where there
    /// are several (a ripple of 20 ms may come before the outage), 0 without a fall. Seen through 50 ms means, so known
    /// to within 50 ms.
    pub(crate) seconds: f64,
    /// The next rekey or the end of the run came before the return.
    pub(crate) censored: bool,
}

/// The dip of a rekey; `limit` is the start of the next one. `None` without a baseline.
pub(crate) fn dip(
    ruler: &Ruler<'_>,
    start: i64,
    switch: i64,
    window: &Window,
    rate: f64,
    limit: i64,
) -> Option<Dip> {
    let grid = ruler.grid;
    let smooth = grid.length(SMOOTHING_S);
    let end = (switch + window.bins).min(ruler.run.to);
    let last = end - smooth; // the last bin whose mean lies within the window
    if rate <= 0.0 || last < start {
        return None;
    }
    let mean = |bin: i64| grid.rate(bin, bin + smooth);
    let lowest = (start..=last).map(mean).fold(f64::INFINITY, f64::min);
    let mut dip = Dip {
        depth: 1.0 - lowest / rate,
        seconds: 0.0,
        censored: false,
    };
    let limit = limit.min(ruler.run.to);
    let below = |bin: i64| mean(bin) < DIP_BELOW * rate;
    let mut from = start;
    while let Some(fall) = (from..=last).find(|&bin| below(bin)) {
        let back = first_held(fall, limit - smooth, grid.length(HELD_S), below);
        let until = back.unwrap_or(limit.max(fall));
        if grid.seconds(until - fall) > dip.seconds {
            (dip.seconds, dip.censored) = (grid.seconds(until - fall), back.is_none());
        }
        from = until.max(fall + 1);
    }
    Some(dip)
}

/// The first bin from `from` on at which `held` bins in a row are not below; `last` is the last bin looked at.
fn first_held(from: i64, last: i64, held: i64, below: impl Fn(i64) -> bool) -> Option<i64> {
    let mut above = 0;
    for bin in from..=last {
        above = if below(bin) { 0 } else { above + 1 };
        if above == held {
            return Some(bin + 1 - held);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::baseline::fitting_windows;
    use crate::input::grid::tests::synthetic_series;
    use crate::input::grid::{Grid, Span};
    use crate::input::moment::{ProvenEffect, RekeyMoment};
    use crate::input::start::Start;
    use crate::input::transfer::{PlacedRekey, place};

    /// 40 s at 20 kB/s, silent for `silence_s` from the rekey's t_Q = 20 s on; t_k 0.3 s later.
    fn synthetic_outage(silence_s: f64) -> (Grid, Span, Vec<PlacedRekey>) {
        let mut bytes = vec![100; 8000];
        let silent = (silence_s / 0.005).round() as usize;
        bytes.iter_mut().skip(4000).take(silent).for_each(|b| *b = 0);
        let grid = Grid::new(&synthetic_series(bytes), 2, 0);
        let run = Span { from: 0, to: 4000 };
        let rekey = RekeyMoment {
            index: 0,
            start: Start::Message(20.0),
            switched_s: 20.3,
            proven: ProvenEffect::Nothing,
        };
        let placed = place(&grid, run, &[rekey], false);
        (grid, run, placed)
    }

    #[test]
    fn a_silence_is_its_own_stall_at_every_window() {
        let (grid, run, placed) = synthetic_outage(0.4);
        let ruler = Ruler {
            grid: &grid,
            run,
            busy_median: 20_000.0,
            before_only: false,
        };
        for window in fitting_windows(&grid, run, &placed, &placed) {
            let s = stall(&ruler, placed[0].start, placed[0].switch, &window);
            assert!((s.seconds - 0.4).abs() < 1e-9, "{} s: {s:?}", window.seconds);
            assert!((s.lost_bytes - 8000.0).abs() < 1e-6);
        }
    }

    #[test]
    fn more_than_the_baseline_is_a_negative_loss() {
        let mut bytes = vec![100; 8000];
        bytes[4000..4020].fill(300);
        let grid = Grid::new(&synthetic_series(bytes), 2, 0);
        let run = Span { from: 0, to: 4000 };
        let ruler = Ruler {
            grid: &grid,
            run,
            busy_median: 20_000.0,
            before_only: false,
        };
        let (_, _, placed) = synthetic_outage(0.0);
        let window = &fitting_windows(&grid, run, &placed, &placed)[0];
        let s = stall(&ruler, placed[0].start, placed[0].switch, window);
        assert!((s.seconds + 0.2).abs() < 1e-9, "{s:?}");
    }

    #[test]
    fn the_window_ends_with_the_run() {
        let (grid, _, placed) = synthetic_outage(0.0);
        let run = Span { from: 0, to: 2040 };
        let ruler = Ruler {
            grid: &grid,
            run,
            busy_median: 20_000.0,
            before_only: false,
        };
        let windows = fitting_windows(&grid, run, &placed, &placed);
        let s = stall(&ruler, placed[0].start, placed[0].switch, windows.last().unwrap());
        assert!(s.seconds.abs() < 1e-9, "{s:?}");
    }

    #[test]
    fn depth_and_duration_of_a_silence() {
        let (grid, run, placed) = synthetic_outage(0.4);
        let ruler = Ruler {
            grid: &grid,
            run,
            busy_median: 20_000.0,
            before_only: false,
        };
        let window = &fitting_windows(&grid, run, &placed, &placed)[1];
        let d = dip(
            &ruler,
            placed[0].start,
            placed[0].switch,
            window,
            20_000.0,
            i64::MAX,
        )
        .unwrap();
        assert_eq!((d.depth, d.censored), (1.0, false));
        assert!((d.seconds - 0.4).abs() <= SMOOTHING_S, "{d:?}");
        let cut = dip(
            &ruler,
            placed[0].start,
            placed[0].switch,
            window,
            20_000.0,
            placed[0].start + 25,
        )
        .unwrap();
        assert!(cut.censored && (cut.seconds - 0.25).abs() < 1e-9, "{cut:?}");
        let (grid, run, placed) = synthetic_outage(0.0);
        let ruler = Ruler {
            grid: &grid,
            run,
            busy_median: 20_000.0,
            before_only: false,
        };
        let even = dip(
            &ruler,
            placed[0].start,
            placed[0].switch,
            window,
            20_000.0,
            i64::MAX,
        )
        .unwrap();
        assert_eq!((even.depth, even.seconds), (0.0, 0.0));
    }

    #[test]
    fn what_is_held_began_with_the_first_of_its_bins() {
        let held = |from, last| first_held(from, last, 3, |bin| bin < 10 || bin == 12);
        assert_eq!(
            (held(0, 99), held(10, 99), held(20, 99)),
            (Some(13), Some(13), Some(20))
        );
        assert_eq!((held(0, 15), held(0, 14)), (Some(13), None));
    }
}

//! Which part of a stretch between rests is the transfer, and which rekeys lie in it.

use crate::input::grid::{Grid, Span};
use crate::input::moment::RekeyMoment;
use crate::input::start::Start;
use crate::input::traffic::Traffic;

/// Length of the moving mean that finds the transfer, seconds.
const MOVING_S: f64 = 1.0;
/// Share of its maximum that the moving rate must reach.
const ACTIVE_SHARE: f64 = 0.1;
/// Left out at its beginning: TCP slow start, seconds.
const SLOW_START_S: f64 = 1.0;
/// Bins with traffic below which there is nothing to measure: one window of 0.25 s between two baselines of 0.2 s
/// holds 65 bins of 10 ms.
const LEAST_BUSY_BINS: usize = 65;
/// A rekey counts only when this much of the transfer follows its switch: the shortest window, seconds.
const AFTER_SWITCH_S: f64 = 0.25;
/// Silence (under [`IDLE_SHARE`]) before the exchange that makes a time-triggered rekey an idle one, seconds.
const IDLE_TIME_TRIGGERED_S: f64 = 1.0;
/// The same for other triggers: longer than strongSwan's first three retransmission timers (4 + 7.2 + 13 s), so that an
/// outage whose first exchange message was lost before the capture point is not taken for idleness.
const IDLE_OTHERWISE_S: f64 = 30.0;
/// Silence that must follow the switch of an idle rekey as well, seconds.
const IDLE_AFTER_S: f64 = 1.0;
/// Share of the busy median under which a stretch carries nothing worth the name.
pub(crate) const IDLE_SHARE: f64 = 0.1;

/// The transfer in seconds from the start of the series; `None` where there is nothing to measure.
///
/// It runs from the first to the last moment at which the centred 1 s moving rate reaches 10 % of its maximum, cut to the
/// first and last byte in there (a centred window reaches half a second beyond the traffic), less its first second.
pub(crate) fn find(grid: &Grid) -> Option<(f64, f64)> {
    let half = grid.length(MOVING_S / 2.0);
    let moving = |bin: i64| grid.bytes(bin - half, bin + half);
    let most = (0..grid.bins()).map(moving).fold(0.0, f64::max);
    let active = |bin: &i64| most > 0.0 && moving(*bin) >= ACTIVE_SHARE * most;
    let first = (0..grid.bins()).find(active)?;
    let last = (0..grid.bins()).rev().find(active)?;
    let busy = |bin: &i64| grid.bytes(*bin, *bin + 1) > 0.0;
    let first = (first..=last).find(busy)?;
    let last = (first..=last).rev().find(busy)?;
    let span = Span {
        from: first + grid.length(SLOW_START_S),
        to: last + 1,
    };
    let busy_bins = (span.from..span.to).filter(busy).take(LEAST_BUSY_BINS).count();
    (busy_bins >= LEAST_BUSY_BINS).then(|| (grid.start_of(span.from), grid.start_of(span.to)))
}

/// The same interval in the bins of any grid.
pub(crate) fn span(grid: &Grid, (from_s, to_s): (f64, f64)) -> Span {
    Span {
        from: grid.bin_from(from_s).max(0),
        to: grid.bin_at(to_s).min(grid.bins()),
    }
}

/// Median of the 1 s moving rate where it carries anything, bytes per second; 0 where nothing does. (A median of bins would be
/// sixteen times the rate where a burst of one bin comes every 150 ms.)
pub(crate) fn busy_median(grid: &Grid, run: Span) -> f64 {
    let length = grid.length(MOVING_S).min(run.len());
    let mut busy: Vec<f64> = (run.from..=run.to - length)
        .map(|i| grid.rate(i, i + length))
        .filter(|&rate| rate > 0.0)
        .collect();
    median(&mut busy).unwrap_or(0.0)
}

/// Median (mean of the middle two); reorders its argument.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    if values.is_empty() {
        return None;
    }
    let (smaller, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = if even {
        smaller.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    } else {
        upper
    };
    Some(f64::midpoint(lower, upper))
}

/// A rekey on the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlacedRekey {
    /// Position in the list of moments given.
    pub(crate) moment: usize,
    /// t_Q, seconds.
    pub(crate) started_s: f64,
    /// t_k, seconds.
    pub(crate) switched_s: f64,
    /// Bin of t_Q.
    pub(crate) start: i64,
    /// First bin after t_k.
    pub(crate) switch: i64,
    /// Within the transfer and not idle.
    pub(crate) used: bool,
    /// Within the transfer, but nothing was under way.
    pub(crate) idle: bool,
    /// Within the transfer, but its window touches a hole of the capture.
    pub(crate) unobserved: bool,
    /// What is known of t_Q: unless it is [`Start::Message`], the exchange began earlier than `started_s`.
    pub(crate) known: Start,
}

impl PlacedRekey {
    /// G in bins.
    pub(crate) fn exchange_bins(&self) -> i64 {
        self.switch - self.start
    }

    /// G in seconds.
    pub(crate) fn exchange_s(&self) -> f64 {
        self.switched_s - self.started_s
    }
}

/// Puts the rekeys on the grid, in order of t_Q. Moments that are not finite are left out. With `anchor_at_start`, t_Q
/// stands in for t_k (a sensitivity run).
pub(crate) fn place(
    grid: &Grid,
    run: Span,
    rekeys: &[RekeyMoment],
    anchor_at_start: bool,
) -> Vec<PlacedRekey> {
    let (run_from_s, run_to_s) = (grid.start_of(run.from), grid.start_of(run.to));
    let mut placed: Vec<PlacedRekey> = rekeys
        .iter()
        .enumerate()
        .filter(|(_, r)| r.switched_s.is_finite())
        .map(|(moment, r)| {
            let started_s = r.start.latest_s(r.switched_s);
            let switched_s = if anchor_at_start { started_s } else { r.switched_s };
            PlacedRekey {
                moment,
                started_s,
                switched_s,
                start: grid.bin_at(started_s),
                switch: grid.bin_from(switched_s).max(grid.bin_at(started_s)),
                used: started_s >= run_from_s && switched_s + AFTER_SWITCH_S <= run_to_s,
                idle: false,
                unobserved: false,
                known: r.start,
            }
        })
        .collect();
    placed.sort_by(|a, b| a.started_s.total_cmp(&b.started_s));
    placed
}

/// Marks rekeys as unused that lie in an idle stretch: silence before the exchange *and* after the switch. A rekey that
/// ends an outage is followed by traffic, and an outage begins no earlier than its exchange or a lost copy of it.
///
/// Silence counts within the transfer only: what lies before it is no silence in it.
pub(crate) fn leave_out_idle(
    grid: &Grid,
    run: Span,
    busy_median: f64,
    placed: &mut [PlacedRekey],
    time_triggered: bool,
) {
    let before = grid.length(if time_triggered {
        IDLE_TIME_TRIGGERED_S
    } else {
        IDLE_OTHERWISE_S
    });
    let after = grid.length(IDLE_AFTER_S);
    let mut outage_end = i64::MIN; // of the rekeys before this one: their outage is not idleness
    for rekey in placed.iter_mut() {
        let quiet = |from: i64, to: i64| {
            let within = Span { from, to }.clip(run);
            within.len() > 0 && grid.rate(within.from, within.to) < IDLE_SHARE * busy_median
        };
        let undisturbed = outage_end < rekey.start - before;
        if undisturbed
            && quiet(rekey.start - before, rekey.start)
            && quiet(rekey.switch, rekey.switch + after)
        {
            rekey.idle = rekey.used;
            rekey.used = false;
        }
        outage_end = outage_end.max(rekey.switch + after);
    }
}

/// Whether the description of the series makes sense at all.
pub(crate) fn is_sound(traffic: &Traffic) -> bool {
    traffic.base_bin_s.is_finite() && traffic.base_bin_s > 0.0 && !traffic.bytes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::grid::tests::synthetic_series;
    use crate::input::moment::ProvenEffect;

    fn grid(bytes: Vec<u32>) -> Grid {
        Grid::new(&synthetic_series(bytes), 2, 0)
    }

    fn moment(started_s: f64, switched_s: f64) -> RekeyMoment {
        RekeyMoment {
            index: 0,
            start: Start::Message(started_s),
            switched_s,
            proven: ProvenEffect::Nothing,
        }
    }

    /// Silence for 2 s, traffic for 10 s, silence for 3 s.
    fn synthetic_transfer() -> Vec<u32> {
        [vec![0; 400], vec![100; 2000], vec![0; 600]].concat()
    }

    #[test]
    fn the_transfer_is_the_traffic_less_its_first_second() {
        let (from, to) = find(&grid(synthetic_transfer())).unwrap();
        assert!(
            (from - 3.0).abs() < 1e-9 && (to - 12.0).abs() < 1e-9,
            "{from} {to}"
        );
    }

    #[test]
    fn a_trickle_beside_the_transfer_is_not_part_of_it() {
        let mut bytes = synthetic_transfer();
        for bin in bytes.iter_mut().take(300).step_by(50) {
            *bin = 60;
        }
        assert_eq!(find(&grid(bytes)).map(|t| t.0), Some(3.0));
    }

    #[test]
    fn nothing_to_measure() {
        assert_eq!(find(&grid(vec![])), None);
        assert_eq!(find(&grid(vec![0; 5000])), None);
        assert_eq!(
            find(&grid(vec![100; 300])),
            None,
            "shorter than slow start and a window"
        );
        let mut trickle = vec![0; 20_000];
        trickle.iter_mut().step_by(1000).for_each(|b| *b = 500);
        assert_eq!(find(&grid(trickle)), None);
    }

    #[test]
    fn rekeys_outside_the_transfer_are_not_used() {
        let g = grid(synthetic_transfer());
        let run = span(&g, find(&g).unwrap());
        let rekeys = [
            moment(2.5, 3.5),
            moment(5.0, 5.4),
            moment(11.0, 11.74),
            moment(11.2, 11.76),
        ];
        let used: Vec<bool> = place(&g, run, &rekeys, false).iter().map(|p| p.used).collect();
        assert_eq!(used, [false, true, true, false]);
    }

    #[test]
    fn a_missing_exchange_is_assumed_and_a_late_one_is_cut() {
        let g = grid(synthetic_transfer());
        let run = span(&g, find(&g).unwrap());
        let rekeys = [
            RekeyMoment {
                index: 0,
                start: Start::Unseen { first_switch_s: 6.0 },
                switched_s: 6.0,
                proven: ProvenEffect::Nothing,
            },
            moment(8.0, 7.5),
            moment(1.0, f64::NAN),
        ];
        let placed = place(&g, run, &rekeys, false);
        assert_eq!(placed.len(), 2);
        assert!(placed[0].known.is_late() && (placed[0].started_s - 5.7).abs() < 1e-9);
        assert_eq!(placed[1].exchange_bins(), 0);
    }

    #[test]
    fn idle_rekeys_are_left_out_but_outages_are_not() {
        // Traffic, 8 s of silence, traffic.
        let bytes = [vec![100; 2000], vec![0; 1600], vec![100; 2000]].concat();
        let g = grid(bytes);
        let run = span(&g, find(&g).unwrap());
        let used = |rekey: RekeyMoment, time_triggered: bool| {
            let mut placed = place(&g, run, &[rekey], false);
            leave_out_idle(&g, run, busy_median(&g, run), &mut placed, time_triggered);
            placed[0].used
        };
        assert!(!used(moment(13.0, 13.3), true), "in the middle of the silence");
        assert!(
            used(moment(13.0, 13.3), false),
            "by volume: an outage whose beginning was not captured"
        );
        assert!(used(moment(17.0, 17.9), true), "traffic resumes with the switch");
        assert!(used(moment(9.9, 16.0), true), "silence begins with the exchange");
    }

    #[test]
    fn what_lies_before_the_transfer_is_no_silence_in_it() {
        // 40 s of nothing, 3 s of traffic, an outage of 1.9 s at a rekey, traffic.
        let bytes = [vec![0; 8000], vec![100; 600], vec![0; 380], vec![100; 2000]].concat();
        let g = grid(bytes);
        let run = span(&g, find(&g).unwrap());
        let mut placed = place(&g, run, &[moment(43.0, 43.2)], false);
        leave_out_idle(&g, run, busy_median(&g, run), &mut placed, false);
        assert!(placed[0].used, "{placed:?}");
    }

    #[test]
    fn median_of_even_and_odd() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&mut []), None);
    }
}

//! The place of an iperf3 run on the capture's clock is where its rates go up and down as the packets' do.
//!
//! For every offset of a grid the correlation (Pearson's r) between the run's rates and the packet record's mean rates over
//! the same intervals is computed, for every tunnel and direction; the highest one wins. Sums over an interval come
//! from a running sum, in which a part of a bin counts in proportion.

use crate::overlay::iperf3::Iperf3Run;
use rekeyscope_model::analysis::{Direction, OverlayComparison, Series, TunnelSeries};
use rekeyscope_model::sample::Sample;

/// Tunnels and directions that are tried, those with most bytes first.
const MOST_SERIES: usize = 8;
/// Intervals that are compared, spread over the run: as many offsets times intervals are computed.
const MOST_INTERVALS: usize = 4_000;
/// Fewer intervals than this fit anything.
const FEWEST_INTERVALS: usize = 8;
/// An offset counts when at least this share of the intervals lies within the packet record.
const COVERED: f64 = 0.5;
/// An offset is believed from this many standard errors on (1/√n for n unrelated intervals). The places of a capture that do
/// not overlap number a few hundred; at four standard errors one of them fits by chance in about one file of a hundred.
const BELIEVED_ERRORS: f64 = 4.0;
/// But never below this, where the packets explain half of the variance (r² = 0.49): neighbouring intervals are alike, so that n
/// counts for less than it says …
const BELIEVED_LEAST: f64 = 0.7;
/// … and never asked for more than this: iperf3 counts what was read, which lags behind what arrived.
const BELIEVED_MOST: f64 = 0.95;
/// Another offset whose correlation is this close, further away than an interval, makes the place doubtful.
const TOO_CLOSE: f64 = 0.02;

/// A place that was found, or the best that was not believed.
pub(crate) struct Placed {
    pub(crate) tunnel: usize,
    pub(crate) direction: Direction,
    /// Added to the run's own times, seconds.
    pub(crate) offset_s: f64,
    pub(crate) correlation: f64,
    /// Step of the grid: the bin width.
    pub(crate) step_s: f64,
    /// Why it is not believed; `None` where it is.
    pub(crate) doubt: Option<Doubt>,
}

impl Placed {
    pub(crate) fn is_aligned(&self) -> bool {
        self.doubt.is_none()
    }
}

/// Why a place is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The rates do not follow those of the packets.
    Unlike,
    /// Several places fit as well.
    Several,
}

/// The packet record as a running sum.
struct RunningSum {
    /// Seconds of the first bin after the run's start.
    start_s: f64,
    bin_s: f64,
    /// Bytes before each bin, and in all.
    sums: Vec<f64>,
}

impl RunningSum {
    fn new(series: &TunnelSeries, bin_s: f64, run: &Iperf3Run) -> RunningSum {
        let mut sums = vec![0.0];
        let mut total = 0.0;
        sums.extend(series.inner_new_bytes.iter().map(|&b| {
            total += b as f64;
            total
        }));
        RunningSum {
            start_s: series.start.seconds_since(run.start),
            bin_s,
            sums,
        }
    }

    fn end_s(&self) -> f64 {
        self.start_s + (self.sums.len() - 1) as f64 * self.bin_s
    }

    /// Bytes before a moment.
    fn before(&self, moment: f64) -> Option<f64> {
        let bin = (moment - self.start_s) / self.bin_s;
        let last = (self.sums.len() - 1) as f64;
        // A rounding error at the ends is not outside.
        if !(-1e-6..=last + 1e-6).contains(&bin) {
            return None;
        }
        let bin = bin.clamp(0.0, last);
        let whole = bin.floor() as usize;
        let low = *self.sums.get(whole)?;
        let high = self.sums.get(whole + 1).copied().unwrap_or(low);
        Some(low + (high - low) * bin.fract())
    }

    /// Bit/s between two moments.
    fn rate(&self, from: f64, to: f64) -> Option<f64> {
        Some((self.before(to)? - self.before(from)?) * 8.0 / (to - from))
    }
}

/// Finds where on the series the run lies.
pub(crate) fn place(series: &Series, run: &Iperf3Run) -> Option<Placed> {
    let bin_s = series.bin_ms / 1000.0;
    if !(bin_s.is_finite() && bin_s > 0.0) || run.intervals.len() < FEWEST_INTERVALS {
        return None;
    }
    let mut tried: Vec<&TunnelSeries> = series.tunnels.iter().collect();
    let bytes = |s: &TunnelSeries| s.inner_new_bytes.iter().fold(0_u64, |n, &b| n.saturating_add(b));
    tried.sort_by_key(|s| std::cmp::Reverse(bytes(s)));
    let best = tried.into_iter().take(MOST_SERIES);
    best.filter_map(|s| best_offset(s, &RunningSum::new(s, bin_s, run), run))
        .max_by(|a, b| a.correlation.total_cmp(&b.correlation))
}

/// The best offset of a grid that reaches as far as enough intervals stay within the record.
fn best_offset(series: &TunnelSeries, record: &RunningSum, run: &Iperf3Run) -> Option<Placed> {
    let (first, last) = (run.intervals.first()?.from, run.intervals.last()?.to);
    let slack = (last - first) * (1.0 - COVERED);
    let from = record.start_s - first - slack;
    let steps = ((record.end_s() - last + slack - from) / record.bin_s).floor();
    if steps < 0.0 {
        return None;
    }
    let at = |k: usize| from + k as f64 * record.bin_s;
    let curve: Vec<f64> = (0..=steps as usize)
        .map(|k| correlation(record, run, at(k)).unwrap_or(-1.0))
        .collect();
    let (best, &r) = curve.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    let near = (run.interval_s() / record.bin_s).ceil() as usize;
    let rival = curve
        .iter()
        .enumerate()
        .any(|(k, &other)| k.abs_diff(best) > near && other > r - TOO_CLOSE);
    let doubt = match () {
        () if r < believed(run.intervals.len()) => Some(Doubt::Unlike),
        () if rival => Some(Doubt::Several),
        () => None,
    };
    Some(Placed {
        tunnel: series.tunnel,
        direction: series.direction,
        offset_s: at(best),
        correlation: r,
        step_s: record.bin_s,
        doubt,
    })
}

/// The correlation from which an offset is believed.
fn believed(intervals: usize) -> f64 {
    (BELIEVED_ERRORS / (intervals as f64).sqrt()).clamp(BELIEVED_LEAST, BELIEVED_MOST)
}

/// Pearson's r over the intervals within the record; `None` where there are too few, or one side never changes.
fn correlation(record: &RunningSum, run: &Iperf3Run, offset: f64) -> Option<f64> {
    let step = run.intervals.len().div_ceil(MOST_INTERVALS);
    let pairs: Vec<(f64, f64)> = run
        .intervals
        .iter()
        .step_by(step)
        .filter_map(|i| Some((i.rate(), record.rate(i.from + offset, i.to + offset)?)))
        .collect();
    let enough = (run.intervals.len() as f64 / step as f64 * COVERED).max(FEWEST_INTERVALS as f64);
    if (pairs.len() as f64) < enough {
        return None;
    }
    let n = pairs.len() as f64;
    let (mx, my) = (
        pairs.iter().map(|p| p.0).sum::<f64>() / n,
        pairs.iter().map(|p| p.1).sum::<f64>() / n,
    );
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        xx += (x - mx) * (x - mx);
        yy += (y - my) * (y - my);
        xy += (x - mx) * (y - my);
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

/// Mean and standard deviation of both over the intervals within the record.
pub(crate) fn compare(series: &Series, run: &Iperf3Run, placed: &Placed) -> Option<OverlayComparison> {
    let mut tunnels = series.tunnels.iter();
    let found = tunnels.find(|s| s.tunnel == placed.tunnel && s.direction == placed.direction)?;
    let record = RunningSum::new(found, placed.step_s, run);
    let within = run.intervals.iter().filter_map(|i| {
        let (from, to) = (i.from + placed.offset_s, i.to + placed.offset_s);
        Some((from, to, i.rate(), record.rate(from, to)?))
    });
    let rows: Vec<_> = within.collect();
    let (from, to) = (rows.first()?.0, rows.last()?.1);
    let theirs: Vec<f64> = rows.iter().map(|r| r.2).collect();
    let ours: Vec<f64> = rows.iter().map(|r| r.3).collect();
    let bin = |moment: f64| ((moment - record.start_s) / record.bin_s).round().max(0.0) as usize;
    let bins = found
        .inner_new_bytes
        .get(bin(from)..bin(to).min(found.inner_new_bytes.len()))?;
    let bins: Vec<f64> = bins.iter().map(|&b| b as f64 * 8.0 / record.bin_s).collect();
    let ((mean_bps, sd_bps), (packets_mean_bps, packets_sd_bps)) = (moments(&theirs)?, moments(&ours)?);
    Some(OverlayComparison {
        intervals: rows.len(),
        mean_bps,
        sd_bps,
        packets_mean_bps,
        packets_sd_bps,
        packets_bin_sd_bps: moments(&bins)?.1,
    })
}

/// Mean and standard deviation; `None` where one value says nothing of a deviation.
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let sample = Sample::of(values);
    (sample.n >= 2).then_some((sample.mean, sample.sd))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::iperf3::IperfInterval;
    use rekeyscope_model::time::Timestamp;
    use rekeyscope_testkit::example;

    /// A run that counts a synthetic document's own bytes, in rows of `row_s`, from `first_s` on, with a clock that is
    /// `late_s` late and cut to whole seconds.
    fn run_of(series: &Series, row_s: f64, first_s: f64, late_s: f64) -> Iperf3Run {
        let data = series
            .tunnels
            .iter()
            .max_by_key(|s| s.inner_new_bytes.iter().sum::<u64>());
        let data = data.unwrap();
        let begins = data.start.plus_seconds(first_s - late_s);
        let start = Timestamp(begins.0 / 1_000_000_000 * 1_000_000_000);
        let truth = Iperf3Run {
            start: data.start.plus_seconds(first_s),
            intervals: Vec::new(),
            counts_at_receiver: true,
        };
        let record = RunningSum::new(data, series.bin_ms / 1000.0, &truth);
        let rows = ((record.end_s()) / row_s) as usize;
        let intervals = (0..rows).map(|k| {
            let (from, to) = (k as f64 * row_s, (k + 1) as f64 * row_s);
            let bytes = record.rate(from, to).unwrap() * (to - from) / 8.0;
            IperfInterval { from, to, bytes }
        });
        Iperf3Run {
            start,
            intervals: intervals.collect(),
            counts_at_receiver: true,
        }
    }

    #[test]
    fn a_run_is_put_where_it_belongs() {
        let document = example::seven_rekeys();
        for (row_s, late_s) in [(0.1, 0.0), (0.1, 3_600.0), (1.0, -75.3), (0.25, 0.9)] {
            let run = run_of(&document.series, row_s, 0.5, late_s);
            let placed = place(&document.series, &run).unwrap();
            assert!(
                placed.is_aligned(),
                "{:?}: r = {}",
                placed.doubt,
                placed.correlation
            );
            let truth = document.series.tunnels[0]
                .start
                .plus_seconds(0.5)
                .seconds_since(run.start);
            // Offsets are tried in steps of a bin, so the nearest one is half a bin away at most.
            assert!(
                (placed.offset_s - truth).abs() <= 0.005 + 1e-9,
                "{} {truth}",
                placed.offset_s
            );
            let c = compare(&document.series, &run, &placed).unwrap();
            assert!((c.mean_bps / c.packets_mean_bps - 1.0).abs() < 0.01);
            assert!(c.packets_bin_sd_bps > c.packets_sd_bps);
        }
    }

    #[test]
    fn an_unrelated_run_is_not_placed() {
        let document = example::seven_rekeys();
        let mut run = run_of(&document.series, 1.0, 0.5, 0.0);
        for (k, i) in run.intervals.iter_mut().enumerate() {
            i.bytes = 1e6 + ((k * 7) % 5) as f64 * 1e4;
        }
        let placed = place(&document.series, &run).unwrap();
        assert!(!placed.is_aligned(), "r = {}", placed.correlation);
        run.intervals.truncate(3);
        assert!(place(&document.series, &run).is_none());
    }
}

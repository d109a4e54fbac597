//! The burst period τ: how far apart the bursts of window-limited traffic lie (one window per round trip).
//!
//! A first packet on a new SA follows a silence, a draw on the byte clock falls inside a burst: without care every rekey in such
//! traffic seems to stall. So the bytes are spread over one period before anything is said about rates ([`Grid::spread`]).
//!
//! [`Grid::spread`]: crate::input::grid::Grid::spread

use crate::estimate::dot::dot;
use crate::input::moment::RekeyMoment;
use crate::input::traffic::{Gap, Traffic};
use rayon::prelude::*;

/// A base bin is cut into at most this many cells: 1 ms where it has 5 ms.
const CELLS_PER_BIN: usize = 5;
/// Width of a cell, seconds.
const CELL_S: f64 = 0.001;
/// Length of the moving mean, seconds.
const SMOOTHED_S: f64 = 0.005;
/// Nothing is sought at shorter lags, and shorter periods change nothing, seconds: one bin of the method.
const LEAST_PERIOD_S: f64 = 0.01;
/// Longest lag, seconds.
const LONGEST_LAG_S: f64 = 1.5;
/// The search begins where the autocorrelation has first fallen below this.
const FALLEN: f64 = 0.1;
/// Least autocorrelation at a period …
const LEAST_PEAK: f64 = 0.15;
/// … and beyond this lag (seconds), where fewer periods fit into a block.
const LEAST_LONG_PEAK: (f64, f64) = (0.5, 0.3);
/// The first maximum of at least this share of the highest is the period: the others are its multiples.
const PEAK_SHARE: f64 = 0.8;
/// A maximum is one within this distance either way, seconds.
const PEAK_WITHIN_S: f64 = 0.005;
/// Between bursts there is silence: gaps of at least this share of the period …
const SILENCE_OF_PERIOD: f64 = 0.125;
/// … hold at least this share of the time.
const SILENT_SHARE: f64 = 0.25;
/// Longer gaps are pauses, not the silence between bursts, seconds.
const LONGEST_GAP_S: f64 = 1.0;
/// Without a peak: half of the time must lie in gaps of at least this, seconds …
const LEAST_HALF_GAP_S: f64 = 0.02;
/// … and gaps above this share of that one part two bursts.
const PARTING_SHARE: f64 = 0.25;
/// Length of the blocks that must agree, seconds, and the most that are looked at.
const BLOCK_S: f64 = 10.0;
const MOST_BLOCKS: usize = 30;
/// Two estimates agree within this share.
const AGREEMENT: f64 = 0.3;
/// What follows a switch is the rekey's, not the traffic's rhythm, seconds.
const AFTER_SWITCH_S: f64 = 0.5;

/// τ of the transfer between two moments, seconds; `None` where new data does not come in bursts. `gaps` are in order of time.
pub(crate) fn period_s(
    traffic: &Traffic,
    gaps: &[Gap],
    (from_s, to_s): (f64, f64),
    rekeys: &[RekeyMoment],
) -> Option<f64> {
    let series = FineSeries::new(traffic, gaps, rekeys);
    let blocks = (((to_s - from_s) / BLOCK_S).round() as usize).max(2);
    let block_s = (to_s - from_s) / blocks as f64;
    let mut whole = Rhythm::default();
    let mut found = Vec::new();
    let looked_at = blocks.min(MOST_BLOCKS);
    let rhythm = |k: usize| {
        let begin_s = from_s + (k * blocks / looked_at) as f64 * block_s;
        series.rhythm(begin_s, begin_s + block_s)
    };
    let rhythms: Vec<Rhythm> = (0..looked_at).into_par_iter().map(rhythm).collect();
    for rhythm in rhythms {
        found.extend(rhythm.period_s(series.cell_s));
        whole.add(rhythm);
    }
    found.extend(whole.period_s(series.cell_s));
    let agreed = |k: &usize| {
        let agrees =
            |(other, s): (usize, &f64)| other != *k && (s - found[*k]).abs() <= AGREEMENT * found[*k];
        found.iter().enumerate().any(agrees)
    };
    let confirmed = (0..found.len()).filter(agreed).map(|k| found[k]);
    confirmed.max_by(f64::total_cmp).filter(|&s| s > LEAST_PERIOD_S)
}

/// The series cut finer than its bins.
struct FineSeries<'a> {
    traffic: &'a Traffic,
    gaps: &'a [Gap],
    /// [t_Q, t_k + 0.5 s] of every rekey.
    rekeys: Vec<Gap>,
    cells_per_bin: usize,
    cell_s: f64,
}

/// What a period is read from. Those of several blocks add up.
#[derive(Default)]
struct Rhythm {
    /// Sum of the products of cells so many apart, and how many products.
    products: Vec<(f64, usize)>,
    /// Gaps outside of rekeys, seconds.
    gaps_s: Vec<f64>,
    /// Time outside of rekeys, seconds.
    free_s: f64,
}

impl<'a> FineSeries<'a> {
    fn new(traffic: &'a Traffic, gaps: &'a [Gap], rekeys: &[RekeyMoment]) -> FineSeries<'a> {
        let around = |r: &RekeyMoment| Gap {
            start_s: r.start.latest_s(r.switched_s),
            end_s: r.switched_s + AFTER_SWITCH_S,
        };
        let cells_per_bin = ((traffic.base_bin_s / CELL_S).round() as usize).clamp(1, CELLS_PER_BIN);
        FineSeries {
            traffic,
            gaps,
            rekeys: rekeys
                .iter()
                .map(around)
                .filter(|r| r.end_s.is_finite())
                .collect(),
            cells_per_bin,
            cell_s: traffic.base_bin_s / cells_per_bin as f64,
        }
    }

    /// The gaps that touch a stretch.
    fn gaps_within(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = &Gap> {
        let first = self.gaps.partition_point(|g| g.end_s <= from_s);
        self.gaps.iter().skip(first).take_while(move |g| g.start_s < to_s)
    }

    fn rhythm(&self, from_s: f64, to_s: f64) -> Rhythm {
        let bin = |s: f64| ((s / self.traffic.base_bin_s).round() as usize).min(self.traffic.bytes.len());
        let (first, last) = (bin(from_s), bin(to_s));
        let origin_s = first as f64 * self.traffic.base_bin_s;
        let mut cells = self.smoothed(&self.cells(first, last));
        let cell = |s: f64| (((s - origin_s) / self.cell_s).max(0.0) as usize).min(cells.len());
        let near = |r: &&Gap| r.end_s >= from_s && r.start_s <= to_s + LONGEST_GAP_S;
        let mut rekeys: Vec<&Gap> = self.rekeys.iter().filter(near).collect();
        rekeys.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        let mut free = vec![true; cells.len()];
        for rekey in &rekeys {
            let from = cell(rekey.start_s);
            free[from..cell(rekey.end_s).max(from)].fill(false);
        }
        let of_free = cells.iter().zip(&free).filter(|(_, free)| **free);
        let (n, sum) = of_free.fold((0, 0.0), |(n, sum), (cell, _)| (n + 1, sum + f64::from(*cell)));
        let mean = (sum / f64::from(n.max(1))) as f32;
        for (cell, free) in cells.iter_mut().zip(&free) {
            *cell = if *free { *cell - mean } else { 0.0 };
        }
        let lags = ((LONGEST_LAG_S / self.cell_s) as usize).min(cells.len() / 2);
        let product = |lag: usize| (dot(&cells, &cells[lag..]), cells.len() - lag);
        // When the last of the rekeys up to this one ends: of thousands none is gone through for each gap.
        let until = |latest: &mut f64, r: &&Gap| {
            *latest = latest.max(r.end_s);
            Some(*latest)
        };
        let until: Vec<f64> = rekeys.iter().scan(f64::NEG_INFINITY, until).collect();
        let outside = |g: &&Gap| {
            let own = g.start_s >= from_s && g.length_s() < LONGEST_GAP_S;
            let begun = rekeys.partition_point(|r| r.start_s <= g.end_s);
            own && begun.checked_sub(1).is_none_or(|last| until[last] < g.start_s)
        };
        let gaps = self.gaps_within(from_s, to_s).filter(outside);
        Rhythm {
            products: (0..=lags).map(product).collect(),
            gaps_s: gaps.map(|g| g.length_s()).collect(),
            free_s: f64::from(n) * self.cell_s,
        }
    }

    /// The bytes of the bins `first..last` in cells: those of a bin evenly over its cells that do not lie within a gap.
    fn cells(&self, first: usize, last: usize) -> Vec<f32> {
        let n = self.cells_per_bin;
        let origin_s = first as f64 * self.traffic.base_bin_s;
        let bytes = self.traffic.bytes.get(first..last).unwrap_or_default();
        let mut occupied = vec![true; bytes.len() * n];
        let end_s = origin_s + bytes.len() as f64 * self.traffic.base_bin_s;
        // A packet on the edge of a cell belongs to the one that begins there, also when the division falls short by rounding.
        let cell = |s: f64| ((s - origin_s) / self.cell_s + 1e-6).floor();
        for gap in self
            .gaps_within(origin_s, end_s)
            .filter(|g| g.length_s() >= self.cell_s)
        {
            let (from, to) = (cell(gap.start_s) + 1.0, cell(gap.end_s));
            let to = (to.max(0.0) as usize).min(occupied.len());
            occupied[(from.max(0.0) as usize).min(to)..to].fill(false);
        }
        let mut cells = vec![0.0; occupied.len()];
        for ((bytes, occupied), cells) in bytes
            .iter()
            .zip(occupied.chunks_exact(n))
            .zip(cells.chunks_exact_mut(n))
        {
            let all = !occupied.contains(&true);
            let share = *bytes as f32
                / if all {
                    n
                } else {
                    occupied.iter().filter(|&&o| o).count()
                } as f32;
            for (cell, occupied) in cells.iter_mut().zip(occupied) {
                *cell = if all || *occupied { share } else { 0.0 };
            }
        }
        cells
    }

    /// The moving sum over [`SMOOTHED_S`].
    fn smoothed(&self, cells: &[f32]) -> Vec<f32> {
        let half = (SMOOTHED_S / self.cell_s / 2.0) as usize;
        let around = |k: usize| {
            cells[k.saturating_sub(half)..(k + half + 1).min(cells.len())]
                .iter()
                .sum()
        };
        (0..cells.len()).map(around).collect()
    }
}

impl Rhythm {
    fn add(&mut self, other: Rhythm) {
        if self.products.is_empty() {
            *self = other;
            return;
        }
        for (sum, more) in self.products.iter_mut().zip(other.products) {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
        self.gaps_s.extend(other.gaps_s);
        self.free_s += other.free_s;
    }

    fn period_s(&self, cell_s: f64) -> Option<f64> {
        let peak = self.peak(cell_s).filter(|&period_s| {
            let silent = self.gaps_s.iter().filter(|&&g| g >= SILENCE_OF_PERIOD * period_s);
            silent.sum::<f64>() >= SILENT_SHARE * self.free_s
        });
        peak.or_else(|| self.by_gaps())
    }

    /// The first maximum of the autocorrelation that is about as high as the highest.
    fn peak(&self, cell_s: f64) -> Option<f64> {
        let mean = |&(sum, n): &(f64, usize)| sum / n.max(1) as f64;
        let variance = self.products.first().map(mean).filter(|&v| v > 0.0)?;
        let r: Vec<f64> = self.products.iter().map(|p| mean(p) / variance).collect();
        let cells = |s: f64| (s / cell_s).round() as usize;
        let begin = (cells(LEAST_PERIOD_S)..r.len()).find(|&lag| r[lag] < FALLEN)?;
        let least = |lag: usize| {
            if lag as f64 * cell_s > LEAST_LONG_PEAK.0 {
                LEAST_LONG_PEAK.1
            } else {
                LEAST_PEAK
            }
        };
        let highest = (begin..r.len())
            .filter(|&lag| r[lag] >= least(lag))
            .map(|lag| r[lag])
            .max_by(f64::total_cmp)?;
        let within = cells(PEAK_WITHIN_S).max(1);
        let is_maximum = |&lag: &usize| {
            let around = &r[lag.saturating_sub(within)..(lag + within + 1).min(r.len())];
            r[lag] >= PEAK_SHARE * highest && around.iter().all(|&other| other <= r[lag])
        };
        (begin..r.len()).find(is_maximum).map(|lag| lag as f64 * cell_s)
    }

    /// Bursts without a rhythm: their mean distance, where half of the time lies in long gaps.
    fn by_gaps(&self) -> Option<f64> {
        let total: f64 = self.gaps_s.iter().sum();
        let mut gaps: Vec<f64> = self
            .gaps_s
            .iter()
            .copied()
            .filter(|&g| g >= LEAST_HALF_GAP_S)
            .collect();
        gaps.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut longer = 0.0;
        let half = gaps.iter().copied().find(|&gap| {
            longer += gap;
            longer >= total / 2.0
        })?;
        let parting = self.gaps_s.iter().filter(|&&g| g > PARTING_SHARE * half).count();
        Some(total / parting as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::grid::tests::synthetic_series;
    use crate::input::moment::ProvenEffect;

    /// **Synthetic** bursts of six packets, 1 ms apart, that begin at these moments; 40 s.
    fn synthetic_bursts(starts: impl IntoIterator<Item = f64>) -> (Traffic, Vec<Gap>) {
        let packets: Vec<f64> = starts
            .into_iter()
            .flat_map(|s| (0..6).map(move |k| s + f64::from(k) * 0.001))
            .take_while(|&at| at < 40.0)
            .collect();
        let mut traffic = synthetic_series(vec![0; 8000]);
        for at in &packets {
            traffic.bytes[(at / traffic.base_bin_s) as usize] += 1000;
        }
        let gaps = packets
            .windows(2)
            .map(|p| Gap {
                start_s: p[0],
                end_s: p[1],
            })
            .collect();
        (traffic, gaps)
    }

    fn every(period_s: f64) -> impl Iterator<Item = f64> {
        (1..(40.0 / period_s) as usize).map(move |k| k as f64 * period_s)
    }

    fn found_ms(bursts: &(Traffic, Vec<Gap>), rekeys: &[RekeyMoment]) -> f64 {
        let period_s = period_s(&bursts.0, &bursts.1, (1.0, 39.0), rekeys);
        (period_s.unwrap_or(0.0) * 1000.0).round()
    }

    #[test]
    fn a_burst_per_round_trip_has_its_period() {
        for period_ms in [20.0, 43.0, 80.0, 150.0, 250.0, 700.0] {
            let bursts = synthetic_bursts(every(period_ms / 1000.0));
            // One cell of 1 ms.
            assert!(
                (found_ms(&bursts, &[]) - period_ms).abs() <= 1.0,
                "{period_ms}: {}",
                found_ms(&bursts, &[])
            );
        }
    }

    #[test]
    fn without_a_rhythm_it_is_the_mean_distance() {
        // Distances of 60 to 340 ms in no order: no peak, and half of the time in gaps of 20 ms and more.
        let mut at = 0.0;
        let starts: Vec<f64> = (0..190_u32)
            .map(|k| {
                at += 0.06 + f64::from(k * 7919 % 281) / 1000.0;
                at
            })
            .collect();
        let mean_ms = 1000.0 * (starts[189] - starts[0]) / 189.0;
        let found = found_ms(&synthetic_bursts(starts), &[]);
        assert!((found / mean_ms - 1.0).abs() < AGREEMENT, "{found} {mean_ms}");
    }

    #[test]
    fn even_traffic_has_none() {
        assert_eq!(found_ms(&synthetic_bursts(every(0.006)), &[]), 0.0);
        assert_eq!(found_ms(&synthetic_bursts([]), &[]), 0.0, "nothing at all");
    }

    #[test]
    fn one_block_alone_is_not_believed() {
        let bursts = every(0.08).filter(|&s| s < 8.0);
        assert_eq!(
            found_ms(
                &synthetic_bursts(bursts.chain(every(0.006).filter(|&s| s > 8.0))),
                &[]
            ),
            0.0
        );
    }

    #[test]
    fn what_rekeys_do_is_no_rhythm() {
        // A silence of 0.3 s at a rekey every second: a period of one second, unless the rekeys are left out.
        let even = every(0.006).filter(|s| s.fract() > 0.3);
        let bursts = synthetic_bursts(even);
        let rekey = |k: usize| RekeyMoment {
            index: k,
            start: crate::input::start::Start::Message(k as f64),
            switched_s: k as f64 + 0.1,
            proven: ProvenEffect::Nothing,
        };
        let rekeys: Vec<RekeyMoment> = (0..40).map(rekey).collect();
        assert!((found_ms(&bursts, &[]) - 1000.0).abs() <= 1.0, "of a cell");
        assert_eq!(found_ms(&bursts, &rekeys), 0.0);
    }

    /// Cells of 1 ms, five in a bin.
    fn fine<'a>(traffic: &'a Traffic, gaps: &'a [Gap], rekeys: &[RekeyMoment]) -> FineSeries<'a> {
        let series = FineSeries::new(traffic, gaps, rekeys);
        assert_eq!(series.cells_per_bin, 5);
        assert!((series.cell_s - 0.001).abs() < 1e-12);
        series
    }

    #[test]
    fn bytes_of_a_bin_lie_in_its_cells_outside_of_gaps() {
        let traffic = synthetic_series(vec![100, 100, 0, 60]);
        let gap = |from: f64, to: f64| Gap {
            start_s: from / 1000.0,
            end_s: to / 1000.0,
        };
        // Packets at 0, 1.5, 8 and 15 ms: between them nothing comes.
        let gaps = [gap(0.0, 1.5), gap(1.5, 8.0), gap(8.0, 15.0)];
        let series = fine(&traffic, &gaps, &[]);
        let cells = series.cells(0, 4);
        let rounded: Vec<f32> = cells.iter().map(|c| (c * 10.0).round() / 10.0).collect();
        assert_eq!(
            rounded,
            [
                50.0, 50.0, 0.0, 0.0, 0.0, // up to the packet at 1.5 ms
                0.0, 0.0, 0.0, 100.0, 0.0, // that at 8 ms
                0.0, 0.0, 0.0, 0.0, 0.0, //
                12.0, 12.0, 12.0, 12.0, 12.0
            ]
        );
        assert_eq!(series.cells(1, 3)[3], 100.0, "the same from the middle on");
        assert_eq!(fine(&traffic, &[], &[]).cells(3, 4), [12.0; 5]);
        // A bin that a gap covers has its bytes somewhere.
        assert_eq!(fine(&traffic, &[gap(-1.0, 30.0)], &[]).cells(0, 1), [20.0; 5]);
    }

    #[test]
    fn sums_are_smoothed_over_what_lies_around() {
        let traffic = synthetic_series(vec![0; 8]);
        let series = fine(&traffic, &[], &[]);
        let mut cells = vec![0.0; 40];
        cells[20] = 6.0;
        let half = (SMOOTHED_S / 0.001 / 2.0) as usize;
        let smoothed = series.smoothed(&cells);
        for (k, value) in smoothed.iter().enumerate() {
            let expected = if k.abs_diff(20) <= half { 6.0 } else { 0.0 };
            assert_eq!(*value, expected, "{k}");
        }
        cells[0] = 1.0;
        assert_eq!(series.smoothed(&cells)[0], 1.0, "at the edge");
    }

    #[test]
    fn blocks_add_up() {
        let of = |scale: f64| Rhythm {
            products: vec![(scale, 2), (2.0 * scale, 1)],
            gaps_s: vec![scale],
            free_s: 3.0 * scale,
        };
        let mut whole = Rhythm::default();
        whole.add(of(1.0));
        whole.add(of(10.0));
        assert_eq!(whole.products, [(11.0, 4), (22.0, 2)]);
        assert_eq!((whole.gaps_s, whole.free_s), (vec![1.0, 10.0], 33.0));
    }

    /// Correlations as so many products of each lag tell them, in cells of 1 ms.
    fn peak_of(correlations: &[f64]) -> Option<f64> {
        let rhythm = Rhythm {
            products: correlations.iter().map(|r| (r * 50.0, 10)).collect(),
            gaps_s: Vec::new(),
            free_s: 1.0,
        };
        rhythm.peak(0.001).map(|s| (s * 1000.0).round())
    }

    #[test]
    fn the_first_maximum_about_as_high_as_the_highest_is_the_period() {
        let with = |peaks: &[(usize, f64)]| {
            let mut r = vec![0.0; 900];
            r[..3].fill(1.0);
            for &(lag, height) in peaks {
                r[lag] = height;
            }
            peak_of(&r)
        };
        assert_eq!(with(&[(40, 0.9), (80, 0.9)]), Some(40.0));
        assert_eq!(with(&[(40, 0.9 * PEAK_SHARE + 0.001), (80, 0.9)]), Some(40.0));
        assert_eq!(with(&[(40, 0.9 * PEAK_SHARE - 0.001), (80, 0.9)]), Some(80.0));
        assert_eq!(with(&[(40, LEAST_PEAK + 0.001)]), Some(40.0));
        assert_eq!(with(&[(40, LEAST_PEAK - 0.001)]), None);
        let far = (LEAST_LONG_PEAK.0 * 1000.0) as usize + 1;
        assert_eq!(with(&[(far, LEAST_LONG_PEAK.1 + 0.001)]), Some(far as f64));
        assert_eq!(with(&[(far, LEAST_LONG_PEAK.1 - 0.001)]), None);
        // The higher one beside it is the maximum.
        assert_eq!(with(&[(40, 0.85), (41, 0.9)]), Some(41.0));
        assert_eq!(peak_of(&[1.0; 900]), None, "it never falls");
        assert_eq!(peak_of(&[0.0; 900]), None, "nothing varies");
        assert_eq!(peak_of(&[]), None);
    }

    /// Half of the time lies in gaps of 40 ms and more: what parts two bursts is longer than a quarter of that.
    #[test]
    fn the_mean_distance_counts_gaps_that_part_bursts() {
        let of = |gaps_ms: &[f64]| {
            let rhythm = Rhythm {
                gaps_s: gaps_ms.iter().map(|ms| ms / 1000.0).collect(),
                ..Rhythm::default()
            };
            rhythm.by_gaps().map(|s| (s * 1e6).round() / 1e3)
        };
        assert_eq!(
            of(&[40.0, 60.0, 30.0, 11.0, 9.0]),
            Some(37.5),
            "150 ms with four of them"
        );
        assert_eq!(of(&[19.0; 4]), None, "none is long");
        assert_eq!(of(&[20.0; 4]), Some(20.0));
        // 40 of 90 ms are less than half.
        assert_eq!(of(&[40.0, 10.0, 10.0, 10.0, 10.0, 10.0]), None);
        assert_eq!(of(&[40.0, 10.0, 10.0, 10.0, 10.0]), Some(80.0));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn without_silence_a_peak_is_no_burst() {
        let mut r = vec![0.0; 900];
        r[..3].fill(1.0);
        r[100] = 0.9;
        let period = |silent: f64| {
            let rhythm = Rhythm {
                products: r.iter().map(|r| (r * 50.0, 10)).collect(),
                gaps_s: vec![SILENCE_OF_PERIOD * 0.1, silent],
                free_s: 1.0,
            };
            rhythm.period_s(0.001)
        };
        let rest = SILENT_SHARE - SILENCE_OF_PERIOD * 0.1;
        assert!((period(rest + 1e-6).unwrap() - 0.1).abs() < 1e-9);
        assert_ne!(period(rest - 1e-3).map(|s| (s * 1000.0).round()), Some(100.0));
    }

    #[test]
    fn hostile_series_do_not_panic() {
        let (mut traffic, gaps) = synthetic_bursts(every(0.1));
        let rekeys = [f64::NAN, -1e300, 1e300, 20.0].map(|switched_s| RekeyMoment {
            index: 0,
            start: crate::input::start::Start::Message(-switched_s),
            switched_s,
            proven: ProvenEffect::Nothing,
        });
        for base_bin_s in [1e-9, 0.005, 3.0, 1e9] {
            traffic.base_bin_s = base_bin_s;
            for span in [(0.0, 0.0), (1.0, 1e9), (1e9, 2e9), (-5.0, 39.0)] {
                period_s(&traffic, &gaps, span, &rekeys);
            }
        }
    }
}

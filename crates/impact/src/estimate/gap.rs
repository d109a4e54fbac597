//! The gap test: is the longest silence at a rekey rare in the rest of the run?

use crate::estimate::baseline::{Affected, CHOSEN_WINDOW_S};
use crate::input::grid::{Grid, Span};
use crate::input::traffic::{Gap, Traffic};
use crate::input::transfer::PlacedRekey;
use rekeyscope_model::sample::Sample;

/// Gaps under this are never a stall (p = 1), seconds.
pub(crate) const LEAST_STALL_S: f64 = 0.05;
/// The tail model begins at the m-th largest free gap; m is at least this …
const LEAST_TAIL: usize = 20;
/// … and at least this many per second of free run …
const TAIL_PER_SECOND: f64 = 1.0;
/// … but at most this share of the free gaps.
const TAIL_SHARE: f64 = 0.05;
/// Range of the tail's shape ξ. Natural pauses are heavy-tailed; a light tail made 35 % of no-effect runs *some*, and
/// from 1 on the mean does not exist.
const SHAPE: (f64, f64) = (0.4, 0.9);
/// Its least value where data comes in bursts: what lies between them is the round trip with its jitter, and no pause. With
/// [`SHAPE`]'s a jitter of 20 ms hid 15 % of single outages of 100 ms; *some* without an effect goes from 0.5 to 0.7 % of such runs.
const LEAST_SHAPE_OF_BURSTS: f64 = 0.02;
/// Unseen gaps: so many of 50 ms or more per run that has pauses, whatever was seen …
const UNSEEN: f64 = 0.3;
/// … and fewer where no gap reaches [`PAUSE_S`]: the neutral prior of a Poisson rate (Kerman 2011) expects a third of a pause where none
/// was seen, of which (20/50)^1.25 last 50 ms. Falling with …
const UNSEEN_WITHOUT_PAUSES: f64 = 0.1;
/// … this power of their length.
const UNSEEN_POWER: f64 = 1.25;
/// Shortest pause, seconds: far beyond what parts packets of a flow that is under way.
const PAUSE_S: f64 = 0.02;

/// Gaps that are passed over at once where none of them is longer than what was found.
const BLOCK: usize = 32;

/// How often gaps of a length occur without a rekey.
#[derive(Debug)]
pub(crate) struct FreeGaps {
    /// T_f, seconds of run outside the affected intervals at W = 0.5 s.
    free_s: f64,
    /// Lengths of the longest gaps within it, longest first, seconds: those of [`LEAST_STALL_S`] or more, and the tail.
    lengths: Vec<f64>,
    tail: Option<GapTail>,
}

/// Generalised Pareto tail above a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
struct GapTail {
    threshold_s: f64,
    /// Free gaps from the threshold on, per second.
    rate: f64,
    shape: f64,
    scale_s: f64,
}

/// All gaps of a series in order of time.
#[derive(Debug)]
pub(crate) struct OrderedGaps {
    pub(crate) all: Vec<Gap>,
    /// The longest of each [`BLOCK`] of them, seconds.
    longest: Vec<f64>,
    /// The longest of all, longest first: twice as many as a tail is chosen from, or all of them.
    longest_first: Vec<Gap>,
}

impl OrderedGaps {
    pub(crate) fn new(traffic: &Traffic) -> OrderedGaps {
        let sound = |g: &&Gap| g.start_s.is_finite() && g.end_s.is_finite() && g.end_s >= g.start_s;
        let mut all: Vec<Gap> = traffic.gaps.iter().filter(sound).copied().collect();
        all.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        let longest = |block: &[Gap]| block.iter().map(Gap::length_s).fold(0.0, f64::max);
        let longest = all.chunks(BLOCK).map(longest).collect();
        let mut longest_first = all.clone();
        let seconds = traffic.bytes.len() as f64 * traffic.base_bin_s;
        keep_longest(&mut longest_first, 2 * GapTail::chosen_from(seconds));
        OrderedGaps {
            all,
            longest,
            longest_first,
        }
    }

    /// The lengths of those that are `free`, longest first, seconds. Shorter ones are left out once there are `enough`, but no stall is.
    fn longest_free(&self, free: impl Fn(&&Gap) -> bool, enough: usize) -> Vec<f64> {
        let mut lengths = Vec::new();
        for length in self.longest_first.iter().filter(&free).map(Gap::length_s) {
            if lengths.len() >= enough && length < LEAST_STALL_S {
                return lengths;
            }
            lengths.push(length);
        }
        if self.longest_first.len() < self.all.len() {
            lengths = self.all.iter().filter(&free).map(Gap::length_s).collect();
            lengths.sort_unstable_by(|a, b| b.total_cmp(a));
        }
        lengths
    }

    /// The longest of the gaps that touch a rekey ([`touches`]; one across the edge counts whole), end from `from` on, begin up to
    /// `behind` and are its own, seconds.
    pub(crate) fn longest_at(
        &self,
        rekey: &PlacedRekey,
        (from, behind): (f64, f64),
        is_own: impl Fn(&Gap) -> bool,
    ) -> Option<f64> {
        let from = from.max(rekey.started_s);
        let last = (rekey.switched_s + CHOSEN_WINDOW_S).min(behind);
        let mut at = self.all.partition_point(|g| g.end_s < from);
        let mut longest = None;
        while let Some(gap) = self.all.get(at).filter(|gap| gap.start_s <= last) {
            let is_longer = |length: f64| longest.is_none_or(|l| length > l);
            if at.is_multiple_of(BLOCK) && !is_longer(self.longest[at / BLOCK]) {
                at += BLOCK;
                continue;
            }
            // Whose it is matters of the longest alone.
            if is_longer(gap.length_s()) && is_own(gap) {
                longest = Some(gap.length_s());
            }
            at += 1;
        }
        longest
    }
}

impl FreeGaps {
    /// The gaps that lie in the free part of the run. `total` counts also those that `gaps` leaves out, which keeps the longest;
    /// `bursts`: new data comes in bursts.
    pub(crate) fn new(
        grid: &Grid,
        run: Span,
        placed: &[PlacedRekey],
        (gaps, total): (&OrderedGaps, u64),
        bursts: bool,
    ) -> FreeGaps {
        let affected = Affected::new(run, placed, grid.length(CHOSEN_WINDOW_S));
        let free_s = grid.seconds(run.len() - affected.bins());
        let free = |g: &&Gap| {
            let span = Span {
                from: grid.bin_at(g.start_s),
                to: grid.bin_at(g.end_s) + 1,
            };
            run.contains(span) && !affected.touches(span)
        };
        let mut lengths = gaps.longest_free(free, GapTail::chosen_from(free_s));
        // Gaps that were not kept are spread like the time is. Those that were not looked at would not make the tail larger.
        let left_out = total.saturating_sub(gaps.all.len() as u64) as f64;
        let run_share = free_s / grid.seconds(grid.bins().max(1));
        let count = lengths.len() as f64 + left_out * run_share;
        let in_tail = GapTail::size(count, free_s).min(lengths.len());
        let stalls = lengths.iter().filter(|&&l| l >= LEAST_STALL_S).count();
        lengths.truncate(in_tail.max(stalls).max(1));
        let least_shape = if bursts { LEAST_SHAPE_OF_BURSTS } else { SHAPE.0 };
        let tail = GapTail::fit(&lengths[..in_tail], free_s, least_shape);
        FreeGaps {
            free_s,
            lengths,
            tail,
        }
    }

    /// Gaps of at least `gap_s` per second without a rekey: the largest of the fitted tail, what was observed, and what a
    /// short run cannot have seen.
    fn rate(&self, gap_s: f64) -> f64 {
        let observed = self.lengths.partition_point(|&l| l >= gap_s) as f64 / self.free_s;
        let pauses = self.lengths.first().is_some_and(|&longest| longest >= PAUSE_S);
        let most = if pauses { UNSEEN } else { UNSEEN_WITHOUT_PAUSES };
        let unseen = most / self.free_s * (LEAST_STALL_S / gap_s).powf(UNSEEN_POWER);
        let fitted = self.tail.map_or(0.0, |t| t.rate_from(gap_s));
        observed.max(unseen).max(fitted)
    }

    /// p_gap = 1 − exp(−w·rate): the probability of such a gap within `window_s` without a rekey.
    pub(crate) fn p(&self, gap_s: f64, window_s: f64) -> f64 {
        if gap_s < LEAST_STALL_S || self.free_s <= 0.0 {
            return 1.0;
        }
        -(-window_s * self.rate(gap_s)).exp_m1()
    }
}

/// The `count` longest, longest first.
fn keep_longest(gaps: &mut Vec<Gap>, count: usize) {
    let longer_first = |a: &Gap, b: &Gap| b.length_s().total_cmp(&a.length_s());
    if count < gaps.len() {
        gaps.select_nth_unstable_by(count, longer_first);
        gaps.truncate(count);
    }
    gaps.sort_unstable_by(longer_first);
}

impl GapTail {
    /// How many gaps it should have, of `count` free ones.
    fn size(count: f64, free_s: f64) -> usize {
        Self::largest(free_s).min((TAIL_SHARE * count) as usize)
    }

    /// How many it has at most, of any number of free ones.
    fn largest(free_s: f64) -> usize {
        LEAST_TAIL.max((TAIL_PER_SECOND * free_s) as usize)
    }

    /// Of so many free gaps or more it has the most that it can have.
    fn chosen_from(free_s: f64) -> usize {
        ((Self::largest(free_s) as f64 + 1.0) / TAIL_SHARE) as usize
    }

    /// Fits by probability-weighted moments (Hosking & Wallis 1987) with the shape held above `least_shape`; the scale then
    /// follows from the mean excess, σ = (1 − ξ)·mean. `lengths` are those of the tail's gaps, longest first. `None` where there are
    /// fewer than two.
    fn fit(lengths: &[f64], free_s: f64, least_shape: f64) -> Option<GapTail> {
        let (threshold_s, above) = lengths.split_last()?;
        let mut excess: Vec<f64> = above.iter().map(|l| l - threshold_s).collect();
        excess.reverse(); // ascending
        let n = excess.len() as f64;
        let mean = Sample::of(&excess).mean;
        if mean <= 0.0 {
            return None;
        }
        // α₁ = E[Y·(1 − F(Y))] with the plotting positions (i − 0.35)/n.
        let weighted = (1..)
            .zip(&excess)
            .map(|(i, y)| y * (1.0 - (f64::from(i) - 0.35) / n))
            .sum::<f64>()
            / n;
        let shape = (2.0 - mean / (mean - 2.0 * weighted)).clamp(least_shape, SHAPE.1);
        let shape = if shape.is_nan() { SHAPE.1 } else { shape };
        Some(GapTail {
            threshold_s: *threshold_s,
            rate: lengths.len() as f64 / free_s,
            shape,
            scale_s: mean * (1.0 - shape),
        })
    }

    /// Gaps of at least `gap_s` per second; below the threshold the observed count knows better.
    fn rate_from(&self, gap_s: f64) -> f64 {
        if gap_s < self.threshold_s {
            return 0.0;
        }
        let excess = (gap_s - self.threshold_s) / self.scale_s;
        self.rate * (1.0 + self.shape * excess).powf(-1.0 / self.shape)
    }
}

/// Whether a gap touches [t_Q, t_k + 0.5 s].
pub(crate) fn touches(gap: &Gap, rekey: &PlacedRekey) -> bool {
    gap.end_s >= rekey.started_s && gap.start_s <= rekey.switched_s + CHOSEN_WINDOW_S
}

/// w of the gap test: G_k + 0.5 s.
pub(crate) fn test_window_s(rekey: &PlacedRekey) -> f64 {
    rekey.exchange_s() + CHOSEN_WINDOW_S
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::grid::tests::synthetic_series;

    fn ordered(gaps: &[Gap]) -> OrderedGaps {
        let mut traffic = synthetic_series(vec![1]);
        traffic.gaps = gaps.to_vec();
        OrderedGaps::new(&traffic)
    }

    fn synthetic_gaps(lengths: &[f64]) -> Vec<Gap> {
        let mut at = 0.01;
        lengths
            .iter()
            .map(|l| {
                let gap = Gap {
                    start_s: at,
                    end_s: at + l,
                };
                at += l + 0.001;
                gap
            })
            .collect()
    }

    fn free(lengths: &[f64], run_s: f64) -> FreeGaps {
        let bins = (run_s / 0.005) as usize;
        let grid = Grid::new(&synthetic_series(vec![1; bins]), 2, 0);
        let run = Span {
            from: 0,
            to: grid.bins(),
        };
        FreeGaps::new(
            &grid,
            run,
            &[],
            (&ordered(&synthetic_gaps(lengths)), lengths.len() as u64),
            false,
        )
    }

    #[test]
    fn a_short_gap_is_never_a_stall() {
        let model = free(&[0.001; 500], 60.0);
        assert_eq!(model.p(0.0499, 1.0), 1.0);
        assert!(model.p(0.0501, 1.0) < 0.01);
    }

    #[test]
    fn what_a_short_run_has_not_seen_may_still_exist() {
        // No gap above 1 ms in 60 s: the unseen term alone, 0.1/60 per second at 50 ms.
        let model = free(&[0.001; 500], 60.0);
        assert!((model.p(0.05, 1.0) - (1.0 - (-0.1_f64 / 60.0).exp())).abs() < 1e-9);
        assert!((model.rate(0.1) / model.rate(0.05) - 0.5_f64.powf(1.25)).abs() < 1e-9);
        // One pause of 20 ms: three times as many.
        let mut lengths = [0.001; 500];
        lengths[250] = 0.0201;
        assert!((free(&lengths, 60.0).rate(0.05) - 0.3 / 60.0).abs() < 1e-9);
    }

    /// The tail of `count` gaps, of which these are the longest.
    fn fit(longest: &[f64], count: f64, free_s: f64, least_shape: f64) -> Option<GapTail> {
        let in_tail = GapTail::size(count, free_s).min(longest.len());
        GapTail::fit(&longest[..in_tail], free_s, least_shape)
    }

    #[test]
    fn the_observed_count_is_a_floor() {
        let mut lengths = vec![0.001; 5000];
        lengths[100..110].fill(0.3);
        let model = free(&lengths, 60.0);
        // Just below 0.3: the lengths are differences of times.
        assert!(model.rate(0.299) >= 10.0 / 60.0);
    }

    /// A Pareto sample by its quantiles: ξ and the rate beyond the sample come back.
    #[test]
    fn the_tail_of_a_pareto_sample() {
        let n = 4000;
        let lengths: Vec<f64> = (0..n)
            .map(|i| 0.002 * ((f64::from(i) + 0.5) / f64::from(n)).powf(-1.0 / 1.5))
            .collect();
        let tail = fit(&lengths, f64::from(n), 200.0, SHAPE.0).unwrap();
        // Pareto(1.5) has ξ = 2/3; probability-weighted moments of 200 quantiles stay within a tenth of it.
        assert!((tail.shape - 2.0 / 3.0).abs() < 0.07, "{tail:?}");
        let true_rate = f64::from(n) / 200.0 * (0.1_f64 / 0.002).powf(-1.5);
        assert!(
            (tail.rate_from(0.1) / true_rate - 1.0).abs() < 0.3,
            "{} {true_rate}",
            tail.rate_from(0.1)
        );
        assert_eq!(tail.rate_from(0.001), 0.0);
    }

    #[test]
    fn tails_that_cannot_be_fitted() {
        assert_eq!(fit(&[], 0.0, 10.0, SHAPE.0), None);
        assert_eq!(fit(&[0.2; 30], 30.0, 10.0, SHAPE.0), None, "5 % of 30 is one gap");
        assert_eq!(fit(&[0.2; 400], 400.0, 10.0, SHAPE.0), None, "no excess");
    }

    #[test]
    fn gaps_at_a_rekey_are_not_free() {
        let grid = Grid::new(&synthetic_series(vec![1; 4000]), 2, 0);
        let run = Span { from: 0, to: 2000 };
        let gaps = [
            Gap {
                start_s: 5.0,
                end_s: 5.2,
            },
            Gap {
                start_s: 9.9,
                end_s: 10.4,
            },
            Gap {
                start_s: 12.0,
                end_s: 12.1,
            },
        ];
        let rekey = PlacedRekey {
            moment: 0,
            started_s: 10.0,
            switched_s: 10.3,
            start: 1000,
            switch: 1030,
            used: true,
            idle: false,
            unobserved: false,
            known: crate::input::start::Start::Message(10.0),
        };
        let model = FreeGaps::new(&grid, run, &[rekey], (&ordered(&gaps), 3), false);
        assert_eq!(model.lengths.len(), 2);
        assert!((model.free_s - 19.2).abs() < 1e-9);
        let longest = |rekey: &PlacedRekey| ordered(&gaps).longest_at(rekey, (0.0, f64::INFINITY), |_| true);
        assert_eq!(longest(&rekey), Some(10.4 - 9.9));
        let earlier = PlacedRekey {
            started_s: 6.0,
            switched_s: 6.1,
            ..rekey
        };
        assert_eq!(longest(&earlier), None);
    }

    #[test]
    fn gaps_that_make_no_sense_are_left_out() {
        let gap = |start_s, end_s| Gap { start_s, end_s };
        let mut traffic = synthetic_series(vec![1]);
        traffic.gaps = vec![
            gap(3.0, 4.0),
            gap(f64::NAN, 1.0),
            gap(1.0, f64::INFINITY),
            gap(2.0, 1.9),
            gap(1.0, 1.0),
        ];
        assert_eq!(OrderedGaps::new(&traffic).all, [gap(1.0, 1.0), gap(3.0, 4.0)]);
    }

    /// Blocks are passed over, and the longest is that of all, one by one: whatever the rekey, wherever the next begins, whoever owns it.
    #[test]
    fn the_longest_gap_at_a_rekey_is_that_of_all_one_by_one() {
        let lengths: Vec<f64> = (0..500_u32)
            .map(|i| f64::from(i * 7_919 % 997) / 10_000.0)
            .collect();
        let gaps = synthetic_gaps(&lengths);
        let ordered = ordered(&gaps);
        let end_s = gaps[gaps.len() - 1].end_s;
        for step in 0..200 {
            let start_s = end_s * f64::from(step) / 190.0 - 0.5;
            let rekey = crate::decide::made_up::rekey(0, start_s);
            let bounds = [
                (start_s, f64::INFINITY, 1.0),
                (start_s + 0.05, start_s + 0.2, 1.0),
                (start_s, f64::INFINITY, 0.03),
            ];
            for (from, behind, part) in bounds {
                let is_own = |gap: &Gap| gap.start_s.fract() < part;
                let own = gaps
                    .iter()
                    .filter(|g| touches(g, &rekey) && g.end_s >= from && g.start_s <= behind && is_own(g));
                let expected = own.map(Gap::length_s).max_by(f64::total_cmp);
                let found = ordered.longest_at(&rekey, (from, behind), is_own);
                assert_eq!(found, expected, "{start_s}");
            }
        }
    }

    /// Of 10,000 gaps in 20 s the longest 840 are looked at, of which hundreds may lie at rekeys.
    #[test]
    fn the_longest_gaps_tell_as_much_as_all() {
        let grid = Grid::new(&synthetic_series(vec![1; 4_000]), 2, 0);
        let run = Span { from: 0, to: 2_000 };
        let lengths = (0..10_000_u32).map(|i| f64::from(i * 7_919 % 9_973) / 10_000_000.0);
        let mut lengths: Vec<f64> = lengths.collect();
        (lengths[77], lengths[5_000]) = (0.07, 0.06);
        let gaps = synthetic_gaps(&lengths);
        let chosen = ordered(&gaps);
        assert_eq!(chosen.longest_first.len(), 840);
        let all = OrderedGaps {
            longest_first: Vec::new(),
            ..ordered(&gaps)
        };
        for rekeys in 0..20 {
            let at = |k: u32| crate::decide::made_up::rekey(0, 1.0 + 0.9 * f64::from(k));
            let placed: Vec<PlacedRekey> = (0..rekeys).map(at).collect();
            for total in [10_000, 50_000] {
                let of = |gaps: &OrderedGaps| FreeGaps::new(&grid, run, &placed, (gaps, total), false);
                let (few, whole) = (of(&chosen), of(&all));
                assert_eq!(
                    (few.lengths, few.tail),
                    (whole.lengths, whole.tail),
                    "{rekeys} rekeys"
                );
            }
        }
    }

    /// Ten bins of 10 ms a side: what reaches beyond the run or into a rekey is not free.
    #[test]
    fn free_gaps_lie_in_the_run() {
        let grid = Grid::new(&synthetic_series(vec![1; 4_000]), 2, 0);
        let run = Span { from: 100, to: 1_900 };
        let gap = |start_s: f64| Gap {
            start_s,
            end_s: start_s + 0.1,
        };
        let free = |gaps: &[Gap], total: u64| FreeGaps::new(&grid, run, &[], (&ordered(gaps), total), false);
        let gaps = [gap(0.985), gap(1.005), gap(18.885), gap(18.905)];
        assert_eq!(free(&gaps, 4).lengths.len(), 2);
        assert!((free(&gaps, 4).free_s - 18.0).abs() < 1e-9);
        // Those that were not kept are spread like the time is, of which nine tenths are free.
        let kept: Vec<Gap> = (0..100)
            .map(|k| Gap {
                start_s: 1.5 + 0.16 * f64::from(k),
                end_s: 1.501 + 0.161 * f64::from(k),
            })
            .collect();
        let tail = |total: u64| free(&kept, total).tail.map(|t| (t.rate * 18.0).round());
        // 5 % of 100, of 100 + 90, and 20 at most in 18 s.
        assert_eq!(
            (tail(100), tail(200), tail(10_000)),
            (Some(5.0), Some(9.0), Some(20.0))
        );
    }

    /// Excesses 0 to 3 over a threshold of 1: mean 2 of the three above it.
    #[test]
    fn a_tail_is_fitted_by_its_weighted_moments() {
        let lengths: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let tail = fit(&lengths, 100.0, 10.0, SHAPE.0).unwrap();
        // Five of 100: the threshold is the fifth, 96; excesses 1, 2, 3 and 4.
        assert_eq!((tail.threshold_s, tail.rate), (96.0, 0.5));
        let weighted: f64 = (1..=4)
            .map(|i| f64::from(i) * (1.0 - (f64::from(i) - 0.35) / 4.0))
            .sum::<f64>()
            / 4.0;
        let shape = 2.0 - 2.5 / (2.5 - 2.0 * weighted);
        assert!(shape < SHAPE.0, "{shape}");
        assert_eq!(tail.shape, SHAPE.0);
        assert!((tail.scale_s - 2.5 * 0.6).abs() < 1e-12);
        let light = fit(&lengths, 100.0, 10.0, -9.0).unwrap();
        assert!((light.shape - shape).abs() < 1e-12 && (light.scale_s - 2.5 * (1.0 - shape)).abs() < 1e-12);
        // At the threshold the rate is the tail's, and half a scale further less by its shape.
        assert_eq!(tail.rate_from(96.0), 0.5);
        let further = 0.5 * (1.0_f64 + 0.4 * 0.5).powf(-2.5);
        assert!((tail.rate_from(96.0 + tail.scale_s / 2.0) - further).abs() < 1e-12);
    }

    #[test]
    fn a_gap_touches_a_rekey_from_its_begin_to_half_a_second_behind_its_switch() {
        let rekey = crate::decide::made_up::rekey(0, 10.0);
        let of = |start_s, end_s| {
            let gap = Gap { start_s, end_s };
            let touches = touches(&gap, &rekey);
            let found = ordered(&[gap]).longest_at(&rekey, (0.0, f64::INFINITY), |_| true);
            assert_eq!(found.is_some(), touches);
            touches
        };
        assert!(of(9.0, 10.0) && !of(9.0, 9.999));
        assert!(of(10.6, 11.0) && !of(10.601, 11.0));
        assert!((test_window_s(&rekey) - 0.6).abs() < 1e-9);
    }

    #[test]
    fn the_chance_of_a_gap_grows_with_the_window() {
        let model = free(&[0.001; 500], 60.0);
        let rate = model.rate(0.2);
        for window_s in [0.5, 2.0] {
            let p = 1.0 - (-window_s * rate).exp();
            assert!((model.p(0.2, window_s) - p).abs() < 1e-12);
        }
        let nothing_free = FreeGaps {
            free_s: 0.0,
            lengths: Vec::new(),
            tail: None,
        };
        assert_eq!(nothing_free.p(0.2, 1.0), 1.0);
    }
}

//! Stalls at moments where no rekey was: the null of every test. Volume-triggered rekeys fall preferentially in fast
//! moments, so placebos are drawn on the byte clock; drawn in time they are biased.

use crate::estimate::baseline::{Ruler, WINDOWS_S, Window};
use crate::estimate::stall::stall;
use crate::input::grid::Span;
use crate::input::transfer::PlacedRekey;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use rekeyscope_model::sample::Sample;

/// Most placebo stalls that are computed. Starts are spread evenly over the byte clock, so this many resolve it to a
/// 262,144th; the draws take theirs from them.
const LARGEST_POOL: usize = 1 << 18;
/// The bias is measured where at least this share of the placebos is clean.
const CLEAN_SHARE: f64 = 0.4;
/// Streams of the generator: one makes the pool, the draws have one each.
const POOL_STREAM: u64 = u64::MAX;

/// The stalls of one placebo at every window.
type StallsByWindow = [f32; WINDOWS_S.len()];

/// Placebos that are measured before their stalls are kept.
const MEASURED_AT_ONCE: usize = 1 << 12;

/// A placebo at one window.
#[derive(Debug, Clone, Copy, Default)]
struct MeasuredPlacebo {
    stall_s: f64,
    /// Neither it nor its baselines meet an affected interval, and all lie in the run.
    clean: bool,
}

/// A placebo at the windows that fit.
fn placebo(
    ruler: &Ruler<'_>,
    windows: &[Window],
    start: i64,
    exchange: i64,
) -> [MeasuredPlacebo; WINDOWS_S.len()] {
    let mut row = [MeasuredPlacebo::default(); WINDOWS_S.len()];
    for (own, window) in row.iter_mut().zip(windows) {
        let end = start + exchange + window.bins;
        let span = Span {
            from: start - window.side,
            to: end + window.side,
        };
        *own = MeasuredPlacebo {
            stall_s: stall(ruler, start, start + exchange, window).seconds,
            clean: ruler.run.contains(span) && !window.affected.touches(span),
        };
    }
    row
}

/// Placebo stalls at every window, the same starts serving all of them.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Seconds; one row per placebo, windows that do not fit hold 0.
    stalls: Vec<StallsByWindow>,
    /// Per window: mean stall of clean placebos where enough are clean.
    pub(crate) bias_s: Vec<Option<f64>>,
}

/// One draw of as many placebos as there are rekeys: sum and sum of squares of their stalls at every window, bias taken off.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DrawSums {
    sums: [f64; WINDOWS_S.len()],
    squares: [f64; WINDOWS_S.len()],
}

impl DrawSums {
    fn take(&mut self, row: &StallsByWindow, bias: &StallsByWindow) {
        let sums = self.sums.iter_mut().zip(&mut self.squares);
        for ((sum, square), (value, bias)) in sums.zip(row.iter().zip(bias)) {
            let value = f64::from(value - bias);
            *sum += value;
            *square += value * value;
        }
    }

    /// Placebos of another transfer are drawn with it.
    pub(crate) fn add(&mut self, other: &DrawSums) {
        let sums = self.sums.iter_mut().chain(&mut self.squares);
        for (sum, more) in sums.zip(other.sums.iter().chain(&other.squares)) {
            *sum += more;
        }
    }
}

/// What to draw placebos for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DrawPlan {
    /// Time clock instead of byte clock.
    pub(crate) time_clock: bool,
    /// Draws R.
    pub(crate) draws: usize,
    /// Seed.
    pub(crate) seed: u64,
}

/// A number in [0, 1).
pub(crate) fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number below `n` (multiplication; n is at most [`LARGEST_POOL`], so no number is favoured by more than 2^−14).
pub(crate) fn below(rng: &mut ChaCha8Rng, n: usize) -> usize {
    ((u64::from(rng.next_u32()) * n as u64) >> 32) as usize
}

/// The generator of one stream.
pub(crate) fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}

/// Bins in which a placebo with an exchange of `exchange` bins may begin: both baseline sides of the largest window lie
/// within the run. `None` where it does not fit.
pub(crate) fn starts(run: Span, largest: &Window, exchange: i64) -> Option<Span> {
    let span = Span {
        from: run.from + largest.side,
        to: run.to - exchange - largest.bins - largest.side,
    };
    (span.len() > 0).then_some(span)
}

/// A start at `share` (0 to 1) of the clock over the bins in which it may lie.
pub(crate) fn start_at(ruler: &Ruler<'_>, span: Span, share: f64, time_clock: bool) -> i64 {
    if time_clock {
        return span.from + ((span.len() as f64 * share) as i64).min(span.len() - 1);
    }
    let (low, high) = (ruler.grid.clock(span.from), ruler.grid.clock(span.to));
    ruler
        .grid
        .bin_of_byte(low + share * (high - low), span.from, span.to)
}

impl Pool {
    /// Draws starts evenly over the clock, each with an exchange from the real ones. `None` where not one fits.
    pub(crate) fn new(
        ruler: &Ruler<'_>,
        windows: &[Window],
        used: &[PlacedRekey],
        plan: DrawPlan,
    ) -> Option<Pool> {
        let largest = windows.last()?;
        let exchanges: Vec<i64> = used.iter().map(PlacedRekey::exchange_bins).collect();
        let size = plan.draws.saturating_mul(used.len()).clamp(1, LARGEST_POOL);
        let mut rng = stream(plan.seed, POOL_STREAM);
        let mut placebos = (0..size).filter_map(|i| {
            let exchange = exchanges[below(&mut rng, exchanges.len())];
            let share = (i as f64 + unit(&mut rng)) / size as f64;
            let span = starts(ruler.run, largest, exchange)?;
            Some((start_at(ruler, span, share, plan.time_clock), exchange))
        });
        let mut stalls = Vec::with_capacity(size);
        let mut clean = vec![(0_usize, 0.0_f64); windows.len()];
        let of = |&(start, exchange): &(i64, i64)| placebo(ruler, windows, start, exchange);
        loop {
            // They are summed in their order, however many threads measure them.
            let some: Vec<(i64, i64)> = placebos.by_ref().take(MEASURED_AT_ONCE).collect();
            let measured: Vec<[MeasuredPlacebo; WINDOWS_S.len()]> = some.par_iter().map(of).collect();
            if measured.is_empty() {
                break;
            }
            for row in measured {
                for (clean, own) in clean.iter_mut().zip(&row).filter(|(_, own)| own.clean) {
                    *clean = (clean.0 + 1, clean.1 + own.stall_s);
                }
                stalls.push(row.map(|own| own.stall_s as f32));
            }
        }
        let drawn = stalls.len();
        let bias_s: Vec<Option<f64>> = clean
            .iter()
            .map(|&(n, sum)| (n > 0 && n as f64 >= CLEAN_SHARE * drawn as f64).then(|| sum / n as f64))
            .collect();
        (drawn > 0).then_some(Pool { stalls, bias_s })
    }

    /// Of each stall (1 + placebos that stall at least as long) / (1 + placebos).
    pub(crate) fn ranks(&self, window: usize, stalls_s: &[f64]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..stalls_s.len()).collect();
        order.sort_unstable_by(|&a, &b| stalls_s[a].total_cmp(&stalls_s[b]));
        // At each stall in that order: placebos below it that are not below the one before. There are few stalls beside the placebos, which need
        // not be sorted.
        let mut below = vec![0_usize; stalls_s.len() + 1];
        for row in &self.stalls {
            let placebo = f64::from(row[window]);
            below[order.partition_point(|&k| stalls_s[k] <= placebo)] += 1;
        }
        let all = self.stalls.len();
        let mut ranks = vec![0.0; stalls_s.len()];
        let mut so_far = 0;
        for (k, below) in order.into_iter().zip(below) {
            so_far += below;
            ranks[k] = (1 + all - so_far) as f64 / (1 + all) as f64;
        }
        ranks
    }

    /// `n` placebos, drawn `draws` times.
    pub(crate) fn draw(&self, n: usize, plan: DrawPlan) -> Vec<DrawSums> {
        let mut bias = StallsByWindow::default();
        for (bias, of_window) in bias.iter_mut().zip(&self.bias_s) {
            *bias = of_window.unwrap_or(0.0) as f32;
        }
        let draw = |number: usize| {
            let mut rng = stream(plan.seed, number as u64);
            // The values are small and bias is taken off: nothing cancels between the two sums.
            let mut drawn = DrawSums::default();
            for _ in 0..n {
                if let Some(row) = self.stalls.get(below(&mut rng, self.stalls.len())) {
                    drawn.take(row, &bias);
                }
            }
            drawn
        };
        (0..plan.draws).into_par_iter().map(draw).collect()
    }
}

/// z = mean/error of draws of `n` placebos each: the largest over the `eligible` windows of each draw, in ascending order.
pub(crate) fn largest_z(drawn: &[DrawSums], n: usize, eligible: &[usize]) -> Vec<f64> {
    let largest = |draw: &DrawSums| {
        let z = |&w: &usize| z_of_sums(n, draw.sums[w], draw.squares[w]);
        eligible.iter().map(z).fold(f64::NEG_INFINITY, f64::max)
    };
    let mut largest: Vec<f64> = drawn.par_iter().map(largest).collect();
    largest.par_sort_unstable_by(f64::total_cmp);
    largest
}

/// Studentized mean of n values from their sum and sum of squares.
fn z_of_sums(n: usize, sum: f64, squares: f64) -> f64 {
    let n = n as f64;
    let mean = sum / n;
    let variance = ((squares - sum * mean) / (n - 1.0).max(1.0)).max(0.0);
    studentized(mean, (variance / n).sqrt())
}

/// Smallest standard error: a microsecond. Equal stalls (an idle stretch, a constant synthetic rate) would divide by 0.
const LEAST_ERROR_S: f64 = 1e-6;

fn studentized(mean: f64, error: f64) -> f64 {
    mean / error.max(LEAST_ERROR_S)
}

/// z of the real rekeys, the same way as the placebos'.
pub(crate) fn real_z(stalls: &[f64], bias_s: Option<f64>) -> f64 {
    let sample = Sample::of(stalls);
    studentized(sample.mean - bias_s.unwrap_or(0.0), sample.error())
}

/// p of one window, corrected over all of them: the share of draws whose largest z reaches the real one.
pub(crate) fn corrected_p(largest_z: &[f64], z: f64) -> f64 {
    let below = largest_z.partition_point(|&l| l < z);
    (1 + largest_z.len() - below) as f64 / (1 + largest_z.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::baseline::fitting_windows;
    use crate::input::grid::Grid;
    use crate::input::grid::tests::synthetic_series;
    use crate::input::moment::{ProvenEffect, RekeyMoment};
    use crate::input::start::Start;
    use crate::input::transfer::place;

    const PLAN: DrawPlan = DrawPlan {
        time_clock: false,
        draws: 999,
        seed: 7,
    };

    #[test]
    fn starts_follow_the_clock() {
        // The second half carries three times as much.
        let grid = Grid::new(
            &synthetic_series([vec![50; 2000], vec![150; 2000]].concat()),
            2,
            0,
        );
        let run = Span { from: 0, to: 2000 };
        let ruler = Ruler {
            grid: &grid,
            run,
            busy_median: 1.0,
            before_only: false,
        };
        assert_eq!(start_at(&ruler, run, 0.25, false), 1000);
        assert_eq!(start_at(&ruler, run, 0.25, true), 500);
        assert_eq!(start_at(&ruler, run, 0.999_999_9, false), 1999);
    }

    #[test]
    fn silence_has_no_weight_on_the_byte_clock() {
        let grid = Grid::new(
            &synthetic_series([vec![100; 1000], vec![0; 2000], vec![100; 1000]].concat()),
            2,
            0,
        );
        let run = Span { from: 0, to: 2000 };
        let ruler = Ruler {
            grid: &grid,
            run,
            busy_median: 1.0,
            before_only: false,
        };
        for i in 0..1000 {
            let start = start_at(&ruler, run, f64::from(i) / 1000.0, false);
            assert!(!(500..1500).contains(&start), "{start}");
        }
    }

    #[test]
    fn the_draws_do_not_depend_on_the_number_of_threads() {
        let bytes = (0..8000_u32).map(|i| 80 + (i * 7919) % 40).collect();
        let grid = Grid::new(&synthetic_series(bytes), 2, 0);
        let run = Span { from: 0, to: 4000 };
        let rekeys: Vec<RekeyMoment> = (1..9)
            .map(|k| RekeyMoment {
                index: k,
                start: Start::Message(4.0 * k as f64),
                switched_s: 4.0 * k as f64 + 0.2,
                proven: ProvenEffect::Nothing,
            })
            .collect();
        let placed = place(&grid, run, &rekeys, false);
        let windows = fitting_windows(&grid, run, &placed, &placed);
        let ruler = Ruler {
            grid: &grid,
            run,
            busy_median: 20_000.0,
            before_only: false,
        };
        let draws = |threads: usize| {
            let threads = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            threads.install(|| {
                let pool = Pool::new(&ruler, &windows, &placed, PLAN).unwrap();
                largest_z(&pool.draw(placed.len(), PLAN), placed.len(), &[0, 1])
            })
        };
        assert_eq!(draws(1), draws(3));
    }

    /// Placebos with these stalls at the first window.
    fn pool_of(stalls: &[f32]) -> Pool {
        let row = |&stall: &f32| [stall, 0.0, 0.0, 0.0, 0.0];
        Pool {
            stalls: stalls.iter().map(row).collect(),
            bias_s: vec![None],
        }
    }

    #[test]
    fn ranks_and_p_are_never_zero() {
        assert_eq!(pool_of(&[0.3, 0.1, 0.2]).ranks(0, &[1.0, 0.0]), [0.25, 1.0]);
        assert_eq!(
            (
                corrected_p(&[1.0, 2.0, 3.0], 9.0),
                corrected_p(&[1.0, 2.0, 3.0], 3.0)
            ),
            (0.25, 0.5)
        );
    }

    #[test]
    fn equal_stalls_do_not_divide_by_zero() {
        assert!(real_z(&[0.0; 5], None).abs() < 1e-12);
        assert!(z_of_sums(4, 0.4, 0.04).is_finite());
    }

    #[test]
    fn a_rank_counts_what_stalls_at_least_as_long() {
        let pool = pool_of(&[0.5, 1.0, 0.25, 0.5]);
        // In any order, and several alike.
        assert_eq!(pool.ranks(0, &[0.5, 0.75, 0.25, 0.5]), [0.8, 0.4, 1.0, 0.8]);
        assert_eq!(pool.ranks(1, &[0.0, 0.1]), [1.0, 0.2], "of another window");
        assert_eq!(
            [0.5, 2.0, 2.5].map(|z| corrected_p(&[1.0, 2.0, 2.0, 3.0], z)),
            [1.0, 0.8, 0.4]
        );
    }

    #[test]
    fn sums_of_a_draw_give_its_studentized_mean() {
        let mut draw = DrawSums::default();
        for value in [1.0, 2.0, 3.0] {
            draw.take(&[value + 0.5; WINDOWS_S.len()], &[0.5; WINDOWS_S.len()]);
        }
        assert_eq!((draw.sums[4], draw.squares[4]), (6.0, 14.0));
        let z = 2.0 / (1.0_f64 / 3.0).sqrt();
        assert!((z_of_sums(3, draw.sums[4], draw.squares[4]) - z).abs() < 1e-9);
        assert!((real_z(&[1.0, 2.0, 3.0], None) - z).abs() < 1e-9);
        assert!((real_z(&[1.0, 2.0, 3.0], Some(0.5)) - 0.75 * z).abs() < 1e-9);
        let mut both = draw;
        both.add(&draw);
        assert_eq!((both.sums[0], both.squares[4]), (12.0, 28.0));
        // The largest over the windows that are asked for, in ascending order.
        let mut other = draw;
        other.sums[1] = 9.0;
        let largest = largest_z(&[other, draw], 3, &[0, 1]);
        assert!((largest[0] - z).abs() < 1e-9 && largest[1] > z);
        assert_eq!(largest_z(&[other, draw], 3, &[0]).len(), 2);
    }

    #[test]
    fn a_placebo_has_room_for_its_baselines() {
        let run = Span { from: 100, to: 1_100 };
        let window = crate::decide::made_up::of_ten_seconds(&[]).windows.remove(1);
        // 20 bins a side, 50 of the window, 30 of the exchange.
        assert_eq!(starts(run, &window, 30), Some(Span { from: 120, to: 1_000 }));
        assert_eq!(starts(run, &window, 909), Some(Span { from: 120, to: 121 }));
        assert_eq!(starts(run, &window, 910), None);
    }

    #[test]
    fn random_numbers_fill_their_range() {
        let mut rng = stream(1, 2);
        let units: Vec<f64> = (0..1_000).map(|_| unit(&mut rng)).collect();
        assert!(units.iter().all(|u| (0.0..1.0).contains(u)));
        let mean = units.iter().sum::<f64>() / 1_000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
        let mut seen = [0; 3];
        (0..300).for_each(|_| seen[below(&mut rng, 3)] += 1);
        assert!(seen.iter().all(|&n| n > 60), "{seen:?}");
        let first = |seed, number| stream(seed, number).next_u64();
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
        assert_eq!(first(1, 2), first(1, 2));
    }
}

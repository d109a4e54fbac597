//! The mean rekey: rates around the switch, superposed, over the band that as many placebos fill.

use crate::decide::all_transfers::AllTransfers;
use crate::decide::evaluation::Evaluation;
use crate::estimate::baseline::{Ruler, median_exchange_s, median_interval_s};
use crate::estimate::placebo::{below, start_at, stream, unit};
use crate::input::grid::Span;
use crate::input::settings::MethodSettings;
use rand_chacha::ChaCha8Rng;
use rekeyscope_model::analysis::MeanRekey;

/// Distance of two points, seconds.
const STEP_S: f64 = 0.05;
/// Shown before the exchange, seconds.
const BEFORE_S: f64 = 2.0;
/// Shown after the switch, seconds.
const AFTER_S: f64 = 5.0;
/// Shown at least, seconds.
const LEAST_SHOWN_S: f64 = 1.0;
/// Means of placebos for the band. Its ends are the 25th from below and above …
const MOST_DRAWS: usize = 999;
/// … and still the fifth in long captures, where the product of draws, rekeys and points is held to …
const LEAST_DRAWS: usize = 199;
/// … about this.
const WORK: usize = 20_000_000;
/// Placebos in one of those means. Where there are more rekeys, means of theirs spread less, by the root of how many more.
const MOST_SUPERPOSED: usize = 250;
/// The band's lower quantile.
const BAND: f64 = 0.025;
/// Stream of the generator, apart from the test's.
const BAND_STREAM: u64 = u64::MAX - 1;

/// Moments of one transfer: bins of the switches.
type Switches<'a> = (&'a Evaluation, Vec<i64>);

/// Superposes the used rekeys; `None` without any.
pub(crate) fn superpose(whole: &AllTransfers, settings: &MethodSettings) -> Option<MeanRekey> {
    let transfers: Vec<&Evaluation> = whole.transfers.iter().filter(|e| !e.used.is_empty()).collect();
    let grid = &transfers.first()?.grid;
    let offsets = offsets(&transfers);
    let switches = |e: &Evaluation| e.used.iter().map(|k| k.switch).collect();
    let real: Vec<Switches<'_>> = transfers.iter().map(|&e| (e, switches(e))).collect();
    let (low, high) = band(&transfers, settings, &offsets, MOST_SUPERPOSED)?;
    Some(MeanRekey {
        tunnel: settings.tunnel,
        direction: settings.direction,
        offset_ms: offsets.iter().map(|&o| grid.seconds(o) * 1000.0).collect(),
        rate_bps: mean_rates(&real, &offsets),
        placebo_low_bps: low,
        placebo_high_bps: high,
    })
}

/// Points from 2 s before the exchange to 5 s after the switch, in bins from the switch; shrunk so that no neighbour of
/// a rekey at the median distance comes into view. Of several transfers, those of the one with most rekeys.
fn offsets(transfers: &[&Evaluation]) -> Vec<i64> {
    let Some(e) = transfers.iter().rev().max_by_key(|e| e.used.len()) else {
        return Vec::new();
    };
    let before = BEFORE_S + median_exchange_s(&e.used);
    let interval = median_interval_s(&e.grid, e.run, &e.used).max(LEAST_SHOWN_S);
    let shrink = (interval / (before + AFTER_S)).min(1.0);
    let step = e.grid.length(STEP_S);
    let points = |s: f64| (s * shrink / STEP_S).ceil() as i64;
    (-points(before)..points(AFTER_S)).map(|i| i * step).collect()
}

/// Mean rate over the moments that lie in their transfer at that offset, bit/s.
fn mean_rates(moments: &[Switches<'_>], offsets: &[i64]) -> Vec<f64> {
    let mut sums = vec![(0_usize, 0.0); offsets.len()];
    for (e, switches) in moments {
        let step = e.grid.length(STEP_S);
        let seconds = e.grid.seconds(step);
        // Moment by moment: what lies at its offsets lies side by side in memory, and one mostly begins where the last one ended.
        for switch in switches {
            let mut last_end = None;
            for ((n, sum), offset) in sums.iter_mut().zip(offsets) {
                let (from, to) = (switch + offset, switch + offset + step);
                if e.run.contains(Span { from, to }) {
                    let begins = last_end.filter(|&(at, _)| at == from);
                    let begins = begins.map_or_else(|| e.grid.clock(from), |(_, clock)| clock);
                    let ends = e.grid.clock(to);
                    last_end = Some((to, ends));
                    *n += 1;
                    *sum += (ends - begins) / seconds;
                }
            }
        }
    }
    sums.into_iter()
        .map(|(n, sum)| sum / n.max(1) as f64 * 8.0)
        .collect()
}

/// 2.5 % and 97.5 % quantiles of the means of as many placebos as there are rekeys; of `most`, as they would be of all, where there are
/// more.
fn band(
    transfers: &[&Evaluation],
    settings: &MethodSettings,
    offsets: &[i64],
    most: usize,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let all: usize = transfers.iter().map(|e| e.used.len()).sum();
    let taken = |e: &Evaluation| (e.used.len() * most.min(all)).div_ceil(all.max(1));
    let n: usize = transfers.iter().map(|e| taken(e)).sum();
    let draws = (WORK / (n * offsets.len()).max(1)).clamp(LEAST_DRAWS, MOST_DRAWS);
    let mut rng = stream(settings.seed, BAND_STREAM);
    let mut columns: Vec<Vec<f64>> = vec![Vec::with_capacity(draws); offsets.len()];
    for _ in 0..draws {
        let drawn: Vec<Switches<'_>> = transfers
            .iter()
            .map(|&e| (e, placebos(e, taken(e), settings, &mut rng)))
            .collect();
        for (column, rate) in columns.iter_mut().zip(mean_rates(&drawn, offsets)) {
            column.push(rate);
        }
    }
    let tail = (BAND * (draws + 1) as f64) as usize;
    let narrower = (n as f64 / all.max(1) as f64).sqrt();
    let ends = |column: &mut Vec<f64>| {
        column.sort_by(f64::total_cmp);
        let low = *column.get(tail.checked_sub(1)?)?;
        let high = *column.get(column.len().checked_sub(tail)?)?;
        if n == all {
            return Some((low, high));
        }
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        let end = |end: f64| mean + (end - mean) * narrower;
        Some((end(low), end(high)))
    };
    columns.iter_mut().map(ends).collect::<Option<_>>()
}

/// `count` switches in a transfer, each after the exchange of one of its rekeys.
fn placebos(e: &Evaluation, count: usize, settings: &MethodSettings, rng: &mut ChaCha8Rng) -> Vec<i64> {
    let ruler = Ruler {
        grid: &e.grid,
        run: e.run,
        busy_median: 0.0,
        before_only: false,
    };
    let mut switches = Vec::with_capacity(count);
    for _ in 0..count {
        let exchange = e.used[below(rng, e.used.len())].exchange_bins();
        let span = Span {
            from: e.run.from,
            to: e.run.to - exchange,
        };
        let share = unit(rng);
        if span.len() > 0 {
            switches.push(start_at(&ruler, span, share, settings.time_triggered) + exchange);
        }
    }
    switches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::made_up::of_ten_seconds;
    use crate::input::grid::Grid;
    use crate::input::grid::tests::synthetic_series;
    use rekeyscope_model::analysis::Direction;
    use std::sync::Arc;

    /// Steps of 50 ms are five bins.
    #[test]
    fn seven_seconds_are_shown_where_no_neighbour_comes_into_view() {
        let seen = |starts: &[f64]| {
            let offsets = offsets(&[&of_ten_seconds(starts)]);
            (offsets[0], offsets[offsets.len() - 1], offsets.len())
        };
        // 2.1 s before the switch, up to 5 s behind it.
        assert_eq!(seen(&[3.0]), (-210, 495, 142));
        // One each 3.55 s: half of that.
        assert_eq!(seen(&[2.0, 5.55, 9.1]), (-105, 245, 71));
        // A second is shown at least.
        let (first, last, _) = seen(&[2.0, 2.1, 2.2]);
        assert_eq!((first, last), (-30, 70));
        assert_eq!(offsets(&[]), [0; 0]);
    }

    #[test]
    fn of_several_transfers_the_one_with_most_rekeys_says_what_is_shown() {
        let (many, few) = (of_ten_seconds(&[2.0, 5.55, 9.1]), of_ten_seconds(&[3.0]));
        assert_eq!(offsets(&[&few, &many]), offsets(&[&many]));
        assert_eq!(offsets(&[&many, &few]), offsets(&[&many]));
    }

    #[test]
    fn rates_are_means_over_the_moments_that_lie_in_the_transfer() {
        let mut e = of_ten_seconds(&[]);
        // Twice as much from 6 s on.
        let bytes = [vec![100; 1_200], vec![200; 1_200]].concat();
        e.grid = Arc::new(Grid::new(&synthetic_series(bytes), 2, 0));
        let rates = mean_rates(&[(&e, vec![300, 800, 1_098])], &[0, -250, 400]);
        // The last of them reaches beyond the end, the first begins before the transfer, and both of the later ones lie behind it.
        let expected = [240_000.0, 240_000.0, 320_000.0];
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((rate - expected).abs() < 1e-6, "{rates:?}");
        }
        assert_eq!(mean_rates(&[(&e, vec![5_000])], &[0]), [0.0]);
    }

    /// In even traffic every mean is the same.
    #[test]
    fn the_band_of_even_traffic_is_a_line() {
        let e = of_ten_seconds(&[4.0, 8.0]);
        let settings = MethodSettings::new(0, Direction::AToB);
        let offsets = [-10, 0, 10];
        let (low, high) = band(&[&e], &settings, &offsets, 2).unwrap();
        for rate in low.into_iter().chain(high) {
            assert!((rate - 160_000.0).abs() < 1e-6, "{rate}");
        }
        let mut rng = stream(1, 0);
        for _ in 0..50 {
            let placebos = placebos(&e, 2, &settings, &mut rng);
            assert_eq!(placebos.len(), 2);
            // Behind an exchange of ten bins, within the transfer.
            assert!(placebos.iter().all(|p| (110..=1_100).contains(p)), "{placebos:?}");
        }
        let mut short = of_ten_seconds(&[4.0]);
        short.run.to = short.run.from + 10;
        assert_eq!(placebos(&short, 1, &settings, &mut rng), [0; 0], "none fits");
    }

    /// In uneven traffic a sixteenth of the placebos shows the same band, nearly.
    #[test]
    fn fewer_placebos_show_the_band_of_all() {
        let starts: Vec<f64> = (0..320).map(|k| 1.0 + f64::from(k) * 0.025).collect();
        let mut e = of_ten_seconds(&starts);
        let mut state = 1_u32;
        let bytes = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 22
        });
        e.grid = Arc::new(Grid::new(&synthetic_series(bytes.take(2_400).collect()), 2, 0));
        let settings = MethodSettings::new(0, Direction::AToB);
        let offsets: Vec<i64> = (-20..20).map(|k| k * 5).collect();
        let mean_ends = |most| {
            let (low, high) = band(&[&e], &settings, &offsets, most).unwrap();
            let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len() as f64;
            (mean(low), mean(high))
        };
        let (all, few) = (mean_ends(starts.len()), mean_ends(starts.len() / 16));
        // A width from 999 draws is known to 3 % (an end to 0.085 of the spread, of which there are 3.9 between both), two of them to 4.
        let ratio = (few.1 - few.0) / (all.1 - all.0);
        assert!((0.9..1.1).contains(&ratio), "{all:?} {few:?}");
        // The means of 20 spread by 4 % of themselves, and the ends of their band, shrunk, by a tenth of a quarter of that.
        assert!(
            ((few.0 + few.1) / (all.0 + all.1) - 1.0).abs() < 0.01,
            "{all:?} {few:?}"
        );
    }
}

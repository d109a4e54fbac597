//! Bins reduced to the columns of a plot. That is drawing, not analysis: the document keeps every bin.

/// One column of a plot: the lowest, mean and highest rate of its bins, bit/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlotColumn {
    /// Middle of its bins, seconds from the first bin's start.
    pub(crate) time: f64,
    pub(crate) low: f64,
    pub(crate) mean: f64,
    pub(crate) high: f64,
}

/// The least that a bin of a rate holds, bytes: ten full packets. In a smaller one a packet more or less is more than a tenth of it, and
/// what is drawn is single packets.
const LEAST_BYTES: f64 = 10.0 * 1_500.0;

/// Counts the bins that are drawn as one, so that at the highest rate of a series each holds [`LEAST_BYTES`].
pub(crate) fn joined_bins(highest_bps: f64, bin_s: f64) -> usize {
    let bytes = highest_bps / 8.0 * bin_s;
    match bytes.is_finite() && bytes > 0.0 {
        true => (LEAST_BYTES / bytes).ceil().max(1.0) as usize,
        false => 1,
    }
}

/// Bins of which each is the sum of `of` bins. A last one of fewer would look like a fall of the rate: it is left out, unless it is all.
pub(crate) fn joined(bytes: &[u64], of: usize) -> Vec<u64> {
    let sum = |bins: &[u64]| bins.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
    let whole = bytes.chunks(of.max(1)).filter(|bins| bins.len() == of);
    let joined: Vec<u64> = whole.map(sum).collect();
    match joined.is_empty() && !bytes.is_empty() {
        true => vec![sum(bytes)],
        false => joined,
    }
}

/// At most `columns` of them over `bytes` per bin of `bin_s` seconds. Empty where the width of a bin is no width.
pub(crate) fn columns(bytes: &[u64], bin_s: f64, columns: usize) -> Vec<PlotColumn> {
    if !(bin_s.is_finite() && bin_s > 0.0) || columns == 0 {
        return Vec::new();
    }
    let per_column = bytes.len().div_ceil(columns).max(1);
    let rate = |bytes: u64| bytes as f64 * 8.0 / bin_s;
    let chunks = bytes.chunks(per_column).enumerate();
    chunks
        .map(|(i, bins)| PlotColumn {
            time: ((i * per_column) as f64 + bins.len() as f64 / 2.0) * bin_s,
            low: rate(bins.iter().copied().min().unwrap_or(0)),
            mean: bins.iter().map(|&b| rate(b)).sum::<f64>() / bins.len() as f64,
            high: rate(bins.iter().copied().max().unwrap_or(0)),
        })
        .collect()
}

/// The end of the axis: the highest mean, unless a few bursts (a queue let go at once, a capture that was held up) stand
/// far above the rest. They are cut off then: at 1.5 times what 98 % of the busy columns stay below.
pub(crate) fn ceiling<'a>(columns: impl Iterator<Item = &'a PlotColumn>) -> f64 {
    let mut means: Vec<f64> = columns
        .map(|c| c.mean)
        .filter(|m| *m > 0.0 && m.is_finite())
        .collect();
    means.sort_by(f64::total_cmp);
    let highest = means.last().copied().unwrap_or(0.0);
    let usual = means.get(means.len() * 98 / 100).copied().unwrap_or(highest);
    highest.min(usual * 1.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_keeps_lowest_mean_and_highest() {
        let all = columns(&[0, 10, 20, 40], 0.01, 2);
        assert_eq!(
            all[0],
            PlotColumn {
                time: 0.01,
                low: 0.0,
                mean: 4000.0,
                high: 8000.0
            }
        );
        assert_eq!(
            all[1],
            PlotColumn {
                time: 0.03,
                low: 16_000.0,
                mean: 24_000.0,
                high: 32_000.0
            }
        );
    }

    #[test]
    fn bins_of_a_slow_series_are_joined_until_packets_are_a_rate() {
        assert_eq!(joined_bins(12e6, 0.01), 1);
        assert_eq!(joined_bins(600e3, 0.01), 20);
        assert_eq!([joined_bins(0.0, 0.01), joined_bins(f64::NAN, 0.01)], [1, 1]);
        assert_eq!(joined(&[1, 2, 3, 4, 5], 2), [3, 7]);
        assert_eq!(joined(&[1], 2), [1]);
        assert_eq!(joined(&[u64::MAX, 1], 2), [u64::MAX]);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert!(columns(&[], 0.01, 100).is_empty());
        assert!(columns(&[1], 0.0, 100).is_empty());
        assert!(columns(&[1], f64::NAN, 100).is_empty());
        assert!(columns(&vec![1; 20_000], 0.01, 999).len() <= 999);
    }

    #[test]
    fn a_burst_does_not_set_the_scale() {
        let at = |mean| PlotColumn {
            time: 0.0,
            low: 0.0,
            mean,
            high: mean,
        };
        let even: Vec<PlotColumn> = (0..200).map(|i| at(9.0 + f64::from(i % 3))).collect();
        assert_eq!(ceiling(even.iter()), 11.0);
        let burst = [even, vec![at(80.0), at(0.0)]].concat();
        assert_eq!(ceiling(burst.iter()), 16.5);
        assert_eq!(ceiling([].iter()), 0.0);
    }
}

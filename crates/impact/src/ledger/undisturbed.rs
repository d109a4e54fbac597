//! The time in which nobody held the transfer up, and the rates that are usual in it.

use super::arrivals::ArrivedBytes;
use super::input::{LedgerInput, RuleTimes, TimeSpan};
use super::spans::{holds, joined, meets, without};
use rekeyscope_model::time::Timestamp;

/// Moments at which the rate is looked at, in each window.
const LOOKS: i64 = 4;
/// Most moments at which the rate is looked at, a bound on memory: a longer transfer has fewer in each hour.
const MOST_LOOKS: i64 = 1 << 15;
/// The upper quartile: a rate that the transfer holds for a quarter of its time is one that the path gives.
const UPPER_QUARTILE: f64 = 0.75;
/// A rate, a window or a flight that does not grow any more is at its limit where it has so much of it.
pub(crate) const AT_LIMIT: f64 = 0.9;
/// Quantile of the rate at which a transfer is back: an ordinary moment, which lies below the mean where random losses hold the rate.
const ORDINARY: f64 = 0.4;
/// Share of the mean at which a transfer is back on an even path.
const LEAST_LOW: f64 = 0.95;
/// Quantile of the rate above which a transfer is faster than when it is back: the sender makes up for what it missed.
const FAST: f64 = 0.95;
/// Share of the mean above which a transfer on an even path is faster than when it is back.
const LEAST_HIGH: f64 = 1.1;

/// The rates between which a transfer is back, as shares of the rate without rekeys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct UsualRates {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Samples of the rate.
#[derive(Debug)]
pub(super) struct RateSamples {
    samples: Vec<(Timestamp, f64)>,
    window: i64,
}

/// The value below which this share of a list lies.
pub(super) fn quantile(list: &mut [f64], share: f64) -> Option<f64> {
    let last = list.len().checked_sub(1)?;
    let place = (last as f64 * share).round() as usize;
    let (_, value, _) = list.select_nth_unstable_by(place, f64::total_cmp);
    Some(*value)
}

impl RateSamples {
    /// Samples of the whole transfer, evenly in time.
    pub(super) fn new(arrivals: &ArrivedBytes<'_>, transfer: TimeSpan, times: RuleTimes) -> Self {
        let length = transfer.1.nanos_since(transfer.0).saturating_sub(times.window);
        let step = (times.window / LOOKS).max(length / MOST_LOOKS).max(1);
        let count = if length < 0 { 0 } else { length / step + 1 };
        let moments = (0..count).map(|k| transfer.0.plus_nanos(k * step));
        let sample = |at: Timestamp| (at, arrivals.rate_from(at, times.window));
        RateSamples {
            samples: moments.map(sample).collect(),
            window: times.window,
        }
    }

    fn span(&self, from: Timestamp) -> TimeSpan {
        (from, from.plus_nanos(self.window))
    }

    /// The upper quartile of the samples that meet none of `disturbed`, which are joined.
    pub(super) fn upper_quartile(&self, disturbed: &[TimeSpan]) -> Option<f64> {
        let outside = self
            .samples
            .iter()
            .filter(|sample| !meets(disturbed, self.span(sample.0)));
        quantile(
            &mut outside.map(|sample| sample.1).collect::<Vec<f64>>(),
            UPPER_QUARTILE,
        )
    }

    /// Time at which the transfer first reaches a rate: growth ends there.
    pub(super) fn grown(&self, rate: f64) -> Option<Timestamp> {
        let first = self.samples.iter().find(|sample| sample.1 >= AT_LIMIT * rate);
        first.map(|sample| sample.0)
    }

    /// The usual rates of undisturbed time.
    pub(super) fn usual(&self, undisturbed: &[TimeSpan]) -> UsualRates {
        let inside = self
            .samples
            .iter()
            .filter(|sample| holds(undisturbed, self.span(sample.0)));
        let mut rates: Vec<f64> = inside.map(|sample| sample.1).collect();
        let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
        let mut share = |of| {
            quantile(&mut rates, of)
                .filter(|_| mean > 0.0)
                .map(|rate| rate / mean)
        };
        UsualRates {
            low: share(ORDINARY).map_or(LEAST_LOW, |low| low.min(LEAST_LOW)),
            high: share(FAST).map_or(LEAST_HIGH, |high| high.max(LEAST_HIGH)),
        }
    }
}

/// The transfer from `grown` on without intervals, holes and silences of the sender.
pub(super) fn undisturbed(
    input: &LedgerInput<'_>,
    grown: Timestamp,
    intervals: impl Iterator<Item = TimeSpan>,
    acquitted: &[TimeSpan],
) -> Vec<TimeSpan> {
    let apart = input.holes.iter().chain(acquitted).copied();
    without(
        (grown, input.transfer.1),
        &joined(apart.chain(intervals).collect()),
    )
}

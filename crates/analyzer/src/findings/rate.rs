//! Rates that no rekey explains, and a receiver that holds the data back.

use crate::findings::lane::{ENOUGH_PACKETS, Lane, finding};
use crate::throughput::rests::Rest;
use crate::throughput::series::BinnedBytes;
use rekeyscope_ipsec::rekey::Succession;
use rekeyscope_model::analysis::{Finding, Severity};
use rekeyscope_model::sample::Sample;
use rekeyscope_model::time::Timestamp;

/// A healthy flow swings between 0.5 and 1 of its peak (Reno's sawtooth: coefficient of variation 0.19); twice that is
/// unstable.
const UNSTABLE: f64 = 0.4;
/// The last third carries less than this share of the first, the middle one lies between: the rate decays.
const DECAYED: f64 = 0.6;
/// Seconds free of rekeys that say something about a rate.
const ENOUGH_SECONDS: usize = 12;
/// Seconds after a switch that are the rekey's.
const RECOVERY_S: f64 = 2.0;
/// Seconds below this share of the best one are idle.
const BUSY: f64 = 0.1;
/// Windows of 0 that are worth a word.
const ENOUGH_ZERO_WINDOWS: u64 = 10;

impl Lane<'_> {
    pub(crate) fn zero_windows(&self) -> Option<Finding> {
        let c = self.counters;
        (c.zero_windows >= ENOUGH_ZERO_WINDOWS).then(|| {
            let message = self.about("finding-closed-window").with("times", c.zero_windows);
            finding(
                "receiver_limited",
                Severity::Info,
                message,
                c.zero_window_frames.frames(),
            )
        })
    }

    /// Rates of the seconds that no rekey touches, rests and idle ends cut off.
    fn free_rates(&self, successions: &[Succession], rests: &[Rest]) -> Vec<f64> {
        let Some(series) = self.record.meters.counted(self.tunnel, self.direction) else {
            return Vec::new();
        };
        let parts = series.bytes(rests);
        parts
            .iter()
            .flat_map(|part| self.free_of(part, successions))
            .collect()
    }

    fn free_of(&self, traffic: &BinnedBytes, successions: &[Succession]) -> Vec<f64> {
        let per_second = (1.0 / traffic.bin_s).round().max(1.0) as usize;
        let seconds: Vec<f64> = traffic
            .bytes
            .chunks_exact(per_second)
            .map(|c| c.iter().map(|&b| b as f64).sum())
            .collect();
        let best = seconds.iter().copied().fold(0.0, f64::max);
        let busy = |rate: &f64| *rate >= BUSY * best;
        let (Some(first), Some(last)) = (seconds.iter().position(busy), seconds.iter().rposition(busy))
        else {
            return Vec::new();
        };
        let span = per_second as f64 * traffic.bin_s;
        let rekeys = TimeStretches::new(
            successions
                .iter()
                .filter(|s| s.tunnel == self.tunnel)
                .filter_map(stretch),
        );
        let touched = |k: usize| {
            let from = traffic.start.plus_seconds(k as f64 * span);
            rekeys.touch(from, from.plus_seconds(span))
        };
        (first + 1..last)
            .filter(|&k| !touched(k))
            .map(|k| seconds[k])
            .collect()
    }

    pub(crate) fn rate_trouble(&self, successions: &[Succession], rests: &[Rest]) -> Option<Finding> {
        if self.counters.data_segments < ENOUGH_PACKETS {
            return None;
        }
        let rates = self.free_rates(successions, rests);
        if rates.len() < ENOUGH_SECONDS {
            return None;
        }
        let third = rates.len() / 3;
        let thirds = [
            &rates[..third],
            &rates[third..rates.len() - third],
            &rates[rates.len() - third..],
        ];
        let [early, middle, late] = thirds.map(|third| Sample::of(third).mean);
        let mbps = |bytes: f64| format!("{:.1}", bytes * 8.0 / 1e6);
        if late < DECAYED * early && (late..=early).contains(&middle) {
            let message = self
                .about("finding-decaying")
                .with("early", mbps(early))
                .with("late", mbps(late) + " Mbit/s");
            return Some(finding("decaying_throughput", Severity::Warning, message, &[]));
        }
        let all = Sample::of(&rates);
        // Of a rate below a byte per second nobody knows how much it varies.
        let variation = all.sd / all.mean.max(1.0);
        (variation > UNSTABLE).then(|| {
            let message = self
                .about("finding-unstable")
                .with("rate", mbps(all.mean) + " Mbit/s")
                .with("variation", format!("{:.0} %", variation * 100.0));
            finding("unstable_throughput", Severity::Warning, message, &[])
        })
    }
}

/// From the beginning of a rekey to the end of its recovery.
fn stretch(succession: &Succession) -> Option<(Timestamp, Timestamp)> {
    let switched = succession.switched.into_iter().flatten();
    let times = succession.started.into_iter().chain(switched);
    let (begin, end) = (times.clone().min()?, times.max()?);
    Some((begin, end.plus_seconds(RECOVERY_S)))
}

/// Stretches of time, in order and apart from each other.
struct TimeStretches(Vec<(Timestamp, Timestamp)>);

impl TimeStretches {
    fn new(stretches: impl Iterator<Item = (Timestamp, Timestamp)>) -> Self {
        let mut sorted: Vec<_> = stretches.collect();
        sorted.sort_unstable();
        sorted.dedup_by(|later, earlier| {
            let touches = later.0 <= earlier.1;
            if touches {
                earlier.1 = earlier.1.max(later.1);
            }
            touches
        });
        TimeStretches(sorted)
    }

    /// Whether one of them shares a moment with `from..=to`.
    fn touch(&self, from: Timestamp, to: Timestamp) -> bool {
        let begun = self.0.partition_point(|(begin, _)| *begin <= to);
        self.0[..begun].last().is_some_and(|(_, end)| *end >= from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rekeyscope_testkit::thread_time::assert_linear;

    proptest! {
        #[test]
        fn stretches_touch_as_one_by_one(
            stretches in proptest::collection::vec((0i64..200, 0i64..20), 0..40),
            from in 0i64..220,
            len in 0i64..10,
        ) {
            let all = stretches.iter().map(|&(begin, len)| (Timestamp(begin), Timestamp(begin + len)));
            let (from, to) = (Timestamp(from), Timestamp(from + len));
            let touched = all.clone().any(|(begin, end)| begin <= to && end >= from);
            prop_assert_eq!(TimeStretches::new(all).touch(from, to), touched);
        }
    }

    /// As many rekeys as are kept over a day and more.
    #[test]
    fn the_cost_of_free_seconds_grows_with_seconds_and_rekeys() {
        const SECONDS: i64 = 1 << 17;
        assert_linear(SECONDS as usize, || {
            let rekeys = TimeStretches::new((0..1 << 16).map(|k| (Timestamp(4 * k), Timestamp(4 * k + 1))));
            let touched = (0..SECONDS).filter(|&s| rekeys.touch(Timestamp(2 * s), Timestamp(2 * s)));
            assert_eq!(touched.count(), 1 << 16);
        });
    }
}

//! Arrived bytes up to a moment, as a function L(t).

use super::input::TimeSpan;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::TransmissionRun;

/// Arrived bytes over time.
#[derive(Debug)]
pub(super) struct ArrivedBytes<'a> {
    pub(super) runs: &'a [TransmissionRun],
    /// Bytes that had arrived before each run.
    before: Vec<u64>,
}

impl<'a> ArrivedBytes<'a> {
    pub(super) fn new(runs: &'a [TransmissionRun]) -> Self {
        let mut sum = 0;
        let before = runs
            .iter()
            .map(|run| {
                sum += run.bytes;
                sum - run.bytes
            })
            .collect();
        ArrivedBytes { runs, before }
    }

    /// Bytes up to and at a moment; exact at the ends of runs, while packets within a run count as evenly spread.
    pub(super) fn at(&self, time: Timestamp) -> f64 {
        let Some(k) = self.runs.partition_point(|run| run.from <= time).checked_sub(1) else {
            return 0.0;
        };
        let (Some(run), Some(before)) = (self.runs.get(k), self.before.get(k)) else {
            return 0.0;
        };
        if time >= run.to {
            return (before + run.bytes) as f64;
        }
        let packets = f64::from(run.packets.max(1));
        let share = time.nanos_since(run.from) as f64 / run.to.nanos_since(run.from) as f64;
        *before as f64 + run.bytes as f64 * (1.0 + (packets - 1.0) * share) / packets
    }

    /// Whole bytes up to and at a moment.
    pub(super) fn whole(&self, time: Timestamp) -> u64 {
        self.at(time) as u64
    }

    /// Bytes a second over `window` nanoseconds from a moment on.
    pub(super) fn rate_from(&self, from: Timestamp, window: i64) -> f64 {
        let bytes = self.at(from.plus_nanos(window)) - self.at(from);
        bytes / (window.max(1) as f64 / NANOS_PER_SECOND as f64)
    }

    /// Bytes in stretches of time.
    pub(super) fn within(&self, spans: &[TimeSpan]) -> f64 {
        spans.iter().map(|span| self.at(span.1) - self.at(span.0)).sum()
    }

    /// The first run that ends at a moment or later.
    pub(super) fn run_at(&self, time: Timestamp) -> usize {
        self.runs.partition_point(|run| run.to < time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::made_up::{packet, run};

    #[test]
    fn bytes_of_a_run_are_spread_over_it() {
        let runs = [packet(0, 100), run((10, 20), 11, 1_100), packet(70, 100)];
        let arrivals = ArrivedBytes::new(&runs);
        let at = |ms: i64| arrivals.at(Timestamp(ms * 1_000_000));
        assert_eq!(
            [at(-1), at(0), at(9), at(10), at(15), at(20), at(69), at(70)],
            [0.0, 100.0, 100.0, 200.0, 700.0, 1_200.0, 1_200.0, 1_300.0]
        );
        assert_eq!(arrivals.rate_from(Timestamp(20_000_000), 50_000_000), 2_000.0);
        assert_eq!(arrivals.run_at(Timestamp(20_000_001)), 2);
    }
}

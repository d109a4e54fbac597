//! Values over time, in a bounded number of bins.

use rekeyscope_model::analysis::FlowCourse;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// Most bins; beyond, they become twice as wide.
const MOST_BINS: usize = 1024;
/// How wide they are at first, nanoseconds.
const FIRST_WIDTH: i64 = 10 * NANOS_PER_MILLI;

/// Lowest, mean and highest of values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spread {
    low: u32,
    high: u32,
    count: u64,
    sum: u64,
}

/// Values of one bin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FlowBin {
    /// Microseconds.
    pub(super) rtt: Spread,
    /// Bytes.
    pub(super) flight: Spread,
}

/// Bins in order of time: 49 kB at most.
#[derive(Debug, Clone)]
pub(super) struct FlowBins {
    /// Width of a bin, nanoseconds.
    width: i64,
    /// Number of the first bin: bin n begins at n times the width.
    first: i64,
    bins: Vec<FlowBin>,
}

impl Default for FlowBins {
    fn default() -> Self {
        FlowBins {
            width: FIRST_WIDTH,
            first: 0,
            bins: Vec::new(),
        }
    }
}

impl FlowBins {
    /// The bin of a moment. What lies before the first one counts there.
    pub(super) fn at(&mut self, time: i64) -> &mut FlowBin {
        if self.bins.is_empty() {
            self.first = time.div_euclid(self.width);
        }
        let place = |of: &Self| usize::try_from(time.div_euclid(of.width) - of.first).unwrap_or(0);
        while place(self) >= MOST_BINS {
            self.coarsen();
        }
        let place = place(self);
        if place >= self.bins.len() {
            self.bins.resize(place + 1, FlowBin::default());
        }
        &mut self.bins[place]
    }

    /// Doubles the width.
    fn coarsen(&mut self) {
        let odd = self.first.rem_euclid(2) as usize;
        let mut wider = vec![FlowBin::default(); (self.bins.len() + odd).div_ceil(2)];
        for (place, bin) in self.bins.iter().enumerate() {
            wider[(place + odd) / 2].rtt.merge(bin.rtt);
            wider[(place + odd) / 2].flight.merge(bin.flight);
        }
        *self = FlowBins {
            width: self.width * 2,
            first: self.first.div_euclid(2),
            bins: wider,
        };
    }

    /// The course as the document has it; `None` where one bin holds everything.
    pub(super) fn document(&self, whole: bool) -> Option<FlowCourse> {
        let millis = |us: u64| us as f64 / 1_000.0;
        (self.bins.len() > 1).then(|| FlowCourse {
            start: Timestamp(self.first.saturating_mul(self.width)),
            bin_ms: self.width as f64 / NANOS_PER_MILLI as f64,
            rtt_whole: whole,
            rtt_ms: self
                .bins
                .iter()
                .map(|b| Some(b.rtt.three()?.map(millis)))
                .collect(),
            in_flight_bytes: self.bins.iter().map(|b| b.flight.three()).collect(),
        })
    }
}

impl Spread {
    pub(super) fn add(&mut self, value: u32) {
        self.merge(Spread {
            low: value,
            high: value,
            count: 1,
            sum: u64::from(value),
        });
    }

    fn merge(&mut self, other: Spread) {
        self.low = match (self.count, other.count) {
            (0, _) => other.low,
            (_, 0) => self.low,
            _ => self.low.min(other.low),
        };
        self.high = self.high.max(other.high);
        self.count += other.count;
        self.sum += other.sum;
    }

    fn three(&self) -> Option<[u64; 3]> {
        let mean = (self.sum + self.count / 2).checked_div(self.count)?;
        Some([u64::from(self.low), mean, u64::from(self.high)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl Iterator<Item = i64>) -> FlowBins {
        let mut course = FlowBins::default();
        for (value, time) in (0..).zip(times) {
            course.at(time).flight.add(value);
        }
        course
    }

    #[test]
    fn coarser_bins_hold_the_same_values() {
        for begin in [0, 3, 4, -7] {
            let course = of((0..5_000).map(|k| (begin + k) * FIRST_WIDTH));
            assert_eq!(course.width, 8 * FIRST_WIDTH);
            assert!(course.bins.len() <= MOST_BINS);
            let flights = || course.bins.iter().map(|b| b.flight);
            assert_eq!(flights().map(|f| f.count).sum::<u64>(), 5_000);
            assert_eq!(flights().map(|f| f.sum).sum::<u64>(), 4_999 * 2_500);
            for (number, flight) in (course.first..).zip(flights()) {
                let low = (number * 8 - begin).max(0);
                let high = (number * 8 + 7 - begin).min(4_999);
                assert_eq!((i64::from(flight.low), i64::from(flight.high)), (low, high));
            }
        }
    }

    #[test]
    fn any_times_fit() {
        let far = [0, i64::MAX, i64::MIN, 5, i64::MAX / 2];
        let course = of(far.into_iter());
        assert!(course.bins.len() <= MOST_BINS);
        assert_eq!(course.bins.iter().map(|b| b.flight.count).sum::<u64>(), 5);
    }
}

//! One direction of one tunnel.

use crate::throughput::series::bins::{Bin, Bins, Measure};
use crate::throughput::series::bounds::DOCUMENT_BIN_NANOS;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// A packet further than this from the series' ends is taken for a wrong clock: a bin for it would cost all the others
/// their resolution. Its bytes count in the first or last bin.
const FARTHEST_NANOS: i64 = 31 * 24 * 3600 * NANOS_PER_SECOND;

/// Bins of one direction of one tunnel.
#[derive(Debug)]
pub(super) struct DirectionSeries {
    /// Begin of bin 0: a multiple of 10 ms.
    origin: Timestamp,
    pub(super) bins: Bins,
    /// Sums by measure.
    bytes: [u64; 2],
}

impl DirectionSeries {
    /// A series without bins; bin 0 starts at the multiple of 10 ms before `time`.
    pub(super) fn starting_at(time: Timestamp) -> Self {
        let origin = Timestamp(time.0.saturating_sub(time.0.rem_euclid(DOCUMENT_BIN_NANOS)));
        DirectionSeries {
            origin,
            bins: Bins::new(),
            bytes: [0; 2],
        }
    }

    /// Counts a packet; where it needs more than `most_bins`, bins get coarser.
    pub(super) fn record(&mut self, time: Timestamp, bin: Bin, most_bins: usize) {
        if !self.bins.add_to_stored(time.nanos_since(self.origin), bin) {
            let nanos = self.counted_at(time).nanos_since(self.origin);
            self.bins.add(nanos, bin, most_bins);
        }
        for measure in Measure::ALL {
            let bytes = bin.counted(measure);
            let sum = &mut self.bytes[measure as usize];
            *sum = sum.saturating_add(u64::from(bytes));
        }
    }

    /// The moment at which a packet counts: its own, or that of the first or last bin where it lies too far from them.
    fn counted_at(&self, time: Timestamp) -> Timestamp {
        let (start, end) = (self.start(), self.at(self.bins.span()));
        if time.nanos_since(start) < -FARTHEST_NANOS {
            start
        } else if time.nanos_since(end) > FARTHEST_NANOS {
            self.at(self.bins.span() - 1)
        } else {
            time
        }
    }

    /// Start of a bin, counted from the first.
    pub(super) fn at(&self, bin: i64) -> Timestamp {
        let number = self.bins.first().saturating_add(bin);
        self.origin.plus_nanos(self.bins.width.saturating_mul(number))
    }

    /// Doubles the base bin.
    pub(super) fn coarsen(&mut self) {
        self.bins.coarsen();
    }

    /// Number of stored bins.
    pub(super) fn bin_count(&self) -> usize {
        self.bins.stored()
    }

    /// From the first to the last packet, in bins, nanoseconds.
    pub(super) fn span_nanos(&self) -> i64 {
        self.bins.width.saturating_mul(self.bins.span())
    }

    pub(super) fn base_nanos(&self) -> i64 {
        self.bins.width
    }

    /// Start of the first bin, a multiple of 10 ms since the epoch.
    pub(super) fn start(&self) -> Timestamp {
        self.at(0)
    }

    /// Sum of the bytes.
    pub(super) fn bytes(&self, of: Measure) -> u64 {
        self.bytes[of as usize]
    }
}

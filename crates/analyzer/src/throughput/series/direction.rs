//! One direction of one tunnel.

use crate::throughput::series::bounds::{BASE_BIN_NANOS, DOCUMENT_BIN_NANOS, MAX_DOCUMENT_BINS, MAX_GAPS};
use crate::throughput::series::gaps::GapRecorder;
use rekeyscope_impact::Traffic;
use rekeyscope_model::analysis::{Direction, RekeySeries};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use std::collections::VecDeque;

/// A packet further than this from the series' ends is taken for a wrong clock: a bin for it would cost all the others
/// their resolution. It is counted in the first or last bin.
const FARTHEST_NANOS: i64 = 31 * 24 * 3600 * NANOS_PER_SECOND;

/// Bytes within one base bin; saturate at 4 GiB.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    new: u32,
    outer: u32,
}

impl Bin {
    fn add(&mut self, other: Bin) {
        self.new = self.new.saturating_add(other.new);
        self.outer = self.outer.saturating_add(other.outer);
    }
}

/// Bins and gaps of one direction of one tunnel.
#[derive(Debug)]
pub struct DirectionSeries {
    start: Timestamp,
    base_nanos: i64,
    bins: VecDeque<Bin>,
    gaps: GapRecorder,
    clamped: u64,
}

impl DirectionSeries {
    /// A series without bins that starts at the multiple of 10 ms before `time`.
    pub(super) fn starting_at(time: Timestamp) -> Self {
        let start = Timestamp(time.0.saturating_sub(time.0.rem_euclid(DOCUMENT_BIN_NANOS)));
        DirectionSeries {
            start,
            base_nanos: BASE_BIN_NANOS,
            bins: VecDeque::new(),
            gaps: GapRecorder::new(MAX_GAPS),
            clamped: 0,
        }
    }

    /// Counts a packet; where it needs a bin beyond `most_bins` (at least 2), bins get coarser.
    pub(super) fn record(&mut self, time: Timestamp, new: u32, outer: u32, most_bins: usize) {
        let index = self.index_for(time, most_bins);
        if let Some(bin) = self.bins.get_mut(index) {
            bin.add(Bin { new, outer });
        }
        if new > 0 {
            self.gaps.record(time);
        }
    }

    /// The bin of `time`, which is made where it is missing.
    fn index_for(&mut self, time: Timestamp, most_bins: usize) -> usize {
        let offset = time.nanos_since(self.start);
        let end = self.base_nanos.saturating_mul(self.bins.len() as i64);
        if offset < -FARTHEST_NANOS {
            self.clamped += 1;
            return 0;
        }
        if offset > end.saturating_add(FARTHEST_NANOS) {
            self.clamped += 1;
            return self.bins.len().saturating_sub(1);
        }
        if offset < 0 {
            self.prepend(offset.unsigned_abs(), most_bins)
        } else {
            self.append(offset.unsigned_abs(), most_bins)
        }
    }

    fn append(&mut self, offset: u64, most_bins: usize) -> usize {
        loop {
            let index = (offset / self.base_nanos.unsigned_abs()) as usize;
            if index < self.bins.len() {
                return index;
            }
            if index < most_bins {
                self.bins.resize(index + 1, Bin::default());
                return index;
            }
            self.coarsen();
        }
    }

    /// Moves the start back by at least `before` nanoseconds.
    fn prepend(&mut self, before: u64, most_bins: usize) -> usize {
        loop {
            // Pairs of base bins, so that the start stays a multiple of 10 ms.
            let pairs = before.div_ceil(2 * self.base_nanos.unsigned_abs()) as usize;
            if self.bins.len() + 2 * pairs <= most_bins {
                for _ in 0..2 * pairs {
                    self.bins.push_front(Bin::default());
                }
                let back = self.base_nanos.saturating_mul(2 * pairs as i64);
                self.start = self.start.plus_nanos(back.saturating_neg());
                // `before` was measured from the old start.
                let offset = back.unsigned_abs().saturating_sub(before);
                return (offset / self.base_nanos.unsigned_abs()) as usize;
            }
            self.coarsen();
        }
    }

    /// Doubles the base bin.
    pub(super) fn coarsen(&mut self) {
        let (front, back) = (self.bins.len().div_ceil(2), self.bins.make_contiguous());
        for pair in 0..front {
            let mut sum = back.get(2 * pair).copied().unwrap_or_default();
            sum.add(back.get(2 * pair + 1).copied().unwrap_or_default());
            if let Some(bin) = back.get_mut(pair) {
                *bin = sum;
            }
        }
        self.bins.truncate(front);
        self.base_nanos = self.base_nanos.saturating_mul(2);
    }

    pub(super) fn forget_shorter_gaps(&mut self) {
        self.gaps.halve();
    }

    pub(super) fn begin_earlier_part(&mut self) {
        self.gaps.begin_earlier_part();
    }

    pub(super) fn bin_count(&self) -> usize {
        self.bins.len()
    }

    pub(super) fn gap_count(&self) -> usize {
        self.gaps.len()
    }

    pub(super) fn base_nanos(&self) -> i64 {
        self.base_nanos
    }

    pub(super) fn clamped(&self) -> u64 {
        self.clamped
    }

    /// Start of the first bin, a multiple of 10 ms since the epoch.
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// Sum of the new bytes.
    pub fn new_bytes(&self) -> u64 {
        self.bins.iter().map(|bin| u64::from(bin.new)).sum()
    }

    /// What the estimators take.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            start: self.start,
            base_bin_s: self.base_nanos as f64 / NANOS_PER_SECOND as f64,
            bytes: self.bins.iter().map(|bin| bin.new).collect(),
            gaps: self.gaps.gaps(self.start),
            gaps_total: self.gaps.total(),
            holes: Vec::new(),
        }
    }

    /// New and outer bytes in bins of `bin_nanos`, a multiple of the base bin.
    pub fn sums(&self, bin_nanos: i64) -> (Vec<u64>, Vec<u64>) {
        let per_bin = usize::try_from(bin_nanos / self.base_nanos).unwrap_or(1).max(1);
        let mut new = vec![0; self.bins.len().div_ceil(per_bin)];
        let mut outer = new.clone();
        for (index, bin) in self.bins.iter().enumerate() {
            if let (Some(new), Some(outer)) = (new.get_mut(index / per_bin), outer.get_mut(index / per_bin)) {
                *new += u64::from(bin.new);
                *outer += u64::from(bin.outer);
            }
        }
        (new, outer)
    }

    /// New bytes at 10 ms (or the base bin, where that is coarser) from `from` to `to`, at most [`MAX_DOCUMENT_BINS`];
    /// bins outside the series are left out. `None` when nothing of the series lies within.
    pub fn window(
        &self,
        rekey: usize,
        direction: Direction,
        from: Timestamp,
        to: Timestamp,
    ) -> Option<RekeySeries> {
        let bin_nanos = self.base_nanos.max(DOCUMENT_BIN_NANOS);
        let per_bin = usize::try_from(bin_nanos / self.base_nanos).ok()?.max(1);
        let bins = self.bins.len().div_ceil(per_bin);
        let first = usize::try_from(from.nanos_since(self.start).max(0) / bin_nanos).ok()?;
        let last = usize::try_from(to.nanos_since(self.start).checked_div(bin_nanos)?).ok()?;
        let end = last
            .saturating_add(1)
            .min(bins)
            .min(first.saturating_add(MAX_DOCUMENT_BINS));
        if first >= end {
            return None;
        }
        let sum = |bin: usize| {
            let range = bin * per_bin..((bin + 1) * per_bin).min(self.bins.len());
            self.bins.range(range).map(|b| u64::from(b.new)).sum()
        };
        Some(RekeySeries {
            rekey,
            direction,
            start: self.start.plus_nanos(bin_nanos.saturating_mul(first as i64)),
            bin_ms: bin_nanos as f64 / NANOS_PER_MILLI as f64,
            inner_new_bytes: (first..end).map(sum).collect(),
        })
    }
}

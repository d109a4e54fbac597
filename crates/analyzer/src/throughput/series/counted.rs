//! Bytes of one direction of one tunnel, by the kind that counts.

use crate::throughput::series::bins::Measure;
use crate::throughput::series::bounds::{DOCUMENT_BIN_NANOS, MAX_DOCUMENT_BINS};
use crate::throughput::series::direction::DirectionSeries;
use rekeyscope_model::analysis::{Direction, RekeySeries};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// A series, and what it counts.
#[derive(Debug, Clone, Copy)]
pub struct CountedSeries<'a> {
    pub(super) series: &'a DirectionSeries,
    pub(super) measure: Measure,
}

impl CountedSeries<'_> {
    /// Sum of the counted bytes.
    pub fn counted_bytes(&self) -> u64 {
        self.series.bytes(self.measure)
    }

    /// Counted bytes from the bin of `from` to that of `to`.
    pub(crate) fn bytes_within(&self, from: Timestamp, to: Timestamp) -> u64 {
        let bins = &self.series.bins;
        let bin = |time: Timestamp| bins.first() + time.nanos_since(self.start()).div_euclid(bins.width);
        let within = bins.within(bin(from), bin(to).saturating_add(1));
        within.map(|(_, bin)| u64::from(bin.counted(self.measure))).sum()
    }

    /// Start of the first bin, a multiple of 10 ms since the epoch.
    pub fn start(&self) -> Timestamp {
        self.series.start()
    }

    /// New and outer bytes in bins of `bin_nanos`, a multiple of the base bin.
    pub fn sums(&self, bin_nanos: i64) -> (Vec<u64>, Vec<u64>) {
        let per_bin = (bin_nanos / self.series.bins.width).max(1);
        let mut new = vec![0; (self.series.bins.span().max(0) as u64).div_ceil(per_bin as u64) as usize];
        let mut outer = new.clone();
        for (number, bin) in self.series.bins.used() {
            let at = ((number - self.series.bins.first()) / per_bin) as usize;
            if let (Some(new), Some(outer)) = (new.get_mut(at), outer.get_mut(at)) {
                *new += u64::from(bin.counted(self.measure));
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
        let bin_nanos = self.series.bins.width.max(DOCUMENT_BIN_NANOS);
        let per_bin = (bin_nanos / self.series.bins.width).max(1);
        let bins = (self.series.bins.span() as u64).div_ceil(per_bin as u64) as i64;
        let first = from.nanos_since(self.start()).max(0) / bin_nanos;
        let last = to.nanos_since(self.start()) / bin_nanos;
        let end = last
            .saturating_add(1)
            .min(bins)
            .min(first.saturating_add(MAX_DOCUMENT_BINS as i64));
        if last < 0 || first >= end {
            return None;
        }
        let mut inner_new_bytes = vec![0; usize::try_from(end - first).ok()?];
        let number = self.series.bins.first() + first * per_bin;
        for (n, bin) in self
            .series
            .bins
            .within(number, self.series.bins.first() + end * per_bin)
        {
            if let Some(sum) = inner_new_bytes.get_mut(((n - number) / per_bin) as usize) {
                *sum += u64::from(bin.counted(self.measure));
            }
        }
        Some(RekeySeries {
            rekey,
            direction,
            start: self.start().plus_nanos(bin_nanos.saturating_mul(first)),
            bin_ms: bin_nanos as f64 / NANOS_PER_MILLI as f64,
            inner_new_bytes,
        })
    }
}

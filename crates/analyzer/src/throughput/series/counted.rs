//! What one direction of one tunnel carried, by the bytes that count.

use crate::throughput::series::bins::Measure;
use crate::throughput::series::bounds::{DOCUMENT_BIN_NANOS, MAX_BINS, MAX_DOCUMENT_BINS};
use crate::throughput::series::direction::DirectionSeries;
use rekeyscope_model::analysis::{Direction, RekeySeries};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};

/// Bytes of a part of a series, bin by bin.
#[derive(Debug, Clone, PartialEq)]
pub struct BinnedBytes {
    /// Start of the first bin.
    pub start: Timestamp,
    /// Width of a bin, seconds.
    pub bin_s: f64,
    /// Counted bytes of each bin.
    pub bytes: Vec<u32>,
}

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

    /// Gaps between packets that are at least this long, nanoseconds, in order.
    pub(crate) fn silences(&self, least: i64) -> Vec<(Timestamp, Timestamp)> {
        let gaps = self.series.gaps().in_order().into_iter();
        let long = gaps.filter(|gap| gap.to().nanos_since(gap.from) >= least);
        long.map(|gap| (gap.from, gap.to())).collect()
    }

    /// Start of the first bin, a multiple of 10 ms since the epoch.
    pub fn start(&self) -> Timestamp {
        self.series.start()
    }

    /// The bins of the parts between `rests` (last data before and first data behind each, in order of time).
    pub fn bytes(&self, rests: &[(Timestamp, Timestamp)]) -> Vec<BinnedBytes> {
        let parts = self.parts(rests).into_iter();
        parts.map(|(from, to)| self.part(from, to)).collect()
    }

    /// The bins of each part between `rests`, counted from the first.
    fn parts(&self, rests: &[(Timestamp, Timestamp)]) -> Vec<(i64, i64)> {
        let bins = self.series.bins.span();
        let bin = |time: Timestamp| time.nanos_since(self.start()).max(0) / self.series.bins.width;
        let mut parts = Vec::with_capacity(rests.len() + 1);
        let mut from = 0;
        for &(last, first) in rests {
            // Base bins are joined in pairs, as the bins of the document are.
            let (to, next) = (bin(last) / 2 * 2 + 2, bin(first) / 2 * 2);
            if (from..next).contains(&to) && next < bins {
                parts.push((from, to));
                from = next;
            }
        }
        parts.push((from, bins));
        parts
    }

    /// The bins `from..to`, counted from the first, made coarser where they are too many.
    fn part(&self, from: i64, to: i64) -> BinnedBytes {
        let (first, length) = (self.series.bins.first(), to - from);
        let group = (length.max(1) as u64)
            .div_ceil(MAX_BINS as u64)
            .next_power_of_two() as i64;
        let mut bytes = vec![0_u32; (length.max(0) as u64).div_ceil(group as u64) as usize];
        for (number, bin) in self.series.bins.within(first + from, first + to) {
            let sum = &mut bytes[((number - first - from) / group) as usize];
            *sum = sum.saturating_add(bin.counted(self.measure));
        }
        BinnedBytes {
            start: self.series.at(from),
            bin_s: self.series.bins.width.saturating_mul(group) as f64 / NANOS_PER_SECOND as f64,
            bytes,
        }
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

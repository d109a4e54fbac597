//! What one direction of one tunnel carried, by the bytes that count.

use crate::throughput::series::bins::Measure;
use crate::throughput::series::bounds::{DOCUMENT_BIN_NANOS, MAX_BINS, MAX_DOCUMENT_BINS};
use crate::throughput::series::direction::DirectionSeries;
use crate::throughput::series::gaps::{GapRecorder, RecordedGap};
use rekeyscope_impact::{Gap, Traffic};
use rekeyscope_model::analysis::{Direction, RekeySeries};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};

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

    /// Gaps of at least so many nanoseconds, in order.
    pub(crate) fn silences(&self, least: i64) -> Vec<(Timestamp, Timestamp)> {
        let gaps = self.recorder().in_order().into_iter();
        let long = gaps.filter(|gap| gap.to().nanos_since(gap.from) >= least);
        long.map(|gap| (gap.from, gap.to())).collect()
    }

    /// Start of the first bin, a multiple of 10 ms since the epoch.
    pub fn start(&self) -> Timestamp {
        self.series.start()
    }

    /// What the estimators take: the parts between `rests` (last data before and first data behind each, in order of time).
    pub fn traffic(&self, rests: &[(Timestamp, Timestamp)]) -> Vec<Traffic> {
        let gaps = self.recorder().in_order();
        let parts = self.parts(rests).into_iter();
        parts.map(|part| self.with_gaps(part, &gaps)).collect()
    }

    /// The same without its gaps.
    pub fn bytes(&self, rests: &[(Timestamp, Timestamp)]) -> Vec<Traffic> {
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
            // Pairs of base bins, as the bins of the method are.
            let (to, next) = (bin(last) / 2 * 2 + 2, bin(first) / 2 * 2);
            if (from..next).contains(&to) && next < bins {
                parts.push((from, to));
                from = next;
            }
        }
        parts.push((from, bins));
        parts
    }

    /// All of it, rests included.
    pub fn undivided(&self) -> Traffic {
        let gaps = self.recorder().in_order();
        self.with_gaps((0, self.series.bins.span()), &gaps)
    }

    fn recorder(&self) -> &GapRecorder {
        self.series.gaps(self.measure)
    }

    /// A part with the gaps within it; `kept`: those of the whole series, in order.
    fn with_gaps(&self, (from, to): (i64, i64), kept: &[RecordedGap]) -> Traffic {
        let (start, end) = (self.series.at(from), self.series.at(to));
        let whole = to - from == self.series.bins.span();
        let first = kept.partition_point(|gap| !whole && gap.from < start);
        let within = kept[first..].iter().take_while(|gap| whole || gap.from <= end);
        let within = within.filter(|gap| whole || gap.to() <= end);
        let gap = |gap: &RecordedGap| Gap {
            start_s: gap.from.seconds_since(start),
            end_s: gap.to().seconds_since(start),
        };
        let gaps: Vec<Gap> = within.map(gap).collect();
        // Gaps that were not kept are spread like the time is.
        let left_out = self.recorder().total().saturating_sub(kept.len() as u64);
        let share = (to - from) as f64 / self.series.bins.span().max(1) as f64;
        Traffic {
            gaps_total: gaps.len() as u64 + (left_out as f64 * share).round() as u64,
            gaps,
            ..self.part(from, to)
        }
    }

    /// The bins `from..to`, counted from the first, without gaps. Coarser where they are too many.
    fn part(&self, from: i64, to: i64) -> Traffic {
        let (first, length) = (self.series.bins.first(), to - from);
        let group = (length.max(1) as u64)
            .div_ceil(MAX_BINS as u64)
            .next_power_of_two() as i64;
        let mut bytes = vec![0_u32; (length.max(0) as u64).div_ceil(group as u64) as usize];
        for (number, bin) in self.series.bins.within(first + from, first + to) {
            let sum = &mut bytes[((number - first - from) / group) as usize];
            *sum = sum.saturating_add(bin.counted(self.measure));
        }
        Traffic {
            start: self.series.at(from),
            base_bin_s: self.series.bins.width.saturating_mul(group) as f64 / NANOS_PER_SECOND as f64,
            bytes,
            gaps_total: 0,
            gaps: Vec::new(),
            holes: Vec::new(),
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

//! One direction of one tunnel.

use crate::throughput::series::bins::{Bin, Bins};
use crate::throughput::series::bounds::{DOCUMENT_BIN_NANOS, MAX_BINS, MAX_DOCUMENT_BINS, MAX_GAPS};
use crate::throughput::series::gaps::GapRecorder;
use rekeyscope_impact::{Gap, Traffic};
use rekeyscope_model::analysis::{Direction, RekeySeries};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};

/// A packet further than this from the series' ends is taken for a wrong clock: a bin for it would cost all the others
/// their resolution. It is counted in the first or last bin.
const FARTHEST_NANOS: i64 = 31 * 24 * 3600 * NANOS_PER_SECOND;

/// Bins and gaps of one direction of one tunnel.
#[derive(Debug)]
pub struct DirectionSeries {
    /// Of bin 0: a multiple of 10 ms.
    origin: Timestamp,
    bins: Bins,
    gaps: GapRecorder,
    clamped: u64,
    new_bytes: u64,
}

impl DirectionSeries {
    /// A series without bins; bin 0 starts at the multiple of 10 ms before `time`.
    pub(super) fn starting_at(time: Timestamp) -> Self {
        let origin = Timestamp(time.0.saturating_sub(time.0.rem_euclid(DOCUMENT_BIN_NANOS)));
        DirectionSeries {
            origin,
            bins: Bins::new(),
            gaps: GapRecorder::new(MAX_GAPS),
            clamped: 0,
            new_bytes: 0,
        }
    }

    /// Counts a packet; where it needs more than `most_bins`, bins get coarser.
    pub(super) fn record(&mut self, time: Timestamp, new: u32, outer: u32, most_bins: usize) {
        let bin = Bin { new, outer };
        if !self.bins.add_to_stored(time.nanos_since(self.origin), bin) {
            let nanos = self.counted_at(time).nanos_since(self.origin);
            self.bins.add(nanos, bin, most_bins);
        }
        self.new_bytes = self.new_bytes.saturating_add(u64::from(new));
        if new > 0 {
            self.gaps.record(time);
        }
    }

    /// The moment at which a packet counts: its own, or that of the first or last bin where it lies too far from them.
    fn counted_at(&mut self, time: Timestamp) -> Timestamp {
        let (start, end) = (self.start(), self.at(self.bins.span()));
        if time.nanos_since(start) < -FARTHEST_NANOS {
            self.clamped += 1;
            start
        } else if time.nanos_since(end) > FARTHEST_NANOS {
            self.clamped += 1;
            self.at(self.bins.span() - 1)
        } else {
            time
        }
    }

    /// Start of a bin, counted from the first.
    fn at(&self, bin: i64) -> Timestamp {
        let number = self.bins.first().saturating_add(bin);
        self.origin.plus_nanos(self.bins.width.saturating_mul(number))
    }

    /// Doubles the base bin.
    pub(super) fn coarsen(&mut self) {
        self.bins.coarsen();
    }

    pub(super) fn forget_shorter_gaps(&mut self) {
        self.gaps.halve();
    }

    pub(super) fn begin_earlier_part(&mut self) {
        self.gaps.begin_earlier_part();
    }

    /// Number of stored bins.
    pub(super) fn bin_count(&self) -> usize {
        self.bins.stored()
    }

    /// From the first to the last packet, in bins, nanoseconds.
    pub(super) fn span_nanos(&self) -> i64 {
        self.bins.width.saturating_mul(self.bins.span())
    }

    pub(super) fn gap_count(&self) -> usize {
        self.gaps.len()
    }

    pub(super) fn base_nanos(&self) -> i64 {
        self.bins.width
    }

    pub(super) fn clamped(&self) -> u64 {
        self.clamped
    }

    /// Start of the first bin, a multiple of 10 ms since the epoch.
    pub fn start(&self) -> Timestamp {
        self.at(0)
    }

    /// Sum of the new bytes.
    pub fn new_bytes(&self) -> u64 {
        self.new_bytes
    }

    /// What the estimators take: the parts between `rests` (last data before and first data behind each, in order of time).
    pub fn traffic(&self, rests: &[(Timestamp, Timestamp)]) -> Vec<Traffic> {
        let parts = self.parts(rests).into_iter();
        parts
            .map(|(from, to)| self.with_gaps((from, to), self.part(from, to)))
            .collect()
    }

    /// The same without its gaps.
    pub fn bytes(&self, rests: &[(Timestamp, Timestamp)]) -> Vec<Traffic> {
        let parts = self.parts(rests).into_iter();
        parts.map(|(from, to)| self.part(from, to)).collect()
    }

    /// The bins of each part between `rests`, counted from the first.
    fn parts(&self, rests: &[(Timestamp, Timestamp)]) -> Vec<(i64, i64)> {
        let bins = self.bins.span();
        let bin = |time: Timestamp| time.nanos_since(self.start()).max(0) / self.bins.width;
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
        let all = (0, self.bins.span());
        self.with_gaps(all, self.part(all.0, all.1))
    }

    /// A part with the gaps within it.
    fn with_gaps(&self, (from, to): (i64, i64), part: Traffic) -> Traffic {
        let (kept, total) = (self.gaps.gaps(self.at(from)), self.gaps.total());
        let left_out = total.saturating_sub(kept.len() as u64);
        let length_s = self.at(to).seconds_since(self.at(from));
        let within = |gap: &Gap| gap.start_s >= 0.0 && gap.end_s <= length_s;
        let mut gaps = kept;
        if to - from != self.bins.span() {
            gaps.retain(within);
            // Of a hundred parts each would keep the memory of all.
            gaps.shrink_to_fit();
        }
        // Gaps that were not kept are spread like the time is.
        let share = (to - from) as f64 / self.bins.span().max(1) as f64;
        Traffic {
            gaps_total: gaps.len() as u64 + (left_out as f64 * share).round() as u64,
            gaps,
            ..part
        }
    }

    /// The bins `from..to`, counted from the first, without gaps. Coarser where they are too many.
    fn part(&self, from: i64, to: i64) -> Traffic {
        let (first, length) = (self.bins.first(), to - from);
        let group = (length.max(1) as u64)
            .div_ceil(MAX_BINS as u64)
            .next_power_of_two() as i64;
        let mut bytes = vec![0_u32; (length.max(0) as u64).div_ceil(group as u64) as usize];
        for (number, bin) in self.bins.within(first + from, first + to) {
            let sum = &mut bytes[((number - first - from) / group) as usize];
            *sum = sum.saturating_add(bin.new);
        }
        Traffic {
            start: self.at(from),
            base_bin_s: self.bins.width.saturating_mul(group) as f64 / NANOS_PER_SECOND as f64,
            bytes,
            gaps_total: 0,
            gaps: Vec::new(),
            holes: Vec::new(),
        }
    }

    /// New and outer bytes in bins of `bin_nanos`, a multiple of the base bin.
    pub fn sums(&self, bin_nanos: i64) -> (Vec<u64>, Vec<u64>) {
        let per_bin = (bin_nanos / self.bins.width).max(1);
        let mut new = vec![0; (self.bins.span().max(0) as u64).div_ceil(per_bin as u64) as usize];
        let mut outer = new.clone();
        for (number, bin) in self.bins.used() {
            let at = ((number - self.bins.first()) / per_bin) as usize;
            if let (Some(new), Some(outer)) = (new.get_mut(at), outer.get_mut(at)) {
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
        let bin_nanos = self.bins.width.max(DOCUMENT_BIN_NANOS);
        let per_bin = (bin_nanos / self.bins.width).max(1);
        let bins = (self.bins.span() as u64).div_ceil(per_bin as u64) as i64;
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
        let number = self.bins.first() + first * per_bin;
        for (n, bin) in self.bins.within(number, self.bins.first() + end * per_bin) {
            if let Some(sum) = inner_new_bytes.get_mut(((n - number) / per_bin) as usize) {
                *sum += u64::from(bin.new);
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

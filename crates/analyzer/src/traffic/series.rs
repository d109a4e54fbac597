//! Bytes of one direction of a tunnel over time, in bins. Only blocks of bins that hold a packet are kept, so that a day between two
//! transfers costs neither memory nor resolution.

use rekeyscope_model::analysis::{Direction, RekeySeries};
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use std::collections::BTreeMap;

/// Width of a bin that was not made coarser, nanoseconds. The 10 ms bins of the document are pairs of these.
pub(super) const BASE_BIN_NANOS: i64 = 5 * NANOS_PER_MILLI;
/// Smallest bin in the document, nanoseconds.
pub(crate) const DOCUMENT_BIN_NANOS: i64 = 10 * NANOS_PER_MILLI;
/// Most bins of a series in the document.
pub(super) const MAX_DOCUMENT_BINS: usize = 20_000;
/// Bins that are kept together, 768 bytes: a third of a second.
const BLOCK: i64 = 64;
/// A packet further than this from the series' ends is taken for a wrong clock, because the document's bins would have to be wide enough for
/// it: the first or last bin counts its bytes.
const FARTHEST_NANOS: i64 = 31 * 24 * 3600 * NANOS_PER_SECOND;

/// Bytes of a packet, or of all within one bin; saturate at 4 GiB.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bin {
    /// Inner bytes that are new; 0 where they cannot be read.
    pub(crate) new: u32,
    /// ESP.
    pub(crate) esp: u32,
    /// IP total length.
    pub(crate) outer: u32,
}

impl Bin {
    fn add(&mut self, other: Bin) {
        self.new = self.new.saturating_add(other.new);
        self.esp = self.esp.saturating_add(other.esp);
        self.outer = self.outer.saturating_add(other.outer);
    }

    fn is_empty(&self) -> bool {
        self.new == 0 && self.esp == 0 && self.outer == 0
    }
}

/// The bins of a direction, by number. Numbers count from the first packet's and may be negative.
#[derive(Debug)]
pub(super) struct DirectionSeries {
    /// Begin of bin 0: a multiple of 10 ms.
    origin: Timestamp,
    /// Width of a bin, nanoseconds: [`BASE_BIN_NANOS`] times a power of two.
    pub(super) width: i64,
    blocks: BTreeMap<i64, Box<[Bin; BLOCK as usize]>>,
    /// New bytes, and ESP bytes.
    bytes: (u64, u64),
}

impl DirectionSeries {
    /// A series without bins; bin 0 starts at the multiple of 10 ms before `time`.
    pub(super) fn starting_at(time: Timestamp) -> Self {
        DirectionSeries {
            origin: Timestamp(time.0.saturating_sub(time.0.rem_euclid(DOCUMENT_BIN_NANOS))),
            width: BASE_BIN_NANOS,
            blocks: BTreeMap::new(),
            bytes: (0, 0),
        }
    }

    /// Counts a packet.
    pub(super) fn record(&mut self, time: Timestamp, bytes: Bin) {
        let number = self.number(time);
        match self.blocks.get_mut(&number.div_euclid(BLOCK)) {
            Some(block) => block[number.rem_euclid(BLOCK) as usize].add(bytes),
            None => self.bin(self.within_reach(number)).add(bytes),
        }
        self.bytes.0 += u64::from(bytes.new);
        self.bytes.1 += u64::from(bytes.esp);
    }

    fn bin(&mut self, number: i64) -> &mut Bin {
        let block = self.blocks.entry(number.div_euclid(BLOCK));
        let block = block.or_insert_with(|| Box::new([Bin::default(); BLOCK as usize]));
        &mut block[number.rem_euclid(BLOCK) as usize]
    }

    fn number(&self, time: Timestamp) -> i64 {
        time.nanos_since(self.origin).div_euclid(self.width)
    }

    /// The bin, or the first or last one of all where it lies too far from them.
    fn within_reach(&self, number: i64) -> i64 {
        let ends = self.used().next().zip(self.used().next_back());
        let farthest = FARTHEST_NANOS / self.width;
        match ends {
            Some(((first, _), _)) if number < first - farthest => first,
            Some((_, (last, _))) if number > last + farthest => last,
            _ => number,
        }
    }

    /// Doubles the width of a bin.
    pub(super) fn coarsen(&mut self) {
        self.width = self.width.saturating_mul(2);
        for (block, bins) in std::mem::take(&mut self.blocks) {
            for (number, bin) in numbered(block, &bins) {
                self.bin(number.div_euclid(2)).add(bin);
            }
        }
    }

    /// Blocks that are kept.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The bins with anything in them, in order.
    fn used(&self) -> impl DoubleEndedIterator<Item = (i64, Bin)> {
        let blocks = self.blocks.iter();
        blocks.flat_map(|(block, bins)| numbered(*block, bins))
    }

    /// The bins with anything in them from bin `from` to before `to`.
    fn within(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, Bin)> {
        let blocks = self.blocks.range(from.div_euclid(BLOCK)..);
        let blocks = blocks.take_while(move |(block, _)| **block * BLOCK < to);
        let bins = blocks.flat_map(|(block, bins)| numbered(*block, bins));
        bins.filter(move |(number, _)| (from..to).contains(number))
    }

    /// The first bin, an even number: pairs of base bins are those of the document.
    fn first(&self) -> i64 {
        self.used()
            .next()
            .map_or(0, |(number, _)| number.div_euclid(2) * 2)
    }

    /// Bins from the first to the last with anything in it.
    fn span(&self) -> i64 {
        self.used()
            .next_back()
            .map_or(0, |(last, _)| last + 1 - self.first())
    }

    /// From the first to the last packet, in bins, nanoseconds.
    pub(super) fn span_nanos(&self) -> i64 {
        self.width.saturating_mul(self.span())
    }
}

/// The bins of a block with anything in them.
fn numbered(block: i64, bins: &[Bin; BLOCK as usize]) -> impl DoubleEndedIterator<Item = (i64, Bin)> {
    let all = bins.iter().enumerate();
    let used = all.filter(|(_, bin)| !bin.is_empty());
    used.map(move |(place, bin)| (block * BLOCK + place as i64, *bin))
}

/// A series, and what it counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedSeries<'a> {
    pub(super) series: &'a DirectionSeries,
    /// New inner bytes count, else ESP bytes.
    pub(super) inner: bool,
}

impl CountedSeries<'_> {
    fn counted(self, bin: Bin) -> u64 {
        u64::from(if self.inner { bin.new } else { bin.esp })
    }

    /// Sum of the counted bytes.
    pub(crate) fn counted_bytes(&self) -> u64 {
        let (new, esp) = self.series.bytes;
        if self.inner { new } else { esp }
    }

    /// Counted bytes from the bin of `from` to that of `to`.
    pub(super) fn bytes_within(&self, from: Timestamp, to: Timestamp) -> u64 {
        let (from, to) = (self.series.number(from), self.series.number(to));
        let within = self.series.within(from, to.saturating_add(1));
        within.map(|(_, bin)| self.counted(bin)).sum()
    }

    /// Start of the first bin, a multiple of 10 ms since the epoch.
    pub(crate) fn start(&self) -> Timestamp {
        let nanos = self.series.width.saturating_mul(self.series.first());
        self.series.origin.plus_nanos(nanos)
    }

    /// Counted and outer bytes of the bins from this number on, `bins` times so many `per_bin`.
    fn joined(&self, first: i64, per_bin: i64, bins: i64) -> (Vec<u64>, Vec<u64>) {
        let mut counted = vec![0; usize::try_from(bins).unwrap_or(0)];
        let mut outer = counted.clone();
        for (number, bin) in self.series.within(first, first + bins * per_bin) {
            let at = ((number - first) / per_bin) as usize;
            if let (Some(counted), Some(outer)) = (counted.get_mut(at), outer.get_mut(at)) {
                *counted += self.counted(bin);
                *outer += u64::from(bin.outer);
            }
        }
        (counted, outer)
    }

    /// Counted and outer bytes in bins of `bin_nanos`, a multiple of the base bin.
    pub(crate) fn sums(&self, bin_nanos: i64) -> (Vec<u64>, Vec<u64>) {
        let per_bin = (bin_nanos / self.series.width).max(1);
        let bins = (self.series.span() as u64).div_ceil(per_bin as u64) as i64;
        self.joined(self.series.first(), per_bin, bins)
    }

    /// Counted bytes at 10 ms (or the base bin, where that is coarser) from `from` to `to`, at most [`MAX_DOCUMENT_BINS`];
    /// bins outside the series are left out. `None` when nothing of the series lies within.
    pub(crate) fn window(
        &self,
        rekey: usize,
        direction: Direction,
        (from, to): (Timestamp, Timestamp),
    ) -> Option<RekeySeries> {
        let bin_nanos = self.series.width.max(DOCUMENT_BIN_NANOS);
        let per_bin = bin_nanos / self.series.width;
        let bins = (self.series.span() as u64).div_ceil(per_bin as u64) as i64;
        let first = from.nanos_since(self.start()).max(0) / bin_nanos;
        let last = to.nanos_since(self.start()) / bin_nanos;
        let end = last
            .saturating_add(1)
            .min(bins)
            .min(first.saturating_add(MAX_DOCUMENT_BINS as i64));
        if last < 0 || first >= end {
            return None;
        }
        let number = self.series.first() + first * per_bin;
        let (inner_new_bytes, _) = self.joined(number, per_bin, end - first);
        Some(RekeySeries {
            rekey,
            direction,
            start: self.start().plus_nanos(bin_nanos.saturating_mul(first)),
            bin_ms: bin_nanos as f64 / NANOS_PER_MILLI as f64,
            inner_new_bytes,
        })
    }
}

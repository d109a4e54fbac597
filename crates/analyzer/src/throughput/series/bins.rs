//! Bins over time, with long silences left out: a day between two transfers costs them no resolution.

use crate::throughput::series::bounds::{BASE_BIN_NANOS, MAX_STRETCHES};
use std::collections::VecDeque;

/// Longer silences are not stored, base bins: a minute in bins of 5 ms. Shorter ones cost little.
const LONGEST_STORED: i64 = 60_000_000_000 / BASE_BIN_NANOS;

/// Bytes of a packet, or of all within one base bin; saturate at 4 GiB.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bin {
    /// Inner bytes that are new; 0 where they cannot be read.
    pub new: u32,
    /// ESP.
    pub esp: u32,
    /// IP total length.
    pub outer: u32,
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

    /// The bytes that are counted.
    pub(super) fn counted(&self, by: Measure) -> u32 {
        match by {
            Measure::New => self.new,
            Measure::Esp => self.esp,
        }
    }
}

/// The bytes of a packet that a series counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// New inner bytes.
    New,
    /// ESP bytes.
    Esp,
}

impl Measure {
    pub(super) const ALL: [Measure; 2] = [Measure::New, Measure::Esp];
}

/// Bins without a long silence between them. Begins at an even number and has an even length, so that bins join to pairs.
#[derive(Debug)]
struct StoredBins {
    from: i64,
    bins: VecDeque<Bin>,
}

impl StoredBins {
    fn end(&self) -> i64 {
        self.from + self.bins.len() as i64
    }

    /// Adds bins from this number on, which is not before the first.
    fn merge(&mut self, from: i64, bins: VecDeque<Bin>) {
        let at = usize::try_from(from - self.from).unwrap_or(0);
        self.bins
            .resize(self.bins.len().max(at + bins.len()), Bin::default());
        for (own, bin) in self.bins.range_mut(at..).zip(bins) {
            own.add(bin);
        }
    }
}

/// The sums of each two bins, behind `before` empty ones (at most one), in the same memory.
fn in_pairs(mut bins: VecDeque<Bin>, before: usize) -> VecDeque<Bin> {
    let all = bins.make_contiguous();
    let pairs = all.len() / 2;
    for k in 0..pairs {
        let mut pair = all[2 * k];
        pair.add(all[2 * k + 1]);
        all[k + before] = pair;
    }
    all.iter_mut().take(before).for_each(|bin| *bin = Bin::default());
    bins.truncate(pairs + before);
    bins.resize(bins.len().next_multiple_of(2), Bin::default());
    bins.shrink_to(2 * bins.len());
    bins
}

/// Bins by number. Numbers count from the first packet's and may be negative; there is at least one stretch once a bin is.
#[derive(Debug)]
pub(super) struct Bins {
    /// Width, nanoseconds.
    pub(super) width: i64,
    stretches: Vec<StoredBins>,
    stored: usize,
}

/// The place for a bin that is not stored yet.
enum Growth {
    /// Behind the end of a stretch.
    Behind(usize),
    /// Before the beginning of one.
    Before(usize),
    /// A stretch of its own at this place.
    Own(usize),
}

impl Bins {
    pub(super) fn new() -> Self {
        Bins {
            width: BASE_BIN_NANOS,
            stretches: Vec::new(),
            stored: 0,
        }
    }

    /// Number of stored bins.
    pub(super) fn stored(&self) -> usize {
        self.stored
    }

    /// The first bin, an even number.
    pub(super) fn first(&self) -> i64 {
        self.stretches.first().map_or(0, |s| s.from)
    }

    /// Bins from the first to the last with anything in it, stored or not.
    pub(super) fn span(&self) -> i64 {
        self.end() - self.first()
    }

    /// One past the last bin that was used.
    fn end(&self) -> i64 {
        let used = |s: &StoredBins| {
            let last = s.bins.iter().rposition(|bin| !bin.is_empty());
            s.from + last.map_or(1, |last| last as i64 + 1)
        };
        self.stretches.last().map_or(0, used)
    }

    /// Adds to the bin that holds this moment, nanoseconds from bin 0; where that needs more than `most` bins (at least
    /// four for each of [`MAX_STRETCHES`]), bins get coarser.
    pub(super) fn add(&mut self, nanos: i64, bin: Bin, most: usize) {
        while !self.add_to_stored(nanos, bin) {
            if self.grow(nanos.div_euclid(self.width), most).is_none() {
                self.coarsen();
            }
        }
    }

    /// Adds to the bin that holds this moment; false where it is not stored yet.
    #[inline]
    pub(super) fn add_to_stored(&mut self, nanos: i64, bin: Bin) -> bool {
        let own = self.get_mut(nanos.div_euclid(self.width));
        own.map(|own| own.add(bin)).is_some()
    }

    fn get_mut(&mut self, number: i64) -> Option<&mut Bin> {
        let behind = match self.stretches.last() {
            Some(last) if last.from <= number => self.stretches.len(),
            _ => self.stretches.partition_point(|s| s.from <= number),
        };
        let stretch = self.stretches.get_mut(behind.checked_sub(1)?)?;
        stretch.bins.get_mut(usize::try_from(number - stretch.from).ok()?)
    }

    /// Makes room for a bin; `None` where that takes more than `most`.
    fn grow(&mut self, number: i64, most: usize) -> Option<()> {
        let even = number.div_euclid(2) * 2;
        let growth = self.growth(number);
        let more = match growth {
            Growth::Behind(k) => even + 2 - self.stretches[k].end(),
            Growth::Before(k) => self.stretches[k].from - even,
            Growth::Own(_) => 2,
        };
        let more = usize::try_from(more)
            .ok()
            .filter(|more| self.stored + more <= most)?;
        match growth {
            Growth::Behind(k) => {
                let bins = &mut self.stretches[k].bins;
                bins.resize(bins.len() + more, Bin::default());
            }
            Growth::Before(k) => {
                let stretch = &mut self.stretches[k];
                (0..more).for_each(|_| stretch.bins.push_front(Bin::default()));
                stretch.from = even;
            }
            Growth::Own(k) => {
                let bins = VecDeque::from([Bin::default(); 2]);
                self.stretches.insert(k, StoredBins { from: even, bins });
            }
        }
        self.stored += more;
        Some(())
    }

    fn growth(&self, number: i64) -> Growth {
        let behind = self.stretches.partition_point(|s| s.from <= number);
        let since = behind.checked_sub(1).map(|k| number - self.stretches[k].end());
        let until = self.stretches.get(behind).map(|s| s.from - number);
        let near = |distance: Option<i64>| distance.is_some_and(|d| d < LONGEST_STORED);
        let full = self.stretches.len() >= MAX_STRETCHES;
        if near(since) || full && since.is_some() {
            Growth::Behind(behind - 1)
        } else if near(until) || full {
            Growth::Before(behind)
        } else {
            Growth::Own(behind)
        }
    }

    /// Doubles the width.
    pub(super) fn coarsen(&mut self) {
        self.width = self.width.saturating_mul(2);
        let mut joined: Vec<StoredBins> = Vec::with_capacity(self.stretches.len());
        for stretch in std::mem::take(&mut self.stretches) {
            let first = stretch.from.div_euclid(2);
            let even = first.div_euclid(2) * 2;
            let before = usize::from(first != even);
            let pairs = in_pairs(stretch.bins, before);
            // A bin before an even number may be the end of the stretch before.
            match joined.last_mut().filter(|last| last.end() > even) {
                Some(last) => last.merge(even, pairs),
                None => joined.push(StoredBins {
                    from: even,
                    bins: pairs,
                }),
            }
        }
        self.stored = joined.iter().map(|s| s.bins.len()).sum();
        self.stretches = joined;
    }

    /// The stored bins that are not empty, with their numbers.
    pub(super) fn used(&self) -> impl Iterator<Item = (i64, Bin)> {
        let of = |s: &'_ StoredBins| s.from;
        self.stretches
            .iter()
            .flat_map(move |s| (of(s)..).zip(s.bins.iter().copied()))
            .filter(|(_, bin)| !bin.is_empty())
    }

    /// The stretches of the bins `from..to`.
    pub(super) fn within(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, Bin)> {
        let first = self.stretches.partition_point(|s| s.end() <= from);
        self.stretches[first..]
            .iter()
            .take_while(move |s| s.from < to)
            .flat_map(move |s| {
                let skipped = usize::try_from(from - s.from).unwrap_or(0);
                let taken = usize::try_from(to - s.from).unwrap_or(0).saturating_sub(skipped);
                (s.from + skipped as i64..).zip(s.bins.iter().copied().skip(skipped).take(taken))
            })
    }
}

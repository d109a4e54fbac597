//! Transmissions of one kind as runs of 20 ms, and the bound of all of them.

use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use std::collections::BTreeMap;
use std::ops::Bound;

/// Length of the longest run, nanoseconds: transmissions within it are one, because 50 ms are the shortest silence that any rule reads.
pub const FINEST: i64 = 20 * NANOS_PER_MILLI;

/// Transmissions of one direction that follow each other closely and have the same fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransmissionRun {
    /// Time of the first transmission.
    pub from: Timestamp,
    /// Time of the last transmission.
    pub to: Timestamp,
    /// Frames of the first and the last transmission.
    pub frames: (u64, u64),
    /// SPI of the security association of the transmissions, where they have one.
    pub spi: Option<u32>,
    /// Number of transmissions.
    pub packets: u32,
    /// Number of retransmissions of what had arrived, among them.
    pub superfluous: u32,
    /// Payload bytes that arrived with them.
    pub bytes: u64,
    /// Time at which the last transmission was acknowledged, where somebody did.
    pub acknowledged: Option<Timestamp>,
    /// Time since which the receiver has lacked bytes of these transmissions: earlier than the first of them where one fills a hole.
    pub lacking_since: Timestamp,
    /// True where the first transmission went beyond bytes that the capture had not shown; without keys, beyond packets.
    pub beyond_gap: bool,
}

impl TransmissionRun {
    /// One transmission, which no byte arrived with yet.
    pub(crate) fn one(time: Timestamp, frame: u64, spi: Option<u32>) -> Self {
        TransmissionRun {
            from: time,
            to: time,
            frames: (frame, frame),
            spi,
            packets: 1,
            superfluous: 0,
            bytes: 0,
            acknowledged: None,
            lacking_since: time,
            beyond_gap: false,
        }
    }

    /// Takes another run of the same kind.
    fn absorb(&mut self, other: &TransmissionRun) {
        if other.from < self.from {
            (self.from, self.frames.0) = (other.from, other.frames.0);
            self.beyond_gap = other.beyond_gap;
        }
        self.lacking_since = self.lacking_since.min(other.lacking_since);
        if other.to >= self.to {
            (self.to, self.frames.1) = (other.to, other.frames.1);
        }
        self.packets = self.packets.saturating_add(other.packets);
        self.superfluous = self.superfluous.saturating_add(other.superfluous);
        self.bytes += other.bytes;
        self.acknowledged = self.acknowledged.max(other.acknowledged);
    }

    /// Tells whether both together are no longer than `width`, and of one security association: at a switch every packet counts. Runs hold
    /// several associations only where there are too many runs.
    fn fits(&self, other: &TransmissionRun, width: i64) -> bool {
        let length = self.to.max(other.to).nanos_since(self.from.min(other.from));
        length <= width && (self.spi == other.spi || width > FINEST)
    }
}

/// Runs in order of time. A transmission that comes late is put in its place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs {
    /// The last run.
    newest: Option<TransmissionRun>,
    /// Older runs by their begin.
    older: BTreeMap<Timestamp, TransmissionRun>,
}

impl Runs {
    pub(crate) fn len(&self) -> usize {
        self.older.len() + usize::from(self.newest.is_some())
    }

    /// Adds transmissions; runs are no longer than `width`. An arrival that ends a silence, or comes first on an SA, stays a run of its
    /// own, so that what had arrived right behind the silence is known exactly.
    #[inline]
    pub(crate) fn add(&mut self, one: TransmissionRun, width: i64) {
        let Some(newest) = &mut self.newest else {
            self.newest = Some(one);
            return;
        };
        if one.from < newest.from {
            self.add_late(one, width);
            return;
        }
        if one.from <= newest.to || newest.fits(&one, width) && !self.ends_silence(width) {
            if let Some(newest) = &mut self.newest {
                newest.absorb(&one);
            }
            return;
        }
        if let Some(done) = self.newest.replace(one) {
            self.put(done);
        }
    }

    fn put(&mut self, run: TransmissionRun) {
        self.older
            .entry(run.from)
            .and_modify(|other| other.absorb(&run))
            .or_insert(run);
    }

    /// Tells whether the newest run is one arrival that comes more than `width` after the one before, or on another SA.
    fn ends_silence(&self, width: i64) -> bool {
        let is_one = |newest: &TransmissionRun| newest.from == newest.to && newest.bytes > 0;
        let Some(newest) = self.newest.filter(is_one) else {
            return false;
        };
        let before = self.older.values().next_back();
        before.is_none_or(|before| newest.from.nanos_since(before.to) > width || newest.spi != before.spi)
    }

    #[cold]
    fn add_late(&mut self, one: TransmissionRun, width: i64) {
        let before = self.older.range_mut(..=one.from).next_back().map(|(_, run)| run);
        if let Some(before) = before
            && (one.from <= before.to || before.from < before.to && before.fits(&one, width))
        {
            before.absorb(&one);
            return;
        }
        self.put(one);
    }

    /// Joins runs as far as a larger width allows.
    pub(crate) fn coarsen(&mut self, width: i64) {
        let mut joined: Vec<TransmissionRun> = Vec::new();
        for run in std::mem::take(&mut self.older).into_values() {
            match joined.last_mut() {
                Some(last) if last.fits(&run, width) => last.absorb(&run),
                _ => joined.push(run),
            }
        }
        self.older = joined.into_iter().map(|run| (run.from, run)).collect();
    }

    /// Takes the runs of another list: as they are where this one has none yet, so that a line that is folded alone stays what it was.
    pub(crate) fn merge(&mut self, other: &Runs, width: i64) {
        if self.len() == 0 {
            self.clone_from(other);
            return;
        }
        other.iter().for_each(|run| self.add(*run, width));
    }

    /// Runs in order of time. No two overlap.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &TransmissionRun> {
        self.older.values().chain(&self.newest)
    }

    /// Runs that begin in a stretch, the one before, the next one, and the newest.
    pub(crate) fn around(
        &self,
        (from, to): (Timestamp, Timestamp),
    ) -> impl Iterator<Item = &TransmissionRun> {
        let before = self.older.range(..=from).next_back();
        let behind = self
            .older
            .range((Bound::Excluded(to.max(from)), Bound::Unbounded));
        let inside = self
            .older
            .range((Bound::Excluded(from), Bound::Unbounded))
            .take_while(move |(begin, _)| **begin <= to);
        let all = before.into_iter().chain(inside).chain(behind.take(1));
        all.map(|(_, run)| run).chain(&self.newest)
    }

    /// Time of the last transmission.
    pub(crate) fn last(&self) -> Option<Timestamp> {
        self.newest.map(|newest| newest.to)
    }
}

/// Most runs of all lines together, a bound on memory (30 MB): an hour and a half of a steady transfer. More than that makes runs twice as
/// long.
const MOST_RUNS: usize = 1 << 18;

/// Counts runs, and says how long they may be.
#[derive(Debug)]
pub(crate) struct RunBound {
    count: usize,
    width: i64,
}

impl Default for RunBound {
    fn default() -> Self {
        RunBound {
            count: 0,
            width: FINEST,
        }
    }
}

impl RunBound {
    /// Longest run that may be made now, nanoseconds.
    pub(crate) fn width(&self) -> i64 {
        self.width
    }

    /// Takes the new number of runs of a line.
    #[inline]
    pub(crate) fn count(&mut self, before: usize, now: usize) {
        self.count = self.count + now - before;
    }

    /// Tells whether there are too many runs.
    #[inline]
    pub(crate) fn is_reached(&self) -> bool {
        self.count > MOST_RUNS
    }

    /// Doubles the width until half of the room is free. `coarsen` joins what a width allows, and gives the number of runs that are left.
    #[cold]
    pub(crate) fn make_room(&mut self, mut coarsen: impl FnMut(i64) -> usize) {
        while self.count > MOST_RUNS / 2 {
            self.width *= 2;
            self.count = coarsen(self.width);
        }
    }
}

//! Throughput over time, per tunnel and direction, as bins of bytes. Bounded: a long capture gets coarser bins, never more of them.

mod bins;
mod bounds;
mod counted;
mod direction;
mod highest;

pub use bins::{Bin, Measure};
pub use bounds::{BASE_BIN_NANOS, MAX_BINS, MAX_BINS_TOGETHER, MAX_DOCUMENT_BINS, MAX_SERIES};
pub use counted::CountedSeries;
pub(crate) use highest::highest_rate;

use bounds::DOCUMENT_BIN_NANOS;
use direction::DirectionSeries;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// The series of a capture.
#[derive(Debug, Default)]
pub struct SeriesSet {
    /// By tunnel and position of the direction.
    series: Vec<[Option<Box<DirectionSeries>>; 2]>,
    /// The number of them.
    made: usize,
    bins: usize,
    dropped: u64,
}

impl SeriesSet {
    /// No series.
    pub fn new() -> Self {
        SeriesSet::default()
    }

    /// Counts the bytes of a packet.
    pub fn record(&mut self, tunnel: usize, direction: Direction, time: Timestamp, bytes: Bin) {
        let Some(series) = series_of(&mut self.series, &mut self.made, (tunnel, direction), time) else {
            self.dropped = self.dropped.saturating_add(1);
            return;
        };
        let before = series.bin_count();
        // The rest that the others leave, and at least an equal share: a wild jump in time costs its own series' resolution first.
        let free = MAX_BINS_TOGETHER.saturating_sub(self.bins - before);
        let most_bins = free.clamp(MAX_BINS_TOGETHER / MAX_SERIES, MAX_BINS);
        series.record(time, bytes, most_bins);
        self.bins = self.bins - before + series.bin_count();
        if self.bins > MAX_BINS_TOGETHER {
            self.shrink_bins();
        }
    }

    #[cold]
    fn shrink_bins(&mut self) {
        while self.bins > MAX_BINS_TOGETHER {
            let Some(longest) = self.all_mut().max_by_key(|s| s.bin_count()) else {
                return;
            };
            let before = longest.bin_count();
            longest.coarsen();
            let fewer = before - longest.bin_count();
            self.bins -= fewer;
        }
    }

    /// One series; `None` where that direction carried no packet.
    pub fn get(&self, tunnel: usize, direction: Direction, measure: Measure) -> Option<CountedSeries<'_>> {
        let series = self.series.get(tunnel)?[slot(direction)].as_deref()?;
        Some(CountedSeries { series, measure })
    }

    /// In order of tunnel and direction.
    fn all(&self) -> impl Iterator<Item = &DirectionSeries> {
        self.series.iter().flatten().filter_map(Option::as_deref)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut DirectionSeries> {
        self.series.iter_mut().flatten().filter_map(Option::as_deref_mut)
    }

    /// Packets of series beyond [`MAX_SERIES`].
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Bin width of the document, milliseconds: 10, or the smallest multiple at which no series exceeds
    /// [`MAX_DOCUMENT_BINS`] and every base bin fits.
    pub fn document_bin_ms(&self) -> f64 {
        (self.document_bin_nanos() / NANOS_PER_MILLI) as f64
    }

    fn document_bin_nanos(&self) -> i64 {
        // Base bins are 5 ms times a power of two: the coarsest is a multiple of all the others.
        let coarsest = self.all().map(DirectionSeries::base_nanos).max();
        let unit = coarsest.unwrap_or(0).max(DOCUMENT_BIN_NANOS);
        let units = |series: &DirectionSeries| {
            (series.span_nanos() as u64)
                .div_ceil(unit as u64)
                .div_ceil(MAX_DOCUMENT_BINS as u64)
        };
        let factor = self.all().map(units).max().unwrap_or(1).max(1);
        unit.saturating_mul(i64::try_from(factor).unwrap_or(i64::MAX))
    }
}

/// The series of a direction, made on first sight; `None` at the bound.
fn series_of<'a>(
    all: &'a mut Vec<[Option<Box<DirectionSeries>>; 2]>,
    made: &mut usize,
    (tunnel, direction): (usize, Direction),
    time: Timestamp,
) -> Option<&'a mut DirectionSeries> {
    if tunnel >= all.len() {
        if *made >= MAX_SERIES {
            return None;
        }
        all.resize_with(tunnel + 1, Default::default);
    }
    let place = &mut all.get_mut(tunnel)?[slot(direction)];
    if place.is_none() {
        if *made >= MAX_SERIES {
            return None;
        }
        *made += 1;
    }
    Some(place.get_or_insert_with(|| Box::new(DirectionSeries::starting_at(time))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rekeyscope_model::analysis::TunnelSeries;
    use rekeyscope_model::time::NANOS_PER_SECOND;

    const EPOCH: i64 = 1_795_205_519 * NANOS_PER_SECOND;

    impl SeriesSet {
        /// All series in bins of [`SeriesSet::document_bin_ms`].
        fn tunnel_series(&self) -> Vec<TunnelSeries> {
            let bin = self.document_bin_nanos();
            let tunnels = (0..self.series.len()).flat_map(|t| Direction::BOTH.map(|d| (t, d)));
            tunnels
                .filter_map(|(tunnel, direction)| {
                    let series = self.get(tunnel, direction, Measure::New)?;
                    let (inner_new_bytes, outer_bytes) = series.sums(bin);
                    Some(TunnelSeries {
                        tunnel,
                        direction,
                        start: series.start(),
                        highest: highest_rate(&inner_new_bytes, bin as f64 / 1e9),
                        inner_new_bytes,
                        outer_bytes,
                    })
                })
                .collect()
        }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp(EPOCH + millis * NANOS_PER_MILLI)
    }

    fn bytes(new: u32, outer: u32) -> Bin {
        Bin { new, esp: 0, outer }
    }

    fn recorded(packets: &[(i64, u32)]) -> SeriesSet {
        let mut set = SeriesSet::new();
        for &(millis, new) in packets {
            set.record(0, Direction::AToB, at(millis), bytes(new, new + 100));
        }
        set
    }

    #[test]
    fn bins_begin_at_a_multiple_of_ten_milliseconds() {
        let set = recorded(&[(17, 1), (19, 2), (21, 4), (33, 8)]);
        let traffic = set.get(0, Direction::AToB, Measure::New).unwrap();
        assert_eq!(traffic.start(), at(10));
        assert_eq!(traffic.sums(BASE_BIN_NANOS).0, [0, 3, 4, 0, 8]);
        let [series] = &set.tunnel_series()[..] else {
            panic!()
        };
        assert_eq!((set.document_bin_ms(), series.start), (10.0, at(10)));
        assert_eq!(series.inner_new_bytes, [3, 4, 8]);
        assert_eq!(series.outer_bytes, [203, 104, 108]);
    }

    #[test]
    fn earlier_packets_move_the_start_back() {
        let set = recorded(&[(100, 1), (83, 2), (100, 4), (-500, 8)]);
        let traffic = set.get(0, Direction::AToB, Measure::New).unwrap();
        assert_eq!(traffic.start(), at(-500));
        let bytes = traffic.sums(BASE_BIN_NANOS).0;
        assert_eq!((bytes.len(), bytes[0], bytes[116], bytes[120]), (121, 8, 2, 5));
        assert_eq!(set.bins, 122, "stored in pairs");
    }

    #[test]
    fn a_long_capture_gets_coarser_bins() {
        let hour = 3_600_000;
        let minutes = (0..=9 * 60_i64).map(|minute| (minute * 60_000 - minute.signum() * 6, 1));
        let set = recorded(&minutes.collect::<Vec<_>>());
        let series = set.get(0, Direction::AToB, Measure::New).unwrap();
        assert_eq!(series.series.base_nanos(), 4 * BASE_BIN_NANOS);
        assert!(series.series.bin_count() <= MAX_BINS);
        let bytes = series.sums(4 * BASE_BIN_NANOS).0;
        assert_eq!((bytes[0], bytes[((2 * hour - 6) / 20) as usize]), (1, 1));
        assert_eq!(series.counted_bytes(), 9 * 60 + 1);
        // 9 h in bins of a multiple of 20 ms, at most 20,000: 1,620 ms give 20,000.
        assert_eq!(set.document_bin_ms(), 1620.0);
        assert!(set.tunnel_series()[0].inner_new_bytes.len() <= MAX_DOCUMENT_BINS);
    }

    #[test]
    fn a_day_of_silence_costs_no_resolution() {
        let day = 24 * 3_600_000;
        let set = recorded(&[(0, 1), (5, 2), (day, 4), (day + 10, 8), (-day, 16), (day / 2, 32)]);
        let series = set.get(0, Direction::AToB, Measure::New).unwrap();
        assert_eq!(
            (series.series.base_nanos(), series.series.bin_count()),
            (BASE_BIN_NANOS, 10)
        );
        assert_eq!((series.start(), series.counted_bytes()), (at(-day), 63));
        let window = series
            .window(0, Direction::AToB, at(day - 100), at(day + 5))
            .unwrap();
        assert_eq!(
            (window.inner_new_bytes.iter().sum::<u64>(), window.start),
            (4, at(day - 100))
        );
    }

    #[test]
    fn a_wrong_clock_costs_no_resolution() {
        let year = 365 * 24 * 3_600_000;
        let set = recorded(&[(0, 1), (year, 2), (10, 4), (-year, 8)]);
        let series = set.get(0, Direction::AToB, Measure::New).unwrap();
        assert_eq!(
            (series.series.base_nanos(), series.counted_bytes()),
            (BASE_BIN_NANOS, 15)
        );
        assert_eq!(series.sums(BASE_BIN_NANOS).0, [11, 0, 4]);
    }

    #[test]
    fn series_share_one_budget() {
        let mut set = SeriesSet::new();
        for tunnel in 0..5 {
            set.record(tunnel, Direction::BToA, at(0), bytes(1, 1));
            set.record(tunnel, Direction::BToA, at(3 * 3_600_000), bytes(1, 1));
        }
        let bins: usize = set.all().map(DirectionSeries::bin_count).sum();
        assert_eq!(bins, set.bins);
        assert!(bins <= MAX_BINS_TOGETHER);
        assert!(set.all().all(|series| series.bytes(Measure::New) == 2));
    }

    #[test]
    fn a_month_in_every_series_stays_within_the_budget() {
        let mut set = SeriesSet::new();
        for tunnel in 0..2 * MAX_SERIES {
            set.record(tunnel, Direction::AToB, at(0), bytes(1, 1));
            set.record(tunnel, Direction::AToB, at(30 * 24 * 3_600_000), bytes(1, 1));
        }
        assert!(set.bins <= MAX_BINS_TOGETHER);
        assert_eq!(
            (set.all().count(), set.dropped()),
            (MAX_SERIES, 2 * MAX_SERIES as u64)
        );
        assert!(set.all().all(|series| series.bytes(Measure::New) == 2));
    }

    #[test]
    fn a_window_is_cut_at_the_ends_of_the_series() {
        let set = recorded(&[(0, 1), (10, 2), (20, 4), (30, 8)]);
        let series = set.get(0, Direction::AToB, Measure::New).unwrap();
        let window = |from, to| series.window(3, Direction::AToB, at(from), at(to));
        let inside = window(12, 25).unwrap();
        assert_eq!((inside.start, inside.bin_ms, inside.rekey), (at(10), 10.0, 3));
        assert_eq!(inside.inner_new_bytes, [2, 4]);
        assert_eq!(window(-1000, 1000).unwrap().inner_new_bytes, [1, 2, 4, 8]);
        assert_eq!(
            (window(-1000, -500), window(500, 1000), window(25, 12)),
            (None, None, None)
        );
    }

    proptest! {
        /// No time, however wild, loses a byte or breaks a bound.
        #[test]
        fn hostile_times(packets in proptest::collection::vec((any::<i64>(), any::<u16>()), 1..50)) {
            let mut set = SeriesSet::new();
            for &(time, new) in &packets {
                set.record(0, Direction::AToB, Timestamp(time), bytes(u32::from(new), 0));
            }
            let series = set.get(0, Direction::AToB, Measure::New).unwrap();
            prop_assert_eq!(series.counted_bytes(), packets.iter().map(|(_, new)| u64::from(*new)).sum::<u64>());
            prop_assert!(series.series.bin_count() <= MAX_BINS);
            prop_assert!(set.tunnel_series()[0].inner_new_bytes.len() <= MAX_DOCUMENT_BINS);
            prop_assert!(set.document_bin_ms() % 10.0 == 0.0);
        }
    }
}

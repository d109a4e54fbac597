//! Meters of all tunnels: packets, and bytes over time, of each direction. Bounded: a long capture gets coarser bins, never more of them.

use super::series::{Bin, CountedSeries, DOCUMENT_BIN_NANOS, DirectionSeries, MAX_DOCUMENT_BINS};
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::rekey::trigger::ENOUGH_OPENED;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// Most blocks of bins of all series together, 48 MiB; beyond, the longest series gets coarser. Two directions that never rest have bins of
/// 5 ms for three hours.
const MAX_BLOCKS: usize = 1 << 16;
/// Most series; packets of further ones are only counted ([`Meters::dropped`]).
const MAX_SERIES: usize = 1024;

/// Packets of one tunnel and direction.
#[derive(Debug, Default)]
struct Meter {
    opened: u64,
    /// Packets with a wrong ICV under a proven key.
    damaged: u64,
    all: u64,
    series: Option<Box<DirectionSeries>>,
}

/// All meters.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    /// By tunnel and position of the direction.
    meters: Vec<[Meter; 2]>,
    /// The number of series.
    made: usize,
    blocks: usize,
    dropped: u64,
}

impl Meters {
    /// Takes one packet, and whether it could be opened.
    pub(crate) fn record(&mut self, (tunnel, direction): Side, time: Timestamp, opened: bool, bytes: Bin) {
        if tunnel >= self.meters.len() {
            self.meters.resize_with(tunnel + 1, Default::default);
        }
        let meter = &mut self.meters[tunnel][slot(direction)];
        meter.opened += u64::from(opened);
        meter.all += 1;
        if meter.series.is_none() && self.made >= MAX_SERIES {
            self.dropped += 1;
            return;
        }
        let made = &mut self.made;
        let series = meter.series.get_or_insert_with(|| {
            *made += 1;
            Box::new(DirectionSeries::starting_at(time))
        });
        let before = series.blocks();
        series.record(time, bytes);
        self.blocks += series.blocks() - before;
        if self.blocks > MAX_BLOCKS {
            self.shrink();
        }
    }

    #[cold]
    fn shrink(&mut self) {
        while self.blocks > MAX_BLOCKS {
            let series = self.meters.iter_mut().flatten().filter_map(|m| m.series.as_mut());
            let Some(longest) = series.max_by_key(|series| series.blocks()) else {
                return;
            };
            let before = longest.blocks();
            longest.coarsen();
            self.blocks -= before - longest.blocks();
        }
    }

    fn meter(&self, tunnel: TunnelIndex, direction: Direction) -> Option<&Meter> {
        self.meters.get(tunnel).map(|meters| &meters[slot(direction)])
    }

    /// Takes a packet with a wrong ICV under a proven key.
    pub(crate) fn record_damaged(&mut self, side: Side, time: Timestamp, bytes: Bin) {
        self.record(side, time, false, bytes);
        self.meters[side.0][slot(side.1)].damaged += 1;
    }

    /// Damaged packets of a direction. Where most are, the key is another's rather: none.
    pub(crate) fn damaged(&self, tunnel: TunnelIndex, direction: Direction) -> u64 {
        let few = |m: &&Meter| 2 * m.damaged <= m.all;
        self.meter(tunnel, direction).filter(few).map_or(0, |m| m.damaged)
    }

    /// True where the inner series is whole enough to be used. Their receiver drops damaged packets, so that nothing of them is lacking.
    pub(crate) fn inner_is_whole(&self, tunnel: TunnelIndex, direction: Direction) -> bool {
        let damaged = self.damaged(tunnel, direction);
        let enough = |m: &Meter| m.all > 0 && m.opened as f64 >= ENOUGH_OPENED * (m.all - damaged) as f64;
        self.meter(tunnel, direction).is_some_and(enough)
    }

    /// The series that the verdict counts: new inner bytes, or ESP bytes where keys are missing.
    pub(crate) fn counted(&self, tunnel: TunnelIndex, direction: Direction) -> Option<CountedSeries<'_>> {
        let inner = self.inner_is_whole(tunnel, direction);
        let series = self.meter(tunnel, direction)?.series.as_deref()?;
        Some(CountedSeries { series, inner })
    }

    /// Tunnels and internal directions with packets, in order.
    pub(crate) fn directions(&self) -> impl Iterator<Item = Side> {
        let all = (0..self.meters.len()).flat_map(|tunnel| Direction::BOTH.map(|d| (tunnel, d)));
        all.filter(|&(tunnel, d)| self.meter(tunnel, d).is_some_and(|meter| meter.all > 0))
    }

    /// Packets of a tunnel and direction between two times, by their bytes and their usual size.
    pub(crate) fn packets_within(
        &self,
        tunnel: TunnelIndex,
        direction: Direction,
        (from, to): (Timestamp, Timestamp),
    ) -> f64 {
        let own = self.meter(tunnel, direction);
        let Some((meter, series)) = own.and_then(|meter| Some((meter, meter.series.as_deref()?))) else {
            return 0.0;
        };
        let esp = CountedSeries { series, inner: false };
        let share = esp.bytes_within(from, to) as f64 / esp.counted_bytes().max(1) as f64;
        meter.all as f64 * share
    }

    /// Packets that no series could take.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Bin width of the document, nanoseconds: 10 ms, or the smallest multiple at which no series exceeds [`MAX_DOCUMENT_BINS`] and
    /// every base bin fits.
    pub(crate) fn document_bin_nanos(&self) -> i64 {
        let all = || {
            let meters = self.meters.iter().flatten();
            meters.filter_map(|meter| meter.series.as_deref())
        };
        // Base bins are 5 ms times a power of two: the coarsest is a multiple of all the others.
        let coarsest = all().map(|series| series.width).max();
        let unit = coarsest.unwrap_or(0).max(DOCUMENT_BIN_NANOS);
        let most = unit.saturating_mul(MAX_DOCUMENT_BINS as i64);
        let units = |series: &DirectionSeries| (series.span_nanos() as u64).div_ceil(most as u64);
        let factor = all().map(units).max().unwrap_or(1).max(1);
        unit.saturating_mul(i64::try_from(factor).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};

    const EPOCH: i64 = 1_795_205_519 * NANOS_PER_SECOND;
    const HOUR: i64 = 3_600_000;

    fn at(millis: i64) -> Timestamp {
        Timestamp(EPOCH + millis * NANOS_PER_MILLI)
    }

    fn bytes(new: u32) -> Bin {
        let outer = new.saturating_add(100);
        Bin {
            new,
            esp: outer,
            outer,
        }
    }

    /// Opened packets of one direction of tunnel 0, at milliseconds, each with new bytes.
    fn recorded(packets: &[(i64, u32)]) -> Meters {
        let mut meters = Meters::default();
        for &(millis, new) in packets {
            meters.record((0, Direction::AToB), at(millis), true, bytes(new));
        }
        meters
    }

    fn counted(meters: &Meters) -> CountedSeries<'_> {
        meters.counted(0, Direction::AToB).unwrap()
    }

    #[test]
    fn bins_begin_at_a_multiple_of_ten_milliseconds() {
        let meters = recorded(&[(17, 1), (19, 2), (21, 4), (33, 8)]);
        let series = counted(&meters);
        assert_eq!(
            (series.start(), meters.document_bin_nanos()),
            (at(10), 10 * NANOS_PER_MILLI)
        );
        assert_eq!(series.sums(5 * NANOS_PER_MILLI).0, [0, 3, 4, 0, 8]);
        let (new, outer) = series.sums(meters.document_bin_nanos());
        assert_eq!((&new[..], &outer[..]), (&[3, 4, 8][..], &[203, 104, 108][..]));
    }

    #[test]
    fn earlier_packets_move_the_start_back() {
        let meters = recorded(&[(100, 1), (83, 2), (100, 4), (-500, 8)]);
        let series = counted(&meters);
        assert_eq!(series.start(), at(-500));
        let bytes = series.sums(5 * NANOS_PER_MILLI).0;
        assert_eq!((bytes.len(), bytes[0], bytes[116], bytes[120]), (121, 8, 2, 5));
    }

    #[test]
    fn a_long_capture_has_wide_bins_in_the_document() {
        let minutes = (0..=9 * 60_i64).map(|minute| (minute * 60_000 - minute.signum() * 6, 1));
        let meters = recorded(&minutes.collect::<Vec<_>>());
        // 9 h in bins of a multiple of 10 ms, at most 20,000: 1,620 ms give 20,000.
        assert_eq!(meters.document_bin_nanos(), 1_620 * NANOS_PER_MILLI);
        let sums = counted(&meters).sums(meters.document_bin_nanos()).0;
        assert!(sums.len() <= MAX_DOCUMENT_BINS);
        assert_eq!(sums.iter().sum::<u64>(), 9 * 60 + 1);
    }

    #[test]
    fn a_day_of_silence_costs_no_resolution() {
        let day = 24 * HOUR;
        let meters = recorded(&[(0, 1), (5, 2), (day, 4), (day + 10, 8), (-day, 16), (day / 2, 32)]);
        let series = counted(&meters);
        assert_eq!((series.series.width, meters.blocks), (5 * NANOS_PER_MILLI, 4));
        assert_eq!((series.start(), series.counted_bytes()), (at(-day), 63));
        let window = series
            .window(0, Direction::AToB, (at(day - 100), at(day + 5)))
            .unwrap();
        let sum: u64 = window.inner_new_bytes.iter().sum();
        assert_eq!((sum, window.start), (4, at(day - 100)));
    }

    #[test]
    fn a_wrong_clock_costs_no_resolution() {
        let year = 365 * 24 * HOUR;
        let meters = recorded(&[(0, 1), (year, 2), (10, 4), (-year, 8)]);
        let series = counted(&meters);
        assert_eq!(
            (series.series.width, series.counted_bytes()),
            (5 * NANOS_PER_MILLI, 15)
        );
        assert_eq!(series.sums(5 * NANOS_PER_MILLI).0, [11, 0, 4]);
    }

    #[test]
    fn the_longest_series_gets_coarser() {
        let mut meters = recorded(&[(0, 1)]);
        let block = 64 * 5;
        for place in 0..MAX_BLOCKS as i64 + 10 {
            meters.record((1, Direction::BToA), at(place * block), true, bytes(1));
        }
        assert!(meters.blocks <= MAX_BLOCKS);
        let longest = meters.counted(1, Direction::BToA).unwrap();
        assert_eq!(longest.series.width, 10 * NANOS_PER_MILLI);
        assert_eq!(longest.counted_bytes(), MAX_BLOCKS as u64 + 10);
        assert_eq!(counted(&meters).series.width, 5 * NANOS_PER_MILLI);
        assert_eq!(meters.document_bin_nanos() % (10 * NANOS_PER_MILLI), 0);
    }

    #[test]
    fn packets_of_further_series_are_counted() {
        let mut meters = Meters::default();
        for tunnel in 0..2 * MAX_SERIES {
            meters.record((tunnel, Direction::AToB), at(0), false, bytes(1));
        }
        assert_eq!((meters.made, meters.dropped()), (MAX_SERIES, MAX_SERIES as u64));
        assert_eq!(meters.directions().count(), 2 * MAX_SERIES);
    }

    #[test]
    fn a_few_damaged_packets_leave_a_series_whole() {
        let mut meters = recorded(&[(0, 1), (10, 2)]);
        meters.record_damaged((0, Direction::AToB), at(20), bytes(0));
        let told = |meters: &Meters| {
            let whole = meters.inner_is_whole(0, Direction::AToB);
            (whole, meters.damaged(0, Direction::AToB))
        };
        assert_eq!(told(&meters), (true, 1));
        for millis in [30, 40] {
            meters.record_damaged((0, Direction::AToB), at(millis), bytes(0));
        }
        assert_eq!(told(&meters), (false, 0));
    }

    #[test]
    fn a_window_is_cut_at_the_ends_of_the_series() {
        let meters = recorded(&[(0, 1), (10, 2), (20, 4), (30, 8)]);
        let window = |from, to| counted(&meters).window(3, Direction::AToB, (at(from), at(to)));
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
            let mut meters = Meters::default();
            for &(time, new) in &packets {
                meters.record((0, Direction::AToB), Timestamp(time), true, bytes(u32::from(new)));
            }
            let (series, bin) = (counted(&meters), meters.document_bin_nanos());
            let sums = series.sums(bin).0;
            prop_assert_eq!(series.counted_bytes(), packets.iter().map(|(_, new)| u64::from(*new)).sum::<u64>());
            prop_assert_eq!(sums.iter().sum::<u64>(), series.counted_bytes());
            prop_assert!(sums.len() <= MAX_DOCUMENT_BINS && bin % (10 * NANOS_PER_MILLI) == 0);
        }
    }
}

//! The series as bins of width Δ with running sums: every mean and every loss is a difference of two of them.

use crate::input::traffic::Traffic;

/// Bin numbers are held within ± this, so that no moment that a hostile capture claims overflows a sum of them.
const FARTHEST_BIN: f64 = (1_i64 << 40) as f64;

/// Bins of width Δ with their running sum, the byte clock C.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    /// Δ, seconds.
    pub(crate) bin_s: f64,
    /// Start of bin 0, seconds from the start of the series (not 0 where the origin is shifted).
    origin_s: f64,
    /// `cumulative[i]` = bytes in the bins before bin i; one longer than the bins. Exact: below 2^53.
    cumulative: Vec<f64>,
}

impl Grid {
    /// Joins `group` base bins to one, after leaving out the first `shift`.
    pub(crate) fn new(traffic: &Traffic, group: usize, shift: usize) -> Grid {
        let group = group.max(1);
        let kept = traffic.bytes.get(shift..).unwrap_or_default();
        let mut cumulative = Vec::with_capacity(kept.len() / group + 2);
        let mut sum = 0.0;
        cumulative.push(sum);
        for bin in kept.chunks(group) {
            sum += bin.iter().map(|&b| f64::from(b)).sum::<f64>();
            cumulative.push(sum);
        }
        Grid {
            bin_s: traffic.base_bin_s * group as f64,
            origin_s: traffic.base_bin_s * shift as f64,
            cumulative,
        }
    }

    /// The same with every byte spread evenly over the `burst_s` (> 0) around it: the byte clock is
    /// C~(t) = (1/τ)·∫ C over [t − τ/2, t + τ/2], exact for a C that rises evenly within base bins.
    pub(crate) fn spread(traffic: &Traffic, group: usize, shift: usize, burst_s: f64) -> Grid {
        let mut grid = Grid::new(traffic, group, shift);
        let base = Grid::new(traffic, 1, 0);
        let mut integral = Vec::with_capacity(base.cumulative.len());
        let mut sum = 0.0;
        integral.push(sum);
        for ends in base.cumulative.windows(2) {
            sum += f64::midpoint(ends[0], ends[1]) * base.bin_s;
            integral.push(sum);
        }
        let until = |s: f64| {
            let bins = (s / base.bin_s).clamp(0.0, base.bins() as f64);
            let (bin, part) = (bins as usize, bins.fract());
            let clock = base.cumulative[bin];
            let next = base.clock(bin as i64 + 1);
            let within = (clock + (next - clock) * part / 2.0) * part * base.bin_s;
            let beyond_s = (s - base.seconds(base.bins())).max(0.0);
            integral[bin] + within + clock * beyond_s
        };
        let mut reached = 0.0_f64;
        for (bin, clock) in grid.cumulative.iter_mut().enumerate() {
            let at = grid.origin_s + bin as f64 * grid.bin_s;
            let spread = (until(at + burst_s / 2.0) - until(at - burst_s / 2.0)) / burst_s;
            // Rounding must not make the clock run backwards.
            reached = reached.max(spread);
            *clock = reached;
        }
        grid
    }

    /// Number of bins.
    pub(crate) fn bins(&self) -> i64 {
        self.cumulative.len() as i64 - 1
    }

    /// C at the start of `bin`, clamped to the series.
    pub(crate) fn clock(&self, bin: i64) -> f64 {
        let i = bin.clamp(0, self.bins()) as usize;
        self.cumulative.get(i).copied().unwrap_or(0.0)
    }

    /// Bytes in the bins `from..to`; what lies outside the series counts 0.
    pub(crate) fn bytes(&self, from: i64, to: i64) -> f64 {
        self.clock(to.max(from)) - self.clock(from)
    }

    /// Mean rate over the bins `from..to`, bytes per second; 0 for an empty range.
    pub(crate) fn rate(&self, from: i64, to: i64) -> f64 {
        if to <= from {
            0.0
        } else {
            self.bytes(from, to) / self.seconds(to - from)
        }
    }

    /// The bin within `from..to` that holds the byte at `clock`.
    pub(crate) fn bin_of_byte(&self, clock: f64, from: i64, to: i64) -> i64 {
        let (low, high) = (
            from.clamp(0, self.bins()) as usize,
            to.clamp(0, self.bins()) as usize,
        );
        let ends = self.cumulative.get(low + 1..=high.max(low)).unwrap_or_default();
        let bin = low + ends.partition_point(|&end| end <= clock);
        (bin as i64).min(to - 1).max(from)
    }

    /// The bin that holds moment `s` (seconds from the start of the series). Not clamped.
    pub(crate) fn bin_at(&self, s: f64) -> i64 {
        // A moment on an edge belongs to the bin that begins there, also when the division falls short by rounding.
        ((s - self.origin_s) / self.bin_s + 1e-6)
            .floor()
            .clamp(-FARTHEST_BIN, FARTHEST_BIN) as i64
    }

    /// The first bin that begins at or after moment `s`. Not clamped.
    pub(crate) fn bin_from(&self, s: f64) -> i64 {
        ((s - self.origin_s) / self.bin_s - 1e-6)
            .ceil()
            .clamp(-FARTHEST_BIN, FARTHEST_BIN) as i64
    }

    /// Start of `bin`, seconds from the start of the series.
    pub(crate) fn start_of(&self, bin: i64) -> f64 {
        self.origin_s + self.seconds(bin)
    }

    /// Length of `bins`, seconds.
    pub(crate) fn seconds(&self, bins: i64) -> f64 {
        bins as f64 * self.bin_s
    }

    /// `s` seconds as a number of bins, at least one.
    pub(crate) fn length(&self, s: f64) -> i64 {
        (s / self.bin_s).round().clamp(1.0, FARTHEST_BIN) as i64
    }
}

/// A half-open range of bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// First bin.
    pub(crate) from: i64,
    /// One past the last.
    pub(crate) to: i64,
}

impl Span {
    /// Number of bins.
    pub(crate) fn len(self) -> i64 {
        (self.to - self.from).max(0)
    }

    /// Whether `other` lies within.
    pub(crate) fn contains(self, other: Span) -> bool {
        self.from <= other.from && other.to <= self.to
    }

    /// The part within `outer`.
    pub(crate) fn clip(self, outer: Span) -> Span {
        let from = self.from.clamp(outer.from, outer.to);
        Span {
            from,
            to: self.to.clamp(from, outer.to),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rekeyscope_model::time::Timestamp;

    /// A synthetic series without gaps from bytes per 5 ms.
    pub(crate) fn synthetic_series(bytes: Vec<u32>) -> Traffic {
        Traffic {
            start: Timestamp(0),
            base_bin_s: 0.005,
            bytes,
            gaps: Vec::new(),
            gaps_total: 0,
            holes: Vec::new(),
        }
    }

    #[test]
    fn sums_pairs_and_shifts_the_origin() {
        let t = synthetic_series(vec![1, 2, 4, 8, 16]);
        let g = Grid::new(&t, 2, 0);
        assert_eq!((g.bins(), g.bytes(0, 1), g.bytes(1, 3)), (3, 3.0, 28.0));
        let shifted = Grid::new(&t, 2, 1);
        assert_eq!((shifted.bins(), shifted.bytes(0, 1)), (2, 6.0));
        assert_eq!(shifted.bin_at(0.006), 0);
        assert!((shifted.start_of(1) - 0.015).abs() < 1e-12);
    }

    #[test]
    fn outside_the_series_there_are_no_bytes() {
        let g = Grid::new(&synthetic_series(vec![10; 4]), 1, 0);
        assert_eq!(
            (g.bytes(-5, 2), g.bytes(3, 90), g.bytes(3, 2), g.rate(2, 2)),
            (20.0, 10.0, 0.0, 0.0)
        );
        let empty = Grid::new(&synthetic_series(vec![]), 2, 7);
        assert_eq!((empty.bins(), empty.bytes(0, 5)), (0, 0.0));
    }

    #[test]
    fn a_burst_is_spread_over_the_period_around_it() {
        // 40 bytes evenly in the base bin 20–25 ms, spread over 20 ms: C~ rises from 10 to 35 ms.
        let t = synthetic_series(vec![0, 0, 0, 0, 40, 0, 0, 0, 0, 0]);
        let g = Grid::spread(&t, 2, 0, 0.02);
        let clocks: Vec<f64> = (0..=5).map(|bin| g.clock(bin)).collect();
        // At 20 ms the window reaches to 30 ms: half of its length lies behind the bin's middle, less a quarter of the bin.
        for (clock, expected) in clocks.iter().zip([0.0, 0.0, 15.0, 35.0, 40.0, 40.0]) {
            assert!((clock - expected).abs() < 1e-9, "{clocks:?}");
        }
        let shifted = Grid::spread(&t, 2, 1, 0.02);
        assert!(
            (shifted.clock(1) - 5.0).abs() < 1e-9,
            "at 15 ms: {}",
            shifted.clock(1)
        );
        let even = Grid::spread(&synthetic_series(vec![7; 100]), 1, 0, 0.033);
        assert!((even.bytes(40, 41) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn finds_the_bin_of_a_byte_and_of_a_moment() {
        let g = Grid::new(&synthetic_series(vec![0, 10, 0, 0, 10, 0]), 1, 0);
        assert_eq!(g.bin_of_byte(0.0, 0, 6), 1);
        assert_eq!(g.bin_of_byte(9.9, 0, 6), 1);
        assert_eq!(g.bin_of_byte(10.0, 0, 6), 4);
        assert_eq!(g.bin_of_byte(99.0, 0, 6), 5);
        // 0.015 / 0.005 is 2.999… in binary: the moment still belongs to the bin that begins there.
        assert_eq!(
            (g.bin_at(0.015), g.bin_from(0.015), g.bin_from(0.0151)),
            (3, 3, 4)
        );
    }
}

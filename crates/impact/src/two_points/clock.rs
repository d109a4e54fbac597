//! The line of the other clock against this one; see the module above for the method.

use rekeyscope_model::analysis::PointClock;
use rekeyscope_model::time::{Timestamp, seconds};

/// No two clocks of working computers drift further apart than this: NTP slews by 500 ppm at most (RFC 5905 §11.3), and each has an error of
/// its own of some hundred.
const LARGEST_DRIFT: f64 = 2e-3;
/// A drift is not told from a shorter time: jitter of the fastest packets by 0.1 ms would be 10 ppm.
const LEAST_SPAN_S: f64 = 10.0;
/// Time stamps that cross by less than this fit: interrupts are this late.
const STAMP_NOISE_S: f64 = 50e-6;
/// Milliseconds in a second.
pub(crate) const MS: f64 = 1e3;
/// Steps of a search; each leaves two thirds, so that 2e-3 become less than 1e-20.
const MOST_STEPS: usize = 100;

/// Seconds before the arithmetic on them: lags are small numbers beside an offset that may be decades.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LagOrigin {
    pub(crate) time: Timestamp,
    pub(crate) lag: i64,
}

impl LagOrigin {
    pub(crate) fn lag(self, here: Timestamp, there: Timestamp) -> Lag {
        Lag {
            x: seconds(here.nanos_since(self.time)),
            y: seconds(there.nanos_since(here).saturating_sub(self.lag)),
        }
    }
}

/// The other clock against this one.
#[derive(Debug, Clone)]
pub(crate) struct ClockLine {
    origin: LagOrigin,
    slope: f64,
    /// The line at the origin: in the middle of the gap, or along the one cloud that there is.
    pub(crate) height: f64,
    /// Half of the gap between the clouds; `None` of one cloud alone.
    pub(crate) half_gap: Option<f64>,
    /// The drift and the range of those that fit.
    drift: Option<(f64, Option<(f64, f64)>)>,
    pub(crate) straight: bool,
}

/// The packets that pass this point first, and those that pass it second.
pub(crate) struct Clouds {
    pub(crate) first: Vec<Lag>,
    pub(crate) second: Vec<Lag>,
}

impl ClockLine {
    /// `None` of no packets.
    pub(crate) fn of(origin: LagOrigin, mut clouds: Clouds) -> Option<ClockLine> {
        let all = clouds.first.iter().chain(&clouds.second);
        let (from, to) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), p| {
            (from.min(p.x), to.max(p.x))
        });
        let long = to - from >= LEAST_SPAN_S;
        for p in &mut clouds.second {
            p.y = -p.y;
        }
        match (
            LowerHull::of(&mut clouds.first),
            LowerHull::of(&mut clouds.second),
        ) {
            (Some(above), Some(below)) => Some(ClockLine::between(origin, &above, &below, long)),
            (Some(one), None) => Some(ClockLine::along(origin, &one, long, 1.0)),
            (None, Some(one)) => Some(ClockLine::along(origin, &one, long, -1.0)),
            (None, None) => None,
        }
    }

    /// `below` is mirrored: the hull of −y, which a line of slope s meets with −s.
    fn between(origin: LagOrigin, above: &LowerHull, below: &LowerHull, long: bool) -> ClockLine {
        let gap = |slope: f64| above.height(slope) + below.height(-slope);
        let distance = |slope: f64| above.distance(slope) + below.distance(-slope);
        let range = (-LARGEST_DRIFT, LARGEST_DRIFT);
        let mut slope = if long { least(range, distance) } else { 0.0 };
        if gap(slope) < -STAMP_NOISE_S {
            slope = least(range, |slope| -gap(slope));
        }
        let straight = gap(slope) >= -STAMP_NOISE_S;
        let fits = |slope: f64| gap(slope) >= -STAMP_NOISE_S;
        let bounds = (edge(slope, range.0, fits), edge(slope, range.1, fits));
        ClockLine {
            origin,
            slope,
            height: (above.height(slope) - below.height(-slope)) / 2.0,
            half_gap: Some(gap(slope).abs() / 2.0),
            drift: (long && straight).then_some((slope, Some(bounds))),
            straight,
        }
    }

    /// Along one cloud: below it, or above it where it is mirrored.
    fn along(origin: LagOrigin, cloud: &LowerHull, long: bool, sign: f64) -> ClockLine {
        let range = (-LARGEST_DRIFT, LARGEST_DRIFT);
        let slope = if long {
            least(range, |slope| cloud.distance(slope))
        } else {
            0.0
        };
        ClockLine {
            origin,
            slope: sign * slope,
            height: sign * cloud.height(slope),
            half_gap: None,
            drift: long.then_some((sign * slope, None)),
            straight: true,
        }
    }

    /// The line at a moment of this clock, seconds above the origin's lag.
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.height + self.slope * x
    }

    /// The moment here of one there.
    pub(crate) fn here(&self, there: Timestamp) -> Timestamp {
        let close = there.plus_nanos(-self.origin.lag);
        let x = close.seconds_since(self.origin.time);
        // The offset at a moment that is off by an offset: what a drift makes of that is nanoseconds.
        close.plus_seconds(-self.at(x - self.at(x)))
    }

    /// As the document has it.
    pub(crate) fn told(&self, at: Timestamp) -> PointClock {
        let known = self.straight && self.half_gap.is_some();
        let offset = self.at(at.seconds_since(self.origin.time)) + seconds(self.origin.lag);
        let bounds = self.drift.and_then(|(_, bounds)| bounds);
        PointClock {
            at,
            offset_ms: known.then_some(offset * MS),
            offset_error_ms: self.half_gap.filter(|_| known).map(|half| half * MS),
            round_trip_ms: self.half_gap.filter(|_| known).map(|half| 2.0 * half * MS),
            drift_ppm: self.drift.map(|(drift, _)| drift * 1e6),
            drift_low_ppm: bounds.map(|(low, _)| low * 1e6),
            drift_high_ppm: bounds.map(|(_, high)| high * 1e6),
            straight: self.straight,
        }
    }
}

/// Where a convex function is least.
fn least((mut low, mut high): (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..MOST_STEPS {
        let third = (high - low) / 3.0;
        let (a, b) = (low + third, high - third);
        if f(a) <= f(b) {
            high = b;
        } else {
            low = a;
        }
    }
    f64::midpoint(low, high)
}

/// How far one can go from where it fits towards the limit.
fn edge(fitting: f64, limit: f64, fits: impl Fn(f64) -> bool) -> f64 {
    if fits(limit) {
        return limit;
    }
    let (mut inside, mut outside) = (fitting, limit);
    for _ in 0..MOST_STEPS {
        let middle = f64::midpoint(inside, outside);
        if fits(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

// Clouds of points and the lines below and above them.

/// A packet seen at both points: when it was seen here, and how much later there; seconds from a common origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lag {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// The lower hull of a cloud, and its mean.
#[derive(Debug, Clone)]
pub(crate) struct LowerHull {
    corners: Vec<Lag>,
    mean: Lag,
}

impl LowerHull {
    /// `None` of no points. The points are sorted.
    pub(crate) fn of(points: &mut [Lag]) -> Option<LowerHull> {
        if points.is_empty() {
            return None;
        }
        points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        let n = points.len() as f64;
        let mean = Lag {
            x: points.iter().map(|p| p.x / n).sum(),
            y: points.iter().map(|p| p.y / n).sum(),
        };
        let mut corners: Vec<Lag> = Vec::new();
        for &p in points.iter() {
            while let [.., a, b] = corners.as_slice()
                && (b.x - a.x) * (p.y - a.y) <= (b.y - a.y) * (p.x - a.x)
            {
                corners.pop();
            }
            // The lowest of several points at one time counts.
            if corners.last().is_none_or(|last| p.x > last.x) {
                corners.push(p);
            }
        }
        Some(LowerHull { corners, mean })
    }

    /// The height at x = 0 of the highest line of this slope that lies below all points.
    pub(crate) fn height(&self, slope: f64) -> f64 {
        let rises = |pair: &[Lag]| match pair {
            [a, b] => (b.y - a.y) < slope * (b.x - a.x),
            _ => false,
        };
        // The slopes of the edges grow along the hull: the line touches it where they pass its own.
        let (mut low, mut high) = (0, self.corners.len().saturating_sub(1));
        while low < high {
            let middle = low.midpoint(high);
            if self.corners.get(middle..middle + 2).is_some_and(rises) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.corners.get(low).map_or(0.0, |p| p.y - slope * p.x)
    }

    /// The mean distance of the points above that line.
    pub(crate) fn distance(&self, slope: f64) -> f64 {
        self.mean.y - slope * self.mean.x - self.height(slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rekeyscope_model::time::NANOS_PER_SECOND;

    const ORIGIN: LagOrigin = LagOrigin {
        time: Timestamp(0),
        lag: 5 * NANOS_PER_SECOND,
    };

    /// One packet a second for so long, above a line of this height and slope by so much; each third one later still.
    fn cloud(seconds: i64, line: (f64, f64), above: f64) -> Vec<Lag> {
        let of = |k: i64| {
            let x = k as f64;
            let late = if k % 3 == 1 { 0.01 } else { 0.0 };
            Lag {
                x,
                y: line.0 + line.1 * x + above + above.signum() * late,
            }
        };
        (0..=seconds).map(of).collect()
    }

    fn near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found - expected).abs() < 1e-6)
    }

    /// 20 ms one way, 40 the other: in the middle the clock is 10 ms off.
    #[test]
    fn the_clock_lies_in_the_middle_of_both_directions() {
        let clouds = Clouds {
            first: cloud(60, (0.1, 2e-5), 0.04),
            second: cloud(60, (0.1, 2e-5), -0.02),
        };
        let line = ClockLine::of(ORIGIN, clouds).unwrap();
        assert!((line.at(0.0) - 0.11).abs() < 1e-6 && (line.at(10.0) - 0.1102).abs() < 1e-6);
        let told = line.told(Timestamp(10 * NANOS_PER_SECOND));
        assert!(near(told.offset_ms, 5_110.2) && near(told.offset_error_ms, 30.0));
        assert!(near(told.round_trip_ms, 60.0) && told.straight);
        assert!(
            told.drift_ppm.is_some_and(|drift| (drift - 20.0).abs() < 1e-3),
            "{told:?}"
        );
        // The gap of 60 ms leaves room for a millisecond in each second.
        let (low, high) = (told.drift_low_ppm.unwrap(), told.drift_high_ppm.unwrap());
        assert!(
            (low - (20.0 - 1_000.0)).abs() < 1.0 && (high - (20.0 + 1_000.0)).abs() < 1.0,
            "{low} {high}"
        );
        let there = Timestamp(15 * NANOS_PER_SECOND + 110_200_000);
        assert!(
            line.here(there)
                .nanos_since(Timestamp(10 * NANOS_PER_SECOND))
                .abs()
                < 1_000
        );
    }

    #[test]
    fn one_direction_alone_tells_a_drift_and_no_offset() {
        for (first, second, height) in [
            (cloud(60, (0.1, 2e-5), 0.04), Vec::new(), 0.14),
            (Vec::new(), cloud(60, (0.1, 2e-5), -0.02), 0.08),
        ] {
            let line = ClockLine::of(ORIGIN, Clouds { first, second }).unwrap();
            assert!((line.height - height).abs() < 1e-6, "{line:?}");
            let told = line.told(Timestamp(0));
            assert_eq!(
                (told.offset_ms, told.round_trip_ms, told.drift_low_ppm),
                (None, None, None)
            );
            assert!(
                told.drift_ppm.is_some_and(|drift| (drift - 20.0).abs() < 1e-3),
                "{told:?}"
            );
        }
        let nothing = Clouds {
            first: Vec::new(),
            second: Vec::new(),
        };
        assert!(ClockLine::of(ORIGIN, nothing).is_none());
    }

    #[test]
    fn a_drift_needs_ten_seconds() {
        let drift = |seconds| {
            let clouds = Clouds {
                first: cloud(seconds, (0.1, 2e-5), 0.04),
                second: cloud(seconds, (0.1, 2e-5), -0.02),
            };
            ClockLine::of(ORIGIN, clouds)
                .unwrap()
                .told(Timestamp(0))
                .drift_ppm
        };
        assert_eq!((drift(10).is_some(), drift(9)), (true, None));
    }

    #[test]
    fn a_clock_that_was_set_fits_no_line() {
        let mut first = cloud(60, (0.1, 0.0), 0.04);
        first.iter_mut().skip(30).for_each(|lag| lag.y -= 1.0);
        let mut second = cloud(60, (0.1, 0.0), -0.02);
        second.iter_mut().skip(30).for_each(|lag| lag.y -= 1.0);
        let told = ClockLine::of(ORIGIN, Clouds { first, second })
            .unwrap()
            .told(Timestamp(0));
        assert!(
            !told.straight && told.offset_ms.is_none() && told.drift_ppm.is_none(),
            "{told:?}"
        );
    }

    #[test]
    fn searches_end_where_they_should() {
        assert!((least((-2.0, 3.0), |x| (x - 0.5).powi(2)) - 0.5).abs() < 1e-6);
        assert!((edge(1.0, 3.0, |x| x <= 2.5) - 2.5).abs() < 1e-9);
        assert_eq!(edge(1.0, 3.0, |_| true), 3.0);
    }

    proptest! {
        #[test]
        fn the_line_lies_below_all_points_and_touches_one(
            points in prop::collection::vec((0.0..100.0f64, -1.0..1.0f64), 1..60),
            slope in -0.1..0.1f64,
        ) {
            let mut points: Vec<Lag> = points.into_iter().map(|(x, y)| Lag { x, y }).collect();
            let hull = LowerHull::of(&mut points).unwrap();
            let height = hull.height(slope);
            let least = points.iter().map(|p| p.y - slope * p.x).fold(f64::INFINITY, f64::min);
            prop_assert!((height - least).abs() < 1e-9, "{height} {least}");
        }
    }

    /// A line of slope 0 lies at the lowest point, one of slope 1 at the last one.
    #[test]
    fn the_distance_is_the_mean_above_the_line() {
        let mut points = [(0.0, 1.0), (1.0, 4.0), (2.0, 1.0), (5.0, 2.0)].map(|(x, y)| Lag { x, y });
        let hull = LowerHull::of(&mut points).unwrap();
        assert_eq!((hull.height(0.0), hull.distance(0.0)), (1.0, 1.0));
        assert_eq!((hull.height(1.0), hull.distance(1.0)), (-3.0, 3.0));
    }
}

//! Several captures with different lifetimes: what does a rekey cost, seen from outside?
//!
//! Every capture is one point: rekeys per gigabyte against seconds per gigabyte. The slope of the line through them is
//! seconds per rekey, the intercept the time a gigabyte takes without any. Nothing is known about what else differs
//! between the captures (suite, client, time of day): the slope takes it all for rekeys or noise.

use rekeyscope_model::analysis::comparison::Slope;
use rekeyscope_model::chance::TWO_SIDED_95;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Bytes of a gigabyte.
pub(crate) const GIGABYTE: f64 = 1e9;
/// Rekeys per gigabyte that differ by less than this share of their mean do not span a line.
const LEAST_SPREAD: f64 = 1e-6;

/// A capture as one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CapturePoint {
    /// Rekeys per gigabyte of new bytes.
    pub rekeys_per_gb: f64,
    /// Seconds per gigabyte of new bytes.
    pub seconds_per_gb: f64,
}

impl CapturePoint {
    /// From a transfer of `bytes` in `seconds` with `rekeys` in it. `None` where it carries nothing or takes no time.
    pub(crate) fn new(bytes: f64, seconds: f64, rekeys: usize) -> Option<CapturePoint> {
        let sound = bytes.is_finite() && bytes > 0.0 && seconds.is_finite() && seconds > 0.0;
        sound.then(|| CapturePoint {
            rekeys_per_gb: rekeys as f64 * GIGABYTE / bytes,
            seconds_per_gb: seconds * GIGABYTE / bytes,
        })
    }
}

/// Quantile of Student's t with `freedom` degrees of freedom, to six decimals: statrs computes it with the platform's logarithm, whose last digits differ.
fn t_quantile(p: f64, freedom: usize) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1) as f64)
        .map_or(f64::INFINITY, |t| (t.inverse_cdf(p) * 1e6).round() / 1e6)
}

/// Least squares of seconds per GB on rekeys per GB. `None` with fewer than two captures, or when all have the same
/// rekeys per GB.
pub(crate) fn line_through(points: &[CapturePoint]) -> Option<Slope> {
    let n = points.len() as f64;
    let mean = |f: fn(&CapturePoint) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|p| p.rekeys_per_gb), mean(|p| p.seconds_per_gb));
    let sxx: f64 = points.iter().map(|p| (p.rekeys_per_gb - mean_x).powi(2)).sum();
    if points.len() < 2 || sxx.sqrt() <= LEAST_SPREAD * mean_x || !sxx.is_finite() {
        return None;
    }
    let sxy: f64 = points
        .iter()
        .map(|p| (p.rekeys_per_gb - mean_x) * (p.seconds_per_gb - mean_y))
        .sum();
    let slope = sxy / sxx;
    let intercept = mean_y - slope * mean_x;
    let residual = |p: &CapturePoint| p.seconds_per_gb - intercept - slope * p.rekeys_per_gb;
    let squares: f64 = points.iter().map(|p| residual(p).powi(2)).sum();
    let freedom = points.len() - 2;
    // A line always fits through two captures.
    let half =
        (freedom > 0).then(|| t_quantile(TWO_SIDED_95, freedom) * (squares / freedom as f64 / sxx).sqrt());
    Some(Slope {
        seconds_per_rekey: slope,
        low_s: half.map(|half| slope - half),
        high_s: half.map(|half| slope + half),
        seconds_per_gb_without: intercept,
        without_rekeys_bps: (intercept > 0.0).then(|| 8.0 * GIGABYTE / intercept),
        captures: points.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn synthetic_point(rekeys_per_gb: f64, seconds_per_gb: f64) -> CapturePoint {
        CapturePoint {
            rekeys_per_gb,
            seconds_per_gb,
        }
    }

    #[test]
    fn a_stall_per_rekey_is_the_slope() {
        // 700 Mbit/s without rekeys, 0.5 s at each; lifetimes of 250 MB, 500 MB, 1 GB.
        let point = |lifetime: f64| {
            let bytes = 20e9;
            let rekeys = (bytes / lifetime) as usize;
            CapturePoint::new(bytes, bytes * 8.0 / 700e6 + 0.5 * rekeys as f64, rekeys).unwrap()
        };
        let c = line_through(&[point(250e6), point(500e6), point(1e9)]).unwrap();
        assert!((c.seconds_per_rekey - 0.5).abs() < 1e-9);
        assert!((c.without_rekeys_bps.unwrap() / 700e6 - 1.0).abs() < 1e-9);
        let (low, high) = c.low_s.zip(c.high_s).unwrap();
        assert!(low <= 0.5 + 1e-9 && high >= 0.5 - 1e-9 && high - low < 1e-6);
    }

    /// x = 1, 2, 3, 4 and y = 2, 4, 5, 4: slope 0.7, residual variance 2.3/2 (worked by hand), Sxx = 5.
    #[test]
    fn the_interval_of_a_known_sample() {
        let points = [(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0)].map(|(x, y)| synthetic_point(x, y));
        let c = line_through(&points).unwrap();
        assert!((c.seconds_per_rekey - 0.7).abs() < 1e-12);
        let half = 4.302_65 * (2.3_f64 / 2.0 / 5.0).sqrt();
        let (low, high) = c.low_s.zip(c.high_s).unwrap();
        assert!((high - 0.7 - half).abs() < 1e-3 && (0.7 - low - half).abs() < 1e-3);
    }

    #[test]
    fn two_captures_have_no_interval_and_equal_ones_no_slope() {
        let two = line_through(&[synthetic_point(4.0, 13.0), synthetic_point(1.0, 12.0)]).unwrap();
        assert_eq!((two.low_s, two.high_s, two.captures), (None, None, 2));
        assert!((two.seconds_per_rekey - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(
            line_through(&[synthetic_point(4.0, 13.0), synthetic_point(4.0, 12.0)]),
            None
        );
        assert_eq!(
            line_through(&[synthetic_point(0.0, 13.0), synthetic_point(0.0, 12.0)]),
            None
        );
        // A line through the origin leaves no time without rekeys.
        let nothing_left = line_through(&[synthetic_point(1.0, 1.0), synthetic_point(2.0, 2.0)]).unwrap();
        assert_eq!(nothing_left.without_rekeys_bps, None);
        assert_eq!(line_through(&[synthetic_point(4.0, 13.0)]), None);
        assert_eq!(line_through(&[]), None);
        assert_eq!(CapturePoint::new(0.0, 1.0, 1), None);
        assert_eq!(CapturePoint::new(1.0, f64::NAN, 1), None);
    }
}

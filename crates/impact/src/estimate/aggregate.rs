//! Mean over the used rekeys with its t-interval, and what could have been detected.

use rekeyscope_model::analysis::Interval;
use rekeyscope_model::sample::Sample;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewer used rekeys give no mean with an interval, only the list.
pub(crate) const LEAST_REKEYS: usize = 3;
/// Quantile of the ends of the 95 % interval. Its misses are 3.5 % at a W that is fixed in advance; the rest of the 5 % is left
/// for the choice of W (by *shown*, and by [`STEP_LEVEL`]), which favours those at which chance made the stalls long.
const END_QUANTILE: f64 = 0.9825;
/// Power of the minimum detectable stall.
const POWER: f64 = 0.8;
/// Level of the paired differences when moving on to a larger W, shared by all larger ones: each of them is a chance to move
/// where nothing grew, and none of these moves leaves the interval with the truth.
const STEP_LEVEL: f64 = 0.01;
/// Moving on to a larger W must add more than this, seconds …
const LEAST_STEP_S: f64 = 0.03;
/// … and more than this share of the stall so far.
const LEAST_STEP_SHARE: f64 = 0.1;
/// Volume-triggered rekeys fall in fast moments: measured, their stalls are shorter by about variance/1 s …
const BIAS_TIME_S: f64 = 1.0;
/// … and by no more than this in any cell of the calibration, seconds.
pub(crate) const MOST_BIAS_S: f64 = 0.025;

/// Quantile of Student's t with `freedom` degrees of freedom.
pub(crate) fn t_quantile(p: f64, freedom: usize) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1) as f64).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

/// Half the width of the interval of a mean at a t quantile.
fn half_width(sample: &Sample, quantile: f64) -> f64 {
    t_quantile(quantile, sample.n.saturating_sub(1)) * sample.error()
}

/// Mean stall at one W, bias taken off, with its 95 % interval, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeanStall {
    /// Mean.
    pub(crate) mean: f64,
    /// Lower end.
    pub(crate) low: f64,
    /// Upper end.
    pub(crate) high: f64,
    /// Standard error.
    pub(crate) error: f64,
    /// The mean stall of clean placebos that was subtracted.
    pub(crate) bias_s: Option<f64>,
}

impl MeanStall {
    /// `None` for fewer than [`LEAST_REKEYS`] rekeys.
    pub(crate) fn of(stalls: &[f64], bias_s: Option<f64>) -> Option<MeanStall> {
        if stalls.len() < LEAST_REKEYS {
            return None;
        }
        let sample = Sample::of(stalls);
        let mean = sample.mean - bias_s.unwrap_or(0.0);
        let half = half_width(&sample, END_QUANTILE);
        Some(MeanStall {
            mean,
            low: mean - half,
            high: mean + half,
            error: sample.error(),
            bias_s,
        })
    }

    /// The upper end reaches over the bias of volume-triggered rekeys, where it was not measured.
    pub(crate) fn allowing_for_bias(self, stalls: &[f64]) -> MeanStall {
        let most = if self.bias_s.is_none() {
            MOST_BIAS_S.min(Sample::of(stalls).sd.powi(2) / BIAS_TIME_S)
        } else {
            0.0
        };
        MeanStall {
            high: self.high + most,
            ..self
        }
    }

    /// For the document.
    pub(crate) fn interval_ms(&self) -> Interval {
        Interval {
            mean: self.mean * 1000.0,
            low: self.low * 1000.0,
            high: self.high * 1000.0,
        }
    }
}

/// Minimum detectable stall: (t_{0.9825, N−1} + t_{0.80, N−1})·SD/√N, seconds.
pub(crate) fn minimum_detectable(stalls: &[f64]) -> Option<f64> {
    (stalls.len() >= LEAST_REKEYS).then(|| {
        let sample = Sample::of(stalls);
        half_width(&sample, END_QUANTILE) + half_width(&sample, POWER)
    })
}

/// Whether the stalls at a larger W say that those at the smaller one were cut off: the paired differences have a lower
/// end above 0 and a mean above 30 ms and 10 % of the stall so far. `looks`: so many larger W are looked at.
pub(crate) fn still_growing(smaller: &[f64], larger: &[f64], stall_so_far: f64, looks: usize) -> bool {
    let differences: Vec<f64> = larger.iter().zip(smaller).map(|(l, s)| l - s).collect();
    if differences.len() < LEAST_REKEYS {
        return false;
    }
    let step = Sample::of(&differences);
    step.mean - half_width(&step, 1.0 - STEP_LEVEL / looks.max(1) as f64) > 0.0
        && step.mean > LEAST_STEP_S.max(LEAST_STEP_SHARE * stall_so_far)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles from the tables (NIST/SEMATECH e-Handbook §1.3.6.7.2).
    #[test]
    fn quantiles_of_the_tables() {
        for (p, freedom, expected) in [
            (0.975, 2, 4.303),
            (0.975, 4, 2.776),
            (0.99, 5, 3.365),
            (0.8, 10, 0.879),
            (0.975, 100, 1.984),
        ] {
            assert!(
                (t_quantile(p, freedom) - expected).abs() < 6e-4,
                "{p} {freedom}: {}",
                t_quantile(p, freedom)
            );
        }
    }

    #[test]
    fn interval_of_a_known_sample() {
        // 1, 2, 3: mean 2, sd 1, half width 5.2039/√3; with two degrees of freedom t_p = (2p − 1)/√(2p(1 − p)).
        let m = MeanStall::of(&[1.0, 2.0, 3.0], Some(-0.5)).unwrap();
        assert!((m.mean - 2.5).abs() < 1e-12 && (m.high - m.mean - 5.203_9 / 3.0_f64.sqrt()).abs() < 1e-3);
        assert_eq!(MeanStall::of(&[1.0, 2.0], None), None);
        assert!(
            (minimum_detectable(&[1.0, 2.0, 3.0]).unwrap() - (5.203_9 + 1.060_66) / 3.0_f64.sqrt()).abs()
                < 1e-3
        );
    }

    #[test]
    fn the_upper_end_allows_for_a_bias_that_was_not_measured() {
        let added = |stalls: &[f64], bias_s| {
            let mean = MeanStall::of(stalls, bias_s).unwrap();
            let wider = mean.allowing_for_bias(stalls);
            assert_eq!((wider.mean, wider.low), (mean.mean, mean.low));
            wider.high - mean.high
        };
        // Variances of 0.01 and 1 s².
        assert!((added(&[0.0, 0.1, 0.2], None) - 0.01).abs() < 1e-9);
        assert!((added(&[0.0, 1.0, 2.0], None) - MOST_BIAS_S).abs() < 1e-9);
        assert_eq!(added(&[0.0, 1.0, 2.0], Some(-0.01)), 0.0);
    }

    #[test]
    fn growth_must_be_sure_and_large() {
        let grows = |smaller: &[f64], larger: &[f64], so_far: f64| still_growing(smaller, larger, so_far, 1);
        assert!(grows(&[0.1; 4], &[0.20, 0.21, 0.19, 0.2], 0.1));
        assert!(!grows(&[0.1; 4], &[0.12, 0.121, 0.119, 0.12], 0.1), "20 ms");
        assert!(!grows(&[1.0; 4], &[1.05, 1.051, 1.049, 1.05], 1.0), "5 %");
        assert!(!grows(&[0.1; 4], &[0.5, 0.0, 0.4, -0.1], 0.1), "not sure");
        // Mean 0.15, error 0.0289: t = 5.196, between the quantiles 0.99 (4.541) and 0.9975 (7.453) of 3 degrees of freedom.
        let scattered = [0.2, 0.2, 0.1, 0.1].map(|s| 0.1 + s);
        assert!(grows(&[0.1; 4], &scattered, 0.1));
        assert!(!still_growing(&[0.1; 4], &scattered, 0.1, 4), "one of four looks");
    }
}

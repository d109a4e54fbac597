//! Mean and spread of a sample, the same for every estimator and rule.

/// Mean and standard deviation of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Values.
    pub n: usize,
    /// Mean; 0 of no values.
    pub mean: f64,
    /// Standard deviation, n − 1; 0 of fewer than two values.
    pub sd: f64,
}

impl Sample {
    /// Two passes: exact enough for any series.
    pub fn of(values: &[f64]) -> Sample {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n.max(1) as f64;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Sample {
            n,
            mean,
            sd: (squares / n.saturating_sub(1).max(1) as f64).sqrt(),
        }
    }

    /// Standard error of the mean.
    pub fn error(&self) -> f64 {
        self.sd / (self.n.max(1) as f64).sqrt()
    }

    /// Coefficient of variation: standard deviation over mean. `None` where the mean is not above 0.
    pub fn variation(&self) -> Option<f64> {
        (self.mean > 0.0).then(|| self.sd / self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_small_samples() {
        let three = Sample::of(&[2.0, 4.0, 6.0]);
        assert_eq!((three.n, three.mean, three.sd), (3, 4.0, 2.0));
        assert_eq!(three.variation(), Some(0.5));
        assert!((three.error() - 2.0 / 3f64.sqrt()).abs() < 1e-12);
        let one = Sample::of(&[7.0]);
        assert_eq!((one.mean, one.sd), (7.0, 0.0));
        let none = Sample::of(&[]);
        assert_eq!((none.mean, none.sd, none.variation()), (0.0, 0.0, None));
    }
}

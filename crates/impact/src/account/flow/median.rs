//! The median of times, in bounded memory.

/// Bits that are kept of a time: the middle of what falls together is at most 0.8 % off.
const KEPT_BITS: u32 = 7;
/// Steps of an octave.
const STEPS: usize = 1 << (KEPT_BITS - 1);

/// Times counted by their leading bits: 7 kB at most.
#[derive(Debug, Clone, Default)]
pub(super) struct Median {
    counts: Vec<u32>,
}

impl Median {
    /// Microseconds.
    pub(super) fn add(&mut self, us: u32) {
        let place = place(us);
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] = self.counts[place].saturating_add(1);
    }

    /// Milliseconds; `None` without any.
    pub(super) fn millis(&self) -> Option<f64> {
        let total: u64 = self.counts.iter().copied().map(u64::from).sum();
        let mut below = 0;
        let place = self.counts.iter().position(|&count| {
            below += u64::from(count);
            below > 0 && below * 2 >= total
        })?;
        Some(middle(place) as f64 / 1_000.0)
    }
}

/// Microseconds below 128 each have a place; above, 64 places make an octave.
fn place(us: u32) -> usize {
    let octave = (u32::BITS - us.leading_zeros()).saturating_sub(KEPT_BITS);
    octave as usize * STEPS + (us >> octave) as usize
}

/// The middle of what has this place, microseconds.
fn middle(place: usize) -> u64 {
    let octave = (place / STEPS).saturating_sub(1);
    let low = ((place - octave * STEPS) as u64) << octave;
    low + (1 << octave) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_near_the_middle_of_its_place() {
        for us in (0..40_000).chain([1_000_000, 77_777_777, u32::MAX]) {
            let off = middle(place(us)).abs_diff(u64::from(us)) as f64;
            assert!(off <= 0.008 * f64::from(us), "{us}: {off}");
        }
        assert!(place(u32::MAX) < 27 * STEPS);
    }

    #[test]
    fn the_median_is_the_middle_one() {
        let mut median = Median::default();
        assert_eq!(median.millis(), None);
        for ms in [90, 1, 20, 20, 500] {
            median.add(ms * 1_000);
        }
        let found = median.millis().unwrap();
        assert!((found - 20.0).abs() < 0.2, "{found}");
    }
}

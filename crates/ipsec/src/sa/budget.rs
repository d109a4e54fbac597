//! The evidence, in bits, that an encryption key needs before it is believed.
//!
//! A wrong key collects b bits with a probability of at most 2^−b ([`crate::sa::evidence`]). The more keys a capture is tried with,
//! the more one of them has to show: log2 of all trials made so far, and a margin above it. A key that is believed after n trials
//! is wrong with a probability of at most 2^−margin / n; summed over N trials that is (1 + ln N) · 2^−margin.

use rekeyscope_keylog::KeyRoad;

/// Bits above the trials where nothing but the packets speaks for a key: in 5,000,000 trials one wrong key in 6 · 10⁷ captures.
pub const MARGIN_BITS: f64 = 30.0;
/// Bits above the trials where a key stands in one record with the integrity key that the ICV proves, or was derived from secrets that
/// give that integrity key: the record is right already, and only a miscopied half is left to fear.
pub const MARGIN_BITS_IN_ONE_RECORD: f64 = 10.0;

/// The keys that a capture was tried with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Budget {
    trials: u64,
}

impl Budget {
    /// Counts trials of keys.
    pub fn spend(&mut self, trials: u64) {
        self.trials = self.trials.saturating_add(trials);
    }

    /// Trials so far.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Bits that a key has to show. `checked`: the ICV proves the integrity key that stands beside it.
    pub fn needed(&self, road: KeyRoad, checked: bool) -> f64 {
        let margin = match road {
            KeyRoad::Explicit | KeyRoad::Derived if checked => MARGIN_BITS_IN_ONE_RECORD,
            _ => MARGIN_BITS,
        };
        libm::log2(self.trials.max(1) as f64) + margin
    }
}

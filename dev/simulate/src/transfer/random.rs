//! Random numbers: the same seed gives the same.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// A number in [0, 1).
pub(super) fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number in [0, 1) that others name (SplitMix64).
pub(super) fn of_numbers(names: [u64; 3]) -> f64 {
    let mix = |state: u64, name: u64| {
        let mixed = (state ^ name).wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    (names.into_iter().fold(0, mix) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number between two.
pub(super) fn between(random: &mut ChaCha8Rng, (low, high): (f64, f64)) -> f64 {
    low + (high - low) * unit(random)
}

/// A standard normal number (Box and Muller).
pub(super) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - unit(random)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(random)).cos()
}

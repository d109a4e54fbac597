//! Random numbers: the same seed gives the same.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// A number in [0, 1).
pub(super) fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number between these.
pub(super) fn between(rng: &mut ChaCha8Rng, (low, high): (f64, f64)) -> f64 {
    low + (high - low) * unit(rng)
}

/// A standard normal number (Box and Muller).
pub(super) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - unit(rng)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(rng)).cos()
}

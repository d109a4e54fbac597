//! What a synthetic document looks like, and what its parts share.

use rekeyscope_model::analysis::{Direction, Key, KeyStatus};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;

/// What a synthetic document looks like.
pub struct Shape {
    /// Tunnels, each with its rekeys.
    pub tunnels: usize,
    /// Rekeys of each tunnel.
    pub rekeys: usize,
    /// Length of the capture.
    pub seconds: f64,
    /// Width of a bin of the series.
    pub bin_ms: f64,
    /// Every n-th rekey stalls; 0: none.
    pub hurt_every: usize,
    /// The packets are decrypted.
    pub keys: bool,
    /// There is a transfer.
    pub traffic: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            tunnels: 1,
            rekeys: 7,
            seconds: 30.0,
            bin_ms: 10.0,
            hurt_every: 3,
            keys: true,
            traffic: true,
        }
    }
}

/// 20 November 2026, 20:11:49 UTC.
pub(super) const START: Timestamp = Timestamp(1_795_205_509_000_000_000);

/// The rate between the stalls.
pub(super) const RATE_BPS: f64 = 8.85e6;

pub(super) fn at(seconds: f64) -> Timestamp {
    START.plus_seconds(seconds)
}

/// When rekey `k` starts, and how long its exchange and its stall take, seconds.
pub(super) fn moment(shape: &Shape, k: usize) -> (f64, f64, f64) {
    let start = shape.seconds * (k as f64 + 1.0) / (shape.rekeys as f64 + 1.0);
    let hurt = shape.hurt_every > 0 && k % shape.hurt_every == 1;
    let stall = if hurt { 0.12 + 0.09 * (k % 4) as f64 } else { 0.0 };
    (start, 0.043 + 0.004 * (k % 5) as f64, stall)
}

pub(super) fn key(known: bool, source: &str) -> Key {
    match known {
        true => Key {
            status: KeyStatus::Verified,
            source: Some(format!("{source} (explicit)")),
        },
        false => Key {
            status: KeyStatus::Missing,
            source: None,
        },
    }
}

/// The SPI of a generation: the same rule everywhere in here.
pub(super) fn spi(tunnel: usize, direction: Direction, generation: usize) -> Spi {
    let base = if direction == Direction::AToB {
        0xc010_0000u32
    } else {
        0xce20_0000
    };
    Spi(base + (tunnel as u32) * 0x10_00 + (generation as u32) * 7 + 1)
}

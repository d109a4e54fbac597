//! Synthetic throughput: even, with noise, and nothing while a rekey stalls.

use super::shape::{RATE_BPS, START, Shape, at, moment};
use rekeyscope_model::analysis::*;
use rekeyscope_model::time::NANOS_PER_MILLI;

/// A repeatable source of noise (xorshift64*).
pub(super) struct Noise(pub(super) u64);

impl Noise {
    /// Uniform in [0, 1).
    pub(super) fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Bytes per bin at [`RATE_BPS`] (acknowledgements in the other direction), nothing while a rekey stalls.
pub(super) fn series(shape: &Shape, tunnel: usize, direction: Direction, noise: &mut Noise) -> TunnelSeries {
    let bins = (shape.seconds * 1000.0 / shape.bin_ms) as usize;
    let per_bin = RATE_BPS / 8.0 * shape.bin_ms / 1000.0;
    let scale = if direction == Direction::BToA { 1.0 } else { 0.02 };
    let stalls: Vec<(f64, f64)> = (0..shape.rekeys)
        .map(|k| moment(shape, k))
        .map(|(s, g, d)| (s + g, s + g + d))
        .collect();
    let mut stall = stalls.iter().peekable();
    let inner: Vec<u64> = (0..bins)
        .map(|i| {
            let t = i as f64 * shape.bin_ms / 1000.0;
            while stall.next_if(|(_, end)| *end <= t).is_some() {}
            let busy = t > 1.0 && t < shape.seconds - 1.0 && stall.peek().is_none_or(|(from, _)| t < *from);
            if busy {
                (per_bin * scale * (0.75 + 0.5 * noise.next())) as u64
            } else {
                0
            }
        })
        .collect();
    let outer_bytes = inner.iter().map(|&b| b + b / 20).collect();
    TunnelSeries {
        tunnel,
        direction,
        start: at(0.0),
        highest: highest_rate(&inner, shape.bin_ms / 1000.0),
        inner_new_bytes: inner,
        outer_bytes,
    }
}

pub(super) fn around(rekey: &Rekey, noise: &mut Noise) -> RekeySeries {
    let switched = rekey.switched.b_to_a.unwrap_or(START);
    let started = rekey.started.unwrap_or(switched);
    let inner_new_bytes = (0..400)
        .map(|i| {
            let t = started.plus_nanos((i - 100) * 10 * NANOS_PER_MILLI);
            let stalled = t > started.plus_nanos(40 * NANOS_PER_MILLI) && t < switched;
            if stalled {
                0
            } else {
                (RATE_BPS / 800.0 * (0.75 + 0.5 * noise.next())) as u64
            }
        })
        .collect();
    RekeySeries {
        rekey: rekey.index,
        direction: Direction::BToA,
        start: started.plus_nanos(-1000 * NANOS_PER_MILLI),
        bin_ms: 10.0,
        inner_new_bytes,
    }
}

/// The highest mean rate over a second.
fn highest_rate(bytes: &[u64], bin_s: f64) -> Option<HighestRate> {
    let bins = ((1.0 / bin_s).round() as usize).clamp(1, bytes.len().max(1));
    let most = bytes
        .windows(bins)
        .map(|window| window.iter().sum::<u64>())
        .max()?;
    let seconds = bins as f64 * bin_s;
    (most > 0).then(|| HighestRate {
        bps: most as f64 * 8.0 / seconds,
        seconds,
    })
}

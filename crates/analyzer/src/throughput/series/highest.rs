//! The highest rate of a series.

use rekeyscope_model::analysis::HighestRate;

/// Rates are spoken of over this long, seconds.
const SMOOTHED_S: f64 = 1.0;

/// The highest mean rate over [`SMOOTHED_S`]; `None` where no bin holds anything.
pub(crate) fn highest_rate(bytes: &[u64], bin_s: f64) -> Option<HighestRate> {
    let bins = ((SMOOTHED_S / bin_s).round() as usize).clamp(1, bytes.len().max(1));
    let sum = |window: &[u64]| window.iter().fold(0u64, |sum, &b| sum.saturating_add(b));
    let highest = bytes.windows(bins).map(sum).max().filter(|&b| b > 0)?;
    let seconds = bins as f64 * bin_s;
    Some(HighestRate {
        bps: highest as f64 * 8.0 / seconds,
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_no_throughput() {
        // 10 ms bins of 12,500 bytes are 10 Mbit/s; one of them holds three times as much.
        let mut bytes = vec![12_500u64; 300];
        bytes[100] = 37_500;
        let close = |bytes: &[u64], bin_s, bps: f64, seconds: f64| {
            let highest = highest_rate(bytes, bin_s).unwrap();
            assert!((highest.bps - bps).abs() < 1.0, "{highest:?}");
            assert!((highest.seconds - seconds).abs() < 1e-9, "{highest:?}");
        };
        close(&bytes, 0.01, 10.2e6, 1.0);
        close(&bytes[..50], 0.01, 10.0e6, 0.5);
        close(&[1_000; 3], 5.0, 1_600.0, 5.0);
        assert_eq!(
            (highest_rate(&[], 0.01), highest_rate(&[0; 9], 0.01)),
            (None, None)
        );
    }
}

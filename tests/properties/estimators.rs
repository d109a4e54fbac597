//! The estimators: they know no unit of bytes.

use proptest::prelude::*;
use rekeyscope_impact::highest_rate;

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_highest_rate_is_of_the_series(bytes in prop::collection::vec(0_u64..1_000_000, 1..500), factor in 2_u64..1_000) {
        let bps = |bytes: &[u64]| highest_rate(bytes, 0.01).map_or(0.0, |h| h.bps);
        let (reversed, larger): (Vec<u64>, Vec<u64>) = bytes.iter().rev().map(|b| (*b, b * factor)).unzip();
        prop_assert_eq!(bps(&bytes), bps(&reversed));
        let times = bps(&larger) / bps(&bytes).max(1.0);
        prop_assert!(bps(&bytes) == 0.0 || (times - factor as f64).abs() < 1e-9 * factor as f64);
        let most = bytes.iter().max().copied().unwrap_or(0) as f64 * 8.0 / 0.01;
        prop_assert!(bps(&bytes) <= most + 1e-6);
    }
}

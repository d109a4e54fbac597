//! The estimators: they know no origin of time and no unit of bytes.

use proptest::prelude::*;
use rekeyscope_impact::{MethodSettings, judge};
use rekeyscope_model::analysis::{Direction, Impact};
use rekeyscope_simulate::{Scenario, Simulated, simulate};

fn scenario() -> impl Strategy<Value = Scenario> {
    (
        0.0..0.4_f64,
        2.0..8.0_f64,
        2_usize..8,
        0.0..0.6_f64,
        any::<bool>(),
    )
        .prop_map(|(sigma, interval_s, rekeys, stall_s, by_time)| Scenario {
            sigma,
            correlation_s: 1.0,
            interval_s,
            rekeys,
            pauses_per_s: 0.0,
            stall_s,
            every: 1,
            by_time,
        })
}

fn judged(run: &Simulated) -> Impact {
    let settings = MethodSettings {
        draws: 99,
        rekeys_total: run.rekeys.len(),
        ..MethodSettings::new(0, Direction::AToB)
    };
    judge(&run.traffic, &run.rekeys, &settings)
}

/// The stall of the mean rekey in milliseconds.
fn stall(of: &Impact) -> Option<f64> {
    of.stall_ms.as_ref().map(|stall| stall.mean)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn another_day_changes_nothing(scenario in scenario(), seed: u64, days in -20_000_i64..20_000) {
        let run = simulate(&scenario, seed);
        let mut moved = run.clone();
        moved.traffic.start = run.traffic.start.plus_nanos(days * 86_400_000_000_000);
        let (here, there) = (judged(&run), judged(&moved));
        prop_assert_eq!(&here.sentence, &there.sentence);
        prop_assert_eq!((here.verdict, stall(&here)), (there.verdict, stall(&there)));
    }

    /// The stall is a time: as long when every packet is as many times longer.
    #[test]
    fn larger_packets_stall_as_long(scenario in scenario(), seed: u64, factor in 2_u32..50) {
        let run = simulate(&scenario, seed);
        let mut larger = run.clone();
        larger.traffic.bytes.iter_mut().for_each(|bytes| *bytes *= factor);
        let (one, other) = (judged(&run), judged(&larger));
        prop_assert_eq!(one.verdict, other.verdict);
        match (stall(&one), stall(&other)) {
            (Some(one), Some(other)) => prop_assert!((one - other).abs() < 1e-6, "{one} {other}"),
            (one, other) => prop_assert_eq!(one, other),
        }
    }
}

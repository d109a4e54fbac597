//! What a rekey costs, seen from outside: **synthetic** captures with different lifetimes and a known stall at every rekey.

use crate::support::analyze_world;
use rekeyscope_impact::compare::{compare, row_of};
use rekeyscope_model::analysis::comparison::Slope;
use rekeyscope_testkit::scenario::World;

/// Milliseconds of data per SA: "lifetimes" at a steady rate.
const LIFETIMES: [u64; 5] = [2_000, 3_000, 4_000, 6_000, 12_000];
/// Milliseconds of data in every capture.
const TOTAL: u64 = 48_000;

/// At every rekey nothing is sent for `stall` ms. The rate is that of no two captures alike (ticks of 2.000 to 2.004 ms), as in life.
fn slope(stall: u64) -> Slope {
    let mut captures = Vec::new();
    for (k, lifetime) in LIFETIMES.into_iter().enumerate() {
        let mut w = World::new();
        w.tick += [1, 0, 2, 0, 1][k] * 2_000;
        for life in 0..TOTAL / lifetime {
            w.steady(lifetime);
            if (life + 1) * lifetime == TOTAL {
                break;
            }
            let mut rekey = w.begin_v2(true);
            w.message_v2(&mut rekey);
            w.message_v2(&mut rekey);
            w.switch_up_v2(&rekey);
            w.switch_down_v2(&rekey);
            w.wait(stall);
        }
        let analysis = analyze_world(w, true);
        assert_eq!(analysis.rekeys.len() as u64, TOTAL / lifetime - 1);
        captures.push(row_of(&format!("{lifetime}.pcap"), &analysis));
    }
    let comparison = compare(captures, Vec::new());
    comparison
        .slope
        .unwrap_or_else(|| panic!("{}", comparison.answer))
}

fn assert_contains(slope: &Slope, seconds: f64) {
    let (low, high) = (slope.low_s.unwrap(), slope.high_s.unwrap());
    assert!((low..=high).contains(&seconds), "{slope:?}");
}

#[test]
fn the_slope_is_the_planted_stall() {
    let found = slope(300);
    assert_contains(&found, 0.3);
    assert!((found.seconds_per_rekey - 0.3).abs() < 0.045, "{found:?}");
    assert!(
        found.low_s.unwrap() > 0.0,
        "five captures tell it from nothing: {found:?}"
    );
}

#[test]
fn without_a_stall_the_slope_is_nothing() {
    let found = slope(0);
    assert_contains(&found, 0.0);
    assert!(found.seconds_per_rekey.abs() < 0.045, "{found:?}");
}

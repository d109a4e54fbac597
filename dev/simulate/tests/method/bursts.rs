//! The verdicts on **simulated** traffic that comes in bursts.

use crate::{assessed, contains, settings};
use rekeyscope_model::analysis::Verdict;
use rekeyscope_simulate::{BurstScenario, PathChange, simulate, simulate_bursts};

/// A window of 64 kB per 80 ms without IKE: before, every rekey in it seemed to stall.
const SYNTHETIC: BurstScenario = BurstScenario {
    period_s: 0.08,
    jitter_s: 0.001,
    packets: 45,
    flows: 1,
    change: PathChange::Steady,
    locked: true,
    ike: false,
    rekeys: 8,
    stall_s: 0.0,
    every: 1,
};

#[test]
fn a_harmless_window_limited_flow_costs_nothing() {
    let run = simulate_bursts(&SYNTHETIC, 1);
    let result = assessed(&run, &settings());
    assert_eq!(
        result.impact.verdict,
        Verdict::Bounded,
        "{}",
        result.impact.sentence
    );
    let burst_ms = result.impact.burst_ms.unwrap();
    assert!((burst_ms - 80.0).abs() <= 1.0, "{burst_ms}");
    assert!(
        !result.impact.sensitivity.iter().any(|s| s.disagrees),
        "{:?}",
        result.impact.sensitivity
    );
}

#[test]
fn bursts_that_stand_still_cost_as_long() {
    let run = simulate_bursts(
        &BurstScenario {
            ike: true,
            stall_s: 0.2,
            ..SYNTHETIC
        },
        2,
    );
    let impact = assessed(&run, &settings()).impact;
    assert_eq!(impact.verdict, Verdict::Shown);
    let planted = run.stalls_s.iter().sum::<f64>() / run.stalls_s.len() as f64 * 1000.0;
    let stall = impact.stall_ms.unwrap();
    // One bin.
    assert!((stall.mean - planted).abs() <= 10.0, "{stall:?} {planted}");
}

#[test]
fn up_to_half_a_burst_period_is_not_shown_and_the_sentence_does_not_contradict_itself() {
    let run = simulate_bursts(
        &BurstScenario {
            ike: true,
            period_s: 0.25,
            stall_s: 0.1,
            ..SYNTHETIC
        },
        3,
    );
    let impact = assessed(&run, &settings()).impact;
    assert_eq!(impact.verdict, Verdict::Some);
    assert!(
        impact.stall_ms.as_ref().unwrap().low > 10.0,
        "{:?}",
        impact.stall_ms
    );
    contains(
        &impact.sentence,
        &[
            "whether rekeys in general cost time cannot be told from ",
            "An interval above 0 alone shows no average cost: its lower end must exceed 0.13 s",
        ],
    );
}

#[test]
fn even_traffic_is_left_as_it_is() {
    let run = simulate(&crate::SYNTHETIC, 2);
    assert_eq!(assessed(&run, &settings()).impact.burst_ms, None);
}

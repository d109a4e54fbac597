//! What the packets prove beside what the statistics say, on **simulated** series.

use crate::{SYNTHETIC, assessed, settings};
use rekeyscope_impact::{ProvenEffect, ProvenOutage};
use rekeyscope_model::analysis::ProofRule;
use rekeyscope_simulate::{Scenario, simulate};

/// An acquittal outweighs the statistics, a proof needs none, and of two rekeys that collide one stands for both.
#[test]
fn what_the_packets_say_goes_before_the_statistics() {
    let mut run = simulate(
        &Scenario {
            stall_s: 0.4,
            every: 2,
            ..SYNTHETIC
        },
        1,
    );
    let statistics = assessed(&run, &settings()).impact.rekeys_hurt;
    let (stalled, healthy): (Vec<usize>, Vec<usize>) = (0..10).partition(|k| run.stalls_s[*k] > 0.0);
    assert_eq!(statistics, stalled);
    run.rekeys[stalled[0]].proven = ProvenEffect::Acquitted;
    run.rekeys[stalled[1]].proven = ProvenEffect::Collided;
    run.rekeys[healthy[0]].proven = ProvenEffect::Outage(ProvenOutage {
        seconds: 0.1,
        rule: ProofRule::LostOnNew,
    });
    let result = assessed(&run, &settings());
    let mut expected: Vec<usize> = stalled[2..].iter().copied().chain([healthy[0]]).collect();
    expected.sort_unstable();
    assert_eq!(result.impact.rekeys_hurt, expected);
    assert_eq!(result.impact.rekeys_used, 9, "a pair is one event");
    let of = |index: usize| &result.rekeys.iter().find(|r| r.0 == index).unwrap().1;
    assert_eq!(of(stalled[1]).flags, ["collision"]);
    assert!(of(stalled[0]).q.unwrap() <= 0.05 && !of(stalled[0]).hurt);
}

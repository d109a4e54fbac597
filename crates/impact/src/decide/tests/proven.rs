//! What the packets prove beside what the statistics say, on **simulated** series.

use super::{SYNTHETIC, judge, settings};
use crate::decide::hurt::longest_own;
use crate::estimate::gap::OrderedGaps;
use crate::input::grid::tests::synthetic_series;
use crate::input::transfer::PlacedRekey;
use crate::simulate::{Scenario, simulate};
use crate::{Gap, ProvenEffect, ProvenOutage, Start};
use rekeyscope_model::analysis::ProofRule;

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
    let statistics = judge(&run, &settings()).impact.rekeys_hurt;
    let (stalled, healthy): (Vec<usize>, Vec<usize>) = (0..10).partition(|k| run.stalls_s[*k] > 0.0);
    assert_eq!(statistics, stalled);
    run.rekeys[stalled[0]].proven = ProvenEffect::Acquitted;
    run.rekeys[stalled[1]].proven = ProvenEffect::Collided;
    run.rekeys[healthy[0]].proven = ProvenEffect::Outage(ProvenOutage {
        seconds: 0.1,
        rule: ProofRule::LostOnNew,
    });
    let result = judge(&run, &settings());
    let mut expected: Vec<usize> = stalled[2..].iter().copied().chain([healthy[0]]).collect();
    expected.sort_unstable();
    assert_eq!(result.impact.rekeys_hurt, expected);
    assert_eq!(result.impact.rekeys_used, 9, "a pair is one event");
    let of = |index: usize| &result.rekeys.iter().find(|r| r.0 == index).unwrap().1;
    assert_eq!(of(stalled[1]).flags, ["collision"]);
    assert!(of(stalled[0]).q.unwrap() <= 0.05 && !of(stalled[0]).hurt);
}

/// A silence that touches two rekeys belongs to the one on whose SA it ends.
#[test]
fn one_silence_belongs_to_one_rekey() {
    let placed = |moment, started_s, switched_s| PlacedRekey {
        moment,
        started_s,
        switched_s,
        start: 0,
        switch: 0,
        used: true,
        idle: false,
        unobserved: false,
        known: Start::Message(started_s),
    };
    let both = [placed(0, 10.0, 10.4), placed(1, 10.1, 11.0)];
    let owners = |start_s, end_s| {
        let mut traffic = synthetic_series(vec![1]);
        traffic.gaps = vec![Gap { start_s, end_s }];
        both.map(|r| longest_own(&OrderedGaps::new(&traffic), &both, &r).is_some())
    };
    assert_eq!(owners(10.2, 10.7), [true, false], "on the first one's SA");
    assert_eq!(owners(10.2, 11.2), [false, true], "on the second one's");
    assert_eq!(owners(10.2, 10.3), [true, false], "on the old SA");
    assert_eq!(
        owners(11.3, 11.4),
        [false, true],
        "the first one does not reach as far"
    );
    assert_eq!(owners(20.0, 20.1), [false, false]);
}

//! What the packets prove beside what the statistics say, on **simulated** series.

use super::{SYNTHETIC, judge, settings};
use crate::decide::hurt::longest_own;
use crate::estimate::gap::{OrderedGaps, touches};
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

/// In a row of rekeys that overlap, what is passed over belongs to a neighbour: the longest silence of each is that of all that it owns,
/// one by one.
#[test]
fn what_is_passed_over_is_a_neighbours() {
    let mut at = 0.0;
    let mut traffic = synthetic_series(vec![1]);
    traffic.gaps = (0..3_000_u32)
        .map(|i| {
            let start_s = at;
            at += 0.001 + f64::from(i * 7_919 % 997) / 50_000.0;
            Gap { start_s, end_s: at }
        })
        .collect();
    let gaps = OrderedGaps::new(&traffic);
    // Every 50, 200, 700 ms and 1.5 s, exchanges of 0 to 0.8 s; some begin at once.
    for step in [0.05, 0.2, 0.7, 1.5] {
        let mut switched_s = 0.0_f64;
        let row: Vec<PlacedRekey> = (0..(20.0 / step) as u32)
            .map(|i| {
                let started_s = step * f64::from(i - i % 5 / 4);
                switched_s = (switched_s + 0.001).max(started_s + f64::from(i * 31 % 9) / 10.0);
                placed(i as usize, started_s, switched_s)
            })
            .collect();
        for (k, rekey) in row.iter().enumerate() {
            let neighbours = [k.checked_sub(1).map(|k| row[k]), row.get(k + 1).copied()];
            let claim = |r: &PlacedRekey, gap: &Gap| match r.switched_s <= gap.end_s {
                true => (true, r.switched_s),
                false => (false, -r.started_s),
            };
            let owns = |gap: &&Gap| {
                let mut rivals = neighbours.iter().flatten().filter(|n| touches(gap, n));
                touches(gap, rekey) && rivals.all(|rival| claim(rival, gap) <= claim(rekey, gap))
            };
            let longest = traffic.gaps.iter().filter(owns).map(Gap::length_s);
            let longest = longest.max_by(f64::total_cmp);
            assert_eq!(longest_own(&gaps, &row, rekey), longest, "{step} {k}");
        }
    }
}

fn placed(moment: usize, started_s: f64, switched_s: f64) -> PlacedRekey {
    PlacedRekey {
        moment,
        started_s,
        switched_s,
        start: 0,
        switch: 0,
        used: true,
        idle: false,
        unobserved: false,
        known: Start::Message(started_s),
    }
}

/// A silence that touches two rekeys belongs to the one on whose SA it ends.
#[test]
fn one_silence_belongs_to_one_rekey() {
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

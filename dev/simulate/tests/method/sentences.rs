//! The six verdicts in both languages.

use crate::SYNTHETIC;
use rekeyscope_impact::{MethodSettings, ProvenEffect, ProvenOutage, Start, Traffic, judge};
use rekeyscope_model::analysis::{Direction, Impact, ProofRule, Verdict};
use rekeyscope_model::text::{Catalogue, Language};
use rekeyscope_simulate::{BurstScenario, PathChange, Scenario, Simulated, simulate, simulate_bursts};
use rekeyscope_testkit::figures;

fn settings() -> MethodSettings {
    MethodSettings {
        draws: 499,
        rekeys_total: 10,
        reference_bps: Some(100e6),
        ..MethodSettings::new(0, Direction::BToA)
    }
}

fn judged(run: &Simulated, settings: &MethodSettings) -> Impact {
    judge(&run.traffic, &run.rekeys, settings)
}

/// Rekeys of a second tunnel are numbered from 1 like those of the first: no "rekeys 10 and 13 of 6".
#[test]
fn rekeys_are_numbered_within_their_tunnel() {
    let mut run = simulate(
        &Scenario {
            stall_s: 1.0,
            every: 3,
            ..SYNTHETIC
        },
        3,
    );
    let said = |run: &Simulated, own_rekeys| {
        judged(
            run,
            &MethodSettings {
                own_rekeys,
                ..settings()
            },
        )
    };
    let alone = said(&run, Vec::new());
    assert!(
        alone.sentence.contains("hurt (rekeys ") || alone.sentence.contains(": rekeys "),
        "{}",
        alone.sentence
    );
    run.rekeys.iter_mut().for_each(|r| r.index = 2 * r.index + 1);
    let second = said(&run, run.rekeys.iter().map(|r| r.index).collect());
    assert_eq!(second.sentence, alone.sentence);
    assert_ne!(
        second.rekeys_hurt, alone.rekeys_hurt,
        "the document keeps its indexes"
    );
}

/// **Synthetic** runs with their verdicts, and some with reservations.
fn impacts() -> Vec<(Verdict, Impact)> {
    let stalled = |stall_s, every| Scenario {
        stall_s,
        every,
        ..SYNTHETIC
    };
    let quiet = simulate(&SYNTHETIC, 2);
    let mut unseen = simulate(&stalled(0.4, 1), 1);
    for rekey in &mut unseen.rekeys {
        rekey.start = Start::Unseen {
            first_switch_s: rekey.switched_s,
        };
    }
    let in_bursts = simulate_bursts(
        &BurstScenario {
            period_s: 0.25,
            jitter_s: 0.001,
            packets: 45,
            flows: 1,
            change: PathChange::Steady,
            locked: true,
            ike: true,
            rekeys: 8,
            stall_s: 0.1,
            every: 1,
        },
        3,
    );
    let outer = MethodSettings {
        outer: true,
        ..settings()
    };
    let noisy = simulate(
        &Scenario {
            sigma: 0.6,
            rekeys: 4,
            interval_s: 4.0,
            ..SYNTHETIC
        },
        4,
    );
    let crowded = simulate(
        &Scenario {
            stall_s: 4.0,
            interval_s: 3.0,
            ..SYNTHETIC
        },
        5,
    );
    let proven = |mut run: Simulated, count: usize, rule| {
        let seconds = 0.35;
        for rekey in run.rekeys.iter_mut().take(count) {
            rekey.proven = ProvenEffect::Outage(ProvenOutage { seconds, rule });
        }
        run
    };
    let silent = Traffic {
        bytes: vec![0; 9000],
        gaps: Vec::new(),
        gaps_total: 0,
        holes: Vec::new(),
        ..quiet.traffic.clone()
    };
    let few = |rekeys| judge(&noisy.traffic, &noisy.rekeys[..rekeys], &settings());
    vec![
        (
            Verdict::Shown,
            judged(&simulate(&stalled(0.4, 1), 1), &settings()),
        ),
        (Verdict::Shown, judged(&unseen, &outer)),
        (Verdict::Shown, judged(&crowded, &settings())),
        (Verdict::Some, judged(&simulate(&stalled(0.3, 5), 3), &settings())),
        (Verdict::Bounded, judged(&quiet, &settings())),
        (
            Verdict::Shown,
            judged(
                &proven(simulate(&stalled(0.4, 1), 1), 10, ProofRule::LostOnOld),
                &settings(),
            ),
        ),
        (
            Verdict::Some,
            judged(
                &proven(simulate(&SYNTHETIC, 2), 1, ProofRule::NotSent),
                &settings(),
            ),
        ),
        (Verdict::Some, judged(&in_bursts, &settings())),
        (Verdict::Inconclusive, judged(&noisy, &settings())),
        (Verdict::Inconclusive, few(2)),
        (Verdict::NoTraffic, judge(&silent, &quiet.rekeys, &settings())),
        (
            Verdict::NoRekeys,
            judge(
                &quiet.traffic,
                &[],
                &MethodSettings {
                    rekeys_total: 0,
                    ..settings()
                },
            ),
        ),
    ]
}

#[test]
fn each_verdict_has_the_same_figures_in_japanese() {
    for (verdict, impact) in impacts() {
        assert_eq!(impact.verdict, verdict);
        let japanese = Catalogue::of(Language::Japanese);
        let said = japanese.sentence(&impact.sentence, &impact.messages);
        assert_ne!(said, impact.sentence, "not said in Japanese");
        assert!(said.ends_with("。"), "{said}");
        assert_eq!(
            figures(&said),
            figures(&impact.sentence),
            "{said}\n{}",
            impact.sentence
        );
        assert_eq!(
            Catalogue::of(Language::English).say_all(&impact.messages),
            impact.sentence
        );
    }
}

/// What the packets prove is a floor, said before the size with recovery.
#[test]
fn the_proven_floor_comes_first() {
    let all = impacts();
    for (n, says) in [
        (
            5,
            "Rekeys cost throughput: packets prove an outage at 10 of 10, of at least 0.35 s each (mean 0.35 s; what was sent \
             last on the old SA was lost); with recovery, each stalls",
        ),
        (
            6,
            "Single rekeys cost throughput: packets prove an outage at 1 of 10, of at least 0.35 s (mean 0.35 s; nothing was \
             sent); rekey 1 of 10 stalls",
        ),
    ] {
        let sentence = &all[n].1.sentence;
        assert!(sentence.starts_with(says), "{sentence}");
    }
}

#[test]
fn single_rekeys_that_began_before_their_windows_cost_at_least_this() {
    let mut run = simulate(
        &Scenario {
            stall_s: 0.3,
            every: 5,
            ..SYNTHETIC
        },
        3,
    );
    for rekey in &mut run.rekeys {
        rekey.start = Start::LaterMessage(rekey.start.latest_s(rekey.switched_s));
    }
    let impact = judged(&run, &settings());
    assert_eq!((impact.verdict, impact.at_least), (Verdict::Some, true));
    assert!(impact.sentence.contains("(mean at least "), "{}", impact.sentence);
    let japanese = Catalogue::of(Language::Japanese).say_all(&impact.messages);
    assert!(japanese.contains(" 以上、95 % 信頼区間"), "{japanese}");
}

#[test]
fn an_interval_stays_one_and_at_least_stays_a_bound() {
    let all = impacts();
    let said = |n: usize| {
        let (_, impact) = &all[n];
        Catalogue::of(Language::Japanese).say_all(&impact.messages)
    };
    assert!(
        said(0).contains("95 % 信頼区間") && !said(0).contains(" 以上"),
        "{}",
        said(0)
    );
    assert!(
        said(1).contains(" 以上停止") && said(1).contains("下限値"),
        "{}",
        said(1)
    );
    assert!(said(3).contains("リキー 1、6 で"), "{}", said(3));
    assert!(said(4).contains("損失があるとは言えません"), "{}", said(4));
}

/// Six seconds between rekeys, at about 10 Mbit/s.
#[test]
fn what_rekeys_would_have_to_waste_is_told() {
    let run = simulate(&SYNTHETIC, 2);
    let bound = |reference_bps| {
        let settings = MethodSettings {
            reference_bps,
            ..settings()
        };
        let impact = judged(&run, &settings);
        (impact.arithmetic_bound.clone(), impact.observed_bps.unwrap())
    };
    let (alone, observed) = bound(None);
    assert!(
        alone.starts_with("A rekey comes every 6.05 s (7.51 MB): 0.10 s of stall at each costs 1.7 %"),
        "{alone}"
    );
    assert!(
        alone.contains("stopped traffic for 3.03 s; measured: "),
        "half of that: {alone}"
    );
    // At twice the rate half of the time would be over.
    let (twice, _) = bound(Some(2.0 * observed));
    assert!(twice.contains("3.03 s") && !twice.contains("measured"), "{twice}");
    let (slower, _) = bound(Some(0.9 * observed));
    assert_eq!(slower, alone, "a reference that is reached");
}

//! The verdicts on **simulated** series.

use crate::{SYNTHETIC, assessed, contains, settings};
use rekeyscope_impact::{Gap, MethodSettings, ProvenEffect, RekeyMoment, Start, Traffic, assess};
use rekeyscope_model::analysis::Verdict;
use rekeyscope_model::time::Timestamp;
use rekeyscope_simulate::{Scenario, simulate};

#[test]
fn a_planted_stall_is_shown_with_its_size() {
    let run = simulate(
        &Scenario {
            stall_s: 0.4,
            ..SYNTHETIC
        },
        1,
    );
    let result = assessed(&run, &settings());
    assert_eq!(result.impact.verdict, Verdict::Shown);
    let window_s = result.impact.decision_window_s.unwrap();
    let share = result.impact.affected_share.unwrap();
    // Ten windows of so long, each behind an exchange, in a transfer of a minute.
    assert!(
        (10.0 * window_s / 66.0..0.6).contains(&share),
        "{share} of {window_s} s"
    );
    let stall = result.impact.stall_ms.unwrap();
    let planted = run.stalls_s.iter().sum::<f64>() / run.stalls_s.len() as f64 * 1000.0;
    assert!((stall.low..=stall.high).contains(&planted), "{stall:?} {planted}");
    contains(
        &result.impact.sentence,
        &[
            "Rekeys cost throughput",
            "stalls the download for",
            "95 % interval",
            "10 of 10 rekeys hurt (p = 0.0",
        ],
    );
    contains(
        &result.impact.arithmetic_bound,
        &["0.10 s of stall at each costs 1.", "; measured: 0."],
    );
    assert!(
        !result.impact.sensitivity.iter().any(|s| s.disagrees),
        "{:?}",
        result.impact.sensitivity
    );
}

#[test]
fn without_ike_and_keys_the_sentence_says_what_is_missing() {
    let mut run = simulate(
        &Scenario {
            stall_s: 0.4,
            ..SYNTHETIC
        },
        1,
    );
    for rekey in &mut run.rekeys {
        rekey.start = Start::Unseen {
            first_switch_s: rekey.switched_s,
        };
    }
    let result = assessed(
        &run,
        &MethodSettings {
            outer: true,
            ..settings()
        },
    );
    contains(
        &result.impact.sentence,
        &[
            "Counted are ESP bytes",
            "for at least 0.",
            "No IKE message of 10 of 10 rekeys was captured",
        ],
    );
    assert!(result.impact.at_least);
    assert!(
        result
            .rekeys
            .iter()
            .all(|(_, r)| r.flags.contains(&"no_exchange".to_owned()))
    );
}

#[test]
fn nothing_planted_is_bounded() {
    let result = assessed(&simulate(&SYNTHETIC, 2), &settings());
    assert_eq!(result.impact.verdict, Verdict::Bounded);
    contains(
        &result.impact.sentence,
        &[
            "No cost of rekeys is shown",
            "within 0.5 s of the switch",
            "(3 % of throughput)",
            "none of the 10 rekeys",
        ],
    );
}

#[test]
fn some_rekeys_are_named_from_one() {
    let result = assessed(
        &simulate(
            &Scenario {
                stall_s: 0.3,
                every: 5,
                ..SYNTHETIC
            },
            3,
        ),
        &settings(),
    );
    assert_eq!(
        (result.impact.verdict, &result.impact.rekeys_hurt[..]),
        (Verdict::Some, &[0, 5][..])
    );
    contains(
        &result.impact.sentence,
        &[
            "rekeys 1 and 6 of 10 stall the download",
            "longest time without new data 0.",
        ],
    );
}

#[test]
fn too_noisy_and_too_few_are_inconclusive() {
    let run = simulate(
        &Scenario {
            sigma: 0.6,
            rekeys: 4,
            interval_s: 4.0,
            ..SYNTHETIC
        },
        4,
    );
    let result = assessed(&run, &settings());
    assert_eq!(result.impact.verdict, Verdict::Inconclusive);
    contains(
        &result.impact.sentence,
        &[
            "Inconclusive",
            "would matter",
            "can show stalls from",
            "rekeys like these are needed",
        ],
    );
    let result = assess(
        &run.traffic,
        &run.rekeys[..2],
        &MethodSettings {
            rekeys_total: 2,
            ..settings()
        },
    );
    assert_eq!(result.impact.verdict, Verdict::Inconclusive);
    contains(
        &result.impact.sentence,
        &["only 2 rekeys lie within the transfer"],
    );
    assert!(result.impact.stall_ms.is_none() && result.impact.mde_ms.is_none());
}

#[test]
fn outages_longer_than_what_lies_between_are_mostly_affected() {
    let run = simulate(
        &Scenario {
            stall_s: 4.0,
            interval_s: 3.0,
            ..SYNTHETIC
        },
        5,
    );
    let result = assessed(&run, &settings());
    assert_eq!((result.impact.verdict, result.impact.p), (Verdict::Shown, None));
    contains(
        &result.impact.sentence,
        &["Rekeys take up most of the run", "p-value"],
    );
}

#[test]
fn without_rekeys_and_without_traffic() {
    let run = simulate(&SYNTHETIC, 6);
    let none = MethodSettings {
        rekeys_total: 0,
        ..settings()
    };
    let result = assess(&run.traffic, &[], &none);
    assert_eq!(result.impact.verdict, Verdict::NoRekeys);
    contains(&result.impact.sentence, &["No rekey in this capture", "Mbit/s"]);
    assert!(result.mean_rekey.is_none() && result.projection.is_empty());
    let silent = Traffic {
        bytes: vec![0; 9000],
        gaps: Vec::new(),
        gaps_total: 0,
        holes: Vec::new(),
        ..run.traffic.clone()
    };
    let result = assess(&silent, &run.rekeys, &settings());
    assert_eq!(result.impact.verdict, Verdict::NoTraffic);
    assert_eq!(result.rekeys.len(), run.rekeys.len());
    assert!(result.rekeys.iter().all(|(_, r)| !r.used) && result.impact.transfer.is_none());
    // Rekeys that all lie outside the transfer: there are some, but the capture cannot tell.
    let outside = [RekeyMoment {
        index: 0,
        start: Start::Message(0.1),
        switched_s: 0.2,
        proven: ProvenEffect::Nothing,
    }];
    let result = assess(
        &run.traffic,
        &outside,
        &MethodSettings {
            rekeys_total: 1,
            ..settings()
        },
    );
    assert_eq!(result.impact.verdict, Verdict::Inconclusive);
    contains(
        &result.impact.sentence,
        &["the one rekey does not lie within the transfer"],
    );
}

#[test]
fn attribution_and_projection_give_the_rate_back() {
    let even = Scenario {
        sigma: 0.0,
        stall_s: 0.4,
        ..SYNTHETIC
    };
    let run = simulate(&even, 7);
    let undisturbed_bps = 10e6;
    let result = assessed(
        &run,
        &MethodSettings {
            reference_bps: Some(undisturbed_bps),
            ..settings()
        },
    );
    // What lies between the switch and the window's end is exact to a bin of 10 ms per rekey of 6 s.
    let tolerance = 0.01 / 6.0;
    let counterfactual = result.impact.counterfactual_bps.unwrap();
    assert!(
        (counterfactual / undisturbed_bps - 1.0).abs() < tolerance,
        "{counterfactual}"
    );
    let explained = result.impact.explained_share.unwrap();
    assert!(
        (explained.estimate - 1.0).abs() < tolerance / (0.4 / 6.0),
        "{explained:?}"
    );
    contains(&result.impact.sentence, &["of the gap to 10.0 Mbit/s"]);
    // Long lifetimes approach the undisturbed rate; the present one gives the present rate.
    let present = result
        .impact
        .transfer
        .map(|t| t.bytes / t.rekeys as f64 / 1000.0)
        .unwrap() as u64;
    let lifetimes = MethodSettings {
        projected_kilobytes: vec![present, 10_000_000_000],
        ..settings()
    };
    let projected = assessed(&run, &lifetimes).projection;
    let observed = result.impact.observed_bps.unwrap();
    assert!((projected[0].expected_bps.estimate / observed - 1.0).abs() < 1e-4);
    assert!((projected[1].expected_bps.estimate / counterfactual - 1.0).abs() < 1e-4);
    assert!(projected[1].expected_bps.low <= projected[1].expected_bps.high);
}

#[test]
fn the_mean_rekey_dips_below_its_band() {
    let mean = assessed(
        &simulate(
            &Scenario {
                stall_s: 0.4,
                ..SYNTHETIC
            },
            8,
        ),
        &settings(),
    )
    .mean_rekey
    .unwrap();
    let n = mean.offset_ms.len();
    assert_eq!(
        [
            mean.rate_bps.len(),
            mean.placebo_low_bps.len(),
            mean.placebo_high_bps.len()
        ],
        [n; 3]
    );
    assert!(
        mean.offset_ms
            .windows(2)
            .all(|w| (w[1] - w[0] - 50.0).abs() < 1e-6)
    );
    let lowest = (0..n)
        .min_by(|&a, &b| mean.rate_bps[a].total_cmp(&mean.rate_bps[b]))
        .unwrap();
    assert!(
        (-1000.0..=0.0).contains(&mean.offset_ms[lowest]),
        "at {} ms",
        mean.offset_ms[lowest]
    );
    assert!(mean.rate_bps[lowest] < mean.placebo_low_bps[lowest]);
    assert!(
        mean.placebo_low_bps
            .iter()
            .zip(&mean.placebo_high_bps)
            .all(|(l, h)| l <= h)
    );
}

#[test]
fn the_same_seed_gives_the_same_document() {
    let run = simulate(
        &Scenario {
            stall_s: 0.1,
            ..SYNTHETIC
        },
        9,
    );
    let json =
        |seed| serde_json::to_string(&assessed(&run, &MethodSettings { seed, ..settings() }).impact).unwrap();
    assert_eq!(json(5), json(5));
    assert_ne!(json(5), json(6));
}

#[test]
fn hostile_input_does_not_panic() {
    let run = simulate(&SYNTHETIC, 10);
    let at = |started_s: Option<f64>, switched_s| RekeyMoment {
        index: usize::MAX - 1,
        start: started_s.map_or(
            Start::Unseen {
                first_switch_s: switched_s,
            },
            Start::Message,
        ),
        switched_s,
        proven: ProvenEffect::Nothing,
    };
    let moments = [
        at(None, f64::NAN),
        at(Some(f64::INFINITY), f64::NEG_INFINITY),
        at(Some(-1e18), 1e18),
        at(Some(1e300), -1e300),
        at(Some(20.0), 20.0),
        at(Some(20.0), 20.0),
        at(None, 0.0),
        at(Some(5.0), 50.0),
    ];
    let odd = MethodSettings {
        interest: f64::NAN,
        draws: 0,
        reference_bps: Some(f64::NAN),
        lifetime_bytes_per_new_byte: 0.0,
        projected_kilobytes: vec![0, u64::MAX],
        ..settings()
    };
    for base_bin_s in [0.005, 0.0, -1.0, f64::NAN, 1e9, 1e-12] {
        for bytes in [run.traffic.bytes.clone(), vec![], vec![u32::MAX; 700], vec![1]] {
            let gaps = vec![
                Gap {
                    start_s: f64::NAN,
                    end_s: 1.0,
                },
                Gap {
                    start_s: 5.0,
                    end_s: 2.0,
                },
                Gap {
                    start_s: -1e300,
                    end_s: 1e300,
                },
            ];
            let traffic = Traffic {
                base_bin_s,
                bytes,
                gaps,
                gaps_total: u64::MAX,
                holes: Vec::new(),
                start: Timestamp(i64::MIN),
            };
            for settings in [&odd, &settings()] {
                assert_eq!(assess(&traffic, &moments, settings).rekeys.len(), moments.len());
                assess(&traffic, &moments[4..6], settings);
            }
        }
    }
}

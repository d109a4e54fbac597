use super::*;
use crate::sa::association::Counters;

const INITIATOR: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

/// **Synthetic** counters of one SA.
fn sa(packets: u64, inner_bytes: u64, outer_bytes: u64) -> Option<Counters> {
    Some(Counters {
        packets,
        outer_bytes,
        esp_bytes: outer_bytes - 20 * packets,
        inner_bytes,
        opened: packets,
        ..Counters::default()
    })
}

fn seen(
    inbound: Option<Counters>,
    outbound: Option<Counters>,
    age_s: f64,
    kilobytes: Option<u64>,
) -> Observation {
    Observation {
        sides: [inbound, outbound],
        age_s: Some(age_s),
        limit_kilobytes: kilobytes,
        limit_seconds: None,
        late: false,
    }
}

fn rule(observations: &[Observation], kind: Kind) -> TriggerRule {
    infer((0, Some(INITIATOR)), observations, kind, true).rule
}

/// Five SAs with packets of different sizes, so that countings part. `fill` gives (packets, inner, outer) of the
/// inbound SA; the outbound SA varies by itself.
fn mixed(kilobytes: Option<u64>, fill: impl Fn(f64) -> (f64, f64, f64)) -> Vec<Observation> {
    let sizes = [400.0, 600.0, 900.0, 1200.0, 1300.0];
    let others = [90_000, 300_000, 150_000, 40_000, 200_000];
    let ages = [30.0, 55.0, 20.0, 80.0, 41.0];
    let all = sizes.iter().zip(others).zip(ages);
    all.map(|((&size, other), age)| {
        let (packets, inner, outer) = fill(size);
        let outbound = sa(other / 100, other, other + 60 * (other / 100));
        seen(
            sa(packets as u64, inner as u64, outer as u64),
            outbound,
            age,
            kilobytes,
        )
    })
    .collect()
}

/// Bytes of a packet beside its payload.
const AROUND: f64 = 62.0;

#[test]
fn decrypted_payload_of_one_sa_is_found() {
    let observations = mixed(Some(2_400), |size| (2e6 / size, 2e6, 2e6 + AROUND * 2e6 / size));
    let rule = rule(&observations, Kind::Volume);
    assert_eq!(
        rule.counting.as_deref(),
        Some("decrypted payload of the inbound SA")
    );
    assert_eq!(rule.not_told_apart, [] as [String; 0]);
    assert!((rule.fraction_low.unwrap() - 2.0 / 2.4).abs() < 1e-9);
    assert!(
        rule.sentence.starts_with(
            "192.0.2.2 renews at 83 % of 2,400 kB, counting decrypted payload of the inbound SA: a soft limit of about 2.00 MB"
        ),
        "{}",
        rule.sentence
    );
}

#[test]
fn outer_bytes_are_found() {
    let observations = mixed(Some(4_000), |size| {
        let packets = 3e6 / (size + AROUND);
        (packets, packets * size, 3e6)
    });
    let rule = rule(&observations, Kind::Volume);
    assert_eq!(
        rule.counting.as_deref(),
        Some("outer bytes of the inbound SA"),
        "{rule:?}"
    );
}

#[test]
fn both_directions_are_found() {
    let observations: Vec<Observation> = [0.3e6, 0.9e6, 0.5e6, 1.4e6, 1.1e6]
        .iter()
        .zip([400.0, 600.0, 900.0, 1200.0, 1300.0])
        .map(|(&up, size)| {
            let fill = |bytes: f64| {
                sa(
                    (bytes / size) as u64,
                    bytes as u64,
                    (bytes + AROUND * bytes / size) as u64,
                )
            };
            seen(fill(2e6 - up), fill(up), 20.0 + up / 1e5, Some(2_500))
        })
        .collect();
    let rule = rule(&observations, Kind::Volume);
    assert_eq!(
        rule.counting.as_deref(),
        Some("decrypted payload of both directions"),
        "{rule:?}"
    );
}

#[test]
fn packets_are_found_whatever_the_single_rekeys_say() {
    let observations = mixed(None, |size| (5_000.0, 5_000.0 * size, 5_000.0 * (size + AROUND)));
    for kind in [Kind::Unknown, Kind::Volume] {
        let rule = rule(&observations, kind);
        assert_eq!(rule.kind, Kind::Packets, "{rule:?}");
        assert_eq!(rule.counting.as_deref(), Some("packets of the inbound SA"));
        assert!(
            rule.sentence
                .contains("packets of the inbound SA (over 5 rekeys)"),
            "{}",
            rule.sentence
        );
    }
}

/// By chance the packets are the same every time, and the bytes vary by 1 %: a lag of 0.2 s in 20 s.
#[test]
fn bytes_go_before_packets_where_both_fit() {
    let sizes = [400, 402, 404, 401, 403];
    let ages = [30.0, 55.0, 20.0, 80.0, 41.0];
    let observation = |(size, age): (u64, f64)| {
        seen(
            sa(5_000, 5_000 * size, 5_000 * (size + 62)),
            None,
            age,
            Some(2_400),
        )
    };
    let observations: Vec<Observation> = sizes.into_iter().zip(ages).map(observation).collect();
    assert_eq!(rule(&observations, Kind::Volume).kind, Kind::Volume);
}

#[test]
fn a_constant_ratio_is_said_and_nothing_is_picked_falsely() {
    // One packet size, and nothing in the other direction: all countings of the SA are as steady.
    let observations: Vec<Observation> = [2_000_000, 2_020_000, 2_010_000, 2_030_000]
        .iter()
        .map(|&n: &u64| {
            seen(
                sa(n / 1_000, n, n + 62 * (n / 1_000)),
                None,
                n as f64 / 1e5,
                Some(2_400),
            )
        })
        .collect();
    let rule = rule(&observations, Kind::Volume);
    assert_eq!(
        rule.counting.as_deref(),
        Some("decrypted payload of the inbound SA")
    );
    assert_eq!(
        rule.not_told_apart,
        ["ESP bytes of the inbound SA", "outer bytes of the inbound SA"]
    );
    assert!(
        rule.sentence
            .contains("which of them it is the capture cannot tell"),
        "{}",
        rule.sentence
    );
    assert!(
        !rule.kilobyte_told && rule.sentence.contains("were it 1,024"),
        "{}",
        rule.sentence
    );
}

#[test]
fn an_even_rate_without_limits_stays_unknown() {
    let observations: Vec<Observation> = [1.00, 1.01, 0.99, 1.02]
        .iter()
        .map(|f: &f64| {
            let n = (2e6 * f) as u64;
            seen(sa(n / 1_000, n, n + 62 * (n / 1_000)), None, 16.0 * f, None)
        })
        .collect();
    let rule = rule(&observations, Kind::Unknown);
    assert_eq!((rule.kind, rule.counting), (Kind::Unknown, None));
    assert!(rule.sentence.contains("volume or time"), "{}", rule.sentence);
}

#[test]
fn kilobytes_of_1024_show_above_the_limit_or_at_a_known_fraction() {
    // 99 % of 2,000 × 1,024 is more than 2,000 × 1,000: no soft limit is above the hard one.
    let above = 0.99 * 2_000.0 * 1024.0;
    let observations = mixed(Some(2_000), |size| {
        (above / size, above, above + AROUND * above / size)
    });
    let found = rule(&observations, Kind::Volume);
    assert_eq!(
        (found.bytes_per_kilobyte, found.kilobyte_told),
        (Some(1024), true),
        "{found:?}"
    );
    // 75 % (Yamaha) of 250,000 kB, slowly filled, so that lags blur little.
    for kilobyte in [1000, 1024] {
        let n = 0.750_02 * 250_000.0 * f64::from(kilobyte);
        let mut slow = mixed(Some(250_000), |size| (n / size, n, n + AROUND * n / size));
        slow.iter_mut().for_each(|o| o.age_s = o.age_s.map(|a| 100.0 * a));
        let found = rule(&slow, Kind::Volume);
        assert_eq!(
            (found.bytes_per_kilobyte, found.kilobyte_told),
            (Some(kilobyte), true),
            "{found:?}"
        );
        assert!(
            found.sentence.contains("renews at 75 % of 250,000 kB"),
            "{}",
            found.sentence
        );
    }
}

#[test]
fn a_limit_decides_before_consistency() {
    // The outbound SA is perfectly steady, but at 2 % of the limit it cannot be what runs out.
    let mut observations = mixed(Some(2_400), |size| {
        (2e6 / size, 2e6 + size * 20.0, 2e6 + AROUND * 2e6 / size)
    });
    observations
        .iter_mut()
        .for_each(|o| o.sides[1] = sa(500, 50_000, 80_000));
    let rule = rule(&observations, Kind::Volume);
    assert_eq!(
        rule.counting.as_deref(),
        Some("decrypted payload of the inbound SA"),
        "{rule:?}"
    );
}

#[test]
fn a_limit_that_nothing_comes_near_rules_nothing_out() {
    let observations = mixed(Some(1_000_000), |size| {
        (2e6 / size, 2e6, 2e6 + AROUND * 2e6 / size)
    });
    let rule = rule(&observations, Kind::Volume);
    assert_eq!(
        rule.counting.as_deref(),
        Some("decrypted payload of the inbound SA")
    );
    assert!(
        rule.sentence.contains("far below the limit of 1,000,000 kB"),
        "{}",
        rule.sentence
    );
}

#[test]
fn one_rekey_or_none_makes_no_test() {
    let one = mixed(Some(2_400), |size| (2e6 / size, 2e6, 2e6 + AROUND * 2e6 / size));
    let found = rule(&one[..1], Kind::Volume);
    assert!(
        !found.not_told_apart.is_empty() && found.sentence.contains("One rekey cannot tell"),
        "{found:?}"
    );
    assert!(found.candidates.iter().all(|c| c.spread.is_none()));
    let two = rule(&one[..2], Kind::Volume);
    assert!(two.sentence.contains("2 rekeys cannot tell"), "{two:?}");
    let none = rule(&[Observation::default()], Kind::Volume);
    assert!(none.sentence.contains("its rule is unknown"), "{none:?}");
}

/// A steady SA that is filled faster each time: (bytes, age).
fn faster() -> Vec<Observation> {
    let filled = [(2.0e6, 40.0), (2.01e6, 20.0), (2.02e6, 10.0)];
    let sizes = [400.0, 900.0, 1300.0];
    let all = filled.into_iter().zip(sizes);
    all.map(|((bytes, age), size)| {
        let counted = sa(
            (bytes / size) as u64,
            bytes as u64,
            (bytes + AROUND * bytes / size) as u64,
        );
        seen(counted, None, age, Some(2_500))
    })
    .collect()
}

/// The peer stops counting a lag before its message; the least of these is the limit.
#[test]
fn the_soft_limit_lies_a_lag_below_the_least() {
    let found = rule(&faster(), Kind::Volume);
    let soft = 2.0e6 * (1.0 - LEAST_LAG_S / 40.0);
    let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9 * expected;
    assert!(near(found.soft_limit, soft), "{found:?}");
    assert!(near(found.soft_fraction, soft / 2.5e6), "{found:?}");
    assert!(near(found.fraction_low, 0.8), "{found:?}");
    assert!(near(found.fraction_high, 0.808), "{found:?}");
    // Without ages there is no lag to take off.
    let mut ageless = faster();
    for (observation, age_s) in ageless.iter_mut().zip([None, Some(0.0), None]) {
        observation.age_s = age_s;
    }
    assert!(near(rule(&ageless, Kind::Volume).soft_limit, 2.0e6));
    // Of an age the lag is all of what is taken off.
    let mut aged = faster();
    for (observation, age) in aged.iter_mut().zip([8.0, 8.2, 8.1]) {
        (observation.age_s, observation.limit_seconds) = (Some(age), Some(10));
    }
    let found = rule(&aged, Kind::Time);
    assert!(near(found.soft_limit, 8.0 - LEAST_LAG_S), "{found:?}");
    assert!(
        near(found.fraction_low, 0.8) && near(found.fraction_high, 0.82),
        "{found:?}"
    );
    assert_eq!(found.bytes_per_kilobyte, None, "no kilobyte is counted");
}

#[test]
fn what_each_rekey_had_reached_is_told_where_the_counting_is_sure() {
    let reached = |observations: &[Observation]| {
        infer((0, None), observations, Kind::Volume, true)
            .reached
            .iter()
            .map(|r| r.map(|r| (r.bytes, r.fraction)))
            .collect::<Vec<_>>()
    };
    let mut all = faster();
    let told = [(2_000_000, 0.8), (2_010_000, 0.804), (2_020_000, 0.808)];
    assert_eq!(reached(&all), told.map(|(bytes, of)| Some((bytes, Some(of)))));
    assert_eq!(reached(&all[..2]), [None; 2], "two rekeys tell nothing apart");
    // The first message of a further one is missing: it tells nothing, and changes nothing.
    all.push(Observation { late: true, ..all[2] });
    assert_eq!(reached(&all)[2..], [Some((2_020_000, Some(0.808))), None]);
    all.iter_mut().for_each(|o| o.limit_kilobytes = Some(0));
    assert_eq!(reached(&all)[0], Some((2_000_000, None)));
    all.iter_mut().for_each(|o| o.late = true);
    assert_eq!(reached(&all), [None; 4], "all are late: at most");
    let rule = rule(&all, Kind::Volume);
    assert_eq!((rule.at_most, rule.rekeys), (true, 4));
    let packets = mixed(None, |size| (5_000.0, 5_000.0 * size, 5_000.0 * (size + AROUND)));
    assert_eq!(reached(&packets), [None; 5], "packets are no bytes");
}

#[test]
fn the_bytes_of_a_kilobyte_show_where_the_lag_blurs_little() {
    let limit = 1_000_000;
    // 0.75 and 0.80 are soft limits that are known; 0.768 is 0.75 of the larger kilobyte.
    for (share, blur, expected) in [
        (0.75, 0.0, (1000, true)),
        (0.753, 0.003, (1000, true)),
        (0.753, 0.002, (1000, false)),
        (0.747, 0.004, (1000, false)),
        (0.754, 0.0049, (1000, true)),
        (0.754, 0.006, (1000, false)),
        (0.768, 0.001, (1024, true)),
        (0.768, 0.006, (1000, false)),
        // Either: 0.95 and 0.9277.
        (0.95, 0.03, (1000, false)),
        (0.60, 0.001, (1000, false)),
        (1.009, 0.0, (1000, false)),
        (1.011, 0.0, (1024, true)),
    ] {
        // A hair above: no rounding decides.
        let low = share * 1e9 + 1.0;
        assert_eq!(
            kilobyte(low, blur * 1e9 + 2.0, Some(limit)),
            expected,
            "{share} {blur}"
        );
        assert_eq!(kilobyte(low, blur * 1e9, None), (1000, false));
        assert_eq!(kilobyte(low, blur * 1e9, Some(0)), (1000, false));
    }
}

/// Both SAs vary alike, and so do their sum and their packets.
#[test]
fn of_what_is_alike_one_sa_is_named_and_the_busier() {
    for busier in [0, 1] {
        let observations: Vec<Observation> = [1.00, 1.02, 1.01, 1.03]
            .iter()
            .map(|f: &f64| {
                let fill = |bytes: f64| {
                    let n = (bytes * f) as u64;
                    sa(n / 1_000, n, n + 62 * (n / 1_000))
                };
                let mut sides = [fill(5e5), fill(5e5)];
                sides[busier] = fill(2e6);
                seen(sides[0], sides[1], 16.0 * f, None)
            })
            .collect();
        let found = rule(&observations, Kind::Volume);
        let names = [
            "decrypted payload of the inbound SA",
            "decrypted payload of the outbound SA",
        ];
        assert_eq!(found.counting.as_deref(), Some(names[busier]));
        assert!(
            found.not_told_apart.contains(&names[1 - busier].to_owned()),
            "{found:?}"
        );
        assert!(
            !found.not_told_apart.contains(&names[busier].to_owned()),
            "{found:?}"
        );
        assert!(
            found
                .not_told_apart
                .contains(&"decrypted payload of both directions".to_owned())
        );
        assert_eq!(
            found.not_told_apart.len(),
            8,
            "three countings of two SAs and of both"
        );
    }
}

/// Packets are the steady ones of three rekeys, not of two, and only where nothing else can be: neither a volume that a lag
/// explains nor the age.
#[test]
fn packets_run_out_only_where_nothing_else_can_be() {
    let varied = mixed(None, |size| (5_000.0, 5_000.0 * size, 5_000.0 * (size + AROUND)));
    let runs_out = |observations: &[Observation]| packets_run_out(&countings(observations), observations);
    assert!(runs_out(&varied));
    assert!(runs_out(&varied[..3]) && !runs_out(&varied[..2]) && !runs_out(&[]));
    let mut aged = varied.clone();
    aged.iter_mut().for_each(|o| o.age_s = Some(30.0));
    assert!(!runs_out(&aged), "the age is as steady");
    // Ages that are unknown explain no lag, and are no other counting.
    for unknown in [None, Some(0.0)] {
        aged.iter_mut().for_each(|o| o.age_s = unknown);
        assert!(runs_out(&aged));
    }
    // So short that the lag explains all of what the volume varies by: half a second of it.
    for (observation, age) in aged.iter_mut().zip([0.1, 0.3, 0.2, 0.05, 0.4]) {
        observation.age_s = Some(age);
    }
    assert!(!runs_out(&aged));
    aged.iter_mut()
        .for_each(|o| o.age_s = o.age_s.map(|a| 1_000.0 * a));
    assert!(runs_out(&aged));
}

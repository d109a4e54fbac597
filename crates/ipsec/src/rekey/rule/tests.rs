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
fn one_rekey_or_none_makes_no_test() {
    let one = mixed(Some(2_400), |size| (2e6 / size, 2e6, 2e6 + AROUND * 2e6 / size));
    let found = rule(&one[..1], Kind::Volume);
    assert!(
        !found.not_told_apart.is_empty() && found.sentence.contains("One rekey cannot tell"),
        "{found:?}"
    );
    let none = rule(&[Observation::default()], Kind::Volume);
    assert!(none.sentence.contains("its rule is unknown"), "{none:?}");
}

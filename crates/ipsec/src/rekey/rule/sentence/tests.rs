use super::{Message, TriggerRule, bytes, rule, whole};
use crate::rekey::rule::Kind;
use rekeyscope_model::analysis::TriggerCandidate;
use rekeyscope_model::text::Said;

/// A rule over four rekeys, with nothing to say of its limits.
fn of(kind: Kind) -> TriggerRule {
    TriggerRule {
        tunnel: 0,
        initiator: Some(std::net::IpAddr::from([192, 0, 2, 2])),
        kind,
        sentence: String::new(),
        messages: Vec::new(),
        rekeys: 4,
        at_most: false,
        counting: None,
        not_told_apart: Vec::new(),
        limit_kilobytes: None,
        limit_seconds: None,
        bytes_per_kilobyte: None,
        kilobyte_told: false,
        fraction_low: None,
        fraction_high: None,
        soft_limit: Some(2e6),
        soft_fraction: None,
        candidates: Vec::new(),
    }
}

/// At four fifths of 2,500 kB, seen somewhat fuller.
fn limited() -> TriggerRule {
    TriggerRule {
        limit_kilobytes: Some(2_500),
        soft_fraction: Some(0.8),
        fraction_low: Some(0.81),
        fraction_high: Some(0.83),
        ..of(Kind::Volume)
    }
}

fn counting(what: &'static str) -> Message {
    Message::new("rule-counting")
        .with("what", what)
        .with("side", "inbound")
}

fn said(of: &TriggerRule, alike: Vec<Message>) -> String {
    Said::of(rule(of, Some(counting("inner")), alike)).sentence
}

fn says(of: &TriggerRule, parts: &[&str]) {
    let sentence = said(of, Vec::new());
    for part in parts {
        assert!(sentence.contains(part), "{part:?} is not in {sentence:?}");
    }
}

#[test]
fn a_volume_is_told_with_its_share_of_the_limit() {
    says(
        &limited(),
        &[
            "192.0.2.2 renews at 80 % of 2,500 kB, counting decrypted payload of the inbound SA",
            "a soft limit of about 2.00 MB, seen 81 to 83 % full at the first message of 4 rekeys",
            // 0.8 × 1000 / 1024
            "A kilobyte is taken as 1,000 bytes; were it 1,024, the fraction would be 78 %.",
        ],
    );
    let narrow = TriggerRule {
        fraction_high: Some(0.812),
        ..limited()
    };
    says(&narrow, &["seen 81 % full"]);
    for (bytes_per_kilobyte, expected) in [(1000, "is 1,000 bytes here"), (1024, "is 1,024 bytes here")] {
        let told = TriggerRule {
            kilobyte_told: true,
            bytes_per_kilobyte: Some(bytes_per_kilobyte),
            ..limited()
        };
        says(&told, &[expected]);
    }
}

#[test]
fn a_volume_far_below_its_limit_is_told_as_that() {
    for (soft_fraction, far) in [(0.05, false), (0.0499, true)] {
        let low = TriggerRule {
            soft_fraction: Some(soft_fraction),
            ..limited()
        };
        let sentence = said(&low, Vec::new());
        assert_eq!(sentence.contains("far below the limit of 2,500 kB"), far);
        assert_eq!(sentence.contains("renews at 5 % of 2,500 kB"), !far);
    }
    says(
        &of(Kind::Volume),
        &["at about 2.00 MB", "no limit in kilobytes could be read"],
    );
    let uncounted = Said::of(rule(&limited(), None, Vec::new())).sentence;
    assert!(
        uncounted.contains("in a counting that the capture does not show"),
        "{uncounted}"
    );
}

#[test]
fn an_age_is_told_with_its_share_of_the_limit() {
    let aged = |limit_seconds, soft_fraction| TriggerRule {
        limit_seconds,
        soft_fraction,
        soft_limit: Some(54.04),
        ..of(Kind::Time)
    };
    says(
        &aged(Some(3_600), Some(0.05)),
        &["renews when the SAs are 54.0 s old, 5 % of 3,600 s (over 4 rekeys)"],
    );
    says(
        &aged(Some(3_600), Some(0.0499)),
        &["54.0 s old (over 4 rekeys), long before the limit of 3,600 s"],
    );
    says(&aged(None, None), &["no limit in seconds could be read"]);
}

#[test]
fn where_no_first_message_was_captured_it_is_that_or_less() {
    let late = |kind| TriggerRule {
        at_most: true,
        ..of(kind)
    };
    says(&late(Kind::Volume), &["renews at 2.00 MB or less"]);
    says(&late(Kind::Time), &["2000000.0 s old or younger"]);
}

#[test]
fn packets_and_what_is_no_limit() {
    says(
        &of(Kind::Packets),
        &["renews after 2,000,000 decrypted payload of the inbound SA (over 4 rekeys)"],
    );
    says(&of(Kind::Collision), &["192.0.2.2 renews by collision."]);
    let nobody = TriggerRule {
        initiator: None,
        rekeys: 0,
        ..of(Kind::Volume)
    };
    says(
        &nobody,
        &[
            "One side (which one is not captured) renews, but no SA that ends here was captured from its start",
        ],
    );
}

#[test]
fn an_unknown_limit_is_told_with_the_ranges_of_volume_and_age() {
    let candidate = |name: &str, low: f64, high: f64| TriggerCandidate {
        counting: name.to_owned(),
        low,
        high,
        spread: None,
        fraction_1000: None,
        fraction_1024: None,
    };
    let mut unknown = of(Kind::Unknown);
    let without = "neither varies clearly less than the other.";
    says(&unknown, &[without]);
    unknown
        .candidates
        .push(candidate("ESP bytes of the inbound SA", 3e6, 5e6));
    says(&unknown, &[without]);
    unknown.candidates.push(candidate("age", 10.0, 20.0));
    says(&unknown, &["(3.00 MB to 5.00 MB and 10.0 to 20.0 s)"]);
    unknown
        .candidates
        .push(candidate("decrypted payload of the inbound SA", 2e6, 4e6));
    says(&unknown, &["(2.00 MB to 4.00 MB and 10.0 to 20.0 s)"]);
}

#[test]
fn four_countings_that_are_alike_are_named_and_the_rest_counted() {
    let alike = |names: usize| vec![counting("esp"); names];
    assert!(!said(&limited(), alike(0)).contains("the usual one"));
    let four = said(&limited(), alike(4));
    assert_eq!(four.matches("ESP bytes of the inbound SA").count(), 4, "{four}");
    assert!(four.contains("the capture cannot tell") && !four.contains(" more vary"));
    let six = said(&limited(), alike(6));
    assert_eq!(six.matches("ESP bytes of the inbound SA").count(), 4, "{six}");
    assert!(six.contains("2 more vary"), "{six}");
    let few = TriggerRule {
        rekeys: 2,
        ..limited()
    };
    assert!(
        said(&few, alike(2)).contains(
            "2 rekeys cannot tell this counting from others (ESP bytes of the inbound SA, ESP bytes of the inbound SA)."
        ),
        "{}",
        said(&few, alike(2))
    );
    assert!(!said(&few, Vec::new()).contains("cannot tell"));
}

#[test]
fn numbers_have_the_unit_that_keeps_them_short() {
    for (n, expected) in [
        (999.0, "999 B"),
        (1e3, "1.0 kB"),
        (999.9e3, "999.9 kB"),
        (1e6, "1.00 MB"),
        (999.9e6, "999.90 MB"),
        (1e9, "1.00 GB"),
        (2.5e9, "2.50 GB"),
    ] {
        assert_eq!(bytes(n), expected);
    }
    assert_eq!(whole(4_999.6), "5,000");
}

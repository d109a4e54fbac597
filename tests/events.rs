//! Events of captures that were made from public reports, with keys and without: what happened is known.

use crate::support::{analyses, analyze, keyless};
use rekeyscope_model::analysis::{Analysis, Event, EventKind};
use rekeyscope_model::text::Language;
use rekeyscope_report::formats::text::{TextOptions, render};
use rekeyscope_testkit::lab;
use std::net::IpAddr;
use std::path::PathBuf;

/// The analysis of a report, with the keys beside it or without; `None` where it is not here.
fn report(name: &str, with_keys: bool) -> Option<Analysis> {
    let folder = lab::report(name)?;
    let keys = ["keylog", "esp_sa"].map(|kind| folder.join(format!("{name}.{kind}")));
    let keys: Vec<PathBuf> = keys.into_iter().filter(|k| with_keys && k.exists()).collect();
    Some(analyze(&folder.join(format!("{name}.pcap")), &keys))
}

/// Kind, seconds since the first frame to a tenth, and who did it.
fn told(analysis: &Analysis, kinds: &[EventKind]) -> Vec<(EventKind, f64, String)> {
    let first = analysis.capture.first_time.unwrap();
    let told = analysis.events.iter().filter(|e| kinds.contains(&e.kind));
    let describe = |e: &Event| {
        let second = (e.time.seconds_since(first) * 10.0).round() / 10.0;
        (
            e.kind,
            second,
            e.by.map(|by: IpAddr| by.to_string()).unwrap_or_default(),
        )
    };
    told.map(describe).collect()
}

fn expect(name: &str, kinds: &[EventKind], expected: &[(EventKind, f64, &str)]) {
    for with_keys in [true, false] {
        let Some(analysis) = report(name, with_keys) else {
            return;
        };
        let told = told(&analysis, kinds);
        let told: Vec<_> = told
            .iter()
            .map(|(kind, second, by)| (*kind, *second, by.as_str()))
            .collect();
        assert_eq!(told, expected, "{name}, keys: {with_keys}");
    }
}

const DELETES: [EventKind; 3] = [
    EventKind::IkeSaDeleted,
    EventKind::ChildDeleted,
    EventKind::Deleted,
];

#[test]
fn the_gateway_deletes_the_ike_sa_and_nothing_follows() {
    expect(
        "server_expires",
        &DELETES,
        &[(EventKind::IkeSaDeleted, 11.0, "10.9.0.1")],
    );
    for with_keys in [true, false] {
        let Some(analysis) = report("server_expires", with_keys) else {
            return;
        };
        let deleted = analysis
            .events
            .iter()
            .find(|e| e.kind == EventKind::IkeSaDeleted)
            .unwrap();
        assert_eq!(deleted.successor, Some(false));
    }
}

#[test]
fn one_child_of_two_is_refused() {
    let refused = [
        (EventKind::Refused, 11.7, "10.9.0.1"),
        (EventKind::Refused, 22.8, "10.9.0.1"),
    ];
    expect("two_children", &[EventKind::Refused], &refused);
    for with_keys in [true, false] {
        let Some(analysis) = report("two_children", with_keys) else {
            return;
        };
        let bare = analysis
            .events
            .iter()
            .filter(|e| e.successor == Some(false) && DELETES.contains(&e.kind));
        let first = analysis.capture.first_time.unwrap();
        let at: Vec<f64> = bare.map(|e| e.time.seconds_since(first).round()).collect();
        assert_eq!(at, [23.0], "the SA that was never replaced");
    }
}

#[test]
fn an_ike_sa_that_is_renewed_breaks_nothing() {
    let renewed = [
        (EventKind::IkeSaRekeyed, 11.4, "10.9.0.2"),
        (EventKind::IkeSaDeleted, 11.5, "10.9.0.2"),
    ];
    expect(
        "ike_then_child",
        &[EventKind::IkeSaRekeyed, EventKind::IkeSaDeleted],
        &renewed,
    );
    for with_keys in [true, false] {
        let Some(analysis) = report("ike_then_child", with_keys) else {
            return;
        };
        let mut deletes = analysis.events.iter().filter(|e| DELETES.contains(&e.kind));
        assert!(
            deletes.all(|e| e.successor == Some(true)),
            "{:?}",
            analysis.events
        );
    }
}

#[test]
fn a_peer_that_lost_its_sas_says_so_and_is_asked_in_vain() {
    let kinds = [
        EventKind::InvalidSpi,
        EventKind::ChecksUnanswered,
        EventKind::NewIkeSa,
    ];
    let expected = [
        (EventKind::InvalidSpi, 27.9, "203.0.113.9"),
        (EventKind::ChecksUnanswered, 39.8, "203.0.113.9"),
        (EventKind::NewIkeSa, 64.8, "198.51.100.7"),
    ];
    expect("invalid_spi", &kinds, &expected);
    let Some(analysis) = report("invalid_spi", false) else {
        return;
    };
    let count = |kind| {
        analysis
            .events
            .iter()
            .find(|e| e.kind == kind)
            .and_then(|e| e.count)
    };
    assert_eq!(count(EventKind::InvalidSpi), Some(9));
    assert_eq!(count(EventKind::ChecksUnanswered), Some(5));
}

#[test]
fn a_client_that_fell_silent_is_asked_by_ppp_and_left() {
    let Some(analysis) = report("l2tp_hour", true) else {
        return;
    };
    let kinds = [EventKind::EchoUnanswered, EventKind::StopCcn, EventKind::Deleted];
    let told = told(&analysis, &kinds);
    let told: Vec<_> = told
        .iter()
        .map(|(kind, second, by)| (*kind, *second, by.as_str()))
        .collect();
    let expected = [
        (EventKind::EchoUnanswered, 23.0, "198.51.100.7"),
        (EventKind::StopCcn, 83.0, "203.0.113.9"),
        (EventKind::Deleted, 84.2, "203.0.113.9"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn nothing_is_told_that_did_not_happen() {
    let trouble = |e: &&Event| {
        let ordinary = [EventKind::NewIkeSa, EventKind::InitialContact];
        let replaced = DELETES.contains(&e.kind) && e.successor == Some(true);
        !ordinary.contains(&e.kind) && !replaced
    };
    for (name, with_keys) in [
        ("mtu_sender", true),
        ("mtu_sender", false),
        ("replay", true),
        ("replay", false),
    ] {
        let Some(analysis) = report(name, with_keys) else {
            return;
        };
        let told: Vec<&Event> = analysis.events.iter().filter(trouble).collect();
        assert!(told.is_empty(), "{name}, keys: {with_keys}: {told:?}");
    }
}

/// The lab's fault is in its name; whatever else is named is a defect. (What is called unanswered there is answered in the end.)
#[test]
fn the_lab_shows_the_fault_that_was_made_and_no_other() {
    let faults = [
        EventKind::Refused,
        EventKind::Unanswered,
        EventKind::ChecksUnanswered,
        EventKind::InvalidSpi,
        EventKind::AnsweredLate,
        EventKind::AnswerLost,
        EventKind::FirstNumber,
        EventKind::FragmentsIncomplete,
        EventKind::Collision,
    ];
    for (lab, analysis) in analyses().iter().chain(keyless()) {
        let all = analysis.events.iter().map(|e| e.kind);
        let mut kinds: Vec<EventKind> = all.filter(|k| faults.contains(k)).collect();
        kinds.dedup();
        let expected: &[EventKind] = match lab.name.as_str() {
            "fail_refused_ikev2_down" => &[EventKind::Refused],
            "fail_unanswered_down" | "acct_mixed_down" => &[EventKind::AnsweredLate],
            "l2tp_qm3drop_down" => &[EventKind::AnswerLost],
            _ => &[],
        };
        assert_eq!(kinds, expected, "{}", lab.name);
    }
}

/// Line 1 of every report that is known to have been told wrongly once, with keys and without: the begin of it.
#[test]
fn the_first_line_says_what_happened() {
    let lines: &[(&str, &str, &str)] = &[
        (
            "ike_then_child",
            "The only rekey measured did not slow",
            "The only rekey measured did not stop this download for more",
        ),
        (
            "mobike",
            "The gateway deleted the IKE SA at 10.96 s: nothing since",
            "The gateway probably deleted the IKE SA at 10.96 s: nothing since",
        ),
        (
            "server_expires",
            "The gateway deleted the IKE SA at 10.96 s: nothing since",
            "The gateway probably deleted the IKE SA at 10.96 s: nothing since",
        ),
        (
            "replay",
            "The only rekey measured did not slow",
            "The only rekey measured did not stop this download for more",
        ),
        (
            "two_children",
            "The gateway refused the renewal: 10.66.1.2 down since 22.58 s",
            "The gateway refused a renewal: SA 0x30337eaf ended at 22.71 s without",
        ),
        (
            "tiny_lifebytes",
            "14 of 14 rekeys stopped this download",
            "8 of 14 rekeys stopped this download",
        ),
        (
            "l2tp_hour",
            "The client fell silent at 19.88 s: nothing since",
            "198.51.100.7 fell silent at 19.88 s: nothing since",
        ),
        (
            "invalid_spi",
            "The gateway lost an SA at 19.86 s: nothing passed for 63.7 s.",
            "The gateway lost an SA at 19.86 s: nothing passed for 63.7 s.",
        ),
        (
            "mtu_sender",
            "Large packets probably stopped passing at 19.81 s: none since (36.1 s).",
            "Data has probably not arrived since 19.93 s (36.0 s)",
        ),
    ];
    for (name, keyed, keyless) in lines {
        for (with_keys, expected) in [(true, keyed), (false, keyless)] {
            let Some(analysis) = report(name, with_keys) else {
                return;
            };
            let options = TextOptions {
                width: 80,
                color: false,
                language: Language::English,
            };
            let text = render(&analysis, options);
            assert!(text.starts_with(expected), "{name}, keys: {with_keys}: {text}");
        }
    }
}

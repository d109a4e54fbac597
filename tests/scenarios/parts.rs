//! Captures that hold only a part of what happened: IKE alone, ESP alone, one way, an end that comes too soon, packets in no order.

use super::steps::{BEFORE, GENEROUS};
use crate::support::{analyze_with, analyze_world};
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::{Analysis, ExplanationCause};
use rekeyscope_report::words::answer_lines;
use rekeyscope_testkit::scenario::World;

fn without_keys(w: World) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    w.write(folder.path(), false);
    analyze_with(&folder.path().join("trace.pcap"), KeyMaterial::default())
}

fn headline(analysis: &Analysis) -> String {
    answer_lines(analysis).headline
}

fn with_or_without_keys(w: World, with_keys: bool) -> Analysis {
    if with_keys {
        analyze_world(w, true)
    } else {
        without_keys(w)
    }
}

/// ```text
/// client ◀══▶ server  phase 1, a Quick Mode, and three that renew; no ESP
/// ```
#[test]
fn renewals_count_where_no_esp_was_captured() {
    for with_keys in [true, false] {
        let mut w = World::new();
        w.download = false;
        w.main_mode();
        for _ in 0..4 {
            let mut qm = w.begin(true);
            for _ in 0..3 {
                w.message(&mut qm);
                w.wait(20);
            }
            w.wait(4_000);
        }
        let analysis = with_or_without_keys(w, with_keys);
        assert_eq!(
            headline(&analysis),
            "IKE but no ESP packets: what 3 rekeys cost is not in it."
        );
    }
}

/// ```text
/// client ◀══▶ server  a new IKE SA in place of the old one, and two renewals of the child; no ESP
/// ```
#[test]
fn renewals_of_ikev2_are_as_many_without_keys() {
    for with_keys in [true, false] {
        let mut w = World::new();
        w.download = false;
        w.renew_ike_sa_v2();
        for _ in 0..2 {
            let mut rekey = w.begin_v2(true);
            w.message_v2(&mut rekey);
            w.wait(20);
            w.message_v2(&mut rekey);
            w.wait(4_000);
        }
        let analysis = with_or_without_keys(w, with_keys);
        assert_eq!(
            headline(&analysis),
            "IKE but no ESP packets: what 2 rekeys cost is not in it.",
            "{with_keys}"
        );
    }
}

/// ```text
///        ◀═ data; 40 segments of it are lost, nothing for 950 ms
///        ◀═ on the next SA, of which no IKE message was captured; three times
/// ```
#[test]
fn an_sa_that_ends_before_the_next_one_begins_is_an_outage_without_ike() {
    let mut w = World::new();
    w.establish(GENEROUS);
    for _ in 0..3 {
        w.steady(4_000);
        w.acknowledge_all();
        let first = w.seq;
        for _ in 0..40 {
            w.lost_segment();
            w.step(w.tick);
        }
        w.wait(950);
        let qm = w.begin(true);
        w.switch_up(&qm);
        w.switch_down(&qm);
        for k in 0..40 {
            w.resend(first + k * rekeyscope_testkit::scenario::SEGMENT as u32);
            w.step(w.tick);
        }
        w.deliver();
    }
    w.steady(4_000);
    let analysis = analyze_world(w, true);
    assert_eq!((analysis.rekeys.len(), analysis.outages.len()), (3, 3));
    for outage in &analysis.outages {
        assert!((outage.seconds - 1.0).abs() < 0.1, "{outage:?}");
        let cause = outage.explanation.as_ref().map(|explanation| explanation.cause);
        assert_eq!(cause, Some(ExplanationCause::LimitReached));
    }
    let line = headline(&analysis);
    assert!(line.starts_with("3 of 3 rekeys stopped this download"), "{line}");
}

/// ```text
/// client ── request ──▶ server, refused; data goes on
/// client ── Delete ───▶ server; the capture ends
/// ```
#[test]
fn an_sa_ended_after_its_renewal_had_been_refused() {
    let mut w = World::new();
    w.establish(GENEROUS);
    w.steady(BEFORE);
    let mut qm = w.begin(true);
    w.message(&mut qm);
    w.wait(20);
    w.refuse(&qm, 14, true);
    w.steady(1_500);
    w.delete(w.down.spi);
    w.wait(30);
    let analysis = analyze_world(w, true);
    assert_eq!(
        headline(&analysis),
        "The gateway refused a renewal: the SA ended at 13.55 s without a successor."
    );
}

/// ```text
/// client ═▶ server    acknowledgements; the data that they acknowledge was not captured
/// ```
#[test]
fn of_a_capture_of_one_way_the_other_way_is_asked_for() {
    let mut w = World::new();
    for _ in 0..4_000 {
        w.blind = true;
        w.segment();
        w.blind = false;
        w.step(w.tick);
    }
    let lines = answer_lines(&analyze_world(w, true));
    assert!(lines.why.contains("what came back is not seen"), "{lines:?}");
    assert_eq!(
        lines.change,
        "Do: capture where the packets of both directions pass."
    );
}

#[test]
fn a_file_written_backwards_is_to_be_sorted() {
    let mut w = World::new();
    w.backwards = true;
    w.establish(GENEROUS);
    w.steady(BEFORE);
    let lines = answer_lines(&analyze_world(w, true));
    assert!(lines.headline.contains("not in the order of time"), "{lines:?}");
    assert!(lines.change.contains("reordercap"), "{lines:?}");
}

/// ```text
///        ◀═ data, all acknowledged; a second of nothing
/// client ── two messages that no key opens; a minute of nothing
/// client ◀══▶ server  a new IKE SA, and data
/// ```
#[test]
fn whoever_says_good_bye_and_comes_back_was_not_gone() {
    let mut w = World::new();
    w.main_mode();
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(1_000);
    let (down, up) = (w.down.spi, w.up.spi);
    w.delete(down);
    w.delete(up);
    w.wait(60_000);
    w.main_mode();
    w.establish(GENEROUS);
    w.steady(BEFORE);
    let analysis = without_keys(w);
    assert_eq!(analysis.outages, []);
    let line = headline(&analysis);
    assert!(
        !line.contains("lost its SAs") && !line.contains("silent"),
        "{line}"
    );
}

//! Two child SAs of one tunnel, each with a download of its own.

use crate::scenarios::steps::{AFTER, GENEROUS, exchange, lose_until_timeout, resend_lost, switch};
use crate::support::analyze_world;
use rekeyscope_model::analysis::{Analysis, Direction, Verdict};
use rekeyscope_model::text::Language;
use rekeyscope_report::formats::text::{TextOptions, render};
use rekeyscope_testkit::scenario::{QuickMode, World};

/// Time between two rekeys of a child, milliseconds.
const BETWEEN: u64 = 7_000;
/// Time for which nothing arrives at a rekey that hurts, milliseconds.
const STALL: u64 = 900;

/// Renews a child SA three times; `hurts`: what was sent just before the switch is lost.
fn child(w: &mut World, first: u64, hurts: bool) {
    w.establish(GENEROUS);
    w.steady(first);
    for _ in 0..3 {
        w.steady(BETWEEN);
        let mut qm: QuickMode = w.begin(true);
        exchange(w, &mut qm);
        if hurts {
            lose_until_timeout(w, 3, STALL);
            w.switch_up(&qm);
            w.switch_down(&qm);
            resend_lost(w, 3);
        } else {
            switch(w, &qm);
        }
    }
    w.steady(AFTER);
    w.acknowledge_all();
    w.wait(100);
}

/// The other child carries more, and renews at other times.
fn two_children(hurts: bool) -> Analysis {
    let mut lan = World::new();
    child(&mut lan, 0, false);
    let mut dmz = World::new();
    dmz.inner_client = [10, 66, 1, 9];
    dmz.tick *= 4;
    dmz.name_pair(0xd100_0000, 0xa100_0000);
    dmz.begin_ike_sa(7);
    child(&mut dmz, 3_000, hurts);
    lan.beside(dmz);
    analyze_world(lan, true)
}

#[test]
fn the_child_that_suffers_is_judged_on_its_own() {
    let analysis = two_children(true);
    assert_eq!((analysis.tunnels.len(), analysis.rekeys.len()), (1, 6));
    let impact = &analysis.impact[0];
    assert_eq!(
        (impact.direction, impact.verdict),
        (Direction::BToA, Verdict::Shown)
    );
    assert_eq!((impact.rekeys_hurt.len(), impact.rekeys), (3, 3));
    let ledger = analysis.ledger_of(0, Direction::BToA).unwrap();
    assert_eq!(
        ledger.inner.map(|ends| ends.1.to_string()).as_deref(),
        Some("10.66.1.9")
    );
    let planted = 3.0 * STALL as f64 / 1_000.0;
    assert!(
        (ledger.cost_seconds - planted).abs() < 0.1 * planted,
        "{}",
        ledger.cost_seconds
    );
    let text = render(
        &analysis,
        TextOptions {
            width: 80,
            color: false,
            language: Language::English,
        },
    );
    assert!(
        text.starts_with("10.66.1.9: 3 of 3 rekeys stopped this download for"),
        "{text}"
    );
    let account = &analysis.account[0];
    assert!(
        (account.seconds - ledger.seconds).abs() < 0.01,
        "{} {}",
        account.seconds,
        ledger.seconds
    );
}

#[test]
fn children_that_suffer_nothing_are_judged_together() {
    let analysis = two_children(false);
    assert_eq!(analysis.impact[0].verdict, Verdict::Bounded);
    assert_eq!(analysis.impact[0].rekeys, 6);
    assert_eq!(analysis.ledger_of(0, Direction::BToA).unwrap().inner, None);
}

//! The sender had no SA to send on, or had used up the one it had.

use super::{assert_owned, owned, played, silent_at};
use crate::scenarios::steps::{AFTER, BEFORE, GENEROUS, begin, exchange, rekey_in_silence, resend_lost};
use rekeyscope_model::analysis::{AttemptOutcome, Direction, ExplanationCause, LedgerWhy};
use rekeyscope_testkit::scenario::{SEGMENT, World};

/// ```text
/// client ◀══▶ server  three messages
///         5 segments are dropped by the server's own stack: they use up no ESP number; 400 ms of nothing
///        ◀═ the sixth on the new SA, then the 5
/// ```
fn dropped_by_the_sender(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.acknowledge_all();
    let skipped = w.seq;
    w.seq += 5 * SEGMENT as u32;
    w.wait(400);
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.lost_segment();
    for k in 0..5 {
        w.resend(skipped + k * SEGMENT as u32);
    }
    w.deliver();
    w.steady(AFTER);
}

#[test]
fn the_senders_own_stack_dropped_it() {
    let analysis = played(dropped_by_the_sender);
    let found = owned(&analysis).expect("it owns nothing");
    assert_eq!((found.why, found.swallowed), (LedgerWhy::Silence, 0));
    assert!(found.silence_ms >= 400.0, "{found:?}");
}

/// ```text
/// client ── Delete ──▶ server       (or not: `deletes`)
///         one segment is dropped by the server's own stack
/// client ◀══▶ server  three messages
///        ◀═ the second on the new SA, then the first
/// ```
fn one_dropped(w: &mut World, deletes: bool) {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(40);
    if deletes {
        w.delete(w.down.spi);
    }
    let skipped = w.seq;
    w.seq += SEGMENT as u32;
    w.wait(100);
    rekey_in_silence(w);
    w.lost_segment();
    w.resend(skipped);
    w.deliver();
    w.steady(AFTER);
}

#[test]
fn the_old_sa_was_deleted_first() {
    let analysis = played(|w| one_dropped(w, true));
    let found = owned(&analysis).expect("it owns nothing");
    assert_eq!((found.why, found.swallowed), (LedgerWhy::Silence, 0));
    assert!((200.0..260.0).contains(&found.silence_ms), "{found:?}");
}

/// ```text
///        ◀═ data; 30 segments of it are lost in front of the capture, and the sender counts them against its limit
/// client ── Delete ──▶ server, 5 s of nothing
/// client ◀══▶ server  three messages, and data
/// ```
fn used_up_by_its_sender(w: &mut World) {
    w.establish(6_000);
    while w.carried()[0].inner + 1_300 < 6_000_000 {
        w.blind = (3_000_000..3_036_000).contains(&w.carried()[0].inner);
        w.steady(2);
    }
    w.acknowledge_all();
    w.wait(40);
    w.delete(w.down.spi);
    w.wait(5_000);
    rekey_in_silence(w);
    w.steady(AFTER);
}

/// The SA passes its limit at the sender only, and nobody asks: no break before make; and the outage, longer than the window of a
/// rekey, is proven.
#[test]
fn the_limit_was_reached_by_what_the_capture_lacks() {
    let analysis = played(used_up_by_its_sender);
    let outcomes: Vec<AttemptOutcome> = analysis.attempts.iter().map(|a| a.outcome).collect();
    let expected = [AttemptOutcome::Completed, AttemptOutcome::Completed];
    assert_eq!(outcomes, expected);
    let ledger = analysis.ledger_of(0, Direction::BToA).unwrap();
    let [down] = &ledger.down[..] else {
        panic!("{ledger:?}")
    };
    assert!((5.08..5.16).contains(&down.cost_seconds), "{down:?}");
}

/// The client loses its inbound SA early in its life: no limit, another SA went further.
#[test]
fn an_sa_that_others_outlived_reached_no_limit() {
    let analysis = played(|w| {
        w.steady(BEFORE);
        w.renew_v2(true);
        w.steady(3_000);
        w.go_deaf(100);
        w.repeat_oldest(&[200, 400, 800, 1_600]);
        w.wait(500);
        let mut rekey = w.begin_v2(true);
        w.message_v2(&mut rekey);
        w.wait(20);
        w.message_v2(&mut rekey);
        w.switch_up_v2(&rekey);
        w.switch_down_v2(&rekey);
        resend_lost(w, 100);
        w.steady(AFTER);
    });
    let of_rekeys = analysis.rekeys.iter().flat_map(|r| &r.impact);
    assert!(
        of_rekeys
            .into_iter()
            .all(|i| i.cause != Some(ExplanationCause::LimitReached))
    );
    let mut causes = analysis.outages.iter().filter_map(|o| o.explanation.as_ref());
    assert!(causes.all(|e| e.cause != ExplanationCause::LimitReached));
    assert_eq!(analysis.outages.len(), 1, "{:?}", analysis.outages);
}

#[test]
fn the_limit_was_reached() {
    assert_owned(&played(|w| silent_at(w, 7_900)), LedgerWhy::Silence, 500.0, 0);
}

//! Segments were sent on an SA that their receiver did not have, and were sent again on the new one.

use super::{assert_owned, played};
use crate::scenarios::steps::{AFTER, begin, exchange, resend_lost};
use rekeyscope_model::analysis::LedgerWhy;
use rekeyscope_testkit::scenario::World;

/// ```text
/// client ── first message ──▶ server
///        ◀═ 100 segments on the old SA, which is dead, then 340 ms of nothing
///        ◀═ the same 100 on the new SA
/// ```
fn lost_on_old(w: &mut World) {
    let mut qm = begin(w);
    w.message(&mut qm);
    w.steady(30);
    w.go_deaf(100);
    w.message(&mut qm);
    w.wait(20);
    w.message(&mut qm);
    w.wait(320);
    w.switch_down(&qm);
    w.switch_up(&qm);
    resend_lost(w, 100);
    w.steady(AFTER);
}

#[test]
fn the_old_sa_was_dead() {
    assert_owned(&played(lost_on_old), LedgerWhy::LostOnOld, 540.0, 100);
}

/// ```text
/// client ◀══▶ server  three messages
///        ◀═ 8 segments on the new SA, which the client lacks, then 300 ms of nothing
///        ◀═ the same 8
/// ```
fn lost_on_new(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.switch_down(&qm);
    w.go_deaf(8);
    w.wait(300);
    w.switch_up(&qm);
    resend_lost(w, 8);
    w.steady(AFTER);
}

#[test]
fn the_receiver_was_not_ready() {
    assert_owned(&played(lost_on_new), LedgerWhy::LostOnNew, 316.0, 8);
}

/// Chance may lose one or two segments, but nothing lies before this silence that a timer could wait for.
#[test]
fn a_timeout_that_began_at_the_switch_is_the_rekeys() {
    let two = |w: &mut World| {
        let mut qm = begin(w);
        exchange(w, &mut qm);
        w.switch_down(&qm);
        w.go_deaf(2);
        w.wait(300);
        w.switch_up(&qm);
        resend_lost(w, 2);
        w.steady(AFTER);
    };
    assert_owned(&played(two), LedgerWhy::LostOnNew, 304.0, 2);
}

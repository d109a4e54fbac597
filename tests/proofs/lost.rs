//! Rule A: segments were sent on an SA that their receiver did not have, and were sent again on the new one.

use super::{assert_proof, played, proof};
use crate::scenarios::steps::{AFTER, begin, exchange, resend_lost};
use rekeyscope_model::analysis::ProofRule;
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
fn rule_a_the_old_sa_was_dead() {
    assert_proof(&played(lost_on_old), ProofRule::LostOnOld, 540.0, 100);
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
fn rule_a_the_receiver_was_not_ready() {
    assert_proof(&played(lost_on_new), ProofRule::LostOnNew, 316.0, 8);
}

/// Two segments in a row are no proof: random loss takes them.
#[test]
fn rule_a_asks_for_three_segments() {
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
    assert_eq!(proof(&played(two)), None);
}

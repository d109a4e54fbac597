//! What goes wrong between the old SAs and the new ones.

use super::steps::{AFTER, BEFORE, begin, exchange, lose_until_timeout, resend_lost};
use rekeyscope_testkit::scenario::World;

/// The client deletes the old SA while the server still sends on it.
pub(crate) fn old_sa_deleted_early(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.steady(20);
    w.switch_up(&qm);
    let old = w.down.spi;
    w.delete(old);
    lose_until_timeout(w, 10, 300);
    w.switch_down(&qm);
    resend_lost(w, 10);
    w.steady(AFTER);
}

/// The server stays on the old SA for 1.5 s; a burst that is lost meanwhile makes the rekey hurt.
pub(crate) fn asymmetric_switch(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.steady(20);
    w.switch_up(&qm);
    w.steady(1_000);
    lose_until_timeout(w, 10, 400);
    resend_lost(w, 10);
    w.steady(100);
    w.switch_down(&qm);
    w.steady(AFTER);
}

/// The client's inbound SA expires at its limit while Quick Mode is under way; so does the other one, so that the client
/// is silent until the new pair stands.
pub(crate) fn hard_limit(w: &mut World) {
    w.establish(7_500);
    w.steady(BEFORE);
    let mut qm = w.begin(true);
    w.message(&mut qm);
    w.steady(30);
    w.drop_acks();
    w.ack(w.expected, 0xffff);
    let old = w.down.spi;
    for _ in 0..100 {
        w.lost_segment();
        w.step(w.tick);
    }
    w.message(&mut qm);
    w.wait(100);
    w.message(&mut qm);
    w.delete(old);
    w.wait(300);
    w.switch_down(&qm);
    w.switch_up(&qm);
    resend_lost(w, 100);
    w.steady(AFTER);
}

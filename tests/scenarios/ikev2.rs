//! Renewals with CREATE_CHILD_SA. No limit is on the wire (RFC 7296 §2.8): what shows a hard limit is a receiver that went deaf.

use super::steps::{AFTER, BEFORE, resend_lost};
use rekeyscope_testkit::scenario::{ChildRekey, SEGMENT, World};

fn switch(w: &mut World, rekey: &ChildRekey) {
    let old = [w.down.spi, w.up.spi];
    w.steady(20);
    w.switch_up_v2(rekey);
    w.steady(4);
    w.switch_down_v2(rekey);
    w.steady(30);
    w.delete_v2(true, old[0], old[1]);
}

pub(crate) fn renewed_v2(w: &mut World) {
    w.steady(BEFORE);
    let rekey = w.agree_v2(true, 30);
    switch(w, &rekey);
    w.steady(AFTER);
}

/// The pair expires at the client while the exchange is under way; the new one works as soon as it stands.
pub(crate) fn hard_limit_v2(w: &mut World) {
    expire_v2(w, |w| w.go_deaf(100));
}

/// The same, and the last acknowledgement was held back (RFC 9293 §3.8.6.3): it comes when all that is lost has passed.
pub(crate) fn acknowledged_late(w: &mut World) {
    expire_v2(w, |w| {
        w.drop_acks();
        for _ in 0..50 {
            w.lost_segment();
            w.step(w.tick / 2);
        }
        w.ack(w.expected, 0xffff);
    });
}

fn expire_v2(w: &mut World, deaf: fn(&mut World)) {
    w.steady(BEFORE);
    let mut rekey = w.begin_v2(true);
    w.message_v2(&mut rekey);
    w.steady(30);
    let first = w.expected;
    deaf(w);
    let old = [w.down.spi, w.up.spi];
    w.message_v2(&mut rekey);
    w.wait(100);
    w.delete_v2(true, old[0], old[1]);
    w.wait(300);
    w.switch_down_v2(&rekey);
    w.switch_up_v2(&rekey);
    resend_lost(w, (w.seq - first) / SEGMENT as u32);
    w.steady(AFTER);
}

/// The pair expires, and the request is lost before the capture point: its retransmission, four seconds later, is the first message.
pub(crate) fn request_lost_before_the_capture(w: &mut World) {
    w.steady(BEFORE);
    let mut rekey = w.begin_v2(true);
    w.lose_request(&mut rekey);
    w.steady(10);
    w.go_deaf(100);
    w.repeat_oldest(&[200, 400, 800, 1_600]);
    w.wait(800);
    w.repeat_v2(&rekey, 0);
    w.wait(30);
    w.message_v2(&mut rekey);
    w.wait(30);
    w.switch_down_v2(&rekey);
    w.switch_up_v2(&rekey);
    resend_lost(w, 100);
    w.steady(AFTER);
}

/// An SA is lost on its receiver after a rekey, with nothing said; the one before had carried a fifth more.
pub(crate) fn blackhole_v2(w: &mut World) {
    w.steady(BEFORE);
    w.renew_v2(true);
    w.steady(BEFORE * 5 / 6);
    w.go_deaf(100);
    w.repeat_oldest(&[200, 400, 800, 1_600, 3_200]);
    w.wait(500);
    let mut rekey = w.begin_v2(true);
    for _ in 0..2 {
        w.message_v2(&mut rekey);
        w.wait(20);
    }
    w.switch_up_v2(&rekey);
    w.switch_down_v2(&rekey);
    resend_lost(w, 100);
    w.steady(AFTER);
}

/// The application rests for three seconds and is done with everything; the renewal falls into the end of that.
pub(crate) fn renewed_in_a_pause_v2(w: &mut World) {
    w.steady(BEFORE);
    w.acknowledge_all();
    w.wait(3_000);
    let mut rekey = w.begin_v2(true);
    w.message_v2(&mut rekey);
    w.wait(30);
    w.message_v2(&mut rekey);
    switch(w, &rekey);
    w.steady(AFTER);
}

/// Both sides ask at once (RFC 7296 §2.8.1); the client's pair is used, the other one is deleted.
pub(crate) fn collision_v2(w: &mut World) {
    w.steady(BEFORE);
    let (mut ours, mut theirs) = (w.begin_v2(true), w.begin_v2(false));
    w.message_v2(&mut ours);
    w.steady(4);
    w.message_v2(&mut theirs);
    w.steady(26);
    w.message_v2(&mut ours);
    w.message_v2(&mut theirs);
    switch(w, &ours);
    w.delete_v2(false, theirs.up, theirs.down);
    w.steady(AFTER);
}

/// The server alone asks.
pub(crate) fn renewed_by_the_server_v2(w: &mut World) {
    w.steady(BEFORE);
    let rekey = w.agree_v2(false, 30);
    switch(w, &rekey);
    w.steady(AFTER);
}

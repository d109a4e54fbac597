//! What TCP inside goes through.

use super::steps::{AFTER, BEFORE, begin, exchange, lose_until_timeout, resend_lost, switch};
use rekeyscope_testkit::scenario::{MILLI, SEGMENT, World};

/// Packets that others overtake.
const OVERTAKEN: u32 = 5;

/// Packets, `by` of them, overtake five that were sent before them. Returns the first byte of these.
pub(crate) fn overtaken(w: &mut World, by: usize) -> u32 {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(50);
    let (sequence, seq) = (w.down.sequence, w.seq);
    w.down.sequence += OVERTAKEN;
    w.seq += OVERTAKEN * SEGMENT as u32;
    w.drop_acks();
    w.ack(w.expected, 0xffff);
    for _ in 0..by {
        w.lost_segment();
        w.step(w.tick);
    }
    let ahead = w.down.sequence;
    w.down.sequence = sequence;
    for k in 0..OVERTAKEN {
        w.resend(seq + k * SEGMENT as u32);
    }
    w.down.sequence = ahead;
    seq
}

/// Five packets come 60 packets late, outside a replay window of 32: they are refused and sent again after a timeout.
pub(crate) fn deep_reordering(w: &mut World) {
    let seq = overtaken(w, 60);
    w.wait(400);
    for k in 0..OVERTAKEN {
        w.resend(seq + k * SEGMENT as u32);
        w.step(w.tick);
    }
    w.deliver();
    w.steady(AFTER);
}

pub(crate) fn slow_path(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.tick *= 4;
    w.steady(4_000);
    w.tick /= 4;
    w.steady(AFTER);
}

pub(crate) fn burst_lost(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(20);
    lose_until_timeout(w, 10, 400);
    resend_lost(w, 10);
    w.steady(AFTER);
}

/// Nobody captured the exchange: the SPIs show the rekey.
pub(crate) fn burst_lost_without_ike(w: &mut World) {
    w.steady(BEFORE);
    let qm = w.begin(true);
    switch(w, &qm);
    w.steady(20);
    lose_until_timeout(w, 10, 400);
    resend_lost(w, 10);
    w.steady(AFTER);
}

/// One segment is lost; duplicate acknowledgements ask for it, and the sender goes on at a sixth of its rate.
pub(crate) fn one_segment_lost(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(20);
    let lost = w.expected;
    w.step(40 * MILLI);
    for _ in 0..6 {
        w.lost_segment();
        w.step(w.tick);
    }
    w.ack(lost, 0xffff);
    for _ in 0..5 {
        w.step(w.tick);
        w.ack(lost, 0xffff);
    }
    w.resend(lost);
    w.deliver();
    w.tick *= 6;
    w.steady(3_000);
    w.tick /= 6;
    w.steady(AFTER);
}

pub(crate) fn receiver_stops(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(20);
    w.wait(30);
    w.ack(w.expected, 0);
    w.wait(500);
    w.ack(w.expected, 0xffff);
    w.steady(AFTER);
}

pub(crate) fn application_pauses(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(20);
    w.acknowledge_all();
    w.wait(500);
    w.steady(AFTER);
}

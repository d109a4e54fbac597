//! Sizes, NAT, PPP, and the capture itself.

use super::steps::{AFTER, begin, exchange, nothing, switch};
use rekeyscope_testkit::scenario::World;

pub(crate) fn fragments_begin(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.steady(20);
    w.switch_up(&qm);
    w.switch_down(&qm);
    w.mtu = Some(1_300);
    w.steady(AFTER);
}

pub(crate) fn nat_port_changes(w: &mut World) {
    w.nat_port = Some(31_000);
    let mut qm = begin(w);
    w.nat_port = Some(31_007);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(AFTER);
}

pub(crate) fn nat_port_stays(w: &mut World) {
    w.nat_port = Some(31_000);
    nothing(w);
}

pub(crate) fn hello_without_answer(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.l2tp_control(false, Some(6));
    w.steady(AFTER);
}

pub(crate) fn hello_with_answer(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.l2tp_control(false, Some(6));
    w.steady(30);
    w.l2tp_control(true, None);
    w.steady(AFTER);
}

/// The transfer goes on; the capture misses two times 0.3 s of it.
pub(crate) fn capture_drops_frames(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    for _ in 0..2 {
        w.steady(100);
        w.blind = true;
        w.steady(300);
        w.blind = false;
    }
    w.steady(AFTER);
}

pub(crate) fn cleartext_leak(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    w.leak();
    switch(w, &qm);
    w.steady(AFTER);
}

//! Steps that several scenarios have in common.

use rekeyscope_testkit::scenario::{QuickMode, SEGMENT, World};

/// Kilobytes that no scenario reaches.
pub(crate) const GENEROUS: u32 = 250_000;
/// Data before and after the rekey: enough for the ledger to know what is usual.
pub(crate) const BEFORE: u64 = 12_000;
pub(crate) const AFTER: u64 = 12_000;

/// Three messages as they come when nothing is wrong; data goes on.
pub(crate) fn exchange(w: &mut World, qm: &mut QuickMode) {
    w.message(qm);
    w.steady(30);
    w.message(qm);
    w.steady(20);
    w.message(qm);
}

pub(crate) fn begin(w: &mut World) -> QuickMode {
    w.establish(GENEROUS);
    w.steady(BEFORE);
    w.begin(true)
}

pub(crate) fn switch(w: &mut World, qm: &QuickMode) {
    w.steady(20);
    w.switch_up(qm);
    w.steady(4);
    w.switch_down(qm);
}

/// A whole rekey while nobody sends data: each message 20 ms behind the one before, and both sides switch.
pub(crate) fn rekey_in_silence(w: &mut World) {
    let mut qm = w.begin(true);
    for _ in 0..3 {
        w.message(&mut qm);
        w.wait(20);
    }
    w.switch_up(&qm);
    w.switch_down(&qm);
}

pub(crate) fn nothing(w: &mut World) {
    let mut qm = begin(w);
    exchange(w, &mut qm);
    switch(w, &qm);
    w.steady(AFTER);
}

/// Some segments do not arrive, and the sender waits for its timeout.
pub(crate) fn lose_until_timeout(w: &mut World, segments: u32, wait: u64) {
    w.acknowledge_all();
    for _ in 0..segments {
        w.lost_segment();
        w.step(w.tick);
    }
    w.wait(wait);
}

pub(crate) fn resend_lost(w: &mut World, segments: u32) {
    let first = w.expected;
    for k in 0..segments {
        w.resend(first + k * SEGMENT as u32);
        w.step(w.tick);
    }
    w.deliver();
}

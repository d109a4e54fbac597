//! Limits of a sender, each planted beside another one that makes the same rate, the same flight or the same copies.

use super::steps::GENEROUS;
use crate::support::analyze_world;
use rekeyscope_report::words::answer_lines;
use rekeyscope_testkit::scenario::{MILLI, Reno, World};

/// Far more than the rest of a scenario lets a sender use: a segment takes 0.1 ms.
const FAST: u64 = MILLI / 10;
const WIDE: u32 = 700;
/// Segments in flight where something holds them there.
const FEW: u32 = 40;

fn transfer(w: &mut World, of: Reno) {
    w.establish(GENEROUS);
    w.transfer(of);
}

/// The sender has as much in flight as the receiver's window allows.
pub(crate) fn window_full(w: &mut World) {
    let (spaced, window) = (FAST, FEW);
    transfer(
        w,
        Reno {
            spaced,
            window,
            ..Reno::OF_A_LINK
        },
    );
}

pub(super) const BUFFER_FULL: Reno = Reno {
    spaced: FAST,
    window: WIDE,
    buffer: FEW,
    ..Reno::OF_A_LINK
};

/// The sender has as much in flight as its buffer holds.
pub(crate) fn buffer_full(w: &mut World) {
    transfer(w, BUFFER_FULL);
}

/// Nobody captured how that began: a queue that stood all the time would look the same.
pub(crate) fn buffer_full_begun_before(w: &mut World) {
    w.transfer(Reno {
        unseen: 2_000,
        ..BUFFER_FULL
    });
}

/// The link is busy all the time, and packets queue before it.
pub(crate) fn link_full(w: &mut World) {
    transfer(w, Reno::OF_A_LINK);
}

/// The flight doubles from round trip to round trip; the transfer is over when it is large.
pub(crate) fn slow_start(w: &mut World) {
    let (spaced, window, rtt, millis) = (FAST, WIDE, 300, 4_000);
    transfer(
        w,
        Reno {
            spaced,
            window,
            rtt,
            millis,
            ..Reno::OF_A_LINK
        },
    );
}

/// Segments in flight when one is lost: the link holds 40 of them, the queue 10.
const SAWTOOTH: Reno = Reno {
    millis: 20_000,
    queue: 10,
    window: WIDE,
    ..Reno::OF_A_LINK
};

/// The queue before the link overflows; half of the flight is left, and grows until the next time.
pub(crate) fn queue_overflows(w: &mut World) {
    transfer(w, SAWTOOTH);
}

/// Segments are lost as often as in a full queue, and nothing queues: the flight grows and falls as well.
pub(crate) fn lost_without_a_queue(w: &mut World) {
    let lost = |segment| segment % 940 == 50;
    transfer(
        w,
        Reno {
            spaced: FAST,
            lost,
            ..SAWTOOTH
        },
    );
}

/// Now and then a segment is overtaken, so that its sender takes it for lost. The capture is at the receiver.
pub(crate) fn segments_overtaken(w: &mut World) {
    let overtaken = |segment| segment % 250 == 125;
    transfer(
        w,
        Reno {
            overtaken,
            ..AT_RECEIVER
        },
    );
}

/// The loss takes as many segments as were overtaken, so that the sender has to repeat each.
pub(crate) fn as_many_lost(w: &mut World) {
    lose(w, false);
}

/// The sender's gateway never sees them.
pub(crate) fn as_many_lost_before_encryption(w: &mut World) {
    lose(w, true);
}

fn lose(w: &mut World, before_encryption: bool) {
    let lost = |segment| segment % 250 == 125;
    transfer(
        w,
        Reno {
            lost,
            before_encryption,
            ..AT_RECEIVER
        },
    );
}

/// A sender with up to 100 segments on the way: over a link that takes 25 in a second, it waits for longer than new connections do
/// before they try again.
#[test]
fn a_queue_that_outlasts_timers_leads_line_1() {
    let answer = |spaced: u64| {
        let (window, millis) = (100, 60_000);
        let mut w = World::new();
        transfer(
            &mut w,
            Reno {
                spaced,
                millis,
                window,
                ..Reno::OF_A_LINK
            },
        );
        answer_lines(&analyze_world(w, true))
    };
    let deep = answer(40 * MILLI);
    assert!(
        deep.headline
            .starts_with("A full queue delays this download by up to 2."),
        "{deep:?}"
    );
    assert!(deep.change.contains("fq_codel"), "{deep:?}");
    let shallow = answer(4 * MILLI);
    assert!(!shallow.headline.contains("queue"), "{shallow:?}");
    assert!(
        shallow.why.contains("A full queue delays every packet"),
        "{shallow:?}"
    );
}

#[test]
fn segments_that_were_lost_before_encryption_are_told_from_lost_esp() {
    let answer = |play: fn(&mut World)| {
        let mut w = World::new();
        play(&mut w);
        answer_lines(&analyze_world(w, true))
    };
    let before = answer(as_many_lost_before_encryption);
    assert!(before.headline.contains("lost before encryption"), "{before:?}");
    assert!(before.why.contains("no ESP number is missing"), "{before:?}");
    let behind = answer(as_many_lost);
    assert!(!behind.headline.contains("before encryption"), "{behind:?}");
}

const AT_RECEIVER: Reno = Reno {
    millis: 20_000,
    spaced: 2 * FAST,
    at_receiver: true,
    ..Reno::OF_A_LINK
};

//! Parts of connections made up for tests of single rules. Times are milliseconds, segments have 1,000 bytes.

use super::read::data::{Ack, Data};
use super::read::half::Half;
use super::sweep::step::{NONE, Step, StepKind, StepLabel};
pub(super) use super::times::UNKNOWN;
use rekeyscope_model::analysis::{AccountLabel, D2Source};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

pub(super) fn at(ms: i64) -> i64 {
    ms * NANOS_PER_MILLI
}

pub(super) fn span(from: i64, to: i64) -> (Timestamp, Timestamp) {
    (Timestamp(at(from)), Timestamp(at(to)))
}

/// A direction with a window of 1 to 1 and nothing in it.
pub(super) fn half() -> Half {
    Half {
        tcp: true,
        data: Vec::new(),
        acks: Vec::new(),
        mss: 1_000,
        scale: 0,
        scale_known: true,
        d1: None,
        echoed: None,
        d2: None,
        d2_from: D2Source::None,
        rtt: 0,
        measured_rtt: None,
        blind: false,
        begun: true,
        ended: false,
    }
}

/// A segment that begins with this byte.
pub(super) fn data(ms: i64, start: u64) -> Data {
    Data {
        time: at(ms),
        frame: ms as u64,
        start,
        acked_after: UNKNOWN,
        echo_after: UNKNOWN,
        unheard_after: UNKNOWN,
        payload: 1_000,
        new: 1_000,
        again: false,
        seen_before: false,
        late: false,
    }
}

/// Everything below this byte, with a window of so many bytes.
pub(super) fn ack(ms: i64, ack: u64, window: u16) -> Ack {
    Ack {
        time: at(ms),
        ack,
        stamp: 0,
        window,
        unscaled: false,
        after: UNKNOWN,
    }
}

/// One wait.
pub(super) fn step(from: i64, to: i64, label: AccountLabel) -> Step {
    Step {
        from: at(from),
        to: at(to),
        frames: (from as u64, to as u64),
        bytes: 1_000,
        longest: at(to - from),
        kind: StepKind {
            found: StepLabel::Label(label),
            episode: NONE,
            between_full: false,
            at_capacity: false,
        },
        window: 0,
        packets: 1,
        touched: false,
        all_acked: false,
    }
}

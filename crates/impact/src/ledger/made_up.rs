//! Lines that tests are made of. Times in milliseconds.

use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::TransmissionRun;

pub(super) fn at(ms: i64) -> Timestamp {
    Timestamp(ms * NANOS_PER_MILLI)
}

/// Packets that arrived, acknowledged 20 ms later.
pub(super) fn run((from, to): (i64, i64), packets: u32, bytes: u64) -> TransmissionRun {
    TransmissionRun {
        from: at(from),
        to: at(to),
        frames: (from.unsigned_abs(), to.unsigned_abs()),
        packets,
        superfluous: 0,
        bytes,
        acknowledged: Some(at(to + 20)),
        lacking_since: at(from),
        beyond_gap: false,
    }
}

pub(super) fn packet(ms: i64, bytes: u64) -> TransmissionRun {
    run((ms, ms), 1, bytes)
}

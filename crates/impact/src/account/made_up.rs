//! Parts of connections made up for tests of single rules. Times are milliseconds, segments have 1,000 bytes.

use super::half::Half;
use super::packet::AccountPacket;
use super::sweep::track::{Step, StepKind};
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::TcpHeader;

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
        mss: 1_000,
        scale_known: true,
        begun: true,
        ..Half::default()
    }
}

/// A segment that begins with this byte.
pub(super) fn data(ms: i64, start: u64) -> AccountPacket {
    AccountPacket {
        time: Timestamp(at(ms)),
        frame: ms as u64,
        seq: start,
        payload: 1_000,
        new: 1_000,
        ..AccountPacket::default()
    }
}

/// Everything below this byte, with a window of so many bytes.
pub(super) fn ack(ms: i64, ack: u64, window: u16) -> AccountPacket {
    AccountPacket {
        time: Timestamp(at(ms)),
        ack,
        window,
        flags: TcpHeader::ACK,
        reverse: true,
        ..AccountPacket::default()
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
            found: Some(label),
            between_full: false,
            at_capacity: false,
        },
        window: 0,
        packets: 1,
        touched: false,
    }
}

//! Data and acknowledgements of one direction of a connection.

/// A packet with data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data {
    pub(super) time: i64,
    pub(super) frame: u64,
    /// Unwrapped sequence numbers.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) esp: u32,
    pub(super) sa: u32,
    pub(super) missing: u32,
    /// From here to its acknowledgement, microseconds; `u32::MAX` where that is not known.
    pub(super) acked_after: u32,
    /// From the acknowledgement that it echoes, microseconds; `u32::MAX` where that is not known.
    pub(super) echo_after: u32,
    pub(super) new: u16,
    pub(super) ip_id: u16,
    /// At least a part lies below the highest byte sent.
    pub(super) again: bool,
    /// It was sent again before it was acknowledged.
    pub(super) repeated: bool,
    /// Some of it was seen before.
    pub(super) seen_before: bool,
    pub(super) late: bool,
    pub(super) numbered: bool,
}

impl Data {
    pub(super) fn payload(&self) -> u64 {
        self.end - self.start
    }
}

/// A packet of the other direction with an acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ack {
    pub(super) time: i64,
    pub(super) ack: u64,
    /// As the header says, unscaled.
    pub(super) window: u16,
    /// Of a SYN: never scaled (RFC 7323 §2.2).
    pub(super) unscaled: bool,
    /// Least time from data that it is the first to acknowledge, nanoseconds; `i64::MAX` without such.
    pub(super) after: i64,
}

//! Data and acknowledgements of one direction of a connection.

/// A packet with data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Data {
    pub(crate) time: i64,
    pub(crate) frame: u64,
    /// Unwrapped sequence numbers.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// From here to its acknowledgement, microseconds; `u32::MAX` where that is not known.
    pub(crate) acked_after: u32,
    /// From the acknowledgement that it echoes, microseconds; `u32::MAX` where that is not known.
    pub(crate) echo_after: u32,
    pub(crate) new: u16,
    /// A retransmission.
    pub(crate) again: bool,
    /// Some of it was seen before.
    pub(crate) seen_before: bool,
    pub(crate) late: bool,
}

impl Data {
    pub(crate) fn payload(&self) -> u64 {
        self.end - self.start
    }
}

/// A packet of the other direction with an acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ack {
    pub(crate) time: i64,
    pub(crate) ack: u64,
    /// Its timestamp, where it has one.
    pub(crate) stamp: u32,
    /// As the header says, unscaled.
    pub(crate) window: u16,
    /// Of a SYN: never scaled (RFC 7323 §2.2).
    pub(crate) unscaled: bool,
    /// Least time from data that it is the first to acknowledge, microseconds; `u32::MAX` without such.
    pub(crate) after: u32,
}

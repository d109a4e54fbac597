//! Data and acknowledgements of one direction of a connection.

use crate::account::times::{UNKNOWN, micros};

/// A packet with data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Data {
    pub(crate) time: i64,
    pub(crate) frame: u64,
    /// Unwrapped sequence numbers.
    pub(crate) start: u64,
    /// From here to its acknowledgement, microseconds; `u32::MAX` where that is not known.
    pub(crate) acked_after: u32,
    /// From the acknowledgement that it echoes, microseconds; `u32::MAX` where that is not known.
    pub(crate) echo_after: u32,
    /// From the first acknowledgement that the sender had not heard when it sent this (the one behind the one that it echoes),
    /// microseconds; `u32::MAX` where there is none, or that is not known.
    pub(crate) unheard_after: u32,
    pub(crate) payload: u16,
    pub(crate) new: u16,
    /// A retransmission.
    pub(crate) again: bool,
    /// Some of it was seen before.
    pub(crate) seen_before: bool,
    pub(crate) late: bool,
}

impl Data {
    pub(crate) fn payload(&self) -> u64 {
        u64::from(self.payload)
    }

    /// The sequence number behind its last byte.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.payload()
    }

    /// The sender had not heard `ack` when it sent this: what it echoes is older.
    pub(crate) fn did_not_hear(&self, ack: &Ack) -> bool {
        self.unheard_after != UNKNOWN && micros(self.time - ack.time) <= self.unheard_after
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

//! A packet of a connection, with what the tracker and the packets before it say of it.

use super::times::micros;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::TcpHeader;

/// One packet. Times since another packet are microseconds; `None` where there is none, or that is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccountPacket {
    /// Time at which the packet passed the capture. A clock that steps back by a little makes no wait negative: never less than before.
    pub time: Timestamp,
    /// Number of the packet.
    pub frame: u64,
    /// Sequence number of the first byte, unwrapped; 0 without sequence numbers.
    pub seq: u64,
    /// Acknowledgement number, unwrapped.
    pub ack: u64,
    /// The packet's TCP timestamp (RFC 7323 §3).
    pub stamp: u32,
    /// Time from the packet's data to its acknowledgement; not known where it was sent twice, or is not acknowledged yet.
    pub acked_after: Option<u32>,
    /// Least time from data that the packet is the first to acknowledge.
    pub answers_after: Option<u32>,
    /// Time from the first acknowledgement with the timestamp that the packet echoes.
    pub echo_after: Option<u32>,
    /// Time from the first acknowledgement that the sender had not heard when it sent this: the one with the next timestamp.
    pub unheard_after: Option<u32>,
    /// TCP window field, unscaled.
    pub window: u16,
    /// Bytes of payload; a keep-alive brings nothing (RFC 9293 §3.8.4).
    pub payload: u16,
    /// Bytes of payload that the capture shows for the first time.
    pub new: u16,
    /// TCP flags as in the header ([`TcpHeader::FIN`] and others).
    pub flags: u8,
    /// True in the connection's second direction.
    pub reverse: bool,
    /// Overtaken by a higher ESP number.
    pub late: bool,
    /// True for a retransmission.
    pub again: bool,
    /// True where an acknowledgement came sooner behind this copy than any could answer it, or right before: an earlier copy had arrived.
    pub superfluous: bool,
}

impl AccountPacket {
    /// Tells whether one of these flags is set.
    pub(crate) fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Tells whether the packet acknowledges: its acknowledgement number counts.
    pub(crate) fn acknowledges(&self) -> bool {
        self.has(TcpHeader::ACK)
    }

    pub(crate) fn slot(&self) -> usize {
        usize::from(self.reverse)
    }

    pub(crate) fn payload(&self) -> u64 {
        u64::from(self.payload)
    }

    /// The sequence number behind the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.seq + self.payload()
    }

    /// Tells whether the sender had not heard `ack` when it sent this: what it echoes is older.
    pub(crate) fn did_not_hear(&self, ack: &AccountPacket) -> bool {
        self.unheard_after
            .is_some_and(|after| micros(self.time.nanos_since(ack.time)) <= after)
    }
}

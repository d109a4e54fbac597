//! What is kept of the packets of a connection.

use super::times::{UNKNOWN, micros};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{Handshake, InnerPayload, Packet, Segment, SegmentKind, TcpHeader};

/// One packet: 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountPacket {
    /// Time at which the packet passed the capture.
    pub time: Timestamp,
    /// Number of the packet.
    pub frame: u64,
    /// Sequence number of the first byte, unwrapped ([`Segment::seq`]).
    pub seq: u64,
    /// Acknowledgement number, unwrapped.
    pub ack: u64,
    /// The packet's TCP timestamp (RFC 7323 §3).
    pub stamp: u32,
    /// The TCP timestamp that the packet echoes.
    pub echo: u32,
    /// Time from the packet's data to its acknowledgement, microseconds; `u32::MAX` where it was sent twice, or is not acknowledged yet.
    pub acked_after: u32,
    /// Least time from data that the packet is the first to acknowledge, microseconds; `u32::MAX` without such.
    pub answers_after: u32,
    /// TCP window field, unscaled.
    pub window: u16,
    /// Bytes of payload.
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
    /// True where the capture had shown some of the bytes before.
    pub seen_before: bool,
    /// True where the packet has TCP timestamps.
    pub stamped: bool,
}

impl Default for AccountPacket {
    fn default() -> Self {
        AccountPacket {
            time: Timestamp(0),
            frame: 0,
            seq: 0,
            ack: 0,
            stamp: 0,
            echo: 0,
            acked_after: UNKNOWN,
            answers_after: UNKNOWN,
            window: 0,
            payload: 0,
            new: 0,
            flags: 0,
            reverse: false,
            late: false,
            again: false,
            seen_before: false,
            stamped: false,
        }
    }
}

impl AccountPacket {
    /// A packet as its connection sees it. `sent`: bytes of payload, and how many of them are new. A keep-alive brings nothing
    /// (RFC 9293 §3.8.4).
    #[inline]
    pub(super) fn new(packet: &Packet, segment: &Segment, (payload, new): (u16, u16)) -> Self {
        let keeps_alive = segment.kind == SegmentKind::KeepAlive;
        let kept = AccountPacket {
            time: segment.time,
            frame: segment.frame,
            payload: if keeps_alive { 0 } else { payload },
            new,
            reverse: segment.direction == Direction::BToA,
            late: segment.behind > 0,
            ..AccountPacket::default()
        };
        let InnerPayload::Tcp(header) = &packet.payload else {
            return kept;
        };
        let (stamp, echo) = header.timestamps.unwrap_or_default();
        AccountPacket {
            seq: segment.seq,
            ack: segment.acks.map_or(0, |acks| acks.ack),
            stamp,
            echo,
            window: header.window,
            flags: header.flags,
            again: segment.kind == SegmentKind::Retransmission,
            seen_before: segment.again > 0,
            stamped: header.timestamps.is_some(),
            ..kept
        }
    }

    /// Takes the time from data that the packet is the first to acknowledge, nanoseconds.
    pub(super) fn answers(&mut self, nanos: i64) {
        self.answers_after = self.answers_after.min(micros(nanos));
    }

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
}

/// What one direction of a connection is read from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) packets: &'a [AccountPacket],
    pub(crate) handshake: &'a Handshake,
    /// It is TCP that can be read.
    pub(crate) tcp: bool,
    /// The direction of the data.
    pub(crate) slot: usize,
}

impl Source<'_> {
    /// Names the sender of the data.
    pub(crate) fn sender(&self) -> Direction {
        Direction::BOTH[self.slot]
    }

    /// Names the receiver of the data.
    pub(crate) fn receiver(&self) -> Direction {
        self.sender().reverse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_one_cache_line() {
        assert!(size_of::<AccountPacket>() <= 64);
    }
}

//! The record of one ESP packet: 64 bytes, one cache line.

use crate::decode::{Decoded, Pending};
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::flow::TcpHeader;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{ConnectionId, Segment};

/// One ESP packet. Lengths saturate at 65,535, which only packets merged by a network card reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacketRecord {
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    pub(crate) sa: u32,
    pub(crate) sequence: u32,
    /// TCP sequence and acknowledgement number; 0 where there is no TCP.
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) connection: ConnectionId,
    /// TCP window field, unscaled.
    pub(crate) window: u16,
    /// Transport payload.
    pub(crate) payload: u16,
    /// Bytes of the payload that the capture shows for the first time.
    pub(crate) new: u16,
    pub(crate) tunnel: u16,
    /// Bytes of the payload that it showed before.
    pub(crate) again: u16,
    pub(crate) outer: u16,
    pub(crate) largest_fragment: u16,
    /// TCP flags.
    pub(crate) flags: u8,
    pub(crate) fragments: u8,
    pub(crate) direction: Direction,
    /// An inner TCP header was reached.
    pub(crate) tcp: bool,
    /// The packet was decrypted.
    pub(crate) opened: bool,
}

impl PacketRecord {
    /// Puts together what the pipeline knows about a packet, which is `segment` to its connection. `connection`: where it is followed by itself; `new`: bytes
    /// that the packet brings.
    pub(crate) fn new(
        sa: SaIndex,
        association: &Association,
        pending: &Pending,
        decoded: &Decoded,
        segment: &Segment,
        (connection, new): (ConnectionId, u32),
    ) -> Self {
        let inner = &decoded.inner;
        let tcp = inner.tcp.as_ref();
        PacketRecord {
            time: pending.time,
            frame: pending.frame,
            sa: u32::try_from(sa).unwrap_or(u32::MAX),
            sequence: pending.sequence,
            connection,
            seq: tcp.map_or(0, |t| t.seq),
            ack: tcp.map_or(0, |t| t.ack),
            tunnel: u16::try_from(association.tunnel).unwrap_or(u16::MAX),
            window: tcp.map_or(0, |t| t.window),
            payload: short(inner.transport_bytes),
            new: short(new),
            again: short(segment.again),
            outer: short(pending.outer_bytes),
            largest_fragment: short(pending.largest_fragment),
            flags: tcp.map_or(0, |t| t.flags),
            fragments: u8::try_from(pending.fragments).unwrap_or(u8::MAX),
            direction: association.direction,
            tcp: tcp.is_some(),
            opened: decoded.opened.is_some(),
        }
    }

    /// Position of its internal direction in a pair.
    pub(crate) fn slot(&self) -> usize {
        slot(self.direction)
    }

    /// The SA.
    pub(crate) fn sa(&self) -> SaIndex {
        self.sa as SaIndex
    }

    /// Sequence number behind its payload.
    pub(crate) fn seq_end(&self) -> u32 {
        self.seq.wrapping_add(u32::from(self.payload))
    }

    /// The acknowledgement number counts (a first SYN has none).
    pub(crate) fn acknowledges(&self) -> bool {
        self.tcp && self.flags & TcpHeader::ACK != 0
    }
}

fn short(value: u32) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl PacketRecord {
        /// A packet of the first tunnel that no key opens.
        pub(crate) fn for_test(time: Timestamp, frame: u64, outer: u16) -> Self {
            PacketRecord {
                time,
                frame,
                sa: 0,
                sequence: 0,
                seq: 0,
                ack: 0,
                connection: ConnectionId::NONE,
                window: 0,
                payload: 0,
                new: 0,
                tunnel: 0,
                again: 0,
                outer,
                largest_fragment: outer,
                flags: 0,
                fragments: 1,
                direction: Direction::AToB,
                tcp: false,
                opened: false,
            }
        }
    }

    #[test]
    fn a_record_is_one_cache_line() {
        assert!(size_of::<PacketRecord>() <= 64, "{}", size_of::<PacketRecord>());
    }
}

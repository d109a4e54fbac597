//! What is remembered of one ESP packet: 64 bytes, one cache line.

use crate::decode::{Decoded, Pending};
use crate::throughput::flow::{ConnectionId, NewBytes};
use rekeyscope_ipsec::esp::inner::TcpSegment;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::sequence::Arrival;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// The bits of [`PacketRecord::bits`].
mod bit {
    pub(super) const B_TO_A: u8 = 1;
    pub(super) const LATE: u8 = 2;
    pub(super) const TCP: u8 = 8;
    pub(super) const OPENED: u8 = 32;
}

/// One ESP packet. Lengths saturate at 65,535, which only packets merged by a network card reach.
#[derive(Debug, Clone, Copy, Default)]
// Up to the numbers, and from the window on, in the order of `AccountPacket`: neighbours are copied at once.
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
    /// Of it, bytes that the capture shows for the first time.
    pub(crate) new: u16,
    pub(crate) tunnel: u16,
    /// Of it, bytes that it showed before.
    pub(crate) again: u16,
    pub(crate) outer: u16,
    pub(crate) largest_fragment: u16,
    /// TCP flags.
    pub(crate) flags: u8,
    pub(crate) fragments: u8,
    pub(super) bits: u8,
}

impl PacketRecord {
    /// Puts together what the pipeline knows about a packet.
    pub(crate) fn new(
        sa: SaIndex,
        association: &Association,
        pending: &Pending,
        decoded: &Decoded,
        arrival: Arrival,
        (connection, split): (ConnectionId, NewBytes),
    ) -> Self {
        let inner = &decoded.inner;
        let tcp = inner.tcp.as_ref();
        let when = |condition: bool, bit: u8| if condition { bit } else { 0 };
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
            new: short(split.new),
            again: short(split.retransmitted),
            outer: short(pending.outer_bytes),
            largest_fragment: short(pending.largest_fragment),
            flags: tcp.map_or(0, |t| t.flags),
            fragments: u8::try_from(pending.fragments).unwrap_or(u8::MAX),
            bits: when(association.direction == Direction::BToA, bit::B_TO_A)
                | when(tcp.is_some(), bit::TCP)
                | when(decoded.opened.is_some(), bit::OPENED)
                | when(arrival == Arrival::Late, bit::LATE),
        }
    }

    fn is(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    /// Position of its internal direction in a pair.
    pub(crate) fn slot(&self) -> usize {
        slot(if self.is(bit::B_TO_A) {
            Direction::BToA
        } else {
            Direction::AToB
        })
    }

    /// Its SA.
    pub(crate) fn sa(&self) -> SaIndex {
        self.sa as SaIndex
    }

    /// Came after a higher ESP sequence number.
    pub(crate) fn is_late(&self) -> bool {
        self.is(bit::LATE)
    }

    /// An inner TCP header was reached.
    pub(crate) fn is_tcp(&self) -> bool {
        self.is(bit::TCP)
    }

    /// It was decrypted.
    pub(crate) fn is_opened(&self) -> bool {
        self.is(bit::OPENED)
    }

    /// Sequence number behind its payload.
    pub(crate) fn seq_end(&self) -> u32 {
        self.seq.wrapping_add(u32::from(self.payload))
    }

    /// Its acknowledgement number counts (a first SYN has none).
    pub(crate) fn acknowledges(&self) -> bool {
        self.is_tcp() && self.flags & TcpSegment::ACK != 0
    }
}

fn short(value: u32) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl PacketRecord {
        /// A TCP packet of the first connection with an acknowledgement.
        pub(crate) fn for_test(
            up: bool,
            time: Timestamp,
            frame: u64,
            (seq, payload, ack): (u32, u16, u32),
        ) -> Self {
            PacketRecord {
                time,
                frame,
                connection: ConnectionId(0),
                seq,
                ack,
                payload,
                window: 1_000,
                flags: TcpSegment::ACK,
                bits: bit::TCP | bit::OPENED | if up { bit::B_TO_A } else { 0 },
                ..PacketRecord::default()
            }
        }
    }

    #[test]
    fn a_record_is_one_cache_line() {
        assert!(size_of::<PacketRecord>() <= 64, "{}", size_of::<PacketRecord>());
    }
}

//! The input: one inner packet as the wire had it.

pub use rekeyscope_model::flow::{FiveTuple, MOST_SACK_BLOCKS, SackBlocks, TcpHeader};

use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// The packet's place in its security association. Both numbers are opaque here: the numbers of one SPI only ascend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct EspNumber {
    /// SPI.
    pub spi: u32,
    /// Sequence number, with its high half where the association has extended ones.
    pub number: u64,
    /// Form of what is inside.
    pub form: PacketForm,
}

/// Forms of an inner packet which a receiver may fail to take, though it takes others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum PacketForm {
    /// Whole, and as it was sent.
    #[default]
    Plain,
    /// Compressed (IPComp, RFC 3173).
    Compressed,
    /// The first of several fragments.
    Cut,
}

/// The payload of the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InnerPayload {
    /// A TCP segment.
    Tcp(TcpHeader),
    /// An echo request or reply (ICMP, ICMPv6).
    Echo {
        /// A request; else a reply.
        request: bool,
        /// Identifier.
        id: u16,
        /// Sequence number.
        seq: u16,
        /// Bytes of the IP packet.
        bytes: u32,
    },
    /// UDP, and any other protocol that nobody acknowledges: payload bytes.
    Datagram(u32),
    /// A packet without a key: bytes outside.
    Unread(u32),
}

/// One packet, in the order of the capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// The time when it passed the capture.
    pub time: Timestamp,
    /// The packet's frame.
    pub frame: u64,
    /// Opaque name of its tunnel: inner addresses may be the same in two.
    pub tunnel: u32,
    /// The packet's direction in that tunnel.
    pub direction: Direction,
    /// The packet's place in its security association, where it has one.
    pub esp: Option<EspNumber>,
    /// The packet's flow; `None` where no transport header was reached.
    pub tuple: Option<FiveTuple>,
    /// Identification of its IPv4 header; 0 where it has none.
    pub ip_id: u16,
    /// The packet's payload.
    pub payload: InnerPayload,
}

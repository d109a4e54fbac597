//! Segments: each packet, as its connection sees it.

use crate::packet::EspNumber;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// Names a connection: a five-tuple during one stretch of time. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u32);

impl ConnectionId {
    /// The packet shows no transport header.
    pub const NONE: ConnectionId = ConnectionId(u32::MAX);
}

/// Names two inner addresses of one tunnel. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PairId(pub u32);

impl Default for PairId {
    fn default() -> Self {
        PairId::NONE
    }
}

impl PairId {
    /// The packet shows no inner address.
    pub const NONE: PairId = PairId(u32::MAX);
}

/// The kinds of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentKind {
    /// Occupies sequence space at or beyond SND.NXT.
    InOrder,
    /// An original that later transmissions overtook; never a retransmission.
    Late,
    /// Sent before. Its bytes are new to the capture where the original was lost before it.
    Retransmission,
    /// Occupies no sequence space: an acknowledgement, a window update, a reset.
    Acknowledgement,
    /// Asks whether the peer is still there (RFC 9293 §3.8.4).
    KeepAlive,
    /// One byte into a closed window (RFC 9293 §3.8.6.1).
    WindowProbe,
    /// The capture has this very packet twice.
    Duplicate,
    /// UDP, echoes, unread packets: no sequence numbers.
    Unnumbered,
}

/// The acknowledgement that a packet carries for the other side's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Acknowledgement {
    /// SEG.ACK, unwrapped in the numbers of the other side's data.
    pub ack: u64,
    /// Acknowledged bytes that the capture never showed: the capture lost them.
    pub unseen: u64,
}

/// One packet, as its connection sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The time when it passed the capture.
    pub time: Timestamp,
    /// The packet's frame.
    pub frame: u64,
    /// The connection of the packet.
    pub connection: ConnectionId,
    /// The inner addresses of the packet.
    pub pair: PairId,
    /// The direction of the packet.
    pub direction: Direction,
    /// The packet's place in its security association.
    pub esp: Option<EspNumber>,
    /// Sequence number of its first byte, unwrapped; the first number of a connection's side is [`Segment::ORIGIN`].
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
    /// TCP flags.
    pub flags: u8,
    /// True where a FIN or RST ends the packet's connection; false for the RSTs that answer what comes after one.
    pub closes: bool,
    /// The kind of the segment.
    pub kind: SegmentKind,
    /// Payload bytes that the capture shows for the first time.
    pub new: u32,
    /// Payload bytes of a retransmission that the capture had shown before. (Bytes of a late original that its own
    /// retransmission had brought are in neither.)
    pub again: u32,
    /// The acknowledgement of the other side's data.
    pub acks: Option<Acknowledgement>,
    /// Bytes of sequence space, right before its own, that no packet of its sender had.
    pub gap: u64,
    /// Numbers of its security association, right before its own, that no packet had.
    pub missing: u32,
    /// Distance of the packet's number behind the highest one of its security association that passed before it; 0 in order.
    pub behind: u32,
    /// Identifications of its connection's packets, right before its own, that no packet had; 0 where they do not count on.
    pub id_jump: u16,
}

impl Segment {
    /// Unwrapped sequence numbers begin here, so that what lies below the first one stays positive.
    pub const ORIGIN: u64 = 1 << 40;
}

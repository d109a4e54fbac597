//! The output: what each packet was for its connection, and what became of each transmission.

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

/// Outcome of a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The copy that arrived: its bytes count.
    Arrived,
    /// Another copy, sent later, is the one that arrived.
    Swallowed,
    /// A retransmission of what had arrived: the sender had not heard of it.
    Superfluous {
        /// Acknowledgements of it, older than a round trip, that the capture shows.
        unheard: u32,
    },
    /// The connection was reset or replaced, or forgotten at a bound, before anybody acknowledged the transmission.
    Abandoned,
    /// Nobody has acknowledged it yet.
    Waiting,
}

/// A transmission of which it is known what became. A segment that is sent once and acknowledged gives one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settlement {
    /// The connection of the packet.
    pub connection: ConnectionId,
    /// The inner addresses of the packet.
    pub pair: PairId,
    /// The direction of the packet.
    pub direction: Direction,
    /// Sequence number, unwrapped.
    pub seq: u64,
    /// Length in sequence space.
    pub len: u32,
    /// The transmission opens a connection.
    pub syn: bool,
    /// True where the transmission closes its side of the connection.
    pub fin: bool,
    /// True where the transmission went beyond bytes that the capture had not shown, or beyond a whole initial window of missing numbers: they
    /// were lost before it, or the capture lost them.
    pub beyond_gap: bool,
    /// Time since which the receiver lacks the bytes: since their first transmission, or since the packet behind them where the capture has
    /// only a later copy.
    pub lacking_since: Timestamp,
    /// The time when it passed the capture.
    pub time: Timestamp,
    /// The packet's frame.
    pub frame: u64,
    /// The packet's place in its security association, where it has one.
    pub esp: Option<EspNumber>,
    /// The transmission was the only one with its bytes up to then: the answer is one to this one (Karn's algorithm, RFC 6298 §3).
    pub sent_once: bool,
    /// Length of the whole packet in sequence space: parts of it may come again apart.
    pub packet: u32,
    /// The first packet with these bytes was larger: its sender has cut it.
    pub cut: bool,
    /// Outcome of the transmission.
    pub fate: Fate,
    /// The packet that showed it: time and frame.
    pub shown: (Timestamp, u64),
}

impl Settlement {
    /// Payload bytes: SYN and FIN occupy one number each (RFC 9293 §3.4).
    pub fn payload(&self) -> u32 {
        self.len.saturating_sub(u32::from(self.syn) + u32::from(self.fin))
    }
}

//! Stretches of time.

use crate::packet::{EspNumber, PacketForm};
use crate::segment::{ConnectionId, Fate, PairId, Settlement};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// A stretch of time, and the facts of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval<F = Standstill> {
    /// Begin of the stretch.
    pub from: Timestamp,
    /// End of the stretch.
    pub to: Timestamp,
    /// Facts of the stretch.
    pub facts: F,
}

impl<F> Interval<F> {
    /// Length of the stretch, nanoseconds.
    pub fn nanos(&self) -> i64 {
        self.to.nanos_since(self.from)
    }

    /// Begin and end of the stretch.
    pub fn span(&self) -> (Timestamp, Timestamp) {
        (self.from, self.to)
    }

    /// Whether the stretch has a moment in common with another one.
    pub fn touches(&self, (from, to): (Timestamp, Timestamp)) -> bool {
        self.from <= to && from <= self.to
    }

    /// The part of the stretch that lies in another one, if any does.
    pub fn within(self, (from, to): (Timestamp, Timestamp)) -> Option<Self> {
        let part = Interval {
            from: self.from.max(from),
            to: self.to.min(to),
            facts: self.facts,
        };
        (part.from < part.to).then_some(part)
    }
}

/// The undelivered packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CarriedKind {
    /// Data of TCP.
    Tcp,
    /// Echo requests, whose replies did not come.
    Echo,
    /// Datagrams, at the receiver's end.
    Datagrams,
    /// Packets without keys, which the other side used to answer.
    #[default]
    Unread,
}

/// Evidence that something was not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ShownBy {
    /// Packets that passed the capture and did not arrive.
    Swallowed,
    /// Numbers of the security association, or identifications of the connection's packets, that the capture lacks.
    MissingNumbers,
    /// An event of the control plane, in the middle of a transfer.
    ControlPlane,
    /// Echo requests of the receiver that nobody answered, in the middle of a transfer.
    Requests,
    /// A transfer stops in the middle, at the receiver's end, and does not go on.
    Unfinished,
    /// Nothing: the sender rested, or delivery cannot be seen.
    #[default]
    Nothing,
}

/// The traffic between two deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Undelivered {
    /// The undelivered packets.
    pub carried: CarriedKind,
    /// Evidence for the undelivered packets.
    pub shown_by: ShownBy,
    /// Transmissions in it that did not arrive, or whose arrival the sender did not hear of.
    pub swallowed: u32,
    /// Acknowledgements that the sender did not hear: the way back was closed.
    pub unheard: u32,
    /// Connections of the undelivered packets, as far as they are known.
    pub connections: u32,
    /// The number of the sender's tries, at least: groups of the first 64 of them, more than a round trip apart.
    pub attempts: u32,
    /// The first and the last of them, or the new IKE SA that came after: so long was there no way at least. Then the sender waited
    /// for its timer.
    pub dead: Option<(Timestamp, Timestamp)>,
    /// Packets of its sender that came in it behind missing ones.
    pub gaps: u32,
    /// Small packets that passed in it: echo requests of its sender that were answered and segments that were acknowledged, or what came
    /// to the capture between missing numbers.
    pub echoes: u32,
    /// Replies of its sender to echo requests in it: nothing shows whether they arrived.
    pub replies: u32,
    /// Bytes of the largest packet with payload that passed in it, echoes and replies included; 0 where there is none.
    pub largest_passed: u32,
    /// The packets that passed are as large as any that ever had: the size limit was there before.
    pub never_larger: bool,
    /// The sender cut what had not arrived into smaller packets, which did, and nothing larger passed since.
    pub cut: bool,
    /// Form of all packets that did not arrive; of compressed ones, where none of these ever arrived.
    pub form: PacketForm,
    /// Undelivered packets (of the first 64) that came behind the replay window of 32 numbers.
    pub behind_window: u32,
    /// The capture stands beside the receiver, and shows all that it sends.
    pub beside_receiver: bool,
    /// The receiver lacks none of its numbers when it goes on, and the sender went on all the time: nothing shows that either waited.
    pub receiver_rests: bool,
    /// Nothing was delivered up to the end of the transfer, or of the capture.
    pub open: bool,
    /// The last connection was closed or reset in it.
    pub over: bool,
}

impl Undelivered {
    /// Facts of a stretch in which nothing else is known than what was carried and what shows that it did not arrive.
    pub fn shown(carried: CarriedKind, shown_by: ShownBy) -> Self {
        Undelivered {
            carried,
            shown_by,
            ..Undelivered::default()
        }
    }
}

/// The kinds of stretches between deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandstillKind {
    /// Nothing was delivered though the sender tried, for longer than two retransmission timeouts.
    Outage,
    /// The same, shorter, or without a lost packet beside an event after which there may be no way: an outage only if something explains it.
    ShortOutage,
    /// One or two packets were lost, and the sender waited for its timer.
    Loss,
    /// Nothing was sent, and nothing waited.
    Rest,
    /// Datagrams were sent, and nothing shows whether they arrived.
    Unseen,
}

/// The sender's times when a stretch began, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SenderBefore {
    /// The round trip; 0 where none was measured.
    pub round_trip: i64,
    /// The retransmission timeout (RFC 6298).
    pub rto: i64,
}

/// Facts of a stretch between two deliveries of one direction between two inner addresses. The stretch begins with the last delivery before
/// it, and ends with the first one after it; where there was none, with the transfer or the capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standstill {
    /// The inner addresses.
    pub pair: PairId,
    /// Opaque name of the tunnel, as its packets have it.
    pub tunnel: u32,
    /// Direction of the data.
    pub direction: Direction,
    /// Frames of both deliveries; `None` at an end without delivery.
    pub frames: (u64, Option<u64>),
    /// SPIs of both, where they are known.
    pub spis: (Option<u32>, Option<u32>),
    /// The packets that did not arrive, in order of time (the first 64).
    pub lost: Vec<LostPacket>,
    /// The sender's times when it began.
    pub before: SenderBefore,
    /// The kind of the stretch.
    pub kind: StandstillKind,
    /// The traffic in it.
    pub undelivered: Undelivered,
}

impl Standstill {
    /// An outage of one side, of which nothing is known but the traffic in it.
    pub fn new((tunnel, direction): (u32, Direction), undelivered: Undelivered) -> Self {
        Standstill {
            pair: PairId::NONE,
            tunnel,
            direction,
            frames: (0, None),
            spis: (None, None),
            lost: Vec::new(),
            before: SenderBefore::default(),
            kind: StandstillKind::Outage,
            undelivered,
        }
    }
}

/// A transmission in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostPacket {
    /// Time at which the packet passed the capture.
    pub time: Timestamp,
    /// Frame of the packet.
    pub frame: u64,
    /// The connection of the packet; [`ConnectionId::NONE`] where it is of none.
    pub connection: ConnectionId,
    /// The packet's place in its security association, where it has one.
    pub esp: Option<EspNumber>,
    /// Bytes of its payload; where keys are missing, of the packet.
    pub bytes: u32,
    /// True where the segment opens a connection.
    pub syn: bool,
    /// A copy of data that had arrived before: the way was open then, and the packet arrived.
    pub superfluous: bool,
}

impl LostPacket {
    pub(crate) fn of(settled: &Settlement) -> Self {
        LostPacket {
            time: settled.time,
            frame: settled.frame,
            connection: settled.connection,
            esp: settled.esp,
            bytes: settled.packet,
            syn: settled.syn,
            superfluous: matches!(settled.fate, Fate::Superfluous { unheard: 0 }),
        }
    }
}

/// A time in which a side of a tunnel, or both, sent nothing: from the last packet before it, or the begin of time, to the first one after
/// it, or the end of time.
pub type PacketSilence = Interval<LastPacket>;

/// The packet before a silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastPacket {
    /// Frame of the packet; `None` where the capture has none.
    pub frame: Option<u64>,
}

//! Stretches in which nothing was delivered between two inner addresses.

use super::lost::LostPacket;
use crate::packet::PacketForm;
use crate::segment::PairId;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

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

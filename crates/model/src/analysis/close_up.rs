//! Packets right around a rekey: a plot of sequence numbers over time needs them.

use crate::analysis::names::{CloseUpNumbers, Direction, SaAge};
use crate::analysis::plain_data::plain_data;
use std::net::IpAddr;

plain_data! {
    /// The packets around a rekey, from 1.5 s before its first message to 1.5 s behind the switch: of the busiest inner TCP
    /// connection of the direction with more payload, or (where TCP carries less than half of it, or nothing can be read) the
    /// ESP packets of both directions on the SAs that end and begin. At most 24 rekeys of a document have one: those around
    /// which new data paused for longest. Times are milliseconds since `started` of the rekey, without it since its first switch.
    pub struct CloseUp {
        /// The direction of the data; the other one acknowledges.
        pub direction: Direction,
        /// Meaning of the numbers of `series`.
        pub numbers: CloseUpNumbers,
        /// The connection inside, from the sender of the data to its receiver; absent where the numbers count ESP packets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub connection: Option<CloseUpConnection>,
        /// Left end.
        pub from_ms: f64,
        /// Right end.
        pub to_ms: f64,
        /// Last packet on the old SA of `direction`, where it lies between the ends.
        pub last_on_old: Option<CloseUpPacket>,
        /// First packet on the new SA of `direction`, likewise.
        pub first_on_new: Option<CloseUpPacket>,
        /// The packets, one entry per direction and SA, in order of time.
        pub series: Vec<CloseUpSeries>,
        /// Frames of `direction` whose every byte is sent again later: presumed lost.
        pub lost_frames: Vec<u64>,
        /// Frames of `direction` that send bytes again.
        pub repeated_frames: Vec<u64>,
        /// IKE messages of the tunnel between the ends (at most 64).
        pub ike: Vec<CloseUpMessage>,
        /// Packets that `series` leaves out: beyond 400 of the data and 200 of the answers, of each slot of time only the
        /// first and the last one stay. Those in `lost_frames` and `repeated_frames` stay as far as there are no more than 400 of them, and so
        /// do the first and the last packet on each SA.
        pub left_out: u64,
    }
    /// A TCP connection inside the tunnel.
    pub struct CloseUpConnection {
        /// Inner source.
        pub src: IpAddr,
        /// Inner source port.
        pub src_port: u16,
        /// Inner destination.
        pub dst: IpAddr,
        /// Inner destination port.
        pub dst_port: u16,
    }
    /// One packet.
    pub struct CloseUpPacket {
        /// Time of the packet.
        pub ms: f64,
        /// Frame of the packet.
        pub frame: u64,
    }
    /// Packets of one direction on one SA, as columns of the same length.
    pub struct CloseUpSeries {
        /// Their direction.
        pub direction: Direction,
        /// The SA that carried them.
        pub sa: SaAge,
        /// Times of the packets.
        pub ms: Vec<f64>,
        /// Their frames.
        pub frames: Vec<u64>,
        /// Bytes from the lowest one shown to the end of the segment, of answers to what they acknowledge; or ESP sequence
        /// numbers: on the new SA as they are, on the old one less its highest, so that it ends with 0 where the new one begins with 1.
        pub values: Vec<i64>,
        /// The highest byte that the receiver has room for, of acknowledgements whose window scale is known, counted like
        /// `values`; else absent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub window_edges: Vec<i64>,
    }
    /// One IKE message.
    pub struct CloseUpMessage {
        /// Time of the message.
        pub ms: f64,
        /// Frame of the message.
        pub frame: u64,
        /// From which end to which.
        pub direction: Direction,
        /// Index in `exchanges`.
        pub exchange: usize,
        /// Place among the messages of the exchange in the capture, from 1; repetitions do not count and have that of the
        /// message before them by the same sender.
        pub message: usize,
        /// Repeats an earlier one byte for byte.
        pub retransmission: bool,
    }
}

//! Rekeys in the document: SPIs, times, trigger, what each one cost, and the packets right around it.

use crate::analysis::names::{
    CloseUpNumbers, Direction, ExplanationCause, LedgerWhy, RekeyEvidence, SaAge, TriggerKind,
};
use crate::analysis::plain_data::plain_data;
use crate::spi::Spi;
use crate::text::Message;
use crate::time::Timestamp;
use std::net::IpAddr;

plain_data! {
    /// One renewal of an SA pair.
    pub struct Rekey {
        /// Index in this list.
        pub index: usize,
        /// Place among the rekeys of its tunnel, from 1: what sentences, tables and plots call it. 0 in documents of versions
        /// before this field, which called it `index` + 1.
        #[serde(default)]
        pub number: usize,
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Index in `exchanges`; `null` where only the SPIs show it.
        pub exchange: Option<usize>,
        /// Address that began the exchange.
        pub initiator: Option<IpAddr>,
        /// The SAs that end.
        pub old: SpiPair,
        /// The SAs that begin.
        pub new: SpiPair,
        /// Evidence of the rekey.
        pub evidence: RekeyEvidence,
        /// Why it happened.
        pub trigger: Trigger,
        /// First exchange message; `null` where it is not in the capture.
        pub started: Option<Timestamp>,
        /// First packet on the new SA.
        pub switched: TimePair,
        /// First to last exchange message.
        pub exchange_ms: Option<f64>,
        /// Time in which both SAs of a direction carried packets; the longer direction. Negative values are gaps, so 0 at least.
        pub overlap_ms: Option<f64>,
        /// Last packet on the old SA to first packet on the new one.
        pub gap_ms: MillisPair,
        /// Effect on throughput, per direction that carries data.
        pub impact: Vec<RekeyImpact>,
        /// The packets around it, for the 24 rekeys at which data paused for longest; absent elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub close_up: Option<CloseUp>,
    }
    /// Why a rekey happened.
    #[derive(Default)]
    pub struct Trigger {
        /// The limit that ran out.
        pub kind: TriggerKind,
        /// Volume at the first exchange message over the limit.
        pub fraction: Option<f64>,
        /// Meaning of `bytes`, for example `inner bytes of the expiring inbound SA, kB = 1000`: the busier SA's, unless the
        /// rule of the trace ([`TriggerRule`]) leaves one counting only, which then stands here.
        pub counting: Option<String>,
        /// `counting` as message identifiers and arguments, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
        /// Volume at the first exchange message.
        pub bytes: Option<u64>,
        /// Negotiated kilobyte lifetime.
        pub limit_kilobytes: Option<u64>,
        /// Age of the old SA at the first exchange message, seconds.
        pub age_s: Option<f64>,
        /// Negotiated lifetime in seconds.
        pub limit_seconds: Option<u64>,
        /// The old SA is older than the capture, or packets of it are missing: `bytes` and `age_s` are lower bounds, and there
        /// is no `fraction`.
        #[serde(default)]
        pub at_least: bool,
        /// The first exchange message is not in the capture: `bytes` and `age_s` are upper bounds, read at a later one or (where
        /// there is none) over the whole SA, and there is no `fraction`. Where both hold, neither is given.
        #[serde(default)]
        pub at_most: bool,
    }
    /// Effect of one rekey on one direction, as the ledger of that direction has it.
    pub struct RekeyImpact {
        /// Direction of the data.
        pub direction: Direction,
        /// True where the rekey is observed: false outside the transfer, or where the capture lacks packets beside it.
        pub used: bool,
        /// True where the rekey owns a silence, or a slow stretch.
        pub hurt: bool,
        /// Cost, seconds: 0 where the rekey owns nothing; `null` where that is not known.
        #[serde(default)]
        pub cost_seconds: Option<f64>,
        /// True where the cost is a lower bound.
        #[serde(default)]
        pub at_least: bool,
        /// Longest silence that the rekey owns, milliseconds.
        #[serde(default)]
        pub silence_ms: Option<f64>,
        /// Reason why the rekey owns its longest silence.
        #[serde(default)]
        pub why: Option<LedgerWhy>,
        /// Cause of its longest silence; the ledger has the explanation whole. `null` where these packets do not show it.
        #[serde(default)]
        pub cause: Option<ExplanationCause>,
        /// Transmissions in the rekey's silences that did not arrive, or brought nothing new.
        #[serde(default)]
        pub swallowed: u32,
        /// Flags: `capture_hole` (the capture lacks packets beside it), `collision` (counted with the rekey that collided with it).
        pub flags: Vec<String>,
    }

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

/// A value per direction; `null` where a direction has none, as an SA has that never carried a packet and that no exchange names.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[schemars(rename = "{T}Pair")]
pub struct PerDirection<T> {
    /// Towards the IKE responder.
    pub a_to_b: Option<T>,
    /// Towards the IKE initiator.
    pub b_to_a: Option<T>,
}

/// SPIs of both directions.
pub type SpiPair = PerDirection<Spi>;
/// Moments of both directions.
pub type TimePair = PerDirection<Timestamp>;
/// Milliseconds of both directions.
pub type MillisPair = PerDirection<f64>;

impl<T: Copy> PerDirection<T> {
    /// The value of one direction.
    pub fn get(&self, direction: Direction) -> Option<T> {
        direction.pick(self.a_to_b, self.b_to_a)
    }

    /// The values that there are.
    pub fn values(&self) -> impl Iterator<Item = T> + Clone {
        [self.a_to_b, self.b_to_a].into_iter().flatten()
    }
}

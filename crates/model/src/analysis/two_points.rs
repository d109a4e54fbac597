//! One tunnel captured at two points: what was lost between them, what it took, and how far apart their clocks are.

use crate::analysis::capture::CaptureFile;
use crate::analysis::names::{Direction, OrderSource, PointOrder};
use crate::analysis::plain_data::plain_data;
use crate::spi::Spi;
use crate::text::Message;
use crate::time::Timestamp;
use std::net::IpAddr;

plain_data! {
    /// This capture (here) against another one of the same tunnel (there). All times are those of the clock here. Only SAs count that
    /// both captures hold, and only packets between `from` and `to`.
    pub struct TwoPoints {
        /// The other capture.
        pub path: String,
        /// Files of the other capture, where they are several.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub files: Vec<CaptureFile>,
        /// ESP and AH packets in it.
        pub packets: u64,
        /// Packets that it lost, by its own counters; `null` where it has none.
        pub dropped_reported: Option<u64>,
        /// The other capture ends in the middle of a record, or is damaged.
        pub truncated_file: bool,
        /// Begin of the time that both captures cover, shortened by the longest delay; `null` where nothing could be compared.
        pub from: Option<Timestamp>,
        /// End of that time.
        pub to: Option<Timestamp>,
        /// SAs that were compared.
        pub sas: u64,
        /// SAs of those that have another destination there (a NAT lies between): they were matched by SPI and sequence number alone.
        pub sas_behind_nat: u64,
        /// SAs with packets here and none there.
        pub sas_only_here: u64,
        /// SAs with packets there and none here.
        pub sas_only_there: u64,
        /// From here on packets were not kept for the comparison, because a capture has too many; `null` where all were.
        pub kept_until: Option<Timestamp>,
        /// The clock there against the one here; `null` where nothing could be compared.
        pub clock: Option<PointClock>,
        /// One entry per tunnel and direction.
        pub directions: Vec<PointDirection>,
        /// The rekeys around which packets were lost between the points, one entry per direction.
        pub rekeys: Vec<PointRekey>,
        /// In words: what could be compared, the clocks, the losses, and what to keep in mind.
        pub sentence: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
    }
    /// Course of the clock there against the one here.
    pub struct PointClock {
        /// The moment of `offset_ms`.
        pub at: Timestamp,
        /// Milliseconds that the clock there shows more than the one here, if the shortest delay is the same both ways; `null` where packets of one
        /// direction only were seen at both points.
        pub offset_ms: Option<f64>,
        /// The offset is off by this at most: half of `round_trip_ms`.
        pub offset_error_ms: Option<f64>,
        /// The shortest time from one point to the other and back.
        pub round_trip_ms: Option<f64>,
        /// Gain of the clock there; `null` where the captures are too short for it.
        pub drift_ppm: Option<f64>,
        /// The least drift with which no packet arrives before it was sent.
        pub drift_low_ppm: Option<f64>,
        /// The greatest.
        pub drift_high_ppm: Option<f64>,
        /// One offset and one drift fit all packets; false: a clock was set meanwhile, and there are no delays.
        pub straight: bool,
    }
    /// The packets of one direction of a tunnel.
    pub struct PointDirection {
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Direction of the packets.
        pub direction: Direction,
        /// Outer source, as seen here.
        pub src: IpAddr,
        /// Outer destination, as seen here.
        pub dst: IpAddr,
        /// Point that they pass first.
        pub order: PointOrder,
        /// Source of that order; `null` where nothing tells it.
        #[serde(default)]
        pub order_by: Option<OrderSource>,
        /// Packets seen at both points. A packet is an SPI with a sequence number; copies of it count once.
        pub both: u64,
        /// Seen here alone.
        pub only_here: u64,
        /// Seen there alone.
        pub only_there: u64,
        /// Seen at either point outside the time that both cover: not counted.
        pub outside: u64,
        /// Seen at the first point and not at the second: lost between them (or not recorded at the second); `null` where the order is
        /// not known.
        pub lost_between: Option<u64>,
        /// Seen at the second point and not at the first, which did not record them; `null` where the order is not known.
        pub not_recorded: Option<u64>,
        /// Sequence numbers that neither point saw, between others that were seen: lost before the first point, never sent, or recorded
        /// by neither.
        pub missing_at_both: u64,
        /// Copies here.
        pub duplicates_here: u64,
        /// Copies there.
        pub duplicates_there: u64,
        /// Packets that another one overtook between the points.
        pub reordered: u64,
        /// From the first point to the second, each off by `offset_error_ms` at most; `null` where the offset is not known.
        pub delay_ms: Option<PointDelay>,
        /// Time that a packet took longer than the fastest; holds without knowing the offset.
        pub variation_ms: Option<PointDelay>,
        /// IKE messages seen at both points.
        pub ike_both: u64,
        /// IKE messages seen here alone.
        pub ike_only_here: u64,
        /// IKE messages seen there alone.
        pub ike_only_there: u64,
    }
    /// A distribution of delays.
    pub struct PointDelay {
        /// Least.
        pub least: f64,
        /// Median.
        pub median: f64,
        /// 95 % quantile.
        pub p95: f64,
        /// Greatest.
        pub most: f64,
    }
    /// Losses of one rekey's SAs between the points, in one direction.
    pub struct PointRekey {
        /// Index in `rekeys`.
        pub rekey: usize,
        /// Number of the rekey in its tunnel.
        pub number: usize,
        /// Index in `tunnels`.
        pub tunnel: usize,
        /// Direction of the packets.
        pub direction: Direction,
        /// The SA that ends.
        pub old_spi: Option<Spi>,
        /// Packets of the SA that ends which were lost between the points.
        pub old_lost: u64,
        /// The SA that begins.
        pub new_spi: Option<Spi>,
        /// Packets of the SA that begins which were lost between the points.
        pub new_lost: u64,
        /// Packets of both SAs that passed the first point within the time of the rekey: from 1 s before it to 2 s after it, divided between
        /// rekeys that are closer.
        pub sent: u64,
        /// Number of those that would be lost at the rate of this direction's other packets; `null` where it has none.
        pub usual_lost: Option<f64>,
        /// Messages of the exchange that were lost between the points.
        pub ike_lost: u64,
        /// The first lost packet or message, from the first packet on the new SA (or, without one, the first message).
        pub first_ms: f64,
        /// The last one.
        pub last_ms: f64,
        /// In words.
        pub sentence: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
    }
}

//! The one reading of inner packets, which every rule reads: packets become segments, and stretches without delivery intervals.
//!
//! ```text
//! Packet ─→ tracker ─┬─→ Segment     what one packet was: new, again (and what it repeats), late, what it acknowledges
//!                    └─→ Settlement  what became of a transmission: the copy that arrived, swallowed, superfluous
//! Segment, Settlement, Event ─→ outage ─→ Interval   when nothing was delivered between two inner addresses
//! Settlement ─→ delivered ─→ DeliveryLine            when how many bytes arrived, and what was sent in vain
//! Packet without a key ─→ sealed ─→ SealedLine       when how many bytes passed, and when packets came back that may answer them
//! ```
//!
//! - [`packet`]: the input. The crate knows no ESP and no files: SPIs and numbers are opaque.
//! - [`segment`]: the output.
//! - `tracker`: connections, one per five-tuple and time; [`Tracker`] takes packets in the order of the capture.
//! - `tcp`: one side of a connection: send sequence (RFC 9293), scoreboard (RFC 6675), round trip times (RFC 6298).
//! - [`interval`]: stretches of time.
//! - `outage`: stretches without delivery.
//! - `delivered`: arrived bytes of each direction.
//! - `sealed`: packets without a key of each direction.
//! - `run`: transmissions that follow each other closely, as runs of 20 ms.
//! - `table`: tables with bounds.
//!
//! `cargo run -p rekeyscope-traffic --example trace` shows the way of a few packets.
//!
//! Everything streams in one pass. A packet of a usual transfer touches the ends of its connection's queue only. Bounds, and what
//! happens at them, stand with each table; by the sizes given there they come to some 120 MB.

mod delivered;
mod outage;
mod run;
mod sealed;
mod table;
mod tcp;
mod tracker;

pub mod interval;
pub mod packet;
pub mod segment;

pub use crate::delivered::{CONNECTION_SHARE, DeliveredBytes, DeliveryLine};
pub use crate::interval::{
    CarriedKind, Interval, LastPacket, LostPacket, PacketSilence, SenderBefore, ShownBy, Standstill,
    StandstillKind, Undelivered,
};
pub use crate::outage::{
    EchoesInVain, LEAST_ANSWERED, LEAST_IN_LOOK, LEAST_REST, LOOK, LatePackets, MOST_PER_ANSWER, Outages,
    REPLAY_WINDOWS, three_take, window_takes,
};
pub use crate::packet::{EspNumber, FiveTuple, InnerPayload, Packet, PacketForm, SackBlocks, TcpHeader};
pub use crate::run::{FINEST, TransmissionRun};
pub use crate::sealed::{SealedLine, SealedPacket, SealedTraffic};
pub use crate::segment::{Acknowledgement, ConnectionId, Fate, PairId, Segment, SegmentKind, Settlement};
pub use crate::table::Ranges;
pub use crate::tcp::{
    DEFAULT_MSS, Handshake, INITIAL_RTO, INITIAL_WINDOW, LARGEST_WINDOW_SCALE, LEAST_TIMEOUT,
    LONGEST_ACK_DELAY, RttEstimator, doubled_timer,
};
pub use crate::tracker::{BESIDE_RECEIVER, Preview, SenderState, Tap, Tracker};

//! The output: what each packet was for its connection, and what became of each transmission.

mod settlement;
mod tcp_segment;

pub use settlement::{Fate, Settlement};
pub use tcp_segment::{Acknowledgement, ConnectionId, PairId, Segment, SegmentKind};

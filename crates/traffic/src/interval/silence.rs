//! A time without packets.

use super::span::Interval;

/// A time in which a side of a tunnel, or both, sent nothing: from the last packet before it, or the begin of time, to the first one after
/// it, or the end of time.
pub type PacketSilence = Interval<LastPacket>;

/// The packet before a silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastPacket {
    /// Frame of the packet; `None` where the capture has none.
    pub frame: Option<u64>,
}

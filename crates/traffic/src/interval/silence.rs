//! A time without packets.

use rekeyscope_model::time::Timestamp;

/// A time in which a side of a tunnel, or both, sent nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketSilence {
    /// Time of the last packet before the silence; the begin of time where there is none.
    pub from: Timestamp,
    /// Time of the first packet after the silence; the end of time where there is none.
    pub to: Timestamp,
    /// Frame of the packet before the silence; `None` where the capture has none.
    pub last_frame: Option<u64>,
}

impl PacketSilence {
    /// Nanoseconds.
    pub fn nanos(&self) -> i64 {
        self.to.nanos_since(self.from)
    }

    /// The part of the silence that lies in a stretch, if any does.
    pub fn within(self, (from, to): (Timestamp, Timestamp)) -> Option<PacketSilence> {
        let part = PacketSilence {
            from: self.from.max(from),
            to: self.to.min(to),
            ..self
        };
        (part.from < part.to).then_some(part)
    }
}

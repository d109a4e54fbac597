//! A packet that was delivered, and what shows it.

use crate::diagnosis::record::PacketRecord;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::time::Timestamp;

/// A packet that was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeliveredPacket {
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    pub(crate) sa: SaIndex,
}

impl DeliveredPacket {
    pub(super) fn of(p: &PacketRecord) -> Self {
        DeliveredPacket {
            time: p.time,
            frame: p.frame,
            sa: p.sa(),
        }
    }
}

/// What shows that something was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ProgressKind {
    /// An acknowledgement of inner TCP.
    Acknowledged,
    /// It passed the capture.
    Arrived,
    /// The other side sent something soon after. Nothing could be read.
    #[default]
    Answered,
}

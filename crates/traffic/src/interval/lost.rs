//! A packet that did not arrive.

use crate::packet::EspNumber;
use crate::segment::{ConnectionId, Fate, Settlement};
use rekeyscope_model::time::Timestamp;

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

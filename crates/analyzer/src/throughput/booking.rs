//! An ESP packet as it is counted.

use crate::diagnosis::PacketRecord;
use rekeyscope_ipsec::esp::inner::TcpSegment;

/// An ESP packet as meters and connections take it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Booking {
    pub(crate) record: PacketRecord,
    pub(crate) tcp: Option<TcpSegment>,
    /// Numbers of its SA right before its own that no packet had.
    pub(crate) skipped: u64,
    /// New inner bytes, where it could be opened.
    pub(crate) new: u32,
    /// IP total length.
    pub(crate) outer_bytes: u32,
    /// Length from the SPI on, on the wire.
    pub(crate) esp_bytes: u32,
}

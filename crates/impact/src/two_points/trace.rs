//! What is kept of a capture for the comparison: 16 bytes of each packet.

use rekeyscope_model::analysis::{CaptureFile, Direction};
use rekeyscope_model::spi::{IkeSpi, SaId};
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// One sighting of a packet.
#[derive(Debug, Clone, Copy)]
pub struct PointPacket {
    /// When.
    pub time: Timestamp,
    /// Sequence number, as on the wire.
    pub sequence: u32,
    /// Index in [`PointTrace::sas`].
    pub sa: u16,
    /// TTL or hop limit of the IP packet around it; 0 where it is not known.
    pub hop_limit: u8,
}

/// An SA.
#[derive(Debug, Clone, Copy)]
pub struct PointSa {
    /// Destination, protocol, SPI.
    pub id: SaId,
    /// Where its packets come from.
    pub src: IpAddr,
    /// Index of its tunnel in the document of this capture.
    pub tunnel: usize,
    /// Its direction there.
    pub direction: Direction,
    /// Not of a tunnel that was asked for.
    pub left_out: bool,
}

/// One sighting of an IKE message.
#[derive(Debug, Clone, Copy)]
pub struct PointMessage {
    /// When.
    pub time: Timestamp,
    /// The initiator's SPI or cookie.
    pub initiator_spi: IkeSpi,
    /// Its message ID.
    pub message_id: u32,
    /// Digest of all its bytes.
    pub digest: u64,
    /// Index of its tunnel in the document of this capture.
    pub tunnel: usize,
    /// Its direction there.
    pub direction: Direction,
}

/// What one capture point saw.
#[derive(Debug, Clone, Default)]
pub struct PointTrace {
    /// The capture, as reports call it.
    pub path: String,
    /// Its files, where they are several.
    pub files: Vec<CaptureFile>,
    /// SAs.
    pub sas: Vec<PointSa>,
    /// ESP and AH packets in capture order.
    pub packets: Vec<PointPacket>,
    /// IKE messages in capture order.
    pub messages: Vec<PointMessage>,
    /// Times of the first and the last packet of any kind.
    pub covered: Option<(Timestamp, Timestamp)>,
    /// From here on there was no room.
    pub kept_until: Option<Timestamp>,
    /// ESP and AH packets in the capture.
    pub packets_seen: u64,
    /// Packets that the capture lost, by its own counters.
    pub dropped_reported: Option<u64>,
    /// It ends in the middle of a record, or is damaged.
    pub truncated: bool,
}

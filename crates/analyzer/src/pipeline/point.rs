//! The record of each packet for the comparison with another capture point ([`rekeyscope_impact::two_points`]).

use rekeyscope_capture::framing::Datagram;
use rekeyscope_impact::two_points::{PointMessage, PointPacket};
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::spi::IkeSpi;
use rekeyscope_model::time::Timestamp;
use std::hash::{DefaultHasher, Hasher};

/// Packets kept of a capture: 16 bytes each, 32 MiB; the comparison of two full ones needs 0.2 GB. It ends where one is full, and says so.
const MOST_PACKETS: usize = 1 << 21;
/// IKE messages kept, 5 MB. The same.
const MOST_MESSAGES: usize = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct PointRecord {
    pub(crate) packets: Vec<PointPacket>,
    /// All of them, also those for which there was no room.
    pub(crate) packets_seen: u64,
    /// IKE messages. Their directions have the names that the tunnels' ends have while the capture is read.
    pub(crate) messages: Vec<PointMessage>,
    /// The first packet for which there was no room.
    pub(crate) kept_until: Option<Timestamp>,
}

impl PointRecord {
    pub(crate) fn packet(&mut self, datagram: &Datagram<'_>, sa: SaIndex, sequence: u32) {
        self.packets_seen += 1;
        let (Ok(sa), true) = (u16::try_from(sa), self.packets.len() < MOST_PACKETS) else {
            self.full(datagram.time);
            return;
        };
        self.packets.push(PointPacket {
            time: datagram.time,
            sequence,
            sa,
            hop_limit: datagram.hop_limit,
        });
    }

    /// A message from the IKE header on (RFC 7296 §3.1): the initiator's SPI first, the message ID in bytes 20 to 23.
    pub(crate) fn message(
        &mut self,
        datagram: &Datagram<'_>,
        bytes: &[u8],
        tunnel: TunnelIndex,
        direction: Direction,
    ) {
        let (Some(spi), Some(id)) = (
            bytes.first_chunk::<8>(),
            bytes.get(20..).and_then(|rest| rest.first_chunk::<4>()),
        ) else {
            return;
        };
        if self.messages.len() >= MOST_MESSAGES {
            self.full(datagram.time);
            return;
        }
        // Two captures of one run are compared: no seed.
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        self.messages.push(PointMessage {
            time: datagram.time,
            initiator_spi: IkeSpi(*spi),
            message_id: u32::from_be_bytes(*id),
            digest: hasher.finish(),
            tunnel,
            direction,
        });
    }

    fn full(&mut self, time: Timestamp) {
        self.kept_until.get_or_insert(time);
    }
}

//! A conversation as a capture.

use crate::containers::{Order, Packet, PcapKind, pcap};
use crate::headers::{ipv4, udp};
use crate::ike::wire::{INITIATOR, RESPONDER, Wire};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// All messages, 20 ms apart: time, whether from the initiator, bytes.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// In order of time.
    pub sent: Vec<(Timestamp, bool, Vec<u8>)>,
}

impl Wire for Recording {
    type Seen = ();

    fn send(&mut self, from_initiator: bool, message: &[u8]) {
        let number = self.sent.len() as i64 + 1;
        let time = Timestamp(1_000_000_000_000).plus_nanos(number * 20 * NANOS_PER_MILLI);
        self.sent.push((time, from_initiator, message.to_vec()));
    }
}

impl Recording {
    /// A pcap of raw IPv4 packets with UDP 500.
    pub fn pcap(&self) -> Vec<u8> {
        let packet = |(time, from_initiator, message): &(Timestamp, bool, Vec<u8>)| {
            let (src, dst) = match from_initiator {
                true => (INITIATOR, RESPONDER),
                false => (RESPONDER, INITIATOR),
            };
            Packet::new(time.0, ipv4(src, dst, 17, &udp(500, 500, message)))
        };
        let packets: Vec<Packet> = self.sent.iter().map(packet).collect();
        pcap(PcapKind::Nanos, Order::Little, 101, &packets).0
    }
}

//! IKE and ESP in TCP (RFC 9329): what comes out of a stream's segments goes the way of single packets.

use super::Analyzer;
use rekeyscope_capture::framing::tcp_stream::CarrierSegment;
use rekeyscope_capture::framing::{Datagram, DatagramKind};
use rekeyscope_model::analysis::Encapsulation;

impl Analyzer {
    /// A piece of a TCP stream with IKE and ESP in it (RFC 9329).
    pub(super) fn push_tcp(&mut self, datagram: &Datagram<'_>, segment: &CarrierSegment<'_>) {
        let taken = self.streams.push(segment);
        if taken.lost_place {
            self.note("stream_lost", "TCP", datagram.frame, "oddity-stream-lost");
        }
        if taken.foreign {
            self.note_named("not_ipsec", "TCP", datagram.frame, "oddity-not-ipsec");
        }
        for message in taken.datagrams(datagram, segment) {
            match message.kind {
                DatagramKind::Ike { udp, message: bytes } => self.push_ike(&message, udp, bytes),
                DatagramKind::Esp { udp, packet } => self.push_esp(&message, udp, Encapsulation::Tcp, packet),
                _ => {}
            }
        }
    }
}

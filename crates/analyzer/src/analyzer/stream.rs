//! IKE and ESP in TCP (RFC 9329): what comes out of a stream's segments goes the way of single packets.

use super::Analyzer;
use crate::analysis::Encapsulation;
use crate::framing::Datagram;
use crate::framing::tcp_stream::{TcpMessage, TcpSegment};
use crate::text::Message;

impl Analyzer {
    /// A piece of a TCP stream with IKE and ESP in it (RFC 9329).
    pub(super) fn push_tcp(&mut self, datagram: &Datagram<'_>, segment: &TcpSegment<'_>) {
        let taken = self.streams.push(segment);
        if taken.lost_place {
            self.diagnostics
                .count("stream_lost", "TCP", Some(datagram.frame), || {
                    Message::new("oddity-stream-lost")
                });
        }
        if taken.foreign {
            self.diagnostics
                .count("not_ipsec", "TCP", Some(datagram.frame), || {
                    Message::new("oddity-not-ipsec").with("name", "TCP")
                });
        }
        // The headers of the IP packet that completed them belong to the messages; the first one carries them.
        let mut headers = datagram.outer_bytes.saturating_sub(segment.payload.len() as u32);
        for message in taken.messages {
            let (kind_len, udp) = (u32::from(message.len()), segment.ports);
            let of_message = Datagram {
                outer_bytes: headers + kind_len + 2,
                largest_fragment: datagram.largest_fragment,
                cut: false,
                wire_len: kind_len,
                ..*datagram
            };
            headers = 0;
            match &message {
                TcpMessage::Ike(message) => self.push_ike(&of_message, udp, message),
                TcpMessage::Esp(packet) => {
                    self.push_esp(&of_message, Some(udp), Encapsulation::Tcp, packet);
                }
                TcpMessage::Keepalive => {}
            }
        }
    }
}

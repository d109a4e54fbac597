//! The datagrams that carry IPsec.

use crate::layers::ip::Authentication;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// SPI and sequence number (RFC 4303 §2).
pub(super) const ESP_HEADER_LEN: usize = 8;

/// UDP ports around ESP or IKE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UdpPorts {
    /// Source port.
    pub src: u16,
    /// Destination port.
    pub dst: u16,
}

/// An IP datagram of interest, whole again where it was fragmented.
#[derive(Debug, Clone)]
pub struct Datagram<'a> {
    /// Frame that held it; of fragments, the one that completed it.
    pub frame: u64,
    /// Time of that frame.
    pub time: Timestamp,
    /// Outer source.
    pub src: IpAddr,
    /// Outer destination.
    pub dst: IpAddr,
    /// IP total length (IPv6: payload length + 40); of fragments, their sum.
    pub outer_bytes: u32,
    /// Largest single IP packet: equals `outer_bytes` for whole ones.
    pub largest_fragment: u32,
    /// IP packets that it came in: 1 for a whole one.
    pub fragments: u16,
    /// The snap length cut it: the payload is shorter than it was on the wire.
    pub cut: bool,
    /// Bytes that the payload had on the wire (from the ESP or IKE header on).
    pub wire_len: u32,
    /// The captured part of the IP payload, transport header included.
    pub payload: &'a [u8],
    /// IPv4 identification, also of a datagram that came in fragments.
    pub identification: Option<u16>,
    /// TTL or hop limit of the IP packet, of fragments that of the last one to come; 0 where there was none, as inside ESP.
    pub hop_limit: u8,
    /// The authentication header around that, the outermost of several.
    pub ah: Option<Box<Authentication<'a>>>,
    /// The payload's kind.
    pub kind: DatagramKind<'a>,
}

impl<'a> Datagram<'a> {
    /// An ESP packet between two ends that no IP header is around: it stands right behind the header of another ESP packet.
    pub fn bare(frame: u64, time: Timestamp, (src, dst): (IpAddr, IpAddr), packet: &'a [u8]) -> Self {
        let len = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        Datagram {
            frame,
            time,
            src,
            dst,
            outer_bytes: len,
            largest_fragment: len,
            fragments: 1,
            cut: false,
            wire_len: len,
            payload: packet,
            identification: None,
            hop_limit: 0,
            ah: None,
            kind: DatagramKind::Esp { udp: None, packet },
        }
    }
}

/// The kind of a datagram's payload.
#[derive(Debug, Clone, Copy)]
pub enum DatagramKind<'a> {
    /// An IKE message without the non-ESP marker.
    Ike {
        /// Ports.
        udp: UdpPorts,
        /// From the IKE header on.
        message: &'a [u8],
    },
    /// An ESP packet.
    Esp {
        /// Ports when in UDP (RFC 3948).
        udp: Option<UdpPorts>,
        /// From the SPI on.
        packet: &'a [u8],
    },
    /// A NAT keepalive (one 0xff byte, RFC 3948 §2.3).
    NatKeepalive,
    /// A TCP segment of a port that may carry IKE and ESP (RFC 9329).
    TcpSegment(TcpSegment<'a>),
    /// Anything else, by name (`"TCP"`, `"UDP"`, `"L2TP in clear"`, …): counted, not looked into.
    Other(&'static str),
}

/// A TCP segment whose port may carry IPsec.
#[derive(Debug, Clone, Copy)]
pub struct TcpSegment<'a> {
    /// TCP ports.
    pub ports: UdpPorts,
    /// Sequence number of the first byte (RFC 9293 §3.1).
    pub seq: u32,
    /// SYN is set, so that the payload begins one number later.
    pub syn: bool,
    /// The captured part of the segment's data.
    pub payload: &'a [u8],
}

/// The name of packets that only an authentication header (RFC 4302) protects.
pub const AH: &str = "AH";

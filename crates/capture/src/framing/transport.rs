//! From an IP payload to IKE or ESP: by protocol number, or in UDP by port (RFC 7296 §2, RFC 3948), of which a capture may show more.

use crate::framing::datagram::{DatagramKind, ESP_HEADER_LEN, TcpSegment, UdpPorts};
use crate::layers::ip::too_short;
use crate::layers::udp::{
    GENEVE_PORT, GTP_PORT, IKE_PORT, L2TP_PORT, NAT_T_PORT, VXLAN_PORTS, is_ipsec_port,
};
use etherparse::{IpNumber, TcpHeaderSlice, UdpHeader, UdpHeaderSlice, ip_number};
use rekeyscope_model::error::WireError;
use std::collections::HashSet;
use std::net::IpAddr;

/// A NAT moves port 4500 to another port, but never below this one: what talks to a lower port is a client of that
/// service whose own port happens to be 4500.
const LOWEST_NAT_PORT: u16 = 1024;
const IKE_HEADER_LEN: usize = 28;

#[derive(Debug, Clone, Copy)]
pub(super) struct Content<'a> {
    pub(super) kind: DatagramKind<'a>,
    pub(super) wire_len: u32,
    /// Captured bytes of it.
    pub(super) captured: usize,
    /// The UDP header promises more than the IP packet holds.
    pub(super) udp_longer_than_ip: bool,
}

impl<'a> Content<'a> {
    fn new(kind: DatagramKind<'a>, captured: usize, wire_len: u32) -> Content<'a> {
        Content {
            kind,
            wire_len,
            captured,
            udp_longer_than_ip: false,
        }
    }
}

/// Looks at `payload`, of which `wire_len` bytes were on the wire.
#[inline]
pub(super) fn content<'a>(
    protocol: IpNumber,
    payload: &'a [u8],
    wire_len: u32,
    ends: (IpAddr, IpAddr),
    carriers: &Carriers,
) -> Result<Content<'a>, WireError> {
    match protocol {
        ip_number::ENCAPSULATING_SECURITY_PAYLOAD => esp(payload, wire_len),
        ip_number::UDP => udp(payload, wire_len, ends, carriers),
        ip_number::TCP => Ok(tcp(payload, wire_len, &carriers.ports)),
        other => Ok(Content::new(
            DatagramKind::Other(protocol_name(other)),
            payload.len(),
            wire_len,
        )),
    }
}

fn esp(payload: &[u8], wire_len: u32) -> Result<Content<'_>, WireError> {
    if payload.len() < ESP_HEADER_LEN {
        return Err(WireError::at_start("ESP", ESP_HEADER_LEN, payload.len()));
    }
    let kind = if payload.starts_with(&[0; 4]) {
        // RFC 4303 §2.1: zero is for local use and never on the wire.
        DatagramKind::Other("ESP with SPI 0")
    } else {
        DatagramKind::Esp {
            udp: None,
            packet: payload,
        }
    };
    Ok(Content::new(kind, payload.len(), wire_len))
}

/// TCP counts by its name, unless a port may carry IKE and ESP (RFC 9329 §2). A segment that is cut is of no use there: the
/// stream has a hole.
fn tcp<'a>(payload: &'a [u8], wire_len: u32, esp_ports: &[u16]) -> Content<'a> {
    let other = Content::new(DatagramKind::Other("TCP"), payload.len(), wire_len);
    let Ok(header) = TcpHeaderSlice::from_slice(payload) else {
        return other;
    };
    let ports = UdpPorts {
        src: header.source_port(),
        dst: header.destination_port(),
    };
    let carries = |port| port == NAT_T_PORT || esp_ports.contains(&port);
    if !carries(ports.src) && !carries(ports.dst) {
        return other;
    }
    let segment = TcpSegment {
        ports,
        seq: header.sequence_number(),
        syn: header.syn(),
        payload: payload.get(header.slice().len()..).unwrap_or_default(),
    };
    Content::new(DatagramKind::TcpSegment(segment), payload.len(), wire_len)
}

fn udp<'a>(
    payload: &'a [u8],
    wire_len: u32,
    ends: (IpAddr, IpAddr),
    carriers: &Carriers,
) -> Result<Content<'a>, WireError> {
    const LAYER: &str = "UDP";
    let header = UdpHeaderSlice::from_slice(payload).map_err(|error| too_short(LAYER, &error))?;
    let ports = UdpPorts {
        src: header.source_port(),
        dst: header.destination_port(),
    };
    let room = wire_len.saturating_sub(UdpHeader::LEN as u32);
    let (body_len, udp_longer_than_ip) = match header.length() {
        // Segmentation offload, or a jumbogram (RFC 2675 §4).
        0 => (room, false),
        told @ 1..8 => {
            let available = usize::from(told);
            return Err(WireError {
                layer: LAYER,
                offset: 4,
                required: UdpHeader::LEN,
                available,
            });
        }
        told => {
            let body = u32::from(told) - UdpHeader::LEN as u32;
            (body.min(room), body > room)
        }
    };
    let captured = payload
        .len()
        .min(UdpHeader::LEN.saturating_add(body_len as usize));
    let body = payload.get(UdpHeader::LEN..captured).unwrap_or_default();
    let mut carrier = carrier(ports, body, body_len, &carriers.ports);
    if let Carrier::Neither = carrier {
        carrier = unusual_carrier(ports, body, body_len, ends, carriers);
    }
    let content = match carrier {
        Carrier::Ike => ike(ports, body, body_len),
        Carrier::EspOrIke => esp_or_ike(ports, body, body_len),
        Carrier::Neither => Content::new(DatagramKind::Other(udp_name(ports)), body.len(), body_len),
    };
    Ok(Content {
        udp_longer_than_ip,
        ..content
    })
}

enum Carrier {
    Ike,
    EspOrIke,
    Neither,
}

/// The destination is the listener, unless it is a port of which nothing is known.
#[inline]
fn carrier(ports: UdpPorts, body: &[u8], body_len: u32, esp_ports: &[u16]) -> Carrier {
    let nat_t = |port: u16, other: u16| {
        port == NAT_T_PORT && (other >= LOWEST_NAT_PORT || other == IKE_PORT) || esp_ports.contains(&port)
    };
    if nat_t(ports.dst, ports.src) {
        // An answer from port 500 to a NAT that happened to choose 4500 has no marker.
        let plain = ports.src == IKE_PORT && is_ike_header(body, body_len);
        return if plain { Carrier::Ike } else { Carrier::EspOrIke };
    }
    if ports.dst == IKE_PORT || ports.src == IKE_PORT {
        return Carrier::Ike;
    }
    if nat_t(ports.src, ports.dst) {
        Carrier::EspOrIke
    } else {
        Carrier::Neither
    }
}

/// Ports of which nobody said anything. IKE shows itself: its header holds its own length in 32 bits, a version and a known
/// exchange type, together a chance of 1 in 10¹² for noise. Once it was seen, ESP is expected between the same ends.
fn unusual_carrier(
    ports: UdpPorts,
    body: &[u8],
    body_len: u32,
    ends: (IpAddr, IpAddr),
    carriers: &Carriers,
) -> Carrier {
    match body {
        _ if is_ike_header(body, body_len) && knows_exchange(body) => Carrier::Ike,
        [0, 0, 0, 0, rest @ ..]
            if is_ike_header(rest, body_len.saturating_sub(4)) && knows_exchange(rest) =>
        {
            Carrier::EspOrIke
        }
        _ if carriers.has_learned(ends, ports) => Carrier::EspOrIke,
        _ => Carrier::Neither,
    }
}

/// Exchange types of RFC 2408 §3.1, RFC 2409, RFC 7296 §3.1, and an initiator SPI that is not zero.
fn knows_exchange(header: &[u8]) -> bool {
    matches!(header.get(18), Some(1..=6 | 32..=38)) && !header.starts_with(&[0; 8])
}

/// Version 1 or 2 and the right length (RFC 7296 §3.1).
fn is_ike_header(body: &[u8], body_len: u32) -> bool {
    let Some(header) = body.first_chunk::<IKE_HEADER_LEN>() else {
        return false;
    };
    let &[.., a, b, c, d] = header;
    matches!(header.get(17), Some(0x10 | 0x20)) && u32::from_be_bytes([a, b, c, d]) == body_len
}

fn ike(udp: UdpPorts, body: &[u8], body_len: u32) -> Content<'_> {
    if body_len == 1 && body == [0xff] {
        return Content::new(DatagramKind::NatKeepalive, body.len(), body_len);
    }
    Content::new(DatagramKind::Ike { udp, message: body }, body.len(), body_len)
}

/// RFC 3948 §2: four zero bytes are the non-ESP marker, one 0xff is a keepalive, anything else an SPI.
fn esp_or_ike(udp: UdpPorts, body: &[u8], body_len: u32) -> Content<'_> {
    let kind = match body {
        [0xff] if body_len == 1 => DatagramKind::NatKeepalive,
        [0, 0, 0, 0, message @ ..] => {
            let kind = DatagramKind::Ike { udp, message };
            return Content::new(kind, message.len(), body_len.saturating_sub(4));
        }
        packet if packet.len() >= ESP_HEADER_LEN => DatagramKind::Esp {
            udp: Some(udp),
            packet,
        },
        _ => DatagramKind::Other("UDP 4500 without ESP or IKE"),
    };
    Content::new(kind, body.len(), body_len)
}

fn udp_name(ports: UdpPorts) -> &'static str {
    match (ports.src, ports.dst) {
        (L2TP_PORT, _) | (_, L2TP_PORT) => "L2TP in clear",
        (_, port) if VXLAN_PORTS.contains(&port) => "VXLAN",
        (_, GENEVE_PORT) => "Geneve",
        (_, GTP_PORT) => "GTP",
        (_, 51820) | (51820, _) => "WireGuard",
        _ => "UDP",
    }
}

fn protocol_name(number: IpNumber) -> &'static str {
    match number {
        ip_number::ICMP => "ICMP",
        ip_number::IGMP => "IGMP",
        ip_number::IPV4 | ip_number::IPV6 => "IP in IP",
        ip_number::DCCP => "DCCP",
        ip_number::RSVP => "RSVP",
        ip_number::GRE => "GRE",
        ip_number::IPV6_ICMP => "ICMPv6",
        ip_number::IPV6_NO_NEXT_HEADER => "IPv6 without next header",
        ip_number::EIGRP => "EIGRP",
        ip_number::OSPFIGP => "OSPF",
        ip_number::ETHER_IP => "EtherIP",
        ip_number::PIM => "PIM",
        ip_number::IP_COMP => "IPComp",
        ip_number::VRRP => "VRRP",
        ip_number::LAYER2_TUNNELING_PROTOCOL => "L2TPv3",
        ip_number::SCTP => "SCTP",
        ip_number::MPLS_IN_IP => "MPLS in IP",
        _ => "another IP protocol",
    }
}

/// One end of UDP: address and port.
type UdpEnd = (IpAddr, u16);

/// UDP ports that carry ESP and IKE beside 500 and 4500.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    /// By request, with the rules of port 4500.
    pub(super) ports: Vec<u16>,
    /// Pairs of ends between which IKE was seen.
    pub(super) learned: HashSet<(UdpEnd, UdpEnd)>,
}

impl Carriers {
    /// Most pairs that are learned.
    const MOST_LEARNED: usize = 4_096;

    fn pair(ends: (IpAddr, IpAddr), ports: UdpPorts) -> (UdpEnd, UdpEnd) {
        let (a, b) = ((ends.0, ports.src), (ends.1, ports.dst));
        if a <= b { (a, b) } else { (b, a) }
    }

    /// IKE passed between these ends: so will ESP.
    pub(super) fn learn(&mut self, ends: (IpAddr, IpAddr), ports: UdpPorts) {
        let known = |port| is_ipsec_port(port) || self.ports.contains(&port);
        if !known(ports.src) && !known(ports.dst) && self.learned.len() < Self::MOST_LEARNED {
            self.learned.insert(Self::pair(ends, ports));
        }
    }

    pub(super) fn has_learned(&self, ends: (IpAddr, IpAddr), ports: UdpPorts) -> bool {
        !self.learned.is_empty() && self.learned.contains(&Self::pair(ends, ports))
    }
}

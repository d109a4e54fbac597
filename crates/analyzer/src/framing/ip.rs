//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers, with the IPv6 extension headers and AH (RFC 4302) stepped over.

use super::link::need;
use crate::error::WireError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IP protocol numbers that mean something here.
pub(super) mod protocol {
    pub(in crate::framing) const HOP_BY_HOP: u8 = 0;
    pub(in crate::framing) const IPV4: u8 = 4;
    pub(in crate::framing) const TCP: u8 = 6;
    pub(in crate::framing) const UDP: u8 = 17;
    pub(in crate::framing) const IPV6: u8 = 41;
    pub(in crate::framing) const ROUTING: u8 = 43;
    pub(in crate::framing) const FRAGMENT: u8 = 44;
    pub(in crate::framing) const GRE: u8 = 47;
    pub(in crate::framing) const ESP: u8 = 50;
    pub(in crate::framing) const AH: u8 = 51;
    pub(in crate::framing) const DESTINATION_OPTIONS: u8 = 60;
    pub(in crate::framing) const MOBILITY: u8 = 135;
    pub(in crate::framing) const HIP: u8 = 139;
    pub(in crate::framing) const SHIM6: u8 = 140;
}

const IPV6_HEADER_LEN: usize = 40;
/// Most extension headers of a packet that are stepped over.
const MOST_EXTENSIONS: usize = 16;

/// A fragment's place in its datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) id: u32,
    /// In bytes.
    pub(super) offset: u32,
    pub(super) more: bool,
}

/// An IP packet, its header read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IpPacket<'a> {
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    /// Of the payload; of a fragment, of the datagram's payload.
    pub(super) protocol: u8,
    /// IP total length (IPv6: payload length + 40).
    pub(super) total_len: u32,
    /// What of the payload was captured.
    pub(super) payload: &'a [u8],
    /// What the payload had on the wire.
    pub(super) payload_len: u32,
    pub(super) piece: Option<Piece>,
    /// The header promises more than the frame had on the wire.
    pub(super) longer_than_frame: bool,
}

/// Reads the packet at the start of `data`, of which `wire_len` bytes were on the wire (trailers included).
#[inline]
pub(super) fn packet(data: &[u8], wire_len: u32) -> Result<IpPacket<'_>, WireError> {
    match data.first().map(|first| first >> 4) {
        Some(4) => ipv4(data, wire_len),
        Some(6) => ipv6(data, wire_len),
        _ => Err(WireError {
            layer: "IP",
            offset: 0,
            required: 20,
            available: 0,
        }),
    }
}

fn ipv4(data: &[u8], wire_len: u32) -> Result<IpPacket<'_>, WireError> {
    const LAYER: &str = "IPv4";
    let &[
        first,
        _,
        t0,
        t1,
        i0,
        i1,
        f0,
        f1,
        _,
        protocol,
        _,
        _,
        s0,
        s1,
        s2,
        s3,
        d0,
        d1,
        d2,
        d3,
    ] = data.first_chunk::<20>().ok_or(WireError {
        layer: LAYER,
        offset: 0,
        required: 20,
        available: data.len(),
    })?;
    let header_len = usize::from(first & 0x0f) * 4;
    // Segmentation offload leaves 0 in packets that are captured before the card cuts them.
    let total_len = match u32::from(u16::from_be_bytes([t0, t1])) {
        0 => wire_len,
        told => told,
    };
    if header_len < 20 || (total_len as usize) < header_len {
        let required = header_len.max(20);
        return Err(WireError {
            layer: LAYER,
            offset: 0,
            required,
            available: header_len.min(total_len as usize),
        });
    }
    need(LAYER, data, 0, header_len)?;
    let fragment = u16::from_be_bytes([f0, f1]);
    let (more, offset) = (fragment & 0x2000 != 0, u32::from(fragment & 0x1fff) * 8);
    let piece = (more || offset > 0).then(|| Piece {
        id: u32::from(u16::from_be_bytes([i0, i1])),
        offset,
        more,
    });
    let packet = IpPacket {
        src: IpAddr::V4(Ipv4Addr::new(s0, s1, s2, s3)),
        dst: IpAddr::V4(Ipv4Addr::new(d0, d1, d2, d3)),
        protocol,
        total_len,
        payload: within(data, header_len, total_len),
        payload_len: total_len - header_len as u32,
        piece,
        longer_than_frame: total_len > wire_len,
    };
    if protocol == protocol::AH && packet.piece.is_none() {
        after_extensions(packet)
    } else {
        Ok(packet)
    }
}

fn ipv6(data: &[u8], wire_len: u32) -> Result<IpPacket<'_>, WireError> {
    const LAYER: &str = "IPv6";
    let header = need(LAYER, data, 0, IPV6_HEADER_LEN)?;
    let address = |at: usize| {
        let bytes = header
            .get(at..at + 16)
            .and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
        IpAddr::V6(Ipv6Addr::from(bytes.unwrap_or_default()))
    };
    let (told, next) = match header {
        &[_, _, _, _, high, low, next, ..] => (u32::from(u16::from_be_bytes([high, low])), next),
        _ => (0, 0),
    };
    // 0: a jumbogram (RFC 2675) or segmentation offload; the frame tells the length. Nothing follows "no next header".
    let total_len = match told {
        0 if next != 59 => wire_len.max(IPV6_HEADER_LEN as u32),
        told => told + IPV6_HEADER_LEN as u32,
    };
    after_extensions(IpPacket {
        src: address(8),
        dst: address(24),
        protocol: next,
        total_len,
        payload: within(data, IPV6_HEADER_LEN, total_len),
        payload_len: total_len - IPV6_HEADER_LEN as u32,
        piece: None,
        longer_than_frame: total_len > wire_len,
    })
}

/// The captured bytes from `header_len` on, without link-layer padding after the packet.
#[inline]
fn within(data: &[u8], header_len: usize, total_len: u32) -> &[u8] {
    data.get(header_len..data.len().min(total_len as usize))
        .unwrap_or_default()
}

/// Steps over extension headers and AH until ESP, an upper layer, or a fragment that is not whole.
fn after_extensions(mut packet: IpPacket<'_>) -> Result<IpPacket<'_>, WireError> {
    for _ in 0..MOST_EXTENSIONS {
        let len = match packet.protocol {
            protocol::HOP_BY_HOP
            | protocol::ROUTING
            | protocol::DESTINATION_OPTIONS
            | protocol::MOBILITY
            | protocol::HIP
            | protocol::SHIM6 => (extension_len(&packet)? + 1) * 8,
            protocol::AH => (extension_len(&packet)? + 2) * 4,
            protocol::FRAGMENT => {
                let piece = fragment_header(packet.payload)?;
                packet.piece = (piece.more || piece.offset > 0).then_some(piece);
                8
            }
            _ => return Ok(packet),
        };
        need("IP extension header", packet.payload, 0, len)?;
        if len as u32 > packet.payload_len {
            let available = packet.payload_len as usize;
            return Err(WireError {
                layer: "IP extension header",
                offset: 0,
                required: len,
                available,
            });
        }
        packet.protocol = packet.payload.first().copied().unwrap_or_default();
        packet.payload = packet.payload.get(len..).unwrap_or_default();
        packet.payload_len -= len as u32;
        if packet.piece.is_some() {
            return Ok(packet);
        }
    }
    Err(WireError {
        layer: "IP extension header",
        offset: MOST_EXTENSIONS,
        required: 0,
        available: 0,
    })
}

/// The same steps for a datagram that was reassembled: what its fragments said is next may again be an extension header.
pub(super) fn upper_layer(protocol: u8, payload: &[u8], payload_len: u32) -> Result<(u8, usize), WireError> {
    let unspecified = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let packet = IpPacket {
        src: unspecified,
        dst: unspecified,
        protocol,
        total_len: payload_len,
        payload,
        payload_len,
        piece: None,
        longer_than_frame: false,
    };
    after_extensions(packet).map(|packet| (packet.protocol, (payload_len - packet.payload_len) as usize))
}

fn extension_len(packet: &IpPacket<'_>) -> Result<usize, WireError> {
    let fixed = need("IP extension header", packet.payload, 0, 2)?;
    Ok(fixed.get(1).copied().map_or(0, usize::from))
}

/// RFC 8200 §4.5.
fn fragment_header(data: &[u8]) -> Result<Piece, WireError> {
    match need("IPv6 fragment", data, 0, 8)? {
        &[_, _, high, low, a, b, c, d] => {
            let field = u16::from_be_bytes([high, low]);
            Ok(Piece {
                id: u32::from_be_bytes([a, b, c, d]),
                offset: u32::from(field & 0xfff8),
                more: field & 1 != 0,
            })
        }
        _ => Err(WireError {
            layer: "IPv6 fragment",
            offset: 0,
            required: 8,
            available: 0,
        }),
    }
}

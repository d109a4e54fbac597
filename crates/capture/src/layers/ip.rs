//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers, with the IPv6 extension headers and AH (RFC 4302) stepped over.
//!
//! etherparse reads each header. Its packet slices (`LaxIpv4Slice`, `LaxIpv6Slice`) are not used: they do not know how long the
//! frame was on the wire, so that a packet cut by the snap length or without a length (segmentation offload) loses its own;
//! they read on behind an IPv6 fragment header although what follows is a piece out of the middle, they do not know the
//! mobility, HIP and Shim6 headers, and a chain of extension headers has no bound.

use etherparse::err::{LenError, ip_auth, ipv4, ipv6};
use etherparse::{
    IpAuthHeaderSlice, IpNumber, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6Header, Ipv6HeaderSlice,
    Ipv6RawExtHeaderSlice, ip_number,
};
use rekeyscope_model::error::WireError;
use rekeyscope_model::spi::Spi;
use std::net::IpAddr;

/// Most extension headers of a packet that are stepped over.
const MOST_EXTENSIONS: usize = 16;

/// A fragment's place in its datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub(crate) id: u32,
    /// In bytes.
    pub offset: u32,
    pub(crate) more: bool,
}

/// An IP packet, its header read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IpPacket<'a> {
    /// Source.
    pub src: IpAddr,
    /// Destination.
    pub dst: IpAddr,
    /// Protocol of the payload; of a fragment, of the datagram's payload.
    pub protocol: IpNumber,
    /// IP total length (IPv6: payload length + 40).
    pub(crate) total_len: u32,
    pub(crate) payload: &'a [u8],
    pub(crate) payload_len: u32,
    /// The packet's place in a datagram, if it is a fragment.
    pub piece: Option<Piece>,
    /// IPv4 identification.
    pub identification: Option<u16>,
    /// TTL, or hop limit.
    pub(crate) hop_limit: u8,
    /// The header promises more than the frame had on the wire.
    pub(crate) longer_than_frame: bool,
    /// The first authentication header (RFC 4302) that was stepped over; rare, so on the heap, where it makes no other packet
    /// larger.
    pub ah: Option<Box<Authentication<'a>>>,
}

/// An authentication header (RFC 4302 §2) and what it protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Authentication<'a> {
    /// SPI.
    pub spi: Spi,
    /// Sequence number field.
    pub sequence: u32,
    /// The IP protocol number of the next header.
    pub next_header: u8,
    /// The length with the ICV, bytes.
    pub header_len: usize,
    /// Source and destination of the IP header before it.
    pub ends: (IpAddr, IpAddr),
    /// Total length of that IP packet; of fragments, their sum.
    pub outer_bytes: u32,
    /// The captured bytes, from this header on.
    pub bytes: &'a [u8],
    /// Bytes on the wire from this header on.
    pub wire_len: u32,
}

/// Reads the packet at the start of `data`, of which `wire_len` bytes were on the wire (trailers included).
#[inline]
pub(crate) fn packet(data: &[u8], wire_len: u32) -> Result<IpPacket<'_>, WireError> {
    match data.first().map(|first| first >> 4) {
        Some(4) => ipv4(data, wire_len),
        Some(6) => ipv6(data, wire_len),
        _ => Err(WireError::at_start("IP", 20, 0)),
    }
}

fn ipv4(data: &[u8], wire_len: u32) -> Result<IpPacket<'_>, WireError> {
    let header = Ipv4HeaderSlice::from_slice(data).map_err(|error| match error {
        ipv4::HeaderSliceError::Len(error) => too_short("IPv4", &error),
        ipv4::HeaderSliceError::Content(_) => malformed("IPv4"),
    })?;
    let header_len = header.slice().len();
    // Segmentation offload leaves 0 in packets that are captured before the card cuts them.
    let total_len = match u32::from(header.total_len()) {
        0 => wire_len,
        told => told,
    };
    if (total_len as usize) < header_len {
        return Err(WireError::at_start("IPv4", header_len, total_len as usize));
    }
    let piece = header.is_fragmenting_payload().then(|| Piece {
        id: u32::from(header.identification()),
        offset: u32::from(header.fragments_offset().byte_offset()),
        more: header.more_fragments(),
    });
    let packet = IpPacket {
        src: IpAddr::V4(header.source_addr()),
        dst: IpAddr::V4(header.destination_addr()),
        protocol: header.protocol(),
        total_len,
        payload: within(data, header_len, total_len),
        payload_len: total_len - header_len as u32,
        piece,
        identification: Some(header.identification()),
        hop_limit: header.ttl(),
        longer_than_frame: total_len > wire_len,
        ah: None,
    };
    if packet.protocol == ip_number::AUTHENTICATION_HEADER && packet.piece.is_none() {
        after_extensions(packet)
    } else {
        Ok(packet)
    }
}

fn ipv6(data: &[u8], wire_len: u32) -> Result<IpPacket<'_>, WireError> {
    const HEADER_LEN: u32 = Ipv6Header::LEN as u32;
    let header = Ipv6HeaderSlice::from_slice(data).map_err(|error| match error {
        ipv6::HeaderSliceError::Len(error) => too_short("IPv6", &error),
        ipv6::HeaderSliceError::Content(_) => malformed("IPv6"),
    })?;
    let protocol = header.next_header();
    // 0: a jumbogram (RFC 2675) or segmentation offload; the frame tells the length. Nothing follows "no next header".
    let total_len = match u32::from(header.payload_length()) {
        0 if protocol != ip_number::IPV6_NO_NEXT_HEADER => wire_len.max(HEADER_LEN),
        told => told + HEADER_LEN,
    };
    after_extensions(IpPacket {
        src: IpAddr::V6(header.source_addr()),
        dst: IpAddr::V6(header.destination_addr()),
        protocol,
        total_len,
        payload: within(data, Ipv6Header::LEN, total_len),
        payload_len: total_len - HEADER_LEN,
        piece: None,
        identification: None,
        hop_limit: header.hop_limit(),
        longer_than_frame: total_len > wire_len,
        ah: None,
    })
}

/// The captured bytes from `header_len` on, without link-layer padding after the packet.
#[inline]
fn within(data: &[u8], header_len: usize, total_len: u32) -> &[u8] {
    data.get(header_len..data.len().min(total_len as usize))
        .unwrap_or_default()
}

const EXTENSION: &str = "IP extension header";

/// Steps over extension headers and AH until ESP, an upper layer, or a fragment that is not whole.
fn after_extensions(mut packet: IpPacket<'_>) -> Result<IpPacket<'_>, WireError> {
    for _ in 0..MOST_EXTENSIONS {
        let (next, len) = match packet.protocol {
            ip_number::AUTHENTICATION_HEADER => {
                let header = authentication_header(packet.payload)?;
                packet.ah.get_or_insert_with(|| {
                    Box::new(Authentication {
                        spi: Spi(header.spi()),
                        sequence: header.sequence_number(),
                        next_header: header.next_header().0,
                        header_len: header.slice().len(),
                        ends: (packet.src, packet.dst),
                        outer_bytes: packet.total_len,
                        bytes: packet.payload,
                        wire_len: packet.payload_len,
                    })
                });
                (header.next_header(), header.slice().len())
            }
            ip_number::IPV6_FRAGMENTATION_HEADER => {
                let header = Ipv6FragmentHeaderSlice::from_slice(packet.payload)
                    .map_err(|error| too_short("IPv6 fragment", &error))?;
                packet.piece = header.is_fragmenting_payload().then(|| Piece {
                    id: header.identification(),
                    offset: u32::from(header.fragment_offset().byte_offset()),
                    more: header.more_fragments(),
                });
                (header.next_header(), header.slice().len())
            }
            other if Ipv6RawExtHeaderSlice::header_type_supported(other) => {
                let header = Ipv6RawExtHeaderSlice::from_slice(packet.payload)
                    .map_err(|error| too_short(EXTENSION, &error))?;
                (header.next_header(), header.slice().len())
            }
            _ => return Ok(packet),
        };
        packet.protocol = next;
        packet.payload = packet.payload.get(len..).unwrap_or_default();
        packet.payload_len = packet.payload_len.saturating_sub(len as u32);
        if packet.piece.is_some() {
            return Ok(packet);
        }
    }
    Err(WireError {
        layer: EXTENSION,
        offset: MOST_EXTENSIONS,
        required: 0,
        available: 0,
    })
}

/// The authentication header at the start of `data`.
pub fn authentication_header(data: &[u8]) -> Result<IpAuthHeaderSlice<'_>, WireError> {
    IpAuthHeaderSlice::from_slice(data).map_err(|error| match error {
        ip_auth::HeaderSliceError::Len(error) => too_short(EXTENSION, &error),
        ip_auth::HeaderSliceError::Content(_) => malformed(EXTENSION),
    })
}

/// The same steps for a datagram that was reassembled: what its fragments said is next may again be an extension header.
pub(crate) fn upper_layer<'a>(
    protocol: IpNumber,
    (src, dst): (IpAddr, IpAddr),
    payload: &'a [u8],
    payload_len: u32,
    outer_bytes: u32,
) -> Result<IpPacket<'a>, WireError> {
    after_extensions(IpPacket {
        src,
        dst,
        protocol,
        total_len: outer_bytes,
        payload,
        payload_len,
        piece: None,
        identification: None,
        hop_limit: 0,
        longer_than_frame: false,
        ah: None,
    })
}

/// The bytes of a header end before it does.
#[cold]
pub(crate) fn too_short(layer: &'static str, error: &LenError) -> WireError {
    WireError {
        layer,
        offset: error.layer_start_offset,
        required: error.required_len,
        available: error.len,
    }
}

/// A header that contradicts itself: its length field tells less than the shortest header has.
#[cold]
fn malformed(layer: &'static str) -> WireError {
    WireError::at_start(layer, 0, 0)
}

//! Tunnels without a key around the packet of interest: IP in IP (RFC 2003, RFC 2473, RFC 4213), GRE (RFC 2784, RFC 2890), and
//! what mirror ports wrap packets in: VXLAN (RFC 7348), ERSPAN in GRE; EtherIP (RFC 3378), and data of L2TPv2 (RFC 2661 §3.1).
//!
//! Not looked through: L2TPv3, whose cookies have a length that is not on the wire, and IPComp, which has to be inflated.

use super::ip::{self, IpPacket};
use super::link::{self, Network};
use super::transport::Carriers;
use super::{DatagramKind, transport};
use etherparse::{UdpHeader, UdpHeaderSlice, ip_number};

/// Most tunnels inside one another that are looked through.
pub(super) const MOST_TUNNELS: usize = 4;

const VXLAN_HEADER_LEN: usize = 8;
const VXLAN_PORT: u16 = 4789;
/// Linux before the port was assigned.
const OLD_VXLAN_PORT: u16 = 8472;
const L2TP_PORT: u16 = 1701;
/// EtherTypes in GRE.
const TRANSPARENT_ETHERNET: u16 = 0x6558;
const ERSPAN: u16 = 0x88be;
const ERSPAN_III: u16 = 0x22eb;

/// The innermost packet when it carries IPsec (or is a fragment, which may); else `outer` itself, so that a tunnel with
/// other content keeps its own name.
#[inline]
pub(super) fn innermost<'a>(outer: IpPacket<'a>, carriers: &Carriers) -> IpPacket<'a> {
    if matches!(
        outer.protocol,
        ip_number::ENCAPSULATING_SECURITY_PAYLOAD | ip_number::TCP
    ) || outer.piece.is_some()
    {
        return outer;
    }
    let mut deepest = outer;
    for _ in 0..MOST_TUNNELS {
        let Some(packet) = inside(&deepest) else { break };
        deepest = IpPacket {
            ah: deepest.ah.or(packet.ah),
            ..packet
        };
        if deepest.piece.is_some() {
            return deepest;
        }
    }
    let carries_ipsec = || {
        let ends = (deepest.src, deepest.dst);
        transport::content(
            deepest.protocol,
            deepest.payload,
            deepest.payload_len,
            ends,
            carriers,
        )
        .is_ok_and(|content| !matches!(content.kind, DatagramKind::Other(_)))
    };
    if deepest != outer && carries_ipsec() {
        deepest
    } else {
        outer
    }
}

/// One tunnel further in.
#[inline]
fn inside<'a>(packet: &IpPacket<'a>) -> Option<IpPacket<'a>> {
    let network = match packet.protocol {
        ip_number::IPV4 | ip_number::IPV6 => packet.payload,
        ip_number::GRE => gre(packet.payload)?,
        ip_number::UDP => in_udp(packet.payload)?,
        ip_number::ETHER_IP => ether_ip(packet.payload)?,
        _ => return None,
    };
    let headers = u32::try_from(packet.payload.len() - network.len()).ok()?;
    ip::packet(network, packet.payload_len.checked_sub(headers)?).ok()
}

#[inline]
fn in_udp(payload: &[u8]) -> Option<&[u8]> {
    let header = UdpHeaderSlice::from_slice(payload).ok()?;
    match (header.source_port(), header.destination_port()) {
        (_, VXLAN_PORT | OLD_VXLAN_PORT) => vxlan(payload.get(UdpHeader::LEN..)?),
        (L2TP_PORT, _) | (_, L2TP_PORT) => l2tp(payload.get(UdpHeader::LEN..)?),
        _ => None,
    }
}

fn vxlan(body: &[u8]) -> Option<&[u8]> {
    // The flag says that there is a network identifier: it always is.
    if body.first()? & 0x08 == 0 {
        return None;
    }
    ip_in_ethernet(body.get(VXLAN_HEADER_LEN..)?)
}

/// The IP packet of a data message: flags and version, length, tunnel and session, Ns and Nr, offset, then PPP.
fn l2tp(body: &[u8]) -> Option<&[u8]> {
    const CONTROL: u16 = 0x8000;
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    const VERSION: u16 = 0x000f;
    let flags = u16::from_be_bytes(*body.first_chunk()?);
    if flags & (CONTROL | VERSION) != 2 {
        return None;
    }
    let optional = |flag: u16, len: usize| if flags & flag != 0 { len } else { 0 };
    let mut at = 2 + optional(LENGTH, 2) + 4 + optional(SEQUENCE, 4);
    if flags & OFFSET != 0 {
        let pad = u16::from_be_bytes(*body.get(at..)?.first_chunk()?);
        at += 2 + usize::from(pad);
    }
    ip_of(link::ppp(body.get(at..)?, link::MOST_HEADERS))
}

/// Version 3 and twelve bits of zero, then the frame.
fn ether_ip(payload: &[u8]) -> Option<&[u8]> {
    ip_in_ethernet(payload.strip_prefix(&[0x30, 0x00])?)
}

fn gre(payload: &[u8]) -> Option<&[u8]> {
    let &[flags, version, high, low] = payload.first_chunk::<4>()?;
    let (checksum, routing, key, sequence) = (flags & 0x80, flags & 0x40, flags & 0x20, flags & 0x10);
    if routing != 0 || version & 7 != 0 {
        return None;
    }
    let optional = [checksum, key, sequence]
        .iter()
        .filter(|&&flag| flag != 0)
        .count();
    let at = 4 + 4 * optional;
    match u16::from_be_bytes([high, low]) {
        TRANSPARENT_ETHERNET => ip_in_ethernet(payload.get(at..)?),
        // Type I has neither a sequence number nor a header of its own, type II has both.
        ERSPAN => ip_in_ethernet(payload.get(if sequence == 0 { at } else { at + 8 }..)?),
        ERSPAN_III => {
            let has_subheader = payload.get(at + 11)? & 1 != 0;
            ip_in_ethernet(payload.get(at + if has_subheader { 20 } else { 12 }..)?)
        }
        other => ip_of(link::ether_type(other, payload, at, link::MOST_HEADERS)),
    }
}

fn ip_in_ethernet(data: &[u8]) -> Option<&[u8]> {
    ip_of(link::ethernet(data, link::MOST_HEADERS))
}

fn ip_of(network: Result<Network<'_>, crate::error::WireError>) -> Option<&[u8]> {
    match network {
        Ok(Network::Ip(ip)) => Some(ip),
        _ => None,
    }
}

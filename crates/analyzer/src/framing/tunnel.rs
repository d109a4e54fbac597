//! Tunnels without a key around the packet of interest: IP in IP (RFC 2003, RFC 2473, RFC 4213), GRE (RFC 2784, RFC 2890), and
//! what mirror ports wrap packets in: VXLAN (RFC 7348), ERSPAN in GRE.

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
        ip_number::UDP => vxlan(packet.payload)?,
        _ => return None,
    };
    let headers = u32::try_from(packet.payload.len() - network.len()).ok()?;
    ip::packet(network, packet.payload_len.checked_sub(headers)?).ok()
}

#[inline]
fn vxlan(payload: &[u8]) -> Option<&[u8]> {
    let port = UdpHeaderSlice::from_slice(payload).ok()?.destination_port();
    if !matches!(port, VXLAN_PORT | OLD_VXLAN_PORT) {
        return None;
    }
    // The flag says that there is a network identifier: it always is.
    if payload.get(UdpHeader::LEN)? & 0x08 == 0 {
        return None;
    }
    ip_in_ethernet(payload.get(UdpHeader::LEN + VXLAN_HEADER_LEN..)?)
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

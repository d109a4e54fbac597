//! Tunnels in UDP, by their ports and their first bytes, for the ports are sometimes other protocols': L2TP, VXLAN (RFC 7348),
//! Geneve (RFC 8926), GTP-U (3GPP TS 29.281). IKE and ESP in UDP are none, whatever port a NAT gave the other end.

use crate::layers::layer::{Found, Layer, LayerStep, Layers, Stop};
use crate::layers::plausible::{is_ethernet, is_ip};
use crate::layers::walk::Walk;
use etherparse::{UdpHeader, ip_number};

/// Port of IKE (RFC 7296 §2).
pub const IKE_PORT: u16 = 500;
/// Port of IKE and ESP behind a NAT (RFC 3948).
pub const NAT_T_PORT: u16 = 4500;
/// Port of L2TP (RFC 2661 §8.1).
pub const L2TP_PORT: u16 = 1701;
/// 4789 is IANA's, 8472 the one that Linux used before it.
pub(crate) const VXLAN_PORTS: [u16; 2] = [4789, 8472];
pub(crate) const GENEVE_PORT: u16 = 6081;
/// The receiver's port: the sender's is any (TS 29.281 §4.4.2.3).
pub(crate) const GTP_PORT: u16 = 2152;

/// Bytes that tell GTP-U and Geneve: the header, an extension or two, and the lengths of the packet behind it.
const TELLING: usize = 64;

/// A tunnel in UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UdpTunnel {
    name: &'static str,
    header_len: usize,
    passed: Layers,
    below: Layer,
}

impl<'a> Walk<'a> {
    /// Without a tunnel the walk stays at the UDP header.
    #[inline]
    pub(super) fn udp(&mut self) -> Result<LayerStep<'a>, Stop> {
        let upper = LayerStep::Found(Found::Upper(ip_number::UDP));
        let Some((&[s0, s1, d0, d1, l0, l1, _, _], body)) = self.bytes.split_first_chunk() else {
            return Ok(upper);
        };
        let ports = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
        // A length under 8 is offload or damage: the IP header knows the length then.
        let told = usize::from(u16::from_be_bytes([l0, l1])).checked_sub(UdpHeader::LEN);
        let room = self.len - UdpHeader::LEN;
        let body_len = told.map_or(room, |told| told.min(room));
        let Some(tunnel) = tunnel(ports, body, body_len) else {
            let is_cut = body.len() < body_len.min(TELLING);
            return if is_cut && matches!(ports.1, GENEVE_PORT | GTP_PORT) {
                Err(self.short("UDP tunnel", UdpHeader::LEN + TELLING))
            } else {
                Ok(upper)
            };
        };
        (self.bytes, self.len, self.at) = (body, room, self.at + UdpHeader::LEN);
        self.cut_to(body_len);
        self.pass(tunnel.passed);
        self.skip(tunnel.name, tunnel.header_len)?;
        Ok(LayerStep::Below(tunnel.below))
    }
}

/// Tells whether a port is that of IKE, or of ESP in UDP (RFC 7296 §2, RFC 3948).
#[inline]
pub fn is_ipsec_port(port: u16) -> bool {
    matches!(port, IKE_PORT | NAT_T_PORT)
}

/// Tells whether IKE and ESP are expected in the UDP datagram that begins here, by its ports.
#[inline]
pub(crate) fn is_ipsec(datagram: &[u8]) -> bool {
    matches!(datagram, &[s0, s1, d0, d1, ..] if of_ipsec((u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]))))
}

fn of_ipsec((src, dst): (u16, u16)) -> bool {
    is_ipsec_port(src) || is_ipsec_port(dst)
}

#[inline]
fn tunnel((src, dst): (u16, u16), body: &[u8], body_len: usize) -> Option<UdpTunnel> {
    match (src, dst) {
        ports if of_ipsec(ports) => None,
        (L2TP_PORT, _) | (_, L2TP_PORT) => l2tp(body, body_len),
        (_, GENEVE_PORT) => geneve(body),
        (_, GTP_PORT) => gtp(body, body_len),
        (_, port) if VXLAN_PORTS.contains(&port) => vxlan(body, body_len),
        _ => None,
    }
}

/// The version: 2 in RFC 2661, 3 in RFC 3931. Where the bytes end before it, the port has to do.
fn l2tp(body: &[u8], body_len: usize) -> Option<UdpTunnel> {
    let is_one = match body {
        [_, low, ..] => matches!(low & 15, 2 | 3),
        _ => body_len >= 2,
    };
    is_one.then_some(UdpTunnel {
        name: "L2TP",
        header_len: 0,
        passed: Layers::L2TP,
        below: Layer::L2tp,
    })
}

/// RFC 7348 §5: the I flag, and reserved bits that are zero or, since receivers ignore them, a frame that fits. Where the bytes
/// end before them, the port has to do.
fn vxlan(body: &[u8], body_len: usize) -> Option<UdpTunnel> {
    const HEADER_LEN: usize = 8;
    const I_FLAG: u8 = 0x08;
    let is_one = match body.split_first_chunk::<HEADER_LEN>() {
        Some(([I_FLAG, 0, 0, 0, _, _, _, 0], _)) => true,
        Some((&[flags, ..], frame)) => flags & I_FLAG != 0 && is_ethernet(frame, body_len - HEADER_LEN),
        None => body_len >= HEADER_LEN,
    };
    is_one.then_some(UdpTunnel {
        name: "VXLAN",
        header_len: HEADER_LEN,
        passed: Layers::VXLAN,
        below: Layer::Ethernet,
    })
}

/// RFC 8926 §3.4: version 0 and the length of the options in words, flags, EtherType, network identifier.
fn geneve(body: &[u8]) -> Option<UdpTunnel> {
    const HEADER_LEN: usize = 8;
    const OPTIONS_LEN: u8 = 0x3f;
    let &[first, _, t0, t1, ..] = body.first_chunk::<HEADER_LEN>()?;
    let ether_type = u16::from_be_bytes([t0, t1]);
    let is_one = first & !OPTIONS_LEN == 0 && matches!(ether_type, 0x6558 | 0x0800 | 0x86dd | 0x8847);
    is_one.then_some(UdpTunnel {
        name: "Geneve",
        header_len: HEADER_LEN + usize::from(first & OPTIONS_LEN) * 4,
        passed: Layers::GENEVE,
        below: Layer::EtherType(ether_type),
    })
}

/// TS 29.281 §5.1: flags, type, length, tunnel endpoint; then, with any of three flags, four bytes whose last is the type of the
/// first extension header (§5.2), each of which begins with its length in words and ends with the type of the next. What a
/// user's packet (type 255) is, the session knows: a packet or a frame that fits.
fn gtp(body: &[u8], body_len: usize) -> Option<UdpTunnel> {
    const HEADER_LEN: usize = 8;
    const OPTIONAL: u8 = 0x07;
    const EXTENSION: u8 = 0x04;
    const MOST_EXTENSIONS: usize = 8;
    // Version 1 and no charging (GTP').
    let &[flags @ 0x30..0x40, 0xff, l0, l1, _, _, _, _] = body.first_chunk::<HEADER_LEN>()? else {
        return None;
    };
    if HEADER_LEN + usize::from(u16::from_be_bytes([l0, l1])) != body_len {
        return None;
    }
    let mut header_len = HEADER_LEN;
    if flags & OPTIONAL != 0 {
        header_len += 4;
        let mut next = *body.get(header_len - 1)?;
        for _ in 0..MOST_EXTENSIONS {
            if flags & EXTENSION == 0 || next == 0 {
                break;
            }
            header_len += usize::from(*body.get(header_len)?).max(1) * 4;
            next = *body.get(header_len - 1)?;
        }
    }
    let (inside, room) = (body.get(header_len..)?, body_len.checked_sub(header_len)?);
    let below = if is_ip(inside, room) {
        Layer::Ip { in_ppp: false }
    } else if is_ethernet(inside, room) {
        Layer::Ethernet
    } else {
        return None;
    };
    Some(UdpTunnel {
        name: "GTP",
        header_len,
        passed: Layers::GTP,
        below,
    })
}

//! Link layers: from a frame's first byte to its IP packet. Each layer is a few fixed fields; what leads to no IP packet
//! is named.

use super::wifi;
use crate::capture::LinkType;
use crate::error::WireError;

/// Most headers of one frame (VLAN tags, MPLS labels, pseudowires, PPPoE sessions) that are stepped over. One count for all
/// kinds together, handed from layer to layer: they can enclose one another in a circle, each a recursion.
pub(super) const MOST_HEADERS: usize = 32;

/// The name of every link type that is not stepped through.
pub(super) const UNSUPPORTED: &str = "an unsupported link type";

/// Where a frame's link layers lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network<'a> {
    /// To an IP packet (with whatever follows it in the frame).
    Ip(&'a [u8]),
    /// To something else, by name.
    NotIp(&'static str),
}

/// The link types that this decoder steps through.
pub(super) mod link_type {
    pub(in crate::framing) const NULL: u16 = 0;
    pub(in crate::framing) const ETHERNET: u16 = 1;
    pub(in crate::framing) const PPP: u16 = 9;
    pub(in crate::framing) const DLT_RAW: u16 = 12;
    pub(in crate::framing) const DLT_RAW_OPENBSD: u16 = 14;
    pub(in crate::framing) const PPP_HDLC: u16 = 50;
    pub(in crate::framing) const PPP_ETHER: u16 = 51;
    pub(in crate::framing) const RAW: u16 = 101;
    pub(in crate::framing) const ATM_RFC1483: u16 = 100;
    pub(in crate::framing) const C_HDLC: u16 = 104;
    pub(in crate::framing) const IEEE802_11: u16 = 105;
    pub(in crate::framing) const LOOP: u16 = 108;
    pub(in crate::framing) const LINUX_SLL: u16 = 113;
    pub(in crate::framing) const IEEE802_11_RADIOTAP: u16 = 127;
    pub(in crate::framing) const PPP_PPPD: u16 = 166;
    pub(in crate::framing) const PPI: u16 = 192;
    pub(in crate::framing) const PPP_WITH_DIR: u16 = 204;
    pub(in crate::framing) const IPV4: u16 = 228;
    pub(in crate::framing) const IPV6: u16 = 229;
    pub(in crate::framing) const NFLOG: u16 = 239;
    pub(in crate::framing) const PKTAP: u16 = 258;
    pub(in crate::framing) const LINUX_SLL2: u16 = 276;
}

/// Steps over a frame's link layers.
#[inline]
pub(super) fn network(link_type: LinkType, data: &[u8]) -> Result<Network<'_>, WireError> {
    match link_type.0 {
        link_type::ETHERNET => ethernet(data, MOST_HEADERS),
        link_type::RAW
        | link_type::DLT_RAW
        | link_type::DLT_RAW_OPENBSD
        | link_type::IPV4
        | link_type::IPV6 => Ok(Network::Ip(data)),
        link_type::LINUX_SLL => ether_type(be16("Linux SLL", data, 14)?, data, 16, MOST_HEADERS),
        link_type::LINUX_SLL2 => {
            need("Linux SLL2", data, 0, 20)?;
            ether_type(be16("Linux SLL2", data, 0)?, data, 20, MOST_HEADERS)
        }
        _ => rare_network(link_type, data),
    }
}

fn rare_network(link_type: LinkType, data: &[u8]) -> Result<Network<'_>, WireError> {
    match link_type.0 {
        link_type::NULL | link_type::LOOP => bsd_loopback(data),
        link_type::PPP | link_type::PPP_HDLC => ppp(data, MOST_HEADERS),
        link_type::PPP_ETHER => pppoe(data, 0, MOST_HEADERS),
        // A direction byte in place of the address, or before everything.
        link_type::PPP_PPPD => {
            need("PPP", data, 2, 1)?;
            ppp(data.get(2..).unwrap_or_default(), MOST_HEADERS)
        }
        link_type::PPP_WITH_DIR => ppp(data.get(1..).unwrap_or_default(), MOST_HEADERS),
        link_type::C_HDLC => ether_type(be16("Cisco HDLC", data, 2)?, data, 4, MOST_HEADERS),
        link_type::ATM_RFC1483 => llc(data, 0, MOST_HEADERS),
        link_type::NFLOG => nflog(data),
        link_type::PPI => ppi(data),
        link_type::PKTAP => pktap(data),
        link_type::IEEE802_11_RADIOTAP => wifi::radiotap(data),
        link_type::IEEE802_11 => wifi::ieee802_11(data),
        _ => Ok(Network::NotIp(UNSUPPORTED)),
    }
}

pub(super) fn need<'a>(
    layer: &'static str,
    data: &'a [u8],
    offset: usize,
    required: usize,
) -> Result<&'a [u8], WireError> {
    let available = data.len().saturating_sub(offset);
    offset
        .checked_add(required)
        .and_then(|end| data.get(offset..end))
        .ok_or(WireError {
            layer,
            offset,
            required,
            available,
        })
}

#[inline]
pub(super) fn be16(layer: &'static str, data: &[u8], offset: usize) -> Result<u16, WireError> {
    match need(layer, data, offset, 2)? {
        &[high, low] => Ok(u16::from_be_bytes([high, low])),
        _ => Err(WireError {
            layer,
            offset,
            required: 2,
            available: 0,
        }),
    }
}

/// Two addresses and a type.
#[inline]
pub(super) fn ethernet(data: &[u8], headers: usize) -> Result<Network<'_>, WireError> {
    ether_type(be16("Ethernet", data, 12)?, data, 14, headers)
}

/// Dispatches on an EtherType whose payload begins at `at`.
#[inline]
pub(super) fn ether_type(
    mut ether_type: u16,
    data: &[u8],
    mut at: usize,
    headers: usize,
) -> Result<Network<'_>, WireError> {
    for left in (0..headers).rev() {
        match ether_type {
            0x0800 | 0x86dd => return Ok(Network::Ip(data.get(at..).unwrap_or_default())),
            // 802.1Q, 802.1ad, and the numbers that were used for stacks before it.
            0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
                ether_type = be16("VLAN", data, at + 2)?;
                at += 4;
            }
            0x8864 => return pppoe(data, at, left),
            0x8847 | 0x8848 => return mpls(data, at, left),
            // The length of an IEEE 802.3 frame. In Linux SLL 4 is 802.2 LLC.
            0..=0x05dc => return llc(data, at, left),
            other => return Ok(Network::NotIp(ether_type_name(other))),
        }
    }
    Ok(Network::NotIp("a stack of too many VLAN tags"))
}

/// IEEE 802.2 LLC; only SNAP with an EtherType (RFC 1042) leads to IP.
pub(super) fn llc(data: &[u8], at: usize, headers: usize) -> Result<Network<'_>, WireError> {
    match need("LLC", data, at, 3)? {
        [0xaa, 0xaa, 0x03] => {
            let oui = need("SNAP", data, at + 3, 3)?;
            let kind = be16("SNAP", data, at + 6)?;
            match (oui, kind) {
                // 0x0000f8: bridge-tunnel encapsulation (802.1H), the same shape.
                ([0, 0, 0 | 0xf8], 0x0600..) => ether_type(kind, data, at + 8, headers),
                _ => Ok(Network::NotIp("a vendor's SNAP protocol")),
            }
        }
        [0x42, 0x42, _] => Ok(Network::NotIp("STP")),
        [0xfe, 0xfe, _] => Ok(Network::NotIp("IS-IS")),
        _ => Ok(Network::NotIp("LLC")),
    }
}

fn ether_type_name(ether_type: u16) -> &'static str {
    match ether_type {
        0x0806 => "ARP",
        0x8035 => "RARP",
        0x8137 => "IPX",
        0x8808 => "Ethernet flow control",
        0x8809 => "LACP",
        0x880b => "PPP",
        0x8863 => "PPPoE discovery",
        0x888e => "802.1X",
        0x88cc => "LLDP",
        0x88e5 => "MACsec",
        0x88e7 => "802.1ah",
        0x88f7 => "PTP",
        0x8902 => "CFM",
        0x9000 => "Ethernet loopback test",
        _ => "another EtherType",
    }
}

/// PPPoE session (RFC 2516 §4): version and type, code, session, length, then PPP without address and control.
fn pppoe(data: &[u8], at: usize, headers: usize) -> Result<Network<'_>, WireError> {
    let header = need("PPPoE", data, at, 6)?;
    match header {
        [0x11, 0, ..] => ppp(data.get(at + 6..).unwrap_or_default(), headers),
        [0x11, ..] => Ok(Network::NotIp("PPPoE discovery")),
        _ => Ok(Network::NotIp("an unknown version of PPPoE")),
    }
}

/// PPP (RFC 1661, RFC 1662): address and control may be there (ff 03; 0f 00 and 8f 00 are Cisco HDLC), the protocol is one
/// byte when it was compressed (its lowest bit is set).
pub(super) fn ppp(data: &[u8], headers: usize) -> Result<Network<'_>, WireError> {
    let at = match need("PPP", data, 0, 2)? {
        [0xff, 0x03] => 2,
        [0x0f | 0x8f, 0x00] => return ether_type(be16("Cisco HDLC", data, 2)?, data, 4, headers),
        _ => 0,
    };
    let (protocol, len) = match need("PPP", data, at, 1)? {
        [first] if first & 1 == 1 => (u16::from(*first), 1),
        _ => (be16("PPP", data, at)?, 2),
    };
    let payload = data.get(at + len..).unwrap_or_default();
    Ok(match protocol {
        0x0021 | 0x0057 => Network::Ip(payload),
        0x0281 | 0x0283 => return mpls(data, at + len, headers),
        0x002d | 0x002f => Network::NotIp("PPP with compressed headers"),
        0x003d => Network::NotIp("PPP multilink"),
        0x0053 => Network::NotIp("PPP encryption"),
        0x00fd => Network::NotIp("PPP compression"),
        0x8000..=0xbfff => Network::NotIp("PPP network control"),
        0xc021 => Network::NotIp("PPP LCP"),
        0xc023 | 0xc223 | 0xc227 => Network::NotIp("PPP authentication"),
        _ => Network::NotIp("another PPP protocol"),
    })
}

/// MPLS labels (RFC 3032) to the bottom of the stack. What is below has no type: the first nibble tells IP, and the control
/// word of a pseudowire (RFC 4385, RFC 4448) begins with nibble 0.
fn mpls(data: &[u8], mut at: usize, headers: usize) -> Result<Network<'_>, WireError> {
    for left in (0..headers).rev() {
        let label = need("MPLS", data, at, 4)?;
        at += 4;
        if !matches!(label, [_, _, bottom, _] if bottom & 1 == 1) {
            continue;
        }
        let nibble = need("MPLS", data, at, 1)?.first().map(|byte| byte >> 4);
        let below = data.get(at..).unwrap_or_default();
        return match nibble {
            Some(4 | 6) => Ok(Network::Ip(below)),
            Some(0) => ethernet(below.get(4..).unwrap_or_default(), left),
            _ => Ok(Network::NotIp("an MPLS payload")),
        };
    }
    Ok(Network::NotIp("a stack of too many MPLS labels"))
}

/// BSD null (the capturing host's byte order) and loop (network order): an address family, of which every system has its
/// own number for IPv6. All of them are small: whichever order makes the number small is the right one.
fn bsd_loopback(data: &[u8]) -> Result<Network<'_>, WireError> {
    let family = match need("BSD loopback", data, 0, 4)? {
        &[a, b, c, d] => u32::from_le_bytes([a, b, c, d]).min(u32::from_be_bytes([a, b, c, d])),
        _ => 0,
    };
    let payload = data.get(4..).unwrap_or_default();
    // IPv4; Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin.
    Ok(match family {
        2 | 10 | 23 | 24 | 28 | 30 => Network::Ip(payload),
        _ => Network::NotIp("another address family"),
    })
}

/// Linux netfilter log: four bytes, then attributes of length, type and value in the host's byte order, padded to four.
fn nflog(data: &[u8]) -> Result<Network<'_>, WireError> {
    const PAYLOAD: u16 = 9;
    if !matches!(need("NFLOG", data, 0, 4)?, [2 | 10, 0, ..]) {
        return Ok(Network::NotIp("another address family"));
    }
    let mut at = 4;
    loop {
        let (len, kind) = match *need("NFLOG", data, at, 4)? {
            // Types are below 256 and none is 0: a zero in front of the type betrays big-endian.
            [a, b, 0, kind] if kind != 0 => (u16::from_be_bytes([a, b]), u16::from(kind)),
            [a, b, c, d] => (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]) & 0x7fff),
            _ => (0, 0),
        };
        if len < 4 {
            return Err(WireError {
                layer: "NFLOG",
                offset: at,
                required: 4,
                available: usize::from(len),
            });
        }
        if kind == PAYLOAD {
            return Ok(Network::Ip(data.get(at + 4..).unwrap_or_default()));
        }
        at += usize::from(len).next_multiple_of(4);
    }
}

/// Apple's packet tap: header length, record type, then the link type of what follows, little-endian.
fn pktap(data: &[u8]) -> Result<Network<'_>, WireError> {
    let header = need("PKTAP", data, 0, 12)?;
    let (len, inner) = (le32(header, 0) as usize, le32(header, 8));
    carried("PKTAP", data, len, inner)
}

/// Per-packet information: version, flags, header length, then the link type of what follows, little-endian.
fn ppi(data: &[u8]) -> Result<Network<'_>, WireError> {
    let header = need("PPI", data, 0, 8)?;
    let (len, inner) = ((le32(header, 0) >> 16) as usize, le32(header, 4));
    carried("PPI", data, len, inner)
}

/// A frame of another link type behind `len` bytes; not one with such a header again.
fn carried<'a>(
    layer: &'static str,
    data: &'a [u8],
    len: usize,
    inner: u32,
) -> Result<Network<'a>, WireError> {
    need(layer, data, 0, len)?;
    match u16::try_from(inner) {
        Ok(inner) if len >= 8 && !matches!(inner, link_type::PKTAP | link_type::PPI) => {
            network(LinkType(inner), data.get(len..).unwrap_or_default())
        }
        _ => Ok(Network::NotIp("an unknown kind of capture header")),
    }
}

fn le32(data: &[u8], at: usize) -> u32 {
    data.get(at..)
        .and_then(<[u8]>::first_chunk)
        .copied()
        .map_or(0, u32::from_le_bytes)
}

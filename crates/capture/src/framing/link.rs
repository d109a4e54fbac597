//! Link types: from a frame's first byte over the header that the capturing system put there to the first layer of
//! [`crate::layers`].

use crate::file::LinkType;
use crate::framing::wifi;
use crate::layers::{Layer, Stop, Walk};
use rekeyscope_model::error::WireError;

/// The name of every link type that is not stepped through.
pub(super) const UNSUPPORTED: &str = "an unsupported link type";

/// An IP packet that no layer announces.
pub(super) const IP: Layer = Layer::Ip { in_ppp: false };

/// The link types that this decoder steps through.
pub(super) mod link_type {
    pub(crate) const NULL: u16 = 0;
    pub(crate) const ETHERNET: u16 = 1;
    pub(crate) const PPP: u16 = 9;
    pub(crate) const DLT_RAW: u16 = 12;
    pub(crate) const DLT_RAW_OPENBSD: u16 = 14;
    pub(crate) const PPP_HDLC: u16 = 50;
    pub(crate) const PPP_ETHER: u16 = 51;
    pub(crate) const RAW: u16 = 101;
    pub(crate) const ATM_RFC1483: u16 = 100;
    pub(crate) const C_HDLC: u16 = 104;
    pub(crate) const IEEE802_11: u16 = 105;
    pub(crate) const LOOP: u16 = 108;
    pub(crate) const LINUX_SLL: u16 = 113;
    pub(crate) const IEEE802_11_RADIOTAP: u16 = 127;
    pub(crate) const PPP_PPPD: u16 = 166;
    pub(crate) const PPI: u16 = 192;
    pub(crate) const PPP_WITH_DIR: u16 = 204;
    pub(crate) const IPV4: u16 = 228;
    pub(crate) const IPV6: u16 = 229;
    pub(crate) const NFLOG: u16 = 239;
    pub(crate) const PKTAP: u16 = 258;
    pub(crate) const LINUX_SLL2: u16 = 276;
    pub(crate) const DSA_TAG_BRCM: u16 = 281;
    pub(crate) const DSA_TAG_BRCM_PREPEND: u16 = 282;
}

/// Steps over the link type's own header.
///
/// # Errors
/// [`Stop`] when it cannot be read, or announces something else.
#[inline]
pub(super) fn enter(walk: &mut Walk<'_>, link_type: LinkType) -> Result<Layer, Stop> {
    match link_type.0 {
        link_type::ETHERNET => Ok(Layer::Ethernet),
        link_type::RAW
        | link_type::DLT_RAW
        | link_type::DLT_RAW_OPENBSD
        | link_type::IPV4
        | link_type::IPV6 => Ok(IP),
        link_type::LINUX_SLL => {
            walk.skip("Linux SLL", 14)?;
            Ok(Layer::EtherType(walk.take_u16("Linux SLL")?))
        }
        link_type::LINUX_SLL2 => {
            let ether_type = walk.take_u16("Linux SLL2")?;
            walk.skip("Linux SLL2", 18)?;
            Ok(Layer::EtherType(ether_type))
        }
        _ => enter_rare(walk, link_type),
    }
}

fn enter_rare(walk: &mut Walk<'_>, link_type: LinkType) -> Result<Layer, Stop> {
    match link_type.0 {
        link_type::NULL | link_type::LOOP => bsd_loopback(walk),
        link_type::PPP | link_type::PPP_HDLC => Ok(Layer::Ppp),
        link_type::PPP_ETHER => Ok(Layer::Pppoe),
        // A direction byte in place of the address, or before everything.
        link_type::PPP_PPPD => walk.skip("PPP", 2).map(|()| Layer::Ppp),
        link_type::PPP_WITH_DIR => walk.skip("PPP", 1).map(|()| Layer::Ppp),
        link_type::C_HDLC => {
            walk.skip("Cisco HDLC", 2)?;
            Ok(Layer::EtherType(walk.take_u16("Cisco HDLC")?))
        }
        link_type::ATM_RFC1483 => Ok(Layer::Llc),
        // The port of a switch, between the addresses and the EtherType or before everything.
        link_type::DSA_TAG_BRCM => {
            walk.skip("Broadcom tag", 16)?;
            Ok(Layer::EtherType(walk.take_u16("Broadcom tag")?))
        }
        link_type::DSA_TAG_BRCM_PREPEND => walk.skip("Broadcom tag", 4).map(|()| Layer::Ethernet),
        link_type::NFLOG => nflog(walk),
        link_type::PPI => ppi(walk),
        link_type::PKTAP => pktap(walk),
        link_type::IEEE802_11_RADIOTAP => wifi::radiotap(walk),
        link_type::IEEE802_11 => wifi::data_frame(walk, false),
        _ => Err(Stop::Other(UNSUPPORTED)),
    }
}

/// BSD null (the capturing host's byte order) and loop (network order): an address family, of which every system has its
/// own number for IPv6. All of them are small: whichever order makes the number small is the right one.
fn bsd_loopback(walk: &mut Walk<'_>) -> Result<Layer, Stop> {
    let family = *walk.take("BSD loopback")?;
    match u32::from_le_bytes(family).min(u32::from_be_bytes(family)) {
        // IPv4; Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin.
        2 | 10 | 23 | 24 | 28 | 30 => Ok(IP),
        _ => Err(Stop::Other("another address family")),
    }
}

/// Linux netfilter log: four bytes, then attributes of length, type and value in the host's byte order, padded to four.
fn nflog(walk: &mut Walk<'_>) -> Result<Layer, Stop> {
    const LAYER: &str = "NFLOG";
    const PAYLOAD: u16 = 9;
    const ATTRIBUTE_HEADER_LEN: usize = 4;
    if !matches!(walk.take::<4>(LAYER)?, [2 | 10, 0, ..]) {
        return Err(Stop::Other("another address family"));
    }
    loop {
        let (len, kind) = match *walk.take::<ATTRIBUTE_HEADER_LEN>(LAYER)? {
            // Types are below 256 and none is 0: a zero in front of the type betrays big-endian.
            [a, b, 0, kind] if kind != 0 => (u16::from_be_bytes([a, b]), u16::from(kind)),
            [a, b, c, d] => (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]) & 0x7fff),
        };
        if usize::from(len) < ATTRIBUTE_HEADER_LEN {
            return Err(Stop::Broken(WireError {
                layer: LAYER,
                offset: walk.at() - ATTRIBUTE_HEADER_LEN,
                required: ATTRIBUTE_HEADER_LEN,
                available: usize::from(len),
            }));
        }
        if kind == PAYLOAD {
            return Ok(IP);
        }
        walk.skip(LAYER, usize::from(len).next_multiple_of(4) - ATTRIBUTE_HEADER_LEN)?;
    }
}

/// Apple's packet tap: header length, record type, then the link type of what follows, little-endian.
fn pktap(walk: &mut Walk<'_>) -> Result<Layer, Stop> {
    const LAYER: &str = "PKTAP";
    let &[l0, l1, l2, l3, _, _, _, _, t0, t1, t2, t3] = walk.peek(LAYER)?;
    let len = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    carried(walk, LAYER, len, u32::from_le_bytes([t0, t1, t2, t3]))
}

/// Per-packet information: version, flags, header length, then the link type of what follows, little-endian.
fn ppi(walk: &mut Walk<'_>) -> Result<Layer, Stop> {
    const LAYER: &str = "PPI";
    let &[_, _, l0, l1, t0, t1, t2, t3] = walk.peek(LAYER)?;
    let len = usize::from(u16::from_le_bytes([l0, l1]));
    carried(walk, LAYER, len, u32::from_le_bytes([t0, t1, t2, t3]))
}

/// A frame of another link type behind `len` bytes; not one with such a header again.
fn carried(walk: &mut Walk<'_>, layer: &'static str, len: usize, inner: u32) -> Result<Layer, Stop> {
    walk.skip(layer, len)?;
    match u16::try_from(inner) {
        Ok(inner) if len >= 8 && !matches!(inner, link_type::PKTAP | link_type::PPI) => {
            enter(walk, LinkType(inner))
        }
        _ => Err(Stop::Other("an unknown kind of capture header")),
    }
}

//! Inner IP headers and the protocols that they carry (RFC 791, RFC 8200).

use super::{AhInside, Layer, Layers, Step, Walk};
use crate::spi::Spi;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(super) const PROTOCOL_IPV4: u8 = 4;
pub(super) const PROTOCOL_IPV6: u8 = 41;
const PROTOCOL_TCP: u8 = 6;
pub(super) const PROTOCOL_UDP: u8 = 17;
const PROTOCOL_GRE: u8 = 47;
pub(super) const PROTOCOL_ESP: u8 = 50;
const PROTOCOL_AH: u8 = 51;
const PROTOCOL_NO_NEXT_HEADER: u8 = 59;
const PROTOCOL_ETHERIP: u8 = 97;
const PROTOCOL_IPCOMP: u8 = 108;
const PROTOCOL_L2TPV3: u8 = 115;
const PROTOCOL_MPLS: u8 = 137;
/// Most IPv6 extension headers in a row; real stacks send up to three.
const MOST_EXTENSIONS: usize = 8;

impl Walk<'_> {
    /// What an IP protocol number (or ESP next header) announces.
    pub(super) fn protocol(&mut self, number: u8) -> Step {
        match number {
            PROTOCOL_IPV4 | PROTOCOL_IPV6 => self.ip(number),
            PROTOCOL_TCP => self.tcp(),
            PROTOCOL_UDP => self.udp(),
            PROTOCOL_GRE => self.gre(),
            PROTOCOL_ETHERIP => self.ether_ip(),
            PROTOCOL_MPLS => self.mpls(),
            PROTOCOL_AH => self.authentication_header(),
            PROTOCOL_ESP => {
                self.inner.layers = self.inner.layers.with(Layers::ESP);
                Err(super::ESP_IN_ESP)
            }
            PROTOCOL_IPCOMP => {
                self.inner.layers = self.inner.layers.with(Layers::IPCOMP);
                self.ip_comp()
            }
            PROTOCOL_L2TPV3 => self.l2tpv3(),
            // RFC 4303 §2.6: in ESP this is a dummy packet, to be discarded.
            PROTOCOL_NO_NEXT_HEADER => {
                self.cut_to(0);
                Err("no next header (dummy packet)")
            }
            _ => self.other_transport(number),
        }
    }

    /// An IP header where protocol 4 or 41 says that one follows. A sender that numbers IPv6 in IPv4 wrongly is
    /// understood by the version field.
    fn ip(&mut self, number: u8) -> Step {
        if self.addresses.is_some() && self.depth > 0 {
            self.inner.layers = self.inner.layers.with(Layers::IPIP);
        }
        let outermost = self.depth == 0 && self.inner.layers.contains(Layers::TUNNEL_MODE);
        self.descend(Layers::default())?;
        let room = self.len;
        let below = match self.bytes.first().map(|b| b >> 4) {
            Some(4) => self.ipv4(),
            Some(6) => self.ipv6(),
            _ if number == PROTOCOL_IPV4 => Err("IPv4"),
            _ => Err("IPv6"),
        };
        if outermost {
            // ip_bytes is this header's total length until a deeper IP header overwrites it.
            self.inner.tfc_padding = u32::try_from(room)
                .unwrap_or(u32::MAX)
                .saturating_sub(self.inner.ip_bytes);
        }
        below
    }

    /// An IP header by its version, where the layer above has said "IP" in its own way.
    pub(super) fn ip_by_version(&mut self) -> Step {
        self.descend(Layers::default())?;
        match self.bytes.first().map(|b| b >> 4) {
            Some(4) => self.ipv4(),
            Some(6) => self.ipv6(),
            _ => Err("IP"),
        }
    }

    /// RFC 791 §3.1.
    fn ipv4(&mut self) -> Step {
        self.inner.ip_at = self.header_at();
        let header = self.peek::<20>().ok_or("IPv4")?;
        let [first, _, l0, l1, _, _, f0, f1, _, protocol, _, _, addresses @ ..] = *header;
        let [s0, s1, s2, s3, d0, d1, d2, d3] = addresses;
        let header_len = usize::from(first & 15) * 4;
        // Offload may leave 0 here (the card would have filled it in): the layer above knows the length.
        let total = match usize::from(u16::from_be_bytes([l0, l1])) {
            0 => self.len,
            declared => declared,
        };
        if header_len < 20 || total < header_len {
            return Err("IPv4");
        }
        self.addresses = Some((
            IpAddr::V4(Ipv4Addr::new(s0, s1, s2, s3)),
            IpAddr::V4(Ipv4Addr::new(d0, d1, d2, d3)),
        ));
        self.cut_to(total);
        self.inner.ip_bytes = self.bytes_left();
        self.skip(header_len).ok_or("IPv4")?;
        let offset = u16::from_be_bytes([f0, f1]) & 0x1fff;
        self.below_ip(protocol, offset)
    }

    /// RFC 8200 §3 and the extension headers of §4.
    fn ipv6(&mut self) -> Step {
        self.inner.ip_at = self.header_at();
        let header = self.take::<40>().ok_or("IPv6")?;
        let (&[_, _, _, _, l0, l1, mut next, _], addresses) = header.split_first_chunk().ok_or("IPv6")?;
        let (src, dst) = addresses.split_first_chunk::<16>().ok_or("IPv6")?;
        let dst = dst.first_chunk::<16>().ok_or("IPv6")?;
        self.addresses = Some((IpAddr::V6(Ipv6Addr::from(*src)), IpAddr::V6(Ipv6Addr::from(*dst))));
        // 0: a jumbogram (RFC 2675) or offload; the layer above knows the length.
        match usize::from(u16::from_be_bytes([l0, l1])) {
            0 => {}
            declared => self.cut_to(declared),
        }
        self.inner.ip_bytes = self.bytes_left().saturating_add(40);
        for _ in 0..MOST_EXTENSIONS {
            let extension_len = match next {
                // Hop-by-hop, routing, destination options, mobility, HIP, shim6.
                0 | 43 | 60 | 135 | 139 | 140 => {
                    let &[_, units] = self.peek::<2>().ok_or("IPv6 extension header")?;
                    (usize::from(units) + 1) * 8
                }
                44 => {
                    let &[after, _, o0, o1] = self.peek::<4>().ok_or("IPv6 fragment header")?;
                    self.skip(8).ok_or("IPv6 fragment header")?;
                    return self.below_ip(after, u16::from_be_bytes([o0, o1]) >> 3);
                }
                _ => return self.below_ip(next, 0),
            };
            let &[after] = self.peek::<1>().ok_or("IPv6 extension header")?;
            self.skip(extension_len).ok_or("IPv6 extension header")?;
            next = after;
        }
        Err("IPv6 extension header")
    }

    fn below_ip(&mut self, protocol: u8, fragment_offset: u16) -> Step {
        if fragment_offset == 0 {
            return Ok(Some(Layer::Protocol(protocol)));
        }
        self.inner.fragment = true;
        self.reached(protocol, 0, 0, self.len)
    }

    /// RFC 3173 §3.1: next header, flags, compression parameter index.
    fn ip_comp(&mut self) -> Step {
        let &[next, _, c0, c1] = self.take::<4>().ok_or("IPComp")?;
        match u16::from_be_bytes([c0, c1]) {
            // 2 is DEFLATE (RFC 2394); from 256 on the peers negotiate what the index means, nearly always DEFLATE.
            2 | 256.. => Ok(Some(Layer::Deflated(next))),
            _ => Err("IPComp"),
        }
    }

    /// RFC 4302 §2: the length field counts words less two.
    fn authentication_header(&mut self) -> Step {
        let &[next, words, _, _, rest @ ..] = self.peek::<20>().ok_or("AH")?;
        let [s0, s1, s2, s3, n0, n1, n2, n3, icv @ ..] = rest;
        let ah = AhInside {
            spi: Spi(u32::from_be_bytes([s0, s1, s2, s3])),
            sequence: u32::from_be_bytes([n0, n1, n2, n3]),
            icv_begin: u64::from_be_bytes(icv),
            bytes: self.bytes_left(),
            ends: self.addresses,
        };
        self.inner.ah.get_or_insert_with(|| Box::new(ah));
        self.skip((usize::from(words) + 2) * 4).ok_or("AH")?;
        Ok(Some(Layer::Protocol(next)))
    }
}

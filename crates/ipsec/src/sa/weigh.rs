//! Weighs a key by what packets decrypt to: the checks of [`crate::sa::evidence`], from the trailer down.

use crate::esp::cipher::{EspCipher, Icv};
use crate::esp::inner::{self, PREFIX};
use crate::esp::null::checksum_fits;
use crate::sa::evidence::{Question, Sign, asked, bits, missed};
use etherparse::checksum::Sum16BitWords;
use etherparse::{Ipv6Header, UdpHeader};
use rekeyscope_capture::layers::udp::L2TP_PORT;
use std::net::{IpAddr, Ipv4Addr};

/// A wrong key is given up below this: two packets of noise. A right one whose first packets look like noise is not found.
pub(super) const HOPELESS_BITS: f64 = -20.0;

/// GRE, EtherIP, IPComp, L2TPv3, MPLS in IP.
pub(super) const TUNNELS: [u8; 5] = [47, 97, 108, 115, 137];

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    pub(super) bits: f64,
    /// Two numbers that the next packet of the same kind may repeat: ports, tunnel and session, halves of an SPI.
    before: Option<(Numbered, [u16; 2])>,
}

/// Protocols that number their ends in each packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbered {
    Tcp,
    Udp,
    L2tp,
    Esp,
}

impl Weight {
    /// Adds what a whole packet (from the SPI on) says. The ICV is not looked at.
    pub(super) fn add(&mut self, cipher: &EspCipher, packet: &[u8], esn_high: Option<u32>) {
        let mut plain = Vec::new();
        let Some((padding, next_header)) = trailer(cipher, packet, esn_high, &mut plain) else {
            self.bits += missed(Question::Padding);
            return;
        };
        let protocol = protocol(next_header);
        self.bits += bits(padding) + bits(protocol);
        if matches!(protocol, Sign::UnknownProtocol | Sign::Dummy) {
            return;
        }
        // The checksum of ICMP goes over all of it.
        let prefix = if protocol == Sign::Icmp {
            usize::MAX
        } else {
            PREFIX
        };
        if let Some(opened) = cipher.open(packet, esn_high, Icv::Verified, prefix, &mut plain) {
            let part = Part {
                bytes: &plain,
                len: opened.payload_len as usize,
            };
            self.descend(next_header, protocol, &part);
        }
    }

    fn descend(&mut self, next_header: u8, protocol: Sign, part: &Part<'_>) {
        match protocol {
            Sign::Ipv4 => self.ipv4(part),
            Sign::Ipv6 => self.ipv6(part),
            Sign::Udp => self.udp(part),
            Sign::Tcp => self.tcp(part),
            Sign::Esp => {
                if let (Some(first), Some(second)) = (part.word(0), part.word(2)) {
                    self.repeats(Numbered::Esp, [first, second]);
                }
            }
            Sign::Icmp => {
                self.ask(Question::IcmpKind, part);
                self.ask(Question::IcmpChecksum, part);
            }
            Sign::Icmpv6 => _ = self.ask(Question::Icmpv6Kind, part),
            _ if TUNNELS.contains(&next_header) => {
                self.bits += asked(Question::Tunnel, part.tunnels(next_header));
            }
            _ => {}
        }
    }

    /// Adds what an answer says, and tells it.
    fn ask(&mut self, check: Question, part: &Part<'_>) -> bool {
        let passes = part.passes(check);
        self.bits += asked(check, passes);
        passes
    }

    fn ipv4(&mut self, part: &Part<'_>) {
        if !self.ask(Question::Ipv4Head, part) {
            return;
        }
        // Shorter than its room: padding of traffic flow confidentiality (RFC 4303 §2.7).
        self.ask(Question::Ipv4Length, part);
        self.ask(Question::Ipv4Checksum, part);
        self.ask(Question::Ipv4Protocol, part);
        let (header, total) = (part.ipv4_header_len(), usize::from(part.word(2).unwrap_or(0)));
        // A piece of a datagram has another length than its UDP header says.
        let fragment = part.word(6).is_some_and(|word| word & 0x3fff != 0);
        if let (Some(inside), false) = (part.below(header, total), fragment) {
            self.transport(part.byte(9), &inside);
        }
    }

    fn ipv6(&mut self, part: &Part<'_>) {
        if !self.ask(Question::Ipv6Head, part) {
            return;
        }
        self.ask(Question::Ipv6Length, part);
        let end = Ipv6Header::LEN + usize::from(part.word(4).unwrap_or(0));
        if let Some(inside) = part.below(Ipv6Header::LEN, end) {
            self.transport(part.byte(6), &inside);
        }
    }

    fn transport(&mut self, protocol: Option<u8>, part: &Part<'_>) {
        match protocol {
            Some(6) => self.tcp(part),
            Some(17) => self.udp(part),
            _ => {}
        }
    }

    fn udp(&mut self, part: &Part<'_>) {
        let whole = self.ask(Question::UdpLength, part);
        let Some(ports) = part.ports().filter(|_| whole) else {
            return;
        };
        if self.ask(Question::L2tpPort, part) {
            self.l2tp(part);
        } else {
            self.repeats(Numbered::Udp, ports);
        }
    }

    /// From the UDP header on.
    fn l2tp(&mut self, part: &Part<'_>) {
        const LENGTH: u16 = 0x4000;
        if !self.ask(Question::L2tpHead, part) {
            return;
        }
        let with_length = part.word(UdpHeader::LEN).is_some_and(|flags| flags & LENGTH != 0);
        if with_length {
            self.ask(Question::L2tpLength, part);
        }
        let ids = UdpHeader::LEN + if with_length { 4 } else { 2 };
        if let (Some(tunnel), Some(session)) = (part.word(ids), part.word(ids + 2)) {
            self.repeats(Numbered::L2tp, [tunnel, session]);
        }
        let found = inner::walk(17, part.bytes, part.len, Some(ANY));
        let begins = found.ip_at.map(usize::from).filter(|at| *at > UdpHeader::LEN);
        if let Some(ip) = begins.and_then(|at| part.below(at, part.len))
            && ip.passes(Question::Ipv4Head)
        {
            self.ask(Question::Ipv4Checksum, &ip);
        }
    }

    fn tcp(&mut self, part: &Part<'_>) {
        if !self.ask(Question::TcpHead, part) {
            return;
        }
        self.ask(Question::TcpUrgent, part);
        if let Some(ports) = part.ports() {
            self.repeats(Numbered::Tcp, ports);
        }
    }

    fn repeats(&mut self, kind: Numbered, numbers: [u16; 2]) {
        if let Some((before, known)) = self.before
            && before == kind
        {
            let [first, second] = [0, 1].map(|i: usize| known.get(i) == numbers.get(i));
            self.bits += asked(Question::SameFirst, first) + asked(Question::SameSecond, second);
        }
        self.before = Some((kind, numbers));
    }
}

/// The ends do not matter where nothing but structure is sought.
const ANY: (IpAddr, IpAddr) = (
    IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    IpAddr::V4(Ipv4Addr::UNSPECIFIED),
);

/// Padding and next header of a packet; `None` where the padding would be longer than the packet.
pub(super) fn trailer(
    cipher: &EspCipher,
    packet: &[u8],
    esn_high: Option<u32>,
    plain: &mut Vec<u8>,
) -> Option<(Sign, u8)> {
    if let Some(opened) = cipher.open(packet, esn_high, Icv::Unchecked, 0, plain) {
        let finding = match opened.pad_len {
            0 => Sign::NoPadding,
            1 => Sign::PaddingOfOne,
            _ => Sign::PaddingOfMore,
        };
        return Some((finding, opened.next_header));
    }
    let opened = cipher.open(packet, esn_high, Icv::Verified, 0, plain)?;
    Some((Sign::OwnPadding, opened.next_header))
}

pub(super) fn protocol(next_header: u8) -> Sign {
    match next_header {
        4 => Sign::Ipv4,
        41 => Sign::Ipv6,
        17 => Sign::Udp,
        6 => Sign::Tcp,
        47 => Sign::Gre,
        50 => Sign::Esp,
        1 => Sign::Icmp,
        58 => Sign::Icmpv6,
        59 => Sign::Dummy,
        115 => Sign::L2tpv3,
        // IGMP, AH, OSPF, EtherIP, PIM, IPComp, VRRP, SCTP, UDP-Lite, MPLS in IP.
        2 | 51 | 89 | 97 | 103 | 108 | 112 | 132 | 136 | 137 => Sign::OtherProtocol,
        _ => Sign::UnknownProtocol,
    }
}

/// The beginning of a layer that is `len` bytes long.
pub(super) struct Part<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) len: usize,
}

impl<'a> Part<'a> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn word(&self, at: usize) -> Option<u16> {
        let bytes = self.bytes.get(at..)?.first_chunk()?;
        Some(u16::from_be_bytes(*bytes))
    }

    /// The layer inside, from `from` to `to` bytes.
    fn below(&self, from: usize, to: usize) -> Option<Part<'a>> {
        Some(Part {
            bytes: self.bytes.get(from..)?,
            len: to.min(self.len).checked_sub(from)?,
        })
    }

    fn ports(&self) -> Option<[u16; 2]> {
        Some([self.word(0)?, self.word(2)?])
    }

    fn ipv4_header_len(&self) -> usize {
        usize::from(self.byte(0).unwrap_or(0) & 15) * 4
    }

    /// The answer to a check that looks at one layer; L2TP's are asked from the UDP header on.
    pub(super) fn passes(&self, check: Question) -> bool {
        /// RFC 2661 §3.1: version 2, seven reserved bits of zero.
        const RESERVED_AND_VERSION: u16 = 0x34ff;
        const URG: u8 = 32;
        match check {
            Question::Ipv4Head => {
                matches!(self.byte(0), Some(0x45..=0x4f)) && self.ipv4_header_len() <= self.len
            }
            Question::Ipv4Length => self.word(2).map(usize::from) == Some(self.len),
            // RFC 791: the sum over the header is 0xffff.
            Question::Ipv4Checksum => {
                let header = self.bytes.get(..self.ipv4_header_len().max(20));
                header.is_some_and(|header| checksum_fits(Sum16BitWords::new(), header))
            }
            Question::Ipv4Protocol => matches!(self.byte(9), Some(1 | 6 | 17)),
            // Fragments, and hop-by-hop options of MLD, beside the transports.
            Question::Ipv6Head => {
                self.byte(0).is_some_and(|first| first >> 4 == 6)
                    && matches!(self.byte(6), Some(0 | 6 | 17 | 44 | 58))
            }
            Question::Ipv6Length => {
                let whole = |rest| usize::from(rest) + Ipv6Header::LEN == self.len;
                self.word(4).is_some_and(whole)
            }
            Question::UdpLength => self.word(4).map(usize::from) == Some(self.len),
            Question::L2tpPort => self.ports().is_some_and(|ports| ports.contains(&L2TP_PORT)),
            Question::L2tpHead => {
                let flags = self.word(UdpHeader::LEN);
                flags.is_some_and(|flags| flags & RESERVED_AND_VERSION == 2)
            }
            Question::L2tpLength => {
                let told = self.word(UdpHeader::LEN + 2).map(usize::from);
                told == self.len.checked_sub(UdpHeader::LEN)
            }
            Question::TcpHead => self.tcp_head(),
            Question::TcpUrgent => {
                self.byte(13).is_some_and(|flags| flags & URG == 0) && self.word(18) == Some(0)
            }
            // IANA "ICMP Type Numbers": echo, unreachable, redirect, time exceeded, parameter problem, router discovery, timestamp.
            Question::IcmpKind => matches!(
                (self.byte(0), self.byte(1)),
                (Some(0 | 8 | 9 | 10 | 13 | 14), Some(0))
                    | (Some(3), Some(0..=15))
                    | (Some(5), Some(0..=3))
                    | (Some(11 | 12), Some(0..=2))
            ),
            // Over the whole message.
            Question::IcmpChecksum => {
                self.bytes.len() == self.len
                    && self.len >= 8
                    && checksum_fits(Sum16BitWords::new(), self.bytes)
            }
            // IANA "ICMPv6 Type Numbers": errors, echo, MLD, neighbour discovery, MLDv2.
            Question::Icmpv6Kind => matches!(
                (self.byte(0), self.byte(1)),
                (Some(1), Some(0..=7))
                    | (Some(2 | 128..=137 | 143), Some(0))
                    | (Some(3), Some(0..=1))
                    | (Some(4), Some(0..=2))
            ),
            // Asked of a trailer, of a tunnel, of two packets.
            Question::Padding
            | Question::NextHeader
            | Question::Tunnel
            | Question::SameFirst
            | Question::SameSecond => false,
        }
    }

    /// RFC 9293 §3.1: the offset within the segment, three reserved bits of zero, and flags that a stack sends: one of SYN, ACK and
    /// RST, and not two of SYN, FIN and RST.
    fn tcp_head(&self) -> bool {
        let [fin, syn, rst, ack] = [1, 2, 4, 16];
        let (Some(offset), Some(flags)) = (self.byte(12), self.byte(13)) else {
            return false;
        };
        let header = usize::from(offset >> 4) * 4;
        offset & 0x0e == 0
            && (20..=self.len).contains(&header)
            && flags & (syn | ack | rst) != 0
            && (flags & (syn | fin | rst)).count_ones() <= 1
    }

    /// A walk through the tunnel comes to an IP header.
    pub(super) fn tunnels(&self, next_header: u8) -> bool {
        let found = inner::walk(next_header, self.bytes, self.len, Some(ANY));
        found.ip_at.is_some()
    }
}

//! ICMP errors (RFC 792, RFC 4443) and the packets that they quote.

use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice, icmpv4, icmpv6};
use std::net::IpAddr;

/// An ICMP error: destination unreachable (RFC 792, RFC 4443 §3.1), or packet too big (RFC 1191, RFC 4443 §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcmpError {
    /// Name of the error.
    pub name: &'static str,
    /// MTU of the next hop.
    pub mtu: Option<u32>,
    /// Source of the quoted packet.
    pub src: IpAddr,
    /// Destination of the quoted packet.
    pub dst: IpAddr,
}

impl IcmpError {
    /// Reads an ICMP message: the error, and protocol and payload of the packet that it quotes; `None` where it is no such error.
    pub fn parse(message: &[u8], is_v6: bool) -> Option<(IcmpError, IpNumber, &[u8])> {
        let (&[kind, code, _, _, a, b, c, d], quoted) = message.split_first_chunk()?;
        let (name, mtu) = match (is_v6, kind, code) {
            (false, icmpv4::TYPE_DEST_UNREACH, icmpv4::CODE_DST_UNREACH_NEED_FRAG) => (
                "fragmentation needed",
                Some(u32::from(u16::from_be_bytes([c, d]))),
            ),
            (false, icmpv4::TYPE_DEST_UNREACH, code) => (unreachable_v4(code), None),
            (true, icmpv6::TYPE_DST_UNREACH, code) => (unreachable_v6(code), None),
            (true, icmpv6::TYPE_PACKET_TOO_BIG, _) => {
                ("packet too big", Some(u32::from_be_bytes([a, b, c, d])))
            }
            _ => return None,
        };
        let (src, dst, protocol, payload) = if is_v6 {
            quoted_v6(quoted)
        } else {
            quoted_v4(quoted)
        }?;
        let mtu = mtu.filter(|mtu| *mtu > 0);
        Some((IcmpError { name, mtu, src, dst }, protocol, payload))
    }
}

type Quoted<'a> = (IpAddr, IpAddr, IpNumber, &'a [u8]);

fn quoted_v4(packet: &[u8]) -> Option<Quoted<'_>> {
    let header = Ipv4HeaderSlice::from_slice(packet).ok()?;
    let (src, dst) = (header.source_addr().into(), header.destination_addr().into());
    Some((src, dst, header.protocol(), packet.get(header.slice().len()..)?))
}

fn quoted_v6(packet: &[u8]) -> Option<Quoted<'_>> {
    let header = Ipv6HeaderSlice::from_slice(packet).ok()?;
    let (src, dst) = (header.source_addr().into(), header.destination_addr().into());
    Some((
        src,
        dst,
        header.next_header(),
        packet.get(header.slice().len()..)?,
    ))
}

/// Names of the codes (RFC 792, RFC 1122 §3.2.2.1, RFC 1812 §5.2.7.1).
fn unreachable_v4(code: u8) -> &'static str {
    match code {
        0 | 6 | 11 => "network unreachable",
        1 | 7 | 12 => "host unreachable",
        2 => "protocol unreachable",
        3 => "port unreachable",
        9 | 10 | 13 => "administratively prohibited",
        _ => "destination unreachable",
    }
}

/// Names of the codes (RFC 4443 §3.1).
fn unreachable_v6(code: u8) -> &'static str {
    match code {
        0 => "no route to destination",
        1 | 5 => "administratively prohibited",
        3 => "address unreachable",
        4 => "port unreachable",
        _ => "destination unreachable",
    }
}

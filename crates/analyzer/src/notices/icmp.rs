//! ICMP errors that quote a packet of IPsec: destination unreachable (RFC 792, RFC 4443 §3.1) and packet too big (RFC 1191, RFC 4443
//! §3.2).

use crate::notices::run::{Repeats, RunList};
use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice, icmpv4, icmpv6, ip_number};
use foldhash::HashMap;
use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_capture::layers::udp::is_ipsec_port;
use rekeyscope_ipsec::rekey::attempt::FIRST_REPEAT_NANOS;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::MOST_EVENTS;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// An ICMP error about a packet of IPsec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IcmpError {
    pub(crate) name: &'static str,
    /// MTU of the next hop.
    pub(crate) mtu: Option<u32>,
    /// Ends of the quoted packet.
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    /// Ports of a quoted UDP packet.
    pub(crate) udp: Option<UdpPorts>,
    /// SPI of a quoted ESP packet.
    pub(crate) spi: Option<Spi>,
}

impl IcmpError {
    /// Reads an ICMP message; `None` where it is no such error.
    pub(crate) fn parse(message: &[u8], is_v6: bool) -> Option<IcmpError> {
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
        let error = IcmpError {
            name,
            mtu: mtu.filter(|mtu| *mtu > 0),
            src,
            dst,
            udp: None,
            spi: None,
        };
        match protocol {
            ip_number::ENCAPSULATING_SECURITY_PAYLOAD => Some(IcmpError {
                spi: payload.first_chunk::<4>().map(|s| Spi(u32::from_be_bytes(*s))),
                ..error
            }),
            ip_number::AUTHENTICATION_HEADER => Some(error),
            ip_number::UDP => {
                let &[s0, s1, d0, d1] = payload.first_chunk::<4>()?;
                let (src, dst) = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
                (is_ipsec_port(src) || is_ipsec_port(dst)).then_some(IcmpError {
                    udp: Some(UdpPorts { src, dst }),
                    ..error
                })
            }
            _ => None,
        }
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

/// The same error about packets of a tunnel, once or more often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IcmpRun {
    pub(crate) tunnel: TunnelIndex,
    pub(crate) by: IpAddr,
    pub(crate) error: IcmpError,
    pub(crate) run: Repeats,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct IcmpLog {
    open: HashMap<(TunnelIndex, IpAddr, &'static str, Option<u32>), IcmpRun>,
    found: RunList<IcmpRun>,
}

impl IcmpLog {
    /// Takes an error from `by` about a packet of a tunnel.
    pub(crate) fn take(
        &mut self,
        tunnel: TunnelIndex,
        by: IpAddr,
        error: IcmpError,
        (time, frame): (Timestamp, u64),
    ) {
        let key = (tunnel, by, error.name, error.mtu);
        if let Some(run) = self.open.get_mut(&key)
            // A sender of data asks again sooner than IKE: after a longer pause it is another trouble.
            && time.nanos_since(run.run.last) <= FIRST_REPEAT_NANOS
        {
            run.run.go_on(time);
            return;
        }
        // Combinations of tunnel, sender and error are told apart up to a bound.
        if self.open.len() >= MOST_EVENTS && !self.open.contains_key(&key) {
            self.found.left_out += 1;
            return;
        }
        let run = IcmpRun {
            tunnel,
            by,
            error,
            run: Repeats::begin(time, frame),
        };
        if let Some(before) = self.open.insert(key, run) {
            self.found.push(before);
        }
    }

    /// All runs.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &IcmpRun> {
        self.found.kept.iter().chain(self.open.values())
    }

    /// Runs that were not kept.
    pub(crate) fn left_out(&self) -> u64 {
        self.found.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_SECOND;

    /// A packet of ESP from 192.0.2.1 to 192.0.2.2, as an error of this type and code quotes it.
    fn quoting(kind: u8, code: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut message = vec![kind, code, 0, 0, 0, 0, 0x05, 0x78];
        message.extend([0x45, 0, 0, 100, 0, 0, 0x40, 0, 64, protocol, 0, 0]);
        message.extend([192, 0, 2, 1, 192, 0, 2, 2]);
        message.extend(payload);
        message
    }

    #[test]
    fn errors_about_ipsec_are_read_and_others_are_not() {
        let spi = [0xd0, 0, 0, 1, 0, 0, 0, 9];
        let too_big = IcmpError::parse(&quoting(3, 4, 50, &spi), false).unwrap();
        assert_eq!((too_big.name, too_big.mtu), ("fragmentation needed", Some(1_400)));
        assert_eq!(too_big.spi, Some(Spi(0xd000_0001)));
        let ike = IcmpError::parse(&quoting(3, 3, 17, &[1, 0xf4, 1, 0xf4]), false).unwrap();
        assert_eq!((ike.name, ike.mtu), ("port unreachable", None));
        assert_eq!(ike.udp, Some(UdpPorts { src: 500, dst: 500 }));
        for (kind, code, protocol, payload) in [
            (3, 3, 17, &[0x30, 0, 0, 53][..]),
            (3, 1, 6, &spi),
            (11, 0, 50, &spi),
            (8, 0, 50, &spi),
        ] {
            let other = quoting(kind, code, protocol, payload);
            assert_eq!(
                IcmpError::parse(&other, false),
                None,
                "type {kind}, protocol {protocol}"
            );
        }
        let whole = quoting(3, 4, 50, &spi);
        for cut in 0..whole.len() - spi.len() {
            assert_eq!(IcmpError::parse(&whole[..cut], false), None, "cut at {cut}");
        }
    }

    #[test]
    fn an_error_that_repeats_itself_is_one() {
        let by = IpAddr::from([192, 0, 2, 9]);
        let error = IcmpError::parse(&quoting(3, 1, 50, &[0; 8]), false).unwrap();
        let mut log = IcmpLog::default();
        for second in [0, 1, 5, 30] {
            let time = Timestamp(second * NANOS_PER_SECOND);
            log.take(0, by, error, (time, second as u64 + 1));
        }
        let counts: Vec<u64> = log.runs().map(|r| r.run.count).collect();
        assert_eq!(counts, [3, 1]);
    }
}

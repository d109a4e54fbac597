//! ICMP errors that quote a packet of IPsec, and errors inside a tunnel about packets that are too big behind it.

use crate::notices::run::{Repeats, RunList};
use etherparse::ip_number;
use foldhash::HashMap;
use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_capture::layers::IcmpError;
use rekeyscope_capture::layers::udp::is_ipsec_port;
use rekeyscope_ipsec::rekey::attempt::FIRST_REPEAT_NANOS;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::MOST_EVENTS;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// Reads an ICMP error about a packet of IPsec: the ports of a quoted UDP packet, and the SPI of a quoted ESP packet.
pub(crate) fn about_ipsec(message: &[u8], is_v6: bool) -> Option<(IcmpError, Option<UdpPorts>, Option<Spi>)> {
    let (error, protocol, payload) = IcmpError::parse(message, is_v6)?;
    match protocol {
        ip_number::ENCAPSULATING_SECURITY_PAYLOAD => {
            let spi = payload.first_chunk::<4>().map(|s| Spi(u32::from_be_bytes(*s)));
            Some((error, None, spi))
        }
        ip_number::AUTHENTICATION_HEADER => Some((error, None, None)),
        ip_number::UDP => {
            let &[s0, s1, d0, d1] = payload.first_chunk::<4>()?;
            let (src, dst) = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
            (is_ipsec_port(src) || is_ipsec_port(dst)).then_some((error, Some(UdpPorts { src, dst }), None))
        }
        _ => None,
    }
}

/// An error about packets of a tunnel, or inside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IcmpNotice {
    pub(crate) tunnel: TunnelIndex,
    pub(crate) by: IpAddr,
    pub(crate) error: IcmpError,
    /// SPI of a quoted ESP packet.
    pub(crate) spi: Option<Spi>,
    /// The quoted packet goes through the tunnel.
    pub(crate) inside: bool,
}

impl IcmpNotice {
    /// Errors alike are one: about the same tunnel or, inside it, about packets between the same hosts.
    fn key(&self) -> IcmpKey {
        let ends = self.inside.then_some((self.error.src, self.error.dst));
        (self.tunnel, self.by, self.error.name, self.error.mtu, ends)
    }
}

type IcmpKey = (
    TunnelIndex,
    IpAddr,
    &'static str,
    Option<u32>,
    Option<(IpAddr, IpAddr)>,
);

/// An error, seen once or more often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IcmpRun {
    pub(crate) notice: IcmpNotice,
    pub(crate) run: Repeats,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct IcmpLog {
    open: HashMap<IcmpKey, IcmpRun>,
    found: RunList<IcmpRun>,
}

impl IcmpLog {
    /// Takes an error.
    pub(crate) fn take(&mut self, notice: IcmpNotice, (time, frame): (Timestamp, u64)) {
        let key = notice.key();
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
            notice,
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
        let (too_big, _, of_esp) = about_ipsec(&quoting(3, 4, 50, &spi), false).unwrap();
        assert_eq!((too_big.name, too_big.mtu), ("fragmentation needed", Some(1_400)));
        assert_eq!(of_esp, Some(Spi(0xd000_0001)));
        let (ike, udp, _) = about_ipsec(&quoting(3, 3, 17, &[1, 0xf4, 1, 0xf4]), false).unwrap();
        assert_eq!((ike.name, ike.mtu), ("port unreachable", None));
        assert_eq!(udp, Some(UdpPorts { src: 500, dst: 500 }));
        for (kind, code, protocol, payload) in [
            (3, 3, 17, &[0x30, 0, 0, 53][..]),
            (3, 1, 6, &spi),
            (11, 0, 50, &spi),
            (8, 0, 50, &spi),
        ] {
            let other = quoting(kind, code, protocol, payload);
            assert_eq!(
                about_ipsec(&other, false),
                None,
                "type {kind}, protocol {protocol}"
            );
        }
        let whole = quoting(3, 4, 50, &spi);
        for cut in 0..whole.len() - spi.len() {
            assert_eq!(about_ipsec(&whole[..cut], false), None, "cut at {cut}");
        }
    }

    #[test]
    fn an_error_that_repeats_itself_is_one() {
        let (error, _, spi) = about_ipsec(&quoting(3, 1, 50, &[0; 8]), false).unwrap();
        let notice = IcmpNotice {
            tunnel: 0,
            by: [192, 0, 2, 9].into(),
            error,
            spi,
            inside: false,
        };
        let mut log = IcmpLog::default();
        for second in [0, 1, 5, 30] {
            let time = Timestamp(second * NANOS_PER_SECOND);
            log.take(notice, (time, second as u64 + 1));
        }
        let counts: Vec<u64> = log.runs().map(|r| r.run.count).collect();
        assert_eq!(counts, [3, 1]);
    }
}

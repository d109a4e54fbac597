//! NULL encryption recognised without keys, in the spirit of RFC 5879, and more careful than it: nothing is decided
//! before several packets agree, and one packet that disagrees settles the opposite.
//!
//! ESP does not say what it carries. With NULL encryption the payload is in clear, but where it ends depends on the
//! length of the ICV, and with AES-GMAC (RFC 4543) an IV comes first. So each possible [`NullFormat`] is held against
//! each packet: does the trailer make sense there, and does the payload begin with a header whose lengths or checksums
//! fit? In ciphertext they do once in about 10⁹ packets and format (next header, pad length and 16 bits of length or
//! checksum, for five protocols), and nearly every packet speaks against it.

use crate::esp::header::HEADER_LEN;
pub use crate::esp::header::NullFormat;
use crate::esp::inner;
use etherparse::checksum::Sum16BitWords;
use rekeyscope_capture::layers::deflate::is_one_stream;
use std::net::IpAddr;

/// Packets that must confirm a format by a length or checksum before it is believed.
const ENOUGH_PROOFS: u32 = 4;
/// Packets after which an undecided SA is given up: encrypted, or too odd to tell.
const MOST_PACKETS: u32 = 64;

/// All formats that the transforms of [`rekeyscope_model::algorithm`] make.
const FORMATS: [NullFormat; 6] = [
    format(0, 12),
    format(0, 16),
    format(0, 24),
    format(0, 32),
    format(8, 16),
    format(0, 0),
];

const fn format(iv_len: usize, icv_len: usize) -> NullFormat {
    NullFormat { iv_len, icv_len }
}

/// Verdict on an SA: does it encrypt?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullVerdict {
    /// Not enough packets yet.
    Undecided,
    /// NULL encryption in this format.
    Null(NullFormat),
    /// Encrypted, as far as one can tell.
    Encrypted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NullEvidence {
    /// A length or checksum fits.
    Proof,
    /// Nothing speaks against it, nothing proves it.
    Possible,
    /// The packet contradicts the format.
    Against,
}

impl NullEvidence {
    /// This, or that it cannot be.
    fn only_if(self, holds: bool) -> Self {
        if holds { self } else { NullEvidence::Against }
    }
}

/// Watches the packets of one SA whose key is unknown.
#[derive(Debug, Clone)]
pub struct NullDetector {
    /// Proofs per format; `None` once a packet spoke against it.
    proofs: [Option<u32>; FORMATS.len()],
    packets: u32,
    verdict: NullVerdict,
}

impl Default for NullDetector {
    fn default() -> Self {
        NullDetector {
            proofs: [Some(0); FORMATS.len()],
            packets: 0,
            verdict: NullVerdict::Undecided,
        }
    }
}

impl NullDetector {
    /// Adds a whole packet (from the SPI on), with its outer source and destination. Once decided, a verdict stays.
    pub fn observe(&mut self, packet: &[u8], outer: (IpAddr, IpAddr)) -> NullVerdict {
        if self.verdict != NullVerdict::Undecided {
            return self.verdict;
        }
        self.packets += 1;
        for (format, proofs) in FORMATS.iter().zip(&mut self.proofs) {
            *proofs = proofs.and_then(|proofs| match evidence(packet, *format, outer) {
                NullEvidence::Proof => Some(proofs + 1),
                NullEvidence::Possible => Some(proofs),
                NullEvidence::Against => None,
            });
        }
        self.verdict = self.decide();
        self.verdict
    }

    fn decide(&self) -> NullVerdict {
        let mut alive = FORMATS
            .iter()
            .zip(self.proofs)
            .filter_map(|(format, proofs)| Some((format, proofs?)));
        match (alive.next(), alive.next()) {
            (None, _) => NullVerdict::Encrypted,
            (Some((format, proofs)), None) if proofs >= ENOUGH_PROOFS => NullVerdict::Null(*format),
            _ if self.packets >= MOST_PACKETS => NullVerdict::Encrypted,
            _ => NullVerdict::Undecided,
        }
    }
}

fn evidence(packet: &[u8], format: NullFormat, outer: (IpAddr, IpAddr)) -> NullEvidence {
    let payload = packet
        .len()
        .checked_sub(format.icv_len)
        .and_then(|end| packet.get(HEADER_LEN + format.iv_len..end))
        .and_then(payload_by_trailer);
    let Some((payload, next_header)) = payload else {
        return NullEvidence::Against;
    };
    let pseudo_header = |protocol| pseudo_header_sum(outer, protocol, payload.len());
    match next_header {
        4 => ipv4(payload),
        41 => ipv6(payload),
        6 => sum_evidence(tcp_shape(payload), pseudo_header(6), payload),
        17 => udp(payload),
        1 => sum_evidence(payload.len() >= 8, Some(Sum16BitWords::new()), payload),
        58 => sum_evidence(payload.len() >= 4, pseudo_header(58), payload),
        47 => gre(payload, outer),
        108 => ip_comp(payload),
        // A dummy packet; or protocols that prove nothing but do occur.
        59 | 2 | 50 | 51 | 89 | 97 | 115 | 132 => NullEvidence::Possible,
        _ => NullEvidence::Against,
    }
}

/// Cuts trailer and padding off, which must be 1, 2, 3, … (RFC 4303 §2.4) and end on a word.
fn payload_by_trailer(body: &[u8]) -> Option<(&[u8], u8)> {
    let (rest, [pad_len, next_header]) = body.split_last_chunk::<2>()?;
    let (payload, padding) = rest.split_at_checked(rest.len().checked_sub(usize::from(*pad_len))?)?;
    let monotonic = padding
        .iter()
        .zip(1u8..)
        .all(|(byte, expected)| *byte == expected);
    (body.len().is_multiple_of(4) && monotonic && *pad_len < 16).then_some((payload, *next_header))
}

fn ipv4(payload: &[u8]) -> NullEvidence {
    let Some(&[first, _, l0, l1, ..]) = payload.first_chunk::<20>() else {
        return NullEvidence::Against;
    };
    let header_len = usize::from(first & 15) * 4;
    let total = usize::from(u16::from_be_bytes([l0, l1]));
    let header = payload.get(..header_len).unwrap_or_default();
    let shape = first >> 4 == 4 && header_len >= 20 && total >= header_len && total <= payload.len();
    NullEvidence::Proof.only_if(shape && checksum_fits(Sum16BitWords::new(), header))
}

fn ipv6(payload: &[u8]) -> NullEvidence {
    match payload.first_chunk::<40>() {
        Some(&[first, _, _, _, l0, l1, ..]) if first >> 4 == 6 => {
            NullEvidence::Proof.only_if(usize::from(u16::from_be_bytes([l0, l1])) + 40 == payload.len())
        }
        _ => NullEvidence::Against,
    }
}

fn udp(payload: &[u8]) -> NullEvidence {
    match payload.first_chunk::<8>() {
        Some(&[_, _, _, _, l0, l1, _, _]) => {
            NullEvidence::Proof.only_if(usize::from(u16::from_be_bytes([l0, l1])) == payload.len())
        }
        None => NullEvidence::Against,
    }
}

/// An EtherType (16 bits) and an IP header behind it that lead to a flow are a proof; GRE alone is not.
fn gre(payload: &[u8], outer: (IpAddr, IpAddr)) -> NullEvidence {
    if !matches!(payload, [flags, 0..=1, ..] if flags & 0x4f == 0) {
        return NullEvidence::Against;
    }
    let inner = inner::walk(47, payload, payload.len(), Some(outer));
    match inner.flow.is_some() && inner.stopped_at.is_none() {
        true => NullEvidence::Proof,
        false => NullEvidence::Possible,
    }
}

/// RFC 3173 §3.1: next header, flags of zero, index; then, for all that is in use, one DEFLATE stream to the last byte.
fn ip_comp(payload: &[u8]) -> NullEvidence {
    match payload {
        [1 | 4 | 6 | 17 | 41 | 47 | 58 | 97 | 115, 0, _, _, data @ ..] if is_one_stream(data) => {
            NullEvidence::Proof
        }
        [_, 0, _, _, ..] => NullEvidence::Possible,
        _ => NullEvidence::Against,
    }
}

/// Data offset within the segment, reserved bits zero, some flag set.
fn tcp_shape(payload: &[u8]) -> bool {
    match payload.first_chunk::<20>() {
        Some(&[_, _, _, _, _, _, _, _, _, _, _, _, offset, flags, ..]) => {
            let header_len = usize::from(offset >> 4) * 4;
            offset & 0x0e == 0 && flags & 0x3f != 0 && (20..=payload.len()).contains(&header_len)
        }
        None => false,
    }
}

/// A checksum that fits is a proof. One that does not is nothing: a NAT, or checksum offload at the capturing host.
fn sum_evidence(shape: bool, pseudo_header: Option<Sum16BitWords>, payload: &[u8]) -> NullEvidence {
    match shape && pseudo_header.is_some_and(|start| checksum_fits(start, payload)) {
        true => NullEvidence::Proof,
        false => NullEvidence::Possible.only_if(shape),
    }
}

/// RFC 9293 §3.1 and RFC 8200 §8.1; `None` when the addresses are of different versions.
fn pseudo_header_sum(outer: (IpAddr, IpAddr), protocol: u8, len: usize) -> Option<Sum16BitWords> {
    let mut sum = Sum16BitWords::new();
    let addresses = match outer {
        (IpAddr::V4(src), IpAddr::V4(dst)) => sum.add_4bytes(src.octets()).add_4bytes(dst.octets()),
        (IpAddr::V6(src), IpAddr::V6(dst)) => sum.add_16bytes(src.octets()).add_16bytes(dst.octets()),
        _ => return None,
    };
    let len = u32::try_from(len).ok()?;
    Some(addresses.add_2bytes([0, protocol]).add_4bytes(len.to_be_bytes()))
}

/// The Internet checksum (RFC 1071) in `data` fits. `start`: the sum of a pseudo header.
pub(crate) fn checksum_fits(start: Sum16BitWords, data: &[u8]) -> bool {
    start.add_slice(data).ones_complement() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rekeyscope_testkit::headers::{ipv4, tcp, udp};
    use std::net::Ipv4Addr;

    const OUTER: (IpAddr, IpAddr) = (
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
    );

    /// A packet with `filler` as SPI, sequence number, IV and ICV.
    fn packet(format: NullFormat, filler: u8, next_header: u8, payload: &[u8]) -> Vec<u8> {
        let pad_len = (4 - (payload.len() + 2) % 4) % 4;
        let mut packet = vec![filler; HEADER_LEN + format.iv_len];
        packet.extend(payload);
        packet.extend((1u8..).take(pad_len));
        packet.extend([pad_len as u8, next_header]);
        packet.resize(packet.len() + format.icv_len, filler.wrapping_mul(91));
        packet
    }

    fn udp_datagram(len: usize) -> Vec<u8> {
        udp(1701, 1701, &vec![0x5a; len])
    }

    fn with_checksum(mut data: Vec<u8>, at: usize, start: Sum16BitWords) -> Vec<u8> {
        let sum = start.add_slice(&data).ones_complement();
        data[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
        data
    }

    #[test]
    fn every_format_is_found_after_enough_proofs() {
        for format in FORMATS {
            let mut detector = NullDetector::default();
            for count in 1..=20 {
                let verdict = detector.observe(
                    &packet(format, count * 7, 17, &udp_datagram(40 + usize::from(count))),
                    OUTER,
                );
                if verdict != NullVerdict::Undecided {
                    assert_eq!(verdict, NullVerdict::Null(format));
                    assert!(u32::from(count) >= ENOUGH_PROOFS);
                    break;
                }
                assert!(count < 20, "{format:?}");
            }
        }
    }

    #[test]
    fn checksums_prove_tcp_icmp_and_ipv4() {
        let tcp = tcp(12345, 5201, 1, 0x10, b"some text");
        let tcp = with_checksum(tcp, 16, pseudo_header_sum(OUTER, 6, 29).unwrap());
        let icmp = with_checksum(vec![8, 0, 0, 0, 0, 1, 0, 2, 9, 9], 2, Sum16BitWords::new());
        let ipv4 = ipv4([1, 2, 3, 4], [5, 6, 7, 8], 89, &[0; 4]);
        for (next_header, payload) in [(6, tcp), (1, icmp), (4, ipv4)] {
            let whole = packet(FORMATS[0], 1, next_header, &payload);
            assert_eq!(
                evidence(&whole, FORMATS[0], OUTER),
                NullEvidence::Proof,
                "{next_header}"
            );
            let mut damaged = payload;
            damaged[1] ^= 0x40;
            let whole = packet(FORMATS[0], 1, next_header, &damaged);
            assert_ne!(
                evidence(&whole, FORMATS[0], OUTER),
                NullEvidence::Proof,
                "{next_header}"
            );
        }
    }

    #[test]
    fn one_packet_against_it_is_enough() {
        let mut detector = NullDetector::default();
        for _ in 0..3 {
            detector.observe(&packet(FORMATS[0], 5, 17, &udp_datagram(40)), OUTER);
        }
        assert_eq!(
            detector.observe(&packet(FORMATS[0], 5, 200, &udp_datagram(40)), OUTER),
            NullVerdict::Encrypted
        );
        assert_eq!(
            detector.observe(&packet(FORMATS[0], 5, 17, &udp_datagram(40)), OUTER),
            NullVerdict::Encrypted
        );
    }

    #[test]
    fn what_proves_nothing_is_given_up() {
        let mut detector = NullDetector::default();
        let verdicts: Vec<NullVerdict> = (0..70)
            .map(|_| detector.observe(&packet(FORMATS[0], 5, 132, &[0; 40]), OUTER))
            .collect();
        assert_eq!(verdicts[62], NullVerdict::Undecided);
        assert_eq!(verdicts[63], NullVerdict::Encrypted);
    }

    proptest! {
        /// Noise, as ciphertext is, never becomes a verdict of NULL.
        #[test]
        fn ciphertext_is_never_null(packets in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 1..80)) {
            let mut detector = NullDetector::default();
            for packet in packets {
                prop_assert!(!matches!(detector.observe(&packet, OUTER), NullVerdict::Null(_)));
            }
        }
    }
}

//! The evidence of a decrypted packet for its encryption key, in bits: the logarithm of how much likelier a finding is under the right key
//! than under a wrong one.
//!
//! Under a wrong key a packet decrypts to noise. How often noise passes a check is **measured** (`measure.rs`), and the table may
//! not claim more bits than were measured. How often a right key's packets pass is a choice, made once and for all protocols: a
//! bad choice asks for more packets, never lets a wrong key in. For in each step the shares of the right key's packets sum to at most one, so the likelihood ratio of a wrong key
//! is 1 on average however many packets it is tried on, and exceeds 2^b with a probability of at most 2^−b (Ville's inequality).
//! The bytes that the checks look at are disjoint; that is why their bits may be added.

/// A check; findings of one check exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Question {
    Padding,
    NextHeader,
    Ipv4Head,
    Ipv4Length,
    Ipv4Checksum,
    Ipv4Protocol,
    Ipv6Head,
    Ipv6Length,
    UdpLength,
    L2tpPort,
    L2tpHead,
    L2tpLength,
    TcpHead,
    TcpUrgent,
    IcmpKind,
    IcmpChecksum,
    Icmpv6Kind,
    Tunnel,
    SameFirst,
    SameSecond,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    NoPadding,
    PaddingOfOne,
    PaddingOfMore,
    OwnPadding,
    Ipv4,
    Ipv6,
    Udp,
    Tcp,
    Gre,
    Esp,
    Icmp,
    Icmpv6,
    Dummy,
    L2tpv3,
    OtherProtocol,
    UnknownProtocol,
    Passed(Question),
}

/// One finding.
#[derive(Debug)]
pub(super) struct SignRow {
    pub(super) check: Question,
    pub(super) finding: Sign,
    /// The table of `docs/keys.md`.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test holds the document against it"))]
    pub(super) name: &'static str,
    /// The share of a right key's packets that show it, of those that come to the check.
    pub(super) right: f64,
    /// −log2 of the share of noise that shows it: no more than was measured.
    pub(super) rarity: f64,
}

const fn row(check: Question, finding: Sign, name: &'static str, right: f64, rarity: f64) -> SignRow {
    SignRow {
        check,
        finding,
        name,
        right,
        rarity,
    }
}

const fn passed(check: Question, name: &'static str, right: f64, rarity: f64) -> SignRow {
    row(check, Sign::Passed(check), name, right, rarity)
}

/// A field of one byte with one value, of two bytes with one value: 8 and 16 bits, less what a measurement of 2 · 10⁷ leaves open.
const BYTE: f64 = 7.95;
const WORD: f64 = 15.5;

/// All findings that speak for a key. A check that asks for one thing and does not find it says log2(1 − `right`).
#[rustfmt::skip]
pub(super) static TABLE: [SignRow; 34] = [
    row(Question::Padding, Sign::NoPadding, "padding of 0 bytes", 0.125, BYTE),
    row(Question::Padding, Sign::PaddingOfOne, "padding of 1 byte: 1", 0.125, WORD),
    // Three bytes and more would be rarer still; 2 · 10⁷ trials do not show how much.
    row(Question::Padding, Sign::PaddingOfMore, "padding of 2 bytes or more: 1, 2, …", 0.5, 20.0),
    // Only its length fits, as nearly any does; a sender may fill it as it likes (RFC 4303 §2.4).
    row(Question::Padding, Sign::OwnPadding, "padding in another way", 0.125, 0.0),
    row(Question::NextHeader, Sign::Ipv4, "next header IPv4", 0.25, BYTE),
    row(Question::NextHeader, Sign::Udp, "next header UDP", 0.125, BYTE),
    row(Question::NextHeader, Sign::Tcp, "next header TCP", 0.125, BYTE),
    row(Question::NextHeader, Sign::Ipv6, "next header IPv6", 0.125, BYTE),
    row(Question::NextHeader, Sign::Gre, "next header GRE", 0.0625, BYTE),
    row(Question::NextHeader, Sign::Esp, "next header ESP", 0.03125, BYTE),
    row(Question::NextHeader, Sign::Icmp, "next header ICMP", 0.03125, BYTE),
    row(Question::NextHeader, Sign::Icmpv6, "next header ICMPv6", 0.03125, BYTE),
    row(Question::NextHeader, Sign::Dummy, "next header none (a dummy packet)", 0.03125, BYTE),
    row(Question::NextHeader, Sign::L2tpv3, "next header L2TPv3", 0.03125, BYTE),
    row(Question::NextHeader, Sign::OtherProtocol, "next header of another protocol in use", 0.0625, 4.6),
    row(Question::NextHeader, Sign::UnknownProtocol, "next header not in use", 0.015625, 0.0),
    passed(Question::Ipv4Head, "IPv4: version and header length", 0.97, 4.5),
    passed(Question::Ipv4Length, "IPv4: total length is that of the payload", 0.9, WORD),
    passed(Question::Ipv4Checksum, "IPv4: header checksum", 0.97, WORD),
    passed(Question::Ipv4Protocol, "IPv4: TCP, UDP or ICMP", 0.9, 6.3),
    passed(Question::Ipv6Head, "IPv6: version, and a next header in use", 0.97, 9.6),
    passed(Question::Ipv6Length, "IPv6: payload length", 0.9, WORD),
    passed(Question::UdpLength, "UDP: length", 0.95, WORD),
    passed(Question::L2tpPort, "UDP: port 1701", 0.25, 14.5),
    passed(Question::L2tpHead, "L2TP: version and reserved bits", 0.95, 10.9),
    passed(Question::L2tpLength, "L2TP: length, where there is one", 0.95, WORD),
    passed(Question::TcpHead, "TCP: data offset, reserved bits, flags", 0.97, 4.9),
    passed(Question::TcpUrgent, "TCP: no urgent pointer", 0.97, 16.3),
    passed(Question::IcmpKind, "ICMP: type and code in use", 0.95, 10.8),
    passed(Question::IcmpChecksum, "ICMP: checksum", 0.95, WORD),
    passed(Question::Icmpv6Kind, "ICMPv6: type and code in use", 0.95, 11.2),
    passed(Question::Tunnel, "GRE, EtherIP, L2TPv3, MPLS, IPComp: an IP packet inside", 0.5, 14.5),
    passed(Question::SameFirst, "as in the packet before: source port, tunnel or upper half of the SPI", 0.5, WORD),
    passed(Question::SameSecond, "as in the packet before: destination port, session or lower half of the SPI", 0.5, WORD),
];

/// Bits that a finding says for a key.
pub(super) fn bits(finding: Sign) -> f64 {
    let row = TABLE.iter().find(|row| row.finding == finding);
    row.map_or(0.0, |row| libm::log2(row.right) + row.rarity)
}

/// Bits, mostly negative, that a check says which found nothing of what it asks for. That noise shows nothing is taken for certain.
pub(super) fn missed(check: Question) -> f64 {
    let found = TABLE.iter().filter(|row| row.check == check);
    let right: f64 = found.map(|row| row.right).sum();
    libm::log2(1.0 - right)
}

pub(super) fn asked(check: Question, passes: bool) -> f64 {
    if passes {
        bits(Sign::Passed(check))
    } else {
        missed(check)
    }
}

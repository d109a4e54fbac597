//! Link types and stacks of headers under an IP packet.

use super::*;

/// The IP packet in every link type and stack of headers, by name.
pub(super) fn every_link(ip: &[u8]) -> Vec<(&'static str, u16, Vec<u8>)> {
    let v6 = ip[0] >> 4 == 6;
    let kind: &[u8] = if v6 { &[0x86, 0xdd] } else { &[0x08, 0x00] };
    let ppp: &[u8] = if v6 { &[0x00, 0x57] } else { &[0x00, 0x21] };
    let family = if v6 { 10 } else { 2 };
    let with = |parts: &[&[u8]]| [parts.concat(), ip.to_vec()].concat();
    let in_ethernet = |parts: &[&[u8]]| ethernet_with(&parts.concat(), ip);
    let label: &[u8] = &[0x00, 0x01, 0x20, 64];
    let bottom: &[u8] = &[0x00, 0x01, 0x31, 64];
    let session: &[u8] = &[0x11, 0x00, 0x12, 0x34, 0x00, ip.len() as u8 + 2];
    let snap: &[u8] = &[0xaa, 0xaa, 0x03, 0, 0, 0];
    let plain_ethernet = in_ethernet(&[kind]);
    let mut wifi_radiotap = vec![0, 0, 18, 0, 0x02, 0, 0, 0x80, 0x02, 0, 0, 0, 0x20, 0, 0, 0, 0, 0];
    wifi_radiotap.extend([&[0x88, 0x01][..], &[0; 22], &[0, 0], &[0, 0], snap, kind, ip].concat());
    let mut nflog_attributes = vec![family, 0, 0, 1];
    nflog_attributes.extend([7, 0, 10, 0, b'a', b'b', 0, 0]);
    let len = (ip.len() as u16 + 4).to_le_bytes();
    let len_be = (ip.len() as u16 + 4).to_be_bytes();
    let pktap_ethernet = [
        &[108, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0][..],
        &[0; 96],
        &plain_ethernet,
    ]
    .concat();
    vec![
        ("Ethernet", types::ETHERNET, plain_ethernet.clone()),
        (
            "Ethernet with padding",
            types::ETHERNET,
            [plain_ethernet.clone(), vec![0xee; 22]].concat(),
        ),
        ("802.1Q", types::ETHERNET, in_ethernet(&[&[0x81, 0, 0, 5], kind])),
        (
            "QinQ",
            types::ETHERNET,
            in_ethernet(&[&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6], kind]),
        ),
        (
            "old QinQ",
            types::ETHERNET,
            in_ethernet(&[&[0x91, 0, 0, 5, 0x81, 0, 0, 6, 0x81, 0, 0, 7], kind]),
        ),
        ("SNAP", types::ETHERNET, in_ethernet(&[&[0x00, 0x60], snap, kind])),
        (
            "PPPoE",
            types::ETHERNET,
            in_ethernet(&[&[0x88, 0x64], session, ppp]),
        ),
        (
            "PPPoE in a VLAN",
            types::ETHERNET,
            in_ethernet(&[&[0x81, 0, 0, 5, 0x88, 0x64], session, ppp]),
        ),
        (
            "PPPoE with PFC",
            types::ETHERNET,
            in_ethernet(&[&[0x88, 0x64], session, &ppp[1..]]),
        ),
        ("MPLS", types::ETHERNET, in_ethernet(&[&[0x88, 0x47], bottom])),
        (
            "MPLS stack",
            types::ETHERNET,
            in_ethernet(&[&[0x88, 0x48], label, label, bottom]),
        ),
        (
            "Ethernet over MPLS",
            types::ETHERNET,
            ethernet_with(&[&[0x88, 0x47], bottom, &[0; 4]].concat(), &plain_ethernet),
        ),
        (
            "Linux SLL",
            types::LINUX_SLL,
            with(&[&[0, 0, 0, 1, 0, 6], &[2; 8], kind]),
        ),
        (
            "Linux SLL with VLAN",
            types::LINUX_SLL,
            with(&[&[0; 14], &[0x81, 0, 0, 9], kind]),
        ),
        ("Linux SLL2", types::LINUX_SLL2, with(&[kind, &[0; 18]])),
        ("RAW", types::RAW, ip.to_vec()),
        ("DLT_RAW", types::DLT_RAW, ip.to_vec()),
        ("DLT_RAW of OpenBSD", types::DLT_RAW_OPENBSD, ip.to_vec()),
        (
            "IPV4 or IPV6",
            if v6 { types::IPV6 } else { types::IPV4 },
            ip.to_vec(),
        ),
        (
            "BSD null",
            types::NULL,
            with(&[&[if v6 { 30 } else { 2 }, 0, 0, 0]]),
        ),
        (
            "BSD null, big-endian",
            types::NULL,
            with(&[&[0, 0, 0, if v6 { 24 } else { 2 }]]),
        ),
        (
            "BSD loop",
            types::LOOP,
            with(&[&[0, 0, 0, if v6 { 28 } else { 2 }]]),
        ),
        ("PPP", types::PPP, with(&[&[0xff, 0x03], ppp])),
        ("PPP with ACFC", types::PPP, with(&[ppp])),
        ("PPP with ACFC and PFC", types::PPP, with(&[&ppp[1..]])),
        ("PPP in HDLC", types::PPP_HDLC, with(&[&[0xff, 0x03], ppp])),
        (
            "Cisco HDLC as PPP in HDLC",
            types::PPP_HDLC,
            with(&[&[0x0f, 0x00], kind]),
        ),
        ("Cisco HDLC", types::C_HDLC, with(&[&[0x0f, 0x00], kind])),
        ("PPPoE session", types::PPP_ETHER, with(&[session, ppp])),
        ("pppd", types::PPP_PPPD, with(&[&[0x01, 0x03], ppp])),
        (
            "PPP with direction",
            types::PPP_WITH_DIR,
            with(&[&[0x01, 0xff, 0x03], ppp]),
        ),
        ("NFLOG", types::NFLOG, with(&[&nflog_attributes, &len, &[9, 0]])),
        (
            "NFLOG, big-endian",
            types::NFLOG,
            with(&[&[family, 0, 0, 1], &len_be, &[0, 9]]),
        ),
        ("PKTAP", types::PKTAP, pktap_ethernet),
        (
            "802.11",
            types::IEEE802_11,
            with(&[&[0x08, 0x01], &[0; 22], snap, kind]),
        ),
        (
            "802.11 QoS, four addresses",
            types::IEEE802_11,
            with(&[&[0x88, 0x03], &[0; 30], snap, kind]),
        ),
        ("radiotap with padding", types::IEEE802_11_RADIOTAP, wifi_radiotap),
    ]
}

//! The same packets in tunnels and mirror headers.

use super::*;
use crate::framing::tests::fragments::{Bench, fragments_v4, fragments_v6};
use rekeyscope_testkit::headers::vxlan;

/// The packet in each tunnel without a key, by name.
pub(super) fn every_tunnel(ip: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let v6 = ip[0] >> 4 == 6;
    let kind: &[u8] = if v6 { &[0x86, 0xdd] } else { &[0x08, 0x00] };
    let mirrored = ethernet_with(&[&[0x81, 0, 0, 5], kind].concat(), ip);
    let ppp: &[u8] = if v6 { &[0x00, 0x57] } else { &[0x00, 0x21] };
    let in_ip = if v6 { 41 } else { 4 };
    vec![
        ("IP in IPv4", ipv4(in_ip, ip)),
        ("IP in IPv6", ipv6(in_ip, ip)),
        ("IP in IP in IP", ipv4(41, &ipv6(in_ip, ip))),
        ("GRE", ipv4(47, &[&[0, 0], kind, ip].concat())),
        (
            "GRE with checksum, key, sequence",
            ipv6(47, &[&[0xb0, 0], kind, &[9; 12], ip].concat()),
        ),
        (
            "gretap",
            ipv4(47, &[&[0x20, 0, 0x65, 0x58][..], &[9; 4], &mirrored].concat()),
        ),
        (
            "ERSPAN I",
            ipv4(47, &[&[0, 0, 0x88, 0xbe][..], &mirrored].concat()),
        ),
        (
            "ERSPAN II",
            ipv4(
                47,
                &[&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 0, 0x10][..], &[0; 7], &mirrored].concat(),
            ),
        ),
        (
            "ERSPAN III",
            ipv4(
                47,
                &[&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 0, 0x20][..], &[0; 11], &mirrored].concat(),
            ),
        ),
        (
            "ERSPAN III with subheader",
            ipv4(
                47,
                &[
                    &[0x10, 0, 0x22, 0xeb, 0, 0, 0, 0, 0x20][..],
                    &[0; 10],
                    &[1],
                    &[0; 8],
                    &mirrored,
                ]
                .concat(),
            ),
        ),
        ("VXLAN", ipv6(17, &vxlan(&mirrored))),
        ("EtherIP", ipv4(97, &[&[0x30, 0x00][..], &mirrored].concat())),
        (
            "L2TP",
            ipv4(17, &udp(1701, 1701, &[&[0, 2, 0, 1, 0, 2][..], ppp, ip].concat())),
        ),
        (
            "L2TP with length, sequence, offset, address and control",
            ipv6(
                17,
                &udp(
                    1701,
                    50_000,
                    &[
                        &[0x4a, 2][..],
                        &(ip.len() as u16 + 21).to_be_bytes(),
                        &[0, 1, 0, 2, 0, 3, 0, 4, 0, 3, 9, 9, 9, 0xff, 0x03],
                        ppp,
                        ip,
                    ]
                    .concat(),
                ),
            ),
        ),
        (
            "PPTP",
            ipv4(
                47,
                &[
                    &[0x30, 0x81, 0x88, 0x0b][..],
                    &(ip.len() as u16 + 4).to_be_bytes(),
                    &[0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 0x03],
                    ppp,
                    ip,
                ]
                .concat(),
            ),
        ),
        (
            "PPPoE in gretap",
            ipv4(
                47,
                &[
                    &[0, 0, 0x65, 0x58][..],
                    &[2; 12],
                    &[0x88, 0x64, 0x11, 0, 0, 1],
                    &(ip.len() as u16 + 2).to_be_bytes(),
                    ppp,
                    ip,
                ]
                .concat(),
            ),
        ),
        (
            "L2TP with bridged PPP",
            ipv4(
                17,
                &udp(
                    1701,
                    1701,
                    &[&[0, 2, 0, 1, 0, 2, 0xff, 0x03, 0, 0x31, 0, 1][..], &mirrored].concat(),
                ),
            ),
        ),
        ("MPLS in IP", ipv4(137, &[&[0, 1, 1, 64][..], ip].concat())),
        (
            "VXLAN with a reserved bit",
            ipv4(
                17,
                &udp(50_000, 4789, &[&[8, 0, 0, 0, 0, 0, 7, 1][..], &mirrored].concat()),
            ),
        ),
        (
            "Geneve with an option and a reserved bit",
            ipv4(
                17,
                &udp(
                    50_000,
                    6081,
                    &[
                        &[2, 0, 0x65, 0x58, 0, 0, 7, 1, 1, 2, 0x80, 1, 9, 9, 9, 9][..],
                        &mirrored,
                    ]
                    .concat(),
                ),
            ),
        ),
        (
            "GTP-U with an extension header",
            ipv6(
                17,
                &udp(
                    50_000,
                    2152,
                    &[
                        &[0x34, 0xff][..],
                        &(ip.len() as u16 + 8).to_be_bytes(),
                        &[0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0x10, 9, 0],
                        ip,
                    ]
                    .concat(),
                ),
            ),
        ),
        (
            "L2TPv3 with a cookie",
            ipv4(115, &[&[0, 0, 0, 7][..], &[0xc0; 8], &mirrored].concat()),
        ),
        (
            "L2TPv3 in UDP",
            ipv6(
                17,
                &udp(1701, 1701, &[&[0, 3, 0, 0, 0, 0, 0, 7][..], &mirrored].concat()),
            ),
        ),
    ]
}

/// The same packet in fragments.
fn in_fragments(packet: &[u8], id: u16, size: usize) -> Vec<Vec<u8>> {
    if packet[0] >> 4 == 4 {
        fragments_v4(id, packet[9], &packet[20..], size)
    } else {
        fragments_v6(u32::from(id), packet[6], &packet[40..], size)
    }
}

/// A link between the tunnel's ends is smaller than the tunnel's packets. What is inside was whole.
#[test]
fn fragmented_tunnels_are_looked_through() {
    for (name, ip, ..) in every_datagram() {
        let expected = decode_ip(&ip);
        for (tunnel, outer) in every_tunnel(&ip) {
            let mut bench = Bench::default();
            let pieces = in_fragments(&outer, 1, 48);
            let got: Vec<Got> = pieces.iter().filter_map(|piece| bench.give(0.0, piece)).collect();
            assert_eq!(got, std::slice::from_ref(&expected), "{name} in {tunnel}");
        }
    }
    for (tunnel, outer) in every_tunnel(&ipv4(6, &[0; 400])) {
        let mut bench = Bench::default();
        let (pieces, whole) = (in_fragments(&outer, 1, 208), decode_ip(&outer));
        let got: Vec<Got> = pieces.iter().filter_map(|piece| bench.give(0.0, piece)).collect();
        let told: Vec<_> = got
            .iter()
            .map(|got| (got.kind, usize::from(got.fragments)))
            .collect();
        assert_eq!(told, [(whole.kind, pieces.len())], "{tunnel}");
    }
}

#[test]
fn a_fragmented_tunnel_may_hold_fragments() {
    let pieces = fragments_v4(1, 50, &esp(400), 256);
    for (first, last) in every_tunnel(&pieces[0]).iter().zip(every_tunnel(&pieces[1])) {
        let mut bench = Bench::default();
        let mut got = Vec::new();
        for (id, outer) in [(7, &first.1), (8, &last.1)] {
            for piece in in_fragments(outer, id, 64) {
                got.extend(bench.give(0.0, &piece));
            }
        }
        let told: Vec<_> = got
            .iter()
            .map(|got| (got.kind, got.fragments, &got.bytes))
            .collect();
        assert_eq!(told, [("ESP", 2, &esp(400))], "{}", last.0);
    }
}

#[test]
fn tunnels_are_looked_through_down_to_the_packet_that_carries_ipsec() {
    for (name, ip, kind, _) in every_datagram() {
        let expected = decode_ip(&ip);
        for (tunnel, outer) in every_tunnel(&ip) {
            assert_eq!(decode_ip(&outer), expected, "{name} in {tunnel}");
            for cut in 20..outer.len() {
                let mut frame = frame(types::RAW, &outer);
                frame.data = &outer[..cut];
                let got = decode_with(&mut Framing::default(), &frame, &mut Diagnostics::default());
                let what = format!("{name} in {tunnel} cut at {cut}");
                if let Some(got) = &got {
                    assert!(expected.bytes.starts_with(&got.bytes), "{what}");
                }
                let has_header = cut + expected.bytes.len() >= outer.len() + 8;
                if has_header {
                    assert_eq!(got.map(|got| got.kind), Some(kind), "{what}");
                }
            }
        }
    }
    let pieces = fragments_v4(1, 50, &esp(100), 64);
    for (first, last) in every_tunnel(&pieces[0]).iter().zip(every_tunnel(&pieces[1])) {
        let mut bench = Bench::default();
        assert_eq!(bench.give(0.0, &first.1), None, "{}", last.0);
        assert_eq!(bench.give(0.0, &last.1).unwrap().bytes, esp(100), "{}", last.0);
    }
}

#[test]
fn a_tunnel_with_other_content_keeps_its_name() {
    let expected = [
        "IP in IP",
        "IP in IP",
        "IP in IP",
        "GRE",
        "GRE",
        "GRE",
        "GRE",
        "GRE",
        "GRE",
        "GRE",
        "VXLAN",
        "EtherIP",
        "L2TP in clear",
        "L2TP in clear",
        "GRE",
        "GRE",
        "L2TP in clear",
        "MPLS in IP",
        "VXLAN",
        "Geneve",
        "GTP",
        "L2TPv3",
        "L2TP in clear",
    ];
    for inner in [ipv4(6, &[0; 40]), vec![0x40; 3]] {
        assert_eq!(every_tunnel(&inner).len(), expected.len());
        for ((tunnel, outer), name) in every_tunnel(&inner).into_iter().zip(expected) {
            let got = decode_ip(&outer);
            assert_eq!(
                (got.kind, got.outer_bytes as usize),
                (name, outer.len()),
                "{tunnel}"
            );
        }
    }
    let mut deep = ipv4(50, &esp(40));
    for _ in 0..MAX_DEPTH {
        deep = ipv4(4, &deep);
    }
    assert_eq!(decode_ip(&deep).kind, "ESP");
    assert_eq!(decode_ip(&ipv4(4, &deep)).kind, "IP in IP");
}

/// A NAT may map port 4500 to a tunnel's, and ciphertext look like anything.
#[test]
fn esp_in_udp_is_no_tunnel_whatever_its_other_port() {
    let mut packet = vec![0x30, 0xff, 0, 52, 0, 0, 0, 1];
    packet.extend(ipv4(50, &esp(32)));
    for port in [1701, 2152, 4789, 6081] {
        for ports in [(4500, port), (port, 4500)] {
            let got = decode_ip(&ipv4(17, &udp(ports.0, ports.1, &packet)));
            assert_eq!((got.kind, &got.bytes), ("ESP", &packet), "{ports:?}");
        }
    }
}

/// The authentication header around IPsec, directly and in a tunnel.
#[test]
fn an_authentication_header_around_a_tunnel_is_kept() {
    let inner = ipv4(50, &esp(100));
    let gre = [&[0, 0, 8, 0][..], &inner].concat();
    for (next, payload) in [(4, inner.clone()), (47, gre)] {
        let outer = ipv4(51, &headers::ah(next, 0x102, 3, &[0; 12], &payload));
        let mut framing = Framing::default();
        let frame = frame(types::RAW, &outer);
        let datagram = framing.decode(&frame, &mut Diagnostics::default()).unwrap();
        assert!(matches!(datagram.kind, DatagramKind::Esp { .. }));
        let ah = datagram.ah.unwrap();
        assert_eq!((ah.spi.0, ah.sequence, ah.next_header), (0x102, 3, next));
    }
}

//! Tunnels around ESP and inside it: the same for both, in one another too.

use super::*;

/// A tunnel: its name, its IP protocol number, and what it makes of an IPv4 packet.
type Tunnel = (&'static str, u8, fn(&[u8]) -> Vec<u8>);

const TUNNELS: &[Tunnel] = &[
    ("IPIP", 4, <[u8]>::to_vec),
    ("GRE", 47, |ip| gre(0, 0x0800, ip)),
    ("GRE with key and sequence", 47, |ip| gre(0x3000, 0x0800, ip)),
    ("GRE with checksum", 47, |ip| gre(0x8000, 0x0800, ip)),
    ("gretap", 47, |ip| gre(0, 0x6558, &ethernet(0x0800, ip))),
    ("gretap with VLAN", 47, |ip| {
        gre(0, 0x6558, &ethernet(0x8100, &[&[0, 5, 8, 0][..], ip].concat()))
    }),
    ("ERSPAN II", 47, |ip| {
        gre(0x1000, 0x88be, &[&[0; 8][..], &ethernet(0x0800, ip)].concat())
    }),
    ("PPTP", 47, |ip| {
        let ppp = [&[0xff, 3, 0, 0x21][..], ip].concat();
        let len = (ppp.len() as u16).to_be_bytes();
        [&[0x30, 1, 0x88, 0x0b, len[0], len[1], 0, 1, 0, 0, 0, 1][..], &ppp].concat()
    }),
    ("EtherIP", 97, |ip| {
        [&[0x30, 0][..], &ethernet(0x0800, ip)].concat()
    }),
    ("VXLAN", 17, |ip| vxlan(&ethernet(0x0800, ip))),
    ("VXLAN with a group policy", 17, |ip| {
        let frame = [&[0x88, 0, 0, 5, 0, 0, 1, 0][..], &ethernet(0x0800, ip)].concat();
        udp(50_000, 8472, &frame)
    }),
    ("Geneve with an option", 17, |ip| {
        let header = [2, 0, 0x65, 0x58, 0, 0, 1, 0, 1, 2, 0x80, 1, 9, 9, 9, 9];
        udp(50_000, 6081, &[&header[..], &ethernet(0x0800, ip)].concat())
    }),
    ("GTP-U", 17, |ip| {
        let len = (ip.len() as u16).to_be_bytes();
        udp(
            2152,
            2152,
            &[&[0x30, 0xff, len[0], len[1], 0, 0, 0, 1][..], ip].concat(),
        )
    }),
    ("GTP-U with an extension header", 17, |ip| {
        let len = (ip.len() as u16 + 8).to_be_bytes();
        let header = [
            0x34, 0xff, len[0], len[1], 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0x10, 9, 0,
        ];
        udp(2152, 2152, &[&header[..], ip].concat())
    }),
    ("MPLS in GRE", 47, |ip| {
        gre(0, 0x8847, &[&[0, 1, 0, 64, 0, 2, 1, 64][..], ip].concat())
    }),
    ("MPLS in IP", 137, |ip| [&[0, 1, 1, 64][..], ip].concat()),
    ("a pseudowire in MPLS in IP", 137, |ip| {
        [&[0, 1, 1, 64, 0, 0, 0, 0][..], &ethernet(0x0800, ip)].concat()
    }),
    ("PPPoE in gretap", 47, |ip| {
        let ppp = [&[0, 0x21][..], ip].concat();
        gre(0, 0x6558, &ethernet(0x8864, &pppoe_like(&ppp)))
    }),
    ("L2TPv2 with PPP", 17, |ip| l2tp(0x4000, 1, &ppp(ip))),
    ("L2TPv2 with PPP, ACFC", 17, |ip| {
        l2tp(0x4000, 1, &[&[0, 0x21][..], ip].concat())
    }),
    ("L2TPv2 with PPP, PFC and ACFC", 17, |ip| {
        l2tp(0x4000, 1, &[&[0x21][..], ip].concat())
    }),
    ("L2TPv2 with bridged PPP", 17, |ip| {
        l2tp(
            0x4000,
            1,
            &[&[0xff, 3, 0, 0x31, 0, 1][..], &ethernet(0x0800, ip)].concat(),
        )
    }),
    ("L2TPv3 over IP", 115, |ip| {
        [&[0, 0, 0, 9][..], &ethernet(0x0800, ip)].concat()
    }),
    ("L2TPv3 over IP, 8-byte cookie", 115, |ip| {
        [&[0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8][..], &ethernet(0x0800, ip)].concat()
    }),
    ("L2TPv3 over UDP", 17, |ip| {
        let message = [&[0, 3, 0, 0, 0, 0, 0, 9][..], &ethernet(0x0800, ip)].concat();
        udp(1701, 1701, &message)
    }),
    ("IPComp", 108, |ip| ip_comp(4, 2, ip)),
    ("IPComp, negotiated CPI", 108, |ip| ip_comp(4, 0xd431, ip)),
    ("GRE in IPComp", 108, |ip| ip_comp(47, 0x100, &gre(0, 0x0800, ip))),
];

const C: [u8; 4] = [203, 0, 113, 1];
const D: [u8; 4] = [203, 0, 113, 2];

/// ESP packets of tunnel mode whose payload is in the tunnel.
fn inside(suite: &Suite, (_, protocol, wrap): &Tunnel) -> Vec<Vec<u8>> {
    sealed(suite, *protocol, |n| wrap(&inner_ip(n, SEGMENT)))
}

/// Packets in the tunnel, in IPv4.
fn around(packets: &[Vec<u8>], (_, protocol, wrap): &Tunnel) -> Vec<Vec<u8>> {
    packets
        .iter()
        .map(|packet| ipv4(C, D, *protocol, &wrap(packet)))
        .collect()
}

fn assert_found(suite: &Suite, frames: &[Vec<u8>], name: &str) {
    let analysis = analyze_frames(LINKTYPE_RAW, frames, &suite.esp_sa_row(SPI));
    assert_one_flow(&analysis, name);
    let verified = analysis.security_associations[0].icv.verified;
    assert_eq!(verified, u64::from(PACKETS), "{name}");
}

#[test]
fn every_tunnel_inside_esp_is_followed_down_to_tcp() {
    let suite = Suite::aes_sha1(3);
    for tunnel in TUNNELS {
        assert_found(&suite, &inside(&suite, tunnel), tunnel.0);
    }
}

/// IPComp, which nobody puts around ESP.
fn compresses(tunnel: &Tunnel) -> bool {
    tunnel.1 == 108
}

/// Tunnels that have no key of their own, as mirror ports and uplinks show them.
#[test]
fn esp_in_every_tunnel_is_found() {
    let suite = Suite::aes_sha1(3);
    let packets = sealed(&suite, 4, |n| inner_ip(n, SEGMENT));
    for tunnel in TUNNELS.iter().filter(|tunnel| !compresses(tunnel)) {
        assert_found(&suite, &around(&packets, tunnel), tunnel.0);
        let in_ipv6: Vec<_> = packets
            .iter()
            .map(|packet| ipv6(1, 2, tunnel.1, &(tunnel.2)(packet)))
            .collect();
        assert_found(&suite, &in_ipv6, tunnel.0);
    }
}

/// Every tunnel in every other, around and inside at once.
#[test]
fn every_tunnel_in_every_other_is_followed() {
    let suite = Suite::aes_sha1(3);
    for first in TUNNELS {
        for second in TUNNELS {
            let name = format!("{} and {}", first.0, second.0);
            if !compresses(first) {
                assert_found(&suite, &around(&inside(&suite, second), first), &name);
            }
            if !compresses(first) && !compresses(second) {
                let packets = around(&sealed(&suite, 4, |n| inner_ip(n, SEGMENT)), first);
                assert_found(&suite, &around(&packets, second), &name);
            }
            let nested = sealed(&suite, second.1, |n| {
                (second.2)(&ipv4(C, D, first.1, &(first.2)(&inner_ip(n, SEGMENT))))
            });
            assert_found(&suite, &nested, &name);
        }
    }
}

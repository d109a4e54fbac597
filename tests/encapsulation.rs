//! Everything that goes around ESP and into it, through the whole pipeline, on **synthetic** captures that are really
//! encrypted.
#![allow(clippy::unwrap_used)] // a test fails by panicking

#[path = "support/ipsec.rs"]
mod ipsec;

use ipsec::{
    A, B, LINKTYPE_ETHERNET, LINKTYPE_RAW, Suite, analyze_frames, analyze_with, counted, ethernet, in_tcp,
    inner_ip, inner_tcp, ipv4, ipv6, tcp, udp,
};
use rekeyscope::algorithm::{Encryption, Integrity};
use rekeyscope::analysis::{Analysis, Encapsulation, KeyStatus};
use rekeyscope::analyzer::Options;
use std::io::Write;

const SPI: u32 = 0xc0de_0001;
const INNER_SPI: u32 = 0xc0de_0002;
const PACKETS: u32 = 40;
const SEGMENT: usize = 500;

/// What `payload` makes of packet `n`, sealed, in IPv4.
fn sealed(suite: &Suite, next_header: u8, payload: impl Fn(u32) -> Vec<u8>) -> Vec<Vec<u8>> {
    (0..PACKETS)
        .map(|n| {
            ipv4(
                A,
                B,
                50,
                &suite.seal(SPI, u64::from(n) + 1, false, next_header, &payload(n)),
            )
        })
        .collect()
}

fn assert_one_flow(analysis: &Analysis, name: &str) {
    let tcp: Vec<_> = analysis.flows.iter().filter(|f| f.protocol == "tcp").collect();
    assert_eq!(tcp.len(), 1, "{name}: {:?}", analysis.flows);
    let all = (u64::from(PACKETS) * SEGMENT as u64, u64::from(PACKETS));
    assert_eq!((tcp[0].bytes, tcp[0].packets), all, "{name}");
    assert_eq!(
        (tcp[0].src_port, tcp[0].dst_port),
        (Some(5201), Some(40_000)),
        "{name}"
    );
}

fn pppoe_like(body: &[u8]) -> Vec<u8> {
    let len = (body.len() as u16).to_be_bytes();
    [&[0x11, 0, 0, 1][..], &len, body].concat()
}

fn gre(flags: u8, optional: usize, ether_type: u16, body: &[u8]) -> Vec<u8> {
    [
        &[flags, 0][..],
        &ether_type.to_be_bytes(),
        &vec![0; optional],
        body,
    ]
    .concat()
}

fn l2tp(ppp: &[u8]) -> Vec<u8> {
    let len = ((8 + ppp.len()) as u16).to_be_bytes();
    udp(
        1701,
        1701,
        &[&[0x40, 2, len[0], len[1], 0, 1, 0, 1][..], ppp].concat(),
    )
}

fn ipcomp(next: u8, cpi: u16, body: &[u8]) -> Vec<u8> {
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    deflate.write_all(body).unwrap();
    [&[next, 0][..], &cpi.to_be_bytes(), &deflate.finish().unwrap()].concat()
}

/// Every encapsulation inside ESP: its name, the next header, and what packet `n` holds.
type Inside = (&'static str, u8, fn(u32) -> Vec<u8>);

const INSIDE: &[Inside] = &[
    ("IPv4 (tunnel mode)", 4, |n| inner_ip(n, SEGMENT)),
    ("IPv6 (tunnel mode)", 41, |n| {
        ipv6(1, 2, 6, &inner_tcp(n, SEGMENT))
    }),
    ("TCP (transport mode)", 6, |n| inner_tcp(n, SEGMENT)),
    ("IPIP in tunnel mode", 4, |n| {
        ipv4([10, 9, 0, 1], [10, 9, 0, 2], 4, &inner_ip(n, SEGMENT))
    }),
    ("6in4", 4, |n| {
        ipv4(
            [10, 9, 0, 1],
            [10, 9, 0, 2],
            41,
            &ipv6(1, 2, 6, &inner_tcp(n, SEGMENT)),
        )
    }),
    ("4in6", 41, |n| ipv6(1, 2, 4, &inner_ip(n, SEGMENT))),
    ("GRE", 47, |n| gre(0, 0, 0x0800, &inner_ip(n, SEGMENT))),
    ("GRE with key and sequence", 47, |n| {
        gre(0x30, 8, 0x0800, &inner_ip(n, SEGMENT))
    }),
    ("GRE with checksum", 47, |n| {
        gre(0x80, 4, 0x0800, &inner_ip(n, SEGMENT))
    }),
    ("gretap", 47, |n| {
        gre(0, 0, 0x6558, &ethernet(0x0800, &inner_ip(n, SEGMENT)))
    }),
    ("gretap with VLAN", 47, |n| {
        let tagged = [&[0, 5, 8, 0][..], &inner_ip(n, SEGMENT)].concat();
        gre(0, 0, 0x6558, &ethernet(0x8100, &tagged))
    }),
    ("EtherIP", 97, |n| {
        [&[0x30, 0][..], &ethernet(0x0800, &inner_ip(n, SEGMENT))].concat()
    }),
    ("VXLAN", 17, |n| {
        let frame = ethernet(0x0800, &inner_ip(n, SEGMENT));
        udp(50_000, 4789, &[&[8, 0, 0, 0, 0, 0, 1, 0][..], &frame].concat())
    }),
    ("MPLS in GRE", 47, |n| {
        gre(
            0,
            0,
            0x8847,
            &[&[0, 1, 0, 64, 0, 2, 1, 64][..], &inner_ip(n, SEGMENT)].concat(),
        )
    }),
    ("MPLS in IP", 137, |n| {
        [&[0, 1, 1, 64][..], &inner_ip(n, SEGMENT)].concat()
    }),
    ("PPPoE in gretap", 47, |n| {
        let ppp = [&[0, 0x21][..], &inner_ip(n, SEGMENT)].concat();
        gre(0, 0, 0x6558, &ethernet(0x8864, &pppoe_like(&ppp)))
    }),
    ("L2TPv2 with PPP", 17, |n| {
        l2tp(&[&[0xff, 3, 0, 0x21][..], &inner_ip(n, SEGMENT)].concat())
    }),
    ("L2TPv2 with PPP, ACFC", 17, |n| {
        l2tp(&[&[0, 0x21][..], &inner_ip(n, SEGMENT)].concat())
    }),
    ("L2TPv2 with PPP, PFC and ACFC", 17, |n| {
        l2tp(&[&[0x21][..], &inner_ip(n, SEGMENT)].concat())
    }),
    ("L2TPv3 over IP", 115, |n| {
        [&[0, 0, 0, 9][..], &ethernet(0x0800, &inner_ip(n, SEGMENT))].concat()
    }),
    ("L2TPv3 over IP, 8-byte cookie", 115, |n| {
        [
            &[0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8][..],
            &ethernet(0x0800, &inner_ip(n, SEGMENT)),
        ]
        .concat()
    }),
    ("L2TPv3 over UDP", 17, |n| {
        let head = [0, 3, 0, 0, 0, 0, 0, 9];
        udp(
            1701,
            1701,
            &[&head[..], &ethernet(0x0800, &inner_ip(n, SEGMENT))].concat(),
        )
    }),
    ("IPComp, tunnel mode, CPI 2", 108, |n| {
        ipcomp(4, 2, &inner_ip(n, SEGMENT))
    }),
    ("IPComp, tunnel mode, negotiated CPI", 108, |n| {
        ipcomp(4, 0xd431, &inner_ip(n, SEGMENT))
    }),
    ("IPComp, transport mode", 108, |n| {
        ipcomp(6, 2, &inner_tcp(n, SEGMENT))
    }),
    ("IPComp, transport mode, GRE", 108, |n| {
        ipcomp(47, 0x100, &gre(0, 0, 0x0800, &inner_ip(n, SEGMENT)))
    }),
    ("AH inside ESP", 51, |n| {
        [
            &[6, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1][..],
            &[0xaa; 12],
            &inner_tcp(n, SEGMENT),
        ]
        .concat()
    }),
];

#[test]
fn everything_inside_esp_is_followed_down_to_tcp() {
    let suite = Suite::aes_sha1(3);
    for (name, next_header, payload) in INSIDE {
        let analysis = analyze_frames(
            LINKTYPE_RAW,
            &sealed(&suite, *next_header, payload),
            &suite.esp_sa_row(SPI),
        );
        assert_one_flow(&analysis, name);
        assert_eq!(
            analysis.security_associations[0].icv.verified,
            u64::from(PACKETS),
            "{name}"
        );
    }
}

/// Compressed transport segments longer than the prefix that an analysis usually decrypts.
#[test]
fn long_compressed_segments_are_reopened_whole() {
    let suite = Suite::new(Encryption::AesGcm { icv: 16 }, 16, Integrity::None, 8);
    let noise = |n: u32| -> Vec<u8> {
        let mut state = n + 1;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..1_200).map(|_| next() & 0x3f).collect()
    };
    let frames = sealed(&suite, 108, |n| {
        ipcomp(6, 2, &tcp(5201, 40_000, 1 + n * 1_200, 0x10, &noise(n)))
    });
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    assert_eq!(analysis.flows[0].bytes, u64::from(PACKETS) * 1_200);
    assert_eq!(
        counted(&analysis, "not_decoded_inside", "IPComp (whole payload needed)"),
        0
    );
}

/// What is not decoded is counted by its name.
#[test]
fn what_is_not_decoded_inside_is_counted_by_name() {
    let suite = Suite::aes_sha1(3);
    let cases: &[Inside] = &[
        ("PPP multilink", 17, |n| {
            l2tp(&[&[0, 0x3d, 0xc0, 0, 0, n as u8][..], &[9; 90]].concat())
        }),
        ("PPP compression or MPPE", 17, |_| {
            l2tp(&[&[0, 0xfd][..], &[9; 90]].concat())
        }),
        ("ARP", 47, |_| gre(0, 0, 0x6558, &ethernet(0x0806, &[0; 28]))),
        ("GRE source routing", 47, |_| gre(0x40, 4, 0x0800, &[9; 90])),
        ("IPComp", 108, |_| [&[6, 0, 0, 3][..], &[9; 90]].concat()),
    ];
    for (name, next_header, payload) in cases {
        let analysis = analyze_frames(
            LINKTYPE_RAW,
            &sealed(&suite, *next_header, payload),
            &suite.esp_sa_row(SPI),
        );
        assert_eq!(
            counted(&analysis, "not_decoded_inside", name),
            u64::from(PACKETS),
            "{name}"
        );
    }
}

/// LCP, PAP, CHAP, IPCP and CCP are control, neither traffic nor something that could not be decoded.
#[test]
fn ppp_control_is_no_traffic() {
    let suite = Suite::aes_sha1(3);
    for protocol in [0xc021u16, 0xc023, 0xc223, 0x8021, 0x80fd] {
        let frames = sealed(&suite, 17, |n| {
            l2tp(&[&[0xff, 3][..], &protocol.to_be_bytes(), &[1, n as u8, 0, 4]].concat())
        });
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
        assert!(analysis.flows.is_empty(), "{protocol:04x}: {:?}", analysis.flows);
        assert!(
            analysis
                .diagnostics
                .iter()
                .all(|d| d.kind != "not_decoded_inside")
        );
    }
}

/// One of the systems that this project came from: racoon with NULL encryption, HMAC-MD5 and IPComp-deflate, carrying gretap,
/// GRE and IPIP in transport mode. Small packets do not shrink and go without IPComp (RFC 3173 §2.2).
#[test]
fn racoon_with_null_md5_and_ipcomp_carrying_gretap_gre_and_ipip() {
    let suite = Suite::new(Encryption::Null, 0, Integrity::HmacMd5_96, 31);
    let carried: [(u8, fn(u32) -> Vec<u8>); 3] = [
        (47, |n| {
            gre(0, 0, 0x6558, &ethernet(0x0800, &inner_ip(n, SEGMENT)))
        }),
        (47, |n| gre(0, 0, 0x0800, &inner_ip(n, SEGMENT))),
        (4, |n| inner_ip(n, SEGMENT)),
    ];
    let frames: Vec<Vec<u8>> = (0..3 * PACKETS)
        .map(|n| {
            let (protocol, payload) = carried[n as usize % 3];
            let (plain, number) = (payload(n / 3), u64::from(n) + 1);
            let packet = if n % 7 == 0 {
                suite.seal(SPI, number, false, protocol, &plain)
            } else {
                suite.seal(SPI, number, false, 108, &ipcomp(protocol, 0xd431, &plain))
            };
            ipv4(A, B, 50, &packet)
        })
        .collect();
    for keys in [suite.esp_sa_row(SPI), String::new()] {
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, &keys);
        let sa = &analysis.security_associations[0];
        assert_eq!(sa.encryption.as_deref(), Some("NULL"));
        let all = 3 * u64::from(PACKETS);
        let (status, icv) = if keys.is_empty() {
            (KeyStatus::Unverified, (0, 0, all))
        } else {
            (KeyStatus::Verified, (all, 0, 0))
        };
        assert_eq!(
            (sa.key.status, (sa.icv.verified, sa.icv.failed, sa.icv.unchecked)),
            (status, icv)
        );
        let packets: u64 = analysis.flows.iter().map(|f| f.packets).sum();
        let bytes: u64 = analysis.flows.iter().map(|f| f.bytes).sum();
        assert_eq!(
            (packets, bytes),
            (all, all * SEGMENT as u64),
            "with keys: {}",
            !keys.is_empty()
        );
    }
}

/// An inner tunnel is a tunnel of its own; the wire's packets and the carried bytes are counted once.
#[test]
fn esp_in_esp_is_two_tunnels_and_counts_once() {
    let (outer, inner) = (
        Suite::aes_sha1(3),
        Suite::new(Encryption::AesGcm { icv: 16 }, 16, Integrity::None, 9),
    );
    let ends = ([10, 66, 0, 1], [10, 66, 0, 2]);
    let keys = outer.esp_sa_row(SPI) + &inner.esp_sa_row(INNER_SPI);
    let esp = |n: u32| inner.seal(INNER_SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT));
    let shapes: [(&str, Vec<Vec<u8>>); 3] = [
        (
            "IP between",
            sealed(&outer, 4, |n| ipv4(ends.0, ends.1, 50, &esp(n))),
        ),
        (
            "UDP between",
            sealed(&outer, 4, |n| ipv4(ends.0, ends.1, 17, &udp(4500, 4500, &esp(n)))),
        ),
        ("right behind", sealed(&outer, 50, esp)),
    ];
    for (name, frames) in shapes {
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, &keys);
        assert_eq!(analysis.capture.esp_packets, u64::from(PACKETS), "{name}");
        assert_eq!(analysis.security_associations.len(), 2, "{name}");
        for sa in &analysis.security_associations {
            assert_eq!(
                (sa.packets, sa.icv.verified),
                (u64::from(PACKETS), u64::from(PACKETS)),
                "{name}"
            );
        }
        assert_eq!(
            analysis.tunnels.len(),
            if name == "right behind" { 1 } else { 2 },
            "{name}"
        );
        assert_one_flow(&analysis, name);
        let bytes: u64 = analysis.flows.iter().map(|f| f.bytes).sum();
        assert_eq!(bytes, u64::from(PACKETS) * SEGMENT as u64, "{name}: once");
        assert_eq!(counted(&analysis, "nested", "ESP"), u64::from(PACKETS), "{name}");
    }
}

/// Without the inner key the inner packets are payload of the outer tunnel, and SAs without a key.
#[test]
fn esp_in_esp_without_the_inner_key() {
    let (outer, inner) = (Suite::aes_sha1(3), Suite::aes_sha1(4));
    let frames = sealed(&outer, 4, |n| {
        let esp = inner.seal(INNER_SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT));
        ipv4([10, 66, 0, 1], [10, 66, 0, 2], 50, &esp)
    });
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, &outer.esp_sa_row(SPI));
    let [first, second] = &analysis.security_associations[..] else {
        panic!("two SAs");
    };
    assert_eq!(
        (first.key.status, second.key.status),
        (KeyStatus::Verified, KeyStatus::Missing)
    );
    assert!(analysis.flows.is_empty());
}

/// The tests' packets in a TCP stream that is cut into segments of any size.
fn tcp_encapsulated(suite: &Suite, segment: usize, with_start: bool) -> Vec<Vec<u8>> {
    let message = |n: u32| suite.seal(SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT));
    let messages: Vec<Vec<u8>> = (0..PACKETS).map(message).collect();
    in_tcp(&messages, segment, with_start)
}

#[test]
fn esp_in_tcp_across_segment_boundaries() {
    let suite = Suite::aes_sha1(3);
    for segment in [100, 536, 622, 1_000, 1_448, 9_000] {
        let mut frames = tcp_encapsulated(&suite, segment, true);
        // A segment overtakes another, and one comes twice.
        frames.swap(2, 3);
        frames.insert(4, frames[3].clone());
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
        assert_one_flow(&analysis, "TCP");
        let sa = &analysis.security_associations[0];
        assert_eq!(
            (sa.encapsulation, analysis.tunnels[0].encapsulation),
            (Encapsulation::Tcp, Encapsulation::Tcp)
        );
        assert_eq!(
            (sa.packets, sa.sequence.missing),
            (u64::from(PACKETS), 0),
            "{segment}"
        );
    }
}

/// The connection was there before the capture, and a segment is missing from it: what is whole is found again.
#[test]
fn esp_in_tcp_is_picked_up_again() {
    let suite = Suite::aes_sha1(3);
    let mut frames = tcp_encapsulated(&suite, 300, false);
    let whole = frames.len();
    frames.remove(0);
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    let sa = &analysis.security_associations[0];
    assert!(
        sa.packets >= u64::from(PACKETS) - 8,
        "{} of {PACKETS} from {whole} segments",
        sa.packets
    );
    assert_eq!(sa.icv.failed, 0);
}

/// Another protocol on that port is no IPsec.
#[test]
fn tcp_4500_with_something_else_is_counted_as_tcp() {
    let frames: Vec<Vec<u8>> = (0..PACKETS)
        .map(|n| {
            ipv4(
                A,
                B,
                6,
                &tcp(
                    40_123,
                    4500,
                    1_000 + n * 30,
                    0x18,
                    b"GET / HTTP/1.1\r\nHost: a.bc\r\n\r\n",
                ),
            )
        })
        .collect();
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, "");
    assert_eq!(counted(&analysis, "not_ipsec", "TCP"), u64::from(PACKETS));
    assert!(analysis.security_associations.is_empty() && analysis.tunnels.is_empty());
}

fn in_udp(suite: &Suite, ports: (u16, u16)) -> Vec<Vec<u8>> {
    (0..PACKETS)
        .map(|n| {
            let esp = suite.seal(SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT));
            ipv4(A, B, 17, &udp(ports.0, ports.1, &esp))
        })
        .collect()
}

#[test]
fn esp_in_udp_on_4500_and_behind_a_nat() {
    let suite = Suite::aes_sha1(3);
    for ports in [(4500, 4500), (61_234, 4500), (4500, 1_024)] {
        let analysis = analyze_frames(LINKTYPE_RAW, &in_udp(&suite, ports), &suite.esp_sa_row(SPI));
        assert_one_flow(&analysis, "UDP");
        assert_eq!(analysis.tunnels[0].encapsulation, Encapsulation::Udp);
    }
}

#[test]
fn esp_in_udp_on_another_port_on_request() {
    let suite = Suite::aes_sha1(3);
    let frames = in_udp(&suite, (40_000, 10_000));
    let unasked = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    assert!(unasked.security_associations.is_empty());
    assert_eq!(counted(&unasked, "not_ipsec", "UDP"), u64::from(PACKETS));
    let options = Options {
        esp_ports: vec![10_000],
        ..Options::default()
    };
    let asked = analyze_with(options, LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    assert_one_flow(&asked, "port 10000");
}

/// IKE with its marker on a port of its own shows where ESP will come.
#[test]
fn other_udp_ports_are_learned_from_ike() {
    let suite = Suite::aes_sha1(3);
    let mut ike = b"initiate\0\0\0\0\0\0\0\0".to_vec();
    ike.extend([33, 0x20, 34, 8, 0, 0, 0, 0]);
    ike.extend(100u32.to_be_bytes());
    ike.resize(100, 0);
    let mut frames = vec![ipv4(
        A,
        B,
        17,
        &udp(40_000, 10_000, &[&[0; 4][..], &ike].concat()),
    )];
    frames.extend(in_udp(&suite, (40_000, 10_000)));
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    assert_one_flow(&analysis, "learned");
    assert_eq!((analysis.capture.ike_packets, analysis.tunnels.len()), (1, 1));
}

/// Every link type, and what lies between it and IP.
#[test]
fn link_layers_do_not_change_the_analysis() {
    let suite = Suite::aes_sha1(3);
    let raw = sealed(&suite, 4, |n| inner_ip(n, SEGMENT));
    let prefixed = |prefix: &[u8]| -> Vec<Vec<u8>> { raw.iter().map(|p| [prefix, p].concat()).collect() };
    let mac = [2u8, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    let on = |tail: &[u8]| prefixed(&[&mac[..], tail].concat());
    let pppoe: Vec<Vec<u8>> = raw
        .iter()
        .map(|p| ethernet(0x8864, &pppoe_like(&[&[0, 0x21][..], p].concat())))
        .collect();
    let nflog: Vec<Vec<u8>> = raw
        .iter()
        .map(|p| {
            let attribute = ((p.len() + 4) as u16).to_le_bytes();
            [&[2, 0, 0, 0][..], &attribute, &[9, 0], p].concat()
        })
        .collect();
    let wifi = [
        0x08, 0x01, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 0, 0,
    ];
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let cases: Vec<(&str, u16, Vec<Vec<u8>>)> = vec![
        ("raw", LINKTYPE_RAW, raw.clone()),
        ("Ethernet", LINKTYPE_ETHERNET, on(&[8, 0])),
        ("VLAN", LINKTYPE_ETHERNET, on(&[0x81, 0, 0, 5, 8, 0])),
        (
            "QinQ",
            LINKTYPE_ETHERNET,
            on(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 5, 8, 0]),
        ),
        (
            "MPLS",
            LINKTYPE_ETHERNET,
            on(&[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]),
        ),
        ("PPPoE", LINKTYPE_ETHERNET, pppoe),
        (
            "SLL",
            113,
            prefixed(&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0]),
        ),
        (
            "SLL2",
            276,
            prefixed(&[8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]),
        ),
        ("null, little-endian", 0, prefixed(&[2, 0, 0, 0])),
        ("null, big-endian", 0, prefixed(&[0, 0, 0, 2])),
        ("loop", 108, prefixed(&[0, 0, 0, 2])),
        ("PPP", 9, prefixed(&[0xff, 3, 0, 0x21])),
        ("PPP, PFC and ACFC", 9, prefixed(&[0x21])),
        ("IEEE 802.11", 105, prefixed(&[&wifi[..], &snap].concat())),
        (
            "radiotap",
            127,
            prefixed(&[&[0, 0, 8, 0, 0, 0, 0, 0][..], &wifi, &snap].concat()),
        ),
        ("nflog", 239, nflog),
    ];
    let bare = |mut analysis: Analysis| {
        // What the container and the link say of themselves may differ, nothing else.
        analysis.capture.bytes = 0;
        analysis.capture.link_types.clear();
        serde_json::to_value(&analysis).unwrap()
    };
    let expected = bare(analyze_frames(LINKTYPE_RAW, &raw, &suite.esp_sa_row(SPI)));
    for (name, link_type, frames) in cases {
        let analysis = bare(analyze_frames(link_type, &frames, &suite.esp_sa_row(SPI)));
        assert_eq!(analysis, expected, "{name}");
    }
}

/// ESP inside tunnels that have no key of their own, as mirror ports and uplinks show it.
#[test]
fn esp_inside_clear_tunnels_is_found() {
    let suite = Suite::aes_sha1(3);
    let raw = sealed(&suite, 4, |n| inner_ip(n, SEGMENT));
    let wrapped = |wrap: &dyn Fn(&[u8]) -> Vec<u8>| raw.iter().map(|p| wrap(p)).collect::<Vec<_>>();
    let (c, d) = ([203, 0, 113, 1], [203, 0, 113, 2]);
    let cases = [
        ("IPIP", wrapped(&|p| ipv4(c, d, 4, p))),
        ("4in6", wrapped(&|p| ipv6(1, 2, 4, p))),
        ("GRE", wrapped(&|p| ipv4(c, d, 47, &gre(0x20, 4, 0x0800, p)))),
        (
            "gretap",
            wrapped(&|p| ipv4(c, d, 47, &gre(0, 0, 0x6558, &ethernet(0x0800, p)))),
        ),
        (
            "VXLAN",
            wrapped(&|p| {
                let frame = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &ethernet(0x0800, p)].concat();
                ipv4(c, d, 17, &udp(50_000, 4789, &frame))
            }),
        ),
    ];
    for (name, frames) in cases {
        assert_one_flow(
            &analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI)),
            name,
        );
    }
}

/// The same packets in every container: byte order, resolution, pcap and pcapng, compressed or not.
#[test]
fn containers_do_not_change_the_analysis() {
    let suite = Suite::aes_sha1(3);
    let frames: Vec<Vec<u8>> = sealed(&suite, 4, |n| inner_ip(n, SEGMENT))
        .iter()
        .map(|p| ethernet(0x0800, p))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let mut seen: Option<serde_json::Value> = None;
    for (name, bytes) in containers(&frames) {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let mut keys = rekeyscope::keylog::KeyMaterial::default();
        keys.read_bytes("keys".as_ref(), suite.esp_sa_row(SPI).as_bytes());
        let mut analyzer = rekeyscope::analyzer::Analyzer::new(Options::default(), keys);
        let mut reader = rekeyscope::capture::CaptureReader::open(&path).unwrap();
        let mut notes = rekeyscope::diagnostic::Diagnostics::default();
        while let Some(frame) = reader.next_frame(&mut notes).unwrap() {
            analyzer.push(&frame);
        }
        analyzer.diagnostics_mut().absorb(notes);
        let mut analysis = analyzer.finish(reader.info(), "capture");
        analysis.capture.format = rekeyscope::analysis::CaptureFormat::Pcap;
        let value = serde_json::to_value(&analysis).unwrap();
        assert_eq!(&value, seen.get_or_insert_with(|| value.clone()), "{name}");
    }
}

/// Name and bytes of each container. Times are whole milliseconds, which every resolution can tell.
fn containers(frames: &[Vec<u8>]) -> Vec<(&'static str, Vec<u8>)> {
    let classic = |big: bool, nanos: bool| {
        let word = |w: u32| if big { w.to_be_bytes() } else { w.to_le_bytes() };
        let half = |h: u16| if big { h.to_be_bytes() } else { h.to_le_bytes() };
        let mut file = word(if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }).to_vec();
        file.extend([half(2), half(4)].concat());
        for w in [0, 0, 262_144, 1] {
            file.extend(word(w));
        }
        for (n, frame) in frames.iter().enumerate() {
            let fraction = n as u32 * if nanos { 1_000_000 } else { 1_000 };
            for w in [1_800_000_000, fraction, frame.len() as u32, frame.len() as u32] {
                file.extend(word(w));
            }
            file.extend(frame);
        }
        file
    };
    let next_generation = |big: bool, resolution: Option<u8>| {
        let word = |w: u32| if big { w.to_be_bytes() } else { w.to_le_bytes() };
        let half = |h: u16| if big { h.to_be_bytes() } else { h.to_le_bytes() };
        let block = |kind: u32, body: &[u8]| {
            let len = word(12 + body.len() as u32);
            [&word(kind)[..], &len, body, &len].concat()
        };
        let mut head = word(0x1a2b_3c4d).to_vec();
        head.extend([half(1), half(0)].concat());
        head.extend([0xff; 8]);
        let mut file = block(0x0a0d_0d0a, &head);
        let mut interface = [half(1), half(0)].concat();
        interface.extend(word(262_144));
        if let Some(exponent) = resolution {
            interface.extend([half(9), half(1)].concat());
            interface.extend([exponent, 0, 0, 0]);
            interface.extend([half(0), half(0)].concat());
        }
        file.extend(block(1, &interface));
        let per_second = 10u64.pow(u32::from(resolution.unwrap_or(6)));
        for (n, frame) in frames.iter().enumerate() {
            let time = 1_800_000_000 * per_second + n as u64 * per_second / 1_000;
            let mut body = Vec::new();
            for w in [
                0,
                (time >> 32) as u32,
                time as u32,
                frame.len() as u32,
                frame.len() as u32,
            ] {
                body.extend(word(w));
            }
            body.extend(frame);
            body.resize(body.len().next_multiple_of(4), 0);
            file.extend(block(6, &body));
        }
        file
    };
    let plain = classic(false, false);
    let gz = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let zst = zstd::encode_all(&plain[..], 1).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(&plain).unwrap();
    vec![
        ("big.pcap", classic(true, false)),
        ("nanos.pcap", classic(false, true)),
        ("big-nanos.pcap", classic(true, true)),
        ("micros.pcapng", next_generation(false, None)),
        ("big.pcapng", next_generation(true, None)),
        ("millis.pcapng", next_generation(false, Some(3))),
        ("nanos.pcapng", next_generation(true, Some(9))),
        ("trace.pcap.gz", gz(&plain)),
        ("trace.pcapng.gz", gz(&next_generation(false, Some(6)))),
        ("trace.pcap.zst", zst),
        ("trace.pcap.lz4", lz4.finish().unwrap()),
        ("trace.pcap", plain),
    ]
}

/// (destination, SPI) tells SAs apart, and the same SPI under another key later is another generation.
#[test]
fn spi_reuse_is_told_apart() {
    let (first, second) = (Suite::aes_sha1(3), Suite::aes_sha1(90));
    let to = |dst: [u8; 4], suite: &Suite, n: u32| {
        ipv4(
            A,
            dst,
            50,
            &suite.seal(SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT)),
        )
    };
    let row = |suite: &Suite, dst: &str| {
        suite
            .esp_sa_row(SPI)
            .replacen("\"*\",\"*\"", &format!("\"*\",\"{dst}\""), 1)
    };
    let other = [203, 0, 113, 9];
    // Two destinations at the same time.
    let frames: Vec<Vec<u8>> = (0..PACKETS)
        .flat_map(|n| [to(B, &first, n), to(other, &second, n)])
        .collect();
    let keys = row(&first, "198.51.100.7") + &row(&second, "203.0.113.9");
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, &keys);
    assert_eq!(
        (analysis.security_associations.len(), analysis.tunnels.len()),
        (2, 2)
    );
    // One destination, one after the other.
    let frames: Vec<Vec<u8>> = (0..PACKETS)
        .map(|n| to(B, &first, n))
        .chain((0..PACKETS).map(|n| to(B, &second, n)))
        .collect();
    let keys = first.esp_sa_row(SPI) + &second.esp_sa_row(SPI);
    let later = analyze_frames(LINKTYPE_RAW, &frames, &keys);
    let generations: Vec<u32> = later
        .security_associations
        .iter()
        .map(|sa| sa.generation)
        .collect();
    assert_eq!(generations, [0, 1]);
    for sa in analysis
        .security_associations
        .iter()
        .chain(&later.security_associations)
    {
        assert_eq!(
            (sa.packets, sa.icv.verified, sa.icv.failed),
            (u64::from(PACKETS), u64::from(PACKETS), 0)
        );
    }
}

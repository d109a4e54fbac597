//! What ESP carries, down to TCP.

use super::*;

/// Every encapsulation inside ESP: its name, the next header, and what packet `n` holds.
type Inside = (&'static str, u8, fn(u32) -> Vec<u8>);

/// Beside the tunnels of `tunnels.rs`.
const INSIDE: &[Inside] = &[
    ("IPv4 (tunnel mode)", 4, |n| inner_ip(n, SEGMENT)),
    ("IPv6 (tunnel mode)", 41, |n| {
        ipv6(1, 2, 6, &inner_tcp(n, SEGMENT))
    }),
    ("TCP (transport mode)", 6, |n| inner_tcp(n, SEGMENT)),
    ("6in4", 4, |n| {
        ipv4(
            [10, 9, 0, 1],
            [10, 9, 0, 2],
            41,
            &ipv6(1, 2, 6, &inner_tcp(n, SEGMENT)),
        )
    }),
    ("IPComp, transport mode", 108, |n| {
        ip_comp(6, 2, &inner_tcp(n, SEGMENT))
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
        ip_comp(6, 2, &tcp(5201, 40_000, 1 + n * 1_200, 0x10, &noise(n)))
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
            l2tp(
                0x4000,
                1,
                &[&[0, 0x3d, 0xc0, 0, 0, n as u8][..], &[9; 90]].concat(),
            )
        }),
        ("PPP compression or MPPE", 17, |_| {
            l2tp(0x4000, 1, &[&[0, 0xfd][..], &[9; 90]].concat())
        }),
        ("ARP", 47, |_| gre(0, 0x6558, &ethernet(0x0806, &[0; 28]))),
        ("GRE source routing", 47, |_| {
            gre(0x4000, 0x0800, &[&[0; 4][..], &[9; 90]].concat())
        }),
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
            l2tp(
                0x4000,
                1,
                &[&[0xff, 3][..], &protocol.to_be_bytes(), &[1, n as u8, 0, 4]].concat(),
            )
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
        (47, |n| gre(0, 0x6558, &ethernet(0x0800, &inner_ip(n, SEGMENT)))),
        (47, |n| gre(0, 0x0800, &inner_ip(n, SEGMENT))),
        (4, |n| inner_ip(n, SEGMENT)),
    ];
    let frames: Vec<Vec<u8>> = (0..3 * PACKETS)
        .map(|n| {
            let (protocol, payload) = carried[n as usize % 3];
            let (plain, number) = (payload(n / 3), u64::from(n) + 1);
            let packet = if n % 7 == 0 {
                suite.seal(SPI, number, false, protocol, &plain)
            } else {
                suite.seal(SPI, number, false, 108, &ip_comp(protocol, 0xd431, &plain))
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

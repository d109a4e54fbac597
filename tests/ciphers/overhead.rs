//! The calculator against packets: every suite in every encapsulation, sealed by other code than the library's. What
//! `rekeyscope overhead` plans, what the analysis measures and what the frames have is the same to the byte.

use super::{SPI, suites};
use crate::support::ipsec::analyze_frames;
use rekeyscope_ipsec::overhead::{Plan, Suite};
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_testkit::carried::{A, B, inner_ip};
use rekeyscope_testkit::containers::LINKTYPE_RAW;
use rekeyscope_testkit::headers::{self, ethernet, ipv4, ipv6, ppp, udp};

/// An IP packet inside, in headers that a tunnel protocol puts before it: the ESP payload and its next header.
type Wrap = fn(inner: &[u8]) -> (u8, Vec<u8>);

/// Every carrier by the calculator's name.
const CARRIERS: [(&[&str], Wrap); 10] = [
    (&[], |inner| (4, inner.to_vec())),
    (&["transport"], |inner| (6, inner[20..].to_vec())),
    (&["l2tp"], l2tp),
    (&["gre"], gre),
    (&["gretap"], gretap),
    (&["ipip"], |inner| (4, inner.to_vec())),
    (&["etherip"], etherip),
    (&["vxlan"], vxlan),
    (&["gre", "tunnel"], |inner| in_tunnel(gre(inner))),
    (&["vxlan", "tunnel"], |inner| in_tunnel(vxlan(inner))),
];
/// Bytes of the inner TCP segments: every remainder of 16 once.
const SEGMENTS: std::ops::Range<u32> = 1_190..1_206;

fn l2tp(inner: &[u8]) -> (u8, Vec<u8>) {
    (17, headers::l2tp(0, 9, &ppp(inner)))
}

fn gre(inner: &[u8]) -> (u8, Vec<u8>) {
    (47, headers::gre(0, 0x0800, inner))
}

fn gretap(inner: &[u8]) -> (u8, Vec<u8>) {
    (47, headers::gre(0, 0x6558, &ethernet(0x0800, inner)))
}

fn etherip(inner: &[u8]) -> (u8, Vec<u8>) {
    (97, [&[0x30, 0], &ethernet(0x0800, inner)[..]].concat())
}

fn vxlan(inner: &[u8]) -> (u8, Vec<u8>) {
    (17, headers::vxlan(&ethernet(0x0800, inner)))
}

fn in_tunnel((protocol, packet): (u8, Vec<u8>)) -> (u8, Vec<u8>) {
    (4, ipv4([10, 8, 0, 1], [10, 8, 0, 2], protocol, &packet))
}

/// By strongSwan's name; `None` for what ESP forbids: neither encryption nor integrity is ESP still, but encryption alone has
/// no proposal.
fn named(suite: &super::Suite) -> Option<String> {
    let bits = (suite.key.len() - suite.encryption.salt_len()) * 8;
    let encryption = match suite.encryption {
        Encryption::Null => "null".into(),
        Encryption::AesCbc => format!("aes{bits}"),
        Encryption::AesCtr => format!("aes{bits}ctr"),
        Encryption::CamelliaCbc => format!("camellia{bits}"),
        Encryption::TripleDesCbc => "3des".into(),
        Encryption::DesCbc => "des".into(),
        Encryption::AesGcm { icv } => return Some(format!("aes{bits}gcm{icv}")),
        Encryption::AesCcm { icv } => return Some(format!("aes{bits}ccm{icv}")),
        Encryption::AesGmac => return Some(format!("aes{bits}gmac")),
        Encryption::ChaCha20Poly1305 => return Some("chacha20poly1305".into()),
        other => panic!("{other}"),
    };
    let integrity = match suite.integrity {
        Integrity::None | Integrity::Unknown { .. } => return None,
        Integrity::HmacMd5_96 => "md5",
        Integrity::HmacMd5_128 => "md5_128",
        Integrity::HmacSha1_96 => "sha1",
        Integrity::HmacSha1_160 => "sha1_160",
        Integrity::HmacSha256_96 => "sha256_96",
        Integrity::HmacSha256_128 => "sha256",
        Integrity::HmacSha384_192 => "sha384",
        Integrity::HmacSha512_256 => "sha512",
        Integrity::AesXcbc96 => "aesxcbc",
        Integrity::AesCmac96 => "aescmac",
    };
    Some(format!("{encryption}-{integrity}"))
}

/// The frames of a capture and the sizes of the packets inside.
fn sealed(suite: &super::Suite, wrap: Wrap, natt: bool, v6: bool) -> Vec<(usize, Vec<u8>)> {
    let frame = |(number, len): (usize, u32)| {
        let inner = inner_ip(0, len as usize);
        let (next_header, payload) = wrap(&inner);
        let esp = suite.seal(SPI, number as u64 + 1, false, next_header, &payload);
        let (protocol, body) = if natt {
            (17, udp(4500, 4500, &esp))
        } else {
            (50, esp)
        };
        let frame = if v6 {
            ipv6(1, 2, protocol, &body)
        } else {
            ipv4(A, B, protocol, &body)
        };
        (inner.len(), frame)
    };
    SEGMENTS.enumerate().map(frame).collect()
}

#[test]
fn the_calculator_agrees_with_every_suite_in_every_encapsulation() {
    let mut compared = 0;
    for suite in suites() {
        let Some(name) = named(&suite) else { continue };
        let calculated = Suite::named(&name).unwrap_or_else(|told| panic!("{told}"));
        for (parts, wrap) in CARRIERS {
            for (natt, v6) in [(false, false), (true, false), (false, true), (true, true)] {
                // The header that transport mode shares, and that of IP in IP in tunnel mode, are IPv4 here.
                if v6 && (parts == ["transport"] || parts.contains(&"tunnel")) {
                    continue;
                }
                let around = [(natt, "natt"), (v6, "ipv6")];
                let around = around.iter().filter(|(has, _)| *has).map(|(_, part)| *part);
                let parts: Vec<&str> = parts.iter().copied().chain(around).collect();
                let plan = Plan::new(&calculated, &parts).unwrap();
                for (inner, frame) in sealed(&suite, wrap, natt, v6) {
                    assert_eq!(plan.split(inner).wire, frame.len(), "{name} {parts:?} {inner}");
                    // With the path's MTU this packet just fits, or up to a block's padding more would.
                    let largest = plan.largest_inner(frame.len()).unwrap();
                    assert!(
                        (inner..inner + plan.sizes.align).contains(&largest),
                        "{name} {parts:?}"
                    );
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} packets compared");
    assert!(compared > 10_000);
}

/// What the analysis reports of such packets is the plan's sums. One carrier for each suite, in turn.
#[test]
fn the_analysis_measures_what_the_calculator_says() {
    for (index, suite) in suites().into_iter().enumerate() {
        let Some(name) = named(&suite) else { continue };
        let (parts, wrap) = CARRIERS[index % CARRIERS.len()];
        let natt = index / CARRIERS.len() % 2 == 1;
        let parts: Vec<&str> = parts.iter().copied().chain(natt.then_some("natt")).collect();
        let plan = Plan::new(&Suite::named(&name).unwrap(), &parts).unwrap();
        let packets = sealed(&suite, wrap, natt, false);
        let frames: Vec<Vec<u8>> = packets.iter().map(|(_, frame)| frame.clone()).collect();
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
        let [entry] = analysis.overhead.as_slice() else {
            panic!("{name} {parts:?}: {:?}", analysis.overhead)
        };
        let sum = |of: fn(&rekeyscope_ipsec::overhead::Split) -> usize| -> u64 {
            packets
                .iter()
                .map(|(inner, _)| of(&plan.split(*inner)) as u64)
                .sum()
        };
        let measured = [
            entry.outer_bytes,
            entry.inner_bytes,
            entry.iv,
            entry.padding,
            entry.icv,
        ];
        let planned = [
            sum(|s| s.wire),
            sum(|s| s.payload),
            sum(|s| s.iv),
            sum(|s| s.padding),
            sum(|s| s.icv),
        ];
        assert_eq!(measured, planned, "{name} {parts:?}");
        assert_eq!(
            entry.outer_headers,
            sum(|s| s.outer_headers + s.esp_header),
            "{name} {parts:?}"
        );
        let largest = packets.iter().map(|(_, frame)| frame.len()).max().unwrap();
        assert_eq!(
            entry.largest_outer_packet,
            Some(largest as u64),
            "{name} {parts:?}"
        );
        let fits = plan.largest_inner(largest).unwrap() as u64;
        assert_eq!(entry.largest_inner_for_path, Some(fits), "{name} {parts:?}");
        assert_eq!(entry.mss_ipv4, Some(fits - 40), "{name} {parts:?}");
        assert_eq!(entry.mss_ipv6, Some(fits - 60), "{name} {parts:?}");
    }
}

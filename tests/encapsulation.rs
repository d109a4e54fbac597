//! Everything that goes around ESP and into it, through the whole pipeline, on **synthetic** captures that are really
//! encrypted.

mod around;
mod captures;
mod choice;
mod inside;
mod tunnels;

use crate::support::ipsec::{analyze_frames, analyze_with, counted};
use rekeyscope::pipeline::Options;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::analysis::{Analysis, Encapsulation, KeyStatus};
use rekeyscope_testkit::carried::{A, B, in_tcp, inner_ip, inner_tcp};
use rekeyscope_testkit::containers::{LINKTYPE_ETHERNET, LINKTYPE_RAW};
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::{ethernet, gre, ip_comp, ipv4, ipv6, l2tp, ppp, tcp, udp, vxlan};

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

/// The inner gateway's packets were too large for its path: each comes in two fragments, each in an outer packet.
#[test]
fn fragments_of_esp_inside_esp_are_put_together() {
    const FIRST: usize = 20 + 256;
    let (outer, inner) = (Suite::aes_sha1(3), Suite::aes_sha1(9));
    let keys = outer.esp_sa_row(SPI) + &inner.esp_sa_row(INNER_SPI);
    let fragments = |n: u32| -> [Vec<u8>; 2] {
        let esp = inner.seal(INNER_SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT));
        let whole = ipv4([10, 66, 0, 1], [10, 66, 0, 2], 50, &esp);
        let part = |from: usize, to: usize, more: u8| {
            let mut part = ipv4([10, 66, 0, 1], [10, 66, 0, 2], 50, &whole[from..to]);
            part[4..6].copy_from_slice(&(n as u16 + 1).to_be_bytes());
            part[6..8].copy_from_slice(&[more, ((from - 20) / 8) as u8]);
            part
        };
        [part(20, FIRST, 0x20), part(FIRST, whole.len(), 0)]
    };
    let packets = (0..PACKETS).flat_map(fragments);
    let frames: Vec<Vec<u8>> = (1..)
        .zip(packets)
        .map(|(number, part)| ipv4(A, B, 50, &outer.seal(SPI, number, false, 4, &part)))
        .collect();
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, &keys);
    let seen: Vec<_> = analysis
        .security_associations
        .iter()
        .map(|sa| (sa.packets, sa.icv.verified))
        .collect();
    let all = u64::from(PACKETS);
    assert_eq!(seen, [(2 * all, 2 * all), (all, all)]);
    assert_one_flow(&analysis, "fragments");
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

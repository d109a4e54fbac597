//! Every ESP transform through the whole pipeline, on **synthetic** captures that are really encrypted: keys from a Wireshark
//! table and from `ip xfrm state`, extended sequence numbers, implicit IVs, TFC padding; and the same captures through tshark.

mod charon;
mod overhead;
mod tshark;
mod xfrm;

use crate::support::ipsec::analyze_frames;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::analysis::{Analysis, KeyStatus};
use rekeyscope_testkit::carried::{A, B, inner_ip, inner_tcp};
use rekeyscope_testkit::containers::LINKTYPE_RAW;
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::ipv4;
use std::collections::BTreeMap;
use std::process::Command;

const SPI: u32 = 0xc0de_0001;
const PACKETS: u32 = 40;
const SEGMENT: usize = 613;

const INTEGRITIES: [Integrity; 11] = [
    Integrity::None,
    Integrity::HmacMd5_96,
    Integrity::HmacMd5_128,
    Integrity::HmacSha1_96,
    Integrity::HmacSha1_160,
    Integrity::HmacSha256_96,
    Integrity::HmacSha256_128,
    Integrity::HmacSha384_192,
    Integrity::HmacSha512_256,
    Integrity::AesXcbc96,
    Integrity::AesCmac96,
];

/// Every cipher with every key length and every integrity algorithm that may stand beside it.
pub(crate) fn suites() -> Vec<Suite> {
    let plain = [
        (Encryption::Null, &[0][..]),
        (Encryption::AesCbc, &[16, 24, 32]),
        (Encryption::AesCtr, &[16, 24, 32]),
        (Encryption::CamelliaCbc, &[16, 24, 32]),
        (Encryption::TripleDesCbc, &[24]),
        (Encryption::DesCbc, &[8]),
    ];
    let mut suites = Vec::new();
    for (encryption, lens) in plain {
        for &len in lens {
            for integrity in INTEGRITIES {
                suites.push(Suite::new(encryption, len, integrity, 3));
            }
        }
    }
    suites.extend(combined());
    suites
}

fn combined() -> Vec<Suite> {
    let suite = |encryption, len| Suite::new(encryption, len, Integrity::None, 5);
    let mut suites = Vec::new();
    for icv in [8, 12, 16] {
        for len in [16, 24, 32] {
            suites.push(suite(Encryption::AesGcm { icv }, len));
        }
        for len in [16, 32] {
            suites.push(suite(Encryption::AesCcm { icv }, len));
        }
    }
    for len in [16, 24, 32] {
        suites.push(suite(Encryption::AesGmac, len));
    }
    suites.push(suite(Encryption::ChaCha20Poly1305, 32));
    suites
}

/// Tunnel mode, numbers from `first` on.
fn capture(suite: &Suite, first: u64, esn: bool) -> Vec<Vec<u8>> {
    capture_of(SPI, suite, first, esn)
}

fn capture_of(spi: u32, suite: &Suite, first: u64, esn: bool) -> Vec<Vec<u8>> {
    (0..PACKETS)
        .map(|n| {
            let packet = suite.seal(spi, first + u64::from(n), esn, 4, &inner_ip(n, SEGMENT));
            ipv4(A, B, 50, &packet)
        })
        .collect()
}

fn assert_opened(analysis: &Analysis, name: &str, has_icv: bool) {
    let sa = &analysis.security_associations[0];
    let all = u64::from(PACKETS);
    let icv = (sa.icv.verified, sa.icv.failed, sa.icv.unchecked);
    assert_eq!(icv, if has_icv { (all, 0, 0) } else { (0, 0, all) }, "{name}");
    assert_eq!(sa.inner_bytes, Some(all * (40 + SEGMENT as u64)), "{name}");
    let flow = &analysis.flows[0];
    assert_eq!((flow.bytes, flow.packets), (all * SEGMENT as u64, all), "{name}");
    assert_eq!(
        (&flow.protocol[..], flow.src_port, flow.dst_port),
        ("tcp", Some(5201), Some(40_000)),
        "{name}"
    );
    assert_eq!(
        sa.key.status == KeyStatus::Verified,
        has_icv,
        "{name}: only an ICV proves a key"
    );
}

fn name(suite: &Suite) -> String {
    format!(
        "{} with {} bytes, {}",
        suite.encryption,
        suite.key.len(),
        suite.integrity
    )
}

fn has_icv(suite: &Suite) -> bool {
    suite.encryption.is_aead() || suite.integrity != Integrity::None
}

#[test]
fn every_suite_is_verified_and_opened_from_a_wireshark_row() {
    for suite in suites() {
        let analysis = analyze_frames(LINKTYPE_RAW, &capture(&suite, 1, false), &suite.esp_sa_row(SPI));
        assert_opened(&analysis, &name(&suite), has_icv(&suite));
        let sa = &analysis.security_associations[0];
        assert!(
            sa.encryption
                .as_ref()
                .unwrap()
                .starts_with(&suite.encryption.to_string())
        );
    }
}

/// Tables that know no integrity key, as `tcpdump -E` and Wireshark's "ANY … [no checking]" do not: the packets open, whichever
/// ICV they have, and the key stays unproven. Under a wrong key they do not.
#[test]
fn without_the_integrity_key_packets_open_unchecked() {
    let plain = |suite: &Suite| !suite.encryption.is_aead() && suite.encryption != Encryption::Null;
    for suite in suites()
        .into_iter()
        .filter(|suite| plain(suite) && has_icv(suite))
    {
        // Up to the encryption key.
        let row = |suite: &Suite, integrity: &str| {
            let row = suite.esp_sa_row(SPI);
            let columns: Vec<&str> = row.split(',').take(6).collect();
            format!("{},\"{integrity}\",\"\"\n", columns.join(","))
        };
        let frames = capture(&suite, 1, false);
        for integrity in ["ANY 96 bit authentication [no checking]", "NULL"] {
            let analysis = analyze_frames(LINKTYPE_RAW, &frames, &row(&suite, integrity));
            assert_opened(&analysis, &name(&suite), false);
        }
        let wrong = Suite {
            key: suite.key.iter().map(|b| b ^ 0x10).collect(),
            ..suite.clone()
        };
        // Noise has orderly padding in one packet of 255: of 40 more than three about once in 50,000 suites.
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, &row(&wrong, "NULL"));
        let packets: u64 = analysis.flows.iter().map(|flow| flow.packets).sum();
        assert!(packets <= 3, "{}: {packets}", name(&suite));
    }
}

/// A wrong key opens nothing, whichever the suite.
#[test]
fn a_wrong_key_opens_nothing() {
    for suite in suites().into_iter().filter(has_icv) {
        let wrong = Suite {
            integrity_key: suite.integrity_key.iter().map(|b| b ^ 1).collect(),
            key: suite.key.iter().map(|b| b ^ 0x10).collect(),
            ..suite.clone()
        };
        // Without encryption there is nothing that a key could open: the packets show themselves.
        if matches!(suite.encryption, Encryption::Null | Encryption::AesGmac) {
            continue;
        }
        let analysis = analyze_frames(LINKTYPE_RAW, &capture(&suite, 1, false), &wrong.esp_sa_row(SPI));
        let sa = &analysis.security_associations[0];
        assert_eq!((sa.icv.verified, sa.inner_bytes), (0, None), "{}", name(&suite));
        assert!(analysis.flows.is_empty(), "{}", name(&suite));
    }
}

/// The row says nothing about extended sequence numbers: the ICV shows them. The capture crosses 2³² on the way.
#[test]
fn extended_sequence_numbers_are_inferred_in_every_suite() {
    for suite in suites().into_iter().filter(has_icv) {
        let first = (1 << 32) - 20;
        let analysis = analyze_frames(
            LINKTYPE_RAW,
            &capture(&suite, first, true),
            &suite.esp_sa_row(SPI),
        );
        assert_opened(&analysis, &name(&suite), true);
        let sequence = &analysis.security_associations[0].sequence;
        assert_eq!(
            (
                sequence.first,
                sequence.last,
                sequence.missing,
                sequence.reordered
            ),
            (Some(first), Some(first + u64::from(PACKETS) - 1), 0, 0),
            "{}",
            name(&suite)
        );
    }
}

/// RFC 8750. Wireshark's table has no name for these: the row says the form with an explicit IV.
#[test]
fn implicit_ivs_are_recognised() {
    for (encryption, len) in [
        (Encryption::AesCcm8Iiv, 16),
        (Encryption::AesGcm16Iiv, 16),
        (Encryption::AesGcm16Iiv, 32),
        (Encryption::ChaCha20Poly1305Iiv, 32),
    ] {
        let suite = Suite::new(encryption, len, Integrity::None, 9);
        for (first, esn) in [(1, false), (3 << 32, true)] {
            let analysis = analyze_frames(LINKTYPE_RAW, &capture(&suite, first, esn), &suite.esp_sa_row(SPI));
            assert_opened(&analysis, &name(&suite), true);
            let shown = analysis.security_associations[0].encryption.clone().unwrap();
            assert!(shown.contains("IIV"), "{shown}");
        }
    }
}

/// RFC 4303 §2.7: bytes between the inner packet and the padding are no payload of the flow.
#[test]
fn tfc_padding_is_not_traffic() {
    let suite = Suite::aes_sha1(1);
    let frames: Vec<Vec<u8>> = (0..PACKETS)
        .map(|n| {
            let mut inner = inner_ip(n, SEGMENT);
            inner.resize(1_400, 0);
            ipv4(A, B, 50, &suite.seal(SPI, u64::from(n) + 1, false, 4, &inner))
        })
        .collect();
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    assert_eq!(analysis.flows[0].bytes, u64::from(PACKETS) * SEGMENT as u64);
    assert_eq!(
        analysis.security_associations[0].inner_bytes,
        Some(u64::from(PACKETS) * 1_400)
    );
    // A dummy packet (next header 59) is no traffic at all.
    let dummy = |n: u64| ipv4(A, B, 50, &suite.seal(SPI, n, false, 59, &[0; 700]));
    let analysis = analyze_frames(
        LINKTYPE_RAW,
        &(1..=20).map(dummy).collect::<Vec<_>>(),
        &suite.esp_sa_row(SPI),
    );
    assert!(analysis.flows.is_empty());
    assert_eq!(analysis.security_associations[0].icv.verified, 20);
}

/// An SA without encryption needs no key; it is not called verified, and noise is never taken for it.
#[test]
fn null_encryption_is_recognised_without_keys() {
    for suite in suites() {
        // An ICV of 20 bytes is Fibre Channel's (RFC 4595): each length that is tried makes a false decode likelier.
        let clear = matches!(suite.encryption, Encryption::Null | Encryption::AesGmac)
            && suite.integrity != Integrity::HmacSha1_160;
        let analysis = analyze_frames(LINKTYPE_RAW, &capture(&suite, 1, false), "");
        let sa = &analysis.security_associations[0];
        if clear {
            assert_eq!(
                sa.inner_bytes,
                Some(u64::from(PACKETS) * (40 + SEGMENT as u64)),
                "{}",
                name(&suite)
            );
            assert_eq!(sa.key.status, KeyStatus::Unverified);
            assert_eq!(sa.icv.unchecked, u64::from(PACKETS));
            assert_eq!(analysis.flows[0].bytes, u64::from(PACKETS) * SEGMENT as u64);
        } else {
            assert_eq!(
                (sa.inner_bytes, sa.key.status),
                (None, KeyStatus::Missing),
                "{}",
                name(&suite)
            );
            assert!(analysis.flows.is_empty());
        }
    }
}

/// Transport mode: the flow has the outer addresses.
#[test]
fn transport_mode_has_the_outer_addresses() {
    let suite = Suite::new(Encryption::ChaCha20Poly1305, 32, Integrity::None, 77);
    let frames: Vec<Vec<u8>> = (0..PACKETS)
        .map(|n| {
            ipv4(
                A,
                B,
                50,
                &suite.seal(SPI, u64::from(n) + 1, false, 6, &inner_tcp(n, SEGMENT)),
            )
        })
        .collect();
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    let flow = &analysis.flows[0];
    assert_eq!(
        (flow.src.to_string(), flow.dst.to_string()),
        ("192.0.2.1".into(), "198.51.100.7".into())
    );
    assert_eq!(flow.bytes, u64::from(PACKETS) * SEGMENT as u64);
}

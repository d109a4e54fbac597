//! Every cipher suite from a **synthetic** log in the words of charon (level 4 of CHD), with both directions of a CHILD_SA.

use super::{PACKETS, SEGMENT, has_icv, name, suites};
use crate::support::ipsec::analyze_frames;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_testkit::carried::{A, B, inner_ip};
use rekeyscope_testkit::containers::LINKTYPE_RAW;
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::ipv4;
use std::fmt::Write;

/// Towards A, and towards B.
const INBOUND: u32 = 0xc0de_0011;
const OUTBOUND: u32 = 0xc0de_0012;

/// As `using NAME for encryption` has it.
fn encryption_name(encryption: Encryption) -> String {
    match encryption {
        Encryption::Null => "NULL".into(),
        Encryption::AesCbc => "AES_CBC".into(),
        Encryption::AesCtr => "AES_CTR".into(),
        Encryption::AesGcm { icv } => format!("AES_GCM_{icv}"),
        Encryption::AesCcm { icv } => format!("AES_CCM_{icv}"),
        Encryption::AesGmac => "NULL_AES_GMAC".into(),
        Encryption::ChaCha20Poly1305 => "CHACHA20_POLY1305".into(),
        Encryption::CamelliaCbc => "CAMELLIA_CBC".into(),
        Encryption::TripleDesCbc => "3DES_CBC".into(),
        Encryption::DesCbc => "DES_CBC".into(),
        other => panic!("{other} is no suite of these tests"),
    }
}

/// As `using NAME for integrity` has it; no such line where there is none.
fn integrity_name(integrity: Integrity) -> Option<&'static str> {
    match integrity {
        Integrity::None | Integrity::Unknown { .. } => None,
        Integrity::HmacMd5_96 => Some("HMAC_MD5_96"),
        Integrity::HmacSha1_96 => Some("HMAC_SHA1_96"),
        Integrity::HmacSha256_96 => Some("HMAC_SHA2_256_96"),
        Integrity::HmacSha256_128 => Some("HMAC_SHA2_256_128"),
        Integrity::HmacSha384_192 => Some("HMAC_SHA2_384_192"),
        Integrity::HmacSha512_256 => Some("HMAC_SHA2_512_256"),
        Integrity::AesXcbc96 => Some("AES_XCBC_96"),
        Integrity::AesCmac96 => Some("AES_CMAC_96"),
        Integrity::HmacMd5_128 => Some("HMAC_MD5_128"),
        Integrity::HmacSha1_160 => Some("HMAC_SHA1_160"),
    }
}

fn dump(log: &mut String, label: &str, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    writeln!(
        log,
        "1795206884.854 16[CHD] {label} => {} bytes @ 0x50005460",
        bytes.len()
    )
    .unwrap();
    for (row, bytes) in bytes.chunks(16).enumerate() {
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        writeln!(
            log,
            "1795206884.854 16[CHD] {:4}: {:47}  ................",
            row * 16,
            hex.join(" ")
        )
        .unwrap();
    }
}

/// The log of A, which began the exchange: its packets are sealed by `up`, those of B by `down`.
fn log(up: &Suite, down: &Suite) -> String {
    let address = |a: [u8; 4]| std::net::Ipv4Addr::from(a);
    let mut log =
        String::from("1795206884.850 16[ENC] parsed CREATE_CHILD_SA response 2 [ SA No TSi TSr ]\n");
    let encryption = encryption_name(up.encryption);
    writeln!(log, "1795206884.854 16[CHD]   using {encryption} for encryption").unwrap();
    if let Some(integrity) = integrity_name(up.integrity) {
        writeln!(log, "1795206884.854 16[CHD]   using {integrity} for integrity").unwrap();
    }
    dump(&mut log, "encryption initiator key", &up.key);
    dump(&mut log, "encryption responder key", &down.key);
    dump(&mut log, "integrity initiator key", &up.integrity_key);
    dump(&mut log, "integrity responder key", &down.integrity_key);
    for (way, spi, src, dst) in [("inbound", INBOUND, B, A), ("outbound", OUTBOUND, A, B)] {
        let (src, dst) = (address(src), address(dst));
        writeln!(log, "1795206884.855 16[CHD] adding {way} ESP SA").unwrap();
        writeln!(
            log,
            "1795206884.855 16[CHD]   SPI 0x{spi:08x}, src {src} dst {dst}"
        )
        .unwrap();
    }
    log + "1795206884.859 16[CHD] CHILD_SA synthetic{1} state change: INSTALLING => INSTALLED\n"
}

#[test]
fn every_suite_is_verified_from_a_log_of_charon() {
    let mut seen = 0;
    for up in suites() {
        // A CHILD_SA that neither encrypts nor authenticates has no key to log.
        if up.key.is_empty() && up.integrity_key.is_empty() {
            continue;
        }
        let other = Suite::new(
            up.encryption,
            up.key.len() - up.encryption.salt_len(),
            up.integrity,
            77,
        );
        let frames: Vec<Vec<u8>> = (0..PACKETS)
            .flat_map(|n| {
                let number = u64::from(n) + 1;
                let payload = inner_ip(n, SEGMENT);
                [
                    ipv4(A, B, 50, &up.seal(OUTBOUND, number, false, 4, &payload)),
                    ipv4(B, A, 50, &other.seal(INBOUND, number, false, 4, &payload)),
                ]
            })
            .collect();
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, &log(&up, &other));
        assert_eq!(analysis.security_associations.len(), 2, "{}", name(&up));
        for sa in &analysis.security_associations {
            let all = u64::from(PACKETS);
            let counts = if has_icv(&up) { (all, 0, 0) } else { (0, 0, all) };
            let icv = (sa.icv.verified, sa.icv.failed, sa.icv.unchecked);
            assert_eq!(icv, counts, "{} {}", name(&up), sa.spi);
            assert_eq!(
                sa.inner_bytes,
                Some(all * (40 + SEGMENT as u64)),
                "{} {}",
                name(&up),
                sa.spi
            );
        }
        seen += 1;
    }
    assert!(seen > 60, "{seen} suites");
}

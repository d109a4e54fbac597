//! How fast one core opens packets.

use super::*;
use crate::esp::header::HEADER_LEN;
use rekeyscope_testkit::thread_time::thread_nanos_of;

/// Prints packets per second and core; run in release with `--ignored --nocapture` on Linux. 1380 bytes as on a path with an
/// MTU of 1400. The packets are zeros: neither the ICV nor the padding fits, but the work is the same.
#[test]
#[ignore = "a measurement, for release builds"]
fn rate() {
    let suites = [
        (Encryption::AesCbc, 16, Integrity::HmacSha1_96),
        (Encryption::AesCbc, 32, Integrity::HmacSha256_128),
        (Encryption::AesCbc, 16, Integrity::HmacMd5_96),
        (Encryption::AesCbc, 32, Integrity::HmacSha512_256),
        (Encryption::AesCbc, 16, Integrity::AesXcbc96),
        (Encryption::AesCbc, 16, Integrity::AesCmac96),
        (Encryption::AesGcm { icv: 16 }, 20, Integrity::None),
        (Encryption::AesGcm { icv: 16 }, 36, Integrity::None),
        (Encryption::AesCcm { icv: 16 }, 19, Integrity::None),
        (Encryption::AesGmac, 20, Integrity::None),
        (Encryption::ChaCha20Poly1305, 36, Integrity::None),
        (Encryption::AesCtr, 20, Integrity::HmacSha1_96),
        (Encryption::TripleDesCbc, 24, Integrity::HmacMd5_96),
        (Encryption::CamelliaCbc, 16, Integrity::HmacSha1_96),
        (Encryption::Null, 0, Integrity::HmacSha1_96),
    ];
    for (encryption, key_len, integrity) in suites {
        let cipher = EspCipher::new(
            encryption,
            &vec![1; key_len],
            integrity,
            &vec![2; integrity.key_len()],
        )
        .unwrap();
        let body = (1380 - HEADER_LEN - cipher.iv_len() - cipher.icv_len()) / 16 * 16;
        let packet = vec![0; HEADER_LEN + cipher.iv_len() + body + cipher.icv_len()];
        let mut out = Vec::new();
        let mut packets = 0;
        let nanos = thread_nanos_of(|| {
            for _ in 0..1_000 {
                std::hint::black_box(cipher.verify(std::hint::black_box(&packet), None));
                let _ = std::hint::black_box(cipher.open_verified(&packet, None, 192, &mut out));
            }
            packets += 1_000;
        });
        println!(
            "{encryption} {key_len} {integrity}: {:.2} Mpkt/s, {} bytes",
            f64::from(packets) * 1e3 / nanos as f64,
            packet.len()
        );
    }
}

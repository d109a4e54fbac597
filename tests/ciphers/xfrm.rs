//! Keys from `ip xfrm state`.

use super::*;

/// The same keys as the Linux kernel prints them.
#[test]
fn keys_from_ip_xfrm_state() {
    let hex = |key: &[u8]| key.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let state = |lines: String| {
        format!(
            "src 192.0.2.1 dst 198.51.100.7\n\tproto esp spi 0x{SPI:08x} reqid 1 mode tunnel\n\treplay-window 0 flag \
             af-unspec esn\n{lines}"
        )
    };
    let aead = |suite: &Suite, kernel: &str, bits: u32| {
        (
            suite.clone(),
            state(format!("\taead {kernel} 0x{} {bits}\n", hex(&suite.key))),
        )
    };
    let plain = |encryption, len, kernel: &str, integrity: Integrity, auth: &str| {
        let suite = Suite::new(encryption, len, integrity, 21);
        let enc = if suite.key.is_empty() {
            String::new()
        } else {
            format!("0x{}", hex(&suite.key))
        };
        let text = state(format!(
            "\tauth-trunc {auth} 0x{} {}\n\tenc {kernel} {enc}\n",
            hex(&suite.integrity_key),
            suite.integrity.icv_len() * 8
        ));
        (suite, text)
    };
    let new = |encryption, len| Suite::new(encryption, len, Integrity::None, 20);
    let cases = [
        aead(&new(Encryption::AesGcm { icv: 16 }, 32), "rfc4106(gcm(aes))", 128),
        aead(&new(Encryption::AesGcm { icv: 8 }, 16), "rfc4106(gcm(aes))", 64),
        aead(&new(Encryption::AesCcm { icv: 12 }, 16), "rfc4309(ccm(aes))", 96),
        aead(&new(Encryption::AesGmac, 16), "rfc4543(gcm(aes))", 128),
        aead(
            &new(Encryption::ChaCha20Poly1305, 32),
            "rfc7539esp(chacha20,poly1305)",
            128,
        ),
        plain(
            Encryption::AesCtr,
            16,
            "rfc3686(ctr(aes))",
            Integrity::HmacSha256_128,
            "hmac(sha256)",
        ),
        plain(
            Encryption::CamelliaCbc,
            32,
            "cbc(camellia)",
            Integrity::AesXcbc96,
            "xcbc(aes)",
        ),
        plain(
            Encryption::TripleDesCbc,
            24,
            "cbc(des3_ede)",
            Integrity::HmacMd5_96,
            "hmac(md5)",
        ),
        plain(
            Encryption::Null,
            0,
            "ecb(cipher_null)",
            Integrity::HmacSha512_256,
            "hmac(sha512)",
        ),
        plain(
            Encryption::AesCbc,
            16,
            "cbc(aes)",
            Integrity::AesCmac96,
            "cmac(aes)",
        ),
    ];
    for (suite, text) in cases {
        for esn in [false, true] {
            let analysis = analyze_frames(LINKTYPE_RAW, &capture(&suite, 1, esn), &text);
            assert_opened(&analysis, &format!("{} {text}", name(&suite)), true);
        }
    }
}

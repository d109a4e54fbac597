//! Whole ESP packets: from RFCs, and from `testdata/esp_packets.csv`, which OpenSSL sealed.

use super::*;
use hex_literal::hex;
use proptest::prelude::*;

/// A row of `esp_packets.csv`.
struct Sealed {
    name: String,
    encryption: Encryption,
    cipher: EspCipher,
    has_icv: bool,
    esn_high: Option<u32>,
    payload: Vec<u8>,
    packet: Vec<u8>,
}

fn bytes(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn encryption(name: &str, icv: u8) -> Encryption {
    match name {
        "Null" => Encryption::Null,
        "AesCbc" => Encryption::AesCbc,
        "AesCtr" => Encryption::AesCtr,
        "AesGcm" => Encryption::AesGcm { icv },
        "AesCcm" => Encryption::AesCcm { icv },
        "AesGmac" => Encryption::AesGmac,
        "ChaCha20Poly1305" => Encryption::ChaCha20Poly1305,
        "TripleDesCbc" => Encryption::TripleDesCbc,
        "DesCbc" => Encryption::DesCbc,
        "CamelliaCbc" => Encryption::CamelliaCbc,
        other => panic!("{other}"),
    }
}

fn integrity(name: &str) -> Integrity {
    let all = [
        Integrity::None,
        Integrity::HmacMd5_96,
        Integrity::HmacSha1_96,
        Integrity::HmacSha256_96,
        Integrity::HmacSha256_128,
        Integrity::HmacSha384_192,
        Integrity::HmacSha512_256,
        Integrity::AesXcbc96,
        Integrity::AesCmac96,
    ];
    all.into_iter()
        .find(|integrity| format!("{integrity:?}") == name)
        .unwrap()
}

fn sealed_by_openssl() -> Vec<Sealed> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let encryption = encryption(cells[0], cells[1].parse().unwrap());
        let integrity = integrity(cells[3]);
        let form = if cells[6] == "1" {
            // The rows have more ICV lengths than RFC 8750 defines transforms for.
            encryption.with_implicit_iv()?
        } else {
            encryption
        };
        let cipher = EspCipher::new(form, &bytes(cells[2]), integrity, &bytes(cells[4])).unwrap();
        let len: usize = cells[7].parse().unwrap();
        Some(Sealed {
            name: cells[..8].join(","),
            encryption,
            cipher,
            has_icv: encryption.is_aead() || integrity != Integrity::None,
            esn_high: cells[5].parse().ok(),
            payload: (0..len).map(|i| (len + 7 * i) as u8).collect(),
            packet: bytes(cells[8]),
        })
    };
    include_str!("../testdata/esp_packets.csv")
        .lines()
        .skip(1)
        .filter_map(row)
        .collect()
}

#[test]
fn packets_sealed_by_openssl_verify_and_open() {
    let rows = sealed_by_openssl();
    assert_eq!(rows.len(), 282);
    let mut out = Vec::new();
    for row in rows {
        let expected = if row.has_icv {
            Icv::Verified
        } else {
            Icv::Unchecked
        };
        assert_eq!(
            row.cipher.verify(&row.packet, row.esn_high),
            expected,
            "{}",
            row.name
        );
        for prefix in [0, 1, 15, 16, 17, 192, 1000] {
            let opened = row
                .cipher
                .open_verified(&row.packet, row.esn_high, prefix, &mut out)
                .unwrap();
            assert_eq!(
                (opened.payload_len as usize, opened.next_header),
                (row.payload.len(), 4),
                "{}",
                row.name
            );
            assert_eq!(out, row.payload[..prefix.min(row.payload.len())], "{}", row.name);
            if row.esn_high.is_none() {
                assert_eq!(
                    row.cipher.open(&row.packet, row.esn_high, prefix, &mut out),
                    Ok(opened),
                    "{}",
                    row.name
                );
                assert_eq!(out.len(), prefix.min(row.payload.len()));
            }
        }
    }
}

#[test]
fn any_changed_bit_and_the_wrong_esn_fail() {
    for row in sealed_by_openssl().iter().filter(|row| row.has_icv) {
        let other_esn = if row.esn_high.is_some() { None } else { Some(0) };
        assert_eq!(
            row.cipher.verify(&row.packet, other_esn),
            Icv::Failed,
            "{}",
            row.name
        );
        for at in 0..row.packet.len() {
            let mut changed = row.packet.clone();
            changed[at] ^= 1 << (at % 8);
            assert_eq!(
                row.cipher.verify(&changed, row.esn_high),
                Icv::Failed,
                "{} byte {at}",
                row.name
            );
        }
    }
}

#[test]
fn packets_cut_at_every_byte_do_not_panic_and_do_not_verify() {
    let mut out = Vec::new();
    for row in sealed_by_openssl() {
        for cut in 0..row.packet.len() {
            let verified = row.cipher.verify(&row.packet[..cut], row.esn_high);
            assert_eq!(
                verified,
                if row.has_icv { Icv::Failed } else { Icv::Unchecked },
                "{} {cut}",
                row.name
            );
            let _ = row.cipher.open(&row.packet[..cut], None, 64, &mut out);
            let _ = row.cipher.open_verified(&row.packet[..cut], None, 64, &mut out);
            assert!(out.len() <= 64);
        }
    }
}

#[test]
fn a_wrong_key_is_noticed_by_strict_opening() {
    let mut out = Vec::new();
    let mut opened = 0;
    let mut tried = 0;
    for row in sealed_by_openssl().iter().filter(|row| row.payload.len() == 61) {
        if !matches!(row.encryption, Encryption::AesCbc | Encryption::CamelliaCbc) {
            continue;
        }
        let wrong = EspCipher::new(row.encryption, &[0x77; 16], Integrity::None, &[]).unwrap();
        tried += 1;
        opened += usize::from(wrong.open(&row.packet, None, 64, &mut out).is_ok());
    }
    assert_eq!((opened, tried), (0, 12));
}

fn opened(cipher: &EspCipher, packet: &[u8]) -> (Opened, Vec<u8>) {
    let mut out = Vec::new();
    let opened = cipher.open(packet, None, 1500, &mut out).unwrap();
    (opened, out)
}

/// RFC 3602 §4, cases 5 and 6 (transport mode), 7 and 8 (tunnel mode): packets without ICV.
#[test]
fn aes_cbc_esp_packets_of_rfc3602() {
    let counted: Vec<u8> = (8..=0x37).collect();
    let cases: [(_, &[u8], _, &[u8], &[u8]); 4] = [
        (
            hex!("90d382b410eeba7ad938c46cec1a82bf"),
            &hex!(
                "0000432100000001e96e8c08ab465763fd098d45dd3ff893f663c25d325c18c6a9453e194e120849a4870b66cc6b9965330013b4"
                "898dc856a4699e523a55db080b59ec3a8e4b7e52775b07d1db34ed9c538ab50c551b874aa269add047ad2d5913ac19b7cfbad4a6"
            ),
            Opened {
                payload_len: 64,
                pad_len: 14,
                next_header: 1,
            },
            &hex!("08000ebda70a00008e9c083db95b0700"),
            &counted,
        ),
        (
            hex!("90d382b410eeba7ad938c46cec1a82bf"),
            &hex!(
                "000043210000000869d08df7d203329db093fc4924e5bd80f51995881ec4e0c4488987ce742e8109689bb379d2d750c0d915dca3"
                "46a89f75"
            ),
            Opened {
                payload_len: 28,
                pad_len: 2,
                next_header: 1,
            },
            &hex!("0800b5e8a80a0500a69c083d0b660e00"),
            &[0x77; 12],
        ),
        (
            hex!("0123456789abcdef0123456789abcdef"),
            &hex!(
                "0000876500000002f4e765244f6407adf13dc1380f673f37773b5241a4c449225e4f3ce5ed611b0c237ca96cf74a93013c1b0ea1"
                "a0cf70f8e4ecaec78ac53aad7a0f022b859243c647752e94a859352b8a4d4d2decd136e5c177f132ad3fbfb2201ac9904c74ee0a"
                "109e0ca1e4dfe9d5a100b842f1c22f0d"
            ),
            Opened {
                payload_len: 84,
                pad_len: 10,
                next_header: 4,
            },
            &hex!("45000054090400004001f988c0a87b03c0a87bc808009f76a90a0100b49c083d02a20400"),
            &counted,
        ),
        (
            hex!("0123456789abcdef0123456789abcdef"),
            &hex!(
                "000087650000000585d47224b5f3dd5d2101d4ea8dffab2215b92683819596a8047232cc00f7048fe45318e11f8a0f62ede3c3fc"
                "61203bb50f980a08c9843fd3a1b06d5c07ff9639b7eb7dfb3512e5de435e7207ed971ef3d2726d9b5ef6affc6d17a0decbb13892"
            ),
            Opened {
                payload_len: 68,
                pad_len: 10,
                next_header: 4,
            },
            &hex!("45000044090c00004001f990c0a87b03c0a87bc80800d63caa0a0200c69c083da3de0300"),
            &[0xff; 32],
        ),
    ];
    for (key, packet, expected, front, back) in cases {
        let cipher = EspCipher::new(Encryption::AesCbc, &key, Integrity::None, &[]).unwrap();
        assert_eq!(opened(&cipher, packet), (expected, [front, back].concat()));
        assert_eq!(cipher.verify(packet, None), Icv::Unchecked);
    }
}

/// draft-mcgrew-gcm-test-01 §4.
#[test]
fn gcm_esp_packets_of_draft_mcgrew() {
    /// Key, salt and IV, SPI and sequence number, plaintext, ciphertext with tag.
    type Case = (
        &'static [u8],
        [u8; 12],
        &'static [u8],
        &'static [u8],
        &'static [u8],
    );
    let cases: [Case; 5] = [
        (
            &hex!("4c80cdefbb5d10da906ac73c3613a634"),
            hex!("2e443b684956ed7e3b244cfe"),
            &hex!("000043218765432100000000"),
            &hex!(
                "45000048699a000080114db7c0a80102c0a801010a9bf15638d301000001000000000000045f736970045f75647003736970"
                "0963796265726369747902646b000021000101020201"
            ),
            &hex!(
                "fecf537e729d5b07dc30df528dd22b768d1b98736696a6fd348509fa13ceac34cfa2436f14a3f3cf65925bf1f4a13c5d15b2"
                "1e1884f5ff6247aeabb786b93bce61bc17d768fd9732459018148f6cbe722fd04796562dfdb4"
            ),
        ),
        (
            &hex!("feffe9928665731c6d6a8f9467308308feffe9928665731c"),
            hex!("cafebabefacedbaddecaf888"),
            &hex!("0000a5f80000000a"),
            &hex!("45000028a4ad4000400678800a01038f0a010612802306b8cb712602dd6bb03e501016d075680001"),
            &hex!(
                "a5b1f8066029aea40e598b8122de02420938b3ab33f828e687b8858b5bfbdbd0315b27452144cc7795457b9652037f531802"
                "7b5b4cd7a636"
            ),
        ),
        (
            &hex!("abbccddef00112233445566778899aababbccddef00112233445566778899aab"),
            hex!("112233440102030405060708"),
            &hex!("4a2cbfe300000002"),
            &hex!(
                "4500003069a6400080062690c0a801029389155e0a9e008b2dc57ee0000000007002400020bf0000020405b4010104020102"
                "0201"
            ),
            &hex!(
                "ff425c9b724599df7a3bcd510194e00d6a78107f1b0b1cbf06efae9d65a5d763748a637985771d347f0545659f14e99def84"
                "2d8eb335f4eecfdbf831824b4c4915956c96"
            ),
        ),
        (
            &hex!("3de09874b388e6491988d0c3607eae1f"),
            hex!("57690e434e280000a2fca1a3"),
            &hex!("42f67e3f1010101010101010"),
            &hex!("4500001c42a200008001441f406793b6e00000020a00f5ff01020201"),
            &hex!("fba2ca845e5df9f0f22c3e6e86dd831e1fc65792cd1af9130e1379ed369f071f35e034be95f112e4e7d05d35"),
        ),
        (
            &hex!("7d773d00c144c525ac619d18c84a3f47"),
            hex!("d966426743457e9182443bc6"),
            &hex!("335467aeffffffff"),
            &hex!("01020201"),
            &hex!("437f866bcb3f699fe9b0822bac961c4504bef270"),
        ),
    ];
    for (key, nonce, aad, plaintext, sealed) in cases {
        let (salt, iv) = nonce.split_at(4);
        let key = [key, salt].concat();
        let cipher = EspCipher::new(Encryption::AesGcm { icv: 16 }, &key, Integrity::None, &[]).unwrap();
        let (spi, number) = aad.split_at(4);
        let (high, low) = number.split_at(number.len() - 4);
        let esn_high = high.try_into().ok().map(u32::from_be_bytes);
        let packet = [spi, low, iv, sealed].concat();
        assert_eq!(cipher.verify(&packet, esn_high), Icv::Verified);
        let (opened, payload) = opened(&cipher, &packet);
        assert_eq!(opened.next_header, *plaintext.last().unwrap());
        assert_eq!(
            payload,
            plaintext[..plaintext.len() - 2 - usize::from(opened.pad_len)]
        );
        // The shorter ICVs are the beginning of the long one.
        for icv in [8, 12] {
            let cipher = EspCipher::new(Encryption::AesGcm { icv }, &key, Integrity::None, &[]).unwrap();
            let short = &packet[..packet.len() - 16 + usize::from(icv)];
            assert_eq!(cipher.verify(short, esn_high), Icv::Verified);
        }
    }
}

/// RFC 7634 appendix A.
#[test]
fn chacha20_poly1305_esp_packet_of_rfc7634() {
    let key: Vec<u8> = (0x80..=0xa3).collect();
    let cipher = EspCipher::new(Encryption::ChaCha20Poly1305, &key, Integrity::None, &[]).unwrap();
    let packet = hex!(
        "0102030400000005101112131415161724039428b97f417e3c13753a4f05087b67c352e6a7fab1b982d466ef407ae5c614ee8099d528"
        "44eb61aa95dfab4c02f72aa71e7c4c4f64c9befe2facc638e8f3cbec163fac469b502773f6fb94e664da9165b82829f641e076aaa826"
        "6b7fb0f7b11b369907e1ad43"
    );
    assert_eq!(cipher.verify(&packet, None), Icv::Verified);
    let (opened, payload) = opened(&cipher, &packet);
    assert_eq!(
        opened,
        Opened {
            payload_len: 84,
            pad_len: 2,
            next_header: 4
        }
    );
    assert_eq!(payload[..20], hex!("45000054a6f200004001e778c6336405c0000205"));
}

#[test]
fn padding_of_any_content_opens_when_the_caller_has_verified() {
    let cipher = EspCipher::new(Encryption::Null, &[], Integrity::None, &[]).unwrap();
    let packet = |tail: [u8; 8]| [[0; 8], *b"payload!", tail].concat();
    let mut out = Vec::new();
    let odd = packet([b'p', b'a', b'y', 9, 9, 9, 3, 17]);
    assert_eq!(cipher.open(&odd, None, 64, &mut out), Err(OpenError::Padding));
    let opened = cipher.open_verified(&odd, None, 64, &mut out).unwrap();
    assert_eq!(
        (opened, out.as_slice()),
        (
            Opened {
                payload_len: 11,
                pad_len: 3,
                next_header: 17
            },
            &b"payload!pay"[..]
        )
    );
    let too_long = packet([0, 0, 0, 0, 0, 0, 15, 17]);
    assert_eq!(
        cipher.open_verified(&too_long, None, 64, &mut out),
        Err(OpenError::Padding)
    );
    let all_padding = [vec![0; 8], (1..=14).collect(), vec![14, 59]].concat();
    assert_eq!(
        cipher.open(&all_padding, None, 64, &mut out).unwrap().payload_len,
        0
    );
}

#[test]
fn the_longest_padding_of_a_block_cipher_is_read() {
    // 3 bytes of payload, 255 of padding, 2 of trailer: 260 bytes, NULL encryption.
    let cipher = EspCipher::new(Encryption::Null, &[], Integrity::None, &[]).unwrap();
    let packet = [vec![0; 8], b"abc".to_vec(), (1..=255).collect(), vec![255, 4]].concat();
    let (opened, payload) = opened(&cipher, &packet);
    assert_eq!(
        (opened.payload_len, opened.pad_len, payload.as_slice()),
        (3, 255, &b"abc"[..])
    );
}

#[test]
fn keys_of_wrong_length_are_named() {
    let error = EspCipher::new(Encryption::AesGcm { icv: 16 }, &[0; 16], Integrity::None, &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "encryption key of 16 bytes: AES-GCM takes 20, 28 or 36 (the last 4 are the salt); ICV 8, 12 or 16"
    );
    let error = EspCipher::new(Encryption::Null, &[], Integrity::HmacSha1_96, &[0; 16]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "integrity key of 16 bytes: HMAC-SHA1-96 takes 20"
    );
    assert!(EspCipher::new(Encryption::AesGcm { icv: 9 }, &[0; 20], Integrity::None, &[]).is_err());
    assert!(EspCipher::new(Encryption::Null, &[1], Integrity::None, &[]).is_err());
}

#[test]
fn debug_shows_no_key() {
    let cipher = EspCipher::new(
        Encryption::AesCbc,
        &[0xab; 16],
        Integrity::HmacSha1_96,
        &[0xcd; 20],
    )
    .unwrap();
    assert_eq!(format!("{cipher:?}"), "EspCipher(…)");
}

proptest! {
    #[test]
    fn hostile_packets(row in 0usize..282, packet in proptest::collection::vec(any::<u8>(), 0..400), prefix in 0usize..300) {
        let rows = sealed_by_openssl();
        let mut out = Vec::new();
        let cipher = &rows[row].cipher;
        let _ = cipher.verify(&packet, Some(1));
        for opened in [cipher.open(&packet, None, prefix, &mut out), cipher.open_verified(&packet, Some(1), prefix, &mut out)].into_iter().flatten() {
            prop_assert!(opened.payload_len as usize + usize::from(opened.pad_len) + 2 <= packet.len());
            prop_assert!(out.len() <= prefix);
        }
    }
}

/// CPU time of this thread, nanoseconds: other load on the machine does not count. The kernel counts in ticks of some
/// milliseconds.
fn thread_nanos() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse().unwrap()
}

/// Repeats `work` for half a second of CPU time, a hundred ticks, and says how many nanoseconds it really was.
pub(super) fn thread_nanos_of(mut work: impl FnMut()) -> u64 {
    let start = thread_nanos();
    loop {
        work();
        let nanos = thread_nanos() - start;
        if nanos > 500_000_000 {
            return nanos;
        }
    }
}

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

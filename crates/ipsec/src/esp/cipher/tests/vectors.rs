//! Packets of the RFCs.

use super::*;

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

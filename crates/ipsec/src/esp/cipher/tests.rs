//! Whole ESP packets: from RFCs, and from `testdata/esp_packets.csv`, which OpenSSL sealed.

mod rate;
mod vectors;

use super::*;
use hex_literal::hex;
use proptest::prelude::*;
use rekeyscope_model::algorithm::{Encryption, Integrity};

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
                .open(&row.packet, row.esn_high, Icv::Verified, prefix, &mut out)
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
                    row.cipher
                        .open(&row.packet, row.esn_high, Icv::Unchecked, prefix, &mut out),
                    Some(opened),
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
            let _ = row
                .cipher
                .open(&row.packet[..cut], None, Icv::Unchecked, 64, &mut out);
            let _ = row
                .cipher
                .open(&row.packet[..cut], None, Icv::Verified, 64, &mut out);
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
        opened += usize::from(
            wrong
                .open(&row.packet, None, Icv::Unchecked, 64, &mut out)
                .is_some(),
        );
    }
    assert_eq!((opened, tried), (0, 12));
}

fn opened(cipher: &EspCipher, packet: &[u8]) -> (Opened, Vec<u8>) {
    let mut out = Vec::new();
    let opened = cipher.open(packet, None, Icv::Unchecked, 1500, &mut out).unwrap();
    (opened, out)
}

#[test]
fn padding_of_any_content_opens_when_the_caller_has_verified() {
    let cipher = EspCipher::new(Encryption::Null, &[], Integrity::None, &[]).unwrap();
    let packet = |tail: [u8; 8]| [[0; 8], *b"payload!", tail].concat();
    let mut out = Vec::new();
    let odd = packet([b'p', b'a', b'y', 9, 9, 9, 3, 17]);
    assert_eq!(cipher.open(&odd, None, Icv::Unchecked, 64, &mut out), None);
    let opened = cipher.open(&odd, None, Icv::Verified, 64, &mut out).unwrap();
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
    assert_eq!(cipher.open(&too_long, None, Icv::Verified, 64, &mut out), None);
    let all_padding = [vec![0; 8], (1..=14).collect(), vec![14, 59]].concat();
    assert_eq!(
        cipher
            .open(&all_padding, None, Icv::Unchecked, 64, &mut out)
            .unwrap()
            .payload_len,
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
fn keys_of_wrong_length_are_refused() {
    let gcm =
        |icv: u8, len: usize| EspCipher::new(Encryption::AesGcm { icv }, &vec![0; len], Integrity::None, &[]);
    // The last four are the salt.
    assert!(gcm(16, 16).is_none() && gcm(16, 20).is_some());
    assert!(EspCipher::new(Encryption::Null, &[], Integrity::AesCmac96, &[0; 20]).is_none());
    // HMAC takes keys of any length.
    assert!(EspCipher::new(Encryption::Null, &[], Integrity::HmacSha1_96, &[]).is_none());
    assert!(EspCipher::new(Encryption::Null, &[], Integrity::HmacSha1_96, &[0; 16]).is_some());
    assert!(gcm(9, 20).is_none());
    assert!(EspCipher::new(Encryption::Null, &[1], Integrity::None, &[]).is_none());
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
        for opened in [cipher.open(&packet, None, Icv::Unchecked, prefix, &mut out), cipher.open(&packet, Some(1), Icv::Verified, prefix, &mut out)].into_iter().flatten() {
            prop_assert!(opened.payload_len as usize + usize::from(opened.pad_len) + 2 <= packet.len());
            prop_assert!(out.len() <= prefix);
        }
    }
}

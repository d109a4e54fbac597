//! The same packets through tshark, where it is installed and knows the transform: ICV, padding, next header and payload
//! must agree. It runs in a configuration folder of its own.

use crate::esp::cipher::{EspCipher, Icv};
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_testkit::containers::{LINKTYPE_RAW, pcap_of};
use rekeyscope_testkit::headers::ipv4;
use std::fmt::Write as _;
use std::process::Command;

/// A packet of `esp_packets.csv` that tshark can decrypt, addressed to 10.1.`row`.
struct Case {
    packet: Vec<u8>,
    esp_sa_row: String,
    cipher: EspCipher,
    name: String,
}

/// What tshark and this library both say about a packet.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    icv_verified: bool,
    pad_len: String,
    next_header: String,
    payload: String,
}

fn hex(text: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    text.as_bytes().chunks(2).map(byte).collect()
}

fn address(row: usize) -> [u8; 4] {
    [10, 1, (row / 250) as u8, (row % 250 + 1) as u8]
}

fn wireshark_encryption(name: &str, icv: &str) -> Option<(Encryption, String)> {
    Some(match name {
        "Null" => (Encryption::Null, "NULL".into()),
        "AesCbc" => (Encryption::AesCbc, "AES-CBC [RFC3602]".into()),
        "TripleDesCbc" => (Encryption::TripleDesCbc, "TripleDES-CBC [RFC2451]".into()),
        "DesCbc" => (Encryption::DesCbc, "DES-CBC [RFC2405]".into()),
        "AesCtr" => (Encryption::AesCtr, "AES-CTR [RFC3686]".into()),
        "AesGcm" => {
            let icv: u8 = icv.parse().unwrap();
            (
                Encryption::AesGcm { icv },
                format!("AES-GCM with {icv} octet ICV [RFC4106]"),
            )
        }
        _ => return None,
    })
}

fn wireshark_integrity(name: &str) -> Option<(Integrity, &'static str)> {
    Some(match name {
        "None" => (Integrity::None, "NULL"),
        "HmacMd5_96" => (Integrity::HmacMd5_96, "HMAC-MD5-96 [RFC2403]"),
        "HmacSha1_96" => (Integrity::HmacSha1_96, "HMAC-SHA-1-96 [RFC2404]"),
        "HmacSha256_96" => (
            Integrity::HmacSha256_96,
            "HMAC-SHA-256-96 [draft-ietf-ipsec-ciph-sha-256-00]",
        ),
        "HmacSha256_128" => (Integrity::HmacSha256_128, "HMAC-SHA-256-128 [RFC4868]"),
        "HmacSha384_192" => (Integrity::HmacSha384_192, "HMAC-SHA-384-192 [RFC4868]"),
        "HmacSha512_256" => (Integrity::HmacSha512_256, "HMAC-SHA-512-256 [RFC4868]"),
        _ => return None,
    })
}

/// Rows with 32-bit sequence numbers, an explicit IV and some payload: version 4.0 of tshark knows no others, and shows no
/// trailer where there is no payload.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for line in include_str!("testdata/esp_packets.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let explicit = cells[5].is_empty() && cells[6] == "0" && cells[7] != "0";
        let (Some((encryption, shark_encryption)), Some((integrity, shark_integrity)), true) = (
            wireshark_encryption(cells[0], cells[1]),
            wireshark_integrity(cells[3]),
            explicit,
        ) else {
            continue;
        };
        let dst = std::net::Ipv4Addr::from(address(cases.len()));
        let key = |hex: &str| {
            if hex.is_empty() {
                String::new()
            } else {
                format!("0x{hex}")
            }
        };
        cases.push(Case {
            packet: hex(cells[8]),
            esp_sa_row: format!(
                "\"IPv4\",\"10.1.255.255\",\"{dst}\",\"0xc0ffee01\",\"{shark_encryption}\",\"{}\",\"{shark_integrity}\",\"{}\"\n",
                key(cells[2]),
                key(cells[4])
            ),
            cipher: EspCipher::new(encryption, &hex(cells[2]), integrity, &hex(cells[4])).unwrap(),
            name: cells[..8].join(","),
        });
    }
    cases
}

fn seen_by_tshark(cases: &[Case]) -> Option<Vec<Seen>> {
    let folder = tempfile::tempdir().unwrap();
    let pcap = folder.path().join("esp.pcap");
    let frame = |(row, case): (usize, &Case)| ipv4([10, 1, 255, 255], address(row), 50, &case.packet);
    let frames: Vec<Vec<u8>> = cases.iter().enumerate().map(frame).collect();
    std::fs::write(&pcap, pcap_of(LINKTYPE_RAW, &frames)).unwrap();
    std::fs::write(
        folder.path().join("esp_sa"),
        cases
            .iter()
            .map(|case| case.esp_sa_row.as_str())
            .collect::<String>(),
    )
    .unwrap();
    let output = Command::new("tshark")
        .env("WIRESHARK_CONFIG_DIR", folder.path())
        .args([
            "-o",
            "esp.enable_encryption_decode:TRUE",
            "-o",
            "esp.enable_authentication_check:TRUE",
        ])
        .args(["-T", "fields", "-E", "separator=,", "-E", "occurrence=f"])
        .args([
            "-e",
            "esp.icv_good",
            "-e",
            "esp.pad_len",
            "-e",
            "esp.protocol",
            "-e",
            "esp.contained_data",
            "-r",
        ])
        .arg(&pcap)
        .output()
        .ok()?;
    let seen = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        Seen {
            icv_verified: cells[0] == "1",
            pad_len: cells[1].to_owned(),
            // Shown in hex.
            next_header: cells[2].to_owned(),
            payload: cells[3].to_owned(),
        }
    };
    Some(
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(seen)
            .collect(),
    )
}

fn seen_here(case: &Case) -> Seen {
    let mut payload = Vec::new();
    let opened = case
        .cipher
        .open(&case.packet, None, Icv::Unchecked, usize::MAX, &mut payload)
        .unwrap();
    Seen {
        icv_verified: case.cipher.verify(&case.packet, None) == Icv::Verified,
        pad_len: opened.pad_len.to_string(),
        next_header: format!("0x{:02x}", opened.next_header),
        payload: payload.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
    }
}

#[test]
fn tshark_agrees() {
    let cases = cases();
    assert_eq!(cases.len(), 48);
    let Some(seen) = seen_by_tshark(&cases) else {
        println!("skipped: tshark is not installed");
        return;
    };
    assert_eq!(seen.len(), cases.len());
    for (case, seen) in cases.iter().zip(seen) {
        assert_eq!(seen_here(case), seen, "{}", case.name);
    }
}

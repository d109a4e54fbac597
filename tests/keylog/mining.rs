//! Mining against real packets: the keys are found among unlabelled bytes, and noise gives none.

use aes::Aes128;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use hmac::{Hmac, KeyInit, Mac};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rekeyscope_keylog::reading::mine::{KeyCandidate, KeyShape, Oracle, mine};
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::spi::Spi;
use rekeyscope_testkit::containers::{Packet, read_pcap};
use std::collections::BTreeMap;
use std::path::Path;

/// Packets that are looked at per SA; the shortest ones of the first [`LOOKED_AT`].
const PACKETS: usize = 4;
const LOOKED_AT: usize = 400;
const ICV: usize = 12;
const ESP_HEADER: usize = 8;
const AES_BLOCK: usize = 16;

/// ESP packets of one SA, whole.
struct Packets(Vec<Vec<u8>>);

impl Oracle for Packets {
    fn icv_fits(&mut self, candidate: &KeyCandidate<'_>) -> bool {
        candidate.integrity == Integrity::HmacSha1_96
            && self.0.iter().all(|packet| {
                let (covered, icv) = packet.split_at(packet.len() - ICV);
                let mut mac = Hmac::<sha1::Sha1>::new_from_slice(candidate.integrity_key).unwrap();
                mac.update(covered);
                mac.finalize().into_bytes()[..ICV] == *icv
            })
    }

    fn weigh(&mut self, candidate: &KeyCandidate<'_>) -> f64 {
        let opens = candidate.encryption == Encryption::AesCbc
            && candidate.encryption_key.len() == AES_BLOCK
            && self
                .0
                .iter()
                .all(|packet| padding_fits(packet, candidate.encryption_key));
        if opens { 60.0 } else { -9.0 }
    }
}

/// RFC 4303 §2.4: padding counts 1, 2, 3, …; the next header here is UDP.
fn padding_fits(packet: &[u8], key: &[u8]) -> bool {
    let body = &packet[ESP_HEADER..packet.len() - ICV];
    let mut block: [u8; AES_BLOCK] = body[body.len() - AES_BLOCK..].try_into().unwrap();
    let iv: [u8; AES_BLOCK] = body[body.len() - 2 * AES_BLOCK..body.len() - AES_BLOCK]
        .try_into()
        .unwrap();
    let mut cipher = cbc::Decryptor::<Aes128>::new_from_slices(key, &iv).unwrap();
    cipher.decrypt_block((&mut block).into());
    let pad = usize::from(block[14]);
    block[15] == 17
        && pad <= 14
        && block[14 - pad..14]
            .iter()
            .enumerate()
            .all(|(i, b)| usize::from(*b) == i + 1)
}

/// A few short ESP packets per SPI of a lab capture (pcap, nanoseconds, little-endian, Ethernet, IPv4).
fn packets(trace: &Path) -> BTreeMap<u32, Packets> {
    let mut by_spi: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
    for Packet { data: frame, .. } in read_pcap(trace) {
        if frame.get(12..14) != Some(&[8, 0]) || frame[23] != 50 {
            continue;
        }
        let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
        let esp = &frame[14 + 4 * usize::from(frame[14] & 15)..14 + total];
        let of_spi = by_spi
            .entry(u32::from_be_bytes(esp[..4].try_into().unwrap()))
            .or_default();
        if of_spi.len() < LOOKED_AT {
            of_spi.push(esp.to_vec());
        }
    }
    by_spi
        .into_iter()
        .map(|(spi, mut packets)| {
            packets.sort_by_key(Vec::len);
            packets.truncate(PACKETS);
            (spi, Packets(packets))
        })
        .collect()
}

fn main_capture() -> Option<BTreeMap<u32, Packets>> {
    let captures = rekeyscope_testkit::lab::captures();
    let folder = captures
        .iter()
        .find(|path| path.ends_with("l2tp_kb_modp1024_down"))?;
    Some(packets(&folder.join("trace.pcap")))
}

fn log(name: &str) -> Vec<u8> {
    std::fs::read(super::corpus().iter().find(|path| path.ends_with(name)).unwrap()).unwrap()
}

#[test]
fn keys_are_found_without_labels() {
    let Some(mut packets) = main_capture() else { return };
    let material = super::read(&log("nvr_hex_without_labels.log"));
    assert!(material.esp.is_empty());
    let truth = super::read(&log("nvr_console.log"));
    assert_eq!(truth.esp.len(), 4);
    for sa in &truth.esp {
        let spi = sa.spi.unwrap();
        let mined = mine(
            &material,
            spi,
            &KeyShape::default(),
            packets.get_mut(&spi.0).unwrap(),
        );
        let key = mined.key.unwrap();
        assert_eq!(key.encryption_key, sa.encryption_key);
        assert_eq!(key.integrity_key, sa.integrity_key);
    }
}

#[test]
fn noise_gives_no_key() {
    let Some(mut packets) = main_capture() else { return };
    let (spi, oracle) = packets.iter_mut().next().unwrap();
    let bytes = prop::collection::vec(any::<u8>(), 16..400);
    let mut runner = TestRunner::deterministic();
    let mut trials = 0;
    for _ in 0..10_000 {
        let noise: Vec<String> = bytes
            .new_tree(&mut runner)
            .unwrap()
            .current()
            .chunks(16)
            .map(|row| row.iter().map(|b| format!("{b:02x} ")).collect())
            .collect();
        let material = super::read(noise.join("\n").as_bytes());
        let mined = mine(&material, Spi(*spi), &KeyShape::default(), oracle);
        assert!(mined.key.is_none() && !mined.gave_up);
        trials += mined.trials;
    }
    assert!(
        trials > 10_000_000,
        "only {trials} windows: the noise was not read as bytes"
    );
}

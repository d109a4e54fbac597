//! A short deterministic run of what the fuzz targets (`fuzz/`) do for hours: real packets and key logs, a few bytes changed,
//! through every door. Nothing may panic, and no run may take long.

#[path = "../fuzz/entry.rs"]
mod entry;

use crate::support::lab_of_sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rekeyscope_testkit::containers::read_pcap;

/// Mutants per door: about a second each in an unoptimised build.
const MUTANTS: usize = 4_000;
/// Frames whose mutants are tried.
const FRAMES: usize = 400;

/// Up to eight changes: a bit, a byte, a run of equal bytes, a cut.
fn mutate(rng: &mut ChaCha8Rng, original: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..rng.random_range(1..=8) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..4) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes[at] = rng.random(),
            2 => {
                let (end, value) = (bytes.len().min(at + 8), [0, 0xff, 0x7f][rng.random_range(0..3)]);
                bytes[at..end].fill(value);
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}

fn mutants<'a>(seed: u64, originals: &'a [Vec<u8>]) -> impl Iterator<Item = Vec<u8>> + 'a {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..MUTANTS).map(move |k| mutate(&mut rng, &originals[k % originals.len()]))
}

fn frames() -> Vec<Vec<u8>> {
    let packets = read_pcap(&lab_of_sample("l2tp_kb_modp1024_down").capture);
    packets.into_iter().take(FRAMES).map(|p| p.data).collect()
}

#[test]
fn frames_of_every_link_type() {
    let links: [u16; 8] = [1, 0, 9, 101, 105, 113, 127, 276];
    for (k, mutant) in mutants(1, &frames()).enumerate() {
        entry::framing(&[&links[k % links.len()].to_le_bytes()[..], &mutant].concat());
    }
}

#[test]
fn ike_messages() {
    // Ethernet, IPv4 and UDP are 42 bytes.
    let messages: Vec<Vec<u8>> = read_pcap(&lab_of_sample("l2tp_kb_modp1024_down").capture)
        .iter()
        .filter(|p| p.is_ike())
        .map(|p| p.data[42..].to_vec())
        .collect();
    assert!(messages.len() > 10);
    mutants(2, &messages).for_each(|mutant| entry::ike(&mutant));
}

/// Decrypted payloads look like the frames' own IP packets.
#[test]
fn inner_packets() {
    let headers = [4u8, 6, 17, 41, 47, 50, 51, 97, 108, 115];
    let packets: Vec<Vec<u8>> = frames().iter().map(|f| f[14..].to_vec()).collect();
    for (k, mutant) in mutants(3, &packets).enumerate() {
        entry::inner(&[&[headers[k % headers.len()]][..], &mutant].concat());
    }
}

#[test]
fn key_logs() {
    let lab = lab_of_sample("l2tp_kb_modp1024_down");
    let logs: Vec<Vec<u8>> = lab
        .keys
        .iter()
        .map(|k| std::fs::read(k).unwrap())
        .map(|mut log| {
            log.truncate(4_000);
            log
        })
        .collect();
    mutants(4, &logs)
        .step_by(4)
        .for_each(|mutant| entry::key_log(&mutant));
}

#[test]
fn captures_from_the_first_byte_to_the_document() {
    let mut capture = std::fs::read(lab_of_sample("l2tp_kb_modp1024_down").capture).unwrap();
    capture.truncate(60_000);
    mutants(5, &[capture])
        .step_by(100)
        .for_each(|mutant| entry::capture(&mutant));
}

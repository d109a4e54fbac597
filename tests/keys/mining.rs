//! Keys without labels are found, and noise never becomes a key.

use super::*;
use crate::support::repository;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rekeyscope::write::key_ring::KeyProof;
use rekeyscope_keylog::reading::mine::MOST_TRIALS_PER_SPI;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Cursor;

const SAMPLE: &str = "samples/l2tp_kb_modp1024_down";

/// The constructed router log without phase 1 and with `label` instead of every label of a key: what is left is SPIs and
/// bytes.
fn with_label(label: &str) -> String {
    let log = std::fs::read_to_string(repository().join(format!("{SAMPLE}.keylog"))).unwrap();
    let mut in_phase_1 = false;
    let mut out = String::new();
    for line in log.lines().filter(|line| !line.starts_with('#')) {
        let goes_on = line.contains("[IKE]   ");
        in_phase_1 = line.contains("SKEYID") || (in_phase_1 && goes_on);
        if !in_phase_1 {
            let line = line
                .replace("encryption key:", label)
                .replace("authentication key:", label);
            out += &(line + "\n");
        }
    }
    assert!(!out.contains(" key") && !out.contains("SKEYID"));
    out
}

#[test]
fn keys_without_labels_are_mined() {
    let capture = repository().join(format!("{SAMPLE}.pcap"));
    for label in ["", "value:", "(some other word)"] {
        let (analysis, ring) = open_with(&capture, with_label(label).as_bytes());
        assert_complete(&format!("label '{label}'"), &analysis, 16);
        assert!(
            used(&analysis).iter().all(|sa| road(sa) == "mined"),
            "{:?}",
            used(&analysis)
        );
        assert!(ring.mining.trials > 0 && !ring.mining.gave_up);
        // Two searches per SA at most, each with its own bound.
        assert!(ring.mining.trials <= 16 * 2 * MOST_TRIALS_PER_SPI);
    }
}

/// The first packets of a few SAs and the first IKE messages of a capture, as a capture of their own.
fn excerpt() -> Vec<u8> {
    const HEADER: usize = 24;
    const RECORD: usize = 16;
    let bytes = std::fs::read(repository().join(format!("{SAMPLE}.pcap"))).unwrap();
    let mut out = bytes[..HEADER].to_vec();
    let mut seen: BTreeMap<[u8; 4], u32> = BTreeMap::new();
    let (mut at, mut ike) = (HEADER, 0);
    while at + RECORD <= bytes.len() {
        let len = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        let frame = &bytes[at + RECORD..at + RECORD + len];
        // Ethernet, IPv4 without options: protocol, then SPI or ports.
        let keep = match (frame.get(12..14), frame.get(23), frame.get(34..38)) {
            (Some([8, 0]), Some(50), Some(spi)) => {
                let key: [u8; 4] = spi.try_into().unwrap();
                let wanted = seen.len() < 4 || seen.contains_key(&key);
                wanted && {
                    let n = seen.entry(key).or_insert(0);
                    *n += 1;
                    *n <= 2
                }
            }
            (Some([8, 0]), Some(17), Some([1, 0xf4, 1, 0xf4])) => {
                ike += 1;
                ike <= 20
            }
            _ => false,
        };
        if keep {
            out.extend_from_slice(&bytes[at..at + RECORD + len]);
        }
        at += RECORD + len;
    }
    assert!(seen.len() == 4 && ike >= 6, "an excerpt with packets to decrypt");
    out
}

/// A log of noise with the labels and SPIs of a real one.
fn noise(rng: &mut ChaCha8Rng, spis: &[String], cookie: &str) -> String {
    const LABELS: [&str; 8] = [
        "",
        "SKEYID_d:",
        "SKEYID_e:",
        "encryption key:",
        "authentication key:",
        "KEYMAT:",
        "Key:",
        "dump",
    ];
    let mut log = String::new();
    for _ in 0..rng.random_range(1..=10) {
        match rng.random_range(0..4) {
            0 => writeln!(
                log,
                "2026/11/20 20:11:53: [IKE] SPI: {}",
                spis[rng.random_range(0..spis.len())]
            )
            .unwrap(),
            1 => writeln!(log, "2026/11/20 20:11:53: [IKE]   {cookie}").unwrap(),
            _ => {
                let mut bytes = vec![0; rng.random_range(8..=48)];
                rng.fill_bytes(&mut bytes);
                let label = LABELS[rng.random_range(0..LABELS.len())];
                let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
                writeln!(log, "2026/11/20 20:11:53: [IKE] {label} {}", hex.join(" ")).unwrap();
            }
        }
    }
    log
}

/// How many keys of any kind `logs` logs of noise gave, and how many trials were made.
fn keys_from_noise(logs: u64) -> (usize, u64) {
    let excerpt = excerpt();
    let read = |log: &str| {
        let mut reader =
            CaptureReader::from_stream(Box::new(Cursor::new(excerpt.clone())), "excerpt").unwrap();
        analyze(&mut reader, log.as_bytes(), None)
    };
    let (analysis, _) = read("");
    let spis: Vec<String> = used(&analysis)
        .iter()
        .map(|sa| sa.spi.to_string()[2..].to_owned())
        .collect();
    let sa = &analysis.ike_sas[0];
    let cookie = format!("{} {}", sa.initiator_spi, sa.responder_spi.unwrap());
    let (mut keys, mut trials) = (0, 0);
    for seed in 0..logs {
        let (analysis, ring) = read(&noise(&mut ChaCha8Rng::seed_from_u64(seed), &spis, &cookie));
        let verified = used(&analysis)
            .iter()
            .filter(|sa| sa.key.status == KeyStatus::Verified)
            .count();
        let proven = ring
            .esp
            .iter()
            .filter(|key| key.proof == KeyProof::Proven)
            .count();
        keys += verified + proven + ring.ike.len();
        trials += ring.mining.trials;
    }
    (keys, trials)
}

#[test]
fn noise_gives_no_key() {
    let (keys, trials) = keys_from_noise(300);
    assert_eq!(keys, 0);
    assert!(trials > 30_000, "the noise was tried: {trials} trials");
}

/// The same with the key among the noise: the test above can fail.
#[test]
fn a_key_among_noise_is_found() {
    let real = with_label("value:");
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let log =
        noise(&mut rng, &["00000001".into()], "00") + &real + &noise(&mut rng, &["00000002".into()], "00");
    let mut reader = CaptureReader::from_stream(Box::new(Cursor::new(excerpt())), "excerpt").unwrap();
    let (analysis, _) = analyze(&mut reader, log.as_bytes(), None);
    assert_eq!(count(&used(&analysis), KeyStatus::Verified), 4);
}

/// `cargo test --release --test tests ten_thousand -- --ignored --nocapture`
#[test]
#[ignore = "half a minute"]
fn ten_thousand_logs_of_noise_give_no_key() {
    let (keys, trials) = keys_from_noise(10_000);
    println!("10,000 logs, {trials} trials, {keys} keys");
    assert_eq!(keys, 0);
}

//! Logs in which keys are missing, masked, damaged, cut, swapped or of another run, among any amount of noise: every key that is believed
//! is the kernel's own, byte by byte, and those that are there are found. The logs are **synthetic**, the packets and keys real.

use super::*;
use crate::support::repository;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rekeyscope::write::key_ring::KeyProof;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Cursor;

const SAMPLE: &str = "l2tp_kb_modp1024_down";
const OTHER_RUN: &str = "l2tp_time_down";
/// SAs of the excerpt, and packets of each.
const SAS: usize = 4;
const PACKETS: usize = 3;

/// What the kernel had.
#[derive(Clone, PartialEq, Debug)]
struct Kernel {
    spi: String,
    encryption: String,
    integrity: String,
}

fn kernel(name: &str) -> Vec<Kernel> {
    let path = repository().join(format!("samples/{name}.truth.json"));
    let truth: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let hex = |value: &Value| value.as_str().unwrap().trim_start_matches("0x").to_owned();
    let sas = truth["sas"].as_array().unwrap().iter();
    sas.map(|sa| Kernel {
        spi: hex(&sa["spi"]),
        encryption: hex(&sa["enc_key"]),
        integrity: hex(&sa["auth_key"]),
    })
    .collect()
}

/// How one SA's keys stand in a log.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Shape {
    Whole,
    Unlabelled,
    Masked,
    Damaged,
    Cut,
    Swapped,
    OfAnotherRun,
    IntegrityAmongNoise,
    Gone,
}

const SHAPES: [Shape; 9] = [
    Shape::Whole,
    Shape::Unlabelled,
    Shape::Masked,
    Shape::Damaged,
    Shape::Cut,
    Shape::Swapped,
    Shape::OfAnotherRun,
    Shape::IntegrityAmongNoise,
    Shape::Gone,
];

fn spaced(hex: &str) -> String {
    let bytes: Vec<&str> = (0..hex.len() / 2).map(|i| &hex[2 * i..2 * i + 2]).collect();
    bytes.join(" ")
}

fn noise(rng: &mut ChaCha8Rng, lines: usize) -> String {
    let line = |rng: &mut ChaCha8Rng| {
        let mut bytes = [0; 32];
        rng.fill_bytes(&mut bytes);
        format!(
            "2026/11/20 20:11:54: [IKE] dump {}\n",
            bytes.map(|b| format!("{b:02x}")).join(" ")
        )
    };
    (0..lines).map(|_| line(rng)).collect()
}

/// One nibble is another.
fn damaged(rng: &mut ChaCha8Rng, hex: &str) -> String {
    let at = rng.random_range(0..hex.len());
    let digit = u8::from_str_radix(&hex[at..=at], 16).unwrap() ^ rng.random_range(1..16);
    format!("{}{digit:x}{}", &hex[..at], &hex[at + 1..])
}

fn lines(rng: &mut ChaCha8Rng, shape: Shape, sa: &Kernel, other: &Kernel) -> String {
    let head = "2026/11/20 20:11:53: [IKE] GW:1/SA:2/IPSEC";
    let spi = format!("{head} receive SPI: {}\n", spaced(&sa.spi));
    let keys = |encryption: &str, integrity: &str| {
        format!("{head} encryption key: {encryption}\n{head} authentication key: {integrity}\n")
    };
    let (encryption, integrity) = (spaced(&sa.encryption), spaced(&sa.integrity));
    let body = match shape {
        Shape::Whole => keys(&encryption, &integrity),
        Shape::Unlabelled => format!("{head} a: {encryption}\n{head} b: {integrity}\n"),
        Shape::Masked => keys("** ** ** ** ** (confidential) ** **", &integrity),
        Shape::Damaged => keys(&spaced(&damaged(rng, &sa.encryption)), &integrity),
        Shape::Cut => keys(&spaced(&sa.encryption[..2 * rng.random_range(8..16)]), &integrity),
        Shape::Swapped => keys(&integrity, &encryption),
        Shape::OfAnotherRun => keys(&spaced(&other.encryption), &spaced(&other.integrity)),
        Shape::IntegrityAmongNoise => format!("{head} b: {integrity}\n{}", noise(rng, 20)),
        Shape::Gone => String::new(),
    };
    spi + &body
}

/// The first packets of the first SAs and no IKE: what is derived is not the question here.
fn excerpt(sas: usize, most_packets: usize) -> Vec<u8> {
    const HEADER: usize = 24;
    const RECORD: usize = 16;
    let bytes = std::fs::read(repository().join(format!("samples/{SAMPLE}.pcap"))).unwrap();
    let mut out = bytes[..HEADER].to_vec();
    let mut seen: BTreeMap<[u8; 4], usize> = BTreeMap::new();
    let mut at = HEADER;
    while at + RECORD <= bytes.len() {
        let len = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        let frame = &bytes[at + RECORD..at + RECORD + len];
        if let (Some([8, 0]), Some(50), Some(spi)) = (frame.get(12..14), frame.get(23), frame.get(34..38)) {
            let spi: [u8; 4] = spi.try_into().unwrap();
            if seen.len() < sas || seen.contains_key(&spi) {
                let packets = seen.entry(spi).or_default();
                *packets += 1;
                if *packets <= most_packets {
                    out.extend_from_slice(&bytes[at..at + RECORD + len]);
                }
            }
        }
        at += RECORD + len;
    }
    assert_eq!(seen.len(), sas);
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// What became of the SAs of `logs` logs, by the shape of their keys: seen, believed; and keys that are not the kernel's.
fn believed(logs: u64) -> (BTreeMap<String, (u64, u64)>, u64) {
    let (excerpt, kernel, other) = (excerpt(SAS, PACKETS), kernel(SAMPLE), kernel(OTHER_RUN));
    let mut outcome: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut wrong = 0;
    for seed in 0..logs {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut shapes = BTreeMap::new();
        let mut log = String::new();
        for (i, sa) in kernel.iter().enumerate() {
            let shape = SHAPES[rng.random_range(0..SHAPES.len())];
            shapes.insert(sa.spi.clone(), shape);
            log += &lines(&mut rng, shape, sa, &other[i % other.len()]);
            let unrelated = rng.random_range(0..4);
            log += &noise(&mut rng, unrelated);
        }
        let mut reader =
            CaptureReader::from_stream(Box::new(Cursor::new(excerpt.clone())), "excerpt").unwrap();
        let (analysis, ring) = analyze(&mut reader, log.as_bytes(), None);
        for key in ring.esp.iter().filter(|key| key.proof == KeyProof::Proven) {
            let spi = format!("{:08x}", key.spi.0);
            let right = kernel.iter().find(|sa| sa.spi == spi).unwrap();
            let ours = (hex(key.encryption_key.expose()), hex(key.integrity_key.expose()));
            wrong += u64::from(ours != (right.encryption.clone(), right.integrity.clone()));
        }
        for sa in used(&analysis) {
            let verified = sa.key.status == KeyStatus::Verified;
            assert!(verified || sa.inner_bytes.is_none(), "seed {seed}: {sa:?}");
            let shape = shapes[&format!("{:08x}", sa.spi.0)];
            // Cut: also unverified, where the integrity key beside it fits.
            assert!(
                shape != Shape::Cut || sa.key.status != KeyStatus::Missing,
                "seed {seed}: {sa:?}"
            );
            let entry = outcome.entry(format!("{shape:?}")).or_default();
            entry.0 += 1;
            entry.1 += u64::from(verified);
        }
    }
    (outcome, wrong)
}

fn assert_right(logs: u64) {
    let (outcome, wrong) = believed(logs);
    println!("{logs} logs: {wrong} wrong keys; by shape, SAs and those verified: {outcome:?}");
    assert_eq!(wrong, 0);
    assert_eq!(outcome.len(), SHAPES.len());
    for (shape, (seen, verified)) in outcome {
        assert!(seen >= 10, "{shape}: {seen}");
        // A log of unlabelled bytes may hold a swapped or a cut key whole.
        match shape.as_str() {
            "Whole" | "Unlabelled" => assert_eq!(verified, seen, "{shape}"),
            "Swapped" => {}
            _ => assert_eq!(verified, 0, "{shape}"),
        }
    }
}

#[test]
fn every_key_that_is_believed_is_the_kernels() {
    assert_right(40);
}

/// `cargo test --release --test tests ten_thousand_damaged -- --ignored --nocapture`
#[test]
#[ignore = "minutes"]
fn ten_thousand_damaged_logs_give_no_wrong_key() {
    assert_right(10_000);
}

/// The right integrity keys of four SAs of six, and a thousand lines of hex that hold no encryption key.
#[test]
fn an_integrity_key_among_a_thousand_lines_opens_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(1_000);
    let capture = excerpt(SAS + 2, usize::MAX);
    let integrity: String = kernel(SAMPLE)
        .iter()
        .take(SAS)
        .map(|sa| format!("SPI: {}\nb: {}\n", spaced(&sa.spi), spaced(&sa.integrity)))
        .collect();
    let mut reader = CaptureReader::from_stream(Box::new(Cursor::new(capture)), "excerpt").unwrap();
    let log = integrity + &noise(&mut rng, 1_000);
    let (analysis, ring) = analyze(&mut reader, log.as_bytes(), None);
    let used = used(&analysis);
    let (half, none): (Vec<&SecurityAssociation>, Vec<_>) = used.iter().partition(|sa| sa.icv.verified > 0);
    assert_eq!((half.len(), used.len()), (SAS, SAS + 2), "{used:?}");
    assert!(half.iter().all(|sa| sa.key.status == KeyStatus::Unverified));
    assert!(none.iter().all(|sa| sa.key.status == KeyStatus::Missing));
    assert!(used.iter().all(|sa| sa.inner_bytes.is_none()));
    assert!(analysis.flows.is_empty() && ring.esp.is_empty());
    let said = |kind: &str| analysis.diagnostics.iter().any(|d| d.kind == kind);
    assert!(said("half_a_key"), "{:?}", analysis.diagnostics);
}

/// Two rows for each SPI, of which one is right: the SAs are verified, and the other rows are named.
#[test]
fn a_wrong_row_beside_the_right_one_is_named() {
    let capture = repository().join(format!("samples/{SAMPLE}.pcap"));
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let row = |sa: &Kernel, encryption: &str| {
        format!(
            "\"IPv4\",\"*\",\"*\",\"0x{}\",\"AES-CBC [RFC3602]\",\"0x{encryption}\",\"HMAC-SHA-1-96 [RFC2404]\",\"0x{}\"\n",
            sa.spi, sa.integrity
        )
    };
    let sas = kernel(SAMPLE);
    let log: String = sas
        .iter()
        .map(|sa| row(sa, &damaged(&mut rng, &sa.encryption)) + &row(sa, &sa.encryption))
        .collect();
    let (analysis, _) = open_with(&capture, log.as_bytes());
    assert_complete("a wrong row beside", &analysis, 16);
    let wrong = analysis
        .diagnostics
        .iter()
        .find(|d| d.kind == "wrong_key")
        .unwrap();
    assert_eq!(wrong.count, sas.len() as u64);
    assert!(wrong.sentence.contains("log:1"), "{}", wrong.sentence);
}

/// The keys of every capture of the lab (without it, of the samples) without any label but the SPI: all SAs are found, and every
/// key is the kernel's.
#[test]
fn keys_without_labels_are_the_kernels_in_every_capture() {
    for lab in crate::support::labs() {
        let sas = lab.truth["sas"].as_array().unwrap();
        let hex_of = |sa: &Value, name: &str| {
            let text = sa[name].as_str().unwrap_or_default();
            text.trim_start_matches("0x").to_owned()
        };
        let keys: BTreeMap<String, (String, String)> = sas
            .iter()
            .map(|sa| {
                let both = (hex_of(sa, "enc_key"), hex_of(sa, "auth_key"));
                (hex_of(sa, "spi"), both)
            })
            .collect();
        let log: String = keys
            .iter()
            .map(|(spi, (encryption, integrity))| {
                format!(
                    "SPI: {}\na {}\nb {}\n",
                    spaced(spi),
                    spaced(encryption),
                    spaced(integrity)
                )
            })
            .collect();
        let (analysis, ring) = open_with(&lab.capture, log.as_bytes());
        let used = used(&analysis);
        assert_eq!(
            count(&used, KeyStatus::Verified),
            used.len(),
            "{}: {used:?}",
            lab.name
        );
        assert_eq!(ring.esp.len(), used.len(), "{}", lab.name);
        for key in &ring.esp {
            let (encryption, integrity) = &keys[&format!("{:08x}", key.spi.0)];
            assert_eq!(key.proof, KeyProof::Proven);
            assert!(hex(key.encryption_key.expose()) == *encryption, "{}", lab.name);
            assert!(hex(key.integrity_key.expose()) == *integrity, "{}", lab.name);
        }
    }
}

//! Measures the table of [`crate::sa::evidence`]: how often noise shows each finding. The packets are real where the lab lies beside
//! the repository, and synthetic; what decrypts them are random keys.
//!
//! A check is asked of every random decryption, whatever the checks before it found: the bytes that it looks at are as random either
//! way, and 2 · 10⁷ answers come together instead of a few. What may not be exceeded is the upper end of the confidence interval (99.9 %, one-sided).

mod wrong;

use crate::esp::cipher::{EspCipher, Icv};
use crate::sa::evidence::{Question, Sign, TABLE};
use crate::sa::weigh::{Part, TUNNELS, protocol, trailer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_testkit::containers::read_pcap;
use rekeyscope_testkit::lab;
use std::path::{Path, PathBuf};

/// The six captures of the issue, and what their SAs use.
const CAPTURES: [&str; 6] = [
    "l2tp_kb_modp1024_down",
    "l2tp_kb_modp2048_natt_down",
    "l2tp_pfs4096_down",
    "l2tp_qm3drop_down",
    "l2tp_time_down",
    "ikev2_gcm_kb_down",
];
/// Packets of an SA that are looked at, as many as are kept.
const OF_EACH_SA: usize = super::docket::MOST_KEPT;
/// An SA's packets, from the SPI on, with how they are framed. Of AES-GCM the payload is decrypted as AES-CTR: no wrong key passes
/// its ICV, and what is measured is what comes out.
struct Sa {
    encryption: Encryption,
    icv: u8,
    packets: Vec<Vec<u8>>,
}

impl Sa {
    fn cipher(&self, key: &[u8; 20]) -> EspCipher {
        let len = if self.encryption == Encryption::AesCtr {
            20
        } else {
            16
        };
        EspCipher::new(
            self.encryption,
            &key[..len],
            Integrity::Unknown { icv: self.icv },
            &[],
        )
        .unwrap()
    }
}

fn traces() -> Vec<(&'static str, PathBuf)> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let found = CAPTURES.iter().filter_map(|name| {
        let real = lab::folder().map(|folder| folder.join(name).join("trace.pcap"));
        let sample = samples.join(format!("{name}.pcap"));
        real.or(Some(sample))
            .filter(|path| path.is_file())
            .map(|path| (*name, path))
    });
    found.collect()
}

/// All SAs of the captures, and a synthetic one with packets of every length.
fn sas() -> Vec<Sa> {
    let mut all = Vec::new();
    for (name, path) in traces() {
        let (encryption, icv) = match name {
            "ikev2_gcm_kb_down" => (Encryption::AesCtr, 16),
            _ => (Encryption::AesCbc, 12),
        };
        let mut by_spi: std::collections::BTreeMap<[u8; 4], Vec<Vec<u8>>> = Default::default();
        for packet in read_pcap(&path) {
            let Some(esp) = esp_of(&packet.data) else { continue };
            let packets = by_spi.entry(esp[..4].try_into().unwrap()).or_default();
            if packets.len() < OF_EACH_SA {
                packets.push(esp.to_vec());
            }
        }
        all.extend(by_spi.into_values().map(|packets| Sa {
            encryption,
            icv,
            packets,
        }));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    let synthetic = (1..=OF_EACH_SA).map(|blocks| {
        let mut packet = vec![0; 8 + 16 + blocks * 64 + 12];
        rng.fill(&mut packet[..]);
        packet
    });
    all.push(Sa {
        encryption: Encryption::AesCbc,
        icv: 12,
        packets: synthetic.collect(),
    });
    all
}

/// Ethernet, IPv4 without options; ESP, or UDP 4500 around it.
fn esp_of(frame: &[u8]) -> Option<&[u8]> {
    let total = usize::from(u16::from_be_bytes([*frame.get(16)?, *frame.get(17)?]));
    let ip = frame
        .get(14..14 + total)
        .filter(|_| frame.get(12..15) == Some(&[8, 0, 0x45]))?;
    match ip.get(9)? {
        50 => ip.get(20..),
        17 if ip.get(22..24)? == [0x11, 0x94] => {
            ip.get(28..).filter(|esp| esp.len() > 40 && esp[..4] != [0; 4])
        }
        _ => None,
    }
}

/// How often each finding came out of how many times it could have.
#[derive(Clone)]
struct Tally {
    asked: [u64; TABLE.len()],
    found: [u64; TABLE.len()],
}

impl Tally {
    fn new() -> Self {
        Tally {
            asked: [0; TABLE.len()],
            found: [0; TABLE.len()],
        }
    }

    fn add(&mut self, other: &Tally) {
        for (mine, theirs) in [(&mut self.asked, other.asked), (&mut self.found, other.found)] {
            mine.iter_mut()
                .zip(theirs)
                .for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    fn one_of(&mut self, check: Question, finding: Option<Sign>) {
        for (i, row) in TABLE.iter().enumerate().filter(|(_, row)| row.check == check) {
            self.asked[i] += 1;
            self.found[i] += u64::from(Some(row.finding) == finding);
        }
    }

    fn ask(&mut self, check: Question, passes: bool) {
        self.one_of(check, passes.then_some(Sign::Passed(check)));
    }

    /// All checks of one random decryption. `other`: another packet under the same key.
    fn take(
        &mut self,
        cipher: &EspCipher,
        packet: &[u8],
        other: &[u8],
        plain: &mut Vec<u8>,
        second: &mut Vec<u8>,
    ) {
        let trailer = trailer(cipher, packet, None, plain);
        self.one_of(Question::Padding, trailer.map(|(padding, _)| padding));
        if let Some((_, next_header)) = trailer {
            self.one_of(Question::NextHeader, Some(protocol(next_header)));
        }
        // A payload from the first byte to a random end: how long it is does not depend on the padding then.
        let (Some(_), Some(_)) = (
            cipher.open(packet, None, Icv::Verified, 64, plain),
            cipher.open(other, None, Icv::Verified, 64, second),
        ) else {
            return;
        };
        if plain.len() < 64 || second.len() < 64 {
            return;
        }
        let part = Part {
            bytes: plain,
            len: 64,
        };
        let of_a_part = [
            Question::Ipv4Head,
            Question::Ipv4Length,
            Question::Ipv4Checksum,
            Question::Ipv4Protocol,
            Question::Ipv6Head,
            Question::Ipv6Length,
            Question::UdpLength,
            Question::L2tpPort,
            Question::L2tpHead,
            Question::L2tpLength,
            Question::TcpHead,
            Question::TcpUrgent,
            Question::IcmpKind,
            Question::IcmpChecksum,
            Question::Icmpv6Kind,
        ];
        for check in of_a_part {
            self.ask(check, part.passes(check));
        }
        // Any of them: no single one is more frequent.
        let inside = TUNNELS.iter().any(|next_header| part.tunnels(*next_header));
        self.ask(Question::Tunnel, inside);
        self.ask(Question::SameFirst, plain[..2] == second[..2]);
        self.ask(Question::SameSecond, plain[2..4] == second[2..4]);
    }
}

/// Random keys over the packets on all cores.
fn measure(decryptions: u64) -> Tally {
    let sas = sas();
    // Packets of one SA in pairs, each with a payload to look at.
    let pairs: Vec<(&Sa, &[u8], &[u8])> = sas
        .iter()
        .flat_map(|sa| {
            let long: Vec<&[u8]> = sa
                .packets
                .iter()
                .map(|p| &p[..])
                .filter(|p| p.len() > 400)
                .collect();
            let pairs: Vec<_> = long.windows(2).map(|pair| (sa, pair[0], pair[1])).collect();
            pairs
        })
        .collect();
    assert!(pairs.len() > 4);
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let work = |seed: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut tally, mut plain, mut second) = (Tally::new(), Vec::new(), Vec::new());
        for i in 0..decryptions / threads {
            let (sa, packet, other) = pairs[i as usize % pairs.len()];
            let cipher = sa.cipher(&rng.random());
            tally.take(&cipher, packet, other, &mut plain, &mut second);
        }
        tally
    };
    let mut sum = Tally::new();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|seed| scope.spawn(move || work(seed))).collect();
        running
            .into_iter()
            .for_each(|thread| sum.add(&thread.join().unwrap()));
    });
    sum
}

/// The rates at which so few, or so many, are found with a probability of 0.1 %: Garwood's interval of rare events, which is a
/// little wider than that of Clopper and Pearson, by Wilson and Hilferty's formula.
fn interval(found: u64, asked: u64) -> (f64, f64) {
    const Z: f64 = 3.09;
    let quantile = |k: f64, z: f64| k * (1.0 - 1.0 / (9.0 * k) + z / (3.0 * k.sqrt())).max(0.0).powi(3);
    let low = if found == 0 {
        0.0
    } else {
        quantile(found as f64, -Z)
    };
    let high = quantile(found as f64 + 1.0, Z);
    (low / asked as f64, (high / asked as f64).min(1.0))
}

/// Against the known figures (Garwood 1936; 99.8 % two-sided).
#[test]
fn the_interval_is_that_of_rare_events() {
    for (found, low, high) in [
        (0, 0.0, 6.91),
        (5, 0.74, 16.45),
        (10, 2.96, 24.13),
        (100, 71.9, 134.9),
    ] {
        let (ours_low, ours_high) = interval(found, 1_000_000);
        let near = |ours: f64, known: f64| (ours * 1e6 - known).abs() < 0.06 * known.max(1.0);
        assert!(
            near(ours_low, low) && near(ours_high, high),
            "{found}: {ours_low} {ours_high}"
        );
    }
}

fn rows(tally: &Tally) -> impl Iterator<Item = (&'static super::evidence::SignRow, u64, u64)> {
    let counts = tally.asked.into_iter().zip(tally.found);
    TABLE
        .iter()
        .zip(counts)
        .map(|(row, (asked, found))| (row, asked, found))
}

/// Runs every time: no rate of the table is contradicted. Rare findings need the long run below.
#[test]
fn the_table_claims_no_more_than_a_short_measurement_admits() {
    for (row, asked, found) in rows(&measure(200_000)) {
        let (low, _) = interval(found, asked);
        assert!(low <= (-row.rarity).exp2(), "{}: {found} of {asked}", row.name);
    }
}

/// `cargo test --release -p rekeyscope-ipsec --lib measure -- --ignored --nocapture`
#[test]
#[ignore = "minutes; release"]
fn the_table_claims_no_more_than_was_measured() {
    let mut broken = Vec::new();
    for (row, asked, found) in rows(&measure(20_000_000)) {
        let (low, high) = interval(found, asked);
        println!(
            "| {} | {} | {} | {found} of {asked}: {:.2} bits ({:.2} to {:.2}) |",
            row.name,
            row.right,
            row.rarity,
            -(found as f64 / asked as f64).log2(),
            -high.log2(),
            -low.log2()
        );
        if row.rarity > 0.0 && high > (-row.rarity).exp2() {
            broken.push(row.name);
        }
    }
    assert!(broken.is_empty(), "more bits than measured: {broken:?}");
}

/// The shares of the right key's packets sum to at most one in each check: the likelihood ratio of noise is 1 at most on average.
#[test]
fn the_right_keys_shares_are_shares() {
    for row in &TABLE {
        let sum: f64 = TABLE
            .iter()
            .filter(|r| r.check == row.check)
            .map(|r| r.right)
            .sum();
        assert!(sum < 1.0, "{:?}: {sum}", row.check);
    }
}

/// Every row stands in `docs/keys.md` with its figures.
#[test]
fn the_table_is_documented() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/keys.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    for row in &TABLE {
        let line = format!("| {} | {} | {} |", row.name, row.right, row.rarity);
        assert!(docs.contains(&line), "{line}");
    }
}

//! What it takes until a key is believed. Synthetic packets, really encrypted.

use crate::sa::association::SaContext;
use crate::sa::database::{SaDatabase, SaIndex};
use crate::sa::specimen::Specimen;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::analysis::{Direction, KeyStatus};
use rekeyscope_model::spi::Spi;
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::{ipv4, tcp, udp};
use std::net::IpAddr;
use std::path::Path;

const SPI: u32 = 0x1234_5678;
const DUMMY: u8 = 59;
const TCP: u8 = 6;
const IPV4: u8 = 4;

/// One SA with a key log.
struct World {
    sas: SaDatabase,
    sa: SaIndex,
}

impl World {
    fn new(log: &str) -> Self {
        let mut keys = KeyMaterial::default();
        keys.read_bytes(Path::new("synthetic"), log.as_bytes());
        let mut sas = SaDatabase::new(keys);
        let [src, dst] = [1, 2].map(|host| IpAddr::from([192, 0, 2, host]));
        let context = SaContext::made_up(Direction::AToB, src, dst);
        let sa = sas.of_packet(context, Spi(SPI)).unwrap();
        World { sas, sa }
    }

    fn show(&mut self, packet: &[u8]) -> bool {
        self.sas.prove(self.sa, Specimen { packet, whole: true })
    }

    /// The packet that decides, counted from 1.
    fn decided_at(&mut self, packets: &[Vec<u8>]) -> Option<usize> {
        packets
            .iter()
            .position(|packet| self.show(packet))
            .map(|at| at + 1)
    }

    fn status(&mut self) -> KeyStatus {
        self.sas.get_mut(self.sa).key_status()
    }
}

fn seal(suite: &Suite, packets: u64, next_header: u8, payload: impl Fn(u64) -> Vec<u8>) -> Vec<Vec<u8>> {
    (1..=packets)
        .map(|n| suite.seal(SPI, n, false, next_header, &payload(n)))
        .collect()
}

fn segment(n: u64) -> Vec<u8> {
    tcp(
        5201,
        40_000,
        n as u32 * 1_000,
        0x10,
        &vec![n as u8; 500 + n as usize],
    )
}

fn inner(n: u64) -> Vec<u8> {
    ipv4([10, 0, 0, 1], [10, 0, 0, 2], TCP, &segment(n))
}

fn turned(suite: &Suite) -> Suite {
    Suite {
        key: suite.key.iter().map(|byte| byte ^ 0x10).collect(),
        ..suite.clone()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn one_packet_is_enough_where_it_holds_much() {
    let suite = Suite::aes_sha1(1);
    let unlabelled = format!("a {}\nb {}\n", hex(&suite.key), hex(&suite.integrity_key));
    for log in [suite.esp_sa_row(SPI), unlabelled] {
        let mut world = World::new(&log);
        assert_eq!(world.decided_at(&seal(&suite, 1, IPV4, inner)), Some(1), "{log}");
        assert_eq!(world.status(), KeyStatus::Verified);
    }
}

/// Nothing in a dummy packet can be checked but its trailer: they add up.
#[test]
fn packets_that_say_little_add_up() {
    let suite = Suite::aes_sha1(2);
    // As long as a block asks for no padding.
    let dummies = seal(&suite, 20, DUMMY, |_| vec![0; 14 + 16 * 4]);
    let mut world = World::new(&suite.esp_sa_row(SPI));
    assert!(!world.show(&dummies[0]));
    assert_eq!(world.status(), KeyStatus::Unverified);
    let lacking = world.sas.get_mut(world.sa).lacking.unwrap();
    assert_eq!((lacking.packets, lacking.packets_needed()), (1, 2));
    assert_eq!(world.decided_at(&dummies[1..]), Some(1));
    // Among unlabelled bytes it takes more of them, and the search goes on with all that were kept.
    let mut world = World::new(&format!(
        "a {}\nb {}\n",
        hex(&suite.key),
        hex(&suite.integrity_key)
    ));
    assert_eq!(world.decided_at(&dummies), Some(8));
    // The end of the capture comes before the eighth.
    let mut world = World::new(&format!(
        "a {}\nb {}\n",
        hex(&suite.key),
        hex(&suite.integrity_key)
    ));
    assert_eq!(world.decided_at(&dummies[..7]), None);
    assert_eq!(world.status(), KeyStatus::Unverified);
    assert_eq!(world.sas.last_try(), [world.sa]);
    assert_eq!(world.status(), KeyStatus::Verified);
}

/// The same packet again is no further evidence.
#[test]
fn a_repeated_packet_counts_once() {
    let suite = Suite::aes_sha1(3);
    let dummy = seal(&suite, 1, DUMMY, |_| vec![0; 14 + 16 * 4]);
    let mut world = World::new(&suite.esp_sa_row(SPI));
    let again: Vec<Vec<u8>> = vec![dummy[0].clone(); 40];
    assert_eq!(world.decided_at(&again), None);
}

#[test]
fn a_wrong_encryption_key_behind_a_good_icv_is_never_believed() {
    for seed in 0..20 {
        let suite = Suite::aes_sha1(seed);
        let null = Suite {
            encryption: Encryption::Null,
            key: Vec::new(),
            ..suite.clone()
        };
        for wrong in [turned(&suite), null] {
            for (next_header, payload) in [
                (IPV4, inner as fn(u64) -> Vec<u8>),
                (TCP, segment),
                (DUMMY, segment),
            ] {
                let mut world = World::new(&wrong.esp_sa_row(SPI));
                assert_eq!(world.decided_at(&seal(&suite, 40, next_header, payload)), None);
                assert_eq!(world.status(), KeyStatus::Unverified);
            }
        }
    }
}

#[test]
fn the_right_one_of_two_rows_is_found_and_the_other_named() {
    let suite = Suite::aes_sha1(4);
    let (right, wrong) = (suite.esp_sa_row(SPI), turned(&suite).esp_sa_row(SPI));
    for (log, line) in [(format!("{wrong}{right}"), 1), (format!("{right}{wrong}"), 2)] {
        let mut world = World::new(&log);
        assert_eq!(world.decided_at(&seal(&suite, 1, TCP, segment)), Some(1));
        world.sas.get_mut(world.sa).counters.packets = 1;
        let named: Vec<u64> = world
            .sas
            .wrong_claims()
            .iter()
            .map(|claim| claim.origin.line)
            .collect();
        assert_eq!(named, [line]);
    }
    // The same row twice is one claim.
    let mut world = World::new(&format!("{right}{right}"));
    assert_eq!(world.decided_at(&seal(&suite, 1, TCP, segment)), Some(1));
    world.sas.get_mut(world.sa).counters.packets = 1;
    assert!(world.sas.wrong_claims().is_empty());
}

#[test]
fn two_rows_without_packets_are_a_conflict_unless_they_are_one() {
    let suite = Suite {
        encryption: Encryption::Null,
        key: Vec::new(),
        integrity: Integrity::None,
        integrity_key: Vec::new(),
    };
    let row = suite.esp_sa_row(SPI);
    let mut world = World::new(&format!("{row}{row}"));
    world.sas.settle_unused();
    assert_eq!(world.status(), KeyStatus::Unverified);
    let suite = Suite::aes_sha1(5);
    let mut world = World::new(&(suite.esp_sa_row(SPI) + &turned(&suite).esp_sa_row(SPI)));
    world.sas.settle_unused();
    assert_eq!(world.status(), KeyStatus::Conflict);
}

/// A sender may pad in its own way (RFC 4303 §2.4): the headers have to show it all.
#[test]
fn padding_in_another_way_is_no_obstacle_where_headers_fit() {
    let suite = Suite::aes_sha1(6);
    let mut own = Suite::cipher(suite.encryption, suite.key.clone());
    own.integrity = suite.integrity;
    let payload = inner(10);
    let pad = (16 - (payload.len() + 2) % 16) % 16;
    assert!(pad > 1, "there is padding");
    let iv = [7; 16];
    let mut body = [&payload[..], &vec![0xee; pad], &[pad as u8, IPV4]].concat();
    own.encrypt(&iv, &mut body);
    let mut packet = [&SPI.to_be_bytes()[..], &[0, 0, 0, 1], &iv, &body].concat();
    packet.extend(rekeyscope_testkit::esp::hmac_sha1_96(
        &suite.integrity_key,
        &packet,
    ));
    let mut world = World::new(&suite.esp_sa_row(SPI));
    assert!(world.show(&packet));
}

/// A server's table says 128 bits, and its old client sends the 96 of a draft; and the other way round.
#[test]
fn an_icv_of_another_length_than_the_table_says_proves_the_key() {
    let lengths = [Integrity::HmacSha256_96, Integrity::HmacSha256_128];
    for (sent, told) in [(lengths[0], lengths[1]), (lengths[1], lengths[0])] {
        let suite = |integrity| Suite::new(Encryption::AesCbc, 16, integrity, 7);
        let mut world = World::new(&suite(told).esp_sa_row(SPI));
        let packets = seal(&suite(sent), 2, IPV4, inner);
        assert_eq!(world.decided_at(&packets), Some(1), "{sent}");
        assert_eq!(world.status(), KeyStatus::Verified, "{sent}");
        let others = seal(&Suite::new(Encryption::AesCbc, 16, sent, 8), 2, IPV4, inner);
        let mut world = World::new(&suite(told).esp_sa_row(SPI));
        assert_eq!(world.decided_at(&others), None, "{sent}, wrong keys");
    }
}

/// RFC 2104 takes any key; the ICV says that it is right.
#[test]
fn hmac_keys_of_unusual_length() {
    for (integrity, len) in [
        (Integrity::HmacSha1_96, 16),
        (Integrity::HmacSha256_96, 16),
        (Integrity::HmacSha256_128, 24),
        (Integrity::HmacSha1_96, 70),
    ] {
        let mut suite = Suite::new(Encryption::AesCbc, 16, integrity, 7);
        suite.integrity_key = (0..len as u8).map(|i| i.wrapping_mul(29) ^ 0x5a).collect();
        let packets = seal(&suite, 2, IPV4, inner);
        let cipher =
            crate::esp::cipher::EspCipher::new(suite.encryption, &suite.key, integrity, &suite.integrity_key);
        let icv = cipher.unwrap().verify(&packets[0], None);
        assert_eq!(
            icv,
            crate::esp::cipher::Icv::Verified,
            "{integrity} with {len} bytes"
        );
        let mut world = World::new(&format!(
            "a {}\nb {}\n",
            hex(&suite.key),
            hex(&suite.integrity_key)
        ));
        assert_eq!(
            world.decided_at(&packets),
            Some(1),
            "{integrity} with {len} bytes, unlabelled"
        );
    }
}

/// An integrity key alone checks, and opens nothing.
#[test]
fn an_unlabelled_integrity_key_alone_is_unverified() {
    let suite = Suite::aes_sha1(8);
    let log = format!("b {}\n", hex(&suite.integrity_key));
    let mut world = World::new(&log);
    assert_eq!(world.decided_at(&seal(&suite, 40, IPV4, inner)), None);
    assert_eq!(world.status(), KeyStatus::Unverified);
    let association = world.sas.get_mut(world.sa);
    assert!(association.key.is_none() && association.cipher().is_none() && association.checker().is_some());
}

/// The SPI comes again under another key: a wrong encryption key makes no generation.
#[test]
fn a_successor_needs_its_evidence_too() {
    let (old, new) = (Suite::aes_sha1(9), Suite::aes_sha1(10));
    let row = old.esp_sa_row(SPI);
    for (second, comes) in [(new.clone(), true), (turned(&new), false)] {
        let mut world = World::new(&(row.clone() + &second.esp_sa_row(SPI)));
        assert_eq!(world.decided_at(&seal(&old, 1, IPV4, inner)), Some(1));
        let mut made = 0;
        for packet in seal(&new, 40, IPV4, inner) {
            let specimen = Specimen {
                packet: &packet,
                whole: true,
            };
            made += usize::from(world.sas.prove_successor(world.sa, specimen).is_some());
            if made > 0 {
                break;
            }
        }
        assert_eq!(made > 0, comes);
        assert_eq!(world.sas.associations().len(), 1 + usize::from(comes));
    }
}

/// L2TP, whose packets hold UDP first.
#[test]
fn udp_alone_is_enough_in_one_record() {
    let suite = Suite::aes_sha1(11);
    let mut world = World::new(&suite.esp_sa_row(SPI));
    let packets = seal(&suite, 1, 17, |n| udp(1701, 1701, &[n as u8; 62]));
    assert_eq!(world.decided_at(&packets), Some(1));
}

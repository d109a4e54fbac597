//! Where the mutants of each door begin: the samples, the key logs of `tests/keylog`, small **synthetic** worlds and what the
//! program makes of them.

use super::entry;
use crate::support::{analyze, lab_of_sample, repository};
use rekeyscope_testkit::carried::inner_ip;
use rekeyscope_testkit::containers::{Order, Packet, pcapng, read_pcap, zstd};
use rekeyscope_testkit::example;
use rekeyscope_testkit::headers::{l2tp, ppp};
use rekeyscope_testkit::ike::{EspOffer, chain, ikev2_sa, rekey_sa};
use rekeyscope_testkit::scenario::{MILLI, World};
use std::path::Path;

/// Of the frames of a sample, so many.
const FRAMES: usize = 200;
/// Longer key logs are cut: libFuzzer prefers short inputs.
const LONGEST_LOG: usize = 4_000;

/// At least one seed for the door of this name.
pub(super) fn of(door: &str) -> Vec<Vec<u8>> {
    let links: [u16; 8] = [1, 0, 9, 101, 105, 113, 127, 276];
    let headers = [4u8, 6, 17, 41, 47, 50, 51, 97, 108, 115];
    match door {
        "framing" => {
            let with_link =
                |(k, f): (usize, Packet)| [&links[k % links.len()].to_le_bytes()[..], &f.data].concat();
            frames().into_iter().enumerate().map(with_link).collect()
        }
        // Ethernet, IPv4 and UDP are 42 bytes.
        "ike" => {
            let packets = read_pcap(&lab_of_sample("l2tp_kb_modp1024_down").capture);
            let messages: Vec<_> = packets
                .iter()
                .filter(|p| p.is_ike())
                .map(|p| p.data[42..].to_vec())
                .collect();
            assert!(messages.len() > 10);
            messages
        }
        // Decrypted payloads look like the frames' own IP packets.
        "inner" => {
            let with_header =
                |(k, f): (usize, Packet)| [&headers[k % headers.len()..][..1], &f.data[14..]].concat();
            frames().into_iter().enumerate().map(with_header).collect()
        }
        "key_log" => key_logs(),
        "capture" => captures(),
        "esp" => scripts(),
        "ike_sealed" => conversations(),
        "whole" | "copies" => worlds().iter().map(Recorded::joined).collect(),
        "document" => documents(),
        "overlay" => overlays(),
        "psk" => [
            &b"a secret that nobody knows\n"[..],
            b"0x00ff41\r\n",
            &[b'k'; 5_000],
        ]
        .map(<[u8]>::to_vec)
        .to_vec(),
        _ => panic!("{door} has no seeds"),
    }
}

/// `REKEYSCOPE_FUZZ_SEEDS`: a folder that gets all seeds, one folder each door. `tests/fuzz/run` asks for it.
#[test]
fn are_written() {
    let asked = std::env::var_os("REKEYSCOPE_FUZZ_SEEDS");
    for (name, _) in entry::DOORS {
        let seeds = of(name);
        assert!(seeds.iter().any(|seed| !seed.is_empty()), "{name}");
        let Some(folder) = asked.as_ref().map(|folder| Path::new(folder).join(name)) else {
            continue;
        };
        std::fs::create_dir_all(&folder).unwrap();
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(number.to_string()), seed).unwrap();
        }
    }
}

fn frames() -> Vec<Packet> {
    let mut packets = read_pcap(&lab_of_sample("l2tp_kb_modp1024_down").capture);
    packets.truncate(FRAMES);
    packets
}

fn key_logs() -> Vec<Vec<u8>> {
    let folder = std::fs::read_dir(repository().join("tests/keylog")).unwrap();
    let logs = folder
        .flatten()
        .filter(|file| file.path().extension().is_some_and(|e| e == "log"));
    let mut seeds: Vec<_> = logs.map(|file| std::fs::read(file.path()).unwrap()).collect();
    seeds.iter_mut().for_each(|log| log.truncate(LONGEST_LOG));
    seeds.sort();
    seeds
}

/// A capture and its keys.
struct Recorded {
    keys: Vec<u8>,
    capture: Vec<u8>,
    document: Vec<u8>,
}

impl Recorded {
    fn of(world: World) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = world.write(folder.path(), true);
        let capture = folder.path().join("trace.pcap");
        Recorded {
            keys: files
                .iter()
                .flat_map(|file| std::fs::read(file).unwrap())
                .collect(),
            document: serde_json::to_vec(&analyze(&capture, &files)).unwrap(),
            capture: std::fs::read(capture).unwrap(),
        }
    }

    fn joined(&self) -> Vec<u8> {
        [
            &(self.keys.len() as u16).to_le_bytes()[..],
            &self.keys,
            &self.capture,
        ]
        .concat()
    }
}

/// Small worlds: some dozens of frames each, a rekey in the middle.
fn worlds() -> Vec<Recorded> {
    let small = |change: fn(&mut World)| {
        let mut world = World::new();
        (world.tick, world.segment_len) = (40 * MILLI, 64);
        change(&mut world);
        world
    };
    let quick_mode = |mut world: World| {
        world.establish(1_000);
        world.steady(600);
        let mut qm = world.begin(true);
        for _ in 0..3 {
            world.message(&mut qm);
            world.steady(40);
        }
        world.repeat(&qm, 2);
        let old = world.down.spi;
        world.switch_up(&qm);
        world.switch_down(&qm);
        world.steady(600);
        world.delete(old);
        world
    };
    let mut ikev2 = small(|_| {});
    ikev2.steady(600);
    ikev2.renew_v2(true);
    ikev2.steady(600);
    ikev2.delete_v2(true, 0xd000_0000, 0xa000_0000);
    let mut stalled = small(|_| {});
    stalled.main_mode();
    stalled.steady(400);
    stalled.go_deaf(4);
    stalled.repeat_oldest(&[200, 400]);
    stalled.send_in_clear(false);
    [
        quick_mode(small(|_| {})),
        quick_mode(small(|w| (w.nat_port, w.upload) = (Some(31_000), true))),
        quick_mode(small(|w| w.mtu = Some(120))),
        quick_mode(small(|w| w.ah = true)),
        ikev2,
        stalled,
    ]
    .map(Recorded::of)
    .into()
}

/// Of each world, in one container each.
fn captures() -> Vec<Vec<u8>> {
    let packets = frames();
    let mut seeds: Vec<Vec<u8>> = worlds().into_iter().map(|world| world.capture).collect();
    seeds.push(pcapng(Order::Big, 1, 9, 0, &packets[..20]));
    seeds.push(zstd(&seeds[0]));
    seeds
}

fn documents() -> Vec<Vec<u8>> {
    let made = [example::seven_rekeys(), example::empty(), example::one_failed()];
    let mut seeds: Vec<Vec<u8>> = made
        .iter()
        .map(|made| serde_json::to_vec(made).unwrap())
        .collect();
    seeds.extend(worlds().into_iter().map(|world| world.document));
    seeds
}

fn overlays() -> Vec<Vec<u8>> {
    let file = |name: &str| std::fs::read(repository().join("tests/golden/overlays").join(name)).unwrap();
    let kinds = [
        (0, file("synthetic_iperf3.json")),
        (1, file("synthetic_cpu.csv")),
        (1, b"5,1\n2026-11-20T20:11:59Z,3\n".to_vec()),
    ];
    kinds.map(|(kind, bytes)| [&[kind][..], &bytes].concat()).into()
}

/// For the door `esp`, one for each suite: a transfer through two SAs, with a gap.
fn scripts() -> Vec<Vec<u8>> {
    let packet = |control: u8, wait: u8, payload: &[u8]| {
        [
            &[control, wait, 0][..],
            &(payload.len() as u16).to_le_bytes(),
            payload,
        ]
        .concat()
    };
    let script = |suite: u8| {
        let mut script = vec![suite];
        for n in 0..40 {
            let (sa, wait) = (if n < 20 { 0 } else { 2 }, if n == 20 { 0xd2 } else { 0x62 });
            let ip = inner_ip(n, 20);
            script.extend(match suite % 2 {
                0 => packet(sa, wait, &ip),
                _ => packet(sa | 1 << 5, wait, &l2tp(0x4000, 1, &ppp(&ip))),
            });
        }
        script
    };
    (0..8).map(script).collect()
}

/// For the door `ike_sealed`: a Quick Mode, a CREATE_CHILD_SA, Deletes.
fn conversations() -> Vec<Vec<u8>> {
    let message = |control: u8, exchange_type: u8, id: u8, payloads: &[(u8, Vec<u8>)]| {
        let (first, body) = chain(payloads);
        [
            &[control, exchange_type, id, first][..],
            &(body.len() as u16).to_le_bytes(),
            &body,
        ]
        .concat()
    };
    let offer = |spi| EspOffer::default().sa(&[(1, spi)]);
    let nonce = (10, vec![3; 32]);
    let quick = [
        message(0, 32, 7, &[(8, vec![7; 20]), (1, offer(1)), nonce.clone()]),
        message(1, 32, 7, &[(8, vec![7; 20]), (1, offer(2)), nonce]),
        message(0, 32, 7, &[(8, vec![8; 20])]),
        message(
            0,
            5,
            9,
            &[(8, vec![6; 20]), (12, vec![0, 0, 0, 1, 3, 4, 0, 1, 0, 0, 0, 1])],
        ),
    ];
    let child = |spi: u32| (33, ikev2_sa(3, &spi.to_be_bytes(), 2));
    let rekey = [
        message(
            2,
            36,
            1,
            &[(41, rekey_sa(5)), child(6), (40, vec![3; 32]), (44, vec![0; 24])],
        ),
        message(2 | 5, 36, 1, &[child(7), (40, vec![4; 32])]),
        message(2, 37, 2, &[(42, vec![3, 4, 0, 1, 0, 0, 0, 5])]),
        message(2 | 8 | 16, 36, 3, &[child(8), (40, vec![3; 32])]),
    ];
    vec![quick.concat(), rekey.concat()]
}

//! Inner captures of ESP in TCP, in ESP and on ports by request: every packet that went in comes out, once.

use super::{is_installed, output_of, rekeyscope, synthetic_big_endian};
use rekeyscope_capture::file::{CaptureReader, LinkType};
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_testkit::carried::{A, B, in_tcp, inner_ip};
use rekeyscope_testkit::containers::{Packet, write_pcap};
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::{ethernet, ipv4, udp};
use std::path::{Path, PathBuf};

const SPI: u32 = 0xc0de_0001;
const INNER_SPI: u32 = 0xc0de_0002;
const PACKETS: u32 = 40;
const SEGMENT: usize = 500;
/// Of the first frame, and between frames.
const BEGIN_NANOS: u64 = 1_800_000_000_000_000_123;
const STEP_NANOS: u64 = 1_000_007;

fn outer() -> Suite {
    Suite::aes_sha1(3)
}

fn inner() -> Suite {
    Suite::new(Encryption::AesGcm { icv: 16 }, 16, Integrity::None, 9)
}

fn sealed(suite: &Suite, spi: u32, n: u32, next_header: u8, payload: &[u8]) -> Vec<u8> {
    suite.seal(spi, u64::from(n) + 1, false, next_header, payload)
}

/// A **synthetic** way to carry ESP, of packets that are really encrypted.
struct Way {
    name: &'static str,
    /// IP packets.
    frames: Vec<Vec<u8>>,
    /// Options of rekeyscope.
    options: &'static [&'static str],
    /// Options that make tshark decrypt it; `None` where it cannot.
    tshark: Option<&'static [&'static str]>,
    /// What comments say of the SAs.
    comment: &'static str,
}

const OUTER_SA: &str = "ESP SPI 0xc0de0001 generation 0, frame";
const BOTH_SAS: &str = "ESP SPI 0xc0de0002 generation 0 inside ESP SPI 0xc0de0001 generation 0, frame";
/// Between the same ends: two SAs of one tunnel and direction.
const BOTH_SAS_OF_A_TUNNEL: &str =
    "ESP SPI 0xc0de0002 generation 1 inside ESP SPI 0xc0de0001 generation 0, frame";

fn ways() -> Vec<Way> {
    let (tunnel_a, tunnel_b) = ([10, 66, 0, 1], [10, 66, 0, 2]);
    let plain = |n: u32| sealed(&outer(), SPI, n, 4, &inner_ip(n, SEGMENT));
    let messages: Vec<Vec<u8>> = (0..PACKETS).map(plain).collect();
    let in_esp = |next: u8, around: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<Vec<u8>> {
        let frame = |n: u32| {
            let esp = sealed(&inner(), INNER_SPI, n, 4, &inner_ip(n, SEGMENT));
            ipv4(A, B, 50, &sealed(&outer(), SPI, n, next, &around(&esp)))
        };
        (0..PACKETS).map(frame).collect()
    };
    let mut out_of_order = in_tcp(&messages, 622, true);
    out_of_order.swap(2, 3);
    out_of_order.insert(4, out_of_order[3].clone());
    let way = |name, frames, options, tshark, comment| Way {
        name,
        frames,
        options,
        tshark,
        comment,
    };
    let on_port = |n: &Vec<u8>| ipv4(A, B, 17, &udp(40_000, 10_000, n));
    vec![
        way("TCP", out_of_order, &[], None, OUTER_SA),
        way(
            "TCP, several in a segment",
            in_tcp(&messages, 1_448, true),
            &[],
            None,
            OUTER_SA,
        ),
        way(
            "ESP, IP between",
            in_esp(4, &|esp| ipv4(tunnel_a, tunnel_b, 50, esp)),
            &[],
            Some(&[]),
            BOTH_SAS,
        ),
        way(
            "ESP, UDP between",
            in_esp(4, &|esp| ipv4(tunnel_a, tunnel_b, 17, &udp(4500, 4500, esp))),
            &[],
            Some(&[]),
            BOTH_SAS,
        ),
        way(
            "ESP right behind",
            in_esp(50, &<[u8]>::to_vec),
            &[],
            Some(&[]),
            BOTH_SAS_OF_A_TUNNEL,
        ),
        way(
            "another port",
            messages.iter().map(on_port).collect(),
            &["--esp-port", "10000"],
            Some(&["-d", "udp.port==10000,udpencap"]),
            OUTER_SA,
        ),
        way(
            "another port inside",
            in_esp(4, &|esp| ipv4(tunnel_a, tunnel_b, 17, &udp(40_000, 10_000, esp))),
            &["--esp-port", "10000"],
            Some(&["-d", "udp.port==10000,udpencap"]),
            BOTH_SAS,
        ),
    ]
}

/// A pcapng with names and options, and the keys.
fn write_synthetic(folder: &Path, frames: &[Vec<u8>]) -> (PathBuf, PathBuf) {
    let packet = |(index, frame): (usize, &Vec<u8>)| {
        // With the frame check sequence that the packet's flags announce.
        let data = [&ethernet(0x0800, frame)[..], &[0xfc; 4]].concat();
        Packet::new((BEGIN_NANOS + index as u64 * STEP_NANOS).cast_signed(), data)
    };
    let packets: Vec<Packet> = frames.iter().enumerate().map(packet).collect();
    let (pcap, capture, keys) = (
        folder.join("synthetic.pcap"),
        folder.join("synthetic.pcapng"),
        folder.join("synthetic.rows"),
    );
    write_pcap(&pcap, &packets);
    std::fs::write(&capture, synthetic_big_endian(&std::fs::read(&pcap).unwrap())).unwrap();
    std::fs::write(&keys, outer().esp_sa_row(SPI) + &inner().esp_sa_row(INNER_SPI)).unwrap();
    (capture, keys)
}

/// `--write-inner`, and what was said about it.
fn write_inner(capture: &Path, keys: &Path, options: &[&str]) -> (PathBuf, String) {
    let out = capture.with_file_name("inner.pcapng");
    let mut command = rekeyscope();
    command
        .arg(capture)
        .arg("-k")
        .arg(keys)
        .args(["--force", "--write-inner"])
        .arg(&out);
    let done = command.args(options).assert().success();
    let told = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    (out, told)
}

/// Time and bytes of every packet of a raw IP capture.
pub(super) fn packets_of(capture: &Path) -> Vec<(u64, Vec<u8>)> {
    let mut reader = CaptureReader::open(capture).unwrap();
    let (mut packets, mut oddities) = (Vec::new(), Diagnostics::default());
    while let Some(frame) = reader.next_frame(&mut oddities).unwrap() {
        assert_eq!(frame.link_type, LinkType::RAW);
        packets.push((u64::try_from(frame.time.0).unwrap(), frame.data.to_vec()));
    }
    packets
}

/// Bytes and times of all packets, comments with all SAs, names and options of the original; and as many as tshark decrypts
/// in the original, or (in TCP, which it cannot) as the analysis verifies.
#[test]
fn every_way_of_carrying_esp_is_opened() {
    for way in ways() {
        let folder = tempfile::tempdir().unwrap();
        let (capture, keys) = write_synthetic(folder.path(), &way.frames);
        let (out, told) = write_inner(&capture, &keys, way.options);
        assert!(
            told.contains(&format!("wrote {PACKETS} decrypted packets"))
                && told.contains("; 0 ESP packets stay closed"),
            "{}: {told}",
            way.name
        );
        let written = packets_of(&out);
        let expected: Vec<Vec<u8>> = (0..PACKETS).map(|n| inner_ip(n, SEGMENT)).collect();
        let bytes: Vec<Vec<u8>> = written.iter().map(|(_, data)| data.clone()).collect();
        assert!(bytes == expected, "{}", way.name);
        if !is_installed("tshark") {
            continue;
        }
        let rows = output_of(
            "tshark",
            &[
                &["-r", out.to_str().unwrap(), "-T", "fields", "-e", "frame.comment"][..],
                &["-e", "frame.interface_name", "-e", "frame.packet_flags_direction"],
            ]
            .concat(),
        );
        assert_eq!(rows.lines().count(), PACKETS as usize, "{}", way.name);
        for (row, (nanos, _)) in rows.lines().zip(&written) {
            let frame = 1 + (nanos - BEGIN_NANOS) / STEP_NANOS;
            let expected = format!("of the original,{} {frame}\tuplink\t0x00000001", way.comment);
            assert_eq!(row, expected, "{}", way.name);
        }
        if let Some(options) = way.tshark {
            assert_eq!(
                decrypted_by_tshark(&capture, &keys, options),
                PACKETS as usize,
                "{}",
                way.name
            );
        }
        if is_installed("capinfos") {
            output_of("capinfos", &[out.to_str().unwrap()]);
        }
    }
}

/// Packets in which tshark, with the keys, reaches the TCP segment inside.
fn decrypted_by_tshark(capture: &Path, keys: &Path, options: &[&str]) -> usize {
    let mut command = rekeyscope();
    command.args(["tshark", "-q"]).arg(capture).arg("-k").arg(keys);
    // Which ports carry ESP is said to rekeyscope too, so that it finds the SAs.
    command.args(["--esp-port", "10000", "--"]).args(options);
    let filter = format!("tcp.len == {SEGMENT}");
    let done = command.args(["-Y", &filter, "-T", "fields", "-e", "frame.number"]);
    let shown = String::from_utf8(done.output().unwrap().stdout).unwrap();
    shown.lines().count()
}

/// Without the inner key the outer packet is the innermost that there is; the ESP inside counts as closed.
#[test]
fn esp_in_esp_without_the_inner_key_shows_the_outer_packet() {
    let folder = tempfile::tempdir().unwrap();
    let esp = |n: u32| sealed(&inner(), INNER_SPI, n, 4, &inner_ip(n, SEGMENT));
    let between = |n: u32| ipv4([10, 66, 0, 1], [10, 66, 0, 2], 50, &esp(n));
    let frames: Vec<Vec<u8>> = (0..PACKETS)
        .map(|n| ipv4(A, B, 50, &sealed(&outer(), SPI, n, 4, &between(n))))
        .collect();
    let (capture, keys) = write_synthetic(folder.path(), &frames);
    std::fs::write(&keys, outer().esp_sa_row(SPI)).unwrap();
    let (out, told) = write_inner(&capture, &keys, &[]);
    let expected: Vec<Vec<u8>> = (0..PACKETS).map(between).collect();
    let bytes: Vec<Vec<u8>> = packets_of(&out).into_iter().map(|(_, data)| data).collect();
    assert!(bytes == expected);
    let closed = format!("; {PACKETS} ESP packets stay closed");
    assert!(told.contains(&closed), "{told}");
}

/// Packets of a tunnel that was not chosen are neither written nor called closed.
#[test]
fn the_chosen_tunnel_alone_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let other_end = [203, 0, 113, 9];
    let other = |n: u32| {
        ipv4(
            A,
            other_end,
            50,
            &sealed(&inner(), INNER_SPI, n, 4, &inner_ip(n, 100)),
        )
    };
    let chosen = |n: u32| ipv4(A, B, 50, &sealed(&outer(), SPI, n, 4, &inner_ip(n, SEGMENT)));
    let frames: Vec<Vec<u8>> = (0..PACKETS).flat_map(|n| [other(n), chosen(n)]).collect();
    let (capture, keys) = write_synthetic(folder.path(), &frames);
    for (choice, len) in [("198.51.100.7", SEGMENT), ("1", SEGMENT), ("0", 100)] {
        let (out, told) = write_inner(&capture, &keys, &["--tunnel", choice]);
        let expected: Vec<Vec<u8>> = (0..PACKETS).map(|n| inner_ip(n, len)).collect();
        let bytes: Vec<Vec<u8>> = packets_of(&out).into_iter().map(|(_, data)| data).collect();
        assert!(bytes == expected, "{choice}");
        assert!(told.contains("; 0 ESP packets stay closed"), "{told}");
    }
}

/// Of ESP inside ESP either tunnel can be chosen: the inner one's packets, or the outer one's with ESP inside.
#[test]
fn the_chosen_tunnel_inside_another_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let esp = |n: u32| sealed(&inner(), INNER_SPI, n, 4, &inner_ip(n, SEGMENT));
    let between = |n: u32| ipv4([10, 66, 0, 1], [10, 66, 0, 2], 50, &esp(n));
    let frames: Vec<Vec<u8>> = (0..PACKETS)
        .map(|n| ipv4(A, B, 50, &sealed(&outer(), SPI, n, 4, &between(n))))
        .collect();
    let (capture, keys) = write_synthetic(folder.path(), &frames);
    let innermost: Vec<Vec<u8>> = (0..PACKETS).map(|n| inner_ip(n, SEGMENT)).collect();
    let with_esp_inside: Vec<Vec<u8>> = (0..PACKETS).map(between).collect();
    for (choice, expected) in [
        ("1", &innermost),
        ("10.66.0.1", &innermost),
        ("0", &with_esp_inside),
    ] {
        let (out, told) = write_inner(&capture, &keys, &["--tunnel", choice]);
        let bytes: Vec<Vec<u8>> = packets_of(&out).into_iter().map(|(_, data)| data).collect();
        assert!(bytes == *expected, "{choice}");
        assert!(told.contains("; 0 ESP packets stay closed"), "{told}");
    }
}

/// NULL encryption that is recognised without a key is written too.
#[test]
fn null_encryption_without_a_key_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::new(Encryption::Null, 0, Integrity::HmacSha1_96, 5);
    let frames: Vec<Vec<u8>> = (0..PACKETS)
        .map(|n| ipv4(A, B, 50, &sealed(&suite, SPI, n, 4, &inner_ip(n, SEGMENT))))
        .collect();
    let (capture, keys) = write_synthetic(folder.path(), &frames);
    std::fs::write(&keys, outer().esp_sa_row(INNER_SPI)).unwrap();
    let (out, told) = write_inner(&capture, &keys, &[]);
    assert_eq!(packets_of(&out).len(), PACKETS as usize, "{told}");
}

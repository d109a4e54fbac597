//! Measures the walk through a capture: `cargo test --release -p rekeyscope-capture --lib walk_rate -- --ignored --nocapture`.

use crate::file::CaptureReader;
use crate::framing::datagram::DatagramKind;
use crate::framing::decoder::Framing;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_testkit::containers::{Order, Packet, PcapKind, pcap, pcapng};
use rekeyscope_testkit::thread_time::thread_nanos;
use std::io::{Read, Write};
use std::path::Path;

const COPIES: usize = 1000;
const PACKETS: usize = 740;

/// 1400-byte ESP packets over Ethernet.
fn packets() -> Vec<Packet> {
    (0..PACKETS)
        .map(|i| {
            let mut data = vec![0x5a; 1400];
            data[12..14].copy_from_slice(&[8, 0]);
            data[14..34].copy_from_slice(&[
                0x45, 0, 0x05, 0x6a, 0, 0, 0x40, 0, 64, 50, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2,
            ]);
            Packet::new(1_795_205_509_000_000_000 + i as i64, data)
        })
        .collect()
}

/// About 1 GB: one MB of packets a thousand times. In the page cache by having been written.
fn write_copies(path: &Path, head: &[u8], body: &[u8]) {
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(head).unwrap();
    for _ in 0..COPIES {
        file.write_all(body).unwrap();
    }
}

fn synthetic_gigabyte(path: &Path) {
    let (bytes, ends) = pcap(PcapKind::Nanos, Order::Little, 1, &packets());
    let (head, body) = bytes.split_at(ends[0]);
    write_copies(path, head, body);
}

fn synthetic_gigabyte_ng(path: &Path) {
    let head = pcapng(Order::Little, 1, 9, 0, &[]);
    let bytes = pcapng(Order::Little, 1, 9, 0, &packets());
    write_copies(path, &head, &bytes[head.len()..]);
}

fn timed(what: &str, records: usize, bytes: u64, run: impl Fn() -> u64) {
    let mut best = u64::MAX;
    for _ in 0..5 {
        let start = thread_nanos();
        assert!(run() > 0);
        best = best.min(thread_nanos() - start);
    }
    let (seconds, records) = (best as f64 / 1e9, records as f64);
    let (rate, speed, each) = (
        records / seconds / 1e6,
        bytes as f64 / best as f64,
        best as f64 / records,
    );
    println!("{what:18} {seconds:.3} s CPU  {rate:6.2} Mrecords/s  {speed:5.2} GB/s  {each:.1} ns/record");
}

#[test]
#[ignore = "a measurement, not a check"]
fn walk_rate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("synthetic.pcap");
    synthetic_gigabyte(&path);
    let bytes = std::fs::metadata(&path).unwrap().len();
    let records = COPIES * PACKETS;
    timed("1 MiB reads alone", records, bytes, || {
        let mut file = std::fs::File::open(&path).unwrap();
        let mut buffer = vec![0; 1 << 20];
        let mut sum = 0;
        loop {
            match file.read(&mut buffer).unwrap() {
                0 => return sum,
                n => sum += n as u64,
            }
        }
    });
    timed("walk", records, bytes, || walk(&path));
    timed("walk and framing", records, bytes, || {
        let mut reader = CaptureReader::open(&path).unwrap();
        let (mut framing, mut diagnostics) = (Framing::default(), Diagnostics::default());
        let mut sum = 0;
        while let Some(frame) = reader.next_frame(&mut diagnostics).unwrap() {
            if let Some(datagram) = framing.decode(&frame, &mut diagnostics)
                && let DatagramKind::Esp { packet, .. } = datagram.kind
            {
                sum += packet.len() as u64;
            }
        }
        sum
    });
    let ng = folder.path().join("synthetic.pcapng");
    synthetic_gigabyte_ng(&ng);
    timed(
        "walk of pcapng",
        records,
        std::fs::metadata(&ng).unwrap().len(),
        || walk(&ng),
    );
    let packets = [Packet::new(1, std::fs::read(&path).unwrap()[40..1440].to_vec())];
    frame_rate(&packets[0]);
}

fn walk(path: &Path) -> u64 {
    let mut reader = CaptureReader::open(path).unwrap();
    let mut diagnostics = Diagnostics::default();
    let mut sum = 0;
    while let Some(frame) = reader.next_frame(&mut diagnostics).unwrap() {
        sum += frame.data.len() as u64;
    }
    sum
}

/// Framing alone, on one packet in the cache.
fn frame_rate(packet: &Packet) {
    let frame = crate::file::Frame {
        number: 1,
        time: packet.time,
        link_type: crate::file::LinkType(1),
        original_len: packet.original_len,
        data: &packet.data,
        block: None,
    };
    const ROUNDS: usize = 10_000_000;
    let bytes = (ROUNDS * packet.data.len()) as u64;
    timed("framing alone", ROUNDS, bytes, || {
        let (mut framing, mut diagnostics) = (Framing::default(), Diagnostics::default());
        let mut sum = 0;
        for _ in 0..ROUNDS {
            let frame = std::hint::black_box(&frame);
            if let Some(datagram) = framing.decode(frame, &mut diagnostics) {
                sum += u64::from(std::hint::black_box(datagram).outer_bytes);
            }
        }
        sum
    });
}

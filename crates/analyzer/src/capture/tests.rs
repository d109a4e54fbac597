//! Synthetic captures in every container, order, resolution and compression; cut everywhere; damaged; hostile.

use super::synthetic::{self, Order, Packet, PcapKind, Pcapng, ticks};
use super::*;
use proptest::prelude::*;
use std::io::Write;
use std::sync::LazyLock;

/// Everything a reader gave.
struct Outcome {
    packets: Vec<Packet>,
    numbers: Vec<u64>,
    info: CaptureInfo,
    diagnostics: Diagnostics,
}

impl Outcome {
    fn kinds(&self) -> Vec<(&'static str, u64)> {
        self.diagnostics.iter().map(|d| (d.kind, d.count)).collect()
    }
}

fn read_stream(stream: impl Read + Send + 'static) -> Result<Outcome, Error> {
    let mut reader = CaptureReader::from_stream(Box::new(stream), "-")?;
    let (mut packets, mut numbers, mut diagnostics) = (Vec::new(), Vec::new(), Diagnostics::default());
    while let Some(frame) = reader.next_frame(&mut diagnostics)? {
        assert!(frame.original_len as usize >= frame.data.len());
        numbers.push(frame.number);
        packets.push(Packet {
            time: frame.time,
            original_len: frame.original_len,
            data: frame.data.to_vec(),
        });
    }
    assert!(
        reader.next_frame(&mut diagnostics)?.is_none(),
        "the end stays the end"
    );
    Ok(Outcome {
        packets,
        numbers,
        info: reader.info().clone(),
        diagnostics,
    })
}

fn read(bytes: &[u8]) -> Result<Outcome, Error> {
    read_stream(io::Cursor::new(bytes.to_vec()))
}

fn read_whole(bytes: &[u8]) -> Outcome {
    let outcome = read(bytes).unwrap();
    assert!(!outcome.info.truncated, "{:?}", outcome.diagnostics);
    assert_eq!(outcome.kinds(), []);
    outcome
}

type Packer = fn(&[u8]) -> Vec<u8>;

/// Each compressed format.
const PACKERS: [Packer; 4] = [
    synthetic::gzip,
    synthetic::zstd,
    synthetic::lz4,
    synthetic::lz4_linked,
];

/// Delivers one byte at a time, with an interruption before each.
struct Trickle {
    bytes: Vec<u8>,
    at: usize,
    interrupted: bool,
}

impl Read for Trickle {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match (self.bytes.get(self.at), into.first_mut()) {
            (Some(&byte), Some(place)) => {
                *place = byte;
                self.at += 1;
                Ok(1)
            }
            _ => Ok(0),
        }
    }
}

/// Delivers some bytes, then an error of the system.
struct Failing(io::Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 => Err(io::Error::other("the disk is gone")),
            n => Ok(n),
        }
    }
}

/// The same packets in every container that can hold them, by name.
fn every_container(packets: &[Packet]) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for order in Order::BOTH {
        for kind in [PcapKind::Micros, PcapKind::Nanos, PcapKind::Modified] {
            all.push((
                format!("pcap {kind:?} {order:?}"),
                synthetic::pcap(kind, order, 1, packets).0,
            ));
        }
        for (resolution, offset) in [
            (6, 0),
            (9, 0),
            (7, 0),
            (12, 1_795_205_000),
            (0x80 | 30, 0),
            (6, -7200),
            (9, 3600),
        ] {
            let name = format!("pcapng {order:?} resolution {resolution:#x} offset {offset}");
            all.push((name, synthetic::pcapng(order, 1, resolution, offset, packets)));
        }
        let mut obsolete = Pcapng::new(order);
        obsolete.interface(1, 0, &[]);
        for packet in packets {
            obsolete.obsolete(0, 0xffff, ticks(packet.time, 6, 0), packet);
        }
        all.push((format!("pcapng {order:?} obsolete packet blocks"), obsolete.bytes));
        all.push((
            format!("pcapng {order:?} many sections"),
            many_sections(order, packets),
        ));
    }
    all
}

/// A section per packet, in alternating byte order, with two interfaces of different resolution, and with blocks between
/// that are stepped over.
fn many_sections(first: Order, packets: &[Packet]) -> Vec<u8> {
    let mut file = Pcapng::new(first);
    for (i, packet) in packets.iter().enumerate() {
        if i > 0 {
            let order = if file.order == Order::Big {
                Order::Little
            } else {
                Order::Big
            };
            file.section(order);
        }
        file.interface(113, 64, &[(9, &[3]), (0xfff0, b"unknown option")]);
        file.interface_with_clock(1, 9, 100);
        file.block(4, b"\0\0\0\0");
        file.block(0xaaaa, b"unknown");
        file.block(10, b"secrets of another kind");
        file.enhanced(
            1,
            ticks(packet.time, 9, 100),
            packet,
            &[(1, b"a comment"), (2, &[0, 0, 0, 1])],
        );
    }
    file.bytes
}

#[test]
fn the_same_packets_from_every_container() {
    let packets = synthetic::packets(40);
    for (name, bytes) in every_container(&packets) {
        let outcome = read_whole(&bytes);
        assert!(outcome.packets == packets, "{name}");
        assert!(outcome.numbers.iter().copied().eq(1..=40), "{name}");
        for (compression, packed) in [
            ("gzip", synthetic::gzip(&bytes)),
            ("zstd", synthetic::zstd(&bytes)),
            ("LZ4", synthetic::lz4(&bytes)),
        ] {
            assert!(read_whole(&packed).packets == packets, "{name} in {compression}");
        }
    }
}

#[test]
fn packed_in_several_members() {
    let packets = synthetic::packets(40);
    let (plain, _) = synthetic::pcap(PcapKind::Nanos, Order::Little, 1, &packets);
    for pack in PACKERS {
        let (head, tail) = plain.split_at(1000);
        let mut packed = pack(head);
        packed.extend(pack(tail));
        assert!(read_whole(&packed).packets == packets);
    }
}

#[test]
fn a_pipe_that_gives_one_byte_at_a_time() {
    let packets = synthetic::packets(12);
    for (name, bytes) in every_container(&packets) {
        for packed in [
            bytes.clone(),
            synthetic::gzip(&bytes),
            synthetic::zstd(&bytes),
            synthetic::lz4(&bytes),
        ] {
            let outcome = read_stream(Trickle {
                bytes: packed,
                at: 0,
                interrupted: false,
            })
            .unwrap();
            assert!(outcome.packets == packets && !outcome.info.truncated, "{name}");
        }
    }
}

#[test]
fn a_file_cut_at_every_byte_keeps_what_is_before_the_cut() {
    let packets = synthetic::packets(12);
    for order in Order::BOTH {
        for kind in [PcapKind::Micros, PcapKind::Nanos, PcapKind::Modified] {
            let (bytes, ends) = synthetic::pcap(kind, order, 1, &packets);
            for cut in 24..bytes.len() {
                let outcome = read(&bytes[..cut]).unwrap();
                let whole = ends.iter().filter(|&&end| end <= cut).count().saturating_sub(1);
                assert!(
                    outcome.packets == packets[..whole],
                    "{kind:?} {order:?} cut at {cut}"
                );
                assert_eq!(
                    outcome.info.truncated,
                    !ends.contains(&cut),
                    "{kind:?} {order:?} cut at {cut}"
                );
                assert_eq!(outcome.kinds().len(), usize::from(outcome.info.truncated));
            }
        }
        let mut file = Pcapng::new(order);
        file.interface(1, 0, &[(9, &[9])]);
        for packet in &packets {
            file.enhanced(0, ticks(packet.time, 9, 0), packet, &[(1, b"comment")]);
        }
        for cut in 28..file.bytes.len() {
            let outcome = read(&file.bytes[..cut]).unwrap();
            let whole = file
                .ends
                .iter()
                .filter(|&&end| end <= cut)
                .count()
                .saturating_sub(2);
            assert!(
                outcome.packets == packets[..whole],
                "pcapng {order:?} cut at {cut}"
            );
            assert_eq!(
                outcome.info.truncated,
                !file.ends.contains(&cut),
                "pcapng {order:?} cut at {cut}"
            );
        }
    }
}

#[test]
fn every_other_container_cut_at_every_byte_gives_a_prefix() {
    let packets = synthetic::packets(12);
    for (name, bytes) in every_container(&packets) {
        for cut in 28..bytes.len() {
            let outcome = read(&bytes[..cut]).unwrap();
            assert!(packets.starts_with(&outcome.packets), "{name} cut at {cut}");
        }
    }
}

/// Cuts at every `stride`th byte; returns the most packets that a cut file gave.
fn cut_compressed(packed: &[u8], packets: &[Packet], stride: usize) -> usize {
    let mut most = 0;
    for cut in (4..packed.len()).step_by(stride) {
        match read(&packed[..cut]) {
            Ok(outcome) => {
                assert!(packets.starts_with(&outcome.packets), "cut at {cut}");
                assert!(outcome.info.truncated, "cut at {cut} of {}", packed.len());
                assert_eq!(outcome.kinds(), [("truncated", 1)]);
                most = most.max(outcome.packets.len());
            }
            // Too early for the first byte of content.
            Err(Error::NotACapture { found, .. }) => {
                assert!(
                    found.contains("bytes only") || found.contains("the first"),
                    "{found}"
                );
            }
            Err(other) => panic!("cut at {cut}: {other}"),
        }
    }
    most
}

#[test]
fn a_compressed_file_cut_anywhere_is_a_truncated_capture() {
    let (few, many) = (synthetic::packets(30), synthetic::noise());
    let (small, _) = synthetic::pcap(PcapKind::Nanos, Order::Little, 1, &few);
    let (large, _) = synthetic::pcap(PcapKind::Nanos, Order::Little, 1, &many);
    for pack in PACKERS {
        cut_compressed(&pack(&small), &few, 1);
        let most = cut_compressed(&pack(&large), &many, 98_765);
        assert!(most > many.len() / 2, "{most}");
    }
}

#[test]
fn a_damaged_compressed_file_keeps_what_is_before_the_damage() {
    let packets = synthetic::noise();
    let (bytes, _) = synthetic::pcap(PcapKind::Nanos, Order::Little, 1, &packets);
    for pack in PACKERS {
        let mut packed = pack(&bytes);
        packed.truncate(packed.len() / 2);
        packed.extend([0xff; 64]);
        let outcome = read(&packed).unwrap();
        assert!(outcome.info.truncated);
        let intact = outcome
            .packets
            .iter()
            .zip(&packets)
            .take_while(|(got, given)| got == given)
            .count();
        assert!(intact > packets.len() / 4, "{intact}");
        // Without a checksum per block the damaged bytes come out too, at the end: the 64 of them lie in one packet.
        assert!(
            outcome.packets.len() <= intact + 1,
            "{intact} of {}",
            outcome.packets.len()
        );
    }
}

#[test]
fn damage_in_the_middle_ends_the_capture_there() {
    let packets = synthetic::packets(10);
    let (mut bytes, ends) = synthetic::pcap(PcapKind::Nanos, Order::Little, 1, &packets);
    bytes[ends[6] + 8..ends[6] + 12].copy_from_slice(&[0xff; 4]);
    let outcome = read(&bytes).unwrap();
    assert!(outcome.packets == packets[..6] && outcome.info.truncated);
    assert_eq!(outcome.kinds(), [("damaged", 1)]);

    let mut file = Pcapng::new(Order::Big);
    file.interface(1, 0, &[]);
    for packet in &packets {
        file.enhanced(0, ticks(packet.time, 6, 0), packet, &[]);
    }
    // The block length, the trailing length, the captured length of the seventh packet.
    let (start, end) = (file.ends[7], file.ends[8]);
    for (place, garbage) in [
        (start + 4, [0, 0, 0, 8]),
        (start + 4, [0, 0, 0, 33]),
        // One less than the block has: only where both lengths say so was padding left out.
        (start + 4, ((end - start - 1) as u32).to_be_bytes()),
        (start + 4, [0x7f, 0, 0, 0]),
        (end - 4, [0, 0, 0, 1]),
        (start + 20, [0, 1, 0, 0]),
        (start + 20, [0xff; 4]),
    ] {
        let mut bytes = file.bytes.clone();
        bytes[place..place + 4].copy_from_slice(&garbage);
        let outcome = read(&bytes).unwrap();
        assert!(outcome.packets == packets[..6], "{place} {garbage:?}");
        assert_eq!(outcome.kinds(), [("damaged", 1)], "{place} {garbage:?}");
    }
}

#[test]
fn a_tail_of_zeros_is_damage_and_not_a_million_empty_packets() {
    let packets = synthetic::packets(10);
    for (name, mut bytes) in every_container(&packets) {
        bytes.extend([0; 100_000]);
        let outcome = read(&bytes).unwrap();
        assert!(outcome.packets == packets && outcome.info.truncated, "{name}");
        assert_eq!(outcome.kinds(), [("damaged", 1)], "{name}");
    }
}

#[test]
fn simple_packets_take_the_time_of_their_predecessor() {
    let packets = synthetic::packets(3);
    for order in Order::BOTH {
        let mut file = Pcapng::new(order);
        file.interface(1, 50, &[]);
        file.enhanced(0, ticks(packets[1].time, 6, 0), &packets[1], &[]);
        let mut cut = packets[2].clone();
        cut.data.truncate(50);
        file.simple(&cut);
        let outcome = read(&file.bytes).unwrap();
        assert_eq!(outcome.packets[1].time, packets[1].time);
        assert_eq!(outcome.packets[1].data, cut.data);
        assert_eq!(outcome.packets[1].original_len, packets[2].original_len);
        assert_eq!(outcome.kinds(), [("packet_without_time", 1)]);
    }
}

#[test]
fn drop_counters_are_summed_once() {
    let packets = synthetic::packets(3);
    for order in Order::BOTH {
        let number = |value: u64| {
            let mut bytes = Vec::new();
            order.u64(&mut bytes, value);
            bytes
        };
        let mut file = Pcapng::new(order);
        file.interface(1, 0, &[]);
        file.interface(1, 0, &[]);
        file.statistics(0, &[(5, &number(3)), (7, &number(1))]);
        // Totals since the start: these replace the ones before.
        file.statistics(0, &[(4, &number(1000)), (5, &number(7)), (7, &number(2))]);
        // The same nine losses told packet by packet; interface 1 tells only so.
        file.enhanced(0, 0, &packets[0], &[(1, b"comment"), (4, &number(9))]);
        file.enhanced(1, 0, &packets[1], &[(4, &number(5))]);
        file.obsolete(1, 6, 0, &packets[2]);
        assert_eq!(read(&file.bytes).unwrap().info.dropped_reported, Some(9 + 11));
        file.section(order);
        file.interface(1, 0, &[]);
        file.statistics(0, &[(5, &number(100))]);
        assert_eq!(read(&file.bytes).unwrap().info.dropped_reported, Some(120));
    }
    let silent = synthetic::pcapng(Order::Little, 1, 6, 0, &packets);
    assert_eq!(read(&silent).unwrap().info.dropped_reported, None);
}

#[test]
fn link_types_are_listed_once_in_order() {
    let mut file = Pcapng::new(Order::Little);
    for link_type in [113, 1, 113, 276] {
        file.interface(link_type, 0, &[]);
    }
    file.section(Order::Big);
    file.interface(101, 0, &[]);
    let types: Vec<_> = read(&file.bytes)
        .unwrap()
        .info
        .link_types
        .iter()
        .map(|l| l.0)
        .collect();
    assert_eq!(types, [113, 1, 276, 101]);
}

#[test]
fn interfaces_and_link_types_are_bounded() {
    let mut file = Pcapng::new(Order::Little);
    for number in 0..65_540_u32 {
        file.interface(number as u16, 0, &[]);
    }
    let packets = synthetic::packets(2);
    file.enhanced(65_535, 0, &packets[0], &[]);
    file.enhanced(65_536, 0, &packets[1], &[]);
    let outcome = read(&file.bytes).unwrap();
    assert_eq!(outcome.packets.len(), 1);
    assert_eq!(outcome.info.link_types.len(), MOST_LINK_TYPES);
    assert_eq!(
        outcome.kinds(),
        [("too_many_interfaces", 4), ("unknown_interface", 1)]
    );
}

#[test]
fn a_packet_of_an_interface_that_is_not_described_keeps_its_number() {
    let packets = synthetic::packets(3);
    let mut file = Pcapng::new(Order::Little);
    file.interface(1, 0, &[]);
    file.enhanced(7, 0, &packets[0], &[]);
    file.enhanced(0, 0, &packets[1], &[]);
    let outcome = read(&file.bytes).unwrap();
    assert_eq!(outcome.numbers, [2]);
    assert_eq!(outcome.kinds(), [("unknown_interface", 1)]);
}

#[test]
fn frames_are_numbered_as_wireshark_does() {
    // Checked with tshark 4.0.17: these blocks take a number, and name resolution, secrets and unknown ones do not.
    let packets = synthetic::packets(2);
    for (kind, numbers) in [
        (9, [1, 3]),
        (0xbad, [1, 3]),
        (0x4000_0bad, [1, 3]),
        (0x204, [1, 3]),
        (4, [1, 2]),
        (10, [1, 2]),
        (0xaaaa, [1, 2]),
    ] {
        let mut file = Pcapng::new(Order::Little);
        file.interface(1, 0, &[]);
        file.enhanced(0, 0, &packets[0], &[]);
        file.block(kind, b"__REALTIME_TIMESTAMP=1\n");
        file.enhanced(0, 0, &packets[1], &[]);
        assert_eq!(read(&file.bytes).unwrap().numbers, numbers, "{kind:#x}");
    }
}

#[test]
fn a_block_length_without_the_padding_is_understood() {
    let mut file = Pcapng::new(Order::Little);
    file.interface(1, 0, &[]);
    let packet = Packet::new(1_000, vec![7; 57]);
    let start = file.bytes.len();
    file.enhanced(0, 1, &packet, &[]);
    let end = file.bytes.len();
    for at in [start + 4, end - 4] {
        file.bytes[at] -= 3;
    }
    file.enhanced(0, 1, &packet, &[]);
    assert!(read_whole(&file.bytes).packets == [packet.clone(), packet]);
}

#[test]
fn malformed_options_do_not_cost_the_packet() {
    let packets = synthetic::packets(4);
    let mut file = Pcapng::new(Order::Little);
    file.interface(1, 0, &[(9, &[6])]);
    let mut body = vec![0; 12];
    body.extend(4_u32.to_le_bytes());
    body.extend(4_u32.to_le_bytes());
    body.extend([1, 2, 3, 4]);
    // An option that claims 65,535 bytes.
    body.extend([4, 0, 0xff, 0xff]);
    file.block(6, &body);
    file.enhanced(0, ticks(packets[3].time, 6, 0), &packets[3], &[]);
    let outcome = read_whole(&file.bytes);
    assert_eq!(outcome.packets.len(), 2);
    assert_eq!(outcome.packets[0].data, [1, 2, 3, 4]);
}

#[test]
fn old_pcap_versions_may_swap_the_two_lengths() {
    let packets = synthetic::packets(10);
    let mut swapped = packets.clone();
    for packet in &mut swapped {
        packet.original_len = packet.data.len() as u32 + 5;
    }
    for (order, minor_version_at) in [(Order::Little, 6), (Order::Big, 7)] {
        for kind in [PcapKind::Micros, PcapKind::Modified] {
            let (mut bytes, ends) = synthetic::pcap(kind, order, 1, &swapped);
            bytes[minor_version_at] = 2;
            for start in &ends[..10] {
                bytes[start + 8..start + 16].rotate_left(4);
            }
            assert!(read_whole(&bytes).packets == swapped, "{kind:?} {order:?}");
        }
    }
}

#[test]
fn options_behind_the_end_mark_do_not_count() {
    let packet = Packet::new(1_000_000, vec![7; 60]);
    let mut file = Pcapng::new(Order::Little);
    file.interface(1, 0, &[(0, &[]), (9, &[9])]);
    file.enhanced(0, 1_000, &packet, &[(0, &[]), (4, &[9, 0, 0, 0, 0, 0, 0, 0])]);
    let outcome = read_whole(&file.bytes);
    assert!(outcome.packets == [packet]);
    assert_eq!(outcome.info.dropped_reported, None);
}

#[test]
fn blocks_too_short_for_their_fields_are_damage() {
    let packet = Packet::new(1_000, vec![7; 60]);
    for kind in [1, 2, 3, 5, 6] {
        let mut file = Pcapng::new(Order::Big);
        file.interface(1, 0, &[]);
        file.enhanced(0, 1, &packet, &[]);
        file.block(kind, &[]);
        file.enhanced(0, 1, &packet, &[]);
        let outcome = read(&file.bytes).unwrap();
        assert_eq!(outcome.kinds(), [("damaged", 1)], "{kind}");
        assert!(outcome.packets == [packet.clone()], "{kind}");
    }
}

#[test]
fn records_larger_than_the_buffer_are_read_and_absurd_ones_are_not() {
    let large = Packet::new(5_000, vec![0xab; 3_000_000]);
    let small = Packet::new(6_000, vec![1; 60]);
    let packets = [small.clone(), large.clone(), small.clone(), large, small];
    let bytes = synthetic::pcapng(Order::Little, 1, 9, 0, &packets);
    assert!(read_whole(&bytes).packets == packets);

    // A pcap header that allows it.
    let (mut bytes, _) = synthetic::pcap(PcapKind::Nanos, Order::Little, 1, &packets);
    bytes[16..20].copy_from_slice(&[0xff; 4]);
    assert!(read_whole(&bytes).packets == packets);

    // A length that only claims: the buffer does not grow before the bytes are there.
    let mut file = Pcapng::new(Order::Little);
    file.interface(1, 0, &[]);
    file.bytes.extend(6_u32.to_le_bytes());
    file.bytes.extend((60_u32 << 20).to_le_bytes());
    let mut reader = CaptureReader::from_stream(Box::new(io::Cursor::new(file.bytes)), "-").unwrap();
    let before = reader.buffer.capacity();
    let mut diagnostics = Diagnostics::default();
    assert!(reader.next_frame(&mut diagnostics).unwrap().is_none());
    assert_eq!(reader.buffer.capacity(), before);
    assert!(reader.info().truncated);
}

#[test]
fn what_is_no_capture_is_named() {
    let found = |bytes: &[u8]| match read(bytes).err() {
        Some(Error::NotACapture { found, .. }) => found,
        Some(Error::EmptyCapture { .. }) => "empty".to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(found(b""), "empty");
    assert_eq!(found(b"frame.number,ip.src\n1,10.0.0.1\n"), "text");
    assert_eq!(found(b"a"), "text");
    assert_eq!(found(&synthetic::gzip(b"hello")), "a gzip file holding text");
    assert_eq!(found(&synthetic::gzip(b"")), "empty");
    assert_eq!(
        found(&synthetic::zstd(b"<html></html>")),
        "a zstd file holding an HTML page"
    );
    assert_eq!(
        found(&synthetic::lz4(&synthetic::gzip(b"hello"))),
        "an LZ4 file holding a gzip file"
    );
    assert_eq!(
        found(b"\x0a\x0d\x0d\x0a\0\0\0\x1cnot a pcapng file"),
        "something that begins with the bytes 0a 0d 0d 0a: if it is a capture of another kind (ERF, for example), \
         convert it with editcap -F pcapng first"
    );
    assert_eq!(
        found(&[0x1f, 0x8b, 8, 0]),
        "a gzip file that gives 0 bytes only: the gzip data ends before its end mark"
    );
}

#[test]
fn errors_of_the_system_are_not_ends_of_file() {
    let (bytes, _) = synthetic::pcap(PcapKind::Nanos, Order::Little, 1, &synthetic::packets(10));
    for mut bytes in [
        bytes.clone(),
        synthetic::gzip(&bytes),
        synthetic::zstd(&bytes),
        synthetic::lz4(&bytes),
    ] {
        bytes.truncate(bytes.len() - 5);
        let error = read_stream(Failing(io::Cursor::new(bytes))).err().unwrap();
        assert!(
            matches!(error, Error::Capture { .. }) && error.to_string().contains("the disk is gone"),
            "{error}"
        );
    }
    let missing = CaptureReader::open(Path::new("/nonexistent/trace.pcap"))
        .err()
        .unwrap();
    assert!(matches!(missing, Error::Capture { .. }));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        CaptureReader::open(folder.path()).err().unwrap(),
        Error::Capture { .. }
    ));
}

#[test]
fn the_position_counts_stored_bytes() {
    let (bytes, _) = synthetic::pcap(PcapKind::Nanos, Order::Little, 1, &synthetic::packets(1000));
    for stored in [bytes.clone(), synthetic::gzip(&bytes)] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&stored).unwrap();
        let mut reader = CaptureReader::open(file.path()).unwrap();
        let mut diagnostics = Diagnostics::default();
        while reader.next_frame(&mut diagnostics).unwrap().is_some() {}
        assert_eq!(reader.position(), stored.len() as u64);
    }
}

/// A capture of several blocks in each compressed format.
static PACKED_NOISE: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let (plain, _) = synthetic::pcap(PcapKind::Nanos, Order::Little, 1, &synthetic::noise());
    PACKERS.iter().map(|pack| pack(&plain)).collect()
});

proptest! {
    #[test]
    fn hostile_compressed_blocks_come_to_an_end(
        which in 0_usize..4,
        garbled in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut stored = PACKED_NOISE[which].clone();
        for (index, byte) in &garbled {
            let at = index.index(stored.len());
            stored[at] = *byte;
        }
        stored.truncate(cut.index(stored.len()));
        if let Ok(outcome) = read(&stored) {
            prop_assert!(outcome.info.truncated);
        }
    }

    /// Whatever follows a valid magic, and wherever a valid file is garbled: an end, never a panic or a hang.
    #[test]
    fn hostile_bytes_come_to_an_end(
        container in 0_usize..20,
        pack in 0_usize..4,
        garbled in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        tail in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let packets = synthetic::packets(8);
        let containers = every_container(&packets);
        let mut bytes = containers[container % containers.len()].1.clone();
        if pack == 0 {
            for (index, byte) in &garbled {
                let at = index.index(bytes.len());
                bytes[at] = *byte;
            }
        }
        let mut stored = match pack {
            0 => bytes,
            1 => synthetic::gzip(&bytes),
            2 => synthetic::zstd(&bytes),
            _ => synthetic::lz4(&bytes),
        };
        if pack > 0 {
            for (index, byte) in &garbled {
                let at = index.index(stored.len());
                stored[at] = *byte;
            }
        }
        stored.extend(&tail);
        if let Ok(outcome) = read(&stored) {
            prop_assert!(outcome.packets.len() <= stored.len() * 300);
        }
    }
}

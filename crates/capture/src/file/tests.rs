//! Synthetic captures in every container, order, resolution and compression; cut everywhere; damaged; hostile.

mod ahead;
mod blocks;
mod damage;
mod secrets;

use super::*;
use proptest::prelude::*;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::error::Error;
use rekeyscope_testkit::containers::{self, Order, Packet, PcapKind, Pcapng, ticks};
use std::io::{self, Read, Write};
use std::path::Path;
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
    // Sections one behind the other are said, and all right.
    let others: Vec<_> = outcome
        .kinds()
        .into_iter()
        .filter(|(kind, _)| *kind != "appended")
        .collect();
    assert_eq!(others, []);
    outcome
}

type Packer = fn(&[u8]) -> Vec<u8>;

/// Each compressed format.
const PACKERS: [Packer; 4] = [
    containers::gzip,
    containers::zstd,
    containers::lz4,
    containers::lz4_linked,
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
                containers::pcap(kind, order, 1, packets).0,
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
            all.push((name, containers::pcapng(order, 1, resolution, offset, packets)));
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
    let packets = containers::packets(40);
    for (name, bytes) in every_container(&packets) {
        let outcome = read_whole(&bytes);
        assert!(outcome.packets == packets, "{name}");
        assert!(outcome.numbers.iter().copied().eq(1..=40), "{name}");
        for (compression, packed) in [
            ("gzip", containers::gzip(&bytes)),
            ("zstd", containers::zstd(&bytes)),
            ("LZ4", containers::lz4(&bytes)),
        ] {
            assert!(read_whole(&packed).packets == packets, "{name} in {compression}");
        }
    }
}

#[test]
fn packed_in_several_members() {
    let packets = containers::packets(40);
    let (plain, _) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &packets);
    for pack in PACKERS {
        let (head, tail) = plain.split_at(1000);
        let mut packed = pack(head);
        packed.extend(pack(tail));
        assert!(read_whole(&packed).packets == packets);
    }
}

#[test]
fn a_pipe_that_gives_one_byte_at_a_time() {
    let packets = containers::packets(12);
    for (name, bytes) in every_container(&packets) {
        for packed in [
            bytes.clone(),
            containers::gzip(&bytes),
            containers::zstd(&bytes),
            containers::lz4(&bytes),
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
fn what_is_no_capture_is_named() {
    let found = |bytes: &[u8]| match read(bytes).err() {
        Some(Error::NotACapture { found, .. }) => found,
        Some(Error::EmptyCapture { .. }) => "empty".to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(found(b""), "empty");
    assert_eq!(found(b"frame.number,ip.src\n1,10.0.0.1\n"), "text");
    assert_eq!(found(b"a"), "text");
    assert_eq!(found(&containers::gzip(b"hello")), "a gzip file holding text");
    assert_eq!(found(&containers::gzip(b"")), "empty");
    assert_eq!(
        found(&containers::zstd(b"<html></html>")),
        "a zstd file holding an HTML page"
    );
    assert_eq!(
        found(&containers::lz4(&containers::gzip(b"hello"))),
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
    let (bytes, _) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &containers::packets(10));
    for mut bytes in [
        bytes.clone(),
        containers::gzip(&bytes),
        containers::zstd(&bytes),
        containers::lz4(&bytes),
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
    let (bytes, _) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &containers::packets(1000));
    for stored in [bytes.clone(), containers::gzip(&bytes)] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&stored).unwrap();
        let mut reader = CaptureReader::open(file.path()).unwrap();
        let mut diagnostics = Diagnostics::default();
        while reader.next_frame(&mut diagnostics).unwrap().is_some() {}
        assert_eq!(reader.position(), stored.len() as u64);
    }
}

/// Millions of members without a byte in them would be walked over for minutes.
#[test]
fn packed_data_that_holds_hardly_anything_is_given_up() {
    let (plain, _) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &containers::packets(3));
    let mut stored = containers::gzip(&plain);
    let few = containers::gzip(b"").repeat(1_000);
    assert!(!read(&[&stored[..], &few].concat()).unwrap().info.truncated);
    stored.extend(containers::gzip(b"").repeat(500_000));
    let outcome = read(&stored).unwrap();
    assert_eq!((outcome.packets.len(), outcome.info.truncated), (3, true));
}

/// What is encrypted cannot be packed: an LZ4 block of 4 MiB, as the program makes them by default, comes after 4 MiB, one of 8 MiB, as `lz4 -l`
/// makes them, after 8; through a pipe, in many reads.
#[test]
fn large_blocks_of_noise_are_no_emptiness() {
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let mut packets = containers::packets(190);
    for packet in &mut packets {
        packet.data = (0..49_000).map(|_| noise()).collect();
        // A block of the old format may not be longer than what is in it.
        packet.data.resize(50_000, 0);
        packet.original_len = packet.data.len() as u32;
    }
    let (plain, _) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &packets);
    let blocks = lz4_flex::frame::FrameInfo::new().block_size(lz4_flex::frame::BlockSize::Max4MB);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(blocks, Vec::new());
    encoder.write_all(&plain).unwrap();
    let mut legacy = vec![0x02, 0x21, 0x4c, 0x18];
    for block in plain.chunks(8 << 20).map(lz4_flex::block::compress) {
        legacy.extend((block.len() as u32).to_le_bytes());
        legacy.extend(block);
    }
    for packed in [encoder.finish().unwrap(), legacy] {
        let mut reader = CaptureReader::from_stream(Box::new(Pipe(io::Cursor::new(packed))), "-").unwrap();
        let mut diagnostics = Diagnostics::default();
        let mut read = 0;
        while reader.next_frame(&mut diagnostics).unwrap().is_some() {
            read += 1;
        }
        assert_eq!((read, reader.info().truncated), (190, false));
    }
}

/// Gives 64 KiB at a time.
struct Pipe(io::Cursor<Vec<u8>>);

impl io::Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min(65_536);
        self.0.read(&mut into[..most])
    }
}

/// A capture of several blocks in each compressed format.
static PACKED_NOISE: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let (plain, _) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &containers::noise());
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
        let packets = containers::packets(8);
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
            1 => containers::gzip(&bytes),
            2 => containers::zstd(&bytes),
            _ => containers::lz4(&bytes),
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

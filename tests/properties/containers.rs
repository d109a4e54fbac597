//! Capture files: what was put in comes out, however it is stored, cut, split or copied.

use proptest::prelude::*;
use rekeyscope_capture::file::{CaptureCopy, CaptureReader};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_testkit::containers::{Order, Packet, PcapKind, gzip, lz4, lz4_linked, pcap, pcapng, zstd};
use std::io::{Cursor, Read};

const RAW: u16 = 101;

/// Times in whole microseconds: every container can say them.
fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let packet = (0_i64..3_000_000, prop::collection::vec(any::<u8>(), 1..200));
    prop::collection::vec(packet, 1..30).prop_map(|list| {
        let mut micros = 1_800_000_000_000_000;
        let next = |(wait, data)| {
            micros += wait;
            Packet::new(micros * 1_000, data)
        };
        list.into_iter().map(next).collect()
    })
}

fn contained(kind: usize, packets: &[Packet]) -> Vec<u8> {
    let order = Order::BOTH[kind % 2];
    match kind / 2 {
        0 => pcap(PcapKind::Micros, order, RAW, packets).0,
        1 => pcap(PcapKind::Nanos, order, RAW, packets).0,
        2 => pcap(PcapKind::Modified, order, RAW, packets).0,
        3 => pcapng(order, RAW, 6, 0, packets),
        4 => pcapng(order, RAW, 9, -3_600, packets),
        _ => pcapng(order, RAW, 0x80 | 32, 1_700_000_000, packets),
    }
}

/// Times and bytes, and whether the file was cut; `None` where it is no capture.
fn read(stream: impl Read + Send + 'static) -> Option<(Vec<(i64, Vec<u8>)>, bool)> {
    let mut reader = CaptureReader::from_stream(Box::new(stream), "made").ok()?;
    let (mut found, mut said) = (Vec::new(), Diagnostics::default());
    while let Ok(Some(frame)) = reader.next_frame(&mut said) {
        found.push((frame.time.0, frame.data.to_vec()));
    }
    Some((found, reader.info().truncated))
}

fn plain(packets: &[Packet]) -> Vec<(i64, Vec<u8>)> {
    packets.iter().map(|p| (p.time.0, p.data.clone())).collect()
}

/// Gives so many bytes at a time.
struct Slow(Cursor<Vec<u8>>, usize);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = buffer.len().min(self.1);
        self.0.read(&mut buffer[..most])
    }
}

proptest! {
    #[test]
    fn every_container_gives_its_packets_back(packets in packets(), kind in 0_usize..12, compression in 0_usize..5) {
        let file = contained(kind, &packets);
        let file = match compression {
            0 => file,
            1 => gzip(&file),
            2 => zstd(&file),
            3 => lz4(&file),
            _ => lz4_linked(&file),
        };
        prop_assert_eq!(read(Cursor::new(file)), Some((plain(&packets), false)));
    }

    #[test]
    fn a_cut_anywhere_leaves_what_stands_before_it(packets in packets(), cut in any::<prop::sample::Index>()) {
        let (mut file, ends) = pcap(PcapKind::Nanos, Order::Little, RAW, &packets);
        let len = 24 + cut.index(file.len() - 23);
        file.truncate(len);
        let whole = ends.iter().filter(|end| **end <= len).count() - 1;
        prop_assert_eq!(read(Cursor::new(file)), Some((plain(&packets[..whole]), !ends.contains(&len))));
    }

    #[test]
    fn gzip_members_are_one_file(packets in packets(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5)) {
        let file = contained(0, &packets);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(file.len())).chain([0, file.len()]).collect();
        at.sort_unstable();
        let members: Vec<u8> = at.windows(2).flat_map(|w| gzip(&file[w[0]..w[1]])).collect();
        prop_assert_eq!(read(Cursor::new(members)), Some((plain(&packets), false)));
    }

    #[test]
    fn how_much_a_read_gives_does_not_matter(packets in packets(), kind in 0_usize..12, most in 1_usize..40) {
        let file = contained(kind, &packets);
        prop_assert_eq!(read(Slow(Cursor::new(file), most)), Some((plain(&packets), false)));
    }

    #[test]
    fn a_copy_has_the_same_packets(packets in packets(), kind in 0_usize..12, comment in ".{0,40}") {
        let stream = Box::new(Cursor::new(contained(kind, &packets)));
        let mut reader = CaptureReader::from_stream(stream, "made").unwrap();
        let mut copy = CaptureCopy::of_packets(Vec::new());
        let mut said = Diagnostics::default();
        while let Some(item) = reader.next_item(&mut said).unwrap() {
            match item.number {
                Some(number) if number % 3 == 0 => copy.annotate(&item, &comment).unwrap(),
                _ => copy.pass(&item).unwrap(),
            }
        }
        let link_type = reader.info().link_types[0];
        let file = copy.finish(link_type).unwrap();
        prop_assert_eq!(read(Cursor::new(file)), Some((plain(&packets), false)));
    }
}

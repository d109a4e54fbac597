//! Headers, blocks and options of pcap and pcapng, with what writers make of them.

use super::*;
use crate::file::info::MOST_LINK_TYPES;

#[test]
fn simple_packets_take_the_time_of_their_predecessor() {
    let packets = containers::packets(3);
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

/// `cat one two`, and `tail -F` over a ring buffer: each header says how its packets are read.
#[test]
fn captures_one_behind_the_other_are_read_on() {
    let packets = containers::packets(3);
    let files = [
        containers::pcap(PcapKind::Micros, Order::Little, 1, &packets).0,
        containers::pcap(PcapKind::Nanos, Order::Big, 1, &packets).0,
        containers::pcap(PcapKind::Modified, Order::Little, 1, &packets).0,
        containers::pcapng(Order::Little, 1, 9, 0, &packets),
        containers::pcapng(Order::Big, 1, 6, 0, &packets),
    ];
    for first in &files {
        for second in &files {
            let outcome = read(&[first.as_slice(), second].concat()).unwrap();
            let alone = [first, second].map(|file| read(file).unwrap().packets);
            assert_eq!(outcome.packets, alone.concat());
            assert_eq!(outcome.kinds(), [("appended", 1)]);
            assert!(!outcome.info.truncated);
        }
    }
}

#[test]
fn drop_counters_are_summed_once() {
    let packets = containers::packets(3);
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
    let silent = containers::pcapng(Order::Little, 1, 6, 0, &packets);
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
    let packets = containers::packets(2);
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
    let packets = containers::packets(3);
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
    let packets = containers::packets(2);
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
    let packets = containers::packets(4);
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
    let packets = containers::packets(10);
    let mut swapped = packets.clone();
    for packet in &mut swapped {
        packet.original_len = packet.data.len() as u32 + 5;
    }
    for (order, minor_version_at) in [(Order::Little, 6), (Order::Big, 7)] {
        for kind in [PcapKind::Micros, PcapKind::Modified] {
            let (mut bytes, ends) = containers::pcap(kind, order, 1, &swapped);
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
    let bytes = containers::pcapng(Order::Little, 1, 9, 0, &packets);
    assert!(read_whole(&bytes).packets == packets);

    // A pcap header that allows it.
    let (mut bytes, _) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &packets);
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

//! Captures cut or damaged anywhere keep what is before it.

use super::*;

#[test]
fn a_file_cut_at_every_byte_keeps_what_is_before_the_cut() {
    let packets = containers::packets(12);
    for order in Order::BOTH {
        for kind in [PcapKind::Micros, PcapKind::Nanos, PcapKind::Modified] {
            let (bytes, ends) = containers::pcap(kind, order, 1, &packets);
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
    let packets = containers::packets(12);
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
    let (few, many) = (containers::packets(30), containers::noise());
    let (small, _) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &few);
    let (large, _) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &many);
    for pack in PACKERS {
        cut_compressed(&pack(&small), &few, 1);
        let most = cut_compressed(&pack(&large), &many, 98_765);
        assert!(most > many.len() / 2, "{most}");
    }
}

#[test]
fn a_damaged_compressed_file_keeps_what_is_before_the_damage() {
    let packets = containers::noise();
    let (bytes, _) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &packets);
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
    let packets = containers::packets(10);
    let (mut bytes, ends) = containers::pcap(PcapKind::Nanos, Order::Little, 1, &packets);
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
    let packets = containers::packets(10);
    for (name, mut bytes) in every_container(&packets) {
        bytes.extend([0; 100_000]);
        let outcome = read(&bytes).unwrap();
        assert!(outcome.packets == packets && outcome.info.truncated, "{name}");
        let kinds = outcome.kinds().into_iter();
        let damage: Vec<_> = kinds.filter(|(kind, _)| *kind != "appended").collect();
        assert_eq!(damage, [("damaged", 1)], "{name}");
    }
}

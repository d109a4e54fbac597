//! What another thread reads ahead is what is read on demand.

use super::*;

/// Some seven blocks: packets, and metadata longer than what is carried from block to block, or than a block.
fn long() -> Vec<u8> {
    let mut file = Pcapng::new(Order::Little);
    file.interface(1, 0, &[]);
    for (k, len) in [(0, 40_000), (1, 200_000), (2, 3_000_000), (3, 12)] {
        for (n, mut packet) in containers::packets(2_000).into_iter().enumerate() {
            packet.data.resize(500 + (k * 7 + n) % 300, n as u8);
            packet.original_len = packet.data.len() as u32;
            file.enhanced(0, ticks(packet.time, 6, 0), &packet, &[]);
        }
        file.block(0xaaaa, &vec![7; len]);
    }
    file.bytes
}

/// Every packet, some with their blocks kept for a while as the analysis keeps them, and how it ended.
fn told(mut reader: CaptureReader) -> (Vec<Vec<u8>>, String) {
    let mut diagnostics = Diagnostics::default();
    let (mut packets, mut kept) = (Vec::new(), Vec::new());
    let end = loop {
        match reader.next_frame(&mut diagnostics) {
            Ok(Some(frame)) => {
                packets.push(frame.data.to_vec());
                let block = frame.block.unwrap();
                let place = block.place_of(frame.data).unwrap();
                kept.push((block.clone(), place, packets.len() - 1));
            }
            Ok(None) => break String::new(),
            Err(error) => break error.to_string(),
        }
        if kept.len() > 3_000 {
            for (block, place, packet) in kept.drain(..2_500) {
                assert!(block.get(place) == packets[packet], "a kept block stays as it is");
            }
        }
    };
    let said = diagnostics.iter().map(|d| format!("{} {}", d.kind, d.count));
    (packets, said.chain([end]).collect::<Vec<_>>().join("; "))
}

fn both_ways(open: impl Fn() -> CaptureReader) -> (Vec<Vec<u8>>, String) {
    let on_demand = told(open());
    let mut reader = open();
    reader.read_ahead();
    let ahead = told(reader);
    assert_eq!(on_demand.1, ahead.1);
    assert!(
        on_demand.0 == ahead.0,
        "{} and {} packets",
        on_demand.0.len(),
        ahead.0.len()
    );
    on_demand
}

#[test]
fn the_same_packets_whoever_reads() {
    let file = long();
    let open =
        |bytes: &[u8]| CaptureReader::from_stream(Box::new(io::Cursor::new(bytes.to_vec())), "-").unwrap();
    let (packets, end) = both_ways(|| open(&file));
    assert_eq!((packets.len(), &end[..]), (8_000, ""));
    for pack in PACKERS {
        let packed = pack(&file);
        assert_eq!(both_ways(|| open(&packed)).0.len(), 8_000);
        assert!(
            both_ways(|| open(&packed[..packed.len() / 2]))
                .1
                .contains("truncated")
        );
    }
    for cut in [1_000_000, file.len() - 5, file.len() - 3_000_000] {
        assert!(both_ways(|| open(&file[..cut])).1.contains("truncated"), "{cut}");
    }
}

/// Everything before the error is given away, then the error is told.
#[test]
fn a_disk_that_goes_away() {
    let file = long();
    for len in [900_000, 1_300_000, 4_000_000] {
        let open = || {
            let stream = Failing(io::Cursor::new(file[..len].to_vec()));
            CaptureReader::from_stream(Box::new(stream), "-").unwrap()
        };
        let (packets, end) = both_ways(open);
        assert!(end.contains("the disk is gone") && !packets.is_empty(), "{end}");
    }
}

/// The first packet's block may be kept for as long as the analysis waits for it: what is read behind it is used again all the same.
#[test]
fn a_block_that_is_kept_holds_no_others_back() {
    let file = long();
    let mut reader = CaptureReader::from_stream(Box::new(io::Cursor::new(file)), "-").unwrap();
    reader.read_ahead();
    let mut diagnostics = Diagnostics::default();
    let first = reader.next_frame(&mut diagnostics).unwrap().unwrap();
    let kept = first.block.unwrap().clone();
    let mut most = 0;
    while reader.next_frame(&mut diagnostics).unwrap().is_some() {
        most = most.max(reader.buffer.kept_blocks());
    }
    // That one, and one that is used again with the next block.
    assert!((1..=2).contains(&most), "{most} blocks");
    drop(kept);
}

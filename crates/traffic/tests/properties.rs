//! Properties of every transfer.

use crate::world::{at, packets, tcp, track};
use proptest::prelude::*;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;
use rekeyscope_testkit::thread_time::{assert_linear, thread_nanos_of};
use rekeyscope_traffic::{
    EspNumber, InnerPayload, Outages, Packet, SackBlocks, Segment, SegmentKind, TcpHeader, Tracker,
};

/// Data of `lens` from the client, a segment a millisecond, with consecutive ESP numbers from 1 on.
fn originals(initial: u32, lens: &[u32]) -> Vec<Packet> {
    let mut seq = initial;
    let mut all = Vec::new();
    for (k, len) in lens.iter().enumerate() {
        let header = TcpHeader {
            seq,
            len: *len,
            flags: TcpHeader::ACK,
            ..TcpHeader::default()
        };
        let mut packet = tcp(at(k as i64), k as u64 + 1, Direction::AToB, header);
        packet.esp = Some(EspNumber {
            spi: 7,
            number: k as u64 + 1,
            ..EspNumber::default()
        });
        seq = seq.wrapping_add(*len);
        all.push(packet);
    }
    all
}

/// Each packet again at its place in time, in another order.
fn shuffled(mut all: Vec<Packet>, keys: &[u32], reach: u32) -> Vec<Packet> {
    let mut order: Vec<(u32, Packet)> = all
        .drain(..)
        .enumerate()
        .map(|(k, p)| (k as u32 + keys[k] % reach, p))
        .collect();
    order.sort_by_key(|(key, _)| *key);
    let put = |(k, (_, packet)): (usize, (u32, Packet))| Packet {
        time: at(k as i64),
        ..packet
    };
    order.into_iter().enumerate().map(put).collect()
}

fn acknowledgement(time: Timestamp, ack: u32, sack: SackBlocks) -> Packet {
    let header = TcpHeader {
        ack,
        flags: TcpHeader::ACK,
        window: 1_000,
        sack,
        ..TcpHeader::default()
    };
    tcp(time, 0, Direction::BToA, header)
}

/// A download with losses behind the capture: segments of 100 bytes, a millisecond apart; each in `lost` is repeated 30 ms later, and
/// acknowledgements come after 20 ms.
fn transfer(initial: u32, count: u32, lost: &[bool]) -> Vec<Packet> {
    let lens = vec![100; count as usize];
    let mut all = originals(initial, &lens);
    let (mut copies, mut acks) = (Vec::new(), Vec::new());
    for (k, packet) in all.iter().enumerate() {
        let is_lost = lost[k % lost.len()];
        if is_lost {
            copies.push(Packet {
                time: packet.time.plus_nanos(at(30).0 + 1),
                frame: packet.frame + 1_000_000,
                ..*packet
            });
        }
        // The highest byte below which all has arrived; what is older than its retransmission has.
        let arrived = |j: usize| !lost[j % lost.len()] || k >= j + 30;
        let first = (k.saturating_sub(30)..=k).find(|j| !arrived(*j)).unwrap_or(k + 1) as u32;
        acks.push(acknowledgement(
            packet.time.plus_nanos(at(20).0 + 2),
            initial.wrapping_add(100 * first),
            SackBlocks::default(),
        ));
    }
    all.extend(copies);
    all.extend(acks);
    all.sort_by_key(|packet| packet.time);
    let mut number = 0;
    for packet in &mut all {
        if packet.direction == Direction::AToB {
            number += 1;
            packet.esp = Some(EspNumber {
                spi: 7,
                number,
                ..EspNumber::default()
            });
        }
    }
    all
}

fn segments(all: &[Packet]) -> Vec<Segment> {
    track(all).into_iter().map(|(segment, _)| segment).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the network does to the order of originals, nothing was sent again.
    #[test]
    fn reordering_is_no_retransmission(
        initial in any::<u32>(),
        lens in proptest::collection::vec(1_u32..1_500, 2..80),
        keys in proptest::collection::vec(any::<u32>(), 80),
        reach in 1_u32..60,
    ) {
        let found = segments(&shuffled(originals(initial, &lens), &keys, reach));
        for segment in &found {
            prop_assert!(matches!(segment.kind, SegmentKind::InOrder | SegmentKind::Late), "{segment:?}");
            prop_assert_eq!((segment.new, segment.again), (segment.len, 0));
        }
        let mut highest = 0;
        for segment in &found {
            let number = segment.esp.unwrap().number;
            prop_assert_eq!(segment.kind == SegmentKind::Late, number < highest);
            highest = highest.max(number);
        }
    }

    /// Exactly what was sent again is a retransmission, and of the right packet.
    #[test]
    fn retransmissions_are_found(
        initial in any::<u32>(),
        count in 40_u32..200,
        lost in proptest::collection::vec(proptest::bool::weighted(0.1), 37),
    ) {
        for segment in segments(&transfer(initial, count, &lost)) {
            if segment.len == 0 {
                continue;
            }
            let copy = segment.frame > 1_000_000;
            prop_assert_eq!(segment.kind == SegmentKind::Retransmission, copy, "{:?}", segment);
            prop_assert_eq!(segment.again, if copy { 100 } else { 0 });
        }
    }

    /// Numbers go round: where they begin changes nothing.
    #[test]
    fn any_initial_number_gives_the_same(
        initial in any::<u32>(),
        lost in proptest::collection::vec(proptest::bool::weighted(0.1), 37),
    ) {
        prop_assert_eq!(track(&transfer(initial, 150, &lost)), track(&transfer(0, 150, &lost)));
    }

    /// A cut of the beginning changes nothing from a window later on.
    #[test]
    fn a_cut_is_forgotten_after_a_window(
        cut in 1_usize..200,
        lost in proptest::collection::vec(proptest::bool::weighted(0.1), 37),
    ) {
        let all = transfer(5, 300, &lost);
        let whole = segments(&all);
        let rest = segments(&all[cut..]);
        let begin = all[cut].time.plus_nanos(at(60).0);
        let facts = |segment: &Segment| (segment.frame, segment.kind, segment.new, segment.again);
        for (one, other) in whole[cut..].iter().zip(&rest).filter(|(one, _)| one.time > begin) {
            prop_assert_eq!(facts(one), facts(other));
        }
    }

    /// Which side is called A changes nothing else.
    #[test]
    fn directions_may_be_swapped(lost in proptest::collection::vec(proptest::bool::weighted(0.2), 37)) {
        let all = transfer(9, 120, &lost);
        let swapped: Vec<Packet> = all
            .iter()
            .map(|packet| Packet { direction: packet.direction.reverse(), ..*packet })
            .collect();
        for (one, other) in segments(&all).into_iter().zip(segments(&swapped)) {
            let back = Segment { direction: other.direction.reverse(), ..other };
            prop_assert_eq!(one, back);
        }
    }

    /// Anything goes in: nothing panics, and no byte counts twice.
    #[test]
    fn hostile_packets(list in proptest::collection::vec(any::<(bool, u32, u32, u8, u16, u32, u8)>(), 0..300)) {
        let mut tracker = Tracker::default();
        for (k, (up, seq, ack, flags, len, sack, sa)) in list.into_iter().enumerate() {
            let direction = if up { Direction::AToB } else { Direction::BToA };
            let header = TcpHeader {
                seq: if sa & 1 == 0 { seq } else { seq % 5_000 },
                ack: if sa & 2 == 0 { ack } else { ack % 5_000 },
                flags,
                len: u32::from(len) % 3_000,
                sack: [(sack, sack.wrapping_add(500)), (ack, seq)].into_iter().collect(),
                window: len,
                window_scale: Some(sa),
                mss: None,
                timestamps: Some((seq, ack)),
            };
            let mut packet = tcp(at(k as i64), k as u64, direction, header);
            packet.esp = Some(EspNumber { spi: u32::from(sa % 3), number: u64::from(ack % 100), ..EspNumber::default() });
            let segment = tracker.push(&packet);
            prop_assert!(segment.new + segment.again <= segment.len);
        }
    }
}

/// Many segments of one byte, with copies of all, acknowledgements of every second one, and gaps.
#[test]
fn time_is_linear_in_packets() {
    let count = 60_000_u32;
    let mut all = Vec::new();
    for k in 0..count {
        let header = |seq, len| TcpHeader {
            seq,
            len,
            flags: TcpHeader::ACK,
            ..TcpHeader::default()
        };
        let time = at(i64::from(k));
        all.push(tcp(time, u64::from(k), Direction::AToB, header(2 * k, 1)));
        all.push(tcp(time, u64::from(k), Direction::AToB, header(0, 60_000)));
        let low = k.saturating_sub(3_000);
        let blocks = [(2 * low + 1, 2 * low + 2), (low, k), (2 * k, 2 * k + 1)];
        all.push(acknowledgement(time, 0, blocks.iter().copied().collect()));
    }
    assert_linear(all.len(), || {
        let mut tracker = Tracker::default();
        for packet in &all {
            tracker.push(packet);
        }
    });
}

/// A packet of a usual download costs at most 100 ns, outages included: a tenth of what the whole analysis takes for one. Measured in a
/// release build.
#[test]
#[ignore = "a promise of time"]
fn a_usual_packet_in_time() {
    let lost = [false];
    let all: Vec<Packet> = transfer(7, 10_000, &lost);
    let mut rounds = 0;
    let nanos = thread_nanos_of(|| {
        let (mut tracker, mut outages) = (Tracker::default(), Outages::default());
        for packet in &all {
            let segment = tracker.push(packet);
            outages.take(packet, &segment, &tracker);
        }
        std::hint::black_box(outages.left_out());
        rounds += 1;
    });
    let each = nanos / rounds / all.len() as u64;
    assert!(each <= 100, "{each} ns");
}

/// Many connections that come once do not push out a transfer, and what waits in them is bounded.
#[test]
fn a_flood_of_connections_is_forgotten() {
    let mut tracker = Tracker::default();
    let transfer = packets(
        "0 > 0:100 ack 0\n10 < 0:0 ack 100\n11 > 100:100 ack 0\n400 > 100:100 ack 0",
        [0, 0],
    );
    tracker.push(&transfer[0]);
    for round in 0..40_u32 {
        tracker.push(&transfer[1]);
        for port in 0..1_000_u16 {
            let mut packet = transfer[0];
            packet.tunnel = 1 + round;
            packet.tuple.as_mut().unwrap().src_port = port;
            if let InnerPayload::Tcp(header) = &mut packet.payload {
                header.flags = TcpHeader::SYN;
            }
            tracker.push(&packet);
        }
    }
    assert!(tracker.waiting().count() <= 1 << 14);
    assert_eq!(tracker.push(&transfer[2]).kind, SegmentKind::InOrder);
    assert_eq!(tracker.push(&transfer[3]).again, 100, "it is still known");
}

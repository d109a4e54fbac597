//! Packets without keys, in traces.

use crate::world::at;
use proptest::prelude::*;
use rekeyscope_model::analysis::Direction;
use rekeyscope_traffic::{SealedPacket, SealedTraffic, TransmissionRun};

type OfDirection = (Direction, SealedPacket);

fn packet(ms: i64, direction: Direction, bytes: u32) -> OfDirection {
    let packet = SealedPacket {
        time: at(ms),
        frame: ms.unsigned_abs() + 1,
        spi: 7,
        bytes,
        missing: 0,
    };
    (direction, packet)
}

fn traffic_of(packets: &[OfDirection]) -> SealedTraffic {
    let mut traffic = SealedTraffic::default();
    for (direction, packet) in packets {
        traffic.take(4, *direction, *packet);
    }
    traffic
}

/// First and last millisecond, packets and bytes of each run.
fn facts(runs: &[TransmissionRun]) -> Vec<(i64, i64, u32, u64)> {
    let fact = |run: &TransmissionRun| {
        let [from, to] = [run.from, run.to].map(|time| time.0 / 1_000_000);
        (from, to, run.packets, run.bytes)
    };
    runs.iter().map(fact).collect()
}

/// An acknowledgement in L2TP with two SACK blocks takes 148 bytes, of IPv6 and with the longest options 199.
#[test]
fn small_packets_may_be_answers() {
    let packets = [
        packet(0, Direction::AToB, 1_348),
        packet(1, Direction::AToB, 200),
        packet(2, Direction::AToB, 199),
        packet(20, Direction::BToA, 148),
        packet(21, Direction::BToA, 199),
        packet(22, Direction::BToA, 700),
    ];
    let traffic = traffic_of(&packets);
    let line = traffic.line(4, Direction::AToB).unwrap();
    assert_eq!((line.tunnel, line.direction), (4, Direction::AToB));
    assert_eq!(facts(&line.data), [(0, 0, 1, 1_348), (1, 1, 1, 200)]);
    assert_eq!(facts(&line.answers), [(20, 20, 1, 148), (21, 21, 1, 199)]);
    assert_eq!(line.reverse_bytes, 148 + 199 + 700);
    let reverse = traffic.line(4, Direction::BToA).unwrap();
    assert_eq!(
        (facts(&reverse.data), reverse.reverse_bytes),
        (vec![(22, 22, 1, 700)], 1_747)
    );
    assert_eq!(facts(&reverse.answers), [(2, 2, 1, 199)]);
    assert!(reverse.data.iter().all(|run| run.acknowledged.is_none()));
}

#[test]
fn a_direction_without_data_is_no_line() {
    let small = [packet(0, Direction::AToB, 116), packet(1, Direction::BToA, 116)];
    let traffic = traffic_of(&small);
    assert_eq!(traffic.line(4, Direction::AToB), None);
    assert_eq!(traffic.line(5, Direction::AToB), None);
}

/// A packet that ends a silence, or comes first on an SA, is a run of its own; runs are no longer than 20 ms.
#[test]
fn silences_and_switches_separate_runs() {
    let mut packets: Vec<OfDirection> = (0..30)
        .chain(100..110)
        .map(|ms| packet(ms, Direction::AToB, 1_000))
        .collect();
    for (_, packet) in &mut packets[36..] {
        packet.spi = 9;
    }
    let line = traffic_of(&packets).line(4, Direction::AToB).unwrap();
    assert_eq!(
        facts(&line.data),
        [
            (0, 0, 1, 1_000),
            (1, 21, 21, 21_000),
            (22, 29, 8, 8_000),
            (100, 100, 1, 1_000),
            (101, 105, 5, 5_000),
            (106, 106, 1, 1_000),
            (107, 109, 3, 3_000)
        ]
    );
    assert_eq!(line.data[5].spi, Some(9));
}

/// A packet each second of a week is more than there is room for.
#[test]
fn runs_are_bounded() {
    let mut traffic = SealedTraffic::default();
    let count = 600_000_i64;
    for second in 0..count {
        let (direction, packet) = packet(1_000 * second, Direction::AToB, 500);
        traffic.take(4, direction, packet);
    }
    let line = traffic.line(4, Direction::AToB).unwrap();
    assert!(line.data.len() <= 1 << 18);
    let bytes: u64 = line.data.iter().map(|run| run.bytes).sum();
    assert_eq!(bytes, 500 * count as u64, "no byte is forgotten");
}

/// A flood of tunnels: the one that goes on is kept.
#[test]
fn tunnels_are_bounded() {
    let mut traffic = SealedTraffic::default();
    for tunnel in 5..30_000 {
        let (_, packet) = packet(i64::from(tunnel), Direction::AToB, 500);
        traffic.take(4, Direction::AToB, packet);
        traffic.take(tunnel, Direction::BToA, packet);
    }
    let kept = (5..30_000).filter(|tunnel| traffic.line(*tunnel, Direction::BToA).is_some());
    assert!(kept.count() < 1 << 13);
    let line = traffic.line(4, Direction::AToB).unwrap();
    assert_eq!(line.data.iter().map(|run| run.packets).sum::<u32>(), 29_995);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Clocks are set back, and pieces of a capture come in any order: no packet and no byte is lost, and runs follow each other.
    #[test]
    fn any_order_of_time(
        list in proptest::collection::vec((0_i64..3_000, 1_u32..1_500, any::<bool>()), 1..400),
    ) {
        let direction = |forth: bool| if forth { Direction::AToB } else { Direction::BToA };
        let packets: Vec<OfDirection> =
            list.iter().map(|(ms, bytes, forth)| packet(*ms, direction(*forth), *bytes)).collect();
        let traffic = traffic_of(&packets);
        for direction in [Direction::AToB, Direction::BToA] {
            let (own, reverse): (Vec<OfDirection>, Vec<OfDirection>) =
                packets.iter().partition(|packet| packet.0 == direction);
            let data = own.iter().map(|packet| packet.1.bytes).filter(|bytes| *bytes > 199);
            let data: u64 = data.map(u64::from).sum();
            let Some(line) = traffic.line(4, direction) else {
                prop_assert_eq!(data, 0);
                continue;
            };
            prop_assert_eq!(line.data.iter().map(|run| run.bytes).sum::<u64>(), data);
            let small = reverse.iter().filter(|packet| packet.1.bytes <= 199);
            prop_assert_eq!(line.answers.iter().map(|run| run.packets as usize).sum::<usize>(), small.count());
            for runs in [&line.data, &line.answers] {
                prop_assert!(runs.windows(2).all(|two| two[0].from < two[1].from));
                prop_assert!(runs.iter().all(|run| run.from <= run.to));
            }
        }
    }
}

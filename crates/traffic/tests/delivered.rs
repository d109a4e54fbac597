//! Arrived bytes, in traces.

use crate::world::{at, packets};
use proptest::prelude::*;
use rekeyscope_model::analysis::Direction;
use rekeyscope_traffic::{DeliveredBytes, DeliveryLine, Packet, Tracker, TransmissionRun};
use std::fmt::Write;

fn lines_of(all: &[Packet], end: i64) -> Vec<DeliveryLine> {
    let (mut tracker, mut delivered) = (Tracker::default(), DeliveredBytes::default());
    for packet in all {
        let segment = tracker.push(packet);
        delivered.take(packet, &segment, &tracker);
    }
    delivered.lines(&tracker, at(end))
}

/// The line of the client's data.
fn line(lines: &str, end: i64) -> DeliveryLine {
    let mut found = lines_of(&packets(lines, [0, 0]), end);
    found.retain(|line| line.direction == Direction::AToB);
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// Milliseconds, packets and bytes of each run.
fn words(runs: &[TransmissionRun]) -> String {
    let mut text = String::new();
    for run in runs {
        let (from, to) = (run.from.0 / 1_000_000, run.to.0 / 1_000_000);
        write!(text, "{from}-{to} {}:{} ", run.packets, run.bytes).unwrap();
    }
    text.trim_end().to_owned()
}

/// The server has the first copy of 2 only after a second; the copies of 3 say that 3 was swallowed.
#[test]
fn a_byte_counts_when_the_copy_that_arrived_passes() {
    let line = line(
        "0 > 0:100 ack 0
         1 > 100:100 ack 0
         5 > 200:100 ack 0
         21 < 0:0 ack 100
         400 > 100:100 ack 0
         420 < 0:0 ack 200
         421 > 200:100 ack 0
         441 < 0:0 ack 300",
        1_000,
    );
    assert_eq!(words(&line.arrived), "0-0 1:100 400-400 1:100 421-421 1:100");
    assert_eq!(words(&line.in_vain), "1-5 2:0");
    let second = line.arrived[1];
    assert_eq!(
        (second.lacking_since, second.acknowledged),
        (at(1), Some(at(420)))
    );
    assert_eq!(line.in_vain[0].acknowledged, Some(at(441)));
    assert_eq!((line.connections, line.closed, line.datagrams), (1, false, false));
}

/// Arrivals that end a silence are runs of their own, and runs are no longer than 20 ms.
#[test]
fn silences_end_at_one_packet() {
    let mut text = String::new();
    for ms in (0..30).chain(100..130) {
        let seq = if ms < 100 { ms } else { ms - 70 };
        writeln!(
            text,
            "{ms} > {}:10 ack 0\n{ms} < 0:0 ack {}",
            10 * seq,
            10 * seq + 10
        )
        .unwrap();
    }
    let line = line(&text, 1_000);
    assert_eq!(
        words(&line.arrived),
        "0-0 1:10 1-21 21:210 22-29 8:80 100-100 1:10 101-121 21:210 122-129 8:80"
    );
}

#[test]
fn without_acknowledgements_the_last_copy_counts() {
    let line = line(
        "0 > 0:100 ack 0
         30 > 100:100 ack 0
         400 > 100:100 ack 0
         430 > F 200:100 ack 0",
        9_000,
    );
    assert_eq!(words(&line.arrived), "0-0 1:100 400-400 1:100 430-430 1:100");
    assert_eq!(words(&line.in_vain), "30-30 1:0");
    assert!(line.closed);
}

/// Nobody acknowledges the end of the transfer: what was sent in the last half second may be on its way, what is older was swallowed.
#[test]
fn the_last_flight_of_a_capture_counts() {
    let text = "0 > 0:100 ack 0
         20 < 0:0 ack 100
         21 > 100:100 ack 0
         700 > 200:100 ack 0";
    let near = line(text, 900);
    assert_eq!(words(&near.arrived), "0-0 1:100 700-700 1:100");
    assert_eq!(words(&near.in_vain), "21-21 1:0");
    assert_eq!(words(&line(text, 5_000).arrived), "0-0 1:100");
    let reset = line(&format!("{text}\n720 < R 0:0"), 5_000);
    assert_eq!(words(&reset.arrived), "0-0 1:100 700-700 1:100", "before a reset");
}

/// The original was lost before the capture: the packet beyond it shows since when the receiver lacks it.
#[test]
fn what_was_lost_before_the_capture_is_lacking_since_the_next_packet() {
    let line = line(
        "0 > 0:100 ack 0
         20 < 0:0 ack 100
         30 > 200:100 ack 0
         31 < 0:0 ack 100 sack=200-300
         400 > 100:100 ack 0
         401 < 0:0 ack 300",
        1_000,
    );
    let filler = line.arrived[2];
    assert_eq!((filler.from, filler.lacking_since), (at(400), at(30)));
    assert!(line.arrived[1].beyond_gap && !filler.beyond_gap);
}

#[test]
fn what_arrived_is_sent_again_in_vain() {
    let line = line(
        "0 > 0:100 ack 0
         20 < 0:0 ack 100
         300 > 0:100 ack 0
         900 > 0:100 ack 0",
        1_000,
    );
    assert_eq!(words(&line.in_vain), "300-300 1:0 900-900 1:0");
    assert!(line.in_vain.iter().all(|run| run.superfluous == 1));
}

#[test]
fn small_connections_do_not_count() {
    let line = line(
        "0 > 0:10 ack 0 port=9
         100 > 0:1000 ack 0
         101 > 1000:1000 ack 0
         120 < 0:0 ack 2000
         900 > 10:9 ack 0 port=9
         901 < 0:0 ack 19 port=9",
        1_000,
    );
    assert_eq!(
        (words(&line.arrived).as_str(), line.connections),
        ("100-100 1:1000 101-101 1:1000", 1)
    );
}

#[test]
fn datagrams_are_taken_as_sent() {
    let line = line(
        "0 > udp=500 esp=7/1
         1 > udp=500 esp=7/2
         2 > udp=500 esp=7/3
         90 > udp=500 esp=7/9",
        1_000,
    );
    assert_eq!(words(&line.arrived), "0-0 1:500 1-2 2:1000 90-90 1:500");
    assert!(line.datagrams && line.arrived[2].beyond_gap);
}

/// The pieces of a ring buffer come in any order: a later part of the capture first, then the earlier one.
#[test]
fn parts_of_a_capture_come_in_any_order() {
    let later = packets(
        "1000 > 500:100 ack 0\n1020 < 0:0 ack 600\n1021 > 600:100 ack 0",
        [0, 0],
    );
    let earlier = packets("0 > 0:100 ack 0\n20 < 0:0 ack 100", [0, 0]);
    let mut delivered = DeliveredBytes::default();
    let mut tracker = Tracker::default();
    for (part, all) in [later, earlier].iter().enumerate() {
        if part > 0 {
            delivered.begin_part(&tracker, at(1_021));
            tracker = Tracker::default();
        }
        for packet in all {
            let segment = tracker.push(packet);
            delivered.take(packet, &segment, &tracker);
        }
    }
    let lines = delivered.lines(&tracker, at(2_000));
    assert_eq!(
        words(&lines[0].arrived),
        "0-0 1:100 1000-1000 1:100 1021-1021 1:100"
    );
}

/// 12 ms in which the old SA swallows three packets are no run's inside.
#[test]
fn a_switch_separates_runs() {
    let line = line(
        "0 > 0:100 ack 0 esp=7/1
         1 > 100:100 ack 0 esp=7/2
         2 > 200:100 ack 0 esp=7/3
         3 > 300:100 ack 0 esp=7/4
         5 > 400:100 ack 0 esp=9/1
         6 > 500:100 ack 0 esp=9/2
         25 < 0:0 ack 200 sack=400-600
         26 > 200:100 ack 0 esp=9/3
         27 > 300:100 ack 0 esp=9/4
         50 < 0:0 ack 600",
        1_000,
    );
    assert_eq!(
        words(&line.arrived),
        "0-0 1:100 1-1 1:100 5-5 1:100 6-26 2:200 27-27 1:100"
    );
    assert_eq!(words(&line.in_vain), "2-3 2:0");
    let associations: Vec<Option<u32>> = line.arrived.iter().map(|run| run.spi).collect();
    assert_eq!(associations, [Some(7), Some(7), Some(9), Some(9), Some(9)]);
}

/// One packet a second for a week is more than the table holds.
#[test]
fn runs_are_bounded() {
    let text = "0 > udp=500 esp=7/1";
    let first = packets(text, [0, 0]).remove(0);
    let (mut tracker, mut delivered) = (Tracker::default(), DeliveredBytes::default());
    let count = 600_000_i64;
    for second in 0..count {
        let mut packet = first;
        packet.time = at(1_000 * second);
        packet.esp = None;
        let segment = tracker.push(&packet);
        delivered.take(&packet, &segment, &tracker);
    }
    let lines = delivered.lines(&tracker, at(1_000 * count));
    assert!(lines[0].arrived.len() <= 1 << 18);
    let bytes: u64 = lines[0].arrived.iter().map(|run| run.bytes).sum();
    assert_eq!(bytes, 500 * count as u64, "no byte is forgotten");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Property: however packets are sent, lost and acknowledged, all that was acknowledged has arrived, once, and runs follow each other.
    #[test]
    fn every_acknowledged_byte_counts_once(
        lost in proptest::collection::vec(proptest::bool::weighted(0.2), 40),
        selective in any::<bool>(),
    ) {
        let (mut events, count) = (Vec::new(), 80_usize);
        let is_lost = |k: usize| lost[k % lost.len()];
        for k in 0..count {
            let ms = 3 * k;
            events.push((ms, format!("{ms} > {}:100 ack 0 esp=7/{}", 100 * k, k + 1)));
            if is_lost(k) {
                let again = ms + 60;
                events.push((again, format!("{again} > {}:100 ack 0 esp=8/{}", 100 * k, k + 1)));
            }
            // Segments that a receiver knows when this packet, or its copy, arrives.
            let arrived = |j: usize, by: usize| !is_lost(j) && 3 * j <= by || 3 * j + 60 <= by;
            let by = if is_lost(k) { ms + 60 } else { ms };
            let first = (0..count).find(|j| !arrived(*j, by)).unwrap_or(count);
            let sack = if selective && first < k && arrived(k, by) {
                format!(" sack={}-{}", 100 * k, 100 * k + 100)
            } else {
                String::new()
            };
            events.push((by + 20, format!("{} < 0:0 ack {}{sack}", by + 20, 100 * first)));
        }
        events.sort_by_key(|(ms, _)| *ms);
        let text: String = events.into_iter().map(|(_, line)| line + "\n").collect();
        let line = line(&text, 100_000);
        let bytes: u64 = line.arrived.iter().map(|run| run.bytes).sum();
        prop_assert_eq!(bytes, 100 * count as u64);
        let copies = (0..count).filter(|k| is_lost(*k)).count() as u32;
        prop_assert_eq!(line.in_vain.iter().map(|run| run.packets).sum::<u32>(), copies);
        for runs in [&line.arrived, &line.in_vain] {
            prop_assert!(runs.windows(2).all(|two| two[0].to < two[1].from));
        }
    }
}

//! Synthetic packets of 1,000 bytes; times are milliseconds.

use super::*;
use crate::account::capacity::passed::{Sent, advances};
use crate::account::made_up::{ack, at, data, half};
use crate::account::packet::AccountPacket;

/// Stands for a delay that is not known.
const UNKNOWN: u32 = u32::MAX;

/// Above the least: so many milliseconds to the acknowledgement, and from what is echoed.
fn packet(ms: i64, (delay, echo): (u32, u32)) -> Sent {
    let us = |ms: u32| (ms != UNKNOWN).then(|| ms * 1_000);
    Sent {
        time: at(ms),
        bytes: 1_000,
        delay: us(delay),
        echo: us(echo),
        half: 0,
        index: 0,
    }
}

fn packets(times: impl IntoIterator<Item = i64>, delays: (u32, u32)) -> Vec<Sent> {
    let all = times.into_iter().map(|ms| packet(ms, delays));
    all.zip(0..).map(|(sent, index)| Sent { index, ..sent }).collect()
}

/// One each ten milliseconds.
fn even(ms: i64, delays: (u32, u32)) -> Vec<Sent> {
    packets((0..ms).step_by(10), delays)
}

fn full_before(packets: usize, of: usize) -> FullWindows<'static> {
    LazyCell::new(Box::new(move || vec![(0..of).map(|k| k < packets).collect()]))
}

fn nothing_full() -> FullWindows<'static> {
    full_before(0, 1_000)
}

#[test]
fn only_what_is_acknowledged_for_the_first_time_advances() {
    let acks = [(0, 100), (10, 100), (20, 250), (30, 200), (40, 300)];
    let seen = Half {
        acks: acks.map(|(ms, number)| ack(ms, number, 0)).into(),
        ..half()
    };
    let mut acked = Vec::new();
    advances(&seen, &mut acked);
    assert_eq!(acked, [(at(20), 150), (at(40), 50)]);
}

#[test]
fn a_queue_is_four_milliseconds_or_a_share_of_the_round_trip() {
    assert_eq!(queue_margin(at(26)), at(4));
    assert_eq!(queue_margin(at(100)), at(15));
}

#[test]
fn quantiles() {
    let list = || [5.0, 1.0, 4.0, 2.0, 3.0, 0.0];
    for (share, expected) in [(0.0, 0.0), (0.29, 1.0), (0.31, 2.0), (0.4, 2.0), (1.0, 5.0)] {
        assert_eq!(quantile(&mut list(), share, f64::total_cmp), expected, "{share}");
    }
}

fn passed(sent: &[Sent], acked: &[(i64, u64)]) -> Passed {
    Passed::of(sent.to_vec(), acked.to_vec())
}

/// One packet in 100 ms is the rate of the path here.
#[test]
fn a_packet_is_as_near_as_the_best_of_before_around_and_behind() {
    let sent = packets([0, 200, 260, 300, 1_000, 1_040, 1_080], (0, 0));
    let mut rates = vec![vec![0.0; 7]];
    passed(&sent, &[]).near(at(100), 10_000.0, &mut rates);
    assert_eq!(rates, [[1.0, 3.0, 2.0, 2.0, 3.0, 3.0, 3.0]]);
}

fn ranges(sent: &[Sent]) -> Vec<(i64, std::ops::Range<usize>)> {
    let found = passed(sent, &[]).stretches(at(1_000));
    found
        .into_iter()
        .map(|s| (s.begin / NANOS_PER_MILLI, s.data))
        .collect()
}

#[test]
fn a_stretch_begins_every_half_length_where_there_are_packets() {
    let all = ranges(&packets((0..=3_000).step_by(100), (0, 0)));
    assert_eq!(
        all,
        [
            (0, 0..10),
            (500, 5..15),
            (1_000, 10..20),
            (1_500, 15..25),
            (2_000, 20..30)
        ]
    );
    let parted = [(0, 900), (5_100, 5_900), (7_000, 7_000)].map(|(from, to)| (from..=to).step_by(100));
    let parted = ranges(&packets(parted.into_iter().flatten(), (0, 0)));
    assert_eq!(
        parted,
        [(0, 0..10), (500, 5..10), (5_000, 10..19), (5_500, 14..19)]
    );
    assert_eq!(ranges(&[]), []);
}

#[test]
fn a_stretch_carries_what_was_acknowledged_in_it_at_most() {
    let sent = packets((0..=1_000).step_by(100), (0, 0));
    let rate = |acked: u64| {
        let acked: Vec<(i64, u64)> = (0..=10).map(|k| (at(100 * k), acked)).collect();
        let found = passed(&sent, &acked).stretches(at(1_000));
        assert_eq!((found.len(), found[0].acks.clone()), (1, 0..10));
        found[0].rate
    };
    assert_eq!((rate(500), rate(1_500)), (5_000.0, 10_000.0));
    assert_eq!(
        passed(&sent, &[]).stretches(at(1_000))[0].rate,
        10_000.0,
        "nobody acknowledges"
    );
}

/// The first second, at this rate, bytes/s.
fn whole(sent: &[Sent], acked: &[(i64, u64)], rate: f64) -> BusyStretch {
    BusyStretch {
        data: 0..sent.len(),
        acks: 0..acked.len(),
        begin: 0,
        rate,
    }
}

const RTT: i64 = 20 * NANOS_PER_MILLI;

fn proven(sent: &[Sent], acked: &[(i64, u64)], rate: f64) -> Option<f64> {
    let found = proof(
        &whole(sent, acked, rate),
        &passed(sent, acked),
        &nothing_full(),
        (at(1_000), RTT),
    );
    found.map(f64::round)
}

/// Packets of a queue come as the path lets them through.
#[test]
fn even_packets_of_a_queue_prove_their_rate() {
    let sent = even(1_000, (5, 0));
    assert_eq!(proven(&sent, &[], 90_000.0), Some(90_000.0));
    // Not much more than one in ten milliseconds.
    assert_eq!(proven(&sent, &[], 200_000.0), Some(102_000.0));
    assert_eq!(proven(&even(1_000, (4, 4)), &[], 90_000.0), None, "no queue");
    assert_eq!(proven(&sent[..1], &[], 90_000.0), None, "one packet");
}

/// Two of three come after ten milliseconds. Without acknowledgements nothing else tells the rate of a queue.
#[test]
fn packets_are_even_while_their_mean_distance_is_near_the_usual_one() {
    let each_third_after = |ms: i64| {
        let times = (0..40).flat_map(|k| {
            let begin = k * (20 + ms);
            [begin, begin + 10, begin + 20]
        });
        packets(times.filter(|ms| *ms < 1_000), (5, 0))
    };
    assert_eq!(proven(&each_third_after(18), &[], 70_000.0), Some(70_000.0));
    assert_eq!(proven(&each_third_after(20), &[], 70_000.0), None);
}

#[test]
fn a_burst_with_silence_beside_it_proves_nothing() {
    let sent = even(1_000, (5, 0));
    assert_eq!(
        proven(&sent[5..], &[], 90_000.0),
        Some(90_000.0),
        "50 ms before it"
    );
    assert_eq!(proven(&sent[6..], &[], 90_000.0), None);
    assert_eq!(
        proven(&sent[..96], &[], 90_000.0),
        Some(90_000.0),
        "50 ms behind it"
    );
    assert_eq!(proven(&sent[..95], &[], 90_000.0), None);
    // An eighth of the stretch, where that is less.
    let short = |from: usize| {
        let own = &sent[from..20];
        proof(
            &whole(own, &[], 9e4),
            &passed(own, &[]),
            &nothing_full(),
            (at(200), RTT),
        )
    };
    assert!(short(2).is_some() && short(3).is_none());
}

/// Pairs of packets each 20 ms.
fn pairs(delays: (u32, u32)) -> Vec<Sent> {
    packets(
        (0..1_000).step_by(20).flat_map(|ms| [ms, ms + 1]).chain([999]),
        delays,
    )
}

#[test]
fn acknowledgements_tell_the_rate_of_a_queue_in_front() {
    let acked: Vec<(i64, u64)> = (0..50).map(|k| (at(20 * k), 2_000)).collect();
    let queued = pairs((15, 0));
    assert_eq!(proven(&queued, &acked, 90_000.0), Some(90_000.0));
    assert_eq!(proven(&queued, &acked, 200_000.0), Some(102_000.0));
    assert_eq!(
        proven(&queued, &acked[..1], 90_000.0),
        None,
        "one acknowledgement"
    );
    // All of its second half has to queue.
    let mut begins = pairs((15, 0));
    begins
        .iter_mut()
        .filter(|s| s.time < at(500))
        .for_each(|s| s.delay = Some(0));
    assert_eq!(proven(&begins, &acked, 90_000.0), Some(90_000.0));
    begins.iter_mut().find(|s| s.time == at(500)).unwrap().delay = Some(4_000);
    assert_eq!(proven(&begins, &acked, 90_000.0), None);
    assert_eq!(
        proven(&pairs((5, 0)), &acked, 90_000.0),
        None,
        "a queue of 5 ms does not last for 20 ms"
    );
}

#[test]
fn echoes_tell_of_a_queue_before_the_capture() {
    assert_eq!(proven(&pairs((0, 5)), &[], 90_000.0), Some(90_000.0));
    assert_eq!(proven(&pairs((UNKNOWN, 5)), &[], 90_000.0), Some(90_000.0));
    assert_eq!(proven(&pairs((0, 4)), &[], 90_000.0), None);
    assert_eq!(proven(&pairs((0, UNKNOWN)), &[], 90_000.0), None);
    let without = |silence: std::ops::Range<i64>| {
        let mut sent = pairs((0, 5));
        sent.retain(|s| !silence.contains(&(s.time / NANOS_PER_MILLI)));
        proven(&sent, &[], 90_000.0)
    };
    assert_eq!(without(400..440), None, "59 ms of silence may be the sender's");
    assert_eq!(without(400..420), Some(90_000.0), "39 ms");
}

#[test]
fn packets_flow_freely_without_a_queue_or_between_full_windows() {
    let freely_of = |sent: &[Sent], full: &FullWindows<'_>| flows_freely(sent, full, RTT);
    let freely = |delays, full| freely_of(&even(100, delays), &full_before(full, 10));
    assert!(freely((4, 4), 0));
    assert!(!freely((5, 4), 10) && !freely((4, 5), 10));
    // What one of them does not tell, the window does: full before half of the packets.
    for delays in [(UNKNOWN, 0), (0, UNKNOWN), (UNKNOWN, UNKNOWN)] {
        assert!(freely(delays, 5) && !freely(delays, 4), "{delays:?}");
    }
    // The middle one of the delays that are known counts.
    let mut mixed = even(100, (UNKNOWN, 0));
    for (sent, delay) in mixed.iter_mut().zip([9_000, 0, 9_000].map(Some)) {
        sent.delay = delay;
    }
    assert!(!freely_of(&mixed, &nothing_full()));
    mixed[2].delay = Some(0);
    assert!(freely_of(&mixed, &nothing_full()));
}

fn acknowledged(sent: &[Sent]) -> Vec<(i64, u64)> {
    sent.iter().map(|s| (s.time, u64::from(s.bytes))).collect()
}

#[test]
fn a_rate_is_proven_by_stretches_of_four_round_trips() {
    let sent = even(5_000, (500, 0));
    let acked = acknowledged(&sent);
    let rate = |rtt_ms: i64| own_rate(&passed(&sent, &acked), &nothing_full(), at(rtt_ms));
    assert_eq!(rate(20), (100_000.0, OwnRate::Proven));
    assert_eq!(rate(250), (100_000.0, OwnRate::Proven));
    assert_eq!(rate(251), (100_000.0, OwnRate::Best), "the longest is a second");
    let unasked = own_rate(&passed(&sent, &[]), &nothing_full(), RTT);
    assert_eq!(unasked, (100_000.0, OwnRate::Best), "nobody acknowledges");
}

/// A slow path with one fast second: a single stretch may be chance.
#[test]
fn one_stretch_proves_nothing() {
    let slow = (0..5_000).step_by(200);
    let fast = (5_000..6_000).step_by(10);
    let mut sent = packets(slow.chain(fast).chain([7_000]), (5, 0));
    let acked = acknowledged(&sent);
    let rate = |sent: &[Sent]| own_rate(&passed(sent, &acked), &nothing_full(), at(200));
    assert_eq!(rate(&sent), (100_000.0, OwnRate::Best));
    sent.truncate(1);
    assert_eq!(rate(&sent), (1e12, OwnRate::Best), "one packet: in a nanosecond");
    assert_eq!(rate(&[]), (0.0, OwnRate::Best));
}

#[test]
fn what_is_shorter_than_any_stretch_has_its_mean_rate() {
    let sent = packets([0, 100, 200, 250], (5, 0));
    let (rate, from) = own_rate(&passed(&sent, &acknowledged(&sent)), &nothing_full(), at(100));
    assert_eq!((rate.round(), from), (16_000.0, OwnRate::Best));
}

fn with_data(times: impl IntoIterator<Item = i64>) -> Half {
    let sent = times.into_iter().map(|ms| AccountPacket {
        acked_after: Some(7_500),
        ..data(ms, 0)
    });
    Half {
        data: sent.collect(),
        ..half()
    }
}

#[test]
fn packets_of_all_connections_stand_in_order_of_time() {
    let seen = Half {
        d1: Some(at(7)),
        echoed: Some(at(1)),
        ..with_data([10, 30])
    };
    let passed = Passed::by(&[&seen, &with_data([20])]);
    let shown: Vec<_> = passed
        .sent
        .iter()
        .map(|s| (s.time, s.half, s.index, s.delay, s.echo))
        .collect();
    assert_eq!(
        shown,
        [
            (at(10), 0, 0, Some(500), None),
            (at(20), 1, 0, Some(7_500), None),
            (at(30), 0, 1, Some(500), None)
        ]
    );
}

/// Nothing is said of packets where the path's rate is neither proven nor compared with anything.
#[test]
fn rates_are_told_where_the_path_is_known() {
    let seen = with_data((0..2_000).step_by(10));
    let told = |known: KnownRates| {
        let path = path(&[&seen], &nothing_full(), (RTT, known));
        (path.own, path.own_from, path.rates[0].get(100).copied())
    };
    let known = |proven, reference| KnownRates { proven, reference };
    assert_eq!(told(known(None, None)), (1e5, OwnRate::Best, None));
    assert_eq!(told(known(None, Some(1.2e5))), (1e5, OwnRate::Best, None));
    // 11 packets in 100 ms, with both ends.
    assert_eq!(told(known(None, Some(1.1e5))), (1e5, OwnRate::Best, Some(1.1)));
    assert_eq!(told(known(Some(2e5), None)), (2e5, OwnRate::Proven, Some(0.55)));
    let blind = Half { blind: true, ..seen };
    let path = path(&[&blind], &nothing_full(), (RTT, known(Some(2e5), None)));
    assert_eq!((path.own_from, path.rates[0][100]), (OwnRate::Best, 0.55));
}

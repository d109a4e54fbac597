//! Traces, and the kind of each packet in them.

use crate::world::{at, facts, lines, packets, track};
use rekeyscope_model::analysis::Direction;
use rekeyscope_traffic::{ConnectionId, InnerPayload, Segment, Tap, Tracker};

fn check(input: &str, expected: &str) {
    let found = facts(input);
    assert!(found == lines(expected), "{input}\nfound:\n{found}");
}

#[test]
fn a_connection_from_its_first_to_its_last_packet() {
    check(
        "0 > S 0:0
         20 < S 0:0 ack 1
         21 > 1:0 ack 1
         22 > 1:100 ack 1
         23 > 101:100 ack 1
         42 < 1:0 ack 201
         43 > F 201:0 ack 1
         63 < F 1:0 ack 202
         64 > 202:0 ack 2",
        "in order
         in order, advances 1, 1 arrived
         -, advances 1, 2 arrived
         in order, new 100
         in order, new 100
         -, advances 200, 4 arrived, 5 arrived
         in order
         in order, advances 1, 7 arrived
         -, advances 1, 8 arrived",
    );
}

#[test]
fn a_loss_behind_the_capture_is_repeated_and_the_copy_arrived() {
    check(
        "0 > 0:100 ack 0
         1 > 100:100 ack 0
         2 > 200:100 ack 0
         20 < 0:0 ack 100
         22 < 0:0 ack 100 sack=200-300
         23 > 100:100 ack 0
         43 < 0:0 ack 300",
        "in order, new 100
         in order, new 100
         in order, new 100
         -, advances 100, 1 arrived
         -, 3 arrived
         repeats, again 100
         -, advances 200, 2 swallowed, 6 arrived",
    );
}

/// An acknowledgement that comes sooner than any can is one of the original.
#[test]
fn the_copy_that_arrived_is_old_enough() {
    check(
        "0 > 0:100 ack 0
         40 < 0:0 ack 100
         50 > 100:100 ack 0
         88 > 100:100 ack 0
         90 < 0:0 ack 200",
        "in order, new 100
         -, advances 100, 1 arrived
         in order, new 100
         repeats, again 100
         -, advances 100, 3 arrived, 4 superfluous",
    );
    // Unless the timestamps say which.
    check(
        "0 > 0:100 ack 0 ts=1/1
         40 < 0:0 ack 100 ts=9/1
         50 > 100:100 ack 0 ts=51/9
         88 > 100:100 ack 0 ts=89/9
         130 < 0:0 ack 200 ts=99/51",
        "in order, new 100
         -, advances 100, 1 arrived
         in order, new 100
         repeats, again 100
         -, advances 100, 3 arrived, 4 superfluous",
    );
    // A receiver that had the copy would not echo what was sent before it.
    let echoed = |echo: u32, arrived: &str| {
        let lines = format!(
            "0 > 0:100 ack 0 ts=1/1
             40 < 0:0 ack 100 ts=9/1
             50 > 100:100 ack 0 ts=51/9
             60 > 200:100 ack 0 ts=61/9
             88 > 100:100 ack 0 ts=89/9
             130 < 0:0 ack 300 ts=99/{echo}"
        );
        let expected = format!(
            "in order, new 100
             -, advances 100, 1 arrived
             in order, new 100
             in order, new 100
             repeats, again 100
             -, advances 200, {arrived}"
        );
        check(&lines, &expected);
    };
    echoed(61, "3 arrived, 5 superfluous, 4 arrived");
    echoed(90, "3 swallowed, 5 arrived, 4 arrived");
}

#[test]
fn an_original_that_was_overtaken_is_late() {
    check(
        "0 > 0:100 ack 0 esp=7/1
         1 > 200:100 ack 0 esp=7/3
         900 > 100:100 ack 0 esp=7/2
         901 > 100:100 ack 0 esp=7/4",
        "in order, new 100
         in order, new 100, gap 100
         late, new 100
         repeats, again 100",
    );
}

/// The retransmission came before the original, whose bytes are neither new nor sent again.
#[test]
fn an_original_behind_its_own_copy_is_late() {
    check(
        "0 > 0:100 ack 0 esp=7/1
         1 > 200:100 ack 0 esp=7/3
         50 > 100:100 ack 0 esp=7/4
         70 < 0:0 ack 300 esp=8/1
         600 > 100:100 ack 0 esp=7/2",
        "in order, new 100
         in order, new 100, gap 100
         repeats, new 100
         -, advances 300, 1 arrived, 2 arrived, 3 arrived
         late",
    );
}

#[test]
fn at_a_switch_the_older_association_was_used_before() {
    check(
        "0 > 0:100 ack 0 esp=7/1
         1 > 200:100 ack 0 esp=9/1
         60 > 100:100 ack 0 esp=7/2
         61 > 300:100 ack 0 esp=9/2
         200 > 300:100 ack 0 esp=9/3",
        "in order, new 100
         in order, new 100, gap 100
         late, new 100
         in order, new 100
         repeats, again 100",
    );
}

#[test]
fn identifications_tell_where_numbers_do_not() {
    let begin = "0 > 0:10 ack 0 id=1
         1 > 10:10 ack 0 id=2
         2 > 20:10 ack 0 id=3
         3 > 30:10 ack 0 id=4
         4 > 50:10 ack 0 id=6\n";
    let kind = |rest: &str| {
        let found = facts(&(begin.to_owned() + rest));
        found.lines().last().unwrap().to_owned()
    };
    assert_eq!(kind("90 > 40:10 ack 0 id=5"), "late, new 10");
    assert_eq!(kind("5 > 40:10 ack 0 id=7"), "repeats, new 10");
}

/// Without any of that, what comes sooner than a round trip was not sent again.
#[test]
fn time_tells_at_last() {
    let begin = "0 > S 0:0
         20 < S 0:0 ack 1
         40 > 1:0 ack 1
         41 > 1:10 ack 1
         42 > 21:10 ack 1\n";
    let last = |rest: &str| {
        facts(&(begin.to_owned() + rest))
            .lines()
            .last()
            .unwrap()
            .to_owned()
    };
    assert_eq!(last("70 > 11:10 ack 1"), "late, new 10");
    assert_eq!(last("83 > 11:10 ack 1"), "repeats, new 10");
}

#[test]
fn partial_overlaps_are_counted_by_the_byte() {
    check(
        "0 > 0:100 ack 0
         1 > 200:100 ack 0
         90 > 50:300 ack 0
         110 < 0:0 ack 350",
        "in order, new 100
         in order, new 100, gap 100
         repeats, new 150, again 150
         -, advances 350, 1 swallowed, 3 arrived, 2 swallowed, 3 arrived, 3 arrived, 3 arrived",
    );
}

#[test]
fn a_segment_that_is_cut_is_told_of_once() {
    check(
        "0 > 0:300 ack 0
         300 > 0:100 ack 0
         320 < 0:0 ack 100
         321 > 100:200 ack 0
         341 < 0:0 ack 300",
        "in order, new 300
         repeats, again 100
         -, advances 100, 1 swallowed, 2 arrived
         repeats, again 200
         -, advances 200, 4 arrived",
    );
}

#[test]
fn keep_alives_and_window_probes_bring_nothing() {
    check(
        "0 > 0:100 ack 0
         20 < 0:0 ack 100
         500 > 99:0 ack 0
         1000 > 99:1 ack 0
         1020 < 0:0 ack 100 win=0
         1100 > 100:1 ack 0
         1101 > P 99:1 ack 0",
        "in order, new 100
         -, advances 100, 1 arrived
         KeepAlive
         KeepAlive
         -
         WindowProbe, new 1
         repeats, again 1, 7 superfluous",
    );
}

#[test]
fn fin_and_syn_are_repeated_like_data() {
    check(
        "0 > S 0:0
         1000 > S 0:0
         1020 < S 0:0 ack 1
         1021 > F 1:0 ack 1
         1300 > F 1:0 ack 1
         1900 > F 1:0 ack 1",
        "in order
         repeats
         in order, advances 1, 1 swallowed, 2 arrived
         in order, advances 1, 3 arrived
         repeats
         repeats",
    );
}

#[test]
fn what_the_capture_lost_is_acknowledged_all_the_same() {
    check(
        "0 > 0:100 ack 0
         1 > 300:100 ack 0
         20 < 0:0 ack 400",
        "in order, new 100
         in order, new 100, gap 200
         -, advances 400, unseen 200, 1 arrived, 2 arrived",
    );
}

/// Data below the first packet was sent before the capture, and is no loss of it.
#[test]
fn a_capture_begins_in_the_middle() {
    check(
        "0 < 0:0 ack 1000
         1 > 5000:100 ack 0
         20 < 0:0 ack 5100
         21 > 4900:100 ack 0",
        "-
         in order, new 100
         -, advances 4100, 2 arrived
         repeats, new 100, 4 superfluous",
    );
}

#[test]
fn packets_that_the_capture_has_twice_count_once() {
    check(
        "0 > 0:100 ack 0 esp=7/1
         0 > 0:100 ack 0 esp=7/1
         20 < 0:0 ack 100 id=5
         20 < 0:0 ack 100 id=5
         21 > 100:100 ack 0 id=9
         21 > 100:100 ack 0 id=9",
        "in order, new 100
         Duplicate
         -, advances 100, 1 arrived
         Duplicate
         in order, new 100
         Duplicate",
    );
}

#[test]
fn a_sender_that_hears_nothing_repeats_what_arrived() {
    check(
        "0 > 0:100 ack 0
         20 < 0:0 ack 100
         300 > 0:100 ack 0",
        "in order, new 100
         -, advances 100, 1 arrived
         repeats, again 100, 3 superfluous",
    );
}

#[test]
fn a_reset_gives_up_what_waits() {
    check(
        "0 > 0:100 ack 0
         5 < R 0:0",
        "in order, new 100
         -, 1 abandoned",
    );
}

/// Tells behind each packet whether the client's data waits.
fn waits(lines: &str) -> Vec<bool> {
    let mut tracker = Tracker::default();
    let packets = packets(lines, [0, 0]);
    let waits = packets.iter().map(|packet| {
        tracker.push(packet);
        tracker.waits(Direction::AToB)
    });
    waits.collect()
}

/// A packet that a side sends behind its own RST shows that the connection goes on (RFC 5961 §3.2); one that was under way towards it does not.
#[test]
fn nothing_waits_in_a_connection_that_was_reset() {
    let lines = "0 > 0:100 ack 0
                 5 < R 0:0
                 6 > 100:100 ack 0
                 9 < 0:0 ack 100";
    assert_eq!(waits(lines), [true, false, false, true]);
}

#[test]
fn a_handshake_has_no_data_that_waits() {
    let lines = "0 > S 100:0
                 1 > 101:50 ack 1";
    assert_eq!(waits(lines), [false, true]);
}

#[test]
fn ports_that_are_used_again_are_another_connection() {
    let packets = packets(
        "0 > S 100:0
         1 > 101:50 ack 1
         2 > S 900:0
         3 > 901:50 ack 1
         70000 > 901:50 ack 1
         140000 > 99000000:50 ack 1
         140001 > 99000050:50 ack 1",
        [0, 0],
    );
    let ids: Vec<ConnectionId> = track(&packets)
        .iter()
        .map(|(segment, _)| segment.connection)
        .collect();
    assert_eq!(
        ids.iter().map(|id| id.0).collect::<Vec<_>>(),
        [0, 0, 1, 1, 1, 2, 2]
    );
}

#[test]
fn the_state_of_a_sender() {
    let mut tracker = Tracker::default();
    let all = packets(
        "0 > S 0:0
         2 < S 0:0 ack 1
         30 > 1:0 ack 1
         31 < 1:1000 ack 1
         32 < 1001:1000 ack 1
         59 > 1:0 ack 1 sack=1001-2001
         60 < 1:1000 ack 1
         88 > 1:0 ack 2001",
        [0, 0],
    );
    let mut state = |k: usize| {
        tracker.push(&all[k]);
        tracker.sender(Direction::BToA).unwrap()
    };
    let first = |k| Segment::ORIGIN + k;
    (0..5).for_each(|k| {
        state(k);
    });
    let sacked = state(5);
    assert_eq!(sacked.snd_una, first(1));
    assert_eq!((sacked.round_trip, sacked.tap), (Some(at(30).0), Tap::Sender));
    state(6);
    let done = state(7);
    assert_eq!(done.snd_una, first(2_001));
    assert_eq!(done.rtt, sacked.rtt, "of a copy nothing is measured");
}

/// A packet that was not taken, beside what its sender sent before: 60 packets of 1,000 bytes at the rate of the timestamps.
#[test]
fn a_packet_is_compared_before_it_is_taken() {
    let mut tracker = Tracker::default();
    for k in 0..60_u32 {
        let (ms, seq, ticks) = (k * 10, k * 1_000, 7_000 + k * 10);
        let lines = format!(
            "{ms} > {seq}:1000 ack 0 ts={ticks}/1\n{} < 0:0 ack {} ts=1/{ticks}",
            ms + 5,
            seq + 1_000,
        );
        packets(&lines, [0, 0]).iter().for_each(|packet| {
            tracker.push(packet);
        });
    }
    let preview = |line: &str| {
        let packet = &packets(line, [0, 0])[0];
        let InnerPayload::Tcp(header) = packet.payload else {
            panic!()
        };
        tracker.preview((0, packet.direction), &packet.tuple.unwrap(), &header)
    };
    let goes_on = preview("9000 > 60000:1000 ack 0 ts=8590/1").unwrap();
    assert_eq!((goes_on.distance, goes_on.in_flight), (0, Some(0)));
    assert_eq!(goes_on.newest, Some(at(590)));
    assert_eq!(
        goes_on.since_newest,
        Some((at(590), at(1_000).0)),
        "a second passed by the sender's clock, whatever the frames say"
    );
    assert_eq!(preview("9000 > 59000:1000 ack 0").unwrap().distance, -1_000);
    assert_eq!(
        preview("9000 < 0:10 ack 0").unwrap().in_flight,
        None,
        "nothing of this side was ever acknowledged"
    );
    assert_eq!(preview("9000 > 0:10 port=2"), None);
}

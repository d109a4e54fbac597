//! Stretches without delivery, in traces.

use crate::world::{at, packets};
use rekeyscope_model::analysis::{Certainty, Event, EventKind};
use rekeyscope_traffic::{Outages, Packet, StandstillKind, Tracker};

/// A download: the server sends a segment of 1,000 bytes every 10 ms from `from` to `to`, acknowledged 20 ms later.
fn download(from: i64, to: i64) -> String {
    use std::fmt::Write;
    let mut lines = Vec::new();
    for ms in (from..to).step_by(10) {
        lines.push((
            ms,
            format!(
                "{ms} < {}:1000 ack 0 esp=8/{} id={}",
                100 * ms,
                ms / 10 + 1,
                ms / 10 % 60_000 + 1
            ),
        ));
        lines.push((ms + 20, format!("{} > 0:0 ack {}", ms + 20, 100 * ms + 1000)));
    }
    lines.sort_by_key(|(ms, _)| *ms);
    let mut text = String::new();
    for (_, line) in lines {
        writeln!(text, "{line}").unwrap();
    }
    text
}

fn run(lines: &str, events: &[Event], end: i64) -> Vec<String> {
    let all: Vec<Packet> = packets(lines, [0, 0]);
    let (mut tracker, mut outages) = (Tracker::default(), Outages::default());
    for packet in &all {
        let segment = tracker.push(packet);
        outages.take(packet, &segment, &tracker);
    }
    let found = outages.intervals(&tracker, events, at(end));
    let word = |interval: &rekeyscope_traffic::Interval| {
        let ms = |time: rekeyscope_model::time::Timestamp| time.0 / 1_000_000;
        let (from, to) = (ms(interval.from), ms(interval.to));
        let facts = interval.facts.undelivered;
        match interval.facts.kind {
            StandstillKind::Outage => {
                let open = if facts.open { " open" } else { "" };
                let connections = match facts.connections {
                    0 | 1 => String::new(),
                    n => format!(" of {n}"),
                };
                let passed = match facts.echoes {
                    0 => String::new(),
                    echoes => format!(" passed {echoes}"),
                };
                let dead = facts
                    .dead
                    .map(|(a, b)| format!(" dead {}-{}", ms(a), ms(b)))
                    .unwrap_or_default();
                format!(
                    "outage {from}-{to} {:?} {}{dead}{passed}{connections}{open}",
                    facts.shown_by, facts.swallowed
                )
            }
            StandstillKind::ShortOutage => format!("short {from}-{to} {}", facts.swallowed),
            StandstillKind::Loss => format!("loss {from}-{to} {}", facts.swallowed),
            StandstillKind::Rest => format!("rest {from}-{to}"),
            StandstillKind::Unseen => format!("unseen {from}-{to}"),
        }
    };
    found.iter().map(word).collect()
}

#[test]
fn a_transfer_that_goes_on_has_none() {
    assert_eq!(run(&download(0, 3_000), &[], 3_100), [""; 0]);
}

#[test]
fn what_was_swallowed_makes_an_outage_and_its_end_is_the_sender_s_timer() {
    let mut lines = download(0, 1_000);
    for k in 0..5 {
        lines += &format!("{} < {}:1000 ack 0\n", 1_000 + 10 * k, 100_000 + 1_000 * k);
    }
    lines += "1260 < 100000:1000 ack 0\n1700 < 100000:1000 ack 0\n2600 < 100000:1000 ack 0\n2620 > 0:0 ack 101000\n";
    for k in 1..5 {
        lines += &format!("{} < {}:1000 ack 0\n", 2_630 + k, 100_000 + 1_000 * k);
    }
    lines += "2660 > 0:0 ack 105000\n";
    assert_eq!(
        run(&lines, &[], 2_700),
        ["outage 990-2600 Swallowed 7 dead 1000-1700"]
    );
}

#[test]
fn one_lost_segment_is_a_loss_however_long_its_timer() {
    let lines =
        download(0, 1_000) + "1000 < 100000:1000 ack 0\n2600 < 100000:1000 ack 0\n2620 > 0:0 ack 101000\n";
    assert_eq!(run(&lines, &[], 2_700), ["loss 990-2600 1"]);
}

/// The receiver's acknowledgements pass the capture, and its sender repeats what they acknowledge.
#[test]
fn acknowledgements_that_nobody_hears_make_an_outage() {
    let lines = download(0, 1_000)
        + "1300 < 90000:1000 ack 0\n1900 < 90000:1000 ack 0\n3100 < 100000:1000 ack 0\n3120 > 0:0 ack 101000\n";
    assert_eq!(
        run(&lines, &[], 3_200),
        ["outage 990-3100 Swallowed 2 dead 1300-1900"]
    );
}

#[test]
fn a_sender_that_sends_nothing_rests() {
    let later = "9000 < 100000:1000 ack 0 esp=8/101 id=101\n9020 > 0:0 ack 101000\n";
    assert_eq!(run(&(download(0, 1_000) + later), &[], 9_100), ["rest 990-9000"]);
}

/// The receiver has no room, and answers what asks for it: an empty segment (Linux), or one byte that it does not take. Its sender gives
/// other receivers the identifications between, or packets are missing between.
#[test]
fn a_receiver_without_room_is_no_outage() {
    let full = |probe: &str, answered: bool| {
        let mut lines = download(0, 1_000) + "1030 > 0:0 ack 100000 win=0\n";
        for (ms, number) in [
            (1_300, 120),
            (1_900, 140),
            (3_100, 160),
            (5_500, 180),
            (8_900, 200),
        ] {
            lines += &format!("{ms} < {probe} ack 0 esp=8/{number} id={number}\n");
            if answered {
                lines += &format!("{} > 0:0 ack 100000 win=0\n", ms + 20);
            }
        }
        lines += "9000 > 0:0 ack 100000\n9020 < 100000:1000 ack 0 esp=8/230 id=230\n9040 > 0:0 ack 101000\n";
        run(&lines, &[], 9_100)
    };
    assert_eq!(full("99999:0", true), [""; 0]);
    assert_eq!(full("100000:1", true), [""; 0]);
    assert_eq!(full("99999:0", false), ["outage 990-9020 MissingNumbers 0"]);
    assert_eq!(
        full("100000:1", false),
        ["outage 990-9020 Swallowed 5 dead 1300-8900"]
    );
}

/// A host counts the packets of all its connections with one counter: what another one had is not missing.
#[test]
fn identifications_of_another_connection_are_not_missing() {
    let rests = |other: bool| {
        let mut lines = download(0, 1_000);
        for k in (0..20).filter(|_| other) {
            lines += &format!(
                "{} < port=2 {}:10 ack 0 esp=9/{k} id={}\n",
                3_000 + 10 * k,
                10 * k,
                101 + k
            );
        }
        lines +=
            "3210 > port=2 0:0 ack 200\n9000 < 100000:1000 ack 0 esp=9/20 id=121\n9020 > 0:0 ack 101000\n";
        run(&lines, &[], 9_100)
    };
    assert_eq!(rests(true), ["rest 3190-9000"]);
    assert_eq!(rests(false), ["outage 990-9000 MissingNumbers 0"]);
}

/// At the receiver's end nothing of an outage is seen but that numbers are missing.
#[test]
fn missing_numbers_tell_an_outage_from_a_rest() {
    let later = "9000 < 100000:1000 ack 0 esp=8/131 id=131\n9020 > 0:0 ack 101000\n";
    assert_eq!(
        run(&(download(0, 1_000) + later), &[], 9_100),
        ["outage 990-9000 MissingNumbers 0"]
    );
    // On another association the identifications tell.
    let later = "9000 < 100000:1000 ack 0 esp=9/1 id=131\n9020 > 0:0 ack 101000\n";
    assert_eq!(
        run(&(download(0, 1_000) + later), &[], 9_100),
        ["outage 990-9000 MissingNumbers 0"]
    );
}

/// A sender whose timer has ended sends one segment and then new ones (F-RTO): the window between them never came.
#[test]
fn a_window_that_never_came_tells_an_outage_from_a_rest() {
    let all = |later: &str| run(&(download(0, 1_000) + later), &[], 9_100);
    let one = "9000 < 100000:1000 ack 0 esp=9/1\n9020 > 0:0 ack 101000\n";
    let beyond = |first: u32| format!("9040 < {first}:1000 ack 0 esp=9/2\n");
    let outage = ["outage 990-9000 MissingNumbers 0"];
    assert_eq!(all(&(one.to_owned() + &beyond(111_000))), outage);
    let rest = ["rest 990-9000"];
    assert_eq!(
        all(&(one.to_owned() + &beyond(110_000))),
        rest,
        "a few are a loss"
    );
    // A packet that a queue drops has others of its burst before it, which nobody has acknowledged.
    let burst = "9000 < 100000:1000 ack 0 esp=9/1\n9001 < 101000:1000 ack 0 esp=9/2\n9002 < 131000:1000 ack 0 esp=9/3\n9020 > 0:0 ack 102000\n";
    assert_eq!(all(burst), rest);
}

/// A host that asks for connections in vain may ask one that filters the port: only beside an event that ends ways was there none.
#[test]
fn connections_that_are_asked_for_in_vain_show_an_outage_where_an_event_says_so() {
    let upload = download(0, 1_000)
        .replace('<', "=")
        .replace('>', "<")
        .replace('=', ">");
    let mut lines = upload.replace("esp>", "esp=").replace("id>", "id=");
    lines += "1000 > F 100000:0 ack 0\n1020 < 0:0 ack 100001\n";
    for ms in [3_000, 4_000, 6_000, 10_000] {
        lines += &format!("{ms} > S port=2 0:0\n");
    }
    lines += "12000 > S port=3 0:0\n12020 < S port=3 0:0 ack 1\n12040 > port=3 1:500 ack 1\n12060 < port=3 1:0 ack 501\n";
    assert_eq!(run(&lines, &[], 12_100), ["rest 1000-12000"]);
    let anew = [Event::at(EventKind::NewIkeSa, Certainty::Read, at(11_000), 0)];
    assert_eq!(
        run(&lines, &anew, 12_100),
        ["outage 3000-12000 ControlPlane 0 dead 3000-11000"]
    );
}

/// A host that stood still answers all echoes when it goes on: small packets did not pass meanwhile.
#[test]
fn echoes_that_are_answered_late_did_not_pass() {
    let run = |asked: &str, delay: i64| {
        let (word, back) = match asked {
            "<" => ("ping", ">"),
            _ => ("echo", "<"),
        };
        let mut packets = vec![
            (1_000, "< 100000:1000 ack 0".to_owned()),
            (1_300, "< 100000:1000 ack 0".to_owned()),
            (1_900, "< 100000:1000 ack 0".to_owned()),
            (3_100, "< 100000:1000 ack 0".to_owned()),
            (4_300, "< 100000:1000 ack 0".to_owned()),
            (4_320, "> 0:0 ack 101000".to_owned()),
        ];
        for k in 0..4 {
            let ms = 1_100 + 400 * k;
            packets.extend([
                (ms, format!("{asked} {word}={k}")),
                (ms + delay, format!("{back} {word}={k}")),
            ]);
        }
        packets.sort_by_key(|(ms, _)| *ms);
        let later: String = packets
            .iter()
            .map(|(ms, packet)| format!("{ms} {packet}\n"))
            .collect();
        run(&(download(0, 1_000) + &later), &[], 4_400)
    };
    let none = ["outage 990-4300 Swallowed 4 dead 1000-3100"];
    assert_eq!(
        run("<", 20),
        ["outage 990-4300 Swallowed 4 dead 1000-3100 passed 4"]
    );
    assert_eq!(run("<", 2_050), none);
    assert_eq!(run(">", 20), none, "the replies go the way of the data");
}

/// Two connections of the same hosts never get a full-sized segment through, and a third one goes on with small ones.
#[test]
fn large_segments_that_never_pass_are_one_stretch_of_all_connections() {
    let mut packets = Vec::new();
    for (port, from) in [(2, 1_000), (3, 5_000)] {
        packets.push((from, format!("< port={port} S 0:0 ack 0")));
        packets.push((from + 20, format!("> port={port} 0:0 ack 1")));
        for k in 0..4 {
            packets.push((from + 40, format!("< port={port} {}:1400 ack 0", 1 + 1400 * k)));
        }
        for wait in [300, 900, 2_100] {
            packets.push((from + 40 + wait, format!("< port={port} 1:1400 ack 0")));
        }
    }
    for k in 0..100 {
        packets.push((100 * k, format!("< {}:60 ack 0", 60 * k)));
        packets.push((100 * k + 20, format!("> 0:0 ack {}", 60 * (k + 1))));
    }
    packets.sort_by_key(|(ms, _)| *ms);
    let lines: String = packets
        .iter()
        .map(|(ms, packet)| format!("{ms} {packet}\n"))
        .collect();
    assert_eq!(
        run(&lines, &[], 10_000),
        ["outage 1000-10000 Swallowed 14 dead 1040-7140 passed 58 of 2 open"]
    );
}

#[test]
fn an_event_in_the_middle_of_a_transfer_shows_an_outage() {
    let event = |ms, kind| Event::at(kind, Certainty::Read, at(ms), 0);
    let deleted = [event(1_020, EventKind::IkeSaDeleted)];
    assert_eq!(
        run(&download(0, 1_000), &deleted, 9_000),
        ["outage 990-9000 ControlPlane 0 open"]
    );
    let refused = [event(1_020, EventKind::Refused)];
    assert_eq!(
        run(&download(0, 1_000), &refused, 9_000),
        ["short 990-9000 0"],
        "only if something explains it"
    );
    let finished = download(0, 1_000) + "1000 < F 100000:0 ack 0\n1020 > 0:0 ack 100001\n";
    assert_eq!(run(&finished, &deleted, 9_000), [""; 0], "the transfer was over");
    let renewed = [
        event(1_020, EventKind::InvalidSpi),
        event(5_000, EventKind::NewIkeSa),
    ];
    let later = "9000 < 100000:1000 ack 0 esp=9/1 id=101\n9020 > 0:0 ack 101000\n";
    assert_eq!(
        run(&(download(0, 1_000) + later), &renewed, 9_100),
        ["outage 990-9000 ControlPlane 0 dead 990-5000"]
    );
}

/// The last segment is a short one, so the transfer may be over. The server that answers no check any more has not ended it, and the client's
/// own farewell comes much later.
#[test]
fn a_peer_that_answers_no_checks_stopped_the_transfer() {
    let mut lines = download(0, 3_000);
    lines += "3000 < 300000:500 ack 0 esp=8/301 id=301\n3020 > 0:0 ack 300500\n";
    assert_eq!(
        run(&lines, &[], 20_000),
        [""; 0],
        "nothing shows that it was not over"
    );
    lines += "13000 > F 0:0 ack 300500\n";
    let checks = [Event::at(
        EventKind::ChecksUnanswered,
        Certainty::Proven,
        at(3_700),
        0,
    )];
    assert_eq!(
        run(&lines, &checks, 20_000)[0],
        "outage 3000-13000 ControlPlane 0 open"
    );
}

#[test]
fn what_a_reset_ends_was_no_longer_open() {
    let lines = download(0, 1_000)
        + "1000 < 100000:1000 ack 0\n1300 < 100000:1000 ack 0\n1900 < 100000:1000 ack 0\n2500 < R 101000:0\n";
    assert_eq!(
        run(&lines, &[], 60_000),
        ["outage 990-2500 Swallowed 3 dead 1000-1900 open"]
    );
}

/// The renewal of an IKE SA deletes the old one, and a pause around it is no outage.
#[test]
fn a_rest_holds_a_renewal() {
    let deleted = |successor| Event {
        successor: Some(successor),
        ..Event::at(EventKind::IkeSaDeleted, Certainty::Read, at(1_020), 0)
    };
    let lines = download(0, 1_000) + "9000 < 100000:1000 ack 0 esp=8/101 id=101\n9020 > 0:0 ack 101000\n";
    assert_eq!(run(&lines, &[deleted(true)], 9_100), ["rest 990-9000"]);
    assert_eq!(
        run(&lines, &[deleted(false)], 9_100),
        ["outage 990-9000 ControlPlane 0"]
    );
}

/// The client closes with FIN, and a segment of the server that was under way still arrives.
#[test]
fn what_was_in_flight_when_a_client_closed_opens_no_transfer() {
    let deleted = [Event::at(EventKind::IkeSaDeleted, Certainty::Read, at(1_030), 0)];
    let lines = download(0, 1_000).replace("1000 > 0:0", "1000 > F 0:0")
        + "1011 < 100000:1000 ack 1\n1025 > 1:0 ack 101000\n";
    assert_eq!(run(&lines, &deleted, 9_000), [""; 0]);
}

/// The client closes with RST, and the server's segments that were under way meet no connection.
#[test]
fn what_was_in_flight_when_a_client_reset_is_no_outage() {
    let mut lines = download(0, 1_000) + "1020 > R 0:0\n";
    for k in 0..12 {
        lines += &format!("{} < {}:1000 ack 0\n", 1_021 + k, 100_000 + 1_000 * k);
    }
    assert_eq!(run(&lines, &[], 20_000), [""; 0]);
}

/// The client's program ends while a queue holds the server's segments, and its host resets the connection for each that arrives.
#[test]
fn what_was_under_way_when_it_met_a_reset_is_no_outage() {
    let mut lines = download(0, 1_000);
    for k in 0..12 {
        lines += &format!("{} < {}:1000 ack 0\n", 1_025 + k, 100_000 + 1_000 * k);
    }
    lines += "1100 > R 0:0\n1101 > R 0:0\n";
    lines += "2000 < port=2 0:10 ack 0\n2020 > port=2 0:0 ack 10\n";
    assert_eq!(run(&lines, &[], 20_000), [""; 0]);
}

/// The first connection never hears of its data again; another one of the same hosts goes on later.
#[test]
fn data_that_is_never_acknowledged_waits_through_an_outage() {
    let mut lines = download(0, 1_000);
    for k in 0..12 {
        lines += &format!("{} < {}:1000 ack 0\n", 1_000 + 10 * k, 100_000 + 1_000 * k);
    }
    for k in 0..20 {
        lines += &format!("{} < port=2 {}:1000 ack 0\n", 9_000 + 10 * k, 1_000 * k);
        lines += &format!("{} > port=2 0:0 ack {}\n", 9_005 + 10 * k, 1_000 * (k + 1));
    }
    assert_eq!(
        run(&lines, &[], 9_300)[0],
        "outage 990-9000 Swallowed 12 dead 1000-1110"
    );
}

#[test]
fn echoes_that_nobody_answers_are_an_outage_of_echoes() {
    let mut lines = String::new();
    for second in 0..10 {
        lines += &format!("{} > echo={second}\n", 1_000 * second);
        if !(3..7).contains(&second) {
            lines += &format!("{} < echo={second}\n", 1_000 * second + 20);
        }
    }
    assert_eq!(
        run(&lines, &[], 9_100),
        ["outage 2000-7000 Swallowed 4 dead 3000-6000"]
    );
}

/// The last segment waits for its acknowledgement, as every second one does, while the sender repeats one that it did not hear of.
#[test]
fn a_segment_that_is_acknowledged_late_hides_no_outage() {
    let copies: String = [1_300, 1_900, 3_100]
        .map(|ms| format!("{ms} < 98000:1000 ack 0\n"))
        .concat();
    let later = "4200 < 100000:1000 ack 0\n4220 > 0:0 ack 101000\n";
    let all = download(0, 1_000).replace(" ack 100000", " ack 99000") + &copies + later;
    assert_eq!(
        run(&all, &[], 4_300),
        ["outage 990-4200 Swallowed 3 dead 1300-3100"]
    );
}

/// At the receiver's end: the request is acknowledged, and of the answer nothing comes but missing numbers, until the client gives up. Small packets
/// come four times a second, and `skips` of them behind so many missing ones.
#[test]
fn a_request_waits_for_an_answer_that_never_comes() {
    let wait = |skips: &dyn Fn(i64) -> u32, largest: u32| {
        let mut lines = format!(
            "0 > 0:0 S mss=1400\n20 < 0:0 S ack 1 mss=1400 esp=8/1\n21 > 1:0 ack 1\n\
             22 > 0:0 port=2 S mss=1400\n42 < 0:{largest} port=2 ack 1 esp=8/2\n43 > 1:0 port=2 ack {largest}\n\
             100 > 1:500 ack 1\n120 < 1:0 ack 501 esp=8/3\n"
        );
        let mut number = 3;
        for k in 0..120 {
            let ms = 200 + 250 * k;
            number += 1 + skips(k);
            lines += &format!("{ms} > echo={k}\n{} < echo={k} esp=8/{number}\n", ms + 20);
        }
        lines += "30300 > 501:0 R\n";
        run(&lines, &[], 30_400)
    };
    let copies = |k: i64| match k {
        0 => 10,
        1 | 3 | 6 | 12 | 25 | 51 | 102 => 1,
        _ => 0,
    };
    assert_eq!(
        wait(&copies, 100),
        ["outage 120-30300 MissingNumbers 0 passed 122"]
    );
    assert_eq!(
        wait(&copies, 1_388),
        ["outage 120-30300 MissingNumbers 0 passed 120"]
    );
    // A server that thinks, on a path that loses packets.
    let by_chance = |k: i64| u32::from(k % 17 == 0);
    assert_eq!(wait(&by_chance, 100), [""; 0]);
    assert_eq!(wait(&|_| 0, 100), [""; 0]);
}

#[test]
fn datagrams_cannot_be_seen() {
    let lines: String = (0..100)
        .map(|k| format!("{} > udp=1000 esp=7/{}\n", 100 * k, k + 1))
        .collect();
    assert_eq!(run(&lines, &[], 10_000), ["unseen 0-9900"]);
    // At the receiver's end numbers are missing.
    let lines: String = (0..100)
        .filter(|k| !(30..60).contains(k))
        .map(|k| format!("{} > udp=1000 esp=7/{}\n", 100 * k, k + 1))
        .collect();
    assert_eq!(
        run(&lines, &[], 10_000),
        ["unseen 0-9900", "outage 2900-6000 MissingNumbers 0"]
    );
}

/// Packets whose insides no key opens: `wire` bytes each, and answers of 100 bytes.
mod unread {
    use super::{Certainty, Event, EventKind, at, run};
    use std::fmt::Write;

    /// The server sends a packet of 1,400 bytes every 10 ms, and each is answered.
    fn download(from: i64, to: i64) -> String {
        let mut text = String::new();
        for ms in (from..to).step_by(10) {
            write!(text, "{ms} < unread=1400\n{} > unread=100\n", ms + 2).unwrap();
        }
        text
    }

    #[test]
    fn a_packet_that_comes_again_after_twice_the_time_is_an_outage_though_small_ones_pass() {
        let mut lines = download(0, 3_000);
        let mut big = vec![3_000, 3_250, 3_750, 4_750, 6_750, 10_750];
        for ms in (3_100..10_700).step_by(400) {
            while big.first().is_some_and(|time| *time < ms) {
                writeln!(lines, "{} < unread=1400", big.remove(0)).unwrap();
            }
            write!(lines, "{ms} > unread=120\n{} < unread=120\n", ms + 20).unwrap();
        }
        writeln!(lines, "{} < unread=1400", big.remove(0)).unwrap();
        let open = run(&lines, &[], 12_000);
        assert_eq!(open, ["outage 2992-12000 Swallowed 6 dead 3000-10750 open"]);
        // The last one alone has an answer: it arrived.
        let chatting = format!("{lines}10770 > unread=120\n");
        assert_eq!(run(&chatting, &[], 12_000), open, "it would have come anyway");
        // The other side speaks once in that time, and then right behind the last one alone.
        let mut answered = download(0, 3_000);
        for ms in [3_000, 3_250, 3_750, 4_750, 6_750, 10_750] {
            writeln!(answered, "{ms} < unread=1400").unwrap();
            answered += if ms == 4_750 { "5900 > unread=120\n" } else { "" };
        }
        answered += "10770 > unread=120\n";
        let ended = run(&answered, &[], 12_000);
        assert_eq!(ended, ["outage 2992-10750 Swallowed 5 dead 3000-6750"]);
        lines += &download(10_760, 12_000);
        let ended = run(&lines, &[], 12_000);
        assert_eq!(ended, ["outage 2992-10750 Swallowed 5 dead 3000-6750"]);
    }

    /// Nothing answers the last packets, and then their sender stops, too: it need not have waited for anything.
    #[test]
    fn a_transfer_that_ends_just_before_the_capture_is_none() {
        let mut lines = download(0, 3_000);
        for ms in (3_000..3_400).step_by(5) {
            writeln!(lines, "{ms} < unread=1400").unwrap();
        }
        assert_eq!(run(&lines, &[], 4_000), [""; 0]);
        let open = ["outage 2992-8000 Swallowed 80 dead 3000-3395 open"];
        assert_eq!(
            run(&lines, &[], 8_000),
            open,
            "its timer would have brought a copy"
        );
        lines += "3700 < unread=1400\n";
        assert_eq!(run(&lines, &[], 4_300).len(), 1, "it tried again");
        let mut goes_on = download(0, 3_000);
        for ms in (3_000..4_000).step_by(5) {
            writeln!(goes_on, "{ms} < unread=1400").unwrap();
        }
        assert_eq!(run(&goes_on, &[], 4_000).len(), 1, "it goes on in vain");
    }

    #[test]
    fn packets_at_even_times_are_none() {
        let mut lines = download(0, 3_000);
        for ms in (3_300..12_000).step_by(500) {
            write!(lines, "{ms} < unread=1400\n{} > unread=100\n", ms + 20).unwrap();
        }
        assert_eq!(run(&lines, &[], 12_000), [""; 0]);
    }

    /// The server lost its SAs: it says nothing, whatever the client asks.
    #[test]
    fn a_sender_that_falls_silent_is_an_outage_where_an_event_says_so() {
        let mut lines = download(0, 3_000);
        for ms in (5_000..20_000).step_by(3_000) {
            writeln!(lines, "{ms} > unread=100").unwrap();
        }
        lines += &download(30_000, 31_000);
        assert_eq!(run(&lines, &[], 31_000), [""; 0]);
        let events = [Event::at(EventKind::InvalidSpi, Certainty::Read, at(5_010), 0)];
        assert_eq!(run(&lines, &events, 31_000), ["outage 2990-30000 ControlPlane 0"]);
    }
}

//! Two real captures in one file, with rest between them: every rekey costs what it cost in its own capture.

use super::{WITHIN, assert_close};
use crate::support::{Lab, analyses, analyze};
use rekeyscope_model::analysis::{Analysis, Impact, Rekey, Verdict};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_testkit::containers::{Packet, read_pcap, write_pcap};
use rekeyscope_testkit::lab;

/// Between the last frame of one capture and the first of the other, seconds.
const RESTS_S: [i64; 5] = [3, 30, 120, 900, 86_400];
/// Series begin at multiples of this: captures are moved by so much, nanoseconds.
const STEP: i64 = 10_000_000;

/// The second capture is moved to `rest_s` behind the first; returns by how much.
fn joined(first: &[Packet], second: &[Packet], rest_s: i64) -> (Vec<Packet>, i64) {
    let last = first.iter().map(|p| p.time).max().unwrap();
    let begins = second.iter().map(|p| p.time).min().unwrap();
    let wanted = last.plus_nanos(rest_s * NANOS_PER_SECOND).nanos_since(begins);
    let by = wanted.div_euclid(STEP) * STEP + STEP;
    let moved = second.iter().cloned().map(|p| Packet {
        time: p.time.plus_nanos(by),
        ..p
    });
    (first.iter().cloned().chain(moved).collect(), by)
}

/// The rekey of the joined capture that is one of its own.
fn same<'a>(own: &Rekey, all: &'a Analysis, by: i64) -> &'a Rekey {
    let moved = |t: Option<Timestamp>| t.map(|t| t.plus_nanos(by));
    let times = (moved(own.switched.a_to_b), moved(own.switched.b_to_a));
    let found = all
        .rekeys
        .iter()
        .find(|r| (r.switched.a_to_b, r.switched.b_to_a) == times);
    found.unwrap_or_else(|| panic!("rekey {} is gone", own.number))
}

/// The direction of the joined capture that is one of its own.
fn direction<'a>(own: &Impact, alone: &Analysis, all: &'a Analysis) -> &'a Impact {
    let ends = |a: &Analysis, i: &Impact| (a.tunnels[i.tunnel].a, a.tunnels[i.tunnel].b, i.direction);
    let found = all.impact.iter().find(|i| ends(all, i) == ends(alone, own));
    found.unwrap_or_else(|| panic!("{:?} is gone", own.direction))
}

fn assert_as_alone(alone: &Analysis, all: &Analysis, by: i64, what: &str) {
    for rekey in &alone.rekeys {
        let now = same(rekey, all, by);
        for own in &rekey.impact {
            let what = format!("{what}: rekey {} {:?}", rekey.number, own.direction);
            let there = now.impact.iter().find(|i| i.direction == own.direction).unwrap();
            assert_eq!((there.used, there.hurt), (own.used, own.hurt), "{what}");
            assert_eq!(
                there.longest_gap_ms.map(f64::round),
                own.longest_gap_ms.map(f64::round),
                "{what}"
            );
        }
    }
    for own in alone.impact.iter().filter(|i| i.verdict != Verdict::NoTraffic) {
        let there = direction(own, alone, all);
        for transfer in &own.transfers {
            let what = format!("{what}: {:?} from {}", own.direction, transfer.start);
            let begins = transfer.start.plus_nanos(by);
            let now = there.transfers.iter().find(|t| t.start == begins);
            let now = now.unwrap_or_else(|| panic!("{what} is gone: {:?}", there.transfers));
            let seconds = |from: Timestamp, to: Timestamp| to.seconds_since(from);
            let (length, was) = (seconds(now.start, now.end), seconds(transfer.start, transfer.end));
            assert_close(now.bytes / length, transfer.bytes / was, &what);
            assert_eq!(now.rekeys.len(), transfer.rekeys.len(), "{what}");
            if let (Some(now_stall), Some(stall)) = (&now.stall_ms, &transfer.stall_ms) {
                let share = |mean: f64, length: f64| mean * now.rekeys.len() as f64 / 1000.0 / length;
                let off = share(now_stall.mean, length) - share(stall.mean, was);
                assert!(
                    off.abs() <= WITHIN * share(stall.mean, was).abs(),
                    "{what}: {now_stall:?}, alone {stall:?}"
                );
            }
        }
        for (index, rekey) in all.rekeys.iter().enumerate() {
            let own = rekey
                .impact
                .iter()
                .find(|i| i.direction == there.direction && i.used);
            let within = there.transfers.iter().find(|t| t.rekeys.contains(&index));
            if let (Some(own), Some(transfer)) = (own, within) {
                let length_ms = transfer.end.millis_since(transfer.start);
                assert!(
                    own.longest_gap_ms.is_none_or(|gap| gap <= length_ms),
                    "{what}: rekey {}",
                    rekey.number
                );
            }
        }
    }
}

fn check(first: &(Lab, Analysis), second: &(Lab, Analysis), rest_s: i64) {
    let what = format!("{} and {} after {rest_s} s", first.0.name, second.0.name);
    let (packets, by) = joined(
        &read_pcap(&first.0.capture),
        &read_pcap(&second.0.capture),
        rest_s,
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("joined.pcap");
    write_pcap(&path, &packets);
    let keys: Vec<_> = first.0.keys.iter().chain(&second.0.keys).cloned().collect();
    let all = analyze(&path, &keys);
    assert_as_alone(&first.1, &all, 0, &format!("{what}, the first"));
    assert_as_alone(&second.1, &all, by, &format!("{what}, the second"));
}

/// Each capture with the next one, each time with another rest.
#[test]
fn joined_captures_cost_what_they_cost_alone() {
    lab::folder();
    let all = analyses();
    for (k, first) in all.iter().enumerate() {
        check(first, &all[(k + 1) % all.len()], RESTS_S[k % RESTS_S.len()]);
    }
}

/// Any two, with every rest.
#[test]
#[ignore = "takes minutes"]
fn any_two_joined_captures_cost_what_they_cost_alone() {
    lab::folder();
    let all = analyses();
    for first in all {
        for second in all {
            for rest_s in RESTS_S {
                check(first, second, rest_s);
            }
        }
    }
}

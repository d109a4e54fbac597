//! Two real captures in one file, with rest between them: every rekey costs what it cost in its own capture.

use super::WITHIN;
use crate::support::{Lab, analyses, analyze};
use rekeyscope_model::analysis::{Analysis, Impact, Rekey, RekeyImpact, TransferImpact, Verdict};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_testkit::containers::{Packet, read_pcap, write_pcap};
use rekeyscope_testkit::lab;

/// Between the last frame of one capture and the first of the other, seconds.
const RESTS_S: [i64; 5] = [3, 30, 120, 900, 86_400];
/// Nobody waits for longer than this, seconds.
const GIVEN_UP_S: i64 = 120;
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

/// What of one capture is not as it was alone.
fn changed(alone: &Analysis, all: &Analysis, by: i64) -> Vec<String> {
    let mut changed = Vec::new();
    let mut demand = |holds: bool, what: String| {
        if !holds {
            changed.push(what);
        }
    };
    for rekey in &alone.rekeys {
        let now = same(rekey, all, by);
        for own in &rekey.impact {
            let there = now.impact.iter().find(|i| i.direction == own.direction).unwrap();
            let facts = |i: &RekeyImpact| (i.used, i.hurt, i.silence_ms.map(f64::round));
            demand(
                facts(there) == facts(own),
                format!(
                    "rekey {} {:?}: {:?}, alone {:?}",
                    rekey.number,
                    own.direction,
                    facts(there),
                    facts(own)
                ),
            );
        }
    }
    let close = |a: f64, b: f64| (a - b).abs() <= WITHIN * b.abs();
    for own in alone.impact.iter().filter(|i| i.verdict != Verdict::NoTraffic) {
        let there = direction(own, alone, all);
        // Alone, what stands at the end stands up to the end of the capture.
        let open = alone
            .outages
            .iter()
            .any(|o| o.end.is_none() && o.direction == own.direction);
        for was in own.transfers.iter().filter(|_| !open) {
            let begins = was.start.plus_nanos(by);
            let Some(now) = there.transfers.iter().find(|t| t.start == begins) else {
                demand(false, format!("{:?} from {} is gone", own.direction, was.start));
                continue;
            };
            let rate = |t: &TransferImpact| t.bytes / t.end.seconds_since(t.start);
            let share = |t: &TransferImpact| t.cost_seconds.unwrap_or(0.0) / t.end.seconds_since(t.start);
            demand(
                close(rate(now), rate(was))
                    && close(share(now), share(was))
                    && now.rekeys.len() == was.rekeys.len(),
                format!("{:?}: {now:?}, alone {was:?}", own.direction),
            );
        }
        for (index, rekey) in all.rekeys.iter().enumerate() {
            let own = rekey
                .impact
                .iter()
                .find(|i| i.direction == there.direction && i.used);
            let within = there.transfers.iter().find(|t| t.rekeys.contains(&index));
            if let (Some(own), Some(transfer)) = (own, within) {
                let length_ms = transfer.end.millis_since(transfer.start);
                demand(
                    own.silence_ms.is_none_or(|gap| gap <= length_ms),
                    format!("rekey {}: {:?} in {length_ms} ms", rekey.number, own.silence_ms),
                );
            }
        }
    }
    changed
}

/// What the two captures, joined, say otherwise than each alone. Where the first ends within an outage, nobody can tell from
/// rest what follows, before everybody has given up: there is nothing to compare.
fn check(first: &(Lab, Analysis), second: &(Lab, Analysis), rest_s: i64) -> Vec<String> {
    // A ledger is of TCP or of datagrams, of whichever there is more.
    let basis = |analysis: &Analysis| analysis.ledger.first().map(|ledger| ledger.basis);
    if basis(&first.1) != basis(&second.1) {
        return Vec::new();
    }
    let is_open = first.1.outages.iter().any(|o| o.end.is_none());
    if is_open && rest_s < GIVEN_UP_S {
        return Vec::new();
    }
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
    let of_both = [(first, 0), (second, by)]
        .into_iter()
        .flat_map(|((lab, alone), by)| {
            let changed = changed(alone, &all, by).into_iter();
            changed.map(|what| {
                format!(
                    "{} + {rest_s} s + {}: {}: {what}",
                    first.0.name, second.0.name, lab.name
                )
            })
        });
    of_both.collect()
}

fn assert_unchanged(changed: Vec<String>) {
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// Each capture with the next one, each time with another rest.
#[test]
fn joined_captures_cost_what_they_cost_alone() {
    lab::folder();
    let all = analyses();
    let pairs = all.iter().enumerate();
    let changed =
        pairs.flat_map(|(k, first)| check(first, &all[(k + 1) % all.len()], RESTS_S[k % RESTS_S.len()]));
    assert_unchanged(changed.collect());
}

/// Any two, with every rest; not one with itself: the same packets once more count once.
#[test]
#[ignore = "takes minutes"]
fn any_two_joined_captures_cost_what_they_cost_alone() {
    lab::folder();
    let all = analyses();
    let pairs = (0..all.len()).flat_map(|k| (0..all.len()).map(move |other| (k, other)));
    let changed = pairs.filter(|(k, other)| k != other).flat_map(|(k, other)| {
        RESTS_S
            .into_iter()
            .flat_map(move |rest_s| check(&all[k], &all[other], rest_s))
    });
    assert_unchanged(changed.collect());
}

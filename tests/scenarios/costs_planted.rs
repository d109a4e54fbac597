//! Labels of the account, each planted beside one that looks like it. The tests ask answers and findings, because no outage has a cause here.

use super::steps::{GENEROUS, resend_lost};
use crate::support::analyze_world;
use rekeyscope_model::analysis::{Analysis, FindingKind};
use rekeyscope_report::words::answer_lines;
use rekeyscope_testkit::scenario::{MILLI, RTT, SEGMENT, TICK, World};
use std::collections::VecDeque;

/// A sender that keeps so many segments in flight, over a line with a queue before it: a capture before that sees the delays grow.
const IN_FLIGHT: usize = 40;
/// A gateway's processor carries a quarter of what its hardware does.
const SLOW: u64 = 4 * TICK;

/// The line, with what it takes for a segment.
struct Line {
    spaced: u64,
    free: u64,
    /// Acknowledgements, and when they pass the capture.
    acks: VecDeque<(u64, u32)>,
}

impl Line {
    fn run(&mut self, w: &mut World, millis: u64) {
        let end = w.now + millis * MILLI;
        loop {
            while self.acks.len() < IN_FLIGHT {
                w.lost_segment();
                self.free = self.free.max(w.now) + self.spaced;
                self.acks.push_back((self.free + RTT, w.seq));
            }
            match self.acks.front() {
                Some(&(when, ack)) if when <= end => {
                    self.acks.pop_front();
                    w.now = w.now.max(when);
                    w.ack(ack, 0xffff);
                }
                _ => {
                    w.now = w.now.max(end);
                    return;
                }
            }
        }
    }

    fn rekey(&mut self, w: &mut World) {
        let mut qm = w.begin(true);
        for _ in 0..3 {
            w.message(&mut qm);
            self.run(w, 20);
        }
        w.switch_up(&qm);
        w.switch_down(&qm);
    }
}

/// A transfer over three SAs. The line is slow from so many milliseconds on, for so long; the rekeys come after 10 and 22 s.
fn three_sas(slow: (u64, u64)) -> Analysis {
    let mut w = World::new();
    w.establish(GENEROUS);
    let mut line = Line {
        spaced: TICK,
        free: 0,
        acks: VecDeque::new(),
    };
    let begin = w.now;
    let until = |w: &mut World, line: &mut Line, millis: u64| {
        let now = (w.now - begin) / MILLI;
        line.run(w, millis.saturating_sub(now));
    };
    let mut changes = [
        (slow.0, Some(SLOW)),
        (slow.0 + slow.1, Some(TICK)),
        (10_000, None),
        (22_000, None),
    ];
    changes.sort_by_key(|(at, spaced)| (*at, spaced.is_some()));
    for (at, spaced) in changes {
        until(&mut w, &mut line, at);
        match spaced {
            Some(spaced) => line.spaced = spaced,
            None => line.rekey(&mut w),
        }
    }
    until(&mut w, &mut line, 34_000);
    analyze_world(w, true)
}

#[test]
fn an_sa_that_alone_is_slow_is_told_and_no_line() {
    let slow = answer_lines(&three_sas((10_000, 12_000)));
    assert!(slow.headline.starts_with("From 10."), "{slow:?}");
    assert!(slow.headline.contains(" one SA carried 1."), "{slow:?}");
    assert!(slow.why.contains("that SA is slow, and not the line"), "{slow:?}");
    // The line is slow for as long, from another moment on; from the first rekey on, and beyond the next one; and up to one.
    for other in [(7_000, 12_000), (10_000, 17_000), (13_000, 9_000)] {
        let answer = answer_lines(&three_sas(other));
        assert!(!answer.headline.contains("one SA"), "{other:?}: {answer:?}");
    }
}

/// A packet now and then comes without its later fragments, or not at all; the sender's timer runs out.
fn lossy(w: &mut World, packets: u32, is_cut: impl Fn(u32) -> bool) {
    w.establish(GENEROUS);
    w.mtu = Some(1_200);
    for k in 0..packets {
        w.steady(300);
        w.acknowledge_all();
        if is_cut(k) {
            w.rest_dropped = Some([10, 9, 0, 1]);
            w.lost_segment();
            w.rest_dropped = None;
        } else {
            w.down.sequence += 1;
            w.seq += SEGMENT as u32;
        }
        w.wait(300);
        resend_lost(w, 1);
    }
    w.steady(300);
}

pub(crate) fn later_fragments_lost(w: &mut World) {
    lossy(w, 40, |_| true);
}

pub(crate) fn packets_lost_whole(w: &mut World) {
    lossy(w, 40, |_| false);
}

#[test]
fn fragments_that_are_lost_are_told_from_packets_that_are() {
    let found =
        |analysis: &Analysis, kind: FindingKind| analysis.findings.iter().any(|f| f.id == kind.as_str());
    let lossy = |packets: u32, is_cut: fn(u32) -> bool| {
        let mut w = World::new();
        lossy(&mut w, packets, is_cut);
        analyze_world(w, true)
    };
    // All of them, or two of three, as of packets in three pieces.
    for cut in [lossy(40, |_| true), lossy(100, |k| k % 3 > 0)] {
        assert!(found(&cut, FindingKind::LostFragments), "{:?}", cut.findings);
    }
    // A path that loses packets in two pieces whatever they are, or none but whole ones.
    for path in [lossy(100, |k| k % 2 == 0), lossy(40, |_| false)] {
        assert!(!found(&path, FindingKind::LostFragments), "{:?}", path.findings);
        assert!(found(&path, FindingKind::OneDirectionLoss), "{:?}", path.findings);
    }
}

/// The client, where the capture is, acknowledges every second one of so many segments at once.
fn beside_the_client(w: &mut World, segments: u32, acknowledged: Option<u32>) {
    for k in 0..segments {
        w.lost_segment();
        if k % 2 == 1 {
            w.ack(acknowledged.unwrap_or(w.seq), 0xffff);
        }
        w.step(w.tick);
    }
}

/// ```text
/// lost ─✕         one segment, before the capture; 400 ms of what follows it
/// client ◀══▶ server  a renewal, in which the segment comes again
///        ◀═ data; 17 segments again that had arrived: the timer ran out before the answer to the copy was back
/// ```
/// Without that loss, the same copies show answers that were not heard.
#[test]
fn copies_of_a_loss_that_is_older_than_the_rekey_are_no_answers_lost() {
    let transfer = |lost: bool| {
        let mut w = World::new();
        w.tick = 8 * TICK;
        w.establish(GENEROUS);
        beside_the_client(&mut w, 750, None);
        let hole = w.seq;
        if lost {
            w.seq += SEGMENT as u32;
            w.down.sequence += 1;
        }
        beside_the_client(&mut w, 26, lost.then_some(hole));
        let mut qm = w.begin(true);
        w.message(&mut qm);
        if lost {
            w.resend(hole);
            w.ack(w.seq, 0xffff);
        }
        for _ in 0..2 {
            beside_the_client(&mut w, 4, None);
            w.message(&mut qm);
        }
        w.switch_up(&qm);
        w.switch_down(&qm);
        beside_the_client(&mut w, 10, None);
        for k in (1..=17).rev() {
            w.resend(w.seq - k * SEGMENT as u32);
            w.ack(w.seq, 0xffff);
            w.step(w.tick);
        }
        beside_the_client(&mut w, 750, None);
        answer_lines(&analyze_world(w, true)).headline
    };
    let (older, none) = (transfer(true), transfer(false));
    assert!(older.contains("did not slow this download"), "{older}");
    assert!(
        none.starts_with("The only rekey stopped this download for 0.2"),
        "{none}"
    );
}

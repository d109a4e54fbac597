//! Trouble of the capture itself: its clock, what it dropped, and what went past the tunnel in clear.

use crate::diagnosis::ClearPackets;
use crate::findings::lane::finding;
use crate::pipeline::record::{ClockEvent, Jump, Record};
use rekeyscope_capture::file::CaptureInfo;
use rekeyscope_impact::ledger::LEAST_GAP;
use rekeyscope_model::analysis::{Event, EventKind, Finding, FindingKind, Outage};
use rekeyscope_model::text::{Message, grouped};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// A jump of the frames' times.
pub(crate) fn clock_event(event: &ClockEvent) -> Finding {
    let seconds = event.nanos.unsigned_abs() as f64 / 1e9;
    let (kind, message) = match event.jump {
        Jump::Step => (
            FindingKind::ClockStep,
            clock_step(event).with("seconds", format!("{seconds:.3} s")),
        ),
        Jump::OutOfOrder => (
            FindingKind::OutOfOrder,
            Message::new("finding-out-of-order").with("seconds", format!("{seconds:.3} s")),
        ),
        Jump::Undecided => (
            FindingKind::SilenceOrClockStep,
            Message::new("finding-silence-or-step").with("seconds", format!("{seconds:.0} s")),
        ),
    };
    let message = message.with("frame", event.frame);
    finding(kind, message, &[event.frame])
}

fn clock_step(event: &ClockEvent) -> Message {
    let told = if event.measured {
        Message::new("finding-step-by-clocks")
    } else {
        Message::new("finding-step-by-packets")
    };
    let step = if event.nanos < 0 {
        Message::new("finding-clock-step-back")
    } else {
        Message::new("finding-clock-step-forward")
    };
    step.with("told", told)
}

pub(crate) fn capture_trouble(record: &Record, info: &CaptureInfo) -> Vec<Finding> {
    let mut found = Vec::new();
    let regressions = record.diagnosis.whole_run.regressed;
    let back = record.diagnosis.whole_run.farthest_back;
    // Steps below the shortest silence happen where packets are stamped on several CPUs, and move nothing that is measured.
    if back >= LEAST_GAP {
        let message = Message::new("finding-earlier-times")
            .with("packets", grouped(regressions))
            .with("most", format!("{:.1} ms", back as f64 / NANOS_PER_MILLI as f64));
        let frames = record.diagnosis.whole_run.regressions.frames();
        found.push(finding(FindingKind::ClockTrouble, message, frames));
    }
    let clock = [
        ("finding-coarse-clock", record.clock_step),
        ("finding-copies-apart", record.copies_apart),
    ];
    for (id, nanos) in clock {
        let Some(nanos) = nanos else { continue };
        let time = format!("{:.0} ms", nanos as f64 / NANOS_PER_MILLI as f64);
        let message = Message::new(id).with("time", time);
        found.push(finding(FindingKind::ClockTrouble, message, &[]));
    }
    if let Some(dropped) = info.dropped_reported.filter(|d| *d > 0) {
        let message = Message::new("finding-program-dropped").with("dropped", grouped(dropped));
        found.push(finding(FindingKind::CaptureDrops, message, &[]));
    }
    found
}

/// Inner addresses in clear after an outage, or after a Delete without a successor: the tunnel failed open.
pub(crate) fn in_clear(record: &Record, outages: &[Outage], events: &[Event]) -> Vec<Finding> {
    let origin = record.totals.first_time.unwrap_or_default();
    let is_end = |event: &&Event| EventKind::DELETES.contains(&event.kind) && event.successor != Some(true);
    let after = |clear: &ClearPackets| {
        let outages = outages.iter().filter(|o| o.tunnel == clear.tunnel);
        let deletes = events.iter().filter(is_end);
        let deletes = deletes.filter(|event| event.tunnel == Some(clear.tunnel));
        let ends = outages.map(|o| (o.start, "outage"));
        let ends = ends.chain(deletes.map(|event| (event.time, "delete")));
        ends.filter(|(time, _)| *time <= clear.first).max()
    };
    let seconds = |time: Timestamp| format!("{:.1} s", time.seconds_since(origin));
    let describe = |clear: &ClearPackets| {
        let (time, what) = after(clear)?;
        let message = Message::new("finding-failed-open")
            .with("what", what)
            .with("time", seconds(time))
            .with("first", seconds(clear.first))
            .with("count", clear.packets)
            .with("packets", grouped(clear.packets))
            .with("bytes", grouped(clear.bytes))
            .with("src", clear.ends.0.to_string())
            .with("dst", clear.ends.1.to_string());
        Some(finding(
            FindingKind::CleartextLeak,
            vec![message],
            clear.frames.frames(),
        ))
    };
    let clear = record.diagnosis.clear.found();
    let wanted = clear.into_iter().filter(|c| record.wants(c.tunnel));
    wanted.filter_map(describe).take(MOST_CLEAR).collect()
}

/// Most pairs of addresses that are told of.
const MOST_CLEAR: usize = 20;

pub(crate) fn leaks(record: &Record) -> Option<Finding> {
    let run = &record.diagnosis.whole_run;
    (run.leaked > 0).then(|| {
        let message = Message::new("finding-leak").with("packets", run.leaked);
        finding(FindingKind::L2tpInClear, message, run.leak_frames.frames())
    })
}

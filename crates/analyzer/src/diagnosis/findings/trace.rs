//! Trouble of the capture itself: its clock, what it dropped, and what went past the tunnel in clear.

use super::finding;
use crate::analysis::{Finding, Severity};
use crate::analyzer::{Analyzer, ClockEvent, Jump};
use crate::capture::CaptureInfo;
use crate::time::NANOS_PER_MILLI;

/// The least stall that the gap test counts. Steps below it happen where packets are stamped on several CPUs (13 ms seen in
/// the lab) and move nothing that is measured.
const LEAST_STEP_BACK: i64 = 50 * NANOS_PER_MILLI;

/// A jump of the frames' times.
pub(super) fn clock_event(event: &ClockEvent) -> Finding {
    let (seconds, way) = (
        event.nanos.unsigned_abs() as f64 / 1e9,
        if event.nanos < 0 { "back" } else { "forward" },
    );
    let (id, sentence) = match event.jump {
        Jump::Step => (
            "clock_step",
            format!(
                "The capture's clock steps {way} by {seconds:.3} s at frame {} ({}). It is taken out: from there on, times here \
                 are those of a clock that did not step, and no rate counts it.",
                event.frame,
                if event.measured {
                    "by the peers' own clocks"
                } else {
                    "the packets go on where they were"
                }
            ),
        ),
        Jump::OutOfOrder => (
            "out_of_order",
            format!(
                "From frame {} on come packets {seconds:.3} s older than those before them: files were joined out of order, or \
                 one twice. Packets seen before are left out; for exact gaps, sort the file first (reordercap).",
                event.frame
            ),
        ),
        Jump::Undecided => (
            "silence_or_clock_step",
            format!(
                "{seconds:.0} s of silence end at frame {}. Whether nothing was sent or the clock stepped, the packets do not \
                 tell: if it stepped, the rates are higher than given here.",
                event.frame
            ),
        ),
    };
    finding(id, Severity::Warning, sentence, &[event.frame])
}

pub(super) fn capture_trouble(analyzer: &Analyzer, info: &CaptureInfo) -> Vec<Finding> {
    let mut found = Vec::new();
    let regressions = analyzer.totals.time_regressions;
    let back = analyzer.diagnosis.whole_run.farthest_back;
    if back >= LEAST_STEP_BACK {
        let sentence = format!(
            "{regressions} packets carry an earlier time than the one before them, by up to {:.1} ms: the clock was set \
             back, or several interfaces or queues were merged. Gaps and rates near them are not exact.",
            back as f64 / NANOS_PER_MILLI as f64
        );
        let frames = analyzer.diagnosis.whole_run.regression_frames();
        found.push(finding("clock_trouble", Severity::Warning, sentence, frames));
    }
    if let Some(dropped) = info.dropped_reported.filter(|d| *d > 0) {
        let sentence = format!(
            "The capture program dropped {dropped} packets: gaps and missing ESP numbers may be the capture's own."
        );
        found.push(finding("capture_drops", Severity::Warning, sentence, &[]));
    }
    found
}

pub(super) fn leaks(analyzer: &Analyzer) -> Option<Finding> {
    let run = &analyzer.diagnosis.whole_run;
    (run.leaked > 0).then(|| {
        let sentence = format!(
            "{} L2TP packets went between the tunnel's ends in clear: before, beside or after the IPsec SAs.",
            run.leaked
        );
        finding(
            "cleartext_leak",
            Severity::Warning,
            sentence,
            run.leak_frames.frames(),
        )
    })
}

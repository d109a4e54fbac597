//! The three lines for a file whose packets stand in no order of time.

use crate::words::answer::lines::Answer;
use crate::words::focus::Focus;
use crate::words::format;

/// The answer where most packets are older than the one before: the file was written backwards, or sorted by something else than time.
/// Interfaces and queues that are merged bring fewer.
pub(super) fn of_disorder(focus: &Focus) -> Option<Answer> {
    let (t, capture) = (focus.t, &focus.analysis.capture);
    let backwards = capture.time_regressions;
    (2 * backwards > capture.packets).then(|| Answer {
        tunnel: None,
        headline: fill!(
            t,
            "disorder-line",
            back = format::count(backwards),
            packets = format::count(capture.packets)
        ),
        why: t.word("disorder-why"),
        change: t.word("do-sort"),
    })
}

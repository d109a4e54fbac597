//! The three lines about the file itself: its packets stand in no order of time, or went in clear.

use crate::words::answer::Answer;
use crate::words::clean;
use crate::words::focus::Focus;
use crate::words::format;
use rekeyscope_model::analysis::{Capture, Finding};
use rekeyscope_model::text::Message;

/// The answer for packets that stand in no order of time.
pub(super) fn of_disorder(focus: &Focus, capture: &Capture) -> Answer {
    let t = focus.t;
    let back = format::count(capture.time_regressions);
    let packets = format::count(capture.packets);
    Answer {
        headline: fill!(t, "disorder-line", back, packets),
        why: t.word("disorder-why"),
        change: t.word("do-sort"),
    }
}

/// The answer for data that went in clear.
pub(super) fn of_clear(focus: &Focus, finding: &Finding) -> Answer {
    let t = focus.t;
    let told = finding
        .messages
        .first()
        .cloned()
        .unwrap_or_else(|| Message::new("clear-line"));
    let line = Message {
        id: "clear-line".to_owned(),
        ..told.clone()
    };
    Answer {
        headline: clean::sentence(&t.say(&line)),
        why: fill!(t, "why-outage", text = clean::sentence(&t.say(&told))),
        change: t.word("do-clear"),
    }
}

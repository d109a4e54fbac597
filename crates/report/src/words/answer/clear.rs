//! The three lines where data went in clear that the tunnel used to carry.

use crate::words::answer::lines::Answer;
use crate::words::attempts::in_clear;
use crate::words::clean;
use crate::words::focus::Focus;
use rekeyscope_model::text::Message;

/// The answer of the first finding of that kind: it comes before all others, whatever else happened.
pub(super) fn of_clear(focus: &Focus) -> Option<Answer> {
    let t = focus.t;
    let told = in_clear(focus.analysis)?.messages.first()?;
    let line = Message {
        id: "clear-line".to_owned(),
        ..told.clone()
    };
    Some(Answer {
        tunnel: None,
        headline: clean::sentence(&t.say(&line)),
        why: fill!(t, "why-outage", text = clean::sentence(&t.say(told))),
        change: t.word("do-clear"),
    })
}

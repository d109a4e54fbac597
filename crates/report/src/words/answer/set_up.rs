//! The three lines where no tunnel came up.

use crate::words::answer::lines::Answer;
use crate::words::clean;
use crate::words::ends::side;
use crate::words::exchange_name;
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::moment;
use rekeyscope_impact::explain::{SetUpFailure, ToldSetUp, told_set_up};
use rekeyscope_model::analysis::ExchangeKind;
use std::fmt::Display;

/// The answer where the set-up failed and no ESP followed.
pub(super) fn of_set_up(focus: &Focus) -> Option<Answer> {
    let t = focus.t;
    let told = told_set_up(focus.analysis)?;
    let ToldSetUp {
        failure,
        exchange,
        event,
        count,
    } = told;
    let who = side(t, focus.analysis.tunnels.get(exchange.tunnel), event.by);
    let how = match failure {
        SetUpFailure::Refused => "refused",
        SetUpFailure::Rejected => "rejected",
        SetUpFailure::Unanswered => "unanswered",
    };
    let n = format::count(count);
    let often = match (failure, count) {
        (SetUpFailure::Refused, 2..) => "again",
        _ => "once",
    };
    let step = exchange_name(exchange.kind);
    let args: [(&str, &dyn Display); 5] = [
        ("who", &who),
        ("how", &how),
        ("step", &step),
        ("often", &often),
        ("n", &n),
    ];
    let why = match (failure, &event.notify) {
        (SetUpFailure::Refused, Some(notify)) => {
            t.fill("setup-why-read", &[("notify", &clean::line(notify))])
        }
        (SetUpFailure::Refused, None) => t.word("setup-why-sealed"),
        (SetUpFailure::Rejected, _) => t.fill("setup-why-rejected", &[("n", &n)]),
        (SetUpFailure::Unanswered, _) => t.fill(
            "setup-why-unanswered",
            &[("n", &n), ("moment", &moment(focus, event.time))],
        ),
    };
    let frames = t.fill("outage-frames", &[("frames", &event.frame)]);
    Some(Answer {
        tunnel: Some(exchange.tunnel),
        headline: format::capitalised(&t.fill("setup-line", &args)),
        why: t.sentences(&[why, frames]),
        change: t.fill(remedy(failure, exchange.kind), &[("who", &who)]),
    })
}

/// Names the message that says what to compare, or to look at.
fn remedy(failure: SetUpFailure, step: ExchangeKind) -> &'static str {
    use ExchangeKind::{AggressiveMode, IkeAuth, IkeSaInit, MainMode};
    match (failure, step) {
        (SetUpFailure::Unanswered, IkeSaInit | MainMode | AggressiveMode) => "setup-do-way",
        (SetUpFailure::Unanswered, _) => "setup-do-size",
        (SetUpFailure::Refused, IkeSaInit | MainMode) => "setup-do-ike",
        (SetUpFailure::Refused, IkeAuth | AggressiveMode) => "setup-do-identity",
        (SetUpFailure::Rejected, IkeSaInit | MainMode | AggressiveMode | IkeAuth) => "setup-do-identity",
        _ => "setup-do-child",
    }
}

//! The three lines where no tunnel came up.

use crate::words::answer::lines::Answer;
use crate::words::clean;
use crate::words::ends::side;
use crate::words::exchange_name;
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::{frames, moment};
use rekeyscope_impact::explain::{SetUpFailure, ToldSetUp, told_set_up};
use rekeyscope_model::analysis::ExchangeKind;

/// The answer where the set-up failed and no ESP followed.
pub(super) fn of_set_up(focus: &Focus) -> Option<Answer> {
    let t = focus.t;
    let told = told_set_up(focus.analysis)?;
    let ToldSetUp {
        failure,
        exchange,
        event,
        count,
        childless,
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
    let line = fill!(t, "setup-line", who, how, step, often, n);
    let why = match (failure, &event.notify) {
        (SetUpFailure::Refused, Some(notify)) => {
            fill!(t, "setup-why-read", notify = clean::line(notify))
        }
        (SetUpFailure::Refused, None) if childless => fill!(t, "setup-why-childless", who),
        (SetUpFailure::Refused, None) => t.word("setup-why-sealed"),
        (SetUpFailure::Rejected, _) => fill!(t, "setup-why-rejected", n),
        (SetUpFailure::Unanswered, _) => {
            fill!(t, "setup-why-unanswered", n, moment = moment(focus, event.time))
        }
    };
    let frames = frames(t, &[event.frame]);
    Some(Answer {
        tunnel: Some(exchange.tunnel),
        headline: format::capitalised(&line),
        why: t.sentences(&[why, frames]),
        change: match event.notify.as_deref() {
            Some("INTERNAL_ADDRESS_FAILURE") => fill!(t, "setup-do-address", who),
            Some("TS_UNACCEPTABLE" | "NO_PROPOSAL_CHOSEN" | "SINGLE_PAIR_REQUIRED")
                if exchange.kind == ExchangeKind::IkeAuth =>
            {
                fill!(t, "setup-do-child", who)
            }
            None if childless => fill!(t, "setup-do-childless", who),
            _ => fill!(t, remedy(failure, exchange.kind), who),
        },
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

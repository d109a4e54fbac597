//! The three lines where no tunnel came up, or a login inside it was refused.

use crate::words::answer::Answer;
use crate::words::clean;
use crate::words::ends::side;
use crate::words::exchange_name;
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::{frames, moment};
use rekeyscope_impact::explain::{MOST_FRAMES, SetUpFailure, ToldEnded, ToldSetUp};
use rekeyscope_model::analysis::{Event, ExchangeKind};

/// The answer where the set-up failed and no ESP followed.
pub(super) fn of_set_up(focus: &Focus, told: &ToldSetUp<'_>) -> Answer {
    let t = focus.t;
    let ToldSetUp {
        failure,
        exchange,
        by,
        at,
        notify,
        count,
        childless,
        later,
    } = *told;
    let tunnel = focus.analysis.tunnels.get(exchange.tunnel);
    let who = side(t, tunnel, by);
    let how = match failure {
        SetUpFailure::Refused => "refused",
        SetUpFailure::Rejected => "rejected",
        SetUpFailure::Unanswered => "unanswered",
        SetUpFailure::Unheard => "unheard",
        SetUpFailure::Stopped => "stopped",
    };
    let n = format::count(count);
    let often = match (failure, count) {
        (SetUpFailure::Refused | SetUpFailure::Stopped, 2..) => "again",
        _ => "once",
    };
    let step = exchange_name(exchange.kind);
    let line = match failure {
        SetUpFailure::Stopped => fill!(t, "setup-line-stopped", who, step, often, n),
        _ => fill!(t, "setup-line", who, how, step, often, n),
    };
    let moment_of = |time| moment(focus, time);
    let why = match (failure, notify) {
        (SetUpFailure::Refused, Some(notify)) => {
            fill!(t, "setup-why-read", notify = clean::line(notify))
        }
        (SetUpFailure::Refused, None) if childless => fill!(t, "setup-why-childless", who),
        (SetUpFailure::Refused, None) => t.word("setup-why-sealed"),
        (SetUpFailure::Rejected, _) => fill!(t, "setup-why-rejected", n),
        (SetUpFailure::Unheard, _) => fill!(t, "setup-why-unheard", n, who),
        (SetUpFailure::Unanswered, _) => {
            fill!(t, "setup-why-unanswered", n, moment = moment_of(at.0))
        }
        (SetUpFailure::Stopped, _) => fill!(
            t,
            "setup-why-stopped",
            who,
            often,
            moment = moment_of(at.0),
            ended = if later.is_some() { "well" } else { "open" },
            later = later.map(moment_of).unwrap_or_default()
        ),
    };
    let frames = frames(t, &[at.1]);
    let peer = side(t, tunnel, tunnel.and_then(|own| own.opposite(by)));
    Answer {
        headline: format::capitalised(&line),
        why: t.sentences(&[why, frames]),
        change: match notify {
            Some("INTERNAL_ADDRESS_FAILURE") => fill!(t, "setup-do-address", who),
            Some("TS_UNACCEPTABLE" | "NO_PROPOSAL_CHOSEN" | "SINGLE_PAIR_REQUIRED")
                if exchange.kind == ExchangeKind::IkeAuth =>
            {
                fill!(t, "setup-do-child", who)
            }
            None if childless => fill!(t, "setup-do-childless", who),
            _ if failure == SetUpFailure::Stopped => fill!(t, "setup-do-size", who = peer),
            _ => fill!(t, remedy(failure, exchange.kind), who),
        },
    }
}

/// The answer where a client ended each tunnel as soon as it stood.
pub(super) fn of_ended(focus: &Focus, told: &ToldEnded<'_>) -> Answer {
    let t = focus.t;
    let tunnel = focus.analysis.tunnels.get(told.exchange.tunnel);
    let who = side(t, tunnel, told.event.by);
    let windows = tunnel.is_some_and(|own| own.client_is_windows);
    let nat = format::yes(told.nat_at_gateway);
    let n = format::count(told.count);
    let moment = moment(focus, told.event.time);
    let gateway = tunnel.map(|own| own.b.to_string()).unwrap_or_default();
    let why = fill!(t, "setup-why-ended", who, moment, nat, gateway);
    Answer {
        headline: format::capitalised(&fill!(t, "setup-line-ended", who, n)),
        why: t.sentences(&[why, frames(t, &[told.event.frame])]),
        change: match told.nat_at_gateway && windows {
            true => fill!(t, "setup-do-assume", who),
            false => fill!(t, "setup-do-ended", who, nat),
        },
    }
}

/// The answer where the other side refused a login over PPP, and IPsec worked. No name and no password is read.
pub(super) fn of_login(focus: &Focus, refusals: &[&Event]) -> Option<Answer> {
    let t = focus.t;
    let last = refusals.last()?;
    let tunnel = last.tunnel.and_then(|tunnel| focus.analysis.tunnels.get(tunnel));
    let who = side(t, tunnel, last.by);
    let often = if refusals.len() > 1 { "again" } else { "once" };
    let (n, moment) = (format::count(refusals.len() as u64), moment(focus, last.time));
    let notify = last.notify.as_deref().map(clean::line).unwrap_or_default();
    let shown = refusals.iter().take(MOST_FRAMES).map(|event| event.frame);
    let shown = frames(t, &Vec::from_iter(shown));
    Some(Answer {
        headline: format::capitalised(&fill!(t, "login-line", who, often, n, moment)),
        why: t.sentences(&[fill!(t, "login-why", who, notify), shown]),
        change: fill!(t, "login-do", who),
    })
}

/// Names the message that says what to compare, or to look at.
fn remedy(failure: SetUpFailure, step: ExchangeKind) -> &'static str {
    use ExchangeKind::{AggressiveMode, IkeAuth, IkeSaInit, MainMode};
    match (failure, step) {
        (SetUpFailure::Unanswered, IkeSaInit | MainMode | AggressiveMode) => "setup-do-way",
        (SetUpFailure::Unanswered | SetUpFailure::Unheard, _) => "setup-do-size",
        (SetUpFailure::Refused, IkeSaInit | MainMode) => "setup-do-ike",
        (SetUpFailure::Refused, IkeAuth | AggressiveMode) => "setup-do-identity",
        (SetUpFailure::Rejected, IkeSaInit | MainMode | AggressiveMode | IkeAuth) => "setup-do-identity",
        _ => "setup-do-child",
    }
}

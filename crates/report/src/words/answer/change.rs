//! Line 3: what to do.

use crate::words::advice::{self, LogSystem, WINDOWS_KILOBYTES};
use crate::words::answer::loss::{loses_more, lost_as_much, lost_most};
use crate::words::answer::why;
use crate::words::ends::side;
use crate::words::focus::Focus;
use crate::words::verdict::told_failure;
use crate::words::{KeysFit, format, keys_fit};
use rekeyscope_impact::explain::{told_first_numbers, told_queue, told_stop};
use rekeyscope_impact::verdict::{LEAST_SHARE, PROJECTED_KILOBYTES};
use rekeyscope_model::analysis::{
    AccountLabel, AttemptOutcome, ExplanationCause, Impact, LedgerBasis, Rekey, TriggerKind, Verdict,
};
use std::net::IpAddr;

pub(super) fn change(focus: &Focus) -> String {
    let t = focus.t;
    let Some(headline) = focus.analysis.impact.first() else {
        return of_failure(focus).unwrap_or_else(|| t.word("do-capture-ipsec"));
    };
    match headline.verdict {
        _ if told_failure(focus.analysis).is_some() => {
            of_failure(focus).unwrap_or_else(|| t.word("do-unknown"))
        }
        Verdict::Failed | Verdict::Shown | Verdict::Some => of_rekeys(focus, headline),
        Verdict::Bounded | Verdict::NoRekeys => in_vain(focus)
            .or_else(|| of_account(focus, headline))
            .unwrap_or_else(|| match lost_most(focus, headline).map(|line| line.label) {
                Some(AccountLabel::TunnelDown) => t.word(without_cause(focus)),
                _ if told_first_numbers(focus.analysis, headline.tunnel).is_some() => {
                    fill!(t, "do", text = t.word("cure-first-number"))
                }
                _ if told_stop(focus.analysis, headline).is_some() => t.word("do-keys"),
                None if told_queue(focus.analysis, headline).is_some() => t.word("do-queue"),
                _ => t.word("do-nothing"),
            }),
        Verdict::Inconclusive => loses_more(focus, headline)
            .and_then(|_| of_account(focus, headline))
            .or_else(|| none_seen(focus, headline))
            .unwrap_or_else(|| t.word(other_capture(focus, headline))),
        Verdict::NoTraffic if why::one_way(focus, headline).is_some() => t.word("do-capture-both"),
        Verdict::NoTraffic => t.word("do-capture-load"),
    }
}

/// The cure of what failed for good.
fn of_failure(focus: &Focus) -> Option<String> {
    let t = focus.t;
    let told = told_failure(focus.analysis)?;
    let own = focus.analysis.attempts.iter().filter(|a| a.tunnel == told.tunnel);
    let outcome = own.map(|a| a.outcome).rfind(|outcome| outcome.failed())?;
    let refusal = advice::of_refusals(t, focus.analysis).into_iter().next();
    let text = match (outcome, refusal) {
        (AttemptOutcome::Refused, Some(named)) => named.instruction(t),
        (AttemptOutcome::Refused, None) => t.word("do-refused"),
        (AttemptOutcome::LimitWithoutAttempt, _) => t.word("do-limit-without-rekey"),
        _ => t.word("do-unanswered"),
    };
    Some(fill!(t, "do", text))
}

/// Requests that were refused or not answered need a cure, also where no transfer suffered from it in this capture.
pub(super) fn in_vain(focus: &Focus) -> Option<String> {
    let t = focus.t;
    let failed = |outcome| focus.analysis.attempts.iter().any(|a| a.outcome == outcome);
    let text = if failed(AttemptOutcome::Refused) {
        let named = advice::of_refusals(t, focus.analysis).into_iter().next();
        named.map_or_else(|| t.word("do-refused"), |advice| advice.instruction(t))
    } else if failed(AttemptOutcome::Unanswered) {
        t.word("do-unanswered")
    } else {
        return None;
    };
    Some(fill!(t, "do", text))
}

/// Fewer of them where the volume makes them, else what their cause needs, else what the account names.
fn of_rekeys(focus: &Focus, headline: &Impact) -> String {
    let t = focus.t;
    if loses_more(focus, headline).is_some()
        && let Some(said) = of_account(focus, headline)
    {
        return said;
    }
    if why::is_silence_alone(focus, headline) {
        return t.word(match keys_fit(focus.analysis) {
            KeysFit::Some => "do-other-end",
            _ => "do-keys",
        });
    }
    let shared = why::shared_explanation(focus, headline);
    let fewer = || longer_lifetime(focus, headline);
    if let Some(said) = shared.as_ref().map_or_else(fewer, |shared| {
        is_of_every_renewal(shared.explained.explanation.cause)
            .then(fewer)
            .flatten()
    }) {
        return said;
    }
    if let Some(shared) = shared {
        let without = focus.without_bps(headline);
        return expecting(focus, headline, &shared.explained.cure(), without);
    }
    of_account(focus, headline).unwrap_or_else(|| t.word(without_cause(focus)))
}

/// Names the message that says what would show the cause.
fn without_cause(focus: &Focus) -> &'static str {
    match keys_fit(focus.analysis) {
        KeysFit::Some => "do-unknown",
        KeysFit::Nothing => "do-other-keys",
        KeysFit::Cut => "do-whole-packets",
        KeysFit::Absent => "do-keys",
    }
}

/// Renewals cost this as they are, so fewer cost less. Whatever else explains a cost is a fault of its own.
fn is_of_every_renewal(cause: ExplanationCause) -> bool {
    matches!(
        cause,
        ExplanationCause::LimitReached
            | ExplanationCause::NewSaLost
            | ExplanationCause::SlowExchange
            | ExplanationCause::ReplayWindow
    )
}

/// A longer lifetime, where a side renews by volume and its limit may be chosen: what Windows proposes is fixed.
fn longer_lifetime(focus: &Focus, headline: &Impact) -> Option<String> {
    let t = focus.t;
    let by_volume = || {
        let own = focus.rekeys(headline.tunnel);
        own.filter(|r| r.trigger.kind == TriggerKind::Volume)
    };
    let renewing = renewing_side(by_volume());
    let Some(limit) = by_volume().filter_map(|r| r.trigger.limit_kilobytes).next() else {
        return learnt_limit(focus, headline, by_volume());
    };
    if limit == WINDOWS_KILOBYTES {
        return None;
    }
    let own = focus.analysis.projection.iter();
    let mut own = own.filter(|p| (p.tunnel, p.direction) == (headline.tunnel, headline.direction));
    let longer = own.find(|p| p.lifetime_kilobytes > limit)?;
    let tunnel = focus.analysis.tunnels.get(headline.tunnel);
    let of_client = renewing.is_some() && renewing == tunnel.map(|tunnel| tunnel.a);
    let text = fill!(
        t,
        "do-lifetime",
        place = renewing.map_or_else(String::new, |by| {
            fill!(t, "do-lifetime-at", who = side(t, tunnel, Some(by)))
        }),
        limit = format::count(limit),
        lifetime = format::count(longer.lifetime_kilobytes),
        command = lifetime_command(focus, headline, longer.lifetime_kilobytes),
        windows = if of_client && advice::may_be_windows(focus.analysis) {
            "maybe"
        } else {
            "no"
        }
    );
    let expected = longer.expected_bps.estimate;
    // A share that no sentence names does not make two figures of one.
    let without = focus
        .without_bps(headline)
        .filter(|without| (without - expected).abs() < LEAST_SHARE * without);
    Some(expecting(focus, headline, &text, without.or(Some(expected))))
}

/// The side that begins all of these renewals: a responder of IKEv1 takes over the lifetime that the initiator proposes.
fn renewing_side<'a>(mut rekeys: impl Iterator<Item = &'a Rekey>) -> Option<IpAddr> {
    let first = rekeys.next()?.initiator?;
    rekeys
        .all(|rekey| rekey.initiator == Some(first))
        .then_some(first)
}

/// A limit that no message shows: the point that line 2 names, else the most that an SA had carried when its renewal began. Windows renews
/// at 250,000 kB, and offers no setting.
fn learnt_limit<'a>(
    focus: &Focus,
    headline: &Impact,
    by_volume: impl Iterator<Item = &'a Rekey>,
) -> Option<String> {
    let t = focus.t;
    let carried = by_volume.filter_map(|r| r.trigger.bytes).max()?.div_ceil(1_000);
    let named = why::shared_explanation(focus, headline)
        .filter(|_| !why::is_silence_alone(focus, headline))
        .and_then(|shared| shared.explained.explanation.limit_kilobytes);
    let kilobytes = named.unwrap_or(carried);
    let longer = PROJECTED_KILOBYTES
        .into_iter()
        .find(|longer| *longer > kilobytes)?;
    let of_windows = (WINDOWS_KILOBYTES * 9 / 10..=WINDOWS_KILOBYTES * 1_024 / 1_000).contains(&kilobytes);
    (!of_windows).then(|| {
        let text = fill!(
            t,
            "do-lifetime-learnt",
            kilobytes = format::count(kilobytes),
            lifetime = format::count(longer),
            command = lifetime_command(focus, headline, longer)
        );
        expecting(focus, headline, &text, focus.without_bps(headline))
    })
}

/// The command that sets the volume; the seconds stay those that were negotiated.
fn lifetime_command(focus: &Focus, headline: &Impact, kilobytes: u64) -> String {
    let id = match advice::system_of_keys(focus.analysis) {
        Some(LogSystem::Yamaha) => "do-lifetime-yamaha",
        Some(LogSystem::Strongswan) => "do-lifetime-strongswan",
        None => "do-lifetime-anywhere",
    };
    let seconds = focus
        .rekeys(headline.tunnel)
        .find_map(|r| r.trigger.limit_seconds);
    let seconds = seconds.map_or_else(|| "SECONDS".to_owned(), |seconds| seconds.to_string());
    fill!(focus.t, id, seconds, kilobytes)
}

/// The cure of what the account lost most to, where that is not the rekeys.
fn of_account(focus: &Focus, headline: &Impact) -> Option<String> {
    let line = lost_most(focus, headline).filter(|line| line.label != AccountLabel::Rekey)?;
    let advice = advice::of_label(focus.t, line.label)?;
    // Packets do not show what a path carries without a full window or buffer, with other machines, or what a sender had not to send.
    let is_bound = matches!(
        line.label,
        AccountLabel::ReceiveWindow
            | AccountLabel::ZeroWindow
            | AccountLabel::SendBuffer
            | AccountLabel::Application
            | AccountLabel::Capacity
    );
    let without = line.without_mbps.filter(|_| !is_bound).map(|mbps| mbps * 1e6);
    let own = expecting(focus, headline, &advice.instruction(focus.t), without);
    let other = lost_as_much(focus, headline).and_then(|line| advice::of_label(focus.t, line.label));
    Some(match other {
        Some(other) => fill!(
            focus.t,
            "do-both",
            first = own,
            second = other.instruction(focus.t)
        ),
        None => own,
    })
}

/// Adds the rate that is to be expected, where that is more than before by what sentences name.
fn expecting(focus: &Focus, headline: &Impact, text: &str, expected: Option<f64>) -> String {
    match (expected, headline.observed_bps) {
        (Some(expected), Some(now)) if expected > now * (1.0 + LEAST_SHARE) => fill!(
            focus.t,
            "do-expected",
            text,
            rate = format::rate(expected),
            now = format::rate(now)
        ),
        _ => fill!(focus.t, "do", text),
    }
}

/// Rekeys of which acknowledgements show no harm: fewer by volume are as good, and a longer capture would show no more.
fn none_seen(focus: &Focus, headline: &Impact) -> Option<String> {
    let ledger = focus.ledger(headline)?;
    let is_seen = ledger.basis == LedgerBasis::Acknowledgements && ledger.bound_ms.is_some();
    let fewer = || longer_lifetime(focus, headline).unwrap_or_else(|| focus.t.word("do-nothing"));
    is_seen.then(fewer)
}

/// The other capture that would show the cost of rekeys.
fn other_capture(focus: &Focus, headline: &Impact) -> &'static str {
    match focus.ledger(headline).map(|ledger| ledger.basis) {
        _ if headline.rekeys_used == 0 => "do-longer-capture",
        Some(LedgerBasis::Packets) => "do-keys-or-other-end",
        Some(LedgerBasis::Datagrams) => "do-other-end",
        _ => "do-longer-capture",
    }
}

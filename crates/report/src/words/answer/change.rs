//! Line 3: what to do.

use crate::words::advice::{self, LogSystem};
use crate::words::answer::loss::{loses_more, lost_as_much, lost_most};
use crate::words::answer::why;
use crate::words::ends::{esp, opposite, side};
use crate::words::focus::Focus;
use crate::words::{self, KeysFit, format, keys_fit, loss_label};
use rekeyscope_impact::explain::{
    WindowsClient, cost_row, is_of_windows, row_of, told_first_numbers, told_queue, told_stop, told_windows,
};
use rekeyscope_impact::tell::account::amount;
use rekeyscope_impact::verdict::{LEAST_SHARE, PROJECTED_KILOBYTES};
use rekeyscope_model::analysis::{
    AccountLabel, AccountLine, Attempt, AttemptOutcome, Impact, LedgerBasis, Projection, Rekey, TriggerKind,
    Verdict,
};
use std::net::IpAddr;

/// A cure in words, and the rate that is to be expected of it.
struct Cure {
    text: String,
    expected_bps: Option<f64>,
}

impl Cure {
    /// The cure with the rate, where that is more than now by what sentences name. A rate behind two cures says which `part` gives it.
    fn said(&self, focus: &Focus, headline: &Impact, part: Option<&str>) -> String {
        match (self.expected_bps, headline.observed_bps) {
            (Some(expected), Some(now)) if expected > now * (1.0 + LEAST_SHARE) => fill!(
                focus.t,
                "do-expected",
                text = self.text,
                parts = if part.is_some() { "two" } else { "one" },
                part = part.unwrap_or_default(),
                rate = format::rate(expected),
                now = format::rate(now)
            ),
            _ => self.text.clone(),
        }
    }

    /// The same with what it is about, and what that cost; `alone` where no other cure stands beside it.
    fn about(&self, focus: &Focus, headline: &Impact, lost: (AccountLabel, f64), alone: bool) -> String {
        let (label, seconds) = (loss_label(focus.t, lost.0), amount(lost.1, lost.1));
        let part = (!alone).then_some(label.as_str());
        let text = self.said(focus, headline, part);
        fill!(focus.t, "do-about", label, seconds, text)
    }
}

pub(super) fn change(focus: &Focus) -> String {
    let t = focus.t;
    let Some(headline) = focus.analysis.impact.first() else {
        return t.word("do-capture-ipsec");
    };
    match headline.verdict {
        Verdict::Failed | Verdict::Shown | Verdict::Some => of_rekeys(focus, headline),
        Verdict::Bounded | Verdict::NoRekeys => in_vain(focus)
            .or_else(|| Some(fill!(t, "do", text = of_account(focus, headline)?)))
            .unwrap_or_else(|| match lost_most(focus, headline).map(|line| line.label) {
                Some(AccountLabel::TunnelDown) => t.word(without_cause(focus)),
                _ if told_first_numbers(focus.analysis, headline.tunnel).is_some() => {
                    fill!(t, "do", text = t.word("cure-first-number"))
                }
                _ if words::late_packets(focus.t, focus.analysis).is_some() => {
                    fill!(t, "do", text = t.word("cure-late"))
                }
                _ if told_stop(focus.analysis, headline).is_some() => t.word(see_inside(focus)),
                None if told_queue(focus.analysis, headline).is_some() => t.word("do-queue"),
                None if why::is_at_the_limit(focus, headline) => t.word("do-nothing-at-the-limit"),
                _ => t.word("do-nothing"),
            }),
        Verdict::Inconclusive => loses_more(focus, headline)
            .and_then(|_| Some(fill!(t, "do", text = of_account(focus, headline)?)))
            .or_else(|| none_seen(focus, headline))
            .unwrap_or_else(|| t.word(other_capture(focus, headline))),
        Verdict::NoTraffic if why::one_way(focus, headline).is_some() => t.word("do-capture-both"),
        Verdict::NoTraffic => t.word("do-capture-load"),
    }
}

/// The cure of an attempt that failed.
pub(super) fn of_attempt(focus: &Focus, attempt: &Attempt) -> String {
    let t = focus.t;
    let refusal = advice::of_refusals(t, focus.analysis).into_iter().next();
    let tunnel = focus.analysis.tunnels.get(attempt.tunnel);
    let asked = tunnel.and_then(|tunnel| opposite(tunnel, attempt.initiator));
    let who = side(t, tunnel, asked);
    match (attempt.outcome, refusal) {
        (AttemptOutcome::Refused, Some(named)) => named.instruction(t),
        (AttemptOutcome::Refused, None) => t.word("do-refused"),
        _ if attempt.reason.as_deref() == Some("peer_silent") => fill!(t, "cure-peer-silent", who),
        _ => fill!(t, "cure-unanswered", who, esp = tunnel.map_or("plain", esp)),
    }
}

/// Requests that were refused or not answered need a cure, also where no transfer suffered from it in this capture: the lines before speak of
/// something else.
fn in_vain(focus: &Focus) -> Option<String> {
    let t = focus.t;
    let failed = |outcome| focus.analysis.attempts.iter().find(|a| a.outcome == outcome);
    let attempt = failed(AttemptOutcome::Refused).or_else(|| failed(AttemptOutcome::Unanswered))?;
    let (how, text) = (attempt.outcome.as_str(), of_attempt(focus, attempt));
    Some(fill!(t, "do", text = fill!(t, "do-in-vain", how, text)))
}

/// The cure that rekeys need, else that of what the account names. Where more than to the rekeys was lost to something else, that comes first, and each part says
/// what it is about.
fn of_rekeys(focus: &Focus, headline: &Impact) -> String {
    let t = focus.t;
    if let Some(line) = loses_more(focus, headline)
        && let Some(own) = of_line(focus, headline, line)
    {
        return fill!(t, "do", text = of_more(focus, headline, (line, &own)));
    }
    if why::is_silence_alone(focus, headline) {
        return t.word(match keys_fit(focus.analysis) {
            KeysFit::Some => "do-other-end",
            _ => without_cause(focus),
        });
    }
    let renewals = of_renewals(focus, headline).map(|cure| cure.said(focus, headline, None));
    renewals
        .or_else(|| of_account(focus, headline))
        .map_or_else(|| t.word(without_cause(focus)), |text| fill!(t, "do", text))
}

/// The cure of what lost more than the rekeys, and theirs where they cost a share that sentences name.
fn of_more(focus: &Focus, headline: &Impact, (line, own): (&AccountLine, &Cure)) -> String {
    let t = focus.t;
    let first = |alone| own.about(focus, headline, (line.label, line.lost_seconds), alone);
    let Some(ledger) = focus.ledger(headline) else {
        return first(true);
    };
    let cost = ledger.cost_seconds;
    // A program that sends what it has later loses no time by a silence, and whoever waits for it does.
    let stood: f64 = ledger.rekeys.iter().map(|own| own.silence_ms / 1e3).sum();
    if cost.max(stood) < LEAST_SHARE * ledger.seconds {
        let seconds = amount(cost, cost);
        let other = format::capitalised(&first(true));
        return fill!(t, "do-not-rekeys", seconds, other);
    }
    let known = !why::is_silence_alone(focus, headline);
    match of_renewals(focus, headline).filter(|_| known) {
        Some(cure) => {
            let second = cure.about(focus, headline, (AccountLabel::Rekey, cost), false);
            t.sentences(&[first(false), format::capitalised(&second)])
        }
        None => first(true),
    }
}

/// Fewer renewals where the volume makes them, else what their cause needs.
fn of_renewals(focus: &Focus, headline: &Impact) -> Option<Cure> {
    let shared = why::shared_explanation(focus, headline);
    let fewer = || longer_lifetime(focus, headline);
    if let Some(said) = shared.as_ref().map_or_else(fewer, |shared| {
        // A volume does not move a limit in packets.
        let explanation = shared.explained.explanation;
        let by_volume = row_of(explanation.cause).at_each_renewal && explanation.limit_packets.is_none();
        by_volume.then(fewer).flatten()
    }) {
        return Some(said);
    }
    let explained = shared?.explained;
    // The most that a faster exchange can win is no rate to be expected.
    let without = focus
        .without_bps(headline)
        .filter(|_| explained.of_windows().is_none());
    Some(Cure {
        text: explained.cure(),
        expected_bps: without,
    })
}

/// Names the message that says what would show the cause.
fn without_cause(focus: &Focus) -> &'static str {
    match keys_fit(focus.analysis) {
        KeysFit::Some => "do-unknown",
        _ => see_inside(focus),
    }
}

/// Names the message that says how the packets could be read.
pub(super) fn see_inside(focus: &Focus) -> &'static str {
    match keys_fit(focus.analysis) {
        KeysFit::Nothing => "do-other-keys",
        KeysFit::Cut => "do-whole-packets",
        KeysFit::Some | KeysFit::Absent => "do-keys",
    }
}

/// A longer lifetime, where a side renews by volume and its limit may be chosen: what Windows proposes is fixed.
fn longer_lifetime(focus: &Focus, headline: &Impact) -> Option<Cure> {
    let t = focus.t;
    let by_volume = || {
        let own = focus.rekeys(headline.tunnel);
        own.filter(|r| r.trigger.kind == TriggerKind::Volume)
    };
    let renewing = renewing_side(by_volume());
    let tunnel = focus.analysis.tunnels.get(headline.tunnel);
    let of_client = renewing.is_some() && renewing == tunnel.map(|tunnel| tunnel.a);
    let windows = match told_windows(focus.analysis, headline.tunnel) {
        Some(WindowsClient::Proposes) => return None,
        Some(WindowsClient::Named) if of_client => return None,
        Some(WindowsClient::Possible) if of_client => "maybe",
        _ => "no",
    };
    let Some(limit) = by_volume().filter_map(|r| r.trigger.limit_kilobytes).next() else {
        return learnt_limit(focus, headline, (by_volume(), windows));
    };
    let longer = projected(focus, headline).find(|p| p.lifetime_kilobytes > limit)?;
    let text = fill!(
        t,
        "do-lifetime",
        place = renewing.map_or_else(String::new, |by| {
            fill!(t, "do-lifetime-at", who = side(t, tunnel, Some(by)))
        }),
        limit = format::count(limit),
        lifetime = format::count(longer.lifetime_kilobytes),
        command = lifetime_command(focus, headline, longer.lifetime_kilobytes),
        windows
    );
    Some(Cure {
        text,
        expected_bps: Some(longer.expected_bps.estimate),
    })
}

/// The rates at other volumes, as their table has them.
fn projected<'a>(focus: &Focus<'a>, headline: &Impact) -> impl Iterator<Item = &'a Projection> {
    let own = (headline.tunnel, headline.direction);
    let all = focus.analysis.projection.iter();
    all.filter(move |p| (p.tunnel, p.direction) == own)
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
    (by_volume, windows): (impl Iterator<Item = &'a Rekey>, &str),
) -> Option<Cure> {
    let t = focus.t;
    let carried = by_volume.filter_map(|r| r.trigger.bytes).max()?.div_ceil(1_000);
    let named = why::shared_explanation(focus, headline)
        .filter(|_| !why::is_silence_alone(focus, headline))
        .and_then(|shared| shared.explained.most_kilobytes());
    let kilobytes = named.unwrap_or(carried);
    let longer = PROJECTED_KILOBYTES
        .into_iter()
        .find(|longer| *longer > kilobytes)?;
    let at = projected(focus, headline).find(|p| p.lifetime_kilobytes == longer);
    (!is_of_windows(kilobytes)).then(|| Cure {
        text: fill!(
            t,
            "do-lifetime-learnt",
            kilobytes = format::count(kilobytes),
            lifetime = format::count(longer),
            command = lifetime_command(focus, headline, longer),
            windows
        ),
        expected_bps: at.map(|at| at.expected_bps.estimate),
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
    let bytes = (kilobytes * 1_000).to_string();
    fill!(focus.t, id, seconds, kilobytes, bytes)
}

/// The cure of what the account lost most to, where that is not the rekeys, and of what it lost as much to.
fn of_account(focus: &Focus, headline: &Impact) -> Option<String> {
    let t = focus.t;
    let line = lost_most(focus, headline).filter(|line| line.label != AccountLabel::Rekey)?;
    let own = of_line(focus, headline, line)?;
    let other = lost_as_much(focus, headline).filter(|_| !is_replay(focus, line));
    let Some(other) = other else {
        return Some(own.said(focus, headline, None));
    };
    let second = Cure {
        text: advice::of_label(t, other.label)?.instruction(t),
        expected_bps: None,
    };
    let about =
        |cure: &Cure, line: &AccountLine| cure.about(focus, headline, (line.label, line.lost_seconds), false);
    Some(t.sentences(&[about(&own, line), format::capitalised(&about(&second, other))]))
}

/// The cure of a line of the account.
fn of_line(focus: &Focus, headline: &Impact, line: &AccountLine) -> Option<Cure> {
    let advice = advice::of_label(focus.t, line.label)?;
    let row = cost_row(line.label);
    let without = line
        .without_mbps
        .filter(|_| row.shows_gain)
        .map(|mbps| mbps * 1e6);
    let is_most = lost_most(focus, headline).is_some_and(|most| most.label == line.label);
    let broken = why::of_broken_packets(focus, headline).filter(|_| is_most);
    let instruction = match broken {
        _ if is_replay(focus, line) => focus.t.word("cure-late"),
        Some((_, cure)) => cure,
        None => advice.instruction(focus.t),
    };
    Some(Cure {
        text: instruction,
        expected_bps: without,
    })
}

/// Whether a replay check drops packets: that looks like loss, or like a path that carries less.
fn is_replay(focus: &Focus, line: &AccountLine) -> bool {
    words::late_packets(focus.t, focus.analysis).is_some() && cost_row(line.label).may_be_replay
}

/// Rekeys of which acknowledgements show no harm: fewer by volume are as good, and a longer capture would show no more.
fn none_seen(focus: &Focus, headline: &Impact) -> Option<String> {
    let ledger = focus.ledger(headline)?;
    let is_seen = ledger.basis == LedgerBasis::Acknowledgements && ledger.bound_ms.is_some();
    let fewer = || {
        let cure = longer_lifetime(focus, headline)?;
        Some(fill!(focus.t, "do", text = cure.said(focus, headline, None)))
    };
    let nothing = match told_queue(focus.analysis, headline) {
        Some(_) => "do-queue",
        None => "do-nothing",
    };
    is_seen.then(|| fewer().unwrap_or_else(|| focus.t.word(nothing)))
}

/// The other capture that would show the cost of rekeys.
fn other_capture(focus: &Focus, headline: &Impact) -> &'static str {
    match focus.ledger(headline).map(|ledger| ledger.basis) {
        _ if headline.rekeys_used == 0 => "do-longer-capture",
        Some(LedgerBasis::Packets) if focus.analysis.capture.is_cut() => "do-whole-packets",
        Some(LedgerBasis::Packets) => "do-keys-or-other-end",
        Some(LedgerBasis::Datagrams) => "do-other-end",
        _ => "do-longer-capture",
    }
}

//! Line 2: why.

use crate::words::answer::loss::{leads, loses_more, lost_as_much, lost_most};
use crate::words::ends::side;
use crate::words::explanations::Explained;
use crate::words::focus::Focus;
use crate::words::lengths::moment;
use crate::words::{self, KeysFit, account_label, clean, format, keys_fit, loss_label};
use rekeyscope_impact::explain::{
    ToldNoReturn, finding_of, names_renewal, told_first_numbers, told_idle_beside, told_no_return,
    told_queue, told_stop,
};
use rekeyscope_impact::tell::account::{amount, lost_in_all};
use rekeyscope_impact::verdict::LEAST_SHARE;
use rekeyscope_model::analysis::{
    AccountLabel, AccountLine, ExplanationCause, FindingKind, Impact, Ledger, LedgerBasis, LedgerRekey,
    LedgerWhy, OwnRate, Verdict,
};
use rekeyscope_model::text::{Arg, Catalogue};
use std::collections::BTreeMap;

pub(super) fn why(focus: &Focus) -> String {
    let t = focus.t;
    let Some(headline) = focus.analysis.impact.first() else {
        return String::new();
    };
    let mut said = match headline.verdict {
        Verdict::Some | Verdict::Shown if leads(focus, headline).is_some() => {
            let rekeys = rekeys_in_brief(focus, headline);
            what_limits(focus, headline).into_iter().chain(rekeys).collect()
        }
        Verdict::Failed | Verdict::Shown | Verdict::Some => of_rekeys(focus, headline),
        Verdict::Bounded | Verdict::NoRekeys => what_limits(focus, headline),
        Verdict::Inconclusive if loses_more(focus, headline).is_some() => what_limits(focus, headline),
        Verdict::Inconclusive => {
            let said = [undecided(focus, headline), queue(focus, headline)];
            said.into_iter().flatten().collect()
        }
        Verdict::NoTraffic if one_way(focus, headline).is_some() => Vec::new(),
        Verdict::NoTraffic => vec![t.word("why-no-data")],
    };
    said.extend(first_numbers(focus, headline));
    said.extend(stop(focus, headline));
    said.extend(one_way(focus, headline));
    said.extend(words::late_packets(t, focus.analysis));
    said.extend(of_broken_packets(focus, headline).map(|(why, _)| why));
    // The rate is no reason.
    let is_rate = matches!(headline.verdict, Verdict::Bounded | Verdict::NoRekeys)
        && lost_most(focus, headline).is_none();
    if is_rate {
        return t.sentences(&Vec::from_iter(said.iter().map(|said| format::capitalised(said))));
    }
    because(t, &said)
}

/// The reason why a transfer lost most to packets that never came whole, and what cures that.
pub(super) fn of_broken_packets(focus: &Focus, headline: &Impact) -> Option<(String, String)> {
    let t = focus.t;
    let is_loss =
        |line: &&AccountLine| matches!(line.label, AccountLabel::PathLoss | AccountLabel::QueueLoss);
    lost_most(focus, headline).filter(is_loss)?;
    let side = (headline.tunnel, headline.direction);
    let found = |kind| finding_of(focus.analysis, kind, side);
    let by_line = Arg::Text("line".to_owned());
    let damaged = found(FindingKind::Damaged).and_then(|f| f.messages.first());
    let damaged = damaged.filter(|message| message.args.get("by") == Some(&by_line));
    let (message, cure) = match damaged {
        Some(message) => (message, t.word("cure-damaged")),
        None => {
            let cut = found(FindingKind::LostFragments)?.messages.first()?;
            let fits = found(FindingKind::PathMtu).and_then(|f| f.messages.last());
            let mss = match fits.and_then(|fits| fits.args.get("mss")) {
                Some(Arg::Count(mss)) => format::count(*mss),
                _ => String::new(),
            };
            let known = if mss.is_empty() { "no" } else { "yes" };
            (cut, fill!(t, "cure-lost-fragments", known, mss))
        }
    };
    Some((clean::sentence(&t.say(message)), cure))
}

/// The line of these reasons, which begin with small letters.
fn because(t: &Catalogue, reasons: &[String]) -> String {
    let (Some(first), others) = (reasons.first(), reasons.iter().skip(1)) else {
        return String::new();
    };
    let others = others.map(|reason| format::capitalised(reason));
    let text = t.sentences(&Vec::from_iter(std::iter::once(first.clone()).chain(others)));
    fill!(t, "why-outage", text)
}

/// The explanation that cost most of the rekeys that hurt, with how many share it.
pub(super) struct SharedExplanation<'a> {
    /// The costliest of them.
    pub(super) explained: Explained<'a>,
    rekeys: usize,
}

/// The cause that cost most at the rekeys that hurt; `None` where nothing explains them.
pub(super) fn shared_explanation<'a>(
    focus: &'a Focus<'a>,
    headline: &Impact,
) -> Option<SharedExplanation<'a>> {
    let ledger = focus.ledger(headline)?;
    let mut found: BTreeMap<ExplanationCause, Vec<&LedgerRekey>> = BTreeMap::new();
    for own in &ledger.rekeys {
        let cause = own.explanation.as_ref().map(|explanation| explanation.cause);
        if let Some(cause) = cause.filter(|cause| *cause != ExplanationCause::Unexplained) {
            found.entry(cause).or_default().push(own);
        }
    }
    let cost = |own: &Vec<&LedgerRekey>| own.iter().map(|rekey| rekey.cost_seconds).sum::<f64>();
    let most = found.into_values().max_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    let costliest = most
        .iter()
        .max_by(|a, b| a.cost_seconds.total_cmp(&b.cost_seconds))?;
    let all = most.iter().filter_map(|own| own.explanation.as_ref());
    Some(SharedExplanation {
        explained: Explained::of_rekey(focus, ledger, costliest)?.of_all(all),
        rekeys: most.len(),
    })
}

/// Tells whether most of the cost is silence in which nothing is known to be lost: an application that pauses there looks the same without
/// keys. Numbers that a new SA begins above 1 are those of lost packets, and what happened to messages and addresses is seen without keys. No
/// application pauses at each of several rekeys whose exchange is slow.
pub(super) fn is_silence_alone(focus: &Focus, headline: &Impact) -> bool {
    focus.ledger(headline).is_some_and(|ledger| {
        let cost = |silent: bool| -> f64 {
            let own = ledger.rekeys.iter();
            let with_keys = keys_fit(focus.analysis) == KeysFit::Some;
            let each = headline.rekeys_used > 1 && headline.rekeys_hurt.len() == headline.rekeys_used;
            let is_told = |own: &LedgerRekey| {
                own.explanation.as_ref().is_some_and(|e| match e.cause {
                    ExplanationCause::NewSaLost | ExplanationCause::FirstNumber => {
                        with_keys || e.count.is_some()
                    }
                    ExplanationCause::AddressChanged
                    | ExplanationCause::Unanswered
                    | ExplanationCause::IkeFragments
                    | ExplanationCause::AnsweredLate
                    | ExplanationCause::GivenUp
                    | ExplanationCause::GivenUpTooSoon
                    | ExplanationCause::AnswerLost => true,
                    ExplanationCause::SlowRenewal | ExplanationCause::SlowExchange => with_keys || each,
                    ExplanationCause::BreakBeforeMake | ExplanationCause::Deleted => e.event.is_some(),
                    cause => with_keys && names_renewal(cause),
                })
            };
            let own = own.filter(|own| {
                let nothing_lost = own.swallowed == 0 && !is_told(own);
                (own.why == LedgerWhy::Silence && nothing_lost) == silent
            });
            own.map(|own| own.cost_seconds).sum()
        };
        ledger.basis != LedgerBasis::Acknowledgements && cost(true) > cost(false)
    })
}

/// Rekeys that line 1 counts: those that stopped the transfer, or where none did, those that slowed it.
fn hurt(focus: &Focus, headline: &Impact) -> usize {
    let all = headline.rekeys_hurt.len();
    let stopped = focus.ledger(headline).map_or(0, |ledger| {
        ledger.rekeys.iter().filter(|own| own.silence_ms > 0.0).count()
    });
    if stopped > 0 { stopped } else { all }
}

/// The commonest reason of the rekeys that hurt by the ledger, and their number. A silence without acknowledgements is no evidence that
/// nothing was sent.
fn shared_why(focus: &Focus, headline: &Impact) -> Option<(LedgerWhy, usize)> {
    let ledger = focus.ledger(headline)?;
    let mut found: BTreeMap<LedgerWhy, usize> = BTreeMap::new();
    for own in &ledger.rekeys {
        *found.entry(own.why).or_default() += 1;
    }
    let known = ledger.basis == LedgerBasis::Acknowledgements;
    let (why, n) = found.into_iter().min_by_key(|(_, n)| std::cmp::Reverse(*n))?;
    (known || why != LedgerWhy::Silence).then_some((why, n))
}

/// Why rekeys cost something, behind what cost more.
fn rekeys_in_brief(focus: &Focus, headline: &Impact) -> Option<String> {
    let ledger = focus.ledger(headline)?;
    let told = ledger.share >= LEAST_SHARE && !is_silence_alone(focus, headline);
    let shared = shared_explanation(focus, headline).filter(|_| told)?;
    Some(fill!(focus.t, "why-rekeys", text = shared.explained.why()))
}

fn of_rekeys(focus: &Focus, headline: &Impact) -> Vec<String> {
    let t = focus.t;
    let of = hurt(focus, headline);
    let more = loses_more(focus, headline).map(|line| {
        let (label, seconds) = (
            account_label(t, line.label),
            amount(line.lost_seconds, line.lost_seconds),
        );
        let more = fill!(t, "why-more", label, seconds);
        let idle = told_idle_beside(focus.analysis, headline, line).zip(focus.ledger(headline));
        let idle = idle.map(|(idle, ledger)| {
            let seconds = amount(idle.lost_seconds, idle.lost_seconds);
            let said = fill!(
                t,
                "why-idle",
                seconds,
                whole = amount(ledger.seconds, ledger.seconds)
            );
            format::capitalised(&said)
        });
        t.sentences(&Vec::from_iter([more].into_iter().chain(idle)))
    });
    let shared = shared_explanation(focus, headline).filter(|_| !is_silence_alone(focus, headline));
    if let Some(shared) = shared {
        let mut sentences = vec![shared.explained.why()];
        if of > 1 {
            let all = match shared.rekeys {
                2 if of == 2 => "both",
                n if n == of => "yes",
                _ => "no",
            };
            sentences.push(fill!(t, "why-shared", n = shared.rekeys, of, all));
        }
        sentences.extend(slow_return(focus, headline));
        sentences.extend(more);
        return sentences;
    }
    if is_silence_alone(focus, headline) {
        let keys = match keys_fit(focus.analysis) {
            KeysFit::Some => "some",
            _ => "none",
        };
        let silence = fill!(t, "why-silence-alone", keys);
        return std::iter::once(silence).chain(more).collect();
    }
    if let Some((why, n)) = shared_why(focus, headline) {
        let cause = t.name("why", why.as_str());
        let why = fill!(
            t,
            "why-cause",
            cause,
            n,
            of,
            several = if of > 1 { "yes" } else { "no" }
        );
        return std::iter::once(why).chain(more).collect();
    }
    vec![t.word(match keys_fit(focus.analysis) {
        KeysFit::Some => "why-no-cause",
        KeysFit::Nothing => "why-no-cause-wrong-keys",
        KeysFit::Cut => "why-no-cause-cut",
        KeysFit::Absent => "why-no-cause-without-keys",
    })]
}

/// Why a cost is more than the silences that line 1 tells add up to.
fn slow_return(focus: &Focus, headline: &Impact) -> Option<String> {
    let ledger = focus.ledger(headline)?;
    let silences = || {
        ledger
            .rekeys
            .iter()
            .map(|own| own.silence_ms / 1e3)
            .filter(|s| *s > 0.0)
    };
    let at_most = silences().fold(0.0, f64::max) * silences().count() as f64;
    let silent = format::seconds(silences().sum());
    (ledger.cost_seconds > at_most && at_most > 0.0).then(|| {
        let cost = amount(ledger.cost_seconds, ledger.cost_seconds);
        fill!(focus.t, "why-slow-return", silent, cost)
    })
}

/// New SAs whose first packets never came, where that cost nothing that is told before.
fn first_numbers(focus: &Focus, headline: &Impact) -> Option<String> {
    let told =
        told_first_numbers(focus.analysis, headline.tunnel).filter(|_| headline.rekeys_hurt.is_empty())?;
    let (n, sas) = (format::count(told.missing), format::count(told.sas as u64));
    Some(fill!(focus.t, "why-first-numbers", n, sas))
}

/// A transfer without keys that stopped before the capture did, and when, where the rekeys are cleared.
fn stop(focus: &Focus, headline: &Impact) -> Option<String> {
    let is_clear = matches!(headline.verdict, Verdict::Bounded | Verdict::NoRekeys);
    let (at, rest) = told_stop(focus.analysis, headline).filter(|_| is_clear)?;
    let (at, rest) = (moment(focus, at), format::seconds(rest));
    Some(fill!(focus.t, "why-stopped", moment = at, seconds = rest))
}

/// The transfer ran as fast as its path was seen to carry.
pub(super) fn is_at_the_limit(focus: &Focus, headline: &Impact) -> bool {
    let mut accounts = words::accounts(focus.analysis).into_iter();
    let own = accounts.find(|account| words::is_headline(focus, account));
    headline.observed_bps.is_some() && own.is_some_and(|account| account.own_from == OwnRate::Proven)
}

/// The limit of the transfer, where rekeys are not it.
fn what_limits(focus: &Focus, headline: &Impact) -> Vec<String> {
    let t = focus.t;
    let mut accounts = words::accounts(focus.analysis).into_iter();
    let Some(account) = accounts.find(|a| words::is_headline(focus, a)) else {
        return Vec::new();
    };
    if let Some(line) = lost_most(focus, headline).filter(|line| line.label != AccountLabel::Rekey) {
        let lost = lost_in_all(account);
        let as_much = lost_as_much(focus, headline);
        let id = match line.label {
            AccountLabel::Unexplained => "why-unexplained",
            AccountLabel::Application => "why-idle",
            _ if as_much.is_some() => "why-largest-two",
            _ => "why-largest",
        };
        let other = as_much.unwrap_or(line);
        let share = |line: &AccountLine| format::or_unknown(line.lost_share, format::percent);
        return vec![fill!(
            t,
            id,
            lost = amount(lost, lost),
            whole = amount(account.seconds, account.seconds),
            label = loss_label(t, line.label),
            seconds = amount(line.lost_seconds, lost),
            share = share(line),
            other = loss_label(t, other.label),
            others = amount(other.lost_seconds, lost),
            theirs = share(other)
        )];
    }
    let Some(observed) = headline.observed_bps else {
        return Vec::new();
    };
    let own = account.own_mbps * 1e6;
    let how = match account.own_from {
        OwnRate::Proven if observed >= own => "reached",
        other => other.as_str(),
    };
    let (observed, own) = (format::rate(observed), format::rate(own));
    let at_the_limit = fill!(t, "why-at-the-limit", observed, own, how);
    std::iter::once(at_the_limit)
        .chain(queue(focus, headline))
        .collect()
}

/// Says how long a queue delays packets that stands for half of the transfer.
fn queue(focus: &Focus, headline: &Impact) -> Option<String> {
    let delay = told_queue(focus.analysis, headline)?;
    Some(fill!(focus.t, "why-queue", delay = format::duration_ms(delay)))
}

/// Why nothing can be told.
fn undecided(focus: &Focus, headline: &Impact) -> Option<String> {
    let t = focus.t;
    if headline.rekeys_used == 0 {
        return Some(t.word("why-outside"));
    }
    let ledger = focus.ledger(headline);
    if ledger.is_some_and(|ledger| ledger.basis == LedgerBasis::Datagrams && ledger.down.is_empty()) {
        return Some(t.word("why-datagrams"));
    }
    // Line 1 tells the bound where acknowledgements show that no rekey is seen to stop anything.
    let told = |ledger: &&Ledger| ledger.basis == LedgerBasis::Acknowledgements;
    let bound = ledger.filter(|ledger| !told(ledger))?.bound_ms?;
    Some(fill!(t, "why-bound", bound = format::duration_ms(bound)))
}

/// The direction of the headline's tunnel that alone carries packets in this capture.
pub(super) fn one_way(focus: &Focus, headline: &Impact) -> Option<String> {
    let captured = focus.directions(headline.tunnel).map(|direction| {
        let mut sas = focus.sas(headline.tunnel, direction);
        sas.any(|sa| sa.packets > 0).then_some(direction)
    });
    let ([Some(only), None] | [None, Some(only)]) = captured else {
        return None;
    };
    let direction = words::direction(focus.t, focus.analysis, headline.tunnel, only);
    // IKE of both ends shows that both directions pass the capture.
    let Some(told) = told_no_return(focus.analysis, headline.tunnel) else {
        return Some(fill!(focus.t, "why-one-way", direction));
    };
    if let Some(through) = told.through {
        let known = if through.proven { "proven" } else { "time" };
        let (peer, packets) = (through.peer, format::count(through.packets));
        return Some(fill!(focus.t, "why-two-tunnels", direction, peer, packets, known));
    }
    let to = side(
        focus.t,
        focus.analysis.tunnels.get(headline.tunnel),
        Some(told.to),
    );
    Some(fill!(
        focus.t,
        "why-no-return",
        direction,
        to,
        by = no_return_by(&told)
    ))
}

/// Names what packets without an answer show beside that.
pub(super) fn no_return_by(told: &ToldNoReturn) -> &'static str {
    match (told.cut_icv, told.same_ports) {
        (true, _) => "icv",
        (false, true) => "ports",
        (false, false) => "nothing",
    }
}

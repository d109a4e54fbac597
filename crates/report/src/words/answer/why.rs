//! Line 2: why.

use crate::words::advice::ADVISED;
use crate::words::answer::loss::lost_most;
use crate::words::focus::Focus;
use crate::words::verdict::told_failure;
use crate::words::{self, KeysFit, account_label, format, keys_fit, ledger_why, seconds_of};
use rekeyscope_impact::tell::account::amount;
use rekeyscope_model::analysis::{
    AccountLabel, Cause, Confidence, Impact, LedgerBasis, LedgerWhy, OwnRate, Rekey, Verdict,
};
use std::collections::BTreeMap;

pub(super) fn why(focus: &Focus) -> String {
    let t = focus.t;
    let Some(headline) = focus.analysis.impact.first() else {
        return of_failure(focus).unwrap_or_default();
    };
    let said = match headline.verdict {
        _ if told_failure(focus.analysis).is_some() => of_failure(focus),
        Verdict::Failed | Verdict::Shown | Verdict::Some => Some(of_rekeys(focus, headline)),
        Verdict::Bounded | Verdict::NoRekeys => what_limits(focus, headline),
        Verdict::Inconclusive => Some(undecided(focus, headline)),
        Verdict::NoTraffic => Some(t.word("why-no-data")),
    };
    let sentences: Vec<String> = said.into_iter().chain(one_way(focus, headline)).collect();
    t.sentences(&sentences)
}

/// A cause with how many of the rekeys that hurt share it.
pub(super) struct SharedCause<'a> {
    pub(super) id: &'a str,
    rekeys: usize,
    best: Confidence,
}

/// The cause that most of the rekeys share that hurt; among equals the first that something can be done about.
pub(super) fn shared_cause<'a>(focus: &Focus<'a>, headline: &Impact) -> Option<SharedCause<'a>> {
    let mut found: Vec<SharedCause<'a>> = Vec::new();
    for cause in hurt(focus, headline).flat_map(|r| &r.causes) {
        match found.iter_mut().find(|s| s.id == cause.id) {
            Some(shared) => {
                shared.rekeys += 1;
                shared.best = shared.best.min(cause.confidence);
            }
            None => found.push(SharedCause {
                id: &cause.id,
                rekeys: 1,
                best: cause.confidence,
            }),
        }
    }
    let place = |id: &str| {
        ADVISED
            .iter()
            .position(|advised| *advised == id)
            .unwrap_or(ADVISED.len())
    };
    found
        .into_iter()
        .min_by_key(|s| (std::cmp::Reverse(s.rekeys), place(s.id)))
}

/// The first cause of an attempt or an outage that something can be done about.
pub(super) fn cause_of_failure<'a>(focus: &Focus<'a>) -> Option<&'a str> {
    let told = told_failure(focus.analysis)?;
    let attempts = focus.analysis.attempts.iter().filter(|a| a.tunnel == told.tunnel);
    let outages = focus.analysis.outages.iter().filter(|o| o.tunnel == told.tunnel);
    let causes = || {
        attempts
            .clone()
            .flat_map(|a| &a.causes)
            .chain(outages.clone().flat_map(|o| &o.causes))
    };
    let advised = ADVISED.iter().find_map(|id| causes().find(|c| c.id == *id));
    advised.or_else(|| causes().next()).map(|c: &Cause| c.id.as_str())
}

fn hurt<'a>(focus: &Focus<'a>, headline: &Impact) -> impl Iterator<Item = &'a Rekey> {
    let rekeys = &focus.analysis.rekeys;
    let indexes: Vec<usize> = headline.rekeys_hurt.clone();
    indexes.into_iter().filter_map(move |index| rekeys.get(index))
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

fn of_failure(focus: &Focus) -> Option<String> {
    let t = focus.t;
    let told = told_failure(focus.analysis)?;
    let cause =
        cause_of_failure(focus).map(|id| t.fill("why-cause-of-failure", &[("cause", &words::cause(t, id))]));
    let in_all = told.messages.iter().skip(1).map(|m| t.say(m));
    let sentences: Vec<String> = cause.into_iter().chain(in_all).collect();
    Some(t.sentences(&sentences))
}

fn of_rekeys(focus: &Focus, headline: &Impact) -> String {
    let t = focus.t;
    let of = headline.rekeys_hurt.len().to_string();
    let Some(shared) = shared_cause(focus, headline) else {
        if let Some((why, n)) = shared_why(focus, headline) {
            let cause = ledger_why(t, why);
            let values = [
                ("cause", cause.as_str()),
                ("n", &n.to_string()),
                ("of", &of),
                ("sure", ""),
            ];
            return t.fill("why-cause", &values);
        }
        return t.word(match keys_fit(focus.analysis) {
            KeysFit::Some => "why-no-cause",
            KeysFit::Nothing => "why-no-cause-wrong-keys",
            KeysFit::Absent => "why-no-cause-without-keys",
        });
    };
    let sure = match shared.best {
        Confidence::High => String::new(),
        other => t.fill("why-sure", &[("confidence", &words::confidence(t, other))]),
    };
    t.fill(
        "why-cause",
        &[
            ("cause", &words::cause(t, shared.id)),
            ("n", &shared.rekeys.to_string()),
            ("of", &of),
            ("sure", &sure),
        ],
    )
}

/// What the transfer was held back by, where rekeys are not it.
fn what_limits(focus: &Focus, headline: &Impact) -> Option<String> {
    let t = focus.t;
    let account = words::accounts(focus.analysis)
        .into_iter()
        .find(|a| words::is_headline(focus, a))?;
    if let Some(line) = lost_most(focus, headline).filter(|line| line.label != AccountLabel::Rekey) {
        let id = match line.label {
            AccountLabel::Unexplained => "why-unexplained",
            _ => "why-largest",
        };
        return Some(t.fill(
            id,
            &[
                ("lost", &amount(account.lost_seconds, account.lost_seconds)),
                ("label", &account_label(t, line.label)),
                ("seconds", &seconds_of(line.lost_seconds, account.lost_seconds)),
                ("share", &format::or_unknown(line.lost_share, format::percent)),
            ],
        ));
    }
    let how = match account.own_from {
        OwnRate::Proven => "proven",
        OwnRate::Best => "best",
    };
    let observed = format::rate(headline.observed_bps?);
    let own = format::rate(account.own_mbps * 1e6);
    Some(t.fill(
        "why-at-the-limit",
        &[("observed", &observed), ("own", &own), ("how", how)],
    ))
}

/// Why nothing can be told.
fn undecided(focus: &Focus, headline: &Impact) -> String {
    let t = focus.t;
    if headline.rekeys_used == 0 {
        return t.word("why-outside");
    }
    match focus.ledger(headline).and_then(|ledger| ledger.bound_ms) {
        Some(bound) => t.fill("why-bound", &[("bound", &format::duration_ms(bound))]),
        None => String::new(),
    }
}

/// Where only one direction of the headline's tunnel carries packets in this capture.
pub(super) fn one_way(focus: &Focus, headline: &Impact) -> Option<String> {
    let captured = focus.directions(headline.tunnel).map(|direction| {
        let mut sas = focus.sas(headline.tunnel, direction);
        sas.any(|sa| sa.packets > 0).then_some(direction)
    });
    let ([Some(only), None] | [None, Some(only)]) = captured else {
        return None;
    };
    let direction = words::direction(focus.t, focus.analysis, headline.tunnel, only);
    Some(focus.t.fill("why-one-way", &[("direction", &direction)]))
}

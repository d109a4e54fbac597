//! The three lines where an outage cost most, or has not ended.

use crate::words::answer::Answer;
use crate::words::answer::reasons::of_one_way;
use crate::words::explanations::Explained;
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::{frames, moment, moments, range};
use rekeyscope_impact::answer::one_way;
use rekeyscope_impact::explain::{
    ExplainedTime, ToldEverywhere, ToldOutages, evidence_of, is_of_one_sa, row_of,
};
use rekeyscope_model::analysis::{EventKind, ExplanationCause, Outage, OutageEnd};

/// The answer where outages are what there is to tell.
pub(super) fn of_outages(
    focus: &Focus,
    told: &ToldOutages<'_>,
    everywhere: Option<&ToldEverywhere>,
) -> Option<Answer> {
    if let Some(all) = everywhere {
        return Some(of_all_tunnels(focus, all));
    }
    let alike = told.alike.iter().filter_map(|outage| outage.explanation.as_ref());
    let time = ExplainedTime::of_outage(told.outage)?.of_all(alike);
    let explained = &Explained::new(focus, time.clone());
    let cure = match told.one_host {
        Some(host) => fill!(focus.t, "cure-one-host", host),
        None if told.behind_another => focus.t.word("cure-behind-another"),
        None => explained.cure(),
    };
    Some(Answer {
        headline: headline(focus, told, (&time, explained)),
        why: why(focus, told, explained),
        change: fill!(focus.t, "do", text = cure),
    })
}

/// An outage of all tunnels at once is no client's.
fn of_all_tunnels(focus: &Focus, all: &ToldEverywhere) -> Answer {
    let t = focus.t;
    let end = all.shared.map_or_else(String::new, |end| format!(" {end}"));
    let (moment, seconds) = (moment(focus, all.start), range(t, all.range_s));
    let (open, n) = (format::yes(all.open), all.tunnels);
    Answer {
        headline: fill!(t, "outage-all-line", open, n, moment, seconds, end),
        why: fill!(t, "outage-all-why", open, n, moment, seconds, end),
        change: fill!(t, "do-outage-all", open, n, moment, seconds, end),
    }
}

/// The number of outages that line 1 counts: one that has not ended stands for itself.
fn times(told: &ToldOutages<'_>) -> usize {
    match told.outage.end {
        Some(_) => told.alike.len(),
        None => 1,
    }
}

fn headline(
    focus: &Focus,
    told: &ToldOutages<'_>,
    (time, explained): (&ExplainedTime<'_>, &Explained<'_>),
) -> String {
    if told.explanation.cause == ExplanationCause::Unexplained {
        return unexplained(focus, told, explained);
    }
    if told.explanation.cause == ExplanationCause::CaptureHole {
        return fill!(focus.t, "outage-hole-line", clause = explained.clause(1));
    }
    let down = down(focus, told, time);
    let clause = match told.outage.end {
        None if time.may_lie_elsewhere(focus.analysis) => explained.clause_alone(),
        Some(_) if times(told) == 1 && time.comes_before(focus.analysis) => explained.clause_alone(),
        _ => explained.clause(times(told)),
    };
    fill!(focus.t, "outage-line", clause, down)
}

fn unexplained(focus: &Focus, told: &ToldOutages<'_>, explained: &Explained<'_>) -> String {
    let (t, outage) = (focus.t, told.outage);
    let seconds = format::seconds(outage.seconds);
    let known = explained.known();
    let host = told
        .one_host
        .map_or_else(|| "all".to_owned(), |host| host.to_string());
    match (outage.end, told.alike.len()) {
        (None, _) => fill!(
            t,
            "outage-unexplained-open",
            known,
            host,
            from = moment(focus, outage.start),
            seconds
        ),
        (Some(_), 0 | 1) => explained.clause(1),
        (Some(_), n) => fill!(
            t,
            "outage-unexplained-times",
            known,
            host,
            n,
            seconds = range(t, told.range_s)
        ),
    }
}

/// The part of line 1 that says what did not pass, and for how long.
fn down(focus: &Focus, told: &ToldOutages<'_>, time: &ExplainedTime<'_>) -> String {
    let (t, outage) = (focus.t, told.outage);
    let receiver = outage
        .inner
        .filter(|_| told.others_pass)
        .map(|(_, receiver)| receiver);
    let nothing = match receiver {
        _ if row_of(told.explanation.cause).lets_small_pass => t.word("outage-nothing-large"),
        _ if told.explanation.cause == ExplanationCause::NumbersBack => t.word("outage-nothing-of-it"),
        _ if is_of_one_sa(focus.analysis, told.explanation) => t.word("outage-nothing-on-it"),
        _ if told.explanation.cause == ExplanationCause::LeftOut => t.word("outage-nothing"),
        Some(receiver) => fill!(t, "outage-nothing-to", to = receiver),
        None => t.word("outage-nothing"),
    };
    let named = receiver.map_or_else(String::new, |receiver| format!("{receiver} "));
    let seconds = match times(told) {
        0 | 1 => format::seconds(outage.seconds),
        _ => range(t, told.range_s),
    };
    let from = moment(focus, outage.start);
    let id = match (outage.end, times(told)) {
        (None, _) if time.may_lie_elsewhere(focus.analysis) => "outage-down-since",
        (None, _) => "outage-down-open",
        (Some(_), 0 | 1) if told.outage.ended_by == OutageEnd::End => "outage-down-over",
        (Some(_), 0 | 1) if time.comes_before(focus.analysis) => "outage-down-from",
        (Some(_), 0 | 1) => "outage-down",
        (Some(_), _) => "outage-down-each",
    };
    fill!(t, id, nothing, receiver = named, seconds, from)
}

fn why(focus: &Focus, told: &ToldOutages<'_>, explained: &Explained<'_>) -> String {
    let t = focus.t;
    let mut sentences = vec![fill!(t, "why-outage", text = explained.why())];
    // Behind a client that had to wait the transfer is another one.
    let waited = evidence_of(focus.analysis, told.explanation, EventKind::Unanswered).is_some();
    // The way was not closed to small packets.
    let open = told.explanation.seconds.is_none() && row_of(told.explanation.cause).lets_small_pass;
    if let Some(no_way) = told.no_way_s.filter(|_| !waited && !open) {
        // A cause that says how long it lasted has told that the way was closed for so long.
        sentences.push(match told.explanation.seconds {
            Some(_) => t.word("outage-timer"),
            None => fill!(t, "outage-dead", dead = format::seconds(no_way)),
        });
    }
    sentences.extend(others_alike(focus, told));
    if !told.elsewhere.is_empty() {
        let item = |outage: &&Outage| {
            let tunnel = focus.analysis.tunnels.get(outage.tunnel);
            let by = outage.explanation.as_ref().and_then(|e| e.by);
            let client = tunnel.and_then(|tunnel| tunnel.opposite(by));
            let client = client.map_or_else(String::new, |client| client.to_string());
            let (moment, seconds) = (moment(focus, outage.start), format::seconds(outage.seconds));
            fill!(t, "outage-elsewhere-item", client, moment, seconds)
        };
        let list: Vec<String> = told.elsewhere.iter().map(item).collect();
        let list = list.join(&t.word("outage-elsewhere-and"));
        sentences.push(fill!(t, "outage-elsewhere", list));
    }
    if told.one_host.is_some() {
        sentences.push(t.word("outage-one-host"));
    }
    if told.behind_another {
        sentences.push(t.word("outage-behind-another"));
    }
    if told.others > 0 {
        sentences.push(format::counted(t, "outage-others", told.others as u64));
    }
    let headline = focus.analysis.impact.first();
    let one_way = headline.and_then(|headline| one_way(focus.analysis, headline.tunnel));
    sentences.extend(one_way.map(|own| format::capitalised(&of_one_way(focus, &own))));
    if !told.explanation.frames.is_empty() {
        sentences.push(frames(t, &told.explanation.frames));
    }
    t.sentences(&sentences)
}

/// The moments of the others, or how many came before.
fn others_alike(focus: &Focus, told: &ToldOutages<'_>) -> Option<String> {
    let t = focus.t;
    let before = told.alike.len().saturating_sub(1);
    match (told.outage.end, before) {
        (_, 0) => None,
        (None, n) => Some(format::counted(t, "outage-earlier", n as u64)),
        (Some(_), _) => {
            let list = moments(focus, told.alike.iter().map(|outage| outage.start));
            Some(fill!(t, "outage-moments", list))
        }
    }
}

#[cfg(test)]
mod tests;

//! The three lines where no outage and no cost is seen, but something that explains one: ESP of one side that never came or stopped, an end
//! that its peer did not follow, renewals that delete first, a transfer that stood still.

use crate::words::answer::lines::Answer;
use crate::words::ends::{esp, side};
use crate::words::focus::Focus;
use crate::words::lengths::{moment, moments, range};
use crate::words::{clean, format};
use rekeyscope_impact::explain::{
    told_left_behind, told_no_return, told_silent_esp, told_standstill, told_torn_down,
};
use rekeyscope_model::analysis::{Event, EventKind, LedgerBasis, Verdict};

/// The answer where one side alone sent ESP, too little to measure, though IKE came both ways.
pub(super) fn of_no_return(focus: &Focus) -> Option<Answer> {
    let (t, analysis) = (focus.t, focus.analysis);
    let headline = analysis.impact.first()?;
    let told = told_no_return(analysis, headline.tunnel)?;
    if headline.verdict != Verdict::NoTraffic {
        return None;
    }
    let tunnel = analysis.tunnels.get(headline.tunnel);
    let (from, to) = (side(t, tunnel, Some(told.from)), side(t, tunnel, Some(told.to)));
    let packets = format::count(told.packets);
    let line = fill!(t, "no-return-line", from, to, packets);
    Some(Answer {
        tunnel: Some(headline.tunnel),
        headline: format::capitalised(&line),
        why: fill!(t, "no-return-why", from, to, packets),
        change: fill!(t, "do-no-return", from, to, packets),
    })
}

/// The answer where an end moved, and its peer went on sending to the old place.
pub(super) fn of_left_behind(focus: &Focus) -> Option<Answer> {
    let (t, analysis) = (focus.t, focus.analysis);
    let headline = analysis.impact.first()?;
    let harmed = matches!(headline.verdict, Verdict::Failed | Verdict::Shown | Verdict::Some);
    let change = told_left_behind(analysis, headline.tunnel).filter(|_| !harmed)?;
    let tunnel = analysis.tunnels.get(headline.tunnel)?;
    let peer = [tunnel.a, tunnel.b]
        .into_iter()
        .find(|end| Some(*end) != change.by);
    let [who, peer] = [change.by, peer].map(|end| side(t, Some(tunnel), end));
    let (from, to) = [&change.from, &change.to]
        .map(|place| place.as_deref().map(clean::line).unwrap_or_default())
        .into();
    let what = if change.kind == EventKind::PortChanged {
        "port"
    } else {
        "address"
    };
    let (until, moment) = (change.until?, moment(focus, change.time));
    let seconds = format::seconds(until.seconds_since(change.time));
    let packets = format::count(change.count.unwrap_or(0));
    let esp = esp(tunnel);
    let followed = if Some(until) < analysis.capture.last_time {
        "yes"
    } else {
        "no"
    };
    let line = fill!(t, "left-behind-line", who, what, moment, seconds, peer, followed);
    Some(Answer {
        tunnel: Some(headline.tunnel),
        headline: format::capitalised(&line),
        why: fill!(t, "left-behind-why", who, peer, from, to, packets),
        change: fill!(t, "do", text = fill!(t, "cure-address-changed", esp)),
    })
}

/// The answer where no key opens the packets, and ESP of one side stopped for good though its IKE comes and the other side goes on.
pub(super) fn of_silent_esp(focus: &Focus) -> Option<Answer> {
    let (t, analysis) = (focus.t, focus.analysis);
    let headline = analysis.impact.first()?;
    let silent = told_silent_esp(analysis, headline)?;
    let tunnel = analysis.tunnels.get(headline.tunnel)?;
    let (who, esp) = (side(t, Some(tunnel), silent.by), esp(tunnel));
    let ends = analysis.capture.last_time?;
    let clause = fill!(
        t,
        "outage-esp-silent",
        who,
        probably = "",
        at = fill!(t, "outage-at", moment = moment(focus, silent.time))
    );
    let seconds = format::seconds(ends.seconds_since(silent.time));
    let down = fill!(t, "outage-down-open", nothing = t.word("outage-nothing"), seconds);
    let clause = format::capitalised(&clause);
    let why = fill!(t, "explains-esp-silent", who, span = "all");
    Some(Answer {
        tunnel: Some(headline.tunnel),
        headline: fill!(t, "outage-line", clause, down),
        why: fill!(t, "why-outage", text = why),
        change: fill!(t, "do", text = fill!(t, "cure-esp-silent", who, esp)),
    })
}

/// The answer where a side renews by deleting first, and too little was sent to measure what that costs.
pub(super) fn of_torn_down(focus: &Focus) -> Option<Answer> {
    let (t, analysis) = (focus.t, focus.analysis);
    let headline = analysis.impact.first()?;
    let told =
        told_torn_down(analysis, headline.tunnel).filter(|_| headline.verdict == Verdict::NoTraffic)?;
    let first = told.deletes.first()?;
    let who = side(t, analysis.tunnels.get(headline.tunnel), first.by);
    let at = match told.deletes.len() {
        1 => fill!(t, "outage-at", moment = moment(focus, first.time)),
        n => fill!(t, "outage-times", n),
    };
    let line = fill!(t, "torn-down-line", who, at, seconds = range(t, told.range_s));
    let list = moments(focus, told.deletes.iter().map(|delete| delete.time));
    Some(Answer {
        tunnel: Some(headline.tunnel),
        headline: format::capitalised(&line),
        why: fill!(t, "torn-down-why", list),
        change: fill!(
            t,
            "do",
            text = fill!(t, "cure-break-before-make", what = "ike", who)
        ),
    })
}

/// The answer where a transfer without keys, or of datagrams, stood still for longer than all rekeys cost.
pub(super) fn of_standstill(focus: &Focus) -> Option<Answer> {
    let (t, analysis) = (focus.t, focus.analysis);
    let headline = analysis.impact.first()?;
    let decided = matches!(
        headline.verdict,
        Verdict::Failed | Verdict::Shown | Verdict::Some | Verdict::NoTraffic
    );
    let told = told_standstill(analysis, headline).filter(|_| !decided)?;
    let stood = &told.down.interval;
    let end = stood.arrived.unwrap_or(stood.to);
    let direction = t.word(headline.direction.pick("verdict-upload", "verdict-download"));
    let (from, seconds) = (
        moment(focus, stood.from),
        format::seconds(end.seconds_since(stood.from)),
    );
    let is_read = analysis
        .ledger_of(headline.tunnel, headline.direction)
        .is_some_and(|ledger| ledger.basis == LedgerBasis::Datagrams);
    let until = match told.checks {
        0 if told.renewed => "renewal",
        0 => "rest",
        _ => "ike",
    };
    let (why, change) = match told.checks {
        0 if is_read => (t.word("standstill-datagrams"), t.word("do-other-end")),
        0 => (fill!(t, "standstill-why", until), t.word("do-keys")),
        checks => {
            let own = |event: &&Event| event.tunnel.is_none_or(|tunnel| tunnel == headline.tunnel);
            let mut events = analysis.events.iter().filter(own);
            let closed =
                events.find(|e| e.kind == EventKind::Unreachable && e.time >= stood.from && e.time <= end);
            let who = side(
                t,
                analysis.tunnels.get(headline.tunnel),
                closed.and_then(|e| e.by),
            );
            let icmp = if closed.is_some() { "yes" } else { "no" };
            let why = fill!(t, "standstill-checks", checks, icmp, who);
            (why, t.word("do-other-end"))
        }
    };
    Some(Answer {
        tunnel: Some(headline.tunnel),
        headline: fill!(t, "standstill-line", direction, from, seconds, until),
        why,
        change,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::analysis::{Analysis, Certainty, Event};
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    /// Datagrams stand still behind so many checks in vain, and a new IKE SA is made in that time.
    fn stood(checks: u64) -> Analysis {
        let mut document = example::one_failed();
        document.impact[0].verdict = Verdict::Inconclusive;
        (document.ledger[0].basis, document.ledger[0].cost_seconds) = (LedgerBasis::Datagrams, 0.0);
        let interval = &mut document.ledger[0].down[0].interval;
        interval.arrived = Some(interval.to);
        let from = interval.from;
        for (kind, after_s, count) in [
            (EventKind::ChecksUnanswered, -6.0, checks),
            (EventKind::NewIkeSa, 2.0, 0),
        ] {
            let mut event = Event::at(kind, Certainty::Read, from.plus_seconds(after_s), 900);
            (event.tunnel, event.count) = (Some(0), Some(count));
            event.until = Some(from.plus_seconds(after_s / 2.0));
            document.events.push(event);
        }
        document
    }

    #[test]
    fn datagrams_behind_checks_in_vain_did_not_rest() {
        let of = |document: &Analysis| of_standstill(&Focus::new(document, Language::English));
        let Answer {
            headline,
            why,
            change,
            ..
        } = of(&stood(4)).unwrap();
        assert!(headline.contains("stood still for"), "{headline}");
        assert!(headline.ends_with("until a new IKE SA stood."), "{headline}");
        assert!(why.starts_with("Why: 4 keepalive checks"), "{why}");
        assert!(change.contains("other end"), "{change}");
        assert!(of(&stood(0)).is_none(), "a program may have rested");
    }
}

//! The three lines where no outage and no cost is seen, but something that explains one: ESP of one side that never came or stopped, an end
//! that its peer did not follow, renewals that delete first, a transfer that stood still.

use crate::words::answer::Answer;
use crate::words::answer::reasons::{no_return_by, of_one_way};
use crate::words::ends::{esp, side, upload_or_download};
use crate::words::events::{places, probably};
use crate::words::explanations::Explained;
use crate::words::focus::Focus;
use crate::words::lengths::{moment, moments, range};
use crate::words::{clean, format};
use rekeyscope_impact::answer::{one_way, see_inside};
use rekeyscope_impact::explain::{
    ExplainedTime, ToldDialledAgain, ToldNoReturn, ToldSilentHost, ToldStandstill, ToldTornDown,
};
use rekeyscope_model::analysis::{Event, EventKind, Explanation, ExplanationCause, Impact, KeysFit, Tunnel};

/// The answer where one side alone sent ESP, too little to measure or what asks for an answer, though IKE came both ways.
pub(super) fn of_no_return(focus: &Focus, told: &ToldNoReturn) -> Option<Answer> {
    let t = focus.t;
    let tunnel = focus.analysis.tunnels.get(told.tunnel);
    let (from, to) = (side(t, tunnel, Some(told.from)), side(t, tunnel, Some(told.to)));
    let packets = format::count(told.packets);
    let (line, change) = match told.through {
        Some(through) => {
            let known = if through.proven { "proven" } else { "time" };
            let line = fill!(t, "two-tunnels-line", from, known, peer = through.peer);
            (line, t.word("do-two-tunnels"))
        }
        None => (
            fill!(t, "no-return-line", from, to, packets),
            fill!(t, "do-no-return", from, to, by = no_return_by(told)),
        ),
    };
    let text = of_one_way(focus, &one_way(focus.analysis, told.tunnel)?);
    Some(Answer {
        headline: format::capitalised(&line),
        why: fill!(t, "why-outage", text),
        change,
    })
}

/// The answer where one side alone was captured, which probably heard nothing any more and dialled again.
pub(super) fn of_dialled_again(focus: &Focus, told: &ToldDialledAgain<'_>) -> Option<Answer> {
    let t = focus.t;
    let tunnel = focus.analysis.tunnels.get(told.check.tunnel)?;
    let by = told.check.initiator;
    let [who, peer] = [by, tunnel.opposite(by)].map(|end| side(t, Some(tunnel), end));
    let [moment, anew] = [told.check.first_time, told.anew].map(|time| moment(focus, time));
    let count = told.check.messages;
    let line = fill!(t, "dialled-again-line", who, moment, anew);
    Some(Answer {
        headline: format::capitalised(&line),
        why: fill!(t, "dialled-again-why", who, count, anew),
        change: fill!(t, "do-dialled-again", who, peer, moment),
    })
}

/// The answer where an end sends from another address than the one that its peer sends to, and nothing shows that it is heard.
pub(super) fn of_elsewhere(focus: &Focus, tunnel: &Tunnel, event: &Event) -> Answer {
    let t = focus.t;
    let [who, peer] = [event.by, tunnel.opposite(event.by)].map(|end| side(t, Some(tunnel), end));
    let [from, to] = places(event);
    let probably = probably(t, event.known);
    let (line, why, cure) = match event.ports() {
        None => (
            fill!(t, "elsewhere-line", who, probably, peer, from, to),
            fill!(t, "elsewhere-why", who, peer, from, to),
            fill!(t, "cure-answered-elsewhere", who, from, to),
        ),
        Some([asked, own]) => (
            fill!(t, "elsewhere-line-port", who, probably, peer, asked, own),
            fill!(t, "elsewhere-why-port", peer, from, own),
            fill!(t, "cure-answered-at-port", who),
        ),
    };
    Answer {
        headline: format::capitalised(&line),
        why,
        change: fill!(t, "do", text = cure),
    }
}

/// The answer where a host answers nothing, though others have their answers through the same tunnel.
pub(super) fn of_silent_host(focus: &Focus, told: &ToldSilentHost) -> Answer {
    let (t, host) = (focus.t, told.host.to_string());
    let behind = side(t, focus.analysis.tunnels.get(told.tunnel), Some(told.behind));
    let n = format::count(told.packets);
    Answer {
        headline: fill!(t, "silent-host-line", host, n),
        why: fill!(t, "silent-host-why", host),
        change: fill!(t, "silent-host-do", host, behind),
    }
}

/// The answer where SAs of two inner networks end each other by turns.
pub(super) fn of_turns(focus: &Focus, event: &Event) -> Answer {
    let t = focus.t;
    let [from, to] = places(event);
    let seconds = format::seconds(event.until.unwrap_or(event.time).seconds_since(event.time));
    let count = event.count.unwrap_or(0);
    let text = fill!(t, "explains-networks-by-turns", from, to);
    Answer {
        headline: fill!(t, "turns-line", from, to, count, seconds),
        why: fill!(t, "why-outage", text),
        change: fill!(t, "do", text = t.word("cure-networks-by-turns")),
    }
}

/// The answer where an end moved, and its peer went on sending to the old place.
pub(super) fn of_left_behind(focus: &Focus, tunnel: &Tunnel, change: &Event) -> Option<Answer> {
    let (t, analysis) = (focus.t, focus.analysis);
    let [who, peer] = [change.by, tunnel.opposite(change.by)].map(|end| side(t, Some(tunnel), end));
    let [from, to] = places(change);
    let what = match change.kind {
        EventKind::PortChanged => "port",
        _ => "address",
    };
    let (until, moment) = (change.until?, moment(focus, change.time));
    let seconds = format::seconds(until.seconds_since(change.time));
    let esp = esp(tunnel);
    let followed = format::yes(Some(until) < analysis.capture.last_time);
    let line = fill!(t, "left-behind-line", who, what, moment, seconds, peer, followed);
    Some(Answer {
        headline: format::capitalised(&line),
        why: fill!(t, "left-behind-why", who, peer, from, to),
        change: fill!(t, "do", text = fill!(t, "cure-address-changed", esp)),
    })
}

/// The answer where nothing came from an event on, by the row of its cause.
pub(super) fn of_nothing_since(focus: &Focus, cause: ExplanationCause, event: &Event) -> Option<Answer> {
    let t = focus.t;
    let explanation = Explanation::shown(cause, event);
    let explained = since(focus, &explanation, event);
    let seconds = format::seconds(focus.analysis.capture.last_time?.seconds_since(event.time));
    let down = fill!(t, "outage-down-open", nothing = t.word("outage-nothing"), seconds);
    Some(Answer {
        headline: fill!(t, "outage-line", clause = explained.clause(1), down),
        why: fill!(t, "why-outage", text = explained.why()),
        change: fill!(t, "do", text = explained.cure()),
    })
}

/// The answer where IKE SAs were deleted before the next one was made, and too little was sent to measure what that costs.
pub(super) fn of_torn_down(focus: &Focus, told: &ToldTornDown<'_>) -> Option<Answer> {
    let t = focus.t;
    let first = told.deletes.first()?;
    let who = side(t, focus.analysis.tunnels.get(first.tunnel?), first.by);
    let seconds = range(t, told.range_s);
    let (moment, times) = (moment(focus, first.time), told.deletes.len());
    let (by, line, cure) = if told.by_another {
        let clause = deleted(focus, first, times);
        let line = fill!(t, "torn-down-by-another", clause, seconds);
        (
            "another",
            line,
            fill!(t, "cure-deleted-and-made-anew", who, moment),
        )
    } else {
        let at = match times {
            1 => fill!(t, "outage-at", moment),
            n => fill!(t, "outage-times", n),
        };
        let line = fill!(t, "torn-down-line", who, at, seconds);
        (
            "itself",
            line,
            fill!(t, "cure-break-before-make", what = "ike", who),
        )
    };
    let list = moments(focus, told.deletes.iter().map(|delete| delete.time));
    Some(Answer {
        headline: format::capitalised(&line),
        why: fill!(t, "torn-down-why", by, list),
        change: fill!(t, "do", text = cure),
    })
}

/// The time from an event on, of which no outage tells.
fn since<'a>(focus: &'a Focus<'a>, explanation: &'a Explanation, event: &Event) -> Explained<'a> {
    let from = (event.tunnel.unwrap_or_default(), event.time);
    Explained::new(focus, ExplainedTime::since(focus.analysis, explanation, from))
}

/// The clause of a Delete that came so many times.
fn deleted(focus: &Focus, delete: &Event, times: usize) -> String {
    let explanation = Explanation::shown(ExplanationCause::Deleted, delete);
    since(focus, &explanation, delete).clause(times)
}

/// The answer where data still came behind the Delete that ends the tunnel, and the capture ends.
pub(super) fn of_cut_off(focus: &Focus, delete: &Event, headline: &Impact) -> Answer {
    let t = focus.t;
    let who = side(t, focus.analysis.tunnels.get(headline.tunnel), delete.by);
    let moment = moment(focus, delete.time);
    let rekeys = clean::first_said(t, &headline.sentence, &headline.messages);
    Answer {
        headline: fill!(t, "cut-off-line", clause = deleted(focus, delete, 1)),
        why: t.sentences(&[t.word("cut-off-why"), rekeys]),
        change: fill!(t, "do-cut-off", who, moment),
    }
}

/// The answer where a transfer without keys, or of datagrams, stood still for longer than all rekeys cost.
pub(super) fn of_standstill(focus: &Focus, told: &ToldStandstill, headline: &Impact) -> Answer {
    let (t, analysis) = (focus.t, focus.analysis);
    let (start, end) = told.stood;
    let direction = upload_or_download(t, headline.direction);
    let (from, seconds) = (moment(focus, start), format::seconds(end.seconds_since(start)));
    let is_read = analysis.keys_fit() == KeysFit::Some;
    let until = match told.checks {
        0 if told.renewed => "renewal",
        0 => "rest",
        _ => "ike",
    };
    let (why, change) = match told.checks {
        0 if is_read => (t.word("standstill-datagrams"), t.word("do-other-end")),
        0 => (fill!(t, "standstill-why", until), t.word(see_inside(analysis))),
        checks => {
            let own = |event: &&Event| event.tunnel.is_none_or(|tunnel| tunnel == headline.tunnel);
            let mut events = analysis.events.iter().filter(own);
            let closed =
                events.find(|e| e.kind == EventKind::Unreachable && e.time >= start && e.time <= end);
            let tunnel = analysis.tunnels.get(headline.tunnel);
            let who = side(t, tunnel, closed.and_then(|e| e.by));
            let icmp = format::yes(closed.is_some());
            let why = fill!(t, "standstill-checks", checks, icmp, who);
            (why, t.word("do-other-end"))
        }
    };
    Answer {
        headline: fill!(t, "standstill-line", direction, from, seconds, until),
        why,
        change,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_impact::explain::{told_dialled_again, told_standstill};
    use rekeyscope_model::analysis::{Analysis, Certainty, Event, ExchangeKind, LedgerBasis, Verdict};
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    fn of(document: &Analysis) -> Option<Answer> {
        let headline = &document.impact[0];
        let told = told_standstill(document, headline)?;
        let focus = Focus::new(document, Language::English);
        Some(of_standstill(&focus, &told, headline))
    }

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
    fn who_repeats_a_check_and_dials_again_heard_nothing() {
        let mut document = example::one_failed();
        document.impact[0].verdict = Verdict::Bounded;
        let tunnel = document.impact[0].tunnel;
        document
            .security_associations
            .retain(|sa| sa.tunnel == tunnel && sa.packets > 0);
        let src = document.security_associations[0].src;
        document.security_associations.retain(|sa| sa.src == src);
        let begin = document.capture.first_time.unwrap();
        document.exchanges.truncate(2);
        for (exchange, (kind, from, to, messages)) in document.exchanges.iter_mut().zip([
            (ExchangeKind::Informational, 2.0, 5.0, 3),
            (ExchangeKind::IkeSaInit, 9.0, 9.0, 1),
        ]) {
            (exchange.kind, exchange.initiator, exchange.tunnel) = (kind, Some(src), tunnel);
            (exchange.messages, exchange.retransmissions) = (messages, messages - 1);
            exchange.first_time = begin.plus_seconds(from);
            exchange.last_time = begin.plus_seconds(to);
        }
        document.security_associations[0].first_time = Some(begin.plus_seconds(9.2));
        let of = |document: &Analysis| {
            let told = told_dialled_again(document, &document.impact[0])?;
            of_dialled_again(&Focus::new(document, Language::English), &told)
        };
        let answer = of(&document).unwrap();
        assert!(
            answer.headline.contains("probably got no answer"),
            "{}",
            answer.headline
        );
        let mut answered = document.clone();
        answered.exchanges[0].retransmissions = 1;
        assert!(of(&answered).is_none(), "one of the messages came from the peer");
        document.exchanges[1].first_time = begin.plus_seconds(30.0);
        assert!(of(&document).is_none(), "much later");
    }

    /// The side of the headline never took the SA of a renewal into use, and sends again with the next one, after 40 s.
    #[test]
    fn a_side_that_never_took_its_new_sa_stood_still() {
        let mut document = example::one_failed();
        let headline = &mut document.impact[0];
        (headline.verdict, headline.rekeys_used) = (Verdict::Inconclusive, 0);
        let (tunnel, direction) = (headline.tunnel, headline.direction);
        document.flows.clear();
        let begin = document.capture.first_time.unwrap();
        let mut rekey = document.rekeys[0].clone();
        rekey.tunnel = tunnel;
        (rekey.old.a_to_b, rekey.old.b_to_a) = (None, None);
        (rekey.switched.a_to_b, rekey.switched.b_to_a) = (None, None);
        let switched = direction.pick(&mut rekey.switched.a_to_b, &mut rekey.switched.b_to_a);
        *switched = Some(begin.plus_seconds(50.1));
        (rekey.started, rekey.exchange_ms) = (Some(begin.plus_seconds(50.0)), Some(50.0));
        document.rekeys = vec![rekey];
        let ends = document.tunnels.iter().find(|own| own.id == tunnel).unwrap();
        let src = direction.pick(ends.a, ends.b);
        let mut own = document.security_associations[0].clone();
        (own.tunnel, own.src, own.packets) = (tunnel, src, 500);
        (own.first_time, own.last_time) = (Some(begin), Some(begin.plus_seconds(10.0)));
        let mut other = own.clone();
        document.security_associations = vec![own];
        let line = of(&document).unwrap().headline;
        assert!(line.contains("stood still for 40.1 s"), "{line}");
        assert!(line.ends_with("until a renewal."), "{line}");
        other.last_time = Some(begin.plus_seconds(60.0));
        document.security_associations.push(other);
        assert!(of(&document).is_none(), "another SA of that side went on");
    }

    #[test]
    fn datagrams_behind_checks_in_vain_did_not_rest() {
        let Answer {
            headline,
            why,
            change,
        } = of(&stood(4)).unwrap();
        assert!(headline.contains("stood still for"), "{headline}");
        assert!(headline.ends_with("until a new IKE SA stood."), "{headline}");
        assert!(why.starts_with("Why: 4 keepalive checks"), "{why}");
        assert!(change.contains("other end"), "{change}");
        assert!(of(&stood(0)).is_none(), "a program may have rested");
    }
}

//! The three lines where ESP of one side never came, and where a transfer stood still and no key shows why.

use crate::words::answer::lines::Answer;
use crate::words::ends::side;
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::moment;
use rekeyscope_impact::explain::{told_no_return, told_standstill};
use rekeyscope_model::analysis::Verdict;

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
    let made = if told.new_ike_sa { "ike-sa" } else { "child" };
    let why = match told.checks {
        0 => t.word("standstill-why"),
        checks => fill!(t, "standstill-checks", checks),
    };
    let change = t.word(if told.datagrams { "do-other-end" } else { "do-keys" });
    Some(Answer {
        tunnel: Some(headline.tunnel),
        headline: fill!(t, "standstill-line", direction, from, seconds, made),
        why,
        change,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::analysis::{
        Analysis, Certainty, Event, EventKind, LedgerBasis, LedgerDown, LedgerInterval,
    };
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    /// Datagrams stand still for 3.5 s, and a new IKE SA is made in that time.
    fn stood(checks: Option<u64>) -> Analysis {
        let mut document = example::seven_rekeys();
        let from = document.account[0].start.plus_seconds(8.0);
        document.impact[0].verdict = Verdict::Inconclusive;
        (document.ledger[0].basis, document.ledger[0].cost_seconds) = (LedgerBasis::Datagrams, 0.0);
        document.ledger[0].down = vec![LedgerDown {
            attempt: None,
            outage: None,
            rekey: Some(0),
            cost_seconds: 3.5,
            r0_mbps: 1.0,
            at_least: false,
            swallowed: 0,
            interval: LedgerInterval {
                from,
                arrived: Some(from.plus_seconds(3.5)),
                to: from.plus_seconds(3.5),
                from_frame: Some(900),
                to_frame: Some(901),
            },
        }];
        let mut of_tunnel = |kind, after: f64, count| {
            let mut event = Event::at(kind, Certainty::Read, from.plus_seconds(after), 900);
            (event.tunnel, event.count, event.until) = (Some(0), count, Some(from.plus_seconds(after / 2.0)));
            document.events.push(event);
        };
        if checks.is_some() {
            of_tunnel(EventKind::ChecksUnanswered, -6.0, checks);
        }
        of_tunnel(EventKind::NewIkeSa, 2.0, None);
        document
    }

    #[test]
    fn datagrams_behind_checks_in_vain_did_not_rest() {
        let of = |document: &Analysis| of_standstill(&Focus::new(document, Language::English));
        let answer = of(&stood(Some(4))).unwrap();
        assert!(
            answer.headline.contains("stood still for 3.50 s"),
            "{}",
            answer.headline
        );
        assert!(
            answer.headline.ends_with("until a new IKE SA stood."),
            "{}",
            answer.headline
        );
        assert!(answer.why.contains("after 4 checks"), "{}", answer.why);
        assert!(answer.change.contains("other end"), "{}", answer.change);
        assert!(of(&stood(None)).is_none(), "a program may have rested");
    }
}

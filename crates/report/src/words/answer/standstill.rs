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

/// The answer where a transfer without keys stood still for longer than all rekeys cost.
pub(super) fn of_standstill(focus: &Focus) -> Option<Answer> {
    let (t, analysis) = (focus.t, focus.analysis);
    let headline = analysis.impact.first()?;
    let decided = matches!(
        headline.verdict,
        Verdict::Failed | Verdict::Shown | Verdict::Some | Verdict::NoTraffic
    );
    let down = told_standstill(analysis, headline).filter(|_| !decided)?;
    let stood = &down.interval;
    let end = stood.arrived.unwrap_or(stood.to);
    let direction = t.word(headline.direction.pick("verdict-upload", "verdict-download"));
    let (from, seconds) = (
        moment(focus, stood.from),
        format::seconds(end.seconds_since(stood.from)),
    );
    Some(Answer {
        tunnel: Some(headline.tunnel),
        headline: fill!(t, "standstill-line", direction, from, seconds),
        why: t.word("standstill-why"),
        change: t.word("do-keys"),
    })
}

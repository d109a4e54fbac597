//! Attempts and outages in words.

use crate::words::common::direction;
use crate::words::explanations::Explained;
use crate::words::focus::Focus;
use crate::words::{clean, format};
use rekeyscope_impact::answer::goes_on_in_clear;
use rekeyscope_impact::explain::ExplainedTime;
use rekeyscope_model::analysis::{
    Analysis, Attempt, AttemptOutcome, Finding, FindingKind, Outage, OutageEnd,
};
use rekeyscope_model::text::Catalogue;

/// An outcome and its reason: `refused: NO_PROPOSAL_CHOSEN`.
pub(crate) fn outcome_because(t: &Catalogue, outcome: AttemptOutcome, reason: Option<&str>) -> String {
    let what = t.name("outcome", outcome.as_str());
    let Some(reason) = reason else { return what };
    let reason = match reason {
        "peer_silent" => t.word("reason-peer-silent"),
        "peer_sends_esp" => t.word("reason-peer-sends-esp"),
        name => clean::line(name),
    };
    fill!(t, "outcome-because", what, reason)
}

/// An attempt in trouble is told of where all is well otherwise: it failed, or led to an outage.
pub(crate) fn is_trouble(a: &Attempt) -> bool {
    a.outcome.failed() || a.outage.is_some()
}

/// The length of an outage: `73.8 s or more`.
pub(crate) fn outage_length(t: &Catalogue, o: &Outage) -> String {
    let seconds = format::seconds(o.seconds);
    match o.at_least {
        true => fill!(t, "outage-or-more", seconds),
        false => seconds,
    }
}

/// The outages of a tunnel, an item each, at most `most`.
pub(crate) fn outages(focus: &Focus, tunnel: usize, most: usize) -> Vec<String> {
    let own = focus.analysis.outages_of(tunnel);
    own.take(most)
        .map(|o| {
            let from = format::or_unknown(focus.seconds(o.start), format::clock);
            let said = fill!(
                focus.t,
                "outage-item",
                direction = direction(focus.t, focus.analysis, o.tunnel, o.direction),
                from,
                length = outage_length(focus.t, o),
                end = outage_end(focus.t, o.ended_by)
            );
            match ExplainedTime::of_outage(o).and_then(|time| Explained::new(focus, time).item()) {
                Some(clause) => fill!(focus.t, "outage-because", clause, outage = said),
                None => said,
            }
        })
        .collect()
}

pub(crate) fn outage_end(t: &Catalogue, end: OutageEnd) -> String {
    t.name("outage-end", end.as_str())
}

/// Fewer packets in clear after an outage, which stand above a report.
pub(crate) fn leaks(analysis: &Analysis) -> impl Iterator<Item = &Finding> {
    analysis.findings.iter().filter(|f| is_leak(f))
}

/// Tells whether a finding is such packets.
pub(crate) fn is_leak(finding: &Finding) -> bool {
    finding.id == FindingKind::CleartextLeak.as_str() && !goes_on_in_clear(finding)
}

//! The verdict and what it rests on.

use crate::words::clean;
use crate::words::format::{self, or_unknown};
use rekeyscope_impact::tell;
use rekeyscope_impact::tell::failed::{FailureFacts, ToldFailure};
use rekeyscope_model::analysis::{Analysis, Counted, Impact, Verdict};
use rekeyscope_model::text::Catalogue;

/// The verdict as a label.
pub(crate) fn verdict(t: &Catalogue, v: Verdict) -> String {
    t.name("verdict-label", v.as_str())
}

pub(crate) fn counted(t: &Catalogue, c: Counted) -> String {
    t.word(match c {
        Counted::InnerNewBytes => "counted-inner",
        Counted::OuterBytes => "counted-outer",
    })
}

/// The rate, where one was measured, and what it counts.
pub(crate) fn rates(t: &Catalogue, i: &Impact) -> Option<String> {
    let (observed, counted) = (format::rate(i.observed_bps?), counted(t, i.counted));
    Some(fill!(t, "rates", observed, counted))
}

/// Share of the gap to the reference rate that rekeys explain.
pub(crate) fn share_of_gap(t: &Catalogue, i: &Impact) -> Option<String> {
    let share = i.explained_share.as_ref()?;
    let reference = or_unknown(i.reference_bps, format::rate);
    Some(t.say(&tell::words::explained(share, &reference)))
}

/// The same, where the verdict's own sentence does not say it.
pub(crate) fn explained(t: &Catalogue, i: &Impact) -> Option<String> {
    let said = share_of_gap(t, i)?;
    (!t.sentence(&i.sentence, &i.messages).contains(&said)).then_some(said)
}

/// The failure that is told: in the tunnel of the headline where that says so, anywhere where there is no verdict to say it.
pub(crate) fn told_failure(analysis: &Analysis) -> Option<ToldFailure> {
    let headline = analysis.impact.first();
    if headline.is_some_and(|i| i.verdict != Verdict::Failed) {
        return None;
    }
    let origin = analysis.capture.first_time.unwrap_or_default();
    let told = tell::failed::failed(FailureFacts {
        tunnels: &analysis.tunnels,
        attempts: &analysis.attempts,
        rekeys: &analysis.rekeys,
        outages: &analysis.outages,
        events: &analysis.events,
        ledgers: &analysis.ledger,
        origin,
        end: analysis.capture.last_time.unwrap_or(origin),
    });
    told.into_iter()
        .find(|told| headline.is_none_or(|i| i.tunnel == told.tunnel))
}

/// The verdict in full, with its reservations; of a document without one, what failed.
pub(crate) fn in_full(t: &Catalogue, analysis: &Analysis) -> Option<String> {
    match analysis.impact.first() {
        Some(headline) => Some(clean::said(t, &headline.sentence, &headline.messages)),
        None => Some(t.say_all(&told_failure(analysis)?.messages)),
    }
}

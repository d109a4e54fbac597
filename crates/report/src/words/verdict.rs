//! The verdict and what it rests on.

use crate::words::clean;
use crate::words::format::{self, or_unknown};
use rekeyscope_impact::tell;
use rekeyscope_impact::tell::failed::ToldFailure;
use rekeyscope_model::analysis::{Analysis, Counted, Impact, Verdict};
use rekeyscope_model::text::Catalogue;

/// The verdict as a label.
pub(crate) fn verdict(t: &Catalogue, v: Verdict) -> String {
    t.word(match v {
        Verdict::Failed => "verdict-label-failed",
        Verdict::Shown => "verdict-label-shown",
        Verdict::Some => "verdict-label-some",
        Verdict::Bounded => "verdict-label-bounded",
        Verdict::Inconclusive => "verdict-label-inconclusive",
        Verdict::NoRekeys => "verdict-label-no-rekeys",
        Verdict::NoTraffic => "verdict-label-no-traffic",
    })
}

/// What the rates count.
pub(crate) fn counted(t: &Catalogue, c: Counted) -> String {
    t.word(match c {
        Counted::InnerNewBytes => "counted-inner",
        Counted::OuterBytes => "counted-outer",
    })
}

/// What the rates say, where a rate was measured.
pub(crate) fn rates(t: &Catalogue, i: &Impact) -> Option<String> {
    let (observed, counted) = (format::rate(i.observed_bps?), counted(t, i.counted));
    Some(match i.counterfactual_bps.map(format::rate) {
        Some(without) => t.fill(
            "rates-without",
            &[
                ("observed", &observed),
                ("without", &without),
                ("counted", &counted),
            ],
        ),
        None => t.fill("rates", &[("observed", &observed), ("counted", &counted)]),
    })
}

/// What the run could have detected.
pub(crate) fn detectable(t: &Catalogue, i: &Impact) -> Option<String> {
    let mde = format::duration_ms(i.mde_ms?);
    let rekeys = format::counted(t, "counted-rekeys", i.rekeys_used as u64);
    Some(t.fill("detectable", &[("mde", &mde), ("rekeys", &rekeys)]))
}

/// How far apart bursts lie, and what that means for the rates.
pub(crate) fn bursts(t: &Catalogue, i: &Impact) -> Option<String> {
    let period = format::duration_ms(i.burst_ms?);
    Some(t.fill("bursts", &[("period", &period)]))
}

/// How much of the gap to the reference rate the stalls explain.
pub(crate) fn share_of_gap(t: &Catalogue, i: &Impact) -> Option<String> {
    let share = i.explained_share.as_ref()?;
    let reference = or_unknown(i.reference_bps, format::rate);
    let shown = i.verdict == Verdict::Shown;
    Some(t.say(&tell::sentence::words::explained(share, shown, &reference)))
}

/// The same, where the verdict's own sentence does not say it.
pub(crate) fn explained(t: &Catalogue, i: &Impact) -> Option<String> {
    let said = share_of_gap(t, i)?;
    (!t.sentence(&i.sentence, &i.messages).contains(&said)).then_some(said)
}

/// What failed: in the tunnel of the headline where that says so, anywhere where there is no verdict to say it.
pub(crate) fn told_failure(analysis: &Analysis) -> Option<ToldFailure> {
    let headline = analysis.impact.first();
    if headline.is_some_and(|i| i.verdict != Verdict::Failed) {
        return None;
    }
    let origin = analysis.capture.first_time.unwrap_or_default();
    let told = tell::failed::failed(
        (&analysis.attempts, &analysis.rekeys),
        &analysis.outages,
        &analysis.tunnels,
        origin,
    );
    told.into_iter()
        .find(|told| headline.is_none_or(|i| i.tunnel == told.tunnel))
}

/// The verdict in full, with its intervals and reservations; of a document without one, what failed.
pub(crate) fn in_full(t: &Catalogue, analysis: &Analysis) -> Option<String> {
    match analysis.impact.first() {
        Some(headline) => Some(clean::said(t, &headline.sentence, &headline.messages)),
        None => Some(t.say_all(&told_failure(analysis)?.messages)),
    }
}

/// The reruns that disagree with the verdict.
pub(crate) fn disagreeing(t: &Catalogue, i: &Impact) -> Option<String> {
    let differing = i.sensitivity.iter().filter(|s| s.disagrees);
    let list: Vec<String> = differing
        .map(|s| {
            format!(
                "{}: {}",
                clean::said(t, &s.change, &s.messages),
                verdict(t, s.verdict)
            )
        })
        .collect();
    let list = (!list.is_empty()).then(|| list.join(&t.word("semicolon")))?;
    Some(t.fill("disagreeing", &[("list", &list)]))
}

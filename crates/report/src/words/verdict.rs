//! The verdict and what it rests on.

use crate::words::clean;
use crate::words::format::{self, or_unknown};
use rekeyscope_impact::tell;
use rekeyscope_model::analysis::{Analysis, Counted, Impact, Verdict};
use rekeyscope_model::text::{Catalogue, Message};

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

/// How much of the gap to the reference rate the stalls explain, where the verdict's own sentence does not say it.
pub(crate) fn explained(t: &Catalogue, i: &Impact) -> Option<String> {
    let share = i.explained_share.as_ref()?;
    let reference = or_unknown(i.reference_bps, format::rate);
    let shown = i.verdict == Verdict::Shown;
    let said = t.say(&tell::sentence::words::explained(share, shown, &reference));
    (!t.sentence(&i.sentence, &i.messages).contains(&said)).then_some(said)
}

/// A document without a verdict still begins with a sentence.
pub(crate) fn no_verdict(t: &Catalogue, analysis: &Analysis) -> String {
    if let Some(told) = failed(analysis) {
        return t.say_all(&told);
    }
    t.word(match analysis.capture.packets {
        0 => "no-verdict-empty",
        _ if analysis.capture.ike_packets == 0 || analysis.tunnels.is_empty() => "no-verdict-no-tunnel",
        _ if analysis.rekeys.is_empty() => "no-verdict-ike-only",
        _ => "no-verdict-ike-rekeys",
    })
}

/// What failed in a capture that has no verdict to say it.
fn failed(analysis: &Analysis) -> Option<Vec<Message>> {
    let origin = analysis.capture.first_time.unwrap_or_default();
    let told = tell::failed::failed(&analysis.attempts, &analysis.outages, &analysis.tunnels, origin);
    told.into_iter().next().map(|t| t.messages)
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

//! The verdict and what it rests on.

use crate::words::answer::answer;
use crate::words::clean;
use crate::words::focus::{Focus, is_hurt};
use crate::words::format::{self, or_unknown};
use rekeyscope_impact::tell::words;
use rekeyscope_model::analysis::{Counted, Impact, Rekey, RekeyImpact, Verdict};
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
    Some(t.say(&words::explained(share, &reference)))
}

/// The verdict in full, with its reservations. Where the tunnel failed, line 1 stands for it, and what its rekeys cost behind that.
pub(crate) fn in_full(focus: &Focus) -> Option<String> {
    let (t, headline) = (focus.t, focus.analysis.impact.first()?);
    let said = clean::said(t, &headline.sentence, &headline.messages);
    if headline.verdict != Verdict::Failed {
        return Some(said);
    }
    let rekeys = (headline.rekeys > 0 && !said.is_empty()).then_some(said);
    Some(t.sentences(&Vec::from_iter(
        [answer(focus).headline].into_iter().chain(rekeys),
    )))
}

// Cost of a rekey, in words.

/// The flag of a rekey beside which the capture lacks packets.
const HOLE: &str = "capture_hole";

/// Effect of a rekey on a direction; empty where there is none.
pub(crate) fn effect(t: &Catalogue, impact: Option<&RekeyImpact>) -> String {
    let lacks = |i: &RekeyImpact| i.flags.iter().any(|flag| flag == HOLE);
    match impact {
        Some(i) if i.hurt => match i.why {
            Some(why) => t.name("effect", why.as_str()),
            // A document of an earlier version.
            None => t.word("effect-stopped"),
        },
        Some(i) if i.used => String::new(),
        Some(i) if lacks(i) => t.word("effect-not-observed"),
        _ => t.word("effect-outside"),
    }
}

/// The seconds that a rekey cost the direction that is shown; 0 where that is nothing or not known.
pub(crate) fn cost_seconds(focus: &Focus, rekey: &Rekey) -> f64 {
    let seconds = focus.shown(rekey).and_then(|impact| impact.cost_seconds);
    seconds.filter(|s| !format::is_nothing(*s)).unwrap_or(0.0)
}

/// `lost 0.23 s` of a rekey that hurt; nothing of others.
pub(crate) fn cost_of(focus: &Focus, rekey: &Rekey) -> Option<String> {
    let impact = focus.shown(rekey).filter(|_| is_hurt(rekey))?;
    let t = focus.t;
    Some(match impact.cost_seconds.filter(|s| s.is_finite()) {
        Some(s) => {
            let cost = format::least(impact.at_least, format::seconds(s));
            fill!(t, "plot-lost", cost)
        }
        None => t.word("plot-hurt"),
    })
}

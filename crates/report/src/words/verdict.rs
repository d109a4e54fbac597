//! The verdict and what it rests on.

use crate::words::answer::answer;
use crate::words::clean;
use crate::words::focus::Focus;
use crate::words::format::{self, or_unknown};
use rekeyscope_impact::tell::words;
use rekeyscope_model::analysis::{Counted, Impact, Verdict};
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

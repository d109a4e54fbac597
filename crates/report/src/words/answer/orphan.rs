//! The three lines where a renewal failed and no outage is seen: an SA ended without a successor, and no key shows its traffic, or nothing
//! that was sent then shows it.

use crate::words::answer::change::of_attempt;
use crate::words::answer::lines::Answer;
use crate::words::clean;
use crate::words::ends::{opposite, side};
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::{frames, moment};
use rekeyscope_impact::explain::{MOST_FRAMES, OrphanReason, ToldOrphan, told_failed_renewal, told_orphan};
use rekeyscope_model::analysis::{AttemptOutcome, Verdict};
use rekeyscope_model::text::Message;

/// The answer where rekeys did no harm that is seen.
pub(super) fn of_orphan(focus: &Focus) -> Option<Answer> {
    let (t, headline) = (focus.t, focus.analysis.impact.first()?);
    if !matches!(
        headline.verdict,
        Verdict::Bounded | Verdict::Inconclusive | Verdict::NoRekeys
    ) {
        return None;
    }
    let ToldOrphan { reason, sa, end } = told_orphan(focus.analysis)?;
    let tunnel = focus.analysis.tunnels.get(sa.tunnel)?;
    let (what, by, shown_by) = match reason {
        OrphanReason::Failed(attempt) => {
            let frames = attempt.evidence_frames.clone();
            (
                attempt.outcome.as_str(),
                opposite(tunnel, attempt.initiator),
                frames,
            )
        }
        OrphanReason::Deleted(event) => ("deleted", event.by, vec![event.frame]),
    };
    let who = side(t, Some(tunnel), by);
    let headline = fill!(
        t,
        "orphan-line",
        who,
        what,
        ended = "orphan",
        spi = sa.spi,
        moment = moment(focus, end)
    );
    let shown: Vec<u64> = shown_by
        .into_iter()
        .take(MOST_FRAMES)
        .chain(sa.last_frame)
        .collect();
    let why = [t.word("orphan-why"), frames(t, &shown)];
    Some(Answer {
        tunnel: Some(sa.tunnel),
        headline: format::capitalised(&headline),
        why: t.sentences(&why),
        change: match reason {
            OrphanReason::Failed(attempt) => fill!(t, "do", text = of_attempt(focus, attempt)),
            OrphanReason::Deleted(_) => fill!(t, "do-orphan-deleted", who),
        },
    })
}

/// The answer where a renewal failed for good, and no outage shows it.
pub(super) fn of_failed_renewal(focus: &Focus) -> Option<Answer> {
    let t = focus.t;
    let told = told_failed_renewal(focus.analysis)?;
    let attempt = told.attempt;
    let tunnel = focus.analysis.tunnels.get(attempt.tunnel)?;
    let who = side(t, Some(tunnel), opposite(tunnel, attempt.initiator));
    let headline = fill!(
        t,
        "orphan-line",
        who,
        what = attempt.outcome.as_str(),
        ended = if told.ended.is_some() { "seen" } else { "unseen" },
        spi = "",
        moment = told.ended.map_or_else(String::new, |end| moment(focus, end))
    );
    let why = match (attempt.outcome, attempt.reason.as_deref()) {
        (AttemptOutcome::Refused, Some(_)) => "explains-refused",
        (AttemptOutcome::Refused, None) => "explains-refused-encrypted",
        (_, Some("peer_silent")) => "explains-peer-silent",
        _ => "explains-unanswered",
    };
    let why = Message::new(why)
        .with("who", who)
        .with(
            "notify",
            clean::line(attempt.reason.as_deref().unwrap_or_default()),
        )
        .with("count", told.count)
        .with("span", "all");
    let shown = attempt.evidence_frames.iter().copied().take(MOST_FRAMES);
    let frames = frames(t, &Vec::from_iter(shown));
    Some(Answer {
        tunnel: Some(attempt.tunnel),
        headline: format::capitalised(&headline),
        why: t.sentences(&[fill!(t, "why-outage", text = t.say(&why)), frames]),
        change: fill!(t, "do", text = of_attempt(focus, attempt)),
    })
}

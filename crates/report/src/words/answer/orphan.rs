//! The three lines where an SA ended without a successor after its renewal had failed, and no key shows its traffic.

use crate::words::answer::change::of_attempt;
use crate::words::answer::lines::Answer;
use crate::words::ends::side;
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::{frames, moment};
use rekeyscope_impact::explain::{MOST_FRAMES, OrphanReason, ToldOrphan, told_orphan};
use rekeyscope_model::analysis::{AttemptOutcome, Verdict};

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
            let what = match attempt.outcome {
                AttemptOutcome::Refused => "refused",
                _ => "unanswered",
            };
            let asked = [tunnel.a, tunnel.b];
            let by = asked.into_iter().find(|end| Some(*end) != attempt.initiator);
            (what, by, attempt.evidence_frames.clone())
        }
        OrphanReason::Deleted(event) => ("deleted", event.by, vec![event.frame]),
    };
    let who = side(t, Some(tunnel), by);
    let headline = fill!(
        t,
        "orphan-line",
        who,
        what,
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
            OrphanReason::Failed(attempt) => fill!(t, "do", text = of_attempt(focus, attempt.outcome)),
            OrphanReason::Deleted(_) => fill!(t, "do-orphan-deleted", who),
        },
    })
}

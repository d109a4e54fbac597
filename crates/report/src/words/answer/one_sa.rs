//! The three lines where a renewal failed and no outage is seen: an SA ended without a successor, and no key shows its traffic, or nothing
//! that was sent then shows it.

use crate::words::answer::Answer;
use crate::words::answer::remedy::of_attempt;
use crate::words::ends::{side, upload_or_download};
use crate::words::explanations::Explained;
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::{frames, moment};
use rekeyscope_impact::explain::{
    ExplainedTime, MOST_FRAMES, OrphanReason, ToldOrphan, ToldRenewal, ToldSlowSa,
};
use rekeyscope_impact::tell::account::amount_alone;
use rekeyscope_model::analysis::Impact;

/// The answer where rekeys did no harm that is seen.
pub(super) fn of_orphan(focus: &Focus, told: &ToldOrphan<'_>) -> Option<Answer> {
    let t = focus.t;
    let ToldOrphan { reason, sa, end } = *told;
    let tunnel = focus.analysis.tunnels.get(sa.tunnel)?;
    let (what, by, shown_by) = match reason {
        OrphanReason::Failed(attempt) => {
            let (what, asked) = (attempt.outcome.as_str(), tunnel.opposite(attempt.initiator));
            (what, asked, attempt.evidence_frames.clone())
        }
        OrphanReason::Deleted(event) => ("deleted", event.by, vec![event.frame]),
    };
    let who = side(t, Some(tunnel), by);
    let (ended, spi, moment) = ("orphan", sa.spi, moment(focus, end));
    let headline = fill!(t, "orphan-line", who, what, ended, spi, moment);
    let shown = shown_by.into_iter().take(MOST_FRAMES).chain(sa.last_frame);
    let why = [t.word("orphan-why"), frames(t, &Vec::from_iter(shown))];
    Some(Answer {
        headline: format::capitalised(&headline),
        why: t.sentences(&why),
        change: match reason {
            OrphanReason::Failed(attempt) => fill!(t, "do", text = of_attempt(focus, attempt)),
            OrphanReason::Deleted(_) => fill!(t, "do-orphan-deleted", who),
        },
    })
}

/// The answer where a renewal failed for good, and no outage shows it.
pub(super) fn of_failed_renewal(focus: &Focus, told: &ToldRenewal<'_>) -> Answer {
    let (t, attempt) = (focus.t, told.attempt);
    let who = side(t, focus.analysis.tunnels.get(attempt.tunnel), told.explanation.by);
    let (ended, moment) = match told.ended {
        Some(end) => ("seen", moment(focus, end)),
        None => ("unseen", String::new()),
    };
    let (what, spi) = (attempt.outcome.as_str(), "");
    let headline = fill!(t, "orphan-line", who, what, ended, spi, moment);
    let since = (attempt.tunnel, attempt.first_time);
    let time = ExplainedTime::since(focus.analysis, &told.explanation, since);
    let explained = Explained::new(focus, time);
    let why = fill!(t, "why-outage", text = explained.why());
    Answer {
        headline: format::capitalised(&headline),
        why: t.sentences(&[why, frames(t, &told.explanation.frames)]),
        change: fill!(t, "do", text = explained.cure()),
    }
}

// The three lines where one SA is slower than its neighbours.

/// The answer where a transfer was slow on one SA alone.
pub(super) fn of_slow_sa(focus: &Focus, told: &ToldSlowSa<'_>, headline: &Impact) -> Option<Answer> {
    let t = focus.t;
    let tunnel = focus.analysis.tunnels.get(headline.tunnel)?;
    let direction = headline.direction;
    let (sender, receiver) = direction.pick((tunnel.a, tunnel.b), (tunnel.b, tunnel.a));
    let busy = told
        .behind_capture
        .map(|behind| if behind { receiver } else { sender });
    let spi = direction.pick(&told.rekey.new.a_to_b, &told.rekey.new.b_to_a);
    let [own, other] = told.rates_bps.map(format::rate);
    let [from, to] = [told.span.0, told.span.1].map(|time| moment(focus, time));
    let [delay, usual] = told.delays_ms.unwrap_or_default().map(format::duration_ms);
    Some(Answer {
        headline: fill!(t, "slow-sa-line", from, to, own, other),
        why: fill!(
            t,
            "slow-sa-why",
            spi = spi.map(|spi| spi.to_string()).unwrap_or_default(),
            delays = format::yes(told.delays_ms.is_some()),
            delay,
            usual,
            direction = upload_or_download(t, direction),
            lost = amount_alone(told.lost_seconds)
        ),
        change: fill!(t, "do-slow-sa", who = side(t, Some(tunnel), busy)),
    })
}

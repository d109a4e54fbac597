//! The three lines where an SA ended without a successor after its renewal had failed, and no key shows its traffic.

use crate::words::answer::change::in_vain;
use crate::words::answer::lines::Answer;
use crate::words::focus::Focus;
use crate::words::format;
use crate::words::lengths::moment;
use rekeyscope_impact::explain::{ToldOrphan, told_orphan};
use rekeyscope_model::analysis::{AttemptOutcome, Verdict};

/// Frames that a sentence names.
const FRAMES: usize = 8;

/// The answer where rekeys did no harm that is seen.
pub(super) fn of_orphan(focus: &Focus) -> Option<Answer> {
    let (t, headline) = (focus.t, focus.analysis.impact.first()?);
    if !matches!(
        headline.verdict,
        Verdict::Bounded | Verdict::Inconclusive | Verdict::NoRekeys
    ) {
        return None;
    }
    let ToldOrphan { attempt, sa, end } = told_orphan(focus.analysis)?;
    let tunnel = focus.analysis.tunnels.get(attempt.tunnel)?;
    let ends = [(tunnel.a, "outage-client"), (tunnel.b, "outage-gateway")];
    let (address, role) = ends
        .into_iter()
        .find(|(end, _)| Some(*end) != attempt.initiator)?;
    let who = match tunnel.roles_known {
        true => t.word(role),
        false => address.to_string(),
    };
    let what = match attempt.outcome {
        AttemptOutcome::Refused => "refused",
        _ => "unanswered",
    };
    let args = [
        ("who", who),
        ("what", what.to_owned()),
        ("spi", sa.spi.to_string()),
        ("moment", moment(focus, end)),
    ];
    let args = args.each_ref().map(|(name, value)| (*name, value.as_str()));
    let frames = attempt.evidence_frames.iter().take(FRAMES).map(u64::to_string);
    let frames: Vec<String> = frames
        .chain(sa.last_frame.map(|frame| frame.to_string()))
        .collect();
    let why = [
        t.word("orphan-why"),
        t.fill("outage-frames", &[("frames", &t.joined(&frames))]),
    ];
    Some(Answer {
        tunnel: Some(attempt.tunnel),
        headline: format::capitalised(&t.fill("orphan-line", &args)),
        why: t.sentences(&why),
        change: in_vain(focus)?,
    })
}

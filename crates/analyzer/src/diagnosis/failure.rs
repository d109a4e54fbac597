//! Causes that belong to an attempt: why a rekey failed, and what that led to. The finished tables show them, not the packets
//! around a rekey.

use crate::diagnosis::symptom::Symptom;
use rekeyscope_ipsec::rekey::attempt::{AttemptSeen, UnansweredCheck};
use rekeyscope_model::analysis::{AttemptOutcome, Confidence};

/// Attempts within the usual interval between rekeys that are a storm …
pub(crate) const LEAST_STORM: usize = 3;
/// … when at least so many of them made nothing that was used: traffic that doubles its rate also doubles the rekeys.
pub(crate) const LEAST_IN_VAIN: usize = 2;

/// An attempt, with what was found around it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AttemptScene<'a> {
    /// The attempt.
    pub(crate) attempt: Option<&'a AttemptSeen>,
    /// A peer that does not answer at all.
    pub(crate) check: Option<&'a UnansweredCheck>,
    /// Frames of the attempts of a storm.
    pub(crate) storm: &'a [u64],
}

fn of_outcome(scene: &AttemptScene<'_>, outcome: AttemptOutcome) -> Option<Symptom> {
    let attempt = scene.attempt.filter(|a| a.outcome == outcome)?;
    Some(Symptom::new(Confidence::High, attempt.frames.iter().copied()))
}

/// The other side said no. Without IKE keys the length of its answer tells.
pub(super) fn rekey_refused(scene: &AttemptScene<'_>) -> Option<Symptom> {
    let refused = of_outcome(scene, AttemptOutcome::Refused)?;
    let read = scene.attempt.is_some_and(|a| a.reason.is_some());
    Some(Symptom {
        confidence: if read {
            Confidence::High
        } else {
            Confidence::Medium
        },
        ..refused
    })
}

/// The other side did not answer, or not before the request had been sent several times.
pub(super) fn rekey_unanswered(scene: &AttemptScene<'_>) -> Option<Symptom> {
    of_outcome(scene, AttemptOutcome::Unanswered).or_else(|| {
        let late = scene.attempt.filter(|a| a.answered_late())?;
        Some(Symptom::new(Confidence::High, late.frames.iter().copied()))
    })
}

/// An SA passed its limit, and nobody asked for a new one.
pub(super) fn limit_without_rekey(scene: &AttemptScene<'_>) -> Option<Symptom> {
    of_outcome(scene, AttemptOutcome::LimitWithoutAttempt)
}

/// The SA was deleted before a new one was asked for.
pub(super) fn break_before_make(scene: &AttemptScene<'_>) -> Option<Symptom> {
    of_outcome(scene, AttemptOutcome::BreakBeforeMake)
}

/// Dead peer detection asks, and nobody answers.
pub(super) fn dpd_unanswered(scene: &AttemptScene<'_>) -> Option<Symptom> {
    let check = scene.check?;
    Some(Symptom::new(Confidence::High, check.frames.iter().copied()))
}

/// Attempt after attempt, in the time in which there is usually one.
pub(super) fn rekey_storm(scene: &AttemptScene<'_>) -> Option<Symptom> {
    let shown = scene.storm.iter().copied();
    (!scene.storm.is_empty()).then(|| Symptom::new(Confidence::High, shown))
}

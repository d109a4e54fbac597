//! Labels of waits.

use super::surroundings::Surroundings;
use super::sweep::track::{Step, Track};
use crate::ledger::{joined, meets};
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::Timestamp;

/// The label of a wait, and what it would be called without.
pub(super) type Labelled = (AccountLabel, Option<AccountLabel>);

/// Labels of all steps; a wait beyond `gap` is a pause. A step that meets a hole of the capture is of the hole: several waits are 20 ms.
/// `slower`: stretches on a path that carries less than another one; what is lost in the queue before its link says how much that carries.
pub(super) fn labels(
    track: &mut Track,
    around: &Surroundings,
    slower: &[(Timestamp, Timestamp)],
    gap: i64,
) -> Vec<Labelled> {
    track.settle();
    let holes = joined(around.holes.clone());
    let label = |step: &Step| {
        let span = (Timestamp(step.from), Timestamp(step.to));
        if meets(&holes, span) {
            return (AccountLabel::CaptureHole, None);
        }
        match between_full_windows(step.kind.found.unwrap_or(AccountLabel::PathLoss), step, gap) {
            (AccountLabel::QueueLoss, None) if meets(slower, span) => {
                (AccountLabel::Capacity, Some(AccountLabel::QueueLoss))
            }
            labelled => labelled,
        }
    };
    track.steps.iter().map(label).collect()
}

/// Marks the time between two full windows as the receiver's, but for stalls that a loss explains. A larger window or buffer would win
/// nothing where the path is at its limit.
fn between_full_windows(label: AccountLabel, step: &Step, gap: i64) -> Labelled {
    use AccountLabel::{Capacity, PathLoss, QueueLoss, ReceiveWindow, Reordering, SendBuffer};
    let stall = step.longest > gap;
    let lost = matches!(label, PathLoss | QueueLoss | Reordering);
    let label = if step.kind.between_full && !(stall && lost) {
        ReceiveWindow
    } else {
        label
    };
    match label {
        ReceiveWindow | SendBuffer if step.kind.at_capacity => (Capacity, Some(label)),
        label => (label, None),
    }
}

#[cfg(test)]
mod tests;

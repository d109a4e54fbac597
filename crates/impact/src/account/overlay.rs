//! Labels of waits.

use super::surroundings::Surroundings;
use super::sweep::step::Step;
use super::sweep::track::Track;
use crate::ledger::{joined, meets};
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::Timestamp;

/// The label of a wait, and what it would be called without.
pub(super) type Labelled = (AccountLabel, Option<AccountLabel>);

/// Labels of all steps; a wait beyond `gap` is a pause. Some are cut first, where a hole of the capture begins or ends in them.
pub(super) fn labels(track: &mut Track, around: &Surroundings, gap: i64) -> Vec<Labelled> {
    track.settle();
    let holes = joined(around.holes.clone());
    cut(&mut track.steps, &holes);
    let label = |step: &Step| {
        if meets(&holes, (Timestamp(step.from), Timestamp(step.to))) {
            return (AccountLabel::CaptureHole, None);
        }
        between_full_windows(step.kind.found.unwrap_or(AccountLabel::PathLoss), step, gap)
    };
    track.steps.iter().map(label).collect()
}

/// Steps of several waits are cut where holes of the capture begin and end.
fn cut(steps: &mut Vec<Step>, holes: &[(Timestamp, Timestamp)]) {
    for border in holes.iter().flat_map(|hole| [hole.0.0, hole.1.0]) {
        let place = steps.partition_point(|step| step.to <= border);
        if let Some(step) = steps
            .get_mut(place)
            .filter(|step| step.from < border && !step.is_one())
        {
            let [before, behind] = step.split(border);
            *step = before;
            steps.insert(place + 1, behind);
        }
    }
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

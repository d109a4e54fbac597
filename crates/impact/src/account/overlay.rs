//! Labels of waits.

use super::surroundings::{Surroundings, touched};
use super::sweep::step::Step;
use super::sweep::track::Track;
use rekeyscope_model::analysis::AccountLabel;

/// The label of a wait, and what it would be called without.
pub(super) type Labelled = (AccountLabel, Option<AccountLabel>);

/// Labels of all steps; a wait beyond `gap` is a pause. Some are cut first, where a hole of the capture begins or ends in them.
pub(super) fn labels(track: &mut Track, around: &Surroundings, gap: i64) -> Vec<Labelled> {
    track.settle();
    cut(track, around);
    let label = |step: &Step| {
        if touched(&around.holes, step.from, step.to) {
            return (AccountLabel::CaptureHole, None);
        }
        between_full_windows(step.kind.found.unwrap_or(AccountLabel::PathLoss), step, gap)
    };
    track.steps.iter().map(label).collect()
}

/// Steps of several waits are cut where holes of the capture begin and end.
fn cut(track: &mut Track, around: &Surroundings) {
    let mut borders: Vec<i64> = around.holes.iter().flat_map(|s| [s.0.0, s.1.0]).collect();
    if borders.is_empty() {
        return;
    }
    borders.sort_unstable();
    let mut pieces: Vec<Step> = Vec::with_capacity(track.steps.len());
    for &step in &track.steps {
        let mut rest = step;
        let first = borders.partition_point(|b| *b <= step.from);
        for &border in borders[first..].iter().take_while(|b| **b < step.to) {
            if !step.is_one() && border > rest.from {
                let [before, behind] = rest.split(border);
                pieces.push(before);
                rest = behind;
            }
        }
        pieces.push(rest);
    }
    track.steps = pieces;
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

//! Which waits rekeys, failures and holes of the capture explain.

use super::surroundings::{DOWN_BEFORE, Surroundings, touched};
use super::sweep::episode::Episode;
use super::sweep::step::{NONE, Step, StepLabel};
use super::sweep::track::Track;
use super::times::Times;
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::NANOS_PER_MILLI;

/// A silence that began before the exchange by more than this, with nothing under way, is the application's.
const QUIET_BEFORE: i64 = 50 * NANOS_PER_MILLI;
/// What gaps elsewhere in the run reach is nothing special at a rekey: this share of them, of at least [`LEAST_GAPS`].
const USUAL_GAPS: f64 = 0.98;
/// See [`USUAL_GAPS`].
const LEAST_GAPS: usize = 5;

/// Of the losses of what came first on a new SA, at most this share may be such as chance explains: else they are like all others.
const BY_CHANCE: f64 = 0.05;

/// The label of a wait, and what it would be called without.
pub(super) type Labelled = (AccountLabel, Option<AccountLabel>);

/// The labels of all steps. Some are cut first, where a span begins or ends in them.
pub(super) fn labels(track: &mut Track, around: &Surroundings) -> Vec<Labelled> {
    cut(track, around);
    let times = track.facts.times;
    let causes = causes(track, around);
    let found = |step: &Step| {
        let cause = causes.get(step.kind.episode as usize).copied();
        match (step.kind.found, cause) {
            (StepLabel::Label(label), _) => label,
            (StepLabel::Episode, cause) => cause.unwrap_or(AccountLabel::PathLoss),
            // Who cannot tell reordering from loss comes back alike.
            (
                StepLabel::WayBack(_),
                Some(loss @ (AccountLabel::PathLoss | AccountLabel::QueueLoss | AccountLabel::Reordering)),
            ) => loss,
            (StepLabel::WayBack(label), _) => label,
        }
    };
    let mut labels: Vec<AccountLabel> = track.steps.iter().map(found).collect();
    overlay(track, around, &mut labels);
    swallowed(track, &mut labels);
    let last = |(label, step): (AccountLabel, &Step)| between_full_windows(label, step, times);
    labels.into_iter().zip(&track.steps).map(last).collect()
}

/// What each episode comes from.
fn causes(track: &Track, around: &Surroundings) -> Vec<AccountLabel> {
    let times = track.facts.times;
    let is_first = |e: &&Episode| e.is_first_of_a_rekey(times, around);
    let firsts = track.episodes.iter().filter(is_first).count() as f64;
    let packets: u64 = track.steps.iter().map(|s| u64::from(s.packets)).sum();
    // As often as any other packet is lost. The rekeys are those of both directions, twice as many as have to do with it: that errs towards chance.
    let by_chance = (track.losses as f64 - firsts) / packets.max(1) as f64 * around.rekeys.len() as f64;
    let firsts = by_chance <= BY_CHANCE * firsts;
    let cause = |e: &Episode| e.cause(times, around, firsts);
    track.episodes.iter().map(cause).collect()
}

/// Steps of several waits are cut where holes of the capture begin and end, and, where nobody waits for acknowledgements, outages:
/// what was sent in one did not arrive.
fn cut(track: &mut Track, around: &Surroundings) {
    let down = around
        .down
        .iter()
        .map(|d| (d.from, d.to))
        .filter(|_| !track.facts.tcp);
    let spans = around.holes.iter().copied().chain(down);
    let mut borders: Vec<i64> = spans.flat_map(|s| [s.0.0, s.1.0]).collect();
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
    if !track.facts.tcp {
        for step in &mut pieces {
            let arrives = if step.is_one() {
                step.to
            } else {
                step.from.midpoint(step.to)
            };
            if around.down_in(arrives, arrives).is_some() {
                step.bytes = 0;
            }
        }
    }
    track.steps = pieces;
}

fn is_loss(label: AccountLabel) -> bool {
    use AccountLabel::{PathLoss, QueueLoss, Rekey, Reordering, TunnelDown};
    matches!(label, PathLoss | QueueLoss | Reordering | Rekey | TunnelDown)
}

fn overlay(track: &Track, around: &Surroundings, labels: &mut [AccountLabel]) {
    let times = track.facts.times;
    let usual = usual_gap(&track.steps, times, around);
    let mut explained: Vec<(u32, AccountLabel)> = Vec::new();
    for (step, label) in track.steps.iter().zip(labels.iter_mut()) {
        if touched(&around.holes, step.from, step.to) {
            *label = AccountLabel::CaptureHole;
            continue;
        }
        if let Some(down) = around.down_in(step.from, step.to).filter(|_| !track.facts.tcp) {
            // Nobody waits for an acknowledgement: it goes on being sent.
            *label = down;
            continue;
        }
        if step.longest <= times.gap || *label == AccountLabel::ZeroWindow {
            continue;
        }
        let lost = step.again || step.kind.episode != NONE && is_loss(*label);
        if !lost && usual.is_some_and(|usual| step.longest <= usual) {
            continue;
        }
        let Some(explanation) = explains(step, times, around) else {
            continue;
        };
        *label = explanation;
        if step.pause != NONE {
            explained.push((step.pause, explanation));
        }
    }
    // The way back to the flight before belongs to the pause.
    for (step, label) in track.steps.iter().zip(labels) {
        if step.kind.ramp != NONE
            && let Ok(place) = explained.binary_search_by_key(&step.kind.ramp, |e| e.0)
        {
            *label = explained[place].1;
        }
    }
}

/// What a failure or a rekey makes of a pause.
fn explains(step: &Step, times: Times, around: &Surroundings) -> Option<AccountLabel> {
    let (from, to) = (step.from, step.to);
    let long = step.longest > times.long;
    if long && touched(&around.failed, from, to) {
        return Some(AccountLabel::TunnelDown);
    }
    if let Some(down) = around.down_in(from, to).filter(|_| long) {
        return Some(down);
    }
    let window = around.rekeys_in(from, to).next()?;
    if step.all_acked && from < window.asked.0 - QUIET_BEFORE && !step.vanished {
        return None;
    }
    let before_all = window.asked.0 - from > DOWN_BEFORE.max(3 * times.rtt);
    Some(if before_all {
        AccountLabel::TunnelDown
    } else {
        AccountLabel::Rekey
    })
}

/// The longest of the usual gaps outside rekeys; `None` where there are too few.
fn usual_gap(steps: &[Step], times: Times, around: &Surroundings) -> Option<i64> {
    let elsewhere = |s: &&Step| s.longest > times.gap && around.rekeys_in(s.from, s.to).next().is_none();
    let mut gaps: Vec<i64> = steps.iter().filter(elsewhere).map(|s| s.longest).collect();
    if gaps.len() < LEAST_GAPS {
        return None;
    }
    let place = ((gaps.len() - 1) as f64 * USUAL_GAPS).floor() as usize;
    Some(*gaps.select_nth_unstable(place).1)
}

/// What is sent again while the other side is silent: the tunnel swallows everything.
fn swallowed(track: &Track, labels: &mut [AccountLabel]) {
    use AccountLabel::{PathLoss, QueueLoss, Rekey, TunnelDown};
    let mut meant = vec![TunnelDown; track.silences as usize];
    let behind = std::iter::once(NONE).chain(track.steps.iter().map(|s| s.kind.silence));
    for ((step, label), before) in track.steps.iter().zip(labels.iter()).zip(behind) {
        // The pause, or the one that ends the silence, may already be known for a rekey's.
        for silence in [step.kind.silence, before] {
            if let Some(meant) = meant.get_mut(silence as usize).filter(|_| *label == Rekey) {
                *meant = Rekey;
            }
        }
    }
    for (step, label) in track.steps.iter().zip(labels) {
        if let Some(meant) = meant.get(step.kind.silence as usize)
            && matches!(label, PathLoss | QueueLoss)
        {
            *label = *meant;
        }
    }
}

/// Between two full windows everything waits for the receiver, but stalls that something else explains; and a larger window, or
/// buffer, would win nothing where the path is at its limit.
fn between_full_windows(label: AccountLabel, step: &Step, times: Times) -> Labelled {
    use AccountLabel::{Capacity, CaptureHole, ReceiveWindow, SendBuffer};
    let stall = step.longest > times.gap;
    let other = is_loss(label) || label == CaptureHole;
    let label = if step.kind.between_full && !(stall && other) {
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

//! Which waits rekeys, failures and holes of the capture explain, and what two full windows enclose.

use super::half::Half;
use super::surroundings::{Surroundings, touched};
use super::sweep::{NONE, Swept, WaitLabel};
use super::times::Times;
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};

/// A silence that began before the exchange by more than this, or three round trips: the tunnel was down before anybody asked.
const DOWN_BEFORE: i64 = NANOS_PER_SECOND / 2;
/// A silence that began before the exchange by more than this, with nothing under way, is the application's.
const QUIET_BEFORE: i64 = 50 * NANOS_PER_MILLI;
/// What gaps elsewhere in the run reach is nothing special at a rekey: this share of them, of at least [`LEAST_GAPS`].
const USUAL_GAPS: f64 = 0.98;
/// See [`USUAL_GAPS`].
const LEAST_GAPS: usize = 5;
/// A direction that is silent for so long while the other side sends again does not get through.
const BLACK_HOLE: i64 = NANOS_PER_SECOND;
/// Copies in it.
const LEAST_COPIES: usize = 2;
/// Two full windows lie at most 1.5 round trips and this apart.
const BETWEEN_TOUCHES: i64 = 5 * NANOS_PER_MILLI;

/// The label of a wait, and what it would be called without.
pub(super) type Labelled = (AccountLabel, Option<AccountLabel>);

/// The labels of all waits of a connection.
pub(super) fn labels(half: &Half, swept: &Swept, rates: &[f32], around: &Surroundings) -> Vec<Labelled> {
    let mut labels = with_causes(half, swept, around);
    overlay(half, swept, around, &mut labels);
    black_holes(half, &mut labels);
    between_touches(half, swept, &mut labels);
    let at_capacity = |(label, rate): (AccountLabel, &f32)| match label {
        // A larger window, or buffer, would win nothing.
        AccountLabel::ReceiveWindow | AccountLabel::SendBuffer if *rate >= 0.9 => {
            (AccountLabel::Capacity, Some(label))
        }
        label => (label, None),
    };
    labels.into_iter().zip(rates).map(at_capacity).collect()
}

/// Every episode of loss gets its cause.
fn with_causes(half: &Half, swept: &Swept, around: &Surroundings) -> Vec<AccountLabel> {
    let firsts: Vec<u32> = if swept.episodes.is_empty() {
        Vec::new()
    } else {
        (0u32..)
            .zip(&half.data)
            .filter(|(_, d)| !d.again && !d.late)
            .map(|(k, _)| k)
            .collect()
    };
    let cause = |e: &super::episode::Episode| e.cause(half, &firsts, swept.times, around);
    let causes: Vec<AccountLabel> = swept.episodes.iter().map(cause).collect();
    let label = |wait: &super::sweep::Wait| match wait.found {
        WaitLabel::Label(label) => label,
        WaitLabel::Episode => causes
            .get(wait.episode as usize)
            .copied()
            .unwrap_or(AccountLabel::PathLoss),
    };
    swept.waits.iter().map(label).collect()
}

fn is_loss(label: AccountLabel) -> bool {
    use AccountLabel::{PathLoss, QueueLoss, Rekey, Reordering, TunnelDown};
    matches!(label, PathLoss | QueueLoss | Reordering | Rekey | TunnelDown)
}

fn overlay(half: &Half, swept: &Swept, around: &Surroundings, labels: &mut [AccountLabel]) {
    let usual = usual_gap(half, swept.times, around);
    let mut explained: Vec<(u32, AccountLabel)> = Vec::new();
    for (k, pair) in half.data.windows(2).enumerate() {
        let (from, to, k) = (pair[0].time, pair[1].time, k + 1);
        if touched(&around.holes, from, to) {
            labels[k] = AccountLabel::CaptureHole;
            continue;
        }
        if let Some(down) = around.down_in(from, to).filter(|_| !half.tcp) {
            // Nobody waits for an acknowledgement: it goes on being sent.
            labels[k] = down;
            continue;
        }
        if to - from <= swept.times.gap || labels[k] == AccountLabel::ZeroWindow {
            continue;
        }
        let wait = &swept.waits[k];
        let lost = pair[1].again || wait.episode != NONE && is_loss(labels[k]);
        if !lost && usual.is_some_and(|usual| to - from <= usual) {
            continue;
        }
        let Some(label) = explains(half, (k, wait.all_acked), swept.times, around) else {
            continue;
        };
        labels[k] = label;
        if to - from > swept.times.long {
            explained.push((k as u32, label));
        }
    }
    // The way back to the flight before belongs to the pause.
    for (wait, label) in swept.waits.iter().zip(labels.iter_mut()) {
        if wait.ramp != NONE
            && let Ok(place) = explained.binary_search_by_key(&wait.ramp, |e| e.0)
        {
            *label = explained[place].1;
        }
    }
}

/// What a failure or a rekey makes of a pause.
fn explains(
    half: &Half,
    (k, all_acked): (usize, bool),
    times: Times,
    around: &Surroundings,
) -> Option<AccountLabel> {
    let (before, data) = (&half.data[k - 1], &half.data[k]);
    let (from, to) = (before.time, data.time);
    let long = to - from > times.long;
    if long && touched(&around.failed, from, to) {
        return Some(AccountLabel::TunnelDown);
    }
    if let Some(down) = around.down_in(from, to).filter(|_| long) {
        return Some(down);
    }
    let window = around.rekeys_in(from, to).next()?;
    // More than one number: packets vanished before they were encrypted.
    let nothing_vanished = !data.numbered || data.ip_id.wrapping_sub(before.ip_id) <= 1;
    if all_acked && from < window.asked.0 - QUIET_BEFORE && nothing_vanished {
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
fn usual_gap(half: &Half, times: Times, around: &Surroundings) -> Option<i64> {
    let pairs = half.data.windows(2).map(|p| (p[0].time, p[1].time));
    let elsewhere =
        |&(from, to): &(i64, i64)| to - from > times.gap && around.rekeys_in(from, to).next().is_none();
    let mut gaps: Vec<i64> = pairs.filter(elsewhere).map(|(from, to)| to - from).collect();
    if gaps.len() < LEAST_GAPS {
        return None;
    }
    let place = ((gaps.len() - 1) as f64 * USUAL_GAPS).floor() as usize;
    Some(*gaps.select_nth_unstable(place).1)
}

/// While the other side is silent and this one sends again, loss is a tunnel that swallows everything.
fn black_holes(half: &Half, labels: &mut [AccountLabel]) {
    let times = || half.acks.iter().map(|a| a.time);
    for (from, to) in times().zip(times().skip(1)) {
        if to - from <= BLACK_HOLE {
            continue;
        }
        let first = half.data.partition_point(|d| d.time <= from);
        let last = half.data.partition_point(|d| d.time <= to);
        if half.data[first..last].iter().filter(|d| d.again).count() < LEAST_COPIES {
            continue;
        }
        // The pause may already be known for a rekey's.
        let of_a_rekey = labels[first..(last + 1).min(labels.len())].contains(&AccountLabel::Rekey);
        let meant = if of_a_rekey {
            AccountLabel::Rekey
        } else {
            AccountLabel::TunnelDown
        };
        for label in &mut labels[first..last] {
            if matches!(label, AccountLabel::PathLoss | AccountLabel::QueueLoss) {
                *label = meant;
            }
        }
    }
}

/// From one full window to the next everything waits for the receiver.
fn between_touches(half: &Half, swept: &Swept, labels: &mut [AccountLabel]) {
    use AccountLabel::{CaptureHole, PathLoss, QueueLoss, ReceiveWindow, Rekey, Reordering, TunnelDown};
    let apart = swept.times.rtt * 3 / 2 + BETWEEN_TOUCHES;
    // That a wait began with a full window says that the packet before it filled it.
    let mut last: Option<usize> = None;
    for (k, wait) in swept.waits.iter().enumerate().skip(1) {
        if !wait.touched {
            continue;
        }
        let filled = k - 1;
        if let Some(before) = last.replace(filled)
            && half.data[filled].time - half.data[before].time <= apart
        {
            let pairs = half.data[before..=filled].windows(2);
            for (pair, label) in pairs.zip(&mut labels[before + 1..=filled]) {
                let stall = pair[1].time - pair[0].time > swept.times.gap;
                let other = matches!(
                    *label,
                    PathLoss | QueueLoss | Reordering | Rekey | TunnelDown | CaptureHole
                );
                if !(stall && other) {
                    *label = ReceiveWindow;
                }
            }
        }
    }
}

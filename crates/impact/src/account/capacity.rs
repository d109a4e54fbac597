//! The rate that the path can carry, and how near to it the transfer is at every packet.
//!
//! The best stretches are looked at: each proves that nothing faster goes through if its packets come back to back, or queue.

mod passed;

use super::half::Half;
use super::times::micros;
use crate::ledger::LEAST_GAP;
pub(crate) use passed::Passed;
use passed::{BusyStretch, Sent};
use rekeyscope_model::analysis::OwnRate;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};
use std::cell::LazyCell;
use std::cmp::Ordering;

/// Lengths of the stretches, nanoseconds.
const STRETCHES: [i64; 5] = [
    NANOS_PER_SECOND,
    NANOS_PER_SECOND / 2,
    NANOS_PER_SECOND / 5,
    NANOS_PER_SECOND / 10,
    NANOS_PER_SECOND / 20,
];
/// Stretches as short as this are looked at on a fast path where longer ones prove nothing: a piece holds too little of it for those.
const SHORT: i64 = NANOS_PER_SECOND / 10;
/// A fast path carries so much, bytes/s: 400 Mbit/s. Of that 32,768 packets with an acknowledgement for each are 0.4 s, in which two stretches of
/// 0.2 s lie, the fewest that prove anything.
const FAST: f64 = 5e7;
/// A stretch holds at least so many round trips.
const ROUND_TRIPS: i64 = 4;
/// A rate of so much of the best one is near it: the stretches that are asked for a proof, and a path before which packets queue.
pub(crate) const NEAR_BEST: f64 = 0.75;
/// Most stretches of a length that are looked at.
const MOST_STRETCHES: usize = 40;
/// A busy link: the mean gap between packets is at most so many times the one that 40 % of them do not exceed.
const BUSY: f64 = 1.3;
/// See [`BUSY`].
const USUAL_GAP: f64 = 0.4;
/// The rate of a stretch cannot be much above that of its usual gap, or of its acknowledgements.
const ABOVE_USUAL: f64 = 1.02;
/// Share of the stretches that prove it, and least number.
const PROVEN_SHARE: f64 = 0.3;
/// See [`PROVEN_SHARE`].
const LEAST_PROVEN: usize = 2;
/// A queue: the delay is above its least by this, and by [`QUEUE_OF_RTT`] of the round trip.
const QUEUE: i64 = 4 * NANOS_PER_MILLI;
/// See [`QUEUE`].
const QUEUE_OF_RTT: f64 = 0.15;
/// At each edge of a stretch nothing comes for at most this part of it, nor for longer than [`LEAST_GAP`]: so much its rate is too low at most.
const EDGE_OF_STRETCH: i64 = 8;

/// The rate of a path.
#[derive(Debug)]
pub(crate) struct Path {
    /// C, bytes/s.
    pub(crate) own: f64,
    pub(crate) own_from: OwnRate,
    /// Per connection and packet with data: the highest rate before, around or after it, of C; empty where nothing is said of the
    /// capacity.
    pub(crate) rates: Vec<Vec<f32>>,
}

/// Delay above which packets queue, beyond the least one, nanoseconds.
pub(crate) fn queue_margin(rtt: i64) -> i64 {
    QUEUE.max((rtt as f64 * QUEUE_OF_RTT) as i64)
}

/// Before which packets the receiver's window was full, as far as that is known before C is; gone over only where nothing shows
/// queues.
pub(crate) type FullWindows<'a> = LazyCell<Vec<Vec<bool>>, Box<dyn FnOnce() -> Vec<Vec<bool>> + 'a>>;

/// Rates of a path that are known from elsewhere, bytes/s.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownRates {
    /// The highest rate that earlier pieces proved.
    pub(crate) proven: Option<f64>,
    /// The rate that the transfer is compared with.
    pub(crate) reference: Option<f64>,
}

/// Looks at all connections of a direction together.
pub(crate) fn path(halves: &[&Half], full: &FullWindows<'_>, (rtt, known): (i64, KnownRates)) -> Path {
    let passed = Passed::by(halves);
    let (own, own_from) = match (own_rate(&passed, full, rtt), known.proven) {
        ((_, OwnRate::Best), Some(proven)) => (proven, OwnRate::Proven),
        (own, _) => own,
    };
    let told = own_from == OwnRate::Proven || known.reference.is_some_and(|r| r <= 1.1 * own);
    // Even packets may be the first rounds of a long path where neither delays nor a round trip that is known show a queue: enough
    // for the rules, but no proof.
    let guessed = halves.iter().all(|half| half.blind && !half.shows_queues());
    let own_from = if guessed { OwnRate::Best } else { own_from };
    let told = told && own > 0.0;
    let places = |half: &&Half| if told { half.data.len() } else { 0 };
    let mut rates: Vec<Vec<f32>> = halves.iter().map(|half| vec![0.0; places(half)]).collect();
    if told {
        passed.near(rtt.max(SHORT), own, &mut rates);
    }
    Path { own, own_from, rates }
}

fn own_rate(passed: &Passed, full: &FullWindows<'_>, rtt: i64) -> (f64, OwnRate) {
    let (mut proven, mut best) = (0.0f64, 0.0f64);
    let mean = passed.mean().unwrap_or(0.0);
    for length in STRETCHES {
        if length <= SHORT && (proven > 0.0 || mean < FAST) {
            break;
        }
        // Whoever sends without acknowledgements may send evenly at any rate.
        let proves = length >= ROUND_TRIPS * rtt && !passed.acked.is_empty();
        if !proves && length < STRETCHES[1] {
            continue;
        }
        let stretches = passed.stretches(length);
        let highest = stretches.iter().map(|s| s.rate).fold(0.0, f64::max);
        if length >= STRETCHES[1] {
            best = best.max(highest);
        }
        if !proves {
            continue;
        }
        let mut good: Vec<&BusyStretch> = stretches
            .iter()
            .filter(|s| s.rate >= NEAR_BEST * highest)
            .collect();
        good.sort_by(|a, b| b.rate.total_cmp(&a.rate));
        good.truncate(MOST_STRETCHES);
        let mut proofs: Vec<f64> = good
            .iter()
            .filter_map(|s| proof(s, passed, full, (length, rtt)))
            .collect();
        if proofs.len() >= LEAST_PROVEN && proofs.len() as f64 >= PROVEN_SHARE * good.len() as f64 {
            proven = proven.max(quantile(&mut proofs, 0.75, f64::total_cmp));
        }
    }
    if proven > 0.0 {
        return (proven, OwnRate::Proven);
    }
    (if best > 0.0 { best } else { mean }, OwnRate::Best)
}

/// The rate that a stretch proves to be the path's, bytes/s.
fn proof(
    stretch: &BusyStretch,
    passed: &Passed,
    full: &FullWindows<'_>,
    (length, rtt): (i64, i64),
) -> Option<f64> {
    let sent = &passed.sent[stretch.data.clone()];
    let second = NANOS_PER_SECOND as f64;
    if idle_at_an_edge(stretch, sent, length) > LEAST_GAP.min(length / EDGE_OF_STRETCH) {
        return None;
    }
    let mut gaps: Vec<i64> = sent.windows(2).map(|w| w[1].time - w[0].time).collect();
    if gaps.is_empty() {
        return None;
    }
    let mean = gaps.iter().sum::<i64>() as f64 / gaps.len() as f64;
    let busy = mean <= BUSY * quantile(&mut gaps, USUAL_GAP, i64::cmp) as f64;
    if busy && !flows_freely(sent, full, rtt) {
        let bytes = passed.sent_before[stretch.data.end] - passed.sent_before[stretch.data.start];
        let usual = ABOVE_USUAL * bytes as f64 / sent.len() as f64 * second;
        return Some(
            stretch
                .rate
                .min(usual / quantile(&mut gaps, 0.5, i64::cmp) as f64),
        );
    }
    let half_over = sent.partition_point(|s| s.time < stretch.begin + length / 2);
    if queue(sent[half_over..].iter().map(|s| s.delay), rtt) && !runs_dry(&sent[half_over..]) {
        let acks = &passed.acked[stretch.acks.clone()];
        let rate =
            |w: &[(i64, u64)]| (w[1].0 > w[0].0).then(|| w[1].1 as f64 / (w[1].0 - w[0].0) as f64 * second);
        let mut rates: Vec<f64> = acks.windows(2).filter_map(rate).collect();
        return (!rates.is_empty()).then(|| {
            stretch
                .rate
                .min(ABOVE_USUAL * quantile(&mut rates, 0.5, f64::total_cmp))
        });
    }
    let even = gaps.iter().all(|&gap| gap <= LEAST_GAP);
    (even && queue(sent.iter().map(|s| s.echo), rtt)).then_some(stretch.rate)
}

/// The delay above its least that shows a queue, microseconds.
fn margin(rtt: i64) -> u32 {
    micros(queue_margin(rtt))
}

/// All delays that are known are above the margin.
fn queue(delays: impl Iterator<Item = Option<u32>>, rtt: i64) -> bool {
    let mut known = delays.flatten().peekable();
    known.peek().is_some() && known.all(|us| us > margin(rtt))
}

/// Whether a queue of these delays is empty for a quarter of the time: a packet that comes later than the one before has left finds none. Then a
/// receiver that answers late makes the delays.
fn runs_dry(sent: &[Sent]) -> bool {
    let length = match sent {
        [first, .., last] => last.time - first.time,
        _ => return false,
    };
    let dry = |two: &[Sent]| {
        let left = two[0]
            .delay
            .map(|us| two[0].time + i64::from(us) * (NANOS_PER_MILLI / 1_000));
        left.map_or(0, |left| (two[1].time - left).max(0))
    };
    let dry: i64 = sent.windows(2).map(dry).sum();
    dry as f64 > (1.0 - NEAR_BEST) * length as f64
}

/// The longer of the times before its first packet and behind its last one, nanoseconds. A burst that is shorter than the stretch is
/// no rate of the path: 256 kB each half second went for 10 Mbit/s on a path of 30.
fn idle_at_an_edge(stretch: &BusyStretch, sent: &[Sent], length: i64) -> i64 {
    let before = sent.first().map_or(length, |s| s.time - stretch.begin);
    let behind = sent.last().map_or(length, |s| stretch.begin + length - s.time);
    before.max(behind)
}

/// No queue before or behind the capture, or, where delays do not tell of both, a full window: evenly spaced packets are then
/// acknowledgements that come evenly.
fn flows_freely(sent: &[Sent], full: &FullWindows<'_>, rtt: i64) -> bool {
    // Whether the median of those that are known is within the margin.
    let usual = |delay: fn(&Sent) -> Option<u32>| {
        let known: Vec<u32> = sent.iter().filter_map(delay).collect();
        let within = known.iter().filter(|&&us| us <= margin(rtt)).count();
        (!known.is_empty()).then_some(within > known.len() / 2)
    };
    match (usual(|s| s.delay), usual(|s| s.echo)) {
        (Some(delay), Some(echo)) => delay && echo,
        _ => 2 * sent.iter().filter(|s| full[s.half][s.index]).count() >= sent.len(),
    }
}

/// The value that a share of `list` does not exceed; `list` is not empty.
fn quantile<T: Copy>(list: &mut [T], share: f64, order: impl Fn(&T, &T) -> Ordering) -> T {
    let place = (list.len().saturating_sub(1) as f64 * share).round() as usize;
    *list.select_nth_unstable_by(place, order).1
}

#[cfg(test)]
mod tests;

//! The rate without the rekey, and the price of an interval.

use super::arrivals::ArrivedBytes;
use super::input::{RuleTimes, TimeSpan};
use super::silence::Silence;
use super::spans::{before, behind, nanos};
use super::undisturbed::UsualRates;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// Undisturbed time on each side of a rekey that gives the rate there, nanoseconds.
pub const RATE_SIDE: i64 = 4 * NANOS_PER_SECOND;
/// Longest distance of undisturbed time from a rekey: farther away the path may be another one.
const FARTHEST: i64 = 20 * NANOS_PER_SECOND;

/// The rate that an interval would have had, bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RateWithout {
    pub(super) both: f64,
    /// Rate of the time before alone, and of the time behind alone.
    pub(super) sides: [Option<f64>; 2],
    /// True where there is too little undisturbed time, and no proven rate of the path fills it up.
    pub(super) is_guessed: bool,
}

/// Rate, bytes a second.
pub(super) fn rate(bytes: f64, nanos: i64) -> Option<f64> {
    (nanos > 0).then(|| bytes / (nanos as f64 / NANOS_PER_SECOND as f64))
}

/// The rate of the undisturbed time around a stretch, of that behind it alone where an end came to another path; where that is too short, the usual rate
/// fills it up.
pub(super) fn rate_without(
    arrivals: &ArrivedBytes<'_>,
    undisturbed: &[TimeSpan],
    (from, to): TimeSpan,
    (usual, capacity, times): (f64, Option<f64>, RuleTimes),
    moved: bool,
) -> RateWithout {
    // Sides are whole round trips, as a window is: part of a burst is no rate.
    let side = (RATE_SIDE + times.window - 1) / times.window * times.window;
    let before = || before(undisturbed, from, FARTHEST, side);
    let sides = [
        if moved { Vec::new() } else { before() },
        behind(undisturbed, to, FARTHEST, side),
    ];
    let [mut bytes, mut length] = [0.0, 0.0];
    let mut side = |spans: &[TimeSpan]| {
        let (own_bytes, own_nanos) = (arrivals.within(spans), nanos(spans));
        bytes += own_bytes;
        length += own_nanos as f64;
        rate(own_bytes, own_nanos).filter(|rate| *rate > 0.0)
    };
    let rates = [side(&sides[0]), side(&sides[1])];
    let least = times.rate_within as f64;
    let missing = (least - length).max(0.0);
    let filled = usual.max(capacity.unwrap_or(0.0)) * missing / NANOS_PER_SECOND as f64;
    RateWithout {
        both: (bytes + filled) / ((length + missing) / NANOS_PER_SECOND as f64),
        sides: rates,
        is_guessed: missing > 0.0 && capacity.is_none(),
    }
}

/// Additional time that the bytes of a stretch took, nanoseconds.
pub(super) fn cost((from, to): TimeSpan, bytes: u64, rate: f64) -> i64 {
    let length = to.nanos_since(from);
    if rate <= 0.0 {
        return length;
    }
    length - (bytes as f64 / rate * NANOS_PER_SECOND as f64).round() as i64
}

/// Bytes that arrived in a stretch, without the packet that it begins with.
pub(super) fn carried(arrivals: &ArrivedBytes<'_>, (from, to): (Timestamp, Timestamp)) -> u64 {
    arrivals.whole(to) - arrivals.whole(from)
}

// Times at which a transfer is back at its rate after a silence.

/// Longest wait for acknowledgements of what was sent before the end of a silence.
const LONGEST_REPAIR: i64 = 10 * NANOS_PER_SECOND;

/// The end of the interval that begins with a silence; at `limit` at the latest.
pub(super) fn repaired(
    arrivals: &ArrivedBytes<'_>,
    silence: &Silence,
    limit: Timestamp,
    (rate, usual, times): (f64, UsualRates, RuleTimes),
) -> Timestamp {
    let Some(first) = silence.facts.ended_by else {
        return limit;
    };
    let is_good = |at: Timestamp| {
        let ahead = arrivals.rate_from(at, times.window);
        usual.low * rate <= ahead && ahead <= usual.high * rate
    };
    let settled = silence.facts.settled.min(silence.to.plus_nanos(LONGEST_REPAIR));
    let moments = |from: usize| {
        let runs = arrivals.runs.iter().skip(from).map(|run| run.to);
        runs.take_while(|at| *at <= limit)
    };
    let Some(back) = moments(arrivals.run_at(settled).max(first)).find(|at| is_good(*at)) else {
        return limit;
    };
    // The transfer was back before the acknowledgements told so.
    let earlier: Vec<Timestamp> = moments(first).take_while(|at| *at < back).collect();
    let good = earlier.into_iter().rev().take_while(|at| is_good(*at));
    good.last().unwrap_or(back)
}

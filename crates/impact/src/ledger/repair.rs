//! Times at which a transfer is back at its rate after a silence.

use super::arrivals::ArrivedBytes;
use super::input::RuleTimes;
use super::silence::Silence;
use super::undisturbed::UsualRates;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

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

//! The part of the capture that the run is drawn over.

use crate::words::focus::{Focus, began};
use crate::words::is_trouble;
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::Timestamp;

/// Left and right of what is drawn, as a share of it.
const MARGIN: f64 = 0.03;
/// Less than this is not worth leaving out: the whole capture is drawn then.
const LEAST_LEFT_OUT: f64 = 0.1;

/// From where to where, seconds: the transfers, the rekeys, what failed. The whole capture where there is no transfer.
pub(super) fn span(focus: &Focus, tunnel: usize, end: f64) -> (f64, f64) {
    let analysis = focus.analysis;
    let main = focus.main_direction(tunnel);
    let accounts = analysis.account_of(tunnel, main).into_iter();
    let mut times: Vec<Timestamp> = accounts.flat_map(|a| [a.start, a.end]).collect();
    if times.is_empty() {
        return (0.0, end);
    }
    for rekey in focus.analysis.rekeys_of(tunnel) {
        times.extend(began(rekey));
        times.extend(Direction::BOTH.iter().filter_map(|d| rekey.switched.get(*d)));
    }
    let outages = || analysis.outages_of(tunnel);
    times.extend(outages().flat_map(|o| [Some(o.start), o.end]).flatten());
    let is_open = outages().any(|o| o.end.is_none());
    let attempts = analysis.attempts_of(tunnel).filter(|a| is_trouble(a));
    times.extend(attempts.flat_map(|a| [a.first_time, a.last_time]));
    let seconds = times.into_iter().filter_map(|t| focus.seconds(t));
    let (first, last) = seconds
        .chain(is_open.then_some(end))
        .filter(|s| s.is_finite())
        .fold((end, 0.0), |(a, b), s| (s.min(a), s.max(b)));
    let margin = (last - first) * MARGIN;
    let (from, to) = ((first - margin).max(0.0), (last + margin).min(end));
    match to > from && to - from < end * (1.0 - LEAST_LEFT_OUT) {
        true => (from, to),
        false => (0.0, end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    #[test]
    fn the_transfer_and_every_rekey_lie_within() {
        for document in example::all() {
            let focus = Focus::new(&document, Language::English);
            let end = document.capture.duration_s.filter(|s| *s > 0.0).unwrap_or(60.0);
            let (from, to) = span(&focus, 0, end);
            assert!(0.0 <= from && from < to && to <= end, "{from} {to} {end}");
            for began in focus
                .analysis
                .rekeys_of(0)
                .filter_map(began)
                .filter_map(|t| focus.seconds(t))
            {
                assert!(began > end || began < 0.0 || (from..=to).contains(&began));
            }
        }
    }
}

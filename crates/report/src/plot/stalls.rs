//! What is shaded in the plots: the times that the account charges to rekeys, and the outages beside them.

use crate::words::focus::Focus;
use rekeyscope_model::analysis::{AccountLabel, Direction};

/// Stretches shaded per direction.
const MOST_STALLS: usize = 1200;

/// Seconds since the start of the capture, in order; those that meet are one.
pub(crate) fn stalls(focus: &Focus, tunnel: usize, direction: Direction) -> Vec<(f64, f64)> {
    let analysis = focus.analysis;
    let accounts = analysis.account.iter();
    let own = accounts.filter(|a| (a.tunnel, a.direction) == (tunnel, direction));
    let charged = own.flat_map(|a| {
        let start = focus.seconds(a.start).unwrap_or(f64::NAN);
        let rekeys = a.runs.iter().filter(|r| r.label == AccountLabel::Rekey);
        rekeys.map(move |r| (start + r.from_s, start + r.to_s))
    });
    let mut all: Vec<(f64, f64)> = charged.filter(is_stretch).collect();
    let outages = analysis.outages.iter();
    let outages = outages.filter(|o| (o.tunnel, o.direction) == (tunnel, direction));
    let outages = outages.filter_map(|o| {
        let to = o.end.and_then(|end| focus.seconds(end));
        Some((focus.seconds(o.start)?, to.unwrap_or(f64::MAX)))
    });
    // An outage begins with what was lost first: where the account charges rekeys with it, that is what one sees.
    let apart = |o: &(f64, f64)| is_stretch(o) && !all.iter().any(|c| c.0 < o.1 && o.0 < c.1);
    let apart: Vec<(f64, f64)> = outages.filter(apart).collect();
    all.extend(apart);
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out: Vec<(f64, f64)> = Vec::new();
    for (from, to) in all {
        match out.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => out.push((from, to)),
        }
    }
    out.truncate(MOST_STALLS);
    out
}

fn is_stretch((from, to): &(f64, f64)) -> bool {
    from.is_finite() && to > from
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::text::Language;
    use rekeyscope_testkit::example;

    #[test]
    fn stalls_are_in_order_and_apart() {
        let mut some = 0;
        for document in example::all() {
            let focus = Focus::new(&document, Language::English);
            for direction in Direction::BOTH {
                let all = stalls(&focus, 0, direction);
                assert!(all.windows(2).all(|w| w[0].1 < w[1].0) && all.iter().all(|s| s.0 < s.1));
                some += all.len();
            }
        }
        assert!(some > 0);
    }
}

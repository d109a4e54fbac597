//! Shaded stretches of the plots: those that rekeys and failures own by the ledger, and the outages beside that.

use crate::plot::reduce::PlotColumn;
use crate::plot::style;
use crate::words::focus::{Focus, began};
use plotters::style::{Color, ShapeStyle};
use rekeyscope_impact::explain::others_pass;
use rekeyscope_model::analysis::{Direction, LedgerInterval, Rekey};
use std::net::IpAddr;

/// Stretches shaded per direction.
const MOST_STALLS: usize = 1200;
/// Height of a mark at the edge of a lane, share of the lane.
pub(crate) const MARK: f64 = 0.12;

/// A shaded stretch; seconds since the start of the capture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shaded {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Nothing arrives meanwhile; else the rate is not back yet.
    pub(crate) silent: bool,
    /// The inner sender and receiver that nothing passes between, where other traffic of the tunnel goes on.
    pub(crate) of: Option<(IpAddr, IpAddr)>,
}

impl Shaded {
    /// The part of the stretch between two moments, on an axis with another zero.
    pub(crate) fn within(&self, zero: f64, from: f64, to: f64) -> Option<Shaded> {
        let part = Shaded {
            from: (self.from - zero).max(from),
            to: (self.to - zero).min(to),
            ..*self
        };
        part.is_stretch().then_some(part)
    }

    /// Colour of the stretch, which is darker while nothing arrives.
    pub(crate) fn fill(&self) -> ShapeStyle {
        style::HURT.mix(if self.silent { 0.35 } else { 0.15 }).filled()
    }

    /// How far up a lane with these columns it is shaded, share of the lane: in whole where nothing arrives, at the foot where the
    /// silence is that of one pair and the columns show the others.
    pub(crate) fn share<'a>(&self, columns: impl Iterator<Item = &'a PlotColumn>) -> f64 {
        let within = columns.filter(|c| self.of.is_some() && (self.from..self.to).contains(&c.time));
        let (passing, silent): (Vec<&PlotColumn>, Vec<&PlotColumn>) = within.partition(|c| c.mean > 0.0);
        match passing.len() > silent.len() {
            true => MARK,
            false => 1.0,
        }
    }

    fn is_stretch(&self) -> bool {
        self.from.is_finite() && self.to > self.from
    }
}

/// The shaded stretches of a direction, in order of time and apart from each other.
pub(crate) fn stalls(focus: &Focus, tunnel: usize, direction: Direction) -> Vec<Shaded> {
    let analysis = focus.analysis;
    let ledger = analysis.ledger_of(tunnel, direction);
    let owned = ledger.into_iter().flat_map(|l| {
        let rekeys = l.rekeys.iter().flat_map(|own| &own.intervals);
        rekeys.chain(l.down.iter().map(|down| &down.interval))
    });
    let all = owned.flat_map(|own| of_interval(focus, own));
    let mut all: Vec<Shaded> = all.filter(Shaded::is_stretch).collect();
    let outages = analysis.outages.iter();
    let outages = outages.filter(|o| (o.tunnel, o.direction) == (tunnel, direction));
    let outages = outages.filter_map(|o| {
        Some(Shaded {
            from: focus.seconds(o.start)?,
            to: o.end.and_then(|end| focus.seconds(end)).unwrap_or(f64::MAX),
            silent: true,
            of: o.inner.filter(|_| others_pass(analysis, o)),
        })
    });
    let outages: Vec<Shaded> = outages.collect();
    // An outage begins with what was lost first: where the ledger has it, that is what one sees.
    let unseen = |o: Shaded| {
        let owned = all.iter().filter(|own| own.from < o.to && o.from < own.to);
        match owned.max_by(|a, b| a.to.total_cmp(&b.to)) {
            None => Some(o),
            // The ledger ends with the transfer, an outage that nothing ended goes on.
            Some(last) if last.silent && o.to == f64::MAX => Some(Shaded { from: last.to, ..o }),
            Some(_) => None,
        }
    };
    let unseen: Vec<Shaded> = outages
        .iter()
        .copied()
        .filter_map(unseen)
        .filter(Shaded::is_stretch)
        .collect();
    all.extend(unseen);
    all.sort_by(|a, b| a.from.total_cmp(&b.from));
    let mut out: Vec<Shaded> = Vec::new();
    for mut next in all {
        if let Some(last) = out.last_mut() {
            if next.silent == last.silent && next.from <= last.to {
                last.to = last.to.max(next.to);
                continue;
            }
            next.from = next.from.max(last.to);
        }
        if next.is_stretch() {
            out.push(next);
        }
    }
    out.truncate(MOST_STALLS);
    for stall in &mut out {
        let same = outages.iter().find(|o| o.from < stall.to && stall.from < o.to);
        stall.of = same.filter(|_| stall.silent).and_then(|o| o.of);
    }
    out
}

/// Stalls of a direction around a rekey, between two moments; seconds since the rekey began.
pub(crate) fn stalls_around(
    focus: &Focus,
    rekey: &Rekey,
    direction: Direction,
    (from, to): (f64, f64),
) -> Vec<Shaded> {
    let Some(zero) = began(rekey).and_then(|t| focus.seconds(t)) else {
        return Vec::new();
    };
    let all = stalls(focus, rekey.tunnel, direction).into_iter();
    all.filter_map(|s| s.within(zero, from, to)).collect()
}

/// Shades the silence, then the time until the rate is back.
fn of_interval(focus: &Focus, own: &LedgerInterval) -> [Shaded; 2] {
    let at = |time| focus.seconds(time).unwrap_or(f64::NAN);
    let (from, to) = (at(own.from), at(own.to));
    let arrived = own.arrived.map_or(to, at);
    [(from, arrived, true), (arrived, to, false)].map(|(from, to, silent)| Shaded {
        from,
        to,
        silent,
        of: None,
    })
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
                assert!(all.windows(2).all(|w| w[0].to <= w[1].from) && all.iter().all(|s| s.from < s.to));
                some += all.len();
            }
        }
        assert!(some > 0);
    }

    #[test]
    fn the_silence_of_one_pair_is_shaded_in_whole_only_where_nothing_else_passes() {
        let pair = ("10.66.0.1".parse().unwrap(), "10.66.0.2".parse().unwrap());
        let columns = |mean| {
            [1.0, 2.0, 3.0].map(|time| PlotColumn {
                time,
                low: mean,
                mean,
                high: mean,
            })
        };
        let silence = |of| Shaded {
            from: 1.5,
            to: 9.0,
            silent: true,
            of,
        };
        assert_eq!(silence(Some(pair)).share(columns(5.0).iter()), MARK);
        assert_eq!(silence(Some(pair)).share(columns(0.0).iter()), 1.0);
        assert_eq!(silence(None).share(columns(5.0).iter()), 1.0);
    }

    #[test]
    fn a_silence_is_darker_than_the_time_until_the_rate_is_back() {
        let document = example::seven_rekeys();
        let focus = Focus::new(&document, Language::English);
        let all = stalls(&focus, 0, Direction::BToA);
        let own = &document.ledger[0].rekeys[0].intervals[0];
        let seconds = |time| focus.seconds(time).unwrap();
        let arrived = seconds(own.arrived.unwrap());
        let shaded = |from, to, silent| Shaded {
            from,
            to,
            silent,
            of: None,
        };
        assert_eq!(
            all[..2],
            [
                shaded(seconds(own.from), arrived, true),
                shaded(arrived, seconds(own.to), false)
            ]
        );
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn an_outage_that_nothing_ended_is_shaded_to_the_end_where_nothing_came_back_before() {
        let all = example::all();
        let open = all.iter().flat_map(|d| &d.outages).find(|o| o.end.is_none());
        let mut document = example::seven_rekeys();
        let (tunnel, direction) = (document.ledger[0].tunnel, document.ledger[0].direction);
        let last = document.ledger[0].rekeys.last_mut().unwrap().intervals.last_mut();
        let last = last.unwrap();
        let start = last.from;
        document.outages = vec![rekeyscope_model::analysis::Outage {
            tunnel,
            direction,
            start,
            ..open.unwrap().clone()
        }];
        let to_the_end = |document: &rekeyscope_model::analysis::Analysis| {
            let focus = Focus::new(document, Language::English);
            stalls(&focus, tunnel, direction).last().unwrap().to == f64::MAX
        };
        last.arrived = None;
        assert!(to_the_end(&document));
        let last = document.ledger[0].rekeys.last_mut().unwrap().intervals.last_mut();
        last.unwrap().arrived = Some(start);
        assert!(!to_the_end(&document));
    }
}

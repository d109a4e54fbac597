//! Window lengths, affected intervals, and the rate that a rekey is compared with.

use crate::input::grid::{Grid, Span};
use crate::input::transfer::{IDLE_SHARE, PlacedRekey, median};

/// Window lengths W, seconds.
pub(crate) const WINDOWS_S: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 5.0];
/// The W that is fixed in advance for whatever needs one: MDE, which rekeys hurt, the size of what is not shown.
pub(crate) const CHOSEN_WINDOW_S: f64 = 0.5;
/// P = this share of what lies between two rekeys. Two sides of it leave a fifth between neighbours.
const BASELINE_SHARE: f64 = 0.4;
/// Longest baseline side, seconds: beyond it, traffic is too far away to tell what would have been.
const LONGEST_BASELINE_S: f64 = 1.0;
/// Shortest baseline side, seconds. A W that leaves less does not fit.
const SHORTEST_BASELINE_S: f64 = 0.2;
/// Sides that differ by more than this share of their mean make the rekey *non-stationary*.
const NON_STATIONARY: f64 = 0.2;

/// A W that fits, with all that depends on it.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    /// W, seconds.
    pub(crate) seconds: f64,
    /// W, bins.
    pub(crate) bins: i64,
    /// P, bins.
    pub(crate) side: i64,
    /// Affected intervals at this W.
    pub(crate) affected: Affected,
    /// Share of the run outside of them.
    pub(crate) free_share: f64,
    /// Mean rate outside of them, bytes per second.
    pub(crate) free_mean: f64,
}

/// Affected intervals, joined and in order.
#[derive(Debug, Clone)]
pub(crate) struct Affected {
    run: Span,
    spans: Vec<Span>,
}

impl Affected {
    /// [t_Q, t_k + W] of every rekey (also of those that are not used), within the run.
    pub(crate) fn new(run: Span, placed: &[PlacedRekey], window: i64) -> Affected {
        let mut spans: Vec<Span> = Vec::with_capacity(placed.len());
        for rekey in placed {
            // In order of t_Q, so every interval begins at or after the one before it.
            let span = Span {
                from: rekey.start,
                to: rekey.switch + window,
            }
            .clip(run);
            match spans.last_mut() {
                Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
                _ if span.len() > 0 => spans.push(span),
                _ => {}
            }
        }
        Affected { run, spans }
    }

    /// Affected bins of the run.
    pub(crate) fn bins(&self) -> i64 {
        self.spans.iter().map(|s| s.len()).sum()
    }

    /// Whether `span` touches an affected interval.
    pub(crate) fn touches(&self, span: Span) -> bool {
        let next = self.spans.partition_point(|s| s.to <= span.from);
        self.spans.get(next).is_some_and(|s| s.from < span.to)
    }

    /// The stretches between affected intervals.
    pub(crate) fn free_spans(&self) -> Vec<Span> {
        let starts = std::iter::once(self.run.from).chain(self.spans.iter().map(|s| s.to));
        let ends = self
            .spans
            .iter()
            .map(|s| s.from)
            .chain(std::iter::once(self.run.to));
        starts
            .zip(ends)
            .map(|(from, to)| Span { from, to })
            .filter(|s| s.len() > 0)
            .collect()
    }
}

/// Median distance of the used rekeys' t_Q, seconds; the length of the run where fewer than two are used.
pub(crate) fn median_interval_s(grid: &Grid, run: Span, used: &[PlacedRekey]) -> f64 {
    let mut intervals: Vec<f64> = used.windows(2).map(|p| p[1].started_s - p[0].started_s).collect();
    median(&mut intervals).unwrap_or_else(|| grid.seconds(run.len()))
}

/// Median G of the used rekeys, seconds.
pub(crate) fn median_exchange_s(used: &[PlacedRekey]) -> f64 {
    median(&mut used.iter().map(PlacedRekey::exchange_s).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// P = 0.4·(median rekey interval − median G − W), at most 1 s; `None` under 0.2 s.
fn side_s(interval_s: f64, exchange_s: f64, window_s: f64) -> Option<f64> {
    let side = (BASELINE_SHARE * (interval_s - exchange_s - window_s)).min(LONGEST_BASELINE_S);
    (side >= SHORTEST_BASELINE_S).then_some(side)
}

/// The window lengths that fit, shortest first.
pub(crate) fn fitting_windows(
    grid: &Grid,
    run: Span,
    placed: &[PlacedRekey],
    used: &[PlacedRekey],
) -> Vec<Window> {
    let (interval_s, exchange_s) = (median_interval_s(grid, run, used), median_exchange_s(used));
    let total = grid.bytes(run.from, run.to);
    WINDOWS_S
        .iter()
        .filter_map(|&seconds| {
            let side = grid.length(side_s(interval_s, exchange_s, seconds)?);
            let bins = grid.length(seconds);
            let affected = Affected::new(run, placed, bins);
            let free: Vec<Span> = affected.free_spans();
            let free_bins: i64 = free.iter().map(|s| s.len()).sum();
            let free_bytes: f64 = free.iter().map(|s| grid.bytes(s.from, s.to)).sum();
            let (mean_bytes, mean_bins) = if free_bytes > 0.0 {
                (free_bytes, free_bins)
            } else {
                (total, run.len())
            };
            Some(Window {
                seconds,
                bins,
                side,
                free_share: free_bins as f64 / run.len().max(1) as f64,
                free_mean: mean_bytes / grid.seconds(mean_bins.max(1)),
                affected,
            })
        })
        .collect()
}

/// Where a baseline came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BaselineSource {
    /// Both sides were clean.
    BothSides,
    /// One was contaminated and took the other's value.
    OneSide,
    /// Both were: the mean rate of all free bins.
    FreeMean,
}

/// B_k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Baseline {
    /// Bytes per second.
    pub(crate) rate: f64,
    /// Where it came from.
    pub(crate) source: BaselineSource,
    /// The two sides differ by more than 20 %.
    pub(crate) non_stationary: bool,
}

/// What real rekeys and placebos are measured against: one rule for both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ruler<'a> {
    /// The series.
    pub(crate) grid: &'a Grid,
    /// The transfer.
    pub(crate) run: Span,
    /// Median rate of non-empty bins, bytes per second.
    pub(crate) busy_median: f64,
    /// Only the side before the rekey counts (a sensitivity run).
    pub(crate) before_only: bool,
}

impl Ruler<'_> {
    /// The rate of one side; `None` when it is contaminated: it touches an affected interval, reaches outside the run,
    /// or carries under 10 % of the busy median.
    fn side(&self, span: Span, window: &Window) -> Option<f64> {
        if !self.run.contains(span) || window.affected.touches(span) {
            return None;
        }
        let rate = self.grid.rate(span.from, span.to);
        (rate > 0.0 && rate >= IDLE_SHARE * self.busy_median).then_some(rate)
    }

    /// B for a rekey that begins in bin `start` and switches before bin `switch`.
    pub(crate) fn baseline(&self, start: i64, switch: i64, window: &Window) -> Baseline {
        let end = switch + window.bins;
        let before = self.side(
            Span {
                from: start - window.side,
                to: start,
            },
            window,
        );
        let after = if self.before_only {
            None
        } else {
            self.side(
                Span {
                    from: end,
                    to: end + window.side,
                },
                window,
            )
        };
        let (rate, source, non_stationary) = match (before, after) {
            (Some(a), Some(b)) => {
                let mean = f64::midpoint(a, b);
                (
                    mean,
                    BaselineSource::BothSides,
                    (a - b).abs() > NON_STATIONARY * mean,
                )
            }
            (Some(rate), None) | (None, Some(rate)) => (rate, BaselineSource::OneSide, false),
            (None, None) => (window.free_mean, BaselineSource::FreeMean, false),
        };
        Baseline {
            rate,
            source,
            non_stationary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::grid::tests::synthetic_series;
    use crate::input::moment::{ProvenEffect, RekeyMoment};
    use crate::input::start::Start;
    use crate::input::transfer::place;

    /// 30 s at 100 bytes per 5 ms, the first half slower.
    fn synthetic_step() -> Grid {
        Grid::new(
            &synthetic_series([vec![50; 3000], vec![100; 3000]].concat()),
            2,
            0,
        )
    }

    fn placed(grid: &Grid, run: Span, moments: &[(f64, f64)]) -> Vec<PlacedRekey> {
        let rekeys: Vec<RekeyMoment> = moments
            .iter()
            .map(|&(q, k)| RekeyMoment {
                index: 0,
                start: Start::Message(q),
                switched_s: k,
                proven: ProvenEffect::Nothing,
            })
            .collect();
        place(grid, run, &rekeys, false)
    }

    #[test]
    fn windows_fit_by_the_interval() {
        let g = synthetic_step();
        let run = Span { from: 0, to: 3000 };
        let p = placed(&g, run, &[(5.0, 5.5), (8.0, 8.5), (11.0, 11.5)]);
        let fitting = fitting_windows(&g, run, &p, &p);
        // 0.4·(3 − 0.5 − W): 0.9, 0.8, 0.6, 0.2, −1.
        assert_eq!(
            fitting.iter().map(|w| w.seconds).collect::<Vec<_>>(),
            [0.25, 0.5, 1.0, 2.0]
        );
        assert_eq!(
            fitting.iter().map(|w| w.side).collect::<Vec<_>>(),
            [90, 80, 60, 20]
        );
        // Three intervals of 0.5 + 0.25 s in 30 s.
        assert!((fitting[0].free_share - (1.0 - 2.25 / 30.0)).abs() < 1e-9);
    }

    #[test]
    fn affected_intervals_join_and_are_cut_to_the_run() {
        let g = synthetic_step();
        let run = Span { from: 100, to: 2900 };
        let p = placed(&g, run, &[(0.5, 1.2), (5.0, 5.5), (5.2, 5.6), (28.9, 29.5)]);
        let affected = Affected::new(run, &p, 50);
        assert_eq!(affected.bins(), 70 + 110 + 10);
        assert!(affected.touches(Span { from: -500, to: 101 }));
        assert!(!affected.touches(Span { from: -500, to: 100 }));
        assert!(!affected.touches(Span { from: 170, to: 500 }));
        assert!(affected.touches(Span { from: 170, to: 501 }));
        let free = affected.free_spans();
        assert_eq!(free, [Span { from: 170, to: 500 }, Span { from: 610, to: 2890 }]);
    }

    #[test]
    fn contaminated_sides_take_the_other_value() {
        let g = synthetic_step();
        let run = Span { from: 0, to: 3000 };
        let p = placed(&g, run, &[(10.0, 10.2), (14.9, 15.1), (20.0, 20.2)]);
        let windows = fitting_windows(&g, run, &p, &p);
        let w = &windows[1];
        let ruler = Ruler {
            grid: &g,
            run,
            busy_median: 10_000.0,
            before_only: false,
        };
        let across = ruler.baseline(p[1].start, p[1].switch, w);
        assert_eq!(
            (across.rate, across.source, across.non_stationary),
            (15_000.0, BaselineSource::BothSides, true)
        );
        let edge = ruler.baseline(20, 40, w);
        assert_eq!((edge.rate, edge.source), (10_000.0, BaselineSource::OneSide));
        let near = ruler.baseline(p[2].start - 80, p[2].start - 70, w);
        assert_eq!(
            near.source,
            BaselineSource::OneSide,
            "its right side touches the third rekey"
        );
        let before = Ruler {
            before_only: true,
            ..ruler
        }
        .baseline(p[1].start, p[1].switch, w);
        assert_eq!((before.rate, before.source), (10_000.0, BaselineSource::OneSide));
    }

    #[test]
    fn silence_is_no_baseline() {
        let g = Grid::new(
            &synthetic_series([vec![100; 2000], vec![0; 1000], vec![100; 2000]].concat()),
            2,
            0,
        );
        let run = Span { from: 0, to: 2500 };
        let p = placed(&g, run, &[(12.4, 12.6)]);
        let w = &fitting_windows(&g, run, &p, &p)[1];
        let ruler = Ruler {
            grid: &g,
            run,
            busy_median: 20_000.0,
            before_only: false,
        };
        let b = ruler.baseline(p[0].start, p[0].switch, w);
        assert_eq!(b.source, BaselineSource::FreeMean);
        assert!((b.rate - 400_000.0 / (25.0 - 0.7)).abs() < 1e-6);
    }
}

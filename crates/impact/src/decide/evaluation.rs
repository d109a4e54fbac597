//! All that one run of the method found in one transfer, and what follows from it by looking it up.

use crate::decide::hurt::Hurt;
use crate::decide::verdict::{Decision, LEAST_EFFECT_S};
use crate::estimate::aggregate::MeanStall;
use crate::estimate::baseline::{CHOSEN_WINDOW_S, Window};
use crate::estimate::placebo::DrawSums;
use crate::estimate::stall::{Dip, MeasuredStall};
use crate::input::grid::{Grid, Span};
use crate::input::moment::RekeyMoment;
use crate::input::settings::MethodSettings;
use crate::input::traffic::Traffic;
use crate::input::transfer::PlacedRekey;
use rekeyscope_model::time::Timestamp;
use std::sync::Arc;

/// All intermediate results of one run.
#[derive(Debug)]
pub(crate) struct Evaluation {
    /// The series.
    pub(crate) grid: Arc<Grid>,
    /// τ, seconds; `None` where new data does not come in bursts.
    pub(crate) burst_s: Option<f64>,
    /// The transfer; empty where there is none.
    pub(crate) run: Span,
    /// New bytes within it.
    pub(crate) bytes: f64,
    /// All rekeys in order of t_Q.
    pub(crate) placed: Vec<PlacedRekey>,
    /// Those that count.
    pub(crate) used: Vec<PlacedRekey>,
    /// Window lengths that fit.
    pub(crate) windows: Vec<Window>,
    /// `stalls[w][k]` of the used rekeys.
    pub(crate) stalls: Vec<Vec<MeasuredStall>>,
    /// Per window: mean stall of clean placebos where enough are clean.
    pub(crate) bias_s: Vec<Option<f64>>,
    /// Placebos, as many as rekeys each time.
    pub(crate) drawn: Vec<DrawSums>,
    /// `ranks[w][k]` among the placebos, where W has a null.
    pub(crate) ranks: Vec<Option<Vec<f64>>>,
    /// Per used rekey.
    pub(crate) hurt: Vec<Hurt>,
    /// Per used rekey, where it has a baseline.
    pub(crate) dips: Vec<Option<Dip>>,
    /// Per window, from three used rekeys on.
    pub(crate) means: Vec<Option<MeanStall>>,
    /// MDE at the chosen W.
    pub(crate) minimum_detectable_s: Option<f64>,
    /// No fitting W leaves 60 % of the run free.
    pub(crate) mostly_affected: bool,
    /// Holes of the capture within the transfer, and their length in seconds.
    pub(crate) unobserved: (usize, f64),
    /// The verdict.
    pub(crate) decision: Decision,
    /// Document index per moment given.
    pub(crate) indexes: Vec<usize>,
}

impl Evaluation {
    /// What holds where there is nothing to measure.
    pub(crate) fn without_traffic(rekeys: &[RekeyMoment]) -> Evaluation {
        let empty = Traffic {
            start: Timestamp(0),
            base_bin_s: 1.0,
            bytes: Vec::new(),
            gaps: Vec::new(),
            gaps_total: 0,
            holes: Vec::new(),
        };
        Evaluation {
            grid: Arc::new(Grid::new(&empty, 1, 0)),
            burst_s: None,
            run: Span { from: 0, to: 0 },
            bytes: 0.0,
            placed: Vec::new(),
            used: Vec::new(),
            windows: Vec::new(),
            stalls: Vec::new(),
            bias_s: Vec::new(),
            drawn: Vec::new(),
            ranks: Vec::new(),
            hurt: Vec::new(),
            dips: Vec::new(),
            means: Vec::new(),
            minimum_detectable_s: None,
            mostly_affected: false,
            unobserved: (0, 0.0),
            decision: Decision::no_traffic(),
            indexes: rekeys.iter().map(|r| r.index).collect(),
        }
    }

    /// The window fixed in advance: 0.5 s, else the smallest.
    pub(crate) fn chosen_window(&self) -> Option<usize> {
        let half = self.windows.iter().position(|w| w.seconds == CHOSEN_WINDOW_S);
        half.or((!self.windows.is_empty()).then_some(0))
    }

    /// Stalls of the used rekeys at one window, seconds.
    pub(crate) fn seconds(&self, window: usize) -> Vec<f64> {
        self.stalls
            .get(window)
            .map(|s| s.iter().map(|s| s.seconds).collect())
            .unwrap_or_default()
    }

    /// Document indexes of the used rekeys that `which` picks by what the tests say, ascending.
    fn indexes_where(&self, which: impl Fn(&Hurt) -> bool) -> Vec<usize> {
        let picked = self.used.iter().zip(&self.hurt).filter(|(_, h)| which(h));
        let mut indexes: Vec<usize> = picked
            .filter_map(|(k, _)| self.indexes.get(k.moment).copied())
            .collect();
        indexes.sort_unstable();
        indexes
    }

    /// Document indexes of the used rekeys, ascending.
    pub(crate) fn used_indexes(&self) -> Vec<usize> {
        self.indexes_where(|_| true)
    }

    /// Document indexes of the rekeys that hurt, ascending.
    pub(crate) fn hurt_indexes(&self) -> Vec<usize> {
        self.indexes_where(|h| h.hurt)
    }

    /// There is something to measure.
    pub(crate) fn has_transfer(&self) -> bool {
        self.run.len() > 0
    }

    /// Used rekeys whose exchange began, or may have begun, before their window.
    pub(crate) fn late_starts(&self) -> usize {
        self.used.iter().filter(|k| k.known.is_late()).count()
    }

    /// Length of the transfer, seconds.
    pub(crate) fn run_s(&self) -> f64 {
        self.grid.seconds(self.run.len())
    }

    /// Mean distance of the used rekeys, seconds; the length of the transfer for a single one.
    pub(crate) fn mean_interval_s(&self) -> Option<f64> {
        let (first, last) = (self.used.first()?, self.used.last()?);
        let between = last.started_s - first.started_s;
        Some(if between > 0.0 {
            between / (self.used.len() - 1) as f64
        } else {
            self.run_s()
        })
    }

    /// Effects up to this are never *shown*, seconds.
    pub(crate) fn least_effect_s(&self) -> f64 {
        LEAST_EFFECT_S.max(self.burst_s.unwrap_or(0.0) / 2.0)
    }

    /// Effect of interest: its share of the mean rekey interval, seconds.
    pub(crate) fn interest_s(&self, settings: &MethodSettings) -> Option<f64> {
        self.mean_interval_s().map(|s| s * settings.interest)
    }

    /// The mean stall at that window.
    pub(crate) fn decided_stall(&self) -> Option<MeanStall> {
        self.means.get(self.decision.window?).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::made_up::{of_ten_seconds, stalled};
    use rekeyscope_model::analysis::Direction;

    #[test]
    fn the_mean_interval_of_one_rekey_is_the_whole_transfer() {
        let interval = |rekeys: &[f64]| of_ten_seconds(rekeys).mean_interval_s();
        assert_eq!(interval(&[]), None);
        assert_eq!(interval(&[4.0]), Some(10.0));
        assert_eq!(interval(&[4.0, 6.0, 9.0]), Some(2.5));
        let interest = of_ten_seconds(&[4.0, 6.0]).interest_s(&MethodSettings::new(0, Direction::AToB));
        assert!((interest.unwrap() - 0.06).abs() < 1e-12);
    }

    #[test]
    fn half_a_second_is_chosen_where_it_fits() {
        let mut e = of_ten_seconds(&[4.0]);
        assert_eq!(e.chosen_window(), Some(1));
        e.windows.remove(1);
        assert_eq!(e.chosen_window(), Some(0));
        e.windows.clear();
        assert_eq!(e.chosen_window(), None);
    }

    #[test]
    fn rekeys_are_named_as_the_document_does() {
        let mut e = of_ten_seconds(&[4.0, 6.0, 9.0]);
        e.indexes = vec![7, 5, 3];
        e.hurt[0].hurt = true;
        assert_eq!((e.used_indexes(), e.hurt_indexes()), (vec![3, 5, 7], vec![7]));
        assert!(e.has_transfer() && (e.run_s() - 10.0).abs() < 1e-12);
        let nothing = Evaluation::without_traffic(&[]);
        assert!(!nothing.has_transfer());
        assert_eq!(nothing.run_s(), 0.0);
    }

    #[test]
    fn an_effect_of_less_than_half_a_burst_is_never_shown() {
        let mut e = of_ten_seconds(&[]);
        assert_eq!(e.least_effect_s(), 0.01);
        e.burst_s = Some(0.1);
        assert_eq!(e.least_effect_s(), 0.05);
    }

    #[test]
    fn stalls_are_those_of_a_window() {
        let e = stalled(&[4.0, 6.0, 9.0], &[0.1, 0.2, 0.3]);
        assert_eq!(e.seconds(4), [0.1, 0.2, 0.3]);
        assert_eq!(e.seconds(5), [0.0; 0]);
        assert_eq!(e.decided_stall(), None, "nothing is decided");
    }
}

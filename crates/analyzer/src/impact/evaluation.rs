//! All that one run of the method found, and what follows from it by looking it up.

use super::aggregate::MeanStall;
use super::baseline::{CHOSEN_WINDOW_S, Window};
use super::grid::{Grid, Span};
use super::hurt::Hurt;
use super::moment::RekeyMoment;
use super::outcome::Transfer;
use super::settings::Settings;
use super::stall::{Dip, MeasuredStall};
use super::traffic::Traffic;
use super::transfer::PlacedRekey;
use super::verdict::Decision;
use crate::time::Timestamp;
use std::sync::Arc;

/// All intermediate results of one run.
#[derive(Debug)]
pub(super) struct Evaluation {
    /// The series.
    pub(super) grid: Arc<Grid>,
    /// The transfer; empty where there is none.
    pub(super) run: Span,
    /// All rekeys in order of t_Q.
    pub(super) placed: Vec<PlacedRekey>,
    /// Those that count.
    pub(super) used: Vec<PlacedRekey>,
    /// Window lengths that fit.
    pub(super) windows: Vec<Window>,
    /// `stalls[w][k]` of the used rekeys.
    pub(super) stalls: Vec<Vec<MeasuredStall>>,
    /// `ranks[w][k]` among the placebos, where W has a null.
    pub(super) ranks: Vec<Option<Vec<f64>>>,
    /// Per used rekey.
    pub(super) hurt: Vec<Hurt>,
    /// Per used rekey, where it has a baseline.
    pub(super) dips: Vec<Option<Dip>>,
    /// Per window, from three used rekeys on.
    pub(super) means: Vec<Option<MeanStall>>,
    /// MDE at the chosen W.
    pub(super) minimum_detectable_s: Option<f64>,
    /// No fitting W leaves 60 % of the run free.
    pub(super) mostly_affected: bool,
    /// Holes of the capture within the transfer, and their length in seconds.
    pub(super) unobserved: (usize, f64),
    /// The verdict.
    pub(super) decision: Decision,
    /// Document index per moment given.
    pub(super) indexes: Vec<usize>,
}

impl Evaluation {
    /// What holds where there is nothing to measure.
    pub(super) fn without_traffic(rekeys: &[RekeyMoment]) -> Evaluation {
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
            run: Span { from: 0, to: 0 },
            placed: Vec::new(),
            used: Vec::new(),
            windows: Vec::new(),
            stalls: Vec::new(),
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
    pub(super) fn chosen_window(&self) -> Option<usize> {
        let half = self.windows.iter().position(|w| w.seconds == CHOSEN_WINDOW_S);
        half.or((!self.windows.is_empty()).then_some(0))
    }

    /// Stalls of the used rekeys at one window, seconds.
    pub(super) fn seconds(&self, window: usize) -> Vec<f64> {
        self.stalls
            .get(window)
            .map(|s| s.iter().map(|s| s.seconds).collect())
            .unwrap_or_default()
    }

    /// Number of used rekeys.
    pub(super) fn used_count(&self) -> usize {
        self.used.len()
    }

    /// Document indexes of the rekeys that hurt, ascending.
    pub(super) fn hurt_indexes(&self) -> Vec<usize> {
        let hurt = self.used.iter().zip(&self.hurt).filter(|(_, h)| h.hurt);
        let mut indexes: Vec<usize> = hurt
            .filter_map(|(k, _)| self.indexes.get(k.moment).copied())
            .collect();
        indexes.sort_unstable();
        indexes
    }

    /// The transfer, for the comparison of captures.
    pub(super) fn transfer(&self) -> Option<Transfer> {
        (self.run.len() > 0).then(|| Transfer {
            from_s: self.grid.start_of(self.run.from),
            to_s: self.grid.start_of(self.run.to),
            bytes: self.grid.bytes(self.run.from, self.run.to),
            rekeys: self.used.len(),
        })
    }

    /// Used rekeys whose exchange began, or may have begun, before their window.
    pub(super) fn late_starts(&self) -> usize {
        self.used.iter().filter(|k| k.known.is_late()).count()
    }

    /// Length of the transfer, seconds.
    pub(super) fn run_s(&self) -> f64 {
        self.grid.seconds(self.run.len())
    }

    /// Mean distance of the used rekeys, seconds; the length of the transfer for a single one.
    pub(super) fn mean_interval_s(&self) -> Option<f64> {
        let (first, last) = (self.used.first()?, self.used.last()?);
        let between = last.started_s - first.started_s;
        Some(if between > 0.0 {
            between / (self.used.len() - 1) as f64
        } else {
            self.run_s()
        })
    }

    /// Effect of interest: its share of the mean rekey interval, seconds.
    pub(super) fn interest_s(&self, settings: &Settings) -> Option<f64> {
        self.mean_interval_s().map(|s| s * settings.interest)
    }

    /// The window at which the stall is sized.
    pub(super) fn decided_window(&self) -> Option<&Window> {
        self.windows.get(self.decision.window?)
    }

    /// The mean stall at that window.
    pub(super) fn decided_stall(&self) -> Option<MeanStall> {
        self.means.get(self.decision.window?).copied().flatten()
    }
}

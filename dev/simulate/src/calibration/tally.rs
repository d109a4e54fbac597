//! What the runs of the calibration gave.

use crate::traffic::{BurstScenario, Scenario, Simulated};
use rekeyscope_impact::LEVEL;
use rekeyscope_model::analysis::{Impact, Verdict};

/// Natural pauses per second in the cells that have them.
pub(super) const PAUSES_PER_S: f64 = 0.2;
/// Planted stalls, seconds.
pub(super) const PLANTED_S: [f64; 4] = [0.05, 0.1, 0.2, 0.4];

/// A single outage, seconds.
pub(super) const SINGLE_S: f64 = 0.1;

/// What the runs of one cell gave.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    /// Runs.
    pub runs: usize,
    /// Verdicts *shown*.
    pub shown: usize,
    /// Verdicts *some*.
    pub some: usize,
    /// Verdicts *bounded*.
    pub bounded: usize,
    /// Runs whose p is at most the level of the test, whatever the verdict.
    pub small_p: usize,
    /// Runs with an interval.
    pub intervals: usize,
    /// Intervals that hold the planted mean.
    pub covered: usize,
    /// Sum of the estimated means less the planted ones, seconds.
    pub error_sum_s: f64,
    /// Sum of the stated minimum detectable stalls, seconds.
    pub detectable_sum_s: f64,
    /// Rekeys with a planted stall.
    pub planted: usize,
    /// Those found one by one.
    pub found: usize,
}

impl Tally {
    pub(super) fn add(mut self, other: Tally) -> Tally {
        self.runs += other.runs;
        self.shown += other.shown;
        self.some += other.some;
        self.bounded += other.bounded;
        self.small_p += other.small_p;
        self.intervals += other.intervals;
        self.covered += other.covered;
        self.error_sum_s += other.error_sum_s;
        self.detectable_sum_s += other.detectable_sum_s;
        self.planted += other.planted;
        self.found += other.found;
        self
    }

    pub(super) fn of(run: &Simulated, impact: &Impact) -> Tally {
        let used = impact.transfers.iter().flat_map(|transfer| &transfer.rekeys);
        let planted = used.filter_map(|&k| run.stalls_s.get(k));
        let truth_ms = 1000.0 * planted.clone().sum::<f64>() / impact.rekeys_used.max(1) as f64;
        let stall = impact.stall_ms.as_ref();
        Tally {
            runs: 1,
            shown: usize::from(impact.verdict == Verdict::Shown),
            some: usize::from(impact.verdict == Verdict::Some),
            bounded: usize::from(impact.verdict == Verdict::Bounded),
            small_p: usize::from(impact.p.is_some_and(|p| p <= LEVEL)),
            intervals: usize::from(stall.is_some()),
            covered: usize::from(stall.is_some_and(|m| (m.low..=m.high).contains(&truth_ms))),
            error_sum_s: stall.map_or(0.0, |m| m.mean - truth_ms) / 1000.0,
            detectable_sum_s: impact.mde_ms.unwrap_or(0.0) / 1000.0,
            planted: planted.filter(|&&s| s > 0.0).count(),
            found: impact
                .rekeys_hurt
                .iter()
                .filter(|&&k| run.stalls_s.get(k).is_some_and(|&s| s > 0.0))
                .count(),
        }
    }

    /// Mean error of the estimate, seconds.
    pub fn error_s(&self) -> f64 {
        self.error_sum_s / self.intervals.max(1) as f64
    }

    /// Mean of the stated minimum detectable stalls, seconds.
    pub fn detectable_s(&self) -> f64 {
        self.detectable_sum_s / self.intervals.max(1) as f64
    }
}

/// A cell and what its runs gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// What was simulated.
    pub scenario: Scenario,
    /// What came out.
    pub tally: Tally,
}

/// A cell with bursts and what its runs gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurstCell {
    /// What was simulated.
    pub scenario: BurstScenario,
    /// What came out.
    pub tally: Tally,
}

/// All cells.
#[derive(Debug, Clone)]
pub struct Calibration {
    /// Without an effect.
    pub no_effect: Vec<Cell>,
    /// Every cell with stalls of 50, 100, 200 and 400 ms.
    pub planted: Vec<Cell>,
    /// All cells without an effect, with another correlation time or trigger, joined: name and tally.
    pub variations: Vec<(String, Tally)>,
    /// Every cell with its own mean stated minimum detectable stall planted.
    pub power: Vec<Cell>,
    /// Traffic in bursts without an effect.
    pub bursts: Vec<BurstCell>,
    /// A harmless window-limited flow: one burst of 64 kB per round trip.
    pub window_limited: Vec<BurstCell>,
    /// Traffic in bursts that stands still at every rekey.
    pub planted_bursts: Vec<BurstCell>,
    /// Traffic in bursts, of which one rekey has an outage.
    pub single_bursts: Vec<BurstCell>,
    /// Every cell, one rekey of which has an outage.
    pub single: Vec<Cell>,
}

/// All tallies as one.
pub(super) fn sum<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Tally {
    joined(cells.into_iter().map(|c| c.tally))
}

/// Tallies as one.
pub(super) fn joined(tallies: impl Iterator<Item = Tally>) -> Tally {
    tallies.fold(Tally::default(), Tally::add)
}

//! The cells, their runs, and what the method says of each.

use crate::calibration::bursts;
use crate::calibration::tally::{BurstCell, Calibration, Cell, PAUSES_PER_S, PLANTED_S, SINGLE_S, Tally};
use crate::traffic::{BurstScenario, Scenario, Simulated, simulate, simulate_bursts};
use rayon::prelude::*;
use rekeyscope_impact::{MethodSettings, judge};
use rekeyscope_model::analysis::Direction;

/// Correlation time of the synthetic rate, seconds: about what TCP over 20–50 ms shows.
const CORRELATION_S: f64 = 1.0;

/// The 24 cells: σ 0.15 and 0.3; rekeys every 2.5, 4 and 10 s; 6 and 20 of them; without and with natural pauses.
pub fn cells() -> Vec<Scenario> {
    let mut cells = Vec::new();
    for pauses_per_s in [0.0, PAUSES_PER_S] {
        for sigma in [0.15, 0.3] {
            for interval_s in [2.5, 4.0, 10.0] {
                for rekeys in [6, 20] {
                    cells.push(Scenario {
                        sigma,
                        correlation_s: CORRELATION_S,
                        interval_s,
                        rekeys,
                        pauses_per_s,
                        stall_s: 0.0,
                        every: 1,
                        by_time: false,
                    });
                }
            }
        }
    }
    cells
}

/// Runs one cell `runs` times with `draws` placebo draws each.
fn run_cell(
    make: impl Fn(u64) -> Simulated + Sync,
    by_time: bool,
    runs: usize,
    draws: usize,
    seed: u64,
) -> Tally {
    let one = |run: usize| {
        // A seed of its own for every run: cells differ by `seed`, runs by the lower half.
        let seed = (seed << 32) | run as u64;
        let simulated = make(seed);
        let settings = MethodSettings {
            seed,
            draws,
            rekeys_total: simulated.rekeys.len(),
            time_triggered: by_time,
            ..MethodSettings::new(0, Direction::BToA)
        };
        Tally::of(
            &simulated,
            &judge(&simulated.traffic, &simulated.rekeys, &settings),
        )
    };
    let tallies: Vec<Tally> = (0..runs).into_par_iter().map(one).collect();
    tallies.into_iter().fold(Tally::default(), Tally::add)
}

/// What else the traffic may be like.
type Change = fn(Scenario) -> Scenario;

/// No demand is made on these: they show where the method's limits are.
fn variations() -> [(&'static str, Change); 5] {
    [
        ("no effect, correlation time 0.3 s", |c| Scenario {
            correlation_s: 0.3,
            ..c
        }),
        ("no effect, correlation time 3 s", |c| Scenario {
            correlation_s: 3.0,
            ..c
        }),
        ("no effect, time-triggered", |c| Scenario { by_time: true, ..c }),
        ("every third rekey stalls 0.2 s", |c| Scenario {
            stall_s: 0.2,
            every: 3,
            ..c
        }),
        ("every rekey stalls 2 s", |c| Scenario { stall_s: 2.0, ..c }),
    ]
}

/// Runs per cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Runs without an effect, per cell.
    pub no_effect: usize,
    /// Runs per cell and planted stall.
    pub planted: usize,
    /// Runs at the minimum detectable stall, per cell.
    pub power: usize,
    /// Runs per cell and variation.
    pub variation: usize,
    /// Runs per cell with bursts and without an effect.
    pub bursts: usize,
    /// Runs per cell of the harmless window-limited flow.
    pub window_limited: usize,
    /// Runs per cell with bursts and planted stall.
    pub planted_bursts: usize,
    /// Placebo draws per run.
    pub draws: usize,
}

/// Runs everything. Deterministic.
pub fn calibrate(effort: Effort) -> Calibration {
    let mut seed = 0;
    let mut run = |scenario: Scenario, runs: usize| {
        seed += 1;
        Cell {
            scenario,
            tally: run_cell(
                |seed| simulate(&scenario, seed),
                scenario.by_time,
                runs,
                effort.draws,
                seed,
            ),
        }
    };
    let no_effect: Vec<Cell> = cells().into_iter().map(|c| run(c, effort.no_effect)).collect();
    let planted = PLANTED_S
        .iter()
        .flat_map(|&stall_s| cells().into_iter().map(move |c| Scenario { stall_s, ..c }))
        .map(|c| run(c, effort.planted))
        .collect();
    let power = no_effect
        .iter()
        .map(|cell| {
            run(
                Scenario {
                    stall_s: cell.tally.detectable_s(),
                    ..cell.scenario
                },
                effort.power,
            )
        })
        .collect();
    let variations = variations()
        .into_iter()
        .map(|(name, change)| {
            let tallies = cells()
                .into_iter()
                .map(|c| run(change(c), effort.variation).tally);
            (name.to_owned(), tallies.fold(Tally::default(), Tally::add))
        })
        .collect();
    let single = cells()
        .into_iter()
        .map(|c| Scenario {
            stall_s: SINGLE_S,
            every: c.rekeys + 1,
            ..c
        })
        .map(|c| run(c, effort.planted))
        .collect();
    let mut run = |scenario: BurstScenario, runs: usize| {
        seed += 1;
        let make = |seed| simulate_bursts(&scenario, seed);
        BurstCell {
            scenario,
            tally: run_cell(make, !scenario.locked, runs, effort.draws, seed),
        }
    };
    let mut all = |cells: Vec<BurstScenario>, runs: usize| cells.into_iter().map(|c| run(c, runs)).collect();
    Calibration {
        no_effect,
        planted,
        power,
        variations,
        bursts: all(bursts::harmless(), effort.bursts),
        window_limited: all(bursts::window_limited(), effort.window_limited),
        planted_bursts: all(bursts::planted(), effort.planted_bursts),
        single_bursts: all(bursts::single(), effort.planted_bursts),
        single,
    }
}

//! How often the method is wrong, on synthetic runs: false verdicts without an effect, coverage of the intervals,
//! recovery of planted stalls, power at the stated minimum detectable stall.

use super::super::Settings;
use super::super::evaluate::{Choices, Evaluation, evaluate};
use super::super::verdict::LEVEL;
use super::{Scenario, Simulated, simulate};
use crate::analysis::{Direction, Verdict};
use rayon::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};

/// Correlation time of the synthetic rate, seconds: about what TCP over 20–50 ms shows.
const CORRELATION_S: f64 = 1.0;
/// Natural pauses per second in the cells that have them.
const PAUSES_PER_S: f64 = 0.2;
/// Planted stalls, seconds.
const PLANTED_S: [f64; 4] = [0.05, 0.1, 0.2, 0.4];
/// A limit counts as broken when a rate *at* the limit would give so many failures less often than this.
const SURPRISE: f64 = 0.001;

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
    /// Runs with p ≤ 0.025, whatever the verdict.
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
    fn add(mut self, other: Tally) -> Tally {
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

    fn of(run: &Simulated, e: &Evaluation) -> Tally {
        let used: Vec<usize> = e.used.iter().map(|k| k.moment).collect();
        let planted = used.iter().filter_map(|&k| run.stalls_s.get(k));
        let truth = planted.clone().sum::<f64>() / used.len().max(1) as f64;
        let found = e.hurt_indexes();
        let stall = e.decided_stall();
        Tally {
            runs: 1,
            shown: usize::from(e.decision.verdict == Verdict::Shown),
            some: usize::from(e.decision.verdict == Verdict::Some),
            bounded: usize::from(e.decision.verdict == Verdict::Bounded),
            small_p: usize::from(e.decision.p.is_some_and(|p| p <= LEVEL)),
            intervals: usize::from(stall.is_some()),
            covered: usize::from(stall.is_some_and(|m| (m.low..=m.high).contains(&truth))),
            error_sum_s: stall.map_or(0.0, |m| m.mean - truth),
            detectable_sum_s: e.minimum_detectable_s.unwrap_or(0.0),
            planted: planted.filter(|&&s| s > 0.0).count(),
            found: found
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

/// Runs one cell `runs` times with `draws` placebo draws each.
pub fn run_cell(scenario: &Scenario, runs: usize, draws: usize, seed: u64) -> Tally {
    let one = |run: usize| {
        // A seed of its own for every run: cells differ by `seed`, runs by the lower half.
        let seed = (seed << 32) | run as u64;
        let simulated = simulate(scenario, seed);
        let settings = Settings {
            seed,
            draws,
            rekeys_total: simulated.rekeys.len(),
            time_triggered: scenario.by_time,
            ..Settings::new(0, Direction::BToA)
        };
        let e = evaluate(
            &simulated.traffic,
            &simulated.rekeys,
            &settings,
            &Choices::default(),
        );
        Tally::of(&simulated, &e)
    };
    let tallies: Vec<Tally> = (0..runs).into_par_iter().map(one).collect();
    tallies.into_iter().fold(Tally::default(), Tally::add)
}

/// A cell and what its runs gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// What was simulated.
    pub scenario: Scenario,
    /// What came out.
    pub tally: Tally,
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
            tally: run_cell(&scenario, runs, effort.draws, seed),
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
    Calibration {
        no_effect,
        planted,
        power,
        variations,
    }
}

/// One demand on the method and what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// In words.
    pub demand: String,
    /// In words.
    pub measured: String,
    /// Held, binomial noise of the run count allowed for.
    pub held: bool,
}

/// Whether `failures` of `runs` are no more than a rate of `limit` gives, binomial noise allowed for.
fn at_most(failures: usize, runs: usize, limit: f64) -> bool {
    let reached = failures as f64 <= limit * runs as f64;
    reached || Binomial::new(limit, runs as u64).is_ok_and(|b| b.sf(failures as u64 - 1) > SURPRISE)
}

fn rate_check(demand: &str, failures: usize, runs: usize, limit: f64) -> Check {
    let share = 100.0 * failures as f64 / runs.max(1) as f64;
    Check {
        demand: demand.to_owned(),
        measured: format!("{share:.1} % ({failures} of {runs})"),
        held: at_most(failures, runs, limit),
    }
}

/// The worst cell by a count of failures.
fn worst(cells: &[Cell], demand: &str, failures: impl Fn(&Tally) -> (usize, usize), limit: f64) -> Check {
    let share = |c: &&Cell| {
        let (failed, runs) = failures(&c.tally);
        failed as f64 / runs.max(1) as f64
    };
    let (failed, runs) = cells
        .iter()
        .max_by(|a, b| share(a).total_cmp(&share(b)))
        .map_or((0, 0), |c| failures(&c.tally));
    let held = cells.iter().all(|c| {
        let (failed, runs) = failures(&c.tally);
        at_most(failed, runs, limit)
    });
    Check {
        held,
        ..rate_check(demand, failed, runs, limit)
    }
}

fn sum<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Tally {
    cells
        .into_iter()
        .fold(Tally::default(), |sum, c| sum.add(c.tally))
}

impl Calibration {
    /// The demands of the method's last section.
    pub fn checks(&self) -> Vec<Check> {
        let mut checks = self.false_verdicts();
        checks.extend(self.coverage());
        checks.extend(PLANTED_S.map(|s| self.recovery(s)));
        checks.push(self.power_check());
        checks
    }

    fn false_verdicts(&self) -> Vec<Check> {
        let all = sum(&self.no_effect);
        let without = sum(self.no_effect.iter().filter(|c| c.scenario.pauses_per_s == 0.0));
        let with = sum(self.no_effect.iter().filter(|c| c.scenario.pauses_per_s > 0.0));
        vec![
            rate_check(
                "no effect, *shown*: at most 3.5 % on average",
                all.shown,
                all.runs,
                0.035,
            ),
            worst(
                &self.no_effect,
                "no effect, *shown*: at most 6 % in the worst cell",
                |t| (t.shown, t.runs),
                0.06,
            ),
            rate_check(
                "no effect without pauses, *some*: at most 2 %",
                without.some,
                without.runs,
                0.02,
            ),
            rate_check(
                "no effect with natural pauses, *some*: at most 7 %",
                with.some,
                with.runs,
                0.07,
            ),
        ]
    }

    /// Coverage counts as failures what is not covered.
    fn coverage(&self) -> Vec<Check> {
        let missed = |t: &Tally| (t.intervals - t.covered, t.intervals);
        let mut checks = Vec::new();
        for (name, cells) in [("no effect", &self.no_effect), ("planted", &self.planted)] {
            let (failed, runs) = missed(&sum(cells));
            checks.push(rate_check(
                &format!("{name}, interval misses: at most 10 % on average"),
                failed,
                runs,
                0.1,
            ));
            let demand = format!("{name}, interval misses: at most 20 % in the worst cell");
            checks.push(worst(cells, &demand, missed, 0.2));
        }
        checks
    }

    fn recovery(&self, stall_s: f64) -> Check {
        let tally = sum(self.planted.iter().filter(|c| c.scenario.stall_s == stall_s));
        let error_s = tally.error_s();
        Check {
            demand: format!(
                "planted {:.0} ms: mean error within 10 % or 45 ms",
                stall_s * 1000.0
            ),
            measured: format!("{:+.0} ms", error_s * 1000.0),
            held: error_s.abs() <= (0.1 * stall_s).max(0.045),
        }
    }

    fn power_check(&self) -> Check {
        let tally = sum(&self.power);
        let missed = tally.runs - tally.shown;
        Check {
            demand: "power at the stated minimum detectable stall: 70 to 98 %".to_owned(),
            measured: format!(
                "{:.1} % ({} of {})",
                100.0 * tally.shown as f64 / tally.runs.max(1) as f64,
                tally.shown,
                tally.runs
            ),
            held: at_most(missed, tally.runs, 0.3) && at_most(tally.shown, tally.runs, 0.98),
        }
    }

    /// The tables of the documentation.
    pub fn markdown(&self) -> String {
        let mut text = String::from("| demand | measured | held |\n|---|---|---|\n");
        for c in self.checks() {
            let held = if c.held { "yes" } else { "**no**" };
            text += &format!("| {} | {} | {held} |\n", c.demand, c.measured);
        }
        text += "\n## Cells without an effect\n\n";
        text += "| σ | interval | rekeys | pauses | runs | *shown* | *some* | *bounded* | p ≤ 0.025 | covered | mean error \
                 | MDE | power at the MDE |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
        for (cell, power) in self.no_effect.iter().zip(&self.power) {
            text += &row(cell, &[share(power.tally.shown, power.tally.runs)]);
        }
        text += "\n## Planted stalls\n\n";
        text += "Found: rekeys with a planted stall that are named one by one.\n\n";
        text += JOINED_HEAD;
        for stall_s in PLANTED_S {
            for pauses in [0.0, PAUSES_PER_S] {
                let of = |c: &&Cell| c.scenario.stall_s == stall_s && c.scenario.pauses_per_s == pauses;
                let name = format!("{:.0} ms, pauses: {}", stall_s * 1000.0, pauses_in_words(pauses));
                text += &joined_row(&name, &sum(self.planted.iter().filter(of)));
            }
        }
        text += "\n## Beyond the cells\n\nNo demand is made on these.\n\n";
        text += JOINED_HEAD;
        self.variations
            .iter()
            .for_each(|(name, tally)| text += &joined_row(name, tally));
        text
    }
}

fn share(part: usize, of: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}

fn pauses_in_words(pauses_per_s: f64) -> &'static str {
    if pauses_per_s > 0.0 { "natural" } else { "none" }
}

fn row(cell: &Cell, more: &[String]) -> String {
    let (s, t) = (&cell.scenario, &cell.tally);
    format!(
        "| {} | {} s | {} | {} | {} | {} | {} | {} | {} | {} | {:+.0} ms | {:.0} ms | {} |\n",
        s.sigma,
        s.interval_s,
        s.rekeys,
        pauses_in_words(s.pauses_per_s),
        t.runs,
        share(t.shown, t.runs),
        share(t.some, t.runs),
        share(t.bounded, t.runs),
        share(t.small_p, t.runs),
        share(t.covered, t.intervals),
        t.error_s() * 1000.0,
        t.detectable_s() * 1000.0,
        more.join(" | "),
    )
}

const JOINED_HEAD: &str = "| all cells joined | runs | *shown* | *some* | *bounded* | p ≤ 0.025 | covered | mean error | \
                           found |\n|---|---|---|---|---|---|---|---|---|\n";

fn joined_row(name: &str, t: &Tally) -> String {
    format!(
        "| {name} | {} | {} | {} | {} | {} | {} | {:+.0} ms | {} |\n",
        t.runs,
        share(t.shown, t.runs),
        share(t.some, t.runs),
        share(t.bounded, t.runs),
        share(t.small_p, t.runs),
        share(t.covered, t.intervals),
        t.error_s() * 1000.0,
        if t.planted > 0 {
            share(t.found, t.planted)
        } else {
            "–".to_owned()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bench does the same with more runs and writes docs/calibration.md.
    #[test]
    fn the_method_is_calibrated() {
        let calibration = calibrate(Effort {
            no_effect: 12,
            planted: 3,
            power: 6,
            variation: 1,
            draws: 399,
        });
        let broken: Vec<Check> = calibration.checks().into_iter().filter(|c| !c.held).collect();
        assert!(broken.is_empty(), "{broken:#?}\n{}", calibration.markdown());
    }

    #[test]
    fn noise_of_the_run_count_is_allowed_for_and_no_more() {
        assert!(at_most(0, 0, 0.02) && at_most(2, 100, 0.02));
        // Binomial(100, 0.02): P(X ≥ 7) = 0.0041, P(X ≥ 8) = 0.0009.
        assert!(at_most(7, 100, 0.02) && !at_most(8, 100, 0.02));
        // Five standard deviations.
        assert!(!at_most(42, 1000, 0.02));
    }
}

//! What is demanded of the method, and whether it holds.

use crate::calibration::bursts::{PLANTED_BURSTS_S, SLOWEST_WRITES_S};
use crate::calibration::tally::{BurstCell, Calibration, Cell, PLANTED_S, Tally, joined, sum};
use statrs::distribution::{Binomial, DiscreteCDF};

/// A limit counts as broken when a rate *at* the limit would give so many failures less often than this.
const SURPRISE: f64 = 0.001;

/// One demand on the method and what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandCheck {
    /// In words.
    pub demand: String,
    /// In words.
    pub measured: String,
    /// Held, binomial noise of the run count allowed for.
    pub held: bool,
    /// There were runs enough for it to break at all: were every one a failure, it would.
    pub decided: bool,
}

/// Whether `failures` of `runs` are no more than a rate of `limit` gives, binomial noise allowed for.
fn at_most(failures: usize, runs: usize, limit: f64) -> bool {
    let reached = failures as f64 <= limit * runs as f64;
    reached || Binomial::new(limit, runs as u64).is_ok_and(|b| b.sf(failures as u64 - 1) > SURPRISE)
}

fn rate_check(demand: &str, failures: usize, runs: usize, limit: f64) -> DemandCheck {
    let share = 100.0 * failures as f64 / runs.max(1) as f64;
    DemandCheck {
        demand: demand.to_owned(),
        measured: format!("{share:.1} % ({failures} of {runs})"),
        held: at_most(failures, runs, limit),
        decided: !at_most(runs, runs, limit),
    }
}

/// The worst cell by a count of failures.
fn worst(
    cells: &[Cell],
    demand: &str,
    failures: impl Fn(&Tally) -> (usize, usize),
    limit: f64,
) -> DemandCheck {
    let share = |c: &&Cell| {
        let (failed, runs) = failures(&c.tally);
        failed as f64 / runs.max(1) as f64
    };
    let (failed, runs) = cells
        .iter()
        .max_by(|a, b| share(a).total_cmp(&share(b)))
        .map_or((0, 0), |c| failures(&c.tally));
    let runs_of = |c: &Cell| failures(&c.tally);
    DemandCheck {
        held: cells.iter().map(runs_of).all(|(n, runs)| at_most(n, runs, limit)),
        decided: cells
            .iter()
            .map(runs_of)
            .all(|(_, runs)| !at_most(runs, runs, limit)),
        ..rate_check(demand, failed, runs, limit)
    }
}

fn recovery(name: &str, stall_s: f64, tally: Tally) -> DemandCheck {
    let error_s = tally.error_s();
    DemandCheck {
        demand: format!(
            "{name} {:.0} ms: mean error within 10 % or 45 ms",
            stall_s * 1000.0
        ),
        measured: format!("{:+.0} ms", error_s * 1000.0),
        held: error_s.abs() <= (0.1 * stall_s).max(0.045),
        decided: tally.runs > 0,
    }
}

impl Calibration {
    /// The demands of the method's last section.
    pub fn checks(&self) -> Vec<DemandCheck> {
        let mut checks = self.false_verdicts();
        checks.extend(self.coverage());
        checks.extend(PLANTED_S.map(|s| {
            let cells = self.planted.iter().filter(|c| c.scenario.stall_s == s);
            recovery("planted", s, sum(cells))
        }));
        checks.extend(PLANTED_BURSTS_S.map(|s| {
            let cells = self.planted_bursts.iter().filter(|c| c.scenario.stall_s == s);
            recovery("planted in bursts", s, joined(cells.map(|c| c.tally)))
        }));
        checks.push(self.power_check());
        checks.extend(self.single_outages());
        checks
    }

    /// All cells with bursts and without an effect.
    fn harmless_bursts(&self) -> impl Iterator<Item = &BurstCell> {
        self.bursts.iter().chain(&self.window_limited)
    }

    /// Runs with one outage of 100 ms: counted are the outages that are not named.
    fn single_outages(&self) -> Vec<DemandCheck> {
        let even = self.single.iter().filter(|c| c.scenario.pauses_per_s == 0.0);
        let check = |demand, t: Tally| {
            let missed = t.planted - t.found;
            DemandCheck {
                // No noise is allowed for: so few runs in bursts would hide that it is not held.
                held: missed as f64 <= 0.05 * t.planted as f64,
                ..rate_check(demand, missed, t.planted, 0.05)
            }
        };
        let bursts = self.single_bursts.iter().map(|c| c.tally);
        vec![
            check(
                "a single outage of 100 ms without pauses is missed: at most 5 %",
                sum(even),
            ),
            check(
                "a single outage of 100 ms in bursts is missed: at most 5 %",
                joined(bursts),
            ),
        ]
    }

    fn false_verdicts(&self) -> Vec<DemandCheck> {
        let all = sum(&self.no_effect);
        let everything = joined(self.harmless_bursts().map(|c| c.tally).chain([all]));
        let window_limited = joined(self.window_limited.iter().map(|c| c.tally));
        let without = sum(self.no_effect.iter().filter(|c| c.scenario.pauses_per_s == 0.0));
        let with = sum(self.no_effect.iter().filter(|c| c.scenario.pauses_per_s > 0.0));
        vec![
            rate_check(
                "no effect, *shown*: at most 1 % on average",
                all.shown,
                all.runs,
                0.01,
            ),
            worst(
                &self.no_effect,
                "no effect, *shown*: at most 6 % in the worst cell",
                |t| (t.shown, t.runs),
                0.06,
            ),
            rate_check(
                "no effect, with bursts and without, *shown*: at most 1 % on average",
                everything.shown,
                everything.runs,
                0.01,
            ),
            DemandCheck {
                // The demand is on these very runs: no noise is allowed for.
                held: window_limited.shown as f64 <= 0.01 * window_limited.runs as f64,
                ..rate_check(
                    "harmless window-limited flow, *shown*: at most 1 %",
                    window_limited.shown,
                    window_limited.runs,
                    0.01,
                )
            },
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
    fn coverage(&self) -> Vec<DemandCheck> {
        let missed = |t: &Tally| (t.intervals - t.covered, t.intervals);
        let counts = |c: &&BurstCell| c.scenario.period_s < SLOWEST_WRITES_S;
        let bursts = self.harmless_bursts().filter(counts).chain(&self.planted_bursts);
        let others = self.no_effect.iter().chain(&self.planted).map(|c| c.tally);
        let (failed, runs) = missed(&joined(bursts.map(|c| c.tally).chain(others)));
        let demand =
            "all of these and those with bursts closer than 1 s, interval misses: at most 5 % on average";
        let mut checks = vec![rate_check(demand, failed, runs, 0.05)];
        for (name, cells) in [("no effect", &self.no_effect), ("planted", &self.planted)] {
            let (failed, runs) = missed(&sum(cells));
            checks.push(rate_check(
                &format!("{name}, interval misses: at most 5 % on average"),
                failed,
                runs,
                0.05,
            ));
            let demand = format!("{name}, interval misses: at most 20 % in the worst cell");
            checks.push(worst(cells, &demand, missed, 0.2));
        }
        checks
    }

    fn power_check(&self) -> DemandCheck {
        let tally = sum(&self.power);
        let missed = tally.runs - tally.shown;
        DemandCheck {
            demand: "power at the stated minimum detectable stall: 70 to 98 %".to_owned(),
            measured: format!(
                "{:.1} % ({} of {})",
                100.0 * tally.shown as f64 / tally.runs.max(1) as f64,
                tally.shown,
                tally.runs
            ),
            held: at_most(missed, tally.runs, 0.3) && at_most(tally.shown, tally.runs, 0.98),
            decided: !at_most(tally.runs, tally.runs, 0.3) && !at_most(tally.runs, tally.runs, 0.98),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_of_the_run_count_is_allowed_for_and_no_more() {
        assert!(at_most(0, 0, 0.02) && at_most(2, 100, 0.02));
        // Binomial(100, 0.02): P(X ≥ 7) = 0.0041, P(X ≥ 8) = 0.0009.
        assert!(at_most(7, 100, 0.02) && !at_most(8, 100, 0.02));
        // Five standard deviations.
        assert!(!at_most(42, 1000, 0.02));
    }
}

//! Evaluations made up for tests of what follows from them.

use crate::decide::evaluation::Evaluation;
use crate::decide::hurt::Hurt;
use crate::estimate::aggregate::MeanStall;
use crate::estimate::baseline::{Affected, Baseline, BaselineSource, WINDOWS_S, Window};
use crate::estimate::stall::MeasuredStall;
use crate::input::grid::tests::synthetic_series;
use crate::input::grid::{Grid, Span};
use crate::input::start::Start;
use crate::input::transfer::PlacedRekey;
use std::sync::Arc;

/// A rekey that begins at this second and switches a tenth later.
pub(crate) fn rekey(moment: usize, started_s: f64) -> PlacedRekey {
    let switched_s = started_s + 0.1;
    let bin = |s: f64| (s * 100.0).round() as i64;
    PlacedRekey {
        moment,
        started_s,
        switched_s,
        start: bin(started_s),
        switch: bin(switched_s),
        used: true,
        idle: false,
        unobserved: false,
        known: Start::Message(started_s),
    }
}

/// A transfer of 20 kB/s from 1 s to 11 s in bins of 10 ms, with rekeys at these seconds; every window fits, and nothing hurt.
pub(crate) fn of_ten_seconds(rekeys: &[f64]) -> Evaluation {
    let grid = Grid::new(&synthetic_series(vec![100; 2_400]), 2, 0);
    let run = Span { from: 100, to: 1_100 };
    let placed: Vec<PlacedRekey> = rekeys.iter().enumerate().map(|(k, &s)| rekey(k, s)).collect();
    let window = |&seconds: &f64| Window {
        seconds,
        bins: (seconds * 100.0) as i64,
        side: 20,
        affected: Affected::new(run, &placed, (seconds * 100.0) as i64),
        free_share: 0.9,
        free_mean: 20_000.0,
    };
    Evaluation {
        grid: Arc::new(grid),
        run,
        bytes: 200_000.0,
        windows: WINDOWS_S.iter().map(window).collect(),
        hurt: vec![Hurt::default(); rekeys.len()],
        used: placed.clone(),
        placed,
        indexes: (0..rekeys.len()).collect(),
        ..Evaluation::without_traffic(&[])
    }
}

/// The same with these stalls, seconds, at every window.
pub(crate) fn stalled(rekeys: &[f64], stalls: &[f64]) -> Evaluation {
    let mut e = of_ten_seconds(rekeys);
    let measured = |&seconds: &f64| MeasuredStall {
        baseline: Baseline {
            rate: 20_000.0,
            source: BaselineSource::BothSides,
            non_stationary: false,
        },
        lost_bytes: 20_000.0 * seconds,
        seconds,
    };
    e.stalls = vec![stalls.iter().map(measured).collect(); WINDOWS_S.len()];
    e.bias_s = vec![None; WINDOWS_S.len()];
    e.means = vec![MeanStall::of(stalls, None); WINDOWS_S.len()];
    e
}

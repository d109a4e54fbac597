//! Rekeys whose old SA is dead for a while: its receiver drops what comes, and the sender has to send it again.

use super::demands::Section;
use super::tables::{percent, table};
use crate::transfer::{PATHS, RekeyPlan, SEGMENT, SimulatedPath, SimulatedTransfer, send};
use rayon::prelude::*;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, seconds};

const SECONDS: i64 = 120;
/// Time of the first rekey, when growth is over.
const FIRST: i64 = 8 * NANOS_PER_SECOND;
/// Distance of rekeys: a sender that losses hold is back at its rate before the next one.
const EVERY: i64 = 14 * NANOS_PER_SECOND;
const REKEYS: i64 = 8;
/// Time from the first message to the death of the old SA.
const DIES_AFTER: i64 = 30 * NANOS_PER_MILLI;
/// Times for which the SA is dead, milliseconds.
const DEAD: [i64; 3] = [100, 400, 1_500];

/// Share of the truth, or seconds a rekey, within which a cost is right: the end of an interval is uncertain by a packet or two.
const WITHIN: f64 = 0.1;
const LEAST: f64 = 0.02;
/// Segments at the end over which two transfers are compared.
const COMPARED: usize = 500;

/// A transfer with stalls, beside the same without them.
#[derive(Debug, Clone, Copy)]
struct Twin {
    /// Delay of the same bytes, seconds.
    truth: f64,
    /// Cost by the ledger, seconds.
    cost: f64,
    hurt: usize,
    /// Rate without stalls, bytes a second.
    rate: f64,
}

fn twin(path: &SimulatedPath, seed: u64, dead: i64) -> Twin {
    let length = SECONDS * NANOS_PER_SECOND;
    // Rekeys fall anywhere into a round trip.
    let offset = |k: i64| (seed as i64 * 37 + k * 131) % 499 * NANOS_PER_MILLI;
    let asked = (0..REKEYS).map(|k| FIRST + k * EVERY + offset(k));
    let plans: Vec<RekeyPlan> = asked
        .map(|asked| RekeyPlan {
            asked,
            last_message: asked + DIES_AFTER + dead,
            volume: Some(1.0),
        })
        .collect();
    let spans: Vec<(i64, i64)> = plans
        .iter()
        .map(|plan| (plan.asked + DIES_AFTER, plan.last_message))
        .collect();
    let (course, without) = (send(path, length, seed, &spans), send(path, length, seed, &[]));
    let book = SimulatedTransfer::new(path, &course, &plans).ledger();
    let (with_stalls, alone) = (course.arrivals(), without.arrivals());
    // Segments come in bursts: over many of them it does not matter which of a burst are the last ones.
    let last = with_stalls.len().min(alone.len());
    let behind = with_stalls
        .iter()
        .zip(&alone)
        .take(last)
        .skip(last.saturating_sub(COMPARED));
    Twin {
        truth: mean(behind.map(|(late, early)| seconds(late - early))),
        cost: seconds(book.rekeys_nanos()),
        hurt: book.rekeys.len(),
        rate: alone.len() as f64 * SEGMENT as f64 / SECONDS as f64,
    }
}

fn mean(list: impl Iterator<Item = f64> + Clone) -> f64 {
    list.clone().sum::<f64>() / list.count().max(1) as f64
}

/// The transfers of a path and a time for which the SA is dead.
struct Cell {
    name: String,
    rate: f64,
    truth: f64,
    cost: f64,
    /// Two standard errors of their difference.
    error: f64,
    hurt: f64,
}

impl Cell {
    fn new(path: &SimulatedPath, dead: i64, twins: &[Twin]) -> Self {
        let of = |what: fn(&Twin) -> f64| mean(twins.iter().map(what));
        let (truth, cost) = (of(|twin| twin.truth), of(|twin| twin.cost));
        let scatter = mean(
            twins
                .iter()
                .map(|twin| (twin.cost - twin.truth - cost + truth).powi(2)),
        );
        Cell {
            name: format!("{}, dead for {dead} ms", path.name),
            rate: of(|twin| twin.rate),
            truth,
            cost,
            error: 2.0 * (scatter / twins.len() as f64).sqrt(),
            hurt: of(|twin| twin.hurt as f64),
        }
    }

    fn row(&self) -> Vec<String> {
        let each = |seconds: f64| format!("{:.2} s", seconds / REKEYS as f64);
        let share = |seconds: f64| 100.0 * seconds / self.truth;
        let difference = if self.is_made_up() {
            "–".to_owned()
        } else {
            format!(
                "{:+.1} ± {:.1} %",
                share(self.cost - self.truth),
                share(self.error)
            )
        };
        vec![
            self.name.clone(),
            format!("{:.1} Mbit/s", self.rate * 8e-6),
            each(self.truth),
            each(self.cost),
            difference,
            percent(self.hurt, REKEYS as f64),
        ]
    }

    /// Whether the sender makes up for the stall.
    fn is_made_up(&self) -> bool {
        self.truth < 0.01 * REKEYS as f64
    }

    /// Whether the cost is wrong by more than chance explains.
    fn is_off(&self) -> bool {
        let allowed = (WITHIN * self.truth).max(LEAST * REKEYS as f64);
        (self.cost - self.truth).abs() - self.error > allowed
    }
}

/// The section: a row for each path and each time for which the SA is dead.
pub(super) fn stalled(transfers: u64) -> Section {
    let cells: Vec<(&SimulatedPath, i64)> = PATHS
        .iter()
        .flat_map(|path| DEAD.map(|dead| (path, dead)))
        .collect();
    let twins = |(path, dead): (&SimulatedPath, i64)| {
        let seeds = (0..transfers).into_par_iter();
        let twins: Vec<Twin> = seeds
            .map(|seed| twin(path, seed, dead * NANOS_PER_MILLI))
            .collect();
        Cell::new(path, dead, &twins)
    };
    let cells: Vec<Cell> = cells.into_par_iter().map(twins).collect();
    let rows: Vec<Vec<String>> = cells.iter().map(Cell::row).collect();
    let head = [
        "old SA",
        "rate without",
        "true cost of a rekey",
        "cost said",
        "difference",
        "called hurt",
    ];
    let mut section = Section::new(
        "Rekeys that stall the transfer",
        "The receiver drops what passes the capture in the last so many milliseconds of the old SA. Eight rekeys in 120 s. The truth is how much \
         later the same bytes are there than in a transfer that differs in nothing else; ± is two standard errors.",
        table(&head, &rows),
    );
    let off = cells
        .iter()
        .filter(|cell| cell.is_off())
        .map(|cell| cell.name.as_str());
    section.demand(
        "Costs are within 10 % of the truth, or 20 ms, beyond what chance explains",
        off.collect(),
    );
    section
}

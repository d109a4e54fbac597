//! Rekeys whose old SA is dead for a while: its receiver drops what comes, and the sender has to send it again.

use super::tables::{percent, table};
use crate::transfer::{PATHS, RekeyPlan, SEGMENT, SimulatedPath, SimulatedTransfer, send};
use rayon::prelude::*;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};

const SECONDS: i64 = 120;
/// The first rekey: growth is over.
const FIRST: i64 = 8 * NANOS_PER_SECOND;
/// A sender that losses hold is back at its rate before the next one.
const EVERY: i64 = 14 * NANOS_PER_SECOND;
const REKEYS: i64 = 8;
/// The old SA dies so long after the first message.
const DIES_AFTER: i64 = 30 * NANOS_PER_MILLI;
/// How long it is dead, milliseconds.
const DEAD: [i64; 3] = [100, 400, 1_500];

/// A transfer with stalls, beside the same without.
#[derive(Debug, Clone, Copy)]
struct Twin {
    /// How much longer the same bytes took, seconds.
    truth: f64,
    /// What the ledger says.
    cost: f64,
    hurt: usize,
    /// Bytes a second without.
    rate: f64,
}

fn seconds(nanos: i64) -> f64 {
    nanos as f64 / NANOS_PER_SECOND as f64
}

fn twin(path: &SimulatedPath, seed: u64, dead: i64) -> Twin {
    let length = SECONDS * NANOS_PER_SECOND;
    // They fall anywhere into a round trip.
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
    let arrived = course.segments();
    let [with_stalls, alone] =
        [&course, &without].map(|course| course.moment_of(arrived.saturating_sub(1)).unwrap_or(length));
    Twin {
        truth: seconds(with_stalls - alone),
        cost: seconds(book.rekeys_nanos()),
        hurt: book.rekeys.len(),
        rate: without.segments() as f64 * SEGMENT as f64 / SECONDS as f64,
    }
}

fn mean(list: impl Iterator<Item = f64> + Clone) -> f64 {
    list.clone().sum::<f64>() / list.count().max(1) as f64
}

fn row(path: &SimulatedPath, dead: i64, twins: &[Twin]) -> Vec<String> {
    let of = |what: fn(&Twin) -> f64| mean(twins.iter().map(what));
    let (truth, cost) = (of(|twin| twin.truth), of(|twin| twin.cost));
    let error = mean(
        twins
            .iter()
            .map(|twin| (twin.cost - twin.truth - cost + truth).powi(2)),
    );
    let error = (error / twins.len() as f64).sqrt();
    let each = |seconds: f64| format!("{:.2} s", seconds / REKEYS as f64);
    let difference = if truth > 0.01 * REKEYS as f64 {
        format!(
            "{:+.1} ± {:.1} %",
            100.0 * (cost / truth - 1.0),
            200.0 * error / truth
        )
    } else {
        "–".to_owned()
    };
    vec![
        format!("{}, dead for {dead} ms", path.name),
        format!("{:.1} Mbit/s", of(|twin| twin.rate) * 8e-6),
        each(truth),
        each(cost),
        difference,
        percent(of(|twin| twin.hurt as f64), REKEYS as f64),
    ]
}

/// By path, and by how long the SA is dead.
pub(super) fn stalled(transfers: u64) -> String {
    let cells: Vec<(&SimulatedPath, i64)> = PATHS
        .iter()
        .flat_map(|path| DEAD.map(|dead| (path, dead)))
        .collect();
    let rows: Vec<Vec<String>> = cells
        .into_par_iter()
        .map(|(path, dead)| {
            let seeds = (0..transfers).into_par_iter();
            let twins: Vec<Twin> = seeds
                .map(|seed| twin(path, seed, dead * NANOS_PER_MILLI))
                .collect();
            row(path, dead, &twins)
        })
        .collect();
    let head = [
        "old SA",
        "rate without",
        "true cost of a rekey",
        "cost said",
        "difference",
        "called hurt",
    ];
    format!("## Rekeys that stall the transfer\n\n{}", table(&head, &rows))
}

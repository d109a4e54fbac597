//! Rekeys that harm nobody.

use super::demands::Section;
use super::tables::{milliseconds, percent, table};
use crate::transfer::{PATHS, RekeyMoments, RekeyPlan, SimulatedPath, SimulatedTransfer, send};
use rayon::prelude::*;
use rekeyscope_impact::ledger::LEAST_COST;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};

/// Rekeys of a transfer, and its seconds: with 80 of them every third second has one.
const DENSITIES: [(usize, i64); 3] = [(5, 60), (20, 60), (80, 240)];
/// Computing time of both ends, between the first message and the last.
const COMPUTING: i64 = 40 * NANOS_PER_MILLI;
/// Highest p at which a transfer can be called slow, and the share of harmless ones that reach it by chance.
const LEVEL: f64 = 0.01;
/// SAs are renewed at this share of their volume.
const RENEWED_AT: f64 = 0.85;

/// A rekey that begins at a moment.
pub(super) fn plan(path: &SimulatedPath, trigger: RekeyMoments, asked: i64) -> RekeyPlan {
    RekeyPlan {
        asked,
        last_message: asked + path.round_trip_ms * NANOS_PER_MILLI * 3 / 2 + COMPUTING,
        volume: (trigger == RekeyMoments::Volume).then_some(RENEWED_AT),
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct HarmlessSums {
    transfers: u64,
    rekeys: u64,
    silent: u64,
    slow: u64,
    called: u64,
    tested: u64,
    cost: i64,
    most: i64,
}

impl HarmlessSums {
    fn with(self, other: HarmlessSums) -> HarmlessSums {
        HarmlessSums {
            transfers: self.transfers + other.transfers,
            rekeys: self.rekeys + other.rekeys,
            silent: self.silent + other.silent,
            slow: self.slow + other.slow,
            called: self.called + other.called,
            tested: self.tested + other.tested,
            cost: self.cost + other.cost,
            most: self.most.max(other.most),
        }
    }

    fn is_often_slow(&self) -> bool {
        let expected = LEVEL * self.tested as f64;
        self.called as f64 > expected + 3.0 * expected.sqrt()
    }

    fn row(&self, name: &str) -> Vec<String> {
        vec![
            name.to_owned(),
            self.transfers.to_string(),
            self.rekeys.to_string(),
            format!(
                "{} ({})",
                self.silent,
                percent(self.silent as f64, self.rekeys as f64)
            ),
            milliseconds(self.cost as f64 / self.transfers.max(1) as f64),
            milliseconds(self.most as f64),
            format!(
                "{} ({})",
                self.slow,
                percent(self.slow as f64, self.tested as f64)
            ),
            format!(
                "{} ({})",
                self.called,
                percent(self.called as f64, self.tested as f64)
            ),
        ]
    }
}

fn transfer(
    path: &SimulatedPath,
    trigger: RekeyMoments,
    (rekeys, seconds): (usize, i64),
    seed: u64,
) -> HarmlessSums {
    let course = send(path, seconds * NANOS_PER_SECOND, seed, &[]);
    let moments = course.moments(trigger, rekeys, seed);
    let plans: Vec<RekeyPlan> = moments.into_iter().map(|at| plan(path, trigger, at)).collect();
    let book = SimulatedTransfer::new(path, &course, &plans).ledger();
    let silent: Vec<i64> = book
        .rekeys
        .iter()
        .filter(|own| own.silence > 0)
        .map(|own| own.nanos)
        .collect();
    HarmlessSums {
        transfers: 1,
        rekeys: plans.len() as u64,
        silent: silent.len() as u64,
        slow: u64::from(
            book.slow
                .as_ref()
                .is_some_and(|slow| slow.p <= LEVEL && slow.nanos > 0),
        ),
        called: u64::from(book.slow.as_ref().is_some_and(|slow| !slow.rekeys.is_empty())),
        tested: u64::from(book.slow.is_some()),
        cost: book.rekeys_nanos(),
        most: silent.iter().sum(),
    }
}

/// The section: a row for each path, then for each density and trigger.
pub(super) fn harmless(transfers: u64) -> Section {
    let cells: Vec<(SimulatedPath, RekeyMoments, (usize, i64))> = PATHS
        .iter()
        .flat_map(|path| {
            let triggers = [RekeyMoments::Time, RekeyMoments::Volume].into_iter();
            triggers.flat_map(move |trigger| DENSITIES.map(|density| (*path, trigger, density)))
        })
        .collect();
    let runs = cells
        .par_iter()
        .flat_map(|cell| (0..transfers).into_par_iter().map(move |seed| (cell, seed)));
    let sums: Vec<_> = runs
        .map(|((path, trigger, density), seed)| {
            (
                (path.name, *trigger, density.0),
                transfer(path, *trigger, *density, seed),
            )
        })
        .collect();
    let of = |is: &dyn Fn(&(&str, RekeyMoments, usize)) -> bool| {
        sums.iter()
            .filter(|one| is(&one.0))
            .fold(HarmlessSums::default(), |all, one| all.with(one.1))
    };
    let head = [
        "rekeys that harm nobody",
        "transfers",
        "rekeys",
        "called hurt by a silence",
        "cost said per transfer",
        "most in one for silences",
        "p ≤ 0.01",
        "transfers called slow",
    ];
    let mut rows: Vec<Vec<String>> = PATHS
        .iter()
        .map(|path| of(&|cell| cell.0 == path.name).row(path.name))
        .collect();
    for (rekeys, seconds) in DENSITIES {
        for (trigger, word) in [(RekeyMoments::Time, "time"), (RekeyMoments::Volume, "volume")] {
            let name = format!("all paths, {rekeys} by {word} in {seconds} s");
            rows.push(of(&|cell| (cell.1, cell.2) == (trigger, rekeys)).row(&name));
        }
    }
    rows.push(of(&|_| true).row("**all**"));
    let mut section = Section::new(
        "Rekeys that harm nobody",
        "The SA changes over, and nothing else happens. By time no volume limit is known; by volume the SA is renewed at 85 % of it. *p* is \
         that of the test of rekeys that own no silence. Where rekeys come at equal distances, they can meet the bursts of a full window \
         in one phase, so that p is too low; *called slow* needs 1 % of the transfer's time besides.",
        table(&head, &rows),
    );
    let paths = || {
        PATHS
            .iter()
            .map(|path| (path.name, of(&|cell| cell.0 == path.name)))
    };
    let names =
        |is: fn(&HarmlessSums) -> bool| paths().filter(|path| is(&path.1)).map(|path| path.0).collect();
    section.demand(
        "No rekey is called hurt by a silence",
        names(|sums| sums.silent > 0),
    );
    section.demand(
        "No transfer is charged more than 10 ms for silences",
        names(|sums| sums.most > LEAST_COST),
    );
    section.demand(
        "At most one transfer in 100 is called slow, beyond what chance explains",
        names(HarmlessSums::is_often_slow),
    );
    section
}

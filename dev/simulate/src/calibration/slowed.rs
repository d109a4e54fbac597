//! Rekeys that slow the transfer without a silence.

use super::demands::Section;
use super::harmless::plan;
use super::tables::{milliseconds, percent, table};
use crate::transfer::{PATHS, RekeyMoments, RekeyPlan, SimulatedPath, SimulatedTransfer, send};
use rayon::prelude::*;
use rekeyscope_impact::ledger::LedgerBook;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};
use statrs::distribution::{Binomial, DiscreteCDF};

const REKEYS: usize = 20;
const SECONDS: i64 = 60;
/// Length of the slow stretch, which begins with the first message: with its slow-down it ends before the window of the rekey does.
const STRETCH: i64 = 100 * NANOS_PER_MILLI;
/// Slow-downs of each rekey, milliseconds.
const SLOWER: [i64; 4] = [20, 50, 100, 200];

/// Share of slow-downs that may hide above a bound that 39 of 40 draws stay under: one in 40.
const HIDDEN: f64 = 0.025;
/// Chance that any of the paths is called broken where all keep to that share.
const BY_CHANCE: f64 = 0.05;

/// The ledger of a transfer that each rekey slows.
fn book(path: &SimulatedPath, seed: u64, slower: i64) -> LedgerBook {
    let mut course = send(path, SECONDS * NANOS_PER_SECOND, seed, &[]);
    let begins = course.moments(RekeyMoments::Time, REKEYS, seed);
    course.slowed(&begins, STRETCH, slower);
    let shifted = begins.iter().zip(0..).map(|(at, k)| at + k * slower);
    let plans: Vec<RekeyPlan> = shifted.map(|at| plan(path, RekeyMoments::Time, at)).collect();
    SimulatedTransfer::new(path, &course, &plans).ledger()
}

/// The ledger's word on one transfer.
#[derive(Debug, Clone, Copy)]
struct SlowSaid {
    slower: i64,
    bound: i64,
    called: bool,
    cost: i64,
}

fn said(path: &SimulatedPath, seed: u64, slower: i64) -> SlowSaid {
    let book = book(path, seed, slower);
    SlowSaid {
        slower,
        bound: book.bound().unwrap_or(0),
        called: !book.rekeys.is_empty(),
        cost: book.rekeys_nanos(),
    }
}

/// The section: power by slow-down, and whether a bound that was said holds.
pub(super) fn slowed(transfers: u64) -> Section {
    let runs = PATHS
        .par_iter()
        .flat_map(|path| (0..transfers).into_par_iter().map(move |seed| (path, seed)));
    let all: Vec<(&SimulatedPath, Vec<SlowSaid>)> = runs
        .map(|(path, seed)| {
            // The last two slow-downs are the bound that is said of the same transfer, and half as much again.
            let bound = book(path, seed, 0).bound().unwrap_or(0);
            let own = SLOWER
                .iter()
                .map(|ms| ms * NANOS_PER_MILLI)
                .chain([bound, bound * 3 / 2]);
            (path, own.map(|slower| said(path, seed, slower)).collect())
        })
        .collect();
    let head = [
        "slowed by",
        "20 ms: called",
        "50 ms: called",
        "100 ms: called",
        "200 ms: called",
        "cost said of 200 ms",
        "bound, median",
        "bound · 1: called",
        "bound · 1.5: called",
        "above the bound said, not called",
    ];
    let rows: Vec<Vec<String>> = PATHS
        .iter()
        .map(|path| path.name)
        .chain(["**all**"])
        .map(|name| {
            let own: Vec<&Vec<SlowSaid>> = all
                .iter()
                .filter(|one| one.0.name == name || name == "**all**")
                .map(|one| &one.1)
                .collect();
            row(name, &own)
        })
        .collect();
    let mut section = Section::new(
        "Rekeys that slow the transfer",
        "20 rekeys by time in 60 s; 100 ms of the transfer take so much longer at each, and all that follows is later by as much. *Called*: \
         any cost is said. *Bound · 1* is slowed by as much as the same transfer without slow rekeys is said to be able to hide.",
        table(&head, &rows),
    );
    let own = |name: &str| {
        all.iter()
            .filter(|one| one.0.name == name)
            .flat_map(|one| one.1.iter().take(SLOWER.len()))
            .copied()
            .collect::<Vec<SlowSaid>>()
    };
    let hides = |name: &&str| {
        let (missed, above) = missed(own(name).iter());
        let chance = Binomial::new(HIDDEN, above as u64).map(|all| all.sf(missed.max(1) as u64 - 1));
        missed > 0 && chance.is_ok_and(|chance| chance < BY_CHANCE / PATHS.len() as f64)
    };
    let names = PATHS.iter().map(|path| path.name);
    section.demand(
        "At most one in 40 slow-downs above the bound that is said is not called, beyond what chance explains",
        names.filter(hides).collect(),
    );
    section
}

/// Number of slow-downs above the bound that was said that are not called, and of all above it.
fn missed<'a>(planted: impl Iterator<Item = &'a SlowSaid>) -> (usize, usize) {
    // A report says whole milliseconds.
    let in_ms = |nanos: i64| (nanos + NANOS_PER_MILLI / 2) / NANOS_PER_MILLI;
    let above: Vec<&SlowSaid> = planted
        .filter(|said| in_ms(said.slower) > in_ms(said.bound))
        .collect();
    (above.iter().filter(|said| !said.called).count(), above.len())
}

fn row(name: &str, own: &[&Vec<SlowSaid>]) -> Vec<String> {
    let of = |k: usize| own.iter().filter_map(move |one| one.get(k));
    let called = |k: usize| {
        percent(
            of(k).filter(|said| said.called).count() as f64,
            of(k).count() as f64,
        )
    };
    let last = SLOWER.len() - 1;
    let true_cost: f64 = of(last).map(|said| (said.slower * REKEYS as i64) as f64).sum();
    let cost: f64 = of(last).map(|said| said.cost as f64).sum();
    let mut bounds: Vec<i64> = of(0).map(|said| said.bound).collect();
    bounds.sort_unstable();
    let median = bounds.get(bounds.len() / 2).copied().unwrap_or(0);
    let (missed, above) = missed(own.iter().flat_map(|one| one.iter().take(SLOWER.len())));
    let mut cells = vec![name.to_owned()];
    cells.extend((0..SLOWER.len()).map(called));
    cells.push(percent(cost, true_cost));
    cells.push(milliseconds(median as f64));
    cells.extend([called(SLOWER.len()), called(SLOWER.len() + 1)]);
    cells.push(format!("{missed} of {above}"));
    cells
}

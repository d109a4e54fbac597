//! The simulated sender behaves as one, and the ledger reads what it sent.

use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND};
use rekeyscope_simulate::transfer::{
    Course, PATHS, RekeyMoments, RekeyPlan, SEGMENT, SimulatedPath, SimulatedTransfer, send,
};

const LENGTH: i64 = 20 * NANOS_PER_SECOND;

fn path(name: &str) -> &'static SimulatedPath {
    PATHS
        .iter()
        .find(|path| path.name == name)
        .expect("a path of this name")
}

fn bytes_a_second(course: &Course) -> f64 {
    course.arrivals().len() as f64 * SEGMENT as f64 / (LENGTH / NANOS_PER_SECOND) as f64
}

#[test]
fn a_full_path_carries_its_rate_and_a_window_that_of_a_round_trip() {
    let even = bytes_a_second(&send(path("even, 20 ms"), LENGTH, 1, &[]));
    assert!((0.99e6..1.0e6).contains(&even), "{even}");
    let window = bytes_a_second(&send(path("window, 60 ms"), LENGTH, 1, &[]));
    let usual = 54.0 * SEGMENT as f64 / 0.060;
    assert!((0.97 * usual..usual).contains(&window), "{window}");
}

/// Reno would carry 1.22 segments a round trip over the root of the loss; CUBIC grows at least as fast.
#[test]
fn losses_hold_the_rate() {
    for (name, loss, round_trip) in [
        ("loss 0.2 %, 60 ms", 0.002_f64, 0.060),
        ("loss 1 %, 60 ms", 0.01, 0.060),
    ] {
        let reno = 1.22 * SEGMENT as f64 / round_trip / loss.sqrt();
        // Slow start is forgotten after a minute.
        let arrivals = send(path(name), 10 * LENGTH, 1, &[]).arrivals();
        let late = arrivals.iter().filter(|at| **at >= 3 * LENGTH).count();
        let own = late as f64 * SEGMENT as f64 / (7 * LENGTH / NANOS_PER_SECOND) as f64;
        assert!(
            (0.7 * reno..1.6 * reno).contains(&own),
            "{name}: {own} beside {reno}"
        );
    }
}

/// Nothing tells the sender of the new SA: it sends again when its timer runs out, and each time twice as late.
#[test]
fn a_dead_association_costs_the_timer_that_outlasts_it() {
    let path = path("even, 20 ms");
    let dead = (8 * NANOS_PER_SECOND, 8 * NANOS_PER_SECOND + 400 * NANOS_PER_MILLI);
    let course = send(path, LENGTH, 1, &[dead]);
    let plan = RekeyPlan {
        asked: dead.0 - 30 * NANOS_PER_MILLI,
        last_message: dead.1,
        volume: Some(1.0),
    };
    let swallowed = course.sent.iter().filter(|one| !one.arrived).count();
    assert!((20..60).contains(&swallowed), "{swallowed} of a window of 40");
    let arrivals = course.arrivals();
    let silence = arrivals.windows(2).map(|two| two[1] - two[0]).max().unwrap();
    assert!(
        (600..1_000).contains(&(silence / NANOS_PER_MILLI)),
        "{silence}: the second timeout ends it"
    );
    let book = SimulatedTransfer::new(path, &course, &[plan]).ledger();
    let alone = send(path, LENGTH, 1, &[]).arrivals();
    let truth = arrivals.last().unwrap() - alone[arrivals.len() - 1];
    let off = (book.rekeys_nanos() - truth) / NANOS_PER_MILLI;
    assert!(off.abs() <= 20, "{off} ms beside {truth}");
}

#[test]
fn a_rekey_without_harm_costs_nothing_and_a_slow_one_its_slowness() {
    let path = path("even, 20 ms");
    let plans = |begins: &[i64]| -> Vec<RekeyPlan> {
        let plan = |asked: &i64| RekeyPlan {
            asked: *asked,
            last_message: asked + 70 * NANOS_PER_MILLI,
            volume: None,
        };
        begins.iter().map(plan).collect()
    };
    let mut course = send(path, LENGTH, 1, &[]);
    let begins = course.moments(RekeyMoments::Volume, 5, 1);
    let book = SimulatedTransfer::new(path, &course, &plans(&begins)).ledger();
    assert_eq!((begins.len(), book.rekeys.len()), (5, 0));
    let slower = 50 * NANOS_PER_MILLI;
    course.slowed(&begins, 100 * NANOS_PER_MILLI, slower);
    let shifted: Vec<i64> = begins.iter().zip(0..).map(|(at, k)| at + k * slower).collect();
    let cost = SimulatedTransfer::new(path, &course, &plans(&shifted))
        .ledger()
        .rekeys_nanos();
    assert!((cost / NANOS_PER_MILLI - 250).abs() <= 10, "{cost}");
}

#[test]
fn the_same_seed_gives_the_same() {
    let course = |seed| send(path("loss 1 %, 60 ms"), LENGTH, seed, &[]);
    assert_eq!(course(1), course(1));
    assert_ne!(course(1), course(2));
}

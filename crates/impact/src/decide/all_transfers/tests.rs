use super::*;
use crate::decide::made_up::{of_ten_seconds, stalled};
use crate::input::start::Start;
use rekeyscope_model::analysis::{Direction, Verdict};

fn settings() -> MethodSettings {
    MethodSettings::new(0, Direction::AToB)
}

fn all(transfers: Vec<Evaluation>) -> AllTransfers {
    AllTransfers::of_several(transfers, false, &settings())
}

#[test]
fn several_transfers_add_up() {
    let mut first = of_ten_seconds(&[3.0, 6.0]);
    let mut second = of_ten_seconds(&[4.0]);
    (first.unobserved, second.unobserved) = ((2, 0.5), (1, 0.25));
    (first.burst_s, second.burst_s) = (Some(0.04), Some(0.08));
    second.used[0].known = Start::LaterMessage(4.0);
    (first.indexes, second.indexes) = (vec![4, 2], vec![3]);
    (first.hurt[0].hurt, first.hurt[1].hurt, second.hurt[0].hurt) = (true, true, true);
    let empty = Evaluation::without_traffic(&[]);
    let whole = all(vec![first, second, empty]);
    assert_eq!(whole.unobserved(), (3, 0.75));
    assert!((whole.run_s() - 20.0).abs() < 1e-9);
    assert_eq!(
        (whole.bytes(), whole.used_count(), whole.late_starts()),
        (400_000.0, 3, 1)
    );
    assert_eq!(whole.hurt_indexes(), [2, 3, 4]);
    assert_eq!((whole.burst_s(), whole.least_effect_s()), (Some(0.08), 0.04));
    assert_eq!(
        (
            whole.measurable().count(),
            whole.placed().count(),
            whole.rekeys_given()
        ),
        (2, 3, 3)
    );
    let plain = all(vec![of_ten_seconds(&[]), of_ten_seconds(&[])]);
    assert_eq!((plain.burst_s(), plain.least_effect_s()), (None, 0.01));
    assert_eq!(
        (plain.mean_interval_s(), plain.interest_s(&settings())),
        (None, None)
    );
}

#[test]
fn the_mean_interval_is_that_between_rekeys_of_one_transfer() {
    let interval = |rekeys: &[&[f64]]| {
        let transfers = rekeys.iter().map(|r| of_ten_seconds(r)).collect();
        all(transfers).mean_interval_s()
    };
    // 2 + 4 + 1 s over three intervals.
    let mean = interval(&[&[2.0, 4.0, 8.0], &[5.0, 6.0], &[7.0]]).unwrap();
    assert!((mean - 7.0 / 3.0).abs() < 1e-9, "{mean}");
    let alone = interval(&[&[2.0], &[5.0], &[]]).unwrap();
    assert!(
        (alone - 10.0).abs() < 1e-9,
        "the length of these transfers: {alone}"
    );
    let interest = all(vec![of_ten_seconds(&[2.0, 4.0]), of_ten_seconds(&[])]).interest_s(&settings());
    assert!((interest.unwrap() - 0.03 * 2.0).abs() < 1e-9);
}

/// Half of the rekeys have to fit.
#[test]
fn the_longest_window_is_one_that_fits_enough_of_the_rekeys() {
    let fitting = |counts: &[(usize, usize)]| {
        let of = |&(windows, rekeys): &(usize, usize)| {
            let starts: Vec<f64> = (0..rekeys).map(|k| 2.0 + k as f64).collect();
            let mut e = of_ten_seconds(&starts);
            e.windows.truncate(windows);
            e
        };
        let whole = AllTransfers {
            transfers: counts.iter().map(of).collect(),
            windows: Vec::new(),
            means: Vec::new(),
            minimum_detectable_s: None,
            mostly_affected: false,
            decision: Decision::no_traffic(),
        };
        whole.fitting()
    };
    assert_eq!(fitting(&[(5, 3), (2, 3)]), 5);
    assert_eq!(fitting(&[(5, 2), (2, 3)]), 2);
    assert_eq!(
        fitting(&[(5, 2), (0, 3)]),
        5,
        "those without any window do not count"
    );
    assert_eq!(fitting(&[(0, 3)]), 0);
    assert_eq!(fitting(&[(5, 0)]), 0);
}

#[test]
fn a_shared_window_and_bias_are_weighted() {
    let mut first = of_ten_seconds(&[3.0, 6.0]);
    let mut second = of_ten_seconds(&[4.0]);
    (first.bias_s, second.bias_s) = (vec![Some(0.03)], vec![Some(0.06)]);
    let both = [&first, &second];
    // At 0.5 s each rekey affects 60 of 2,000 bins.
    let window = shared(&both, 1);
    assert_eq!(window.seconds, 0.5);
    assert!((window.free_share - 1_820.0 / 2_000.0).abs() < 1e-9, "{window:?}");
    assert!((bias(&both, 0).unwrap() - 0.04).abs() < 1e-9);
    assert_eq!(bias(&both, 1), None, "not measured");
}

#[test]
fn all_rekeys_give_one_mean() {
    let whole = all(vec![
        stalled(&[2.0, 5.0], &[0.1, 0.2]),
        stalled(&[2.0, 5.0], &[0.3, 0.4]),
        of_ten_seconds(&[]),
    ]);
    assert_eq!(whole.windows.len(), WINDOWS_S.len());
    let mean = whole.means[1].unwrap();
    assert!((mean.mean - 0.25).abs() < 1e-9, "{mean:?}");
    assert!(whole.minimum_detectable_s.is_some() && !whole.mostly_affected);
    assert_eq!(whole.decision.verdict, Verdict::Inconclusive);
    // Where the shortest window alone fits, it is the one that is chosen.
    let mut short = [
        stalled(&[2.0, 5.0], &[0.1, 0.2]),
        stalled(&[2.0, 5.0], &[0.3, 0.4]),
    ];
    short.iter_mut().for_each(|e| e.windows.truncate(1));
    let shortest = all(short.into());
    assert!(shortest.windows.len() == 1 && shortest.minimum_detectable_s.is_some());
    let nothing = all(vec![
        Evaluation::without_traffic(&[]),
        Evaluation::without_traffic(&[]),
    ]);
    assert_eq!(nothing.decision.verdict, Verdict::NoTraffic);
    let idle = all(vec![of_ten_seconds(&[]), of_ten_seconds(&[])]);
    assert_eq!(idle.decision.verdict, Verdict::NoRekeys);
    assert!(!idle.mostly_affected && idle.windows.is_empty());
}

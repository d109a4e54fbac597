//! Differences of captures, label by label.

use super::*;
use crate::compare::comparison::{compare, row_of};
use proptest::prelude::*;
use rekeyscope_testkit::example;

/// A row of the **synthetic** capture with this account.
fn row(name: &str, labels: &[(AccountLabel, f64, u64)]) -> ComparedCapture {
    let mut document = example::seven_rekeys();
    document.account = vec![example::account(36.0, labels)];
    row_of(name, &document)
}

fn slow() -> ComparedCapture {
    row(
        "slow.pcapng",
        &[
            (AccountLabel::Rekey, 13.0, 0),
            (AccountLabel::ReceiveWindow, 60.0, 500_000_000),
            (AccountLabel::Capacity, 27.0, 500_000_000),
        ],
    )
}

fn fast() -> ComparedCapture {
    row(
        "fast.pcapng",
        &[
            (AccountLabel::Growth, 2.0, 10_000_000),
            (AccountLabel::Capacity, 18.0, 490_000_000),
        ],
    )
}

#[test]
fn the_headline_of_a_comparison_names_the_largest_label() {
    let comparison = compare(vec![fast(), slow()], Vec::new());
    let [gap] = comparison.gaps.as_slice() else {
        panic!("{:?}", comparison.gaps)
    };
    assert_eq!(
        gap.sentence,
        "Of 60 s per GB that slow.pcapng takes longer than fast.pcapng, 60 s (100 %) it waited for the receiver's window of \
         64 kB, 13 s (22 %) went to rekeys, 13 s (22 %) less than there, 0.0 s unexplained."
    );
    assert!(
        comparison.answer.ends_with(&gap.sentence),
        "{}",
        comparison.answer
    );
    assert_eq!(
        (gap.seconds_per_gb, gap.reference_s_per_gb, gap.gap_s_per_gb),
        (100.0, 40.0, 60.0)
    );
    let first = &gap.labels[0];
    assert_eq!(
        (first.label, first.gap_s_per_gb, first.gap_share),
        (AccountLabel::ReceiveWindow, 60.0, Some(1.0))
    );
}

#[test]
fn the_fastest_capture_lacks_nothing() {
    let gap = gap(&fast(), &slow()).unwrap();
    assert_eq!(
        gap.sentence,
        "Per GB, fast.pcapng takes no longer than slow.pcapng (40 s and 100 s)."
    );
    assert!(gap.labels.iter().all(|l| l.gap_share.is_none()));
}

#[test]
fn captures_that_count_differently_are_not_compared() {
    let without = ComparedCapture {
        counted: Some(rekeyscope_model::analysis::Counted::OuterBytes),
        ..slow()
    };
    assert_eq!(gap(&without, &fast()), None);
    let old = ComparedCapture {
        account: None,
        ..slow()
    };
    assert_eq!((gap(&old, &fast()), gaps(&[old])), (None, Vec::new()));
    assert_eq!(gap(&row("none", &[]), &fast()), None);
}

fn accounts() -> impl Strategy<Value = Vec<(AccountLabel, f64, u64)>> {
    let line = (0..13_usize, 0.0..1e5_f64, 1..10_000_000_000_u64);
    prop::collection::vec(line.prop_map(|(n, s, b)| (example::LABELS[n], s, b)), 1..13)
}

proptest! {
    /// Only rounding is left: each of the sums below has at most 40 terms, and each is rounded by at most one part in 2⁵³.
    #[test]
    fn differences_add_up_to_the_gap(own in accounts(), other in accounts()) {
        let gap = gap(&row("own", &own), &row("other", &other)).unwrap();
        let sum: f64 = gap.labels.iter().map(|l| l.gap_s_per_gb).sum();
        let size: f64 = gap.seconds_per_gb + gap.reference_s_per_gb;
        prop_assert!((sum - gap.gap_s_per_gb).abs() <= 40.0 * f64::EPSILON * size, "{sum} {}", gap.gap_s_per_gb);
        let bytes = |of: &[(AccountLabel, f64, u64)]| of.iter().map(|l| l.2).sum::<u64>() as f64;
        let seconds = |of: &[(AccountLabel, f64, u64)]| of.iter().map(|l| l.1).sum::<f64>();
        let expected = seconds(&own) * 1e9 / bytes(&own) - seconds(&other) * 1e9 / bytes(&other);
        prop_assert!((expected - sum).abs() <= 80.0 * f64::EPSILON * size);
    }
}

#[test]
fn captures_that_are_as_fast_have_no_shares_of_a_gap() {
    let comparison = compare(vec![fast(), fast()], Vec::new());
    let [gap] = comparison.gaps.as_slice() else {
        panic!("{:?}", comparison.gaps)
    };
    assert_eq!(gap.gap_s_per_gb, 0.0);
    assert!(gap.labels.iter().all(|l| l.gap_share.is_none()), "{gap:?}");
}

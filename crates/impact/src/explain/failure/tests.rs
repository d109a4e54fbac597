//! Verdicts of tunnels that failed, and of those that did not.

use super::*;
use rekeyscope_testkit::example::{cause_of, one_failed, outages};

fn of(cause: ExplanationCause) -> Analysis {
    let mut all = outages().into_iter();
    all.find(|document| cause_of(document) == cause).unwrap()
}

/// A document whose attempts have these outcomes, without an outage.
fn attempts(outcomes: &[AttemptOutcome]) -> Analysis {
    let mut document = one_failed();
    let failed = document.attempts.pop().unwrap();
    document.outages.clear();
    document.impact[0].verdict = Verdict::Bounded;
    document.attempts = outcomes
        .iter()
        .map(|outcome| Attempt {
            outcome: *outcome,
            outage: None,
            ..failed.clone()
        })
        .collect();
    document
}

fn verdict(document: &Analysis) -> Verdict {
    failures_first(document)[0].verdict
}

/// Words of an outage are the answer's; the verdict speaks of rekeys.
#[test]
fn an_outage_makes_the_verdict_and_not_its_sentence() {
    let mut document = of(ExplanationCause::Refused);
    document.impact.reverse();
    let failed = &failures_first(&document)[0];
    assert_eq!(failed.verdict, Verdict::Failed);
    assert_eq!(failed.direction, document.outages[0].direction);
    assert!(failed.sentence.contains("rekey"), "{}", failed.sentence);
    let before = document.impact.iter().find(|i| i.direction == failed.direction);
    assert_eq!(failed.sentence, before.unwrap().sentence);
}

#[test]
fn a_rekey_that_led_to_an_outage_is_not_cleared() {
    let mut document = of(ExplanationCause::Refused);
    let attempt = Attempt {
        rekey: Some(0),
        outage: Some(document.outages[0].clone()),
        outcome: AttemptOutcome::Completed,
        ..one_failed().attempts.pop().unwrap()
    };
    document.attempts.push(attempt);
    let failed = &failures_first(&document)[0];
    assert_eq!((failed.verdict, failed.sentence.as_str()), (Verdict::Failed, ""));
}

#[test]
fn a_renewal_failed_for_good_where_none_succeeded_later() {
    use AttemptOutcome::{Completed, CompletedUnused, Refused, Unanswered};
    for (outcomes, count) in [
        (&[Refused][..], Some(1)),
        (&[Refused, Refused, Unanswered], Some(2)),
        (&[Completed, Unanswered], Some(3)),
        (&[Refused, Completed], None),
        (&[Refused, CompletedUnused], None),
        (&[], None),
    ] {
        let document = attempts(outcomes);
        let impact = failures_first(&document);
        let failed = impact[0].verdict == Verdict::Failed;
        assert_eq!(failed, count.is_some(), "{outcomes:?}");
        let document = Analysis { impact, ..document };
        let told = told_failed_renewal(&document).and_then(|told| told.explanation.count);
        assert_eq!(told, count, "{outcomes:?}");
    }
    let mut elsewhere = attempts(&[Refused]);
    elsewhere.attempts[0].tunnel = 5;
    assert_ne!(verdict(&elsewhere), Verdict::Failed);
}

#[test]
fn the_cost_of_a_renewal_and_what_the_capture_lacks_are_no_failures() {
    for cause in [ExplanationCause::DeletedEarly, ExplanationCause::CaptureHole] {
        assert_ne!(verdict(&of(cause)), Verdict::Failed, "{cause}");
    }
}

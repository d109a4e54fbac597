//! The verdict again with one choice changed at a time. It should not depend on any of them.

use crate::decide::all_transfers::AllTransfers;
use crate::decide::evaluate::Choices;
use crate::decide::leg::Leg;
use crate::input::settings::MethodSettings;
use rekeyscope_model::analysis::{Sensitivity, Verdict};
use rekeyscope_model::text::{Message, Said};

/// Draws of a rerun: p ≤ 0.012 is then known to ± 0.005 (two standard errors), at a fifth of the cost.
const DRAWS: usize = 1_999;

/// The reruns: shifted bin origin, Δ of half, five times the usual width, anchored at t_Q, baseline before only.
pub(crate) fn rerun(legs: &[Leg<'_>], settings: &MethodSettings, main: &AllTransfers) -> Vec<Sensitivity> {
    let nothing = matches!(main.decision.verdict, Verdict::NoTraffic | Verdict::NoRekeys);
    let (Some(first), false) = (legs.first(), nothing || main.used_count() == 0) else {
        return Vec::new();
    };
    let usual = Choices::default();
    let base_ms = first.course.traffic.base_bin_s * 1000.0;
    let ms = |width: f64| format!("{width:.0} ms");
    let changes = [
        (
            Message::new("choice-origin").with("shift", ms(base_ms)),
            Choices { shift: 1, ..usual },
        ),
        (
            Message::new("choice-bins").with("width", ms(base_ms)),
            Choices { group: 1, ..usual },
        ),
        (
            Message::new("choice-bins").with("width", ms(base_ms * 10.0)),
            Choices { group: 10, ..usual },
        ),
        (
            Message::new("choice-anchor"),
            Choices {
                anchor_at_start: true,
                ..usual
            },
        ),
        (
            Message::new("choice-before"),
            Choices {
                before_only: true,
                ..usual
            },
        ),
    ];
    let fewer = MethodSettings {
        draws: settings.draws.min(DRAWS),
        ..settings.clone()
    };
    let one = |(change, choices): (Message, Choices)| {
        compare(change, main, &AllTransfers::new(legs, &fewer, &choices))
    };
    // No more than two at a time: each holds a series of its own.
    let [origin, half, wide, anchor, before] = changes;
    let ((origin, (wide, anchor)), (half, before)) = rayon::join(
        || (one(origin), (one(wide), one(anchor))),
        || (one(half), one(before)),
    );
    vec![origin, half, wide, anchor, before]
}

/// Means that leave the main run's interval by no more than a bin do not disagree, seconds.
const TOLERANCE_S: f64 = 0.01;

/// A rerun disagrees when it gives another verdict, or a mean stall outside the main run's interval.
fn compare(change: Message, main: &AllTransfers, other: &AllTransfers) -> Sensitivity {
    let stall = other.decided_stall().map(|m| m.mean);
    let outside = match (main.decided_stall(), stall) {
        (Some(main), Some(stall)) => !(main.low - TOLERANCE_S..=main.high + TOLERANCE_S).contains(&stall),
        _ => false,
    };
    let change = Said::from(change);
    Sensitivity {
        change: change.sentence,
        messages: change.messages,
        verdict: other.decision.verdict,
        stall_ms: stall.map(|s| s * 1000.0),
        p: other.decision.p,
        disagrees: other.decision.verdict != main.decision.verdict || outside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::verdict::Decision;
    use crate::estimate::aggregate::MeanStall;

    /// A run with this verdict and mean stall, seconds; its interval reaches 0.1 s to both sides.
    fn run(verdict: Verdict, mean: Option<f64>) -> AllTransfers {
        let mean = mean.map(|mean| MeanStall {
            mean,
            low: mean - 0.1,
            high: mean + 0.1,
            error: 0.05,
            bias_s: None,
        });
        AllTransfers {
            transfers: Vec::new(),
            windows: Vec::new(),
            means: vec![mean],
            minimum_detectable_s: None,
            mostly_affected: false,
            decision: Decision {
                verdict,
                window: Some(0),
                ..Decision::no_traffic()
            },
        }
    }

    #[test]
    fn another_verdict_or_a_mean_outside_the_interval_disagrees() {
        let main = run(Verdict::Shown, Some(0.5));
        let disagrees = |other: AllTransfers| compare(Message::new("choice-anchor"), &main, &other).disagrees;
        assert!(!disagrees(run(Verdict::Shown, Some(0.5))));
        assert!(disagrees(run(Verdict::Some, Some(0.5))));
        // A bin beyond the interval.
        assert!(!disagrees(run(Verdict::Shown, Some(0.609))) && disagrees(run(Verdict::Shown, Some(0.611))));
        assert!(!disagrees(run(Verdict::Shown, Some(0.391))) && disagrees(run(Verdict::Shown, Some(0.389))));
        assert!(!disagrees(run(Verdict::Shown, None)), "nothing to compare");
        let compared = compare(
            Message::new("choice-anchor"),
            &main,
            &run(Verdict::Shown, Some(0.25)),
        );
        assert_eq!(compared.stall_ms, Some(250.0));
    }
}

//! Costs of renewals that succeed, and failures.

use rekeyscope_model::analysis::{Attempt, ExplanationCause, Outage};

/// The outage is what a renewal costs that succeeds: late, with a lost message, to a receiver that is not ready, or with an early Delete.
/// Others are failures, and so is one that has not ended, or that an attempt in vain led to.
pub fn is_cost_of_renewal(outage: &Outage, attempts: &[Attempt]) -> bool {
    let Some(explanation) = &outage.explanation else {
        return false;
    };
    let of_renewal = matches!(
        explanation.cause,
        ExplanationCause::LimitReached
            | ExplanationCause::AnswerLost
            | ExplanationCause::NewSaLost
            | ExplanationCause::DeletedEarly
            | ExplanationCause::SlowExchange
    );
    let led_to = |a: &&Attempt| a.outage.as_ref().is_some_and(|o| o.index == outage.index);
    of_renewal && outage.end.is_some() && !attempts.iter().filter(led_to).any(|a| a.outcome.failed())
}

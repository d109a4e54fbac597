//! Cures of refusals.

use super::piece::Advice;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::text::{Catalogue, Message};

/// Advises by the reasons that refusals gave.
pub(crate) fn of_refusals(t: &Catalogue, analysis: &Analysis) -> Vec<Advice> {
    let refusals = REFUSALS.iter().filter(|(names, _)| refused(analysis, names));
    refusals.map(|(_, text)| of_refusal(t, text)).collect()
}

/// Advice that follows from a refusal with a notification of this name, where something does.
pub(crate) fn of_notification(t: &Catalogue, name: &str) -> Option<Advice> {
    let (_, text) = REFUSALS.iter().find(|(names, _)| names.contains(&name))?;
    Some(of_refusal(t, text))
}

fn of_refusal(t: &Catalogue, text: &str) -> Advice {
    Advice {
        system: t.word("advice-both-sides"),
        because: Some(Message::new("advice-rekey-refused-why")),
        text: Message::new(text),
    }
}

fn refused(analysis: &Analysis, names: &[&str]) -> bool {
    let reasons = analysis.attempts.iter().filter_map(|a| a.reason.as_deref());
    reasons.into_iter().any(|reason| names.contains(&reason))
}

/// Names of a notification in IKEv1 and IKEv2, and the message that says what to change.
const REFUSALS: [(&[&str], &str); 4] = [
    (
        &[
            "NO_PROPOSAL_CHOSEN",
            "NO-PROPOSAL-CHOSEN",
            "INVALID_KE_PAYLOAD",
            "INVALID-KEY-INFORMATION",
        ],
        "advice-refused-proposal",
    ),
    (
        &[
            "TS_UNACCEPTABLE",
            "SINGLE_PAIR_REQUIRED",
            "INVALID-ID-INFORMATION",
        ],
        "advice-refused-selectors",
    ),
    (
        &["TEMPORARY_FAILURE", "CHILD_SA_NOT_FOUND"],
        "advice-refused-moment",
    ),
    (&["NO_ADDITIONAL_SAS"], "advice-refused-more"),
];

//! Failures, which come first in a verdict.

use crate::assembly::attempts::Failures;
use rekeyscope_impact::tell::failed::failed;
use rekeyscope_model::analysis::{Impact, Ledger, Rekey, Tunnel, Verdict};
use rekeyscope_model::text::Said;
use rekeyscope_model::time::Timestamp;

/// Puts failures first, ahead of the ledger's words on the rekeys that succeeded.
pub(crate) fn with_failures(
    mut impact: Vec<Impact>,
    failures: &Failures,
    (rekeys, ledgers): (&[Rekey], &[Ledger]),
    tunnels: &[Tunnel],
    origin: Option<Timestamp>,
) -> Vec<Impact> {
    let origin = origin.unwrap_or_default();
    let outages = (&failures.outages[..], ledgers);
    for told in failed((&failures.attempts, rekeys), outages, tunnels, origin) {
        let own = |i: &&mut Impact| {
            i.tunnel == told.tunnel && told.direction.is_none_or(|direction| i.direction == direction)
        };
        if let Some(of_it) = impact.iter_mut().find(own) {
            let mut messages = told.messages;
            if matches!(of_it.verdict, Verdict::Shown | Verdict::Some | Verdict::Bounded) {
                messages.append(&mut of_it.messages);
            }
            let said = Said::from(messages);
            (of_it.sentence, of_it.messages) = (said.sentence, said.messages);
            of_it.verdict = Verdict::Failed;
        }
    }
    impact.sort_by_key(|i| i.verdict != Verdict::Failed);
    impact
}

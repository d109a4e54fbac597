//! The order in which verdicts are told.

use crate::tell::failed::{FailureFacts, failed};
use crate::verdict::{is_all_clear, named_loss};
use rekeyscope_model::analysis::{Impact, Ledger, Verdict};
use rekeyscope_model::text::{Message, Said};

/// Puts failures first, ahead of the ledger's words on the rekeys that succeeded, and then the transfer that suffers.
pub fn failures_first(mut impact: Vec<Impact>, facts: FailureFacts<'_>) -> Vec<Impact> {
    let ledgers = facts.ledgers;
    for told in failed(facts) {
        let own = |i: &&mut Impact| {
            i.tunnel == told.tunnel && told.direction.is_none_or(|direction| i.direction == direction)
        };
        if let Some(of_it) = impact.iter_mut().find(own) {
            let mut messages = told.messages;
            if matches!(of_it.verdict, Verdict::Shown | Verdict::Some | Verdict::Bounded) {
                let mut own = facts.attempts.iter().filter(|a| a.tunnel == told.tunnel);
                let is_outage = own.any(|a| a.rekey.is_some() && a.outage.is_some());
                // No all-clear of rekeys of which one is the outage.
                let is_told = |said: &Message| !(is_outage && is_all_clear(said));
                messages.extend(of_it.messages.drain(..).filter(is_told));
            }
            let said = Said::from(messages);
            (of_it.sentence, of_it.messages) = (said.sentence, said.messages);
            of_it.verdict = Verdict::Failed;
        }
    }
    let losses = losses(&impact, ledgers);
    let mut in_order: Vec<(f64, Impact)> = losses.into_iter().zip(impact).collect();
    in_order.sort_by(|(a_lost, a), (b_lost, b)| {
        let failed = |i: &Impact| i.verdict == Verdict::Failed;
        failed(b).cmp(&failed(a)).then(b_lost.total_cmp(a_lost))
    });
    in_order.into_iter().map(|(_, impact)| impact).collect()
}

/// Seconds that each direction lost to rekeys and failures, where they are a share of its time that a sentence names, or rekeys stopped it for
/// longer than the other direction. Of a tunnel's two directions, busiest first, only the first one with such a loss counts: answers stop with
/// the data that they answer.
fn losses(impact: &[Impact], ledgers: &[Ledger]) -> Vec<f64> {
    let mut counted: Vec<usize> = Vec::new();
    let mut lost = |i: &Impact| {
        let own = |l: &&Ledger| (l.tunnel, l.direction) == (i.tunnel, i.direction);
        let ledger = ledgers.iter().find(own)?;
        let stood = |l: &Ledger| l.rekeys.iter().map(|own| own.silence_ms).sum::<f64>();
        let mut others = ledgers
            .iter()
            .filter(|l| l.tunnel == i.tunnel && l.direction != i.direction);
        let stood_longer = others.any(|other| stood(ledger) > stood(other));
        let lost = named_loss(ledger).or_else(|| stood_longer.then_some(ledger.cost_seconds))?;
        (!counted.contains(&i.tunnel)).then(|| {
            counted.push(i.tunnel);
            lost
        })
    };
    impact.iter().map(|i| lost(i).unwrap_or(0.0)).collect()
}

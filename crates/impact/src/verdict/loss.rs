//! Seconds that a direction lost.

use super::limits::LEAST_SHARE;
use rekeyscope_model::analysis::Ledger;

/// Seconds that rekeys and failures took, where they are a share of the transfer that a sentence names.
pub fn named_loss(ledger: &Ledger) -> Option<f64> {
    let down: f64 = ledger.down.iter().map(|down| down.cost_seconds).sum();
    let lost = ledger.cost_seconds + down;
    (lost >= LEAST_SHARE * ledger.seconds).then_some(lost)
}

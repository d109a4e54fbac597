//! The verdict on one direction.

use super::judged_direction::JudgedDirection;
use super::projection::explained_share;
use super::sentence::sentence;
use crate::ledger::LEAST_SHARE;
use rekeyscope_model::analysis::{Impact, Ledger, LedgerBasis, RekeyImpact, Transfer, Verdict};
use rekeyscope_model::text::Said;

/// A share of the throughput below which nobody would change anything, and up to which an all-clear is given: the bound on what rekeys
/// may have cost unseen has to lie below it.
pub const INTEREST: f64 = 0.03;

impl JudgedDirection<'_> {
    fn verdict(&self) -> Verdict {
        let Some(ledger) = self.ledger else {
            return Verdict::NoTraffic;
        };
        let hurt = ledger.rekeys.len();
        if self.rekeys.is_empty() {
            Verdict::NoRekeys
        } else if hurt > 0 && (ledger.share >= LEAST_SHARE || 2 * hurt >= self.observed.len()) {
            Verdict::Shown
        } else if hurt > 0 {
            Verdict::Some
        } else if self.is_bounded(ledger) {
            Verdict::Bounded
        } else {
            Verdict::Inconclusive
        }
    }

    /// Whether rekeys that cost more than a little would be seen.
    fn is_bounded(&self, ledger: &Ledger) -> bool {
        let Some(bound_ms) = ledger.bound_ms.filter(|_| !self.observed.is_empty()) else {
            return false;
        };
        // Nobody acknowledges datagrams: what an SA beyond its limit swallows is seen by the limit alone.
        let hidden = ledger.basis == LedgerBasis::Datagrams && self.near_limit;
        !hidden && bound_ms / 1e3 * self.observed.len() as f64 <= INTEREST * ledger.seconds
    }
}

/// The verdict, with its words.
pub fn judge(of: &JudgedDirection<'_>) -> Impact {
    let verdict = of.verdict();
    let explained = of.ledger.and_then(|ledger| explained_share(of, ledger));
    let said = Said::of(sentence(of, verdict, explained.as_ref()));
    Impact {
        tunnel: of.tunnel,
        direction: of.direction,
        verdict,
        sentence: said.sentence,
        messages: said.messages,
        counted: of.counted,
        rekeys: of.rekeys.len(),
        rekeys_used: of.observed.len(),
        rekeys_hurt: of
            .ledger
            .map_or_else(Vec::new, |l| l.rekeys.iter().map(|own| own.rekey).collect()),
        observed_bps: of.observed_bps(),
        transfer: of
            .transfers
            .first()
            .zip(of.ledger)
            .map(|(first, ledger)| Transfer {
                start: first.start,
                duration_s: ledger.seconds,
                bytes: ledger.bytes as f64,
                rekeys: of.observed.len(),
            }),
        transfers: of.transfers.to_vec(),
        reference_bps: of.reference_bps,
        explained_share: explained,
    }
}

/// Cost of each rekey of the tunnel in this direction: index in the document's `rekeys`, and its entry.
pub fn rekey_costs(of: &JudgedDirection<'_>) -> Vec<(usize, RekeyImpact)> {
    let entry = |rekey: &usize| {
        let own = of
            .ledger
            .and_then(|l| l.rekeys.iter().find(|own| own.rekey == *rekey));
        let used = of.observed.binary_search(rekey).is_ok();
        let lacks = of.ledger.is_some_and(|l| l.not_observed.contains(rekey));
        let free = (used && of.ledger.is_some_and(|l| l.bound_ms.is_some())).then_some(0.0);
        let impact = RekeyImpact {
            direction: of.direction,
            used,
            hurt: own.is_some(),
            cost_seconds: own.map(|own| own.cost_seconds).or(free),
            at_least: own.is_some_and(|own| own.at_least),
            silence_ms: own.map(|own| own.silence_ms),
            why: own.map(|own| own.why),
            cause: None,
            swallowed: own.map_or(0, |own| own.swallowed),
            flags: lacks.then(|| "capture_hole".to_owned()).into_iter().collect(),
        };
        (*rekey, impact)
    };
    of.rekeys.iter().map(entry).collect()
}

/// Seconds that rekeys and failures took, where they are a share of the transfer that a sentence names.
pub fn named_loss(ledger: &Ledger) -> Option<f64> {
    let down: f64 = ledger.down.iter().map(|down| down.cost_seconds).sum();
    let lost = ledger.cost_seconds + down;
    (lost >= LEAST_SHARE * ledger.seconds).then_some(lost)
}

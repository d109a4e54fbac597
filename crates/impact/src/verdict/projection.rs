//! Rates at other lifetimes, and the share of a gap that rekeys explain.

use super::judged_direction::JudgedDirection;
use rekeyscope_model::analysis::{Estimate, Ledger, Projection};
use rekeyscope_model::lifetime::LIFETIME_KILOBYTE;

/// Lifetimes that a person would set instead of Windows' 250,000 kB.
pub const PROJECTED_KILOBYTES: [u64; 4] = [500_000, 1_000_000, 2_000_000, 10_000_000];

/// Rate of the same bytes in the time without rekeys and this many seconds more, bit/s.
fn rate(ledger: &Ledger, more_s: f64) -> Option<f64> {
    let seconds = ledger.seconds - ledger.cost_seconds + more_s;
    (seconds > 0.0).then(|| ledger.bytes as f64 * 8.0 / seconds)
}

/// Share of the gap to the reference rate that the cost of rekeys explains; `None` without a gap.
pub(super) fn explained_share(of: &JudgedDirection<'_>, ledger: &Ledger) -> Option<Estimate> {
    let observed = of.observed_bps()?;
    let gap = of
        .reference_bps
        .map(|reference| reference - observed)
        .filter(|gap| *gap > 0.0)?;
    let sum = |side: fn(&rekeyscope_model::analysis::LedgerRekey) -> f64| -> f64 {
        ledger.rekeys.iter().map(side).sum()
    };
    let explained = |cost: f64| Some((rate(ledger, ledger.cost_seconds - cost)? - observed) / gap);
    Some(Estimate {
        estimate: explained(ledger.cost_seconds)?,
        low: explained(sum(|own| own.low.min(own.cost_seconds)))?,
        high: explained(sum(|own| own.high.max(own.cost_seconds)))?,
    })
}

/// Cost of a rekey, seconds: the mean over all of a transfer, with the least and the most. `observed`: how many of them were seen.
pub(crate) fn cost_of_a_rekey(ledger: &Ledger, observed: usize) -> Estimate {
    let observed = observed.max(ledger.rekeys.len());
    let costs = || ledger.rekeys.iter().map(|own| own.cost_seconds);
    let all_cost = ledger.rekeys.len() == observed;
    Estimate {
        estimate: ledger.cost_seconds / observed as f64,
        low: if all_cost {
            costs().fold(f64::INFINITY, f64::min)
        } else {
            0.0
        },
        high: costs().fold(0.0, f64::max),
    }
}

/// Rates to expect at other lifetimes: rekeys come as often as the volume says, and each costs the mean of those that were seen; the ends
/// are those if all of them cost what the one did that cost least, or most. `counted_per_byte`: what the SA counts for a byte that arrives.
pub fn project(of: &JudgedDirection<'_>, counted_per_byte: f64) -> Vec<Projection> {
    let Some(ledger) = of
        .ledger
        .filter(|ledger| !of.observed.is_empty() && ledger.bytes > 0)
    else {
        return Vec::new();
    };
    if ledger.rekeys.is_empty() || !counted_per_byte.is_finite() || counted_per_byte <= 0.0 {
        return Vec::new();
    }
    let cost = cost_of_a_rekey(ledger, of.observed.len());
    let at = |kilobytes: u64| {
        let rekeys = ledger.bytes as f64 * counted_per_byte / (kilobytes * LIFETIME_KILOBYTE) as f64;
        Some(Projection {
            tunnel: of.tunnel,
            direction: of.direction,
            lifetime_kilobytes: kilobytes,
            expected_bps: Estimate {
                estimate: rate(ledger, rekeys * cost.estimate)?,
                low: rate(ledger, rekeys * cost.high)?,
                high: rate(ledger, rekeys * cost.low)?,
            },
        })
    };
    PROJECTED_KILOBYTES.into_iter().filter_map(at).collect()
}

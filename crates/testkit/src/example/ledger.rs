//! Synthetic ledgers.

use super::shape::{RATE_BPS, Shape, at, moment};
use rekeyscope_model::analysis::*;

/// Seconds from the first arrival behind a stall to the old rate.
const BACK_S: f64 = 0.04;

/// Cost of a stall: its length, and half of the time until the rate is back.
pub(super) fn cost_of(stall: f64) -> f64 {
    match stall > 0.0 {
        true => ((stall + BACK_S / 2.0) * 1e3).round() / 1e3,
        false => 0.0,
    }
}

/// Costs of the rekeys of a tunnel in its download: each has the figures of its own entry.
pub(super) fn of_rekeys(shape: &Shape, document: &Analysis, tunnel: usize) -> Ledger {
    let own = document.rekeys.iter().filter(|r| r.tunnel == tunnel).enumerate();
    let rekeys: Vec<LedgerRekey> = own.filter_map(|(k, rekey)| entry(shape, k, rekey)).collect();
    let seconds = shape.seconds - 2.0;
    let cost_seconds: f64 = rekeys.iter().map(|own| own.cost_seconds).sum();
    Ledger {
        inner: None,
        tunnel,
        direction: Direction::BToA,
        basis: match shape.keys {
            true => LedgerBasis::Acknowledgements,
            false => LedgerBasis::Answers,
        },
        seconds,
        bytes: (RATE_BPS / 8.0 * (seconds - cost_seconds)) as u64,
        cost_seconds,
        share: cost_seconds / seconds,
        without_mbps: RATE_BPS / 1e6,
        at_least: false,
        rekeys,
        down: Vec::new(),
        slow: None,
        bound_ms: Some(45.0),
        not_observed: Vec::new(),
    }
}

fn entry(shape: &Shape, k: usize, rekey: &Rekey) -> Option<LedgerRekey> {
    let impact = rekey.impact.iter().find(|i| i.hurt)?;
    let (start, length, stall) = moment(shape, k);
    let frame = |seconds: f64| Some((seconds * 1240.0) as u64);
    let (from, arrived) = (start + length, start + length + stall);
    Some(LedgerRekey {
        rekey: rekey.index,
        cost_seconds: impact.cost_seconds?,
        low: 0.97 * impact.cost_seconds?,
        high: 1.02 * impact.cost_seconds?,
        silence_ms: impact.silence_ms?,
        swallowed: impact.swallowed,
        r0_mbps: RATE_BPS / 1e6,
        why: impact.why?,
        at_least: impact.at_least,
        explanation: shape.keys.then(|| Explanation {
            by: rekey.initiator,
            exchange: rekey.exchange,
            seconds: rekey.exchange_ms.map(|ms| ms / 1e3),
            ..Explanation::of(ExplanationCause::LimitReached, Certainty::Inferred)
        }),
        intervals: vec![LedgerInterval {
            from: at(from),
            arrived: Some(at(arrived)),
            to: at(arrived + BACK_S),
            from_frame: frame(from),
            to_frame: frame(arrived),
        }],
    })
}

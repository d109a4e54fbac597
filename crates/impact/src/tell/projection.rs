//! How much of the missing throughput the stalls explain, and what other lifetimes would give.

use crate::decide::all_transfers::AllTransfers;
use crate::decide::evaluation::Evaluation;
use crate::estimate::aggregate::MeanStall;
use crate::input::grid::Span;
use crate::input::settings::MethodSettings;
use rekeyscope_model::analysis::{Estimate, Impact, Projection};
use rekeyscope_model::lifetime::LIFETIME_KILOBYTE;

/// The stalls in relation to the transfer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Attribution {
    /// R_obs, bit/s.
    pub(crate) observed_bps: Option<f64>,
    /// φ = S/T.
    pub(crate) lost_share: Option<Estimate>,
    /// R_cf = bytes/(T − S), bit/s.
    pub(crate) counterfactual_bps: Option<f64>,
    /// A = (R_cf − R_obs)/(R_ref − R_obs).
    pub(crate) explained_share: Option<Estimate>,
}

/// φ, R_cf and A. The stalls are those at the decided window; without a mean stall only the observed rate is known.
pub(crate) fn attribute(e: &AllTransfers, settings: &MethodSettings) -> Attribution {
    let (run_s, bits) = (e.run_s(), e.bytes() * 8.0);
    if run_s <= 0.0 {
        return Attribution::default();
    }
    let observed = bits / run_s;
    let mut result = Attribution {
        observed_bps: Some(observed),
        ..Attribution::default()
    };
    let Some(stall) = e.decided_stall() else {
        return result;
    };
    let rekeys = effective_rekeys(e);
    let share = |stall_s: f64| rekeys * stall_s / run_s;
    let faster = |stall_s: f64| (run_s > rekeys * stall_s).then(|| bits / (run_s - rekeys * stall_s));
    result.lost_share = Some(over(&stall, share));
    result.counterfactual_bps = faster(stall.mean);
    // A stall interval that reaches beyond the transfer has no finite counterfactual, so no upper end.
    let missing = settings
        .reference_bps
        .map(|r| r - observed)
        .filter(|&gap| gap > 0.0);
    if let (Some(missing), Some(_)) = (missing, faster(stall.high)) {
        let explained = |stall_s: f64| faster(stall_s).map_or(0.0, |r| (r - observed) / missing);
        result.explained_share = Some(over(&stall, explained));
    }
    result
}

/// The share of the transfers' time that rekeys cost by the estimated mean: of T seconds S were lost, R_obs/R_cf = (T − S)/T.
pub fn lost_share(impact: &Impact) -> Option<f64> {
    Some(1.0 - impact.observed_bps? / impact.counterfactual_bps?)
}

/// Expected rates at other lifetimes: R(L) = 1/(1/R_cf + s̄/L). With R_cf = bytes/(T − N·s̄) this is
/// 1/(T/bytes + s̄·(1/L − N/bytes)): monotone in s̄, so the ends of its interval give the band.
pub(crate) fn project(e: &AllTransfers, settings: &MethodSettings) -> Vec<Projection> {
    let bytes = e.bytes();
    let ratio = settings.lifetime_bytes_per_new_byte;
    let (Some(stall), true) = (e.decided_stall(), bytes > 0.0 && ratio.is_finite() && ratio > 0.0) else {
        return Vec::new();
    };
    let rekeys = effective_rekeys(e);
    let at = |kilobytes: u64| {
        let lifetime = (kilobytes * LIFETIME_KILOBYTE) as f64 / ratio;
        let seconds_per_byte = |s: f64| e.run_s() / bytes + s * (1.0 / lifetime - rekeys / bytes);
        let lowest = seconds_per_byte(stall.low).min(seconds_per_byte(stall.high));
        (lifetime > 0.0 && lowest > 0.0).then(|| Projection {
            tunnel: settings.tunnel,
            direction: settings.direction,
            lifetime_kilobytes: kilobytes,
            expected_bps: over(&stall, |s| 8.0 / seconds_per_byte(s)),
        })
    };
    settings
        .projected_kilobytes
        .iter()
        .filter_map(|&k| at(k))
        .collect()
}

/// A monotone function of the stall with its interval.
fn over(stall: &MeanStall, f: impl Fn(f64) -> f64) -> Estimate {
    let (a, b) = (f(stall.low), f(stall.high));
    Estimate {
        estimate: f(stall.mean),
        low: a.min(b),
        high: a.max(b),
    }
}

/// Used rekeys, less where their windows overlap: what lies in two windows was lost once.
fn effective_rekeys(e: &AllTransfers) -> f64 {
    let used = e.used_count() as f64;
    let Some(window) = e.decision.window else {
        return used;
    };
    let bins = e.transfers.iter().filter_map(|t| window_bins(t, window));
    let (total, joined) = bins.fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
    used * joined as f64 / total.max(1) as f64
}

/// Bins of a transfer's windows, and how many there are where each counts once; `None` where that length does not fit.
fn window_bins(e: &Evaluation, window: usize) -> Option<(i64, i64)> {
    let window = e.windows.get(window)?;
    let (mut total, mut joined, mut reached) = (0, 0, i64::MIN);
    for rekey in &e.used {
        let span = Span {
            from: rekey.start,
            to: rekey.switch + window.bins,
        }
        .clip(e.run);
        total += span.len();
        joined += (span.to - span.from.max(reached)).max(0);
        reached = reached.max(span.to);
    }
    Some((total, joined))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::made_up::stalled;
    use rekeyscope_model::analysis::Direction;

    /// 10 s with three rekeys that stall it for 0.1, 0.2 and 0.3 s, at the window of half a second.
    fn three() -> AllTransfers {
        let e = stalled(&[3.0, 5.0, 7.0], &[0.1, 0.2, 0.3]);
        let mut whole = all(e);
        whole.decision.window = Some(1);
        whole
    }

    fn all(e: Evaluation) -> AllTransfers {
        let (means, mut decision) = (e.means.clone(), e.decision);
        decision.window = None;
        AllTransfers {
            transfers: vec![e],
            windows: Vec::new(),
            means,
            minimum_detectable_s: None,
            mostly_affected: false,
            decision,
        }
    }

    fn settings() -> MethodSettings {
        MethodSettings::new(0, Direction::AToB)
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-9 * expected.abs()
    }

    #[test]
    fn what_stalls_took_of_a_transfer() {
        // 200 kB in 10 s, of which 0.6 s were lost.
        let found = attribute(&three(), &settings());
        assert!(near(found.observed_bps.unwrap(), 160_000.0));
        assert!(near(found.counterfactual_bps.unwrap(), 1.6e6 / 9.4));
        let lost = found.lost_share.unwrap();
        assert!(near(lost.estimate, 0.06) && lost.low < 0.06 && lost.high > 0.06);
        assert_eq!(found.explained_share, None, "no reference");
        let of = |reference_bps| {
            let settings = MethodSettings {
                reference_bps: Some(reference_bps),
                ..settings()
            };
            attribute(&three(), &settings).explained_share
        };
        let faster = 1.6e6 / 9.4;
        assert!(near(of(faster).unwrap().estimate, 1.0));
        assert!(near(of(2.0 * faster - 160_000.0).unwrap().estimate, 0.5));
        assert_eq!(of(160_000.0), None, "as fast as that already");
        // A transfer that was nothing but stalls has no rate without them.
        let mut still = all(stalled(&[2.0, 4.0, 6.0, 8.0], &[2.5; 4]));
        still.decision.window = Some(1);
        assert_eq!(attribute(&still, &settings()).counterfactual_bps, None);
        let mut undecided = three();
        undecided.decision.window = None;
        let found = attribute(&undecided, &settings());
        assert!(found.observed_bps.is_some() && found.counterfactual_bps.is_none());
        let nothing = attribute(&all(Evaluation::without_traffic(&[])), &settings());
        assert_eq!(nothing, Attribution::default());
    }

    #[test]
    fn other_lifetimes_give_other_rates() {
        let expected = |kilobytes: u64, ratio: f64| {
            let settings = MethodSettings {
                projected_kilobytes: vec![kilobytes],
                lifetime_bytes_per_new_byte: ratio,
                ..settings()
            };
            project(&three(), &settings)
                .first()
                .map(|p| p.expected_bps.estimate)
        };
        // 9.4 s without rekeys, and 0.2 s for each lifetime in 200 kB.
        assert!(near(expected(100, 1.0).unwrap(), 1.6e6 / (9.4 + 2.0 * 0.2)));
        assert!(near(expected(100, 2.0).unwrap(), 1.6e6 / (9.4 + 4.0 * 0.2)));
        assert_eq!(expected(0, 1.0), None);
        for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(expected(100, ratio), None, "{ratio}");
        }
    }

    #[test]
    fn windows_that_overlap_lose_their_time_once() {
        let rekeys = |starts: &[f64], window| {
            let mut whole = all(stalled(starts, &vec![0.1; starts.len()]));
            whole.decision.window = window;
            effective_rekeys(&whole)
        };
        // Windows of 0.6 s.
        assert!(near(rekeys(&[3.0, 5.0, 7.0], Some(1)), 3.0));
        assert!(near(rekeys(&[3.0, 3.3, 7.0], Some(1)), 3.0 * 1.5 / 1.8));
        assert!(near(rekeys(&[3.0, 3.3, 7.0], None), 3.0));
        assert!(near(rekeys(&[3.0, 3.0], Some(1)), 1.0));
        // Cut by the end of the transfer at 11 s.
        assert!(near(rekeys(&[3.0, 10.8], Some(1)), 2.0));
        assert!(near(rekeys(&[3.0, 10.6, 10.8], Some(1)), 3.0 * 1.0 / 1.2));
    }

    #[test]
    fn the_lost_share_is_one_less_the_ratio_of_rates() {
        let mut impact = rekeyscope_testkit::example::seven_rekeys().impact.remove(0);
        (impact.observed_bps, impact.counterfactual_bps) = (Some(80.0), Some(100.0));
        assert!(near(lost_share(&impact).unwrap(), 0.2));
        impact.counterfactual_bps = None;
        assert_eq!(lost_share(&impact), None);
    }
}

//! The whole method on one direction: evaluates, attributes, and fills the part of the document.

use crate::decide::all_transfers::AllTransfers;
use crate::decide::evaluate::Choices;
use crate::decide::evaluation::Evaluation;
use crate::decide::leg::{Leg, legs, rest_s};
use crate::decide::outcome::DirectionImpact;
use crate::decide::sensitivity;
use crate::input::moment::RekeyMoment;
use crate::input::settings::MethodSettings;
use crate::input::traffic::Traffic;
use crate::input::unobserved;
use crate::tell::{mean_rekey, projection, sentence};
use rekeyscope_model::analysis::{Counted, Impact, RekeyImpact, Transfer, TransferImpact};
use rekeyscope_model::text::Said;

/// Runs the whole method on one direction without rests. Deterministic for a given seed, whatever the number of threads.
pub fn assess(traffic: &Traffic, rekeys: &[RekeyMoment], settings: &MethodSettings) -> DirectionImpact {
    assess_transfers(std::slice::from_ref(traffic), rekeys, settings)
}

/// Runs it on the stretches between rests, in order of time; `rekeys` are told in seconds from the start of the first.
pub fn assess_transfers(
    traffic: &[Traffic],
    rekeys: &[RekeyMoment],
    settings: &MethodSettings,
) -> DirectionImpact {
    let bridged: Vec<Traffic> = traffic.iter().map(unobserved::bridge).collect();
    let legs = legs(&bridged, rekeys);
    let main = AllTransfers::new(&legs, settings, &Choices::default());
    DirectionImpact {
        rekeys: each_rekey(&legs, &main, rekeys, settings),
        mean_rekey: mean_rekey::superpose(&main, settings),
        projection: projection::project(&main, settings),
        impact: Impact {
            sensitivity: sensitivity::rerun(&legs, settings, &main),
            ..summarise(&legs, rekeys, settings, &main)
        },
    }
}

/// Gives the impact that [`assess`] gives, but with an empty `sensitivity`: the reruns behind it take most of the time, which counts where
/// thousands of series are judged.
pub fn judge(traffic: &Traffic, rekeys: &[RekeyMoment], settings: &MethodSettings) -> Impact {
    let bridged = [unobserved::bridge(traffic)];
    let legs = legs(&bridged, rekeys);
    let main = AllTransfers::new(&legs, settings, &Choices::default());
    summarise(&legs, rekeys, settings, &main)
}

/// One entry per moment given, in their order.
fn each_rekey(
    legs: &[Leg<'_>],
    main: &AllTransfers,
    rekeys: &[RekeyMoment],
    settings: &MethodSettings,
) -> Vec<(usize, RekeyImpact)> {
    let of_leg = |(leg, e): (&Leg<'_>, &Evaluation)| {
        let own = e.rekey_impacts(&leg.rekeys, settings.direction);
        leg.positions.iter().copied().zip(own).collect::<Vec<_>>()
    };
    let mut all: Vec<(usize, (usize, RekeyImpact))> =
        legs.iter().zip(&main.transfers).flat_map(of_leg).collect();
    all.sort_by_key(|(position, _)| *position);
    debug_assert_eq!(all.len(), rekeys.len());
    all.into_iter().map(|(_, of_rekey)| of_rekey).collect()
}

/// Every transfer with its own verdict.
fn transfers(legs: &[Leg<'_>], main: &AllTransfers) -> Vec<TransferImpact> {
    let of_leg = |(leg, e): (&Leg<'_>, &Evaluation)| {
        let at = |bin| leg.course.traffic.start.plus_seconds(e.grid.start_of(bin));
        e.has_transfer().then(|| TransferImpact {
            start: at(e.run.from),
            end: at(e.run.to),
            bytes: e.bytes,
            rekeys: e.used_indexes(),
            verdict: e.decision.verdict,
            stall_ms: e.decided_stall().map(|m| m.interval_ms()),
        })
    };
    legs.iter().zip(&main.transfers).filter_map(of_leg).collect()
}

/// All but the sensitivity.
fn summarise(
    legs: &[Leg<'_>],
    rekeys: &[RekeyMoment],
    settings: &MethodSettings,
    main: &AllTransfers,
) -> Impact {
    let attribution = projection::attribute(main, settings);
    let decision = &main.decision;
    let transfers = transfers(legs, main);
    let said = Said::of(sentence::verdict(main, &attribution, settings, rest_s(legs)));
    let bound = Said::of(sentence::arithmetic_bound(main, &attribution, settings));
    Impact {
        tunnel: settings.tunnel,
        direction: settings.direction,
        verdict: decision.verdict,
        sentence: said.sentence,
        messages: said.messages,
        counted: if settings.outer {
            Counted::OuterBytes
        } else {
            Counted::InnerNewBytes
        },
        rekeys: settings.rekeys_total.max(rekeys.len()),
        rekeys_used: main.used_count(),
        rekeys_hurt: main.hurt_indexes(),
        observed_bps: attribution.observed_bps,
        counterfactual_bps: attribution.counterfactual_bps,
        transfer: transfers.first().map(|first| Transfer {
            start: first.start,
            duration_s: main.run_s(),
            bytes: main.bytes(),
            rekeys: main.used_count(),
        }),
        transfers,
        burst_ms: main.burst_s().map(|s| s * 1000.0),
        reference_bps: settings.reference_bps,
        interest_ms: main.interest_s(settings).map(|s| s * 1000.0),
        stall_ms: main.decided_stall().map(|m| m.interval_ms()),
        at_least: decision.at_least,
        decision_window_s: main.decided_window().map(|w| w.seconds),
        affected_share: main.decided_window().map(|w| 1.0 - w.free_share),
        bias_ms: main.decided_stall().and_then(|m| m.bias_s).map(|s| s * 1000.0),
        p: decision.p,
        mde_ms: main.minimum_detectable_s.map(|s| s * 1000.0),
        explained_share: attribution.explained_share.clone(),
        arithmetic_bound: bound.sentence,
        arithmetic_bound_messages: bound.messages,
        sensitivity: Vec::new(),
        seed: settings.seed,
    }
}

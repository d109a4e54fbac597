//! The whole method on one direction: evaluates, attributes, and fills the part of the document.

use crate::decide::course::Course;
use crate::decide::evaluate::{Choices, evaluate};
use crate::decide::evaluation::Evaluation;
use crate::decide::outcome::DirectionImpact;
use crate::decide::sensitivity;
use crate::input::moment::RekeyMoment;
use crate::input::settings::MethodSettings;
use crate::input::traffic::Traffic;
use crate::input::unobserved;
use crate::tell::{mean_rekey, projection, sentence};
use rekeyscope_model::analysis::{Counted, Impact};
use rekeyscope_model::text::Said;

/// Runs the whole method on one direction. Deterministic for a given seed, whatever the number of threads.
pub fn assess(traffic: &Traffic, rekeys: &[RekeyMoment], settings: &MethodSettings) -> DirectionImpact {
    let traffic = &unobserved::bridge(traffic);
    let course = Course::new(traffic, rekeys);
    let main = evaluate(&course, rekeys, settings, &Choices::default());
    let impact = summarise(&course, rekeys, settings, &main);
    DirectionImpact {
        rekeys: main.rekey_impacts(rekeys, settings.direction),
        mean_rekey: mean_rekey::superpose(&main, settings),
        projection: projection::project(&main, settings),
        transfer: main.transfer(),
        impact,
    }
}

fn summarise(
    course: &Course<'_>,
    rekeys: &[RekeyMoment],
    settings: &MethodSettings,
    main: &Evaluation,
) -> Impact {
    let attribution = projection::attribute(main, settings);
    let decision = &main.decision;
    let said = Said::of(sentence::verdict(main, &attribution, settings));
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
        transfer: main.transfer().map(|t| t.published(course.traffic.start)),
        burst_ms: main.burst_s.map(|s| s * 1000.0),
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
        sensitivity: sensitivity::rerun(course, rekeys, settings, main),
        seed: settings.seed,
    }
}

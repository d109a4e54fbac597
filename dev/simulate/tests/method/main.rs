//! The method on **simulated** traffic, one module a subject.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bursts;
mod calibration;
mod estimators;
mod packets;
mod proven;
mod sentences;
mod transfers;
mod verdicts;

use rekeyscope_impact::{DirectionImpact, MethodSettings, assess};
use rekeyscope_model::analysis::Direction;
use rekeyscope_simulate::{Scenario, Simulated};

/// Rekeys every 6 s in traffic that varies by 15 %.
const SYNTHETIC: Scenario = Scenario {
    sigma: 0.15,
    correlation_s: 1.0,
    interval_s: 6.0,
    rekeys: 10,
    pauses_per_s: 0.0,
    stall_s: 0.0,
    every: 1,
    by_time: false,
};

fn settings() -> MethodSettings {
    MethodSettings {
        draws: 499,
        rekeys_total: 10,
        ..MethodSettings::new(0, Direction::BToA)
    }
}

fn assessed(run: &Simulated, settings: &MethodSettings) -> DirectionImpact {
    assess(&run.traffic, &run.rekeys, settings)
}

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

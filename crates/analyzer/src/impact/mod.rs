//! What the rekeys cost. Pure functions over a series and the moments of the rekeys; nothing here knows packets.
//!
//! In order of reading:
//!
//! ```text
//! unobserved  holes of the capture: which rekeys lie in one, and what stands in for it
//! transfer  which part of the series is the transfer, which rekeys lie in it
//! baseline  window lengths W, affected intervals, the rate a rekey is compared with
//! stall     bytes lost, equivalent stall, depth, duration
//! gap       per rekey: is its longest silence rare without a rekey?
//! placebo   the same stalls at moments drawn on the byte clock; bias; p over all W
//! hurt      which rekeys hurt (Benjamini–Hochberg)
//! aggregate mean over the rekeys, t-intervals, minimum detectable stall, walk over W
//! start     what is known of t_Q where its message is not in the capture
//! verdict   shown, some, bounded, inconclusive      sentence  the same in words
//! projection, mean_rekey, sensitivity, listing      what else the report shows
//! compare   several captures: seconds per rekey by regression
//! simulate  synthetic traffic, for the calibration only
//! ```
//!
//! The unit of every test is the rekey, never the bin: a t-test over pooled bins calls 19–28 % of no-effect runs
//! significant. Losses are never clipped at zero. Real rekeys and placebos obey the same rules.

mod aggregate;
mod baseline;
pub mod compare;
mod evaluate;
mod gap;
mod grid;
mod hurt;
mod listing;
mod mean_rekey;
mod placebo;
mod projection;
mod sensitivity;
pub(crate) mod sentence;
pub mod simulate;
mod stall;
mod start;
mod transfer;
mod unobserved;
mod verdict;

use crate::analysis::{Counted, Direction, Impact, MeanRekey, Projection, RekeyImpact};
use crate::text::Said;
use crate::time::Timestamp;
use evaluate::{Choices, Evaluation, evaluate};
pub use start::Start;

/// One direction of one tunnel, as the estimators want it.
#[derive(Debug, Clone)]
pub struct Traffic {
    /// Start of bin 0.
    pub start: Timestamp,
    /// Width of a base bin, seconds (5 ms unless a very long capture made it coarser; the 10 ms bins of the method are
    /// pairs of these, shifted by one for the sensitivity run).
    pub base_bin_s: f64,
    /// New bytes per base bin.
    pub bytes: Vec<u32>,
    /// Gaps between packets that carry new data, longest first or in any order, seconds from `start`.
    pub gaps: Vec<Gap>,
    /// All gaps ever seen (packets with new data − 1), `gaps` being the longest of them.
    pub gaps_total: u64,
    /// Stretches that the capture lacks although the tunnel went on, seconds from `start`.
    pub holes: Vec<Gap>,
}

/// Silence between two packets with new data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// Seconds from the start of the series.
    pub start_s: f64,
    /// Seconds from the start of the series.
    pub end_s: f64,
}

/// A rekey as the estimators want it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RekeyMoment {
    /// Index in the document's `rekeys`.
    pub index: usize,
    /// t_Q, as far as the capture shows it.
    pub start: Start,
    /// t_k, first packet on the new SA in this direction, seconds from the start of the series.
    pub switched_s: f64,
}

/// What the user and the trigger analysis set.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Index of the tunnel, copied into the results.
    pub tunnel: usize,
    /// Direction, copied into the results.
    pub direction: Direction,
    /// Draw placebos on the time clock instead of the byte clock.
    pub time_triggered: bool,
    /// Some rekeys are known to be triggered by volume.
    pub volume_triggered: bool,
    /// Rates count ESP bytes (SPI to ICV) because keys are missing.
    pub outer: bool,
    /// Rate to explain, bit/s.
    pub reference_bps: Option<f64>,
    /// Effect of interest as a share of throughput (default 0.03).
    pub interest: f64,
    /// Seed of the placebo draws.
    pub seed: u64,
    /// Placebo draws R (default 9,999).
    pub draws: usize,
    /// All rekeys of the tunnel, also those without a switch in this direction.
    pub rekeys_total: usize,
    /// Indexes in the document's `rekeys` of the rekeys of the tunnel, ascending: sentences call a rekey by its place in
    /// here. One that is not in here is called by its index, as in a document with one tunnel.
    pub own_rekeys: Vec<usize>,
    /// Lifetimes to project, kilobytes.
    pub projected_kilobytes: Vec<u64>,
    /// Mean bytes per rekey of the SA's own counting over new bytes of this series (1 where unknown): turns a lifetime
    /// into series bytes.
    pub lifetime_bytes_per_new_byte: f64,
}

/// Effect of interest as a share of throughput, where nobody says otherwise.
pub const INTEREST: f64 = 0.03;

impl Settings {
    /// What holds when nobody says otherwise: interest 3 % of throughput, 9,999 draws on the byte clock, seed 1, no
    /// reference rate, lifetimes of 500 MB, 1, 2 and 10 GB.
    pub fn new(tunnel: usize, direction: Direction) -> Settings {
        Settings {
            tunnel,
            direction,
            time_triggered: false,
            volume_triggered: true,
            outer: false,
            reference_bps: None,
            interest: INTEREST,
            seed: 1,
            draws: 9_999,
            rekeys_total: 0,
            own_rekeys: Vec::new(),
            projected_kilobytes: vec![500_000, 1_000_000, 2_000_000, 10_000_000],
            lifetime_bytes_per_new_byte: 1.0,
        }
    }
}

/// Results for one direction.
#[derive(Debug, Clone)]
pub struct DirectionImpact {
    /// The verdict.
    pub impact: Impact,
    /// Per rekey, in the order of the moments given: index in the document's `rekeys` and its impact.
    pub rekeys: Vec<(usize, RekeyImpact)>,
    /// Superposed rekeys; `None` without used rekeys.
    pub mean_rekey: Option<MeanRekey>,
    /// Projections.
    pub projection: Vec<Projection>,
    /// The transfer; `None` where there is nothing to measure.
    pub transfer: Option<Transfer>,
}

/// The part of the series that was measured: one point for [`compare::compare`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Seconds from the start of the series.
    pub from_s: f64,
    /// Seconds from the start of the series.
    pub to_s: f64,
    /// New bytes within.
    pub bytes: f64,
    /// Rekeys within.
    pub rekeys: usize,
}

impl Transfer {
    /// As the document has it.
    fn published(self, series_start: Timestamp) -> crate::analysis::Transfer {
        crate::analysis::Transfer {
            start: series_start.plus_seconds(self.from_s),
            duration_s: self.to_s - self.from_s,
            bytes: self.bytes,
            rekeys: self.rekeys,
        }
    }
}

/// Runs the whole method on one direction. Deterministic for a given seed, whatever the number of threads.
pub fn assess(traffic: &Traffic, rekeys: &[RekeyMoment], settings: &Settings) -> DirectionImpact {
    let traffic = &unobserved::bridge(traffic);
    let main = evaluate(traffic, rekeys, settings, &Choices::default());
    let impact = summarise(traffic, rekeys, settings, &main);
    DirectionImpact {
        rekeys: main.rekey_impacts(rekeys, settings.direction),
        mean_rekey: mean_rekey::superpose(&main, settings),
        projection: projection::project(&main, settings),
        transfer: main.transfer(),
        impact,
    }
}

fn summarise(traffic: &Traffic, rekeys: &[RekeyMoment], settings: &Settings, main: &Evaluation) -> Impact {
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
        transfer: main.transfer().map(|t| t.published(traffic.start)),
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
        sensitivity: sensitivity::rerun(traffic, rekeys, settings, main),
        seed: settings.seed,
    }
}

#[cfg(test)]
mod tests;

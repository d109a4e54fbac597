//! What the rekeys cost: method.md in code. Pure functions over a series and the moments of the rekeys; nothing here
//! knows packets.

use crate::analysis::{Direction, Estimate, Impact, MeanRekey, Projection, RekeyImpact};
use crate::time::Timestamp;

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
    /// t_Q, first exchange message, seconds from the start of the series; `None` where no IKE was captured.
    pub started_s: Option<f64>,
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
    /// Rates count outer bytes because keys are missing.
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
    /// Lifetimes to project, kilobytes.
    pub projected_kilobytes: Vec<u64>,
    /// Mean bytes per rekey of the SA's own counting over new bytes of this series (1 where unknown): turns a lifetime
    /// into series bytes.
    pub lifetime_bytes_per_new_byte: f64,
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
}

/// Runs the whole method on one direction. Deterministic for a given seed.
pub fn assess(_traffic: &Traffic, _rekeys: &[RekeyMoment], _settings: &Settings) -> DirectionImpact {
    let _ = std::marker::PhantomData::<Estimate>;
    unimplemented!()
}

//! What the estimators are given of one direction: its bytes, its silences and the holes of the capture.

use rekeyscope_model::time::Timestamp;

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
    /// Gaps between packets that carry new data, in any order, seconds from `start`.
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

impl Gap {
    /// Seconds from its start to its end.
    pub(crate) fn length_s(&self) -> f64 {
        self.end_s - self.start_s
    }
}

//! What the estimators give for one direction.

use rekeyscope_model::analysis::{Impact, MeanRekey, Projection, RekeyImpact};
use rekeyscope_model::time::Timestamp;

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

/// The part of the series that was measured: one point for [`crate::estimate::compare::compare`].
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
    pub(crate) fn published(self, series_start: Timestamp) -> rekeyscope_model::analysis::Transfer {
        rekeyscope_model::analysis::Transfer {
            start: series_start.plus_seconds(self.from_s),
            duration_s: self.to_s - self.from_s,
            bytes: self.bytes,
            rekeys: self.rekeys,
        }
    }
}

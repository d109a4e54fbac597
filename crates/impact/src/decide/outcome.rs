//! What the estimators give for one direction.

use rekeyscope_model::analysis::{Impact, MeanRekey, Projection, RekeyImpact};

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

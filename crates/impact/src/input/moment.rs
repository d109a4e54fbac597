//! A rekey as the estimators want it.

use crate::input::start::Start;

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

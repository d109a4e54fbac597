//! Observations that the rule is inferred from.

use crate::sa::association::Counters;

#[derive(Debug, Clone, Copy, Default)]
pub(in crate::rekey) struct Observation {
    /// Inbound, outbound SA of the initiator.
    pub(in crate::rekey) sides: [Option<Counters>; 2],
    /// Age of the pair, seconds.
    pub(in crate::rekey) age_s: Option<f64>,
    /// Negotiated.
    pub(in crate::rekey) limit_kilobytes: Option<u64>,
    /// Negotiated.
    pub(in crate::rekey) limit_seconds: Option<u64>,
    /// The first message of the exchange is not in the capture: all of it was read later.
    pub(in crate::rekey) late: bool,
}

//! The effort of finding keys that no label says what they belong to.

/// Effort of finding unlabelled keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MiningEffort {
    /// Trials made over all SAs; at most [`MiningEffort::most_per_packet`] per packet that is mined.
    pub trials: u64,
    /// A bound ended a search before all bytes were tried.
    pub gave_up: bool,
    /// Trials that one packet may cost.
    pub most_per_packet: u64,
    /// Trials that a capture may cost.
    pub most: u64,
}

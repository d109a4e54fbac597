//! Losses at the switch of one direction, as its packets prove them.

use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// Shorter outages are no stall (the ledger's shortest silence).
pub(crate) const LEAST_OUTAGE: i64 = 50 * NANOS_PER_MILLI;
/// Segments in a row that no random loss takes: at a loss of 3 % it takes one run of three in 37,000.
pub(crate) const LEAST_SEGMENTS: usize = 3;

/// Proof by the packets of one rekey and direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProofRule {
    /// The last segments on the old SA were all sent again: it was dead.
    LostOnOld,
    /// The first segments on the new SA were all sent again: its receiver was not ready.
    LostOnNew,
    /// Payload that nobody acknowledges went on beyond the limit of the old SA.
    NoFeedback,
}

/// What packets prove of one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProvenByPackets {
    pub(crate) rule: ProofRule,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) segments: usize,
    /// The first [`MOST_FRAMES`](crate::diagnosis::MOST_FRAMES) of them.
    pub(crate) frames: Vec<u64>,
}

impl ProvenByPackets {
    /// How long, nanoseconds.
    pub(crate) fn nanos(&self) -> i64 {
        self.to.nanos_since(self.from)
    }
}

//! A proof, and which of several holds.

use rekeyscope_ipsec::sa::database::SaIndex;
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
    /// Nothing was sent: the sender's own stack dropped it, or the old SA had reached its limit.
    NotSent,
    /// Payload that nobody acknowledges went on beyond the limit of the old SA.
    NoFeedback,
    /// The silence was the sender's: the rekey had no part in it.
    Acquitted,
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

/// What the packets show at the switch of one direction.
#[derive(Debug, Clone)]
pub(crate) struct SwitchProof {
    /// The SA on which a silence ends: the rekey's that made it.
    pub(crate) new: SaIndex,
    /// Rules A and D.
    pub(crate) certain: Option<ProvenByPackets>,
    /// Rule B, where the silence is longer than is usual elsewhere.
    pub(crate) unsent: Option<ProvenByPackets>,
    /// Rule C.
    pub(crate) acquitted: Option<ProvenByPackets>,
}

impl SwitchProof {
    /// The last segments on the old SA were lost, every one of them.
    pub(crate) fn lost_on_old(&self) -> Option<&ProvenByPackets> {
        self.certain.as_ref().filter(|p| p.rule == ProofRule::LostOnOld)
    }

    /// The first segments on the new SA were lost, every one of them.
    pub(crate) fn lost_on_new(&self) -> Option<&ProvenByPackets> {
        self.certain.as_ref().filter(|p| p.rule == ProofRule::LostOnNew)
    }

    /// An outage is proven, whatever is usual elsewhere.
    pub(crate) fn is_certain(&self) -> bool {
        self.certain.is_some()
    }

    /// The longest silence was the sender's.
    pub(crate) fn acquittal(&self) -> Option<&ProvenByPackets> {
        let outage = self.certain.is_some() || self.unsent.is_some();
        self.acquitted.as_ref().filter(|_| !outage)
    }
}

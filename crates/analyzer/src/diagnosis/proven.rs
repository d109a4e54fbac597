//! A proof, and which of several holds.

use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::analysis::{Proof, ProofRule};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// Shorter outages are no stall (the gap test's limit in the method).
pub(crate) const LEAST_OUTAGE: i64 = 50 * NANOS_PER_MILLI;
/// Segments in a row that no random loss takes: at a loss of 3 % it takes one run of three in 37,000.
pub(crate) const LEAST_SEGMENTS: usize = 3;
/// A silence proves something from this multiple of what is usual elsewhere.
const UNUSUAL: i64 = 3;

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

    /// As the document has it.
    pub(crate) fn report(&self) -> Proof {
        Proof {
            rule: self.rule,
            outage_ms: self.to.millis_since(self.from),
            segments: self.segments as u64,
            frames: self.frames.clone(),
        }
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

    /// What is proven, where gaps between new data are `usual` (their 99.9 % quantile) without a rekey, nanoseconds.
    pub(crate) fn proven(&self, usual: i64) -> Option<&ProvenByPackets> {
        let long = |p: &&ProvenByPackets| p.nanos() >= usual.saturating_mul(UNUSUAL);
        let unsent = || self.unsent.as_ref().filter(long);
        let outage = self.certain.as_ref().or_else(unsent);
        outage.or(self.acquitted.as_ref())
    }
}

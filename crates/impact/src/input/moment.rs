//! A rekey as the estimators want it.

use crate::input::start::Start;
use rekeyscope_model::analysis::ProofRule;

/// A rekey as the estimators want it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RekeyMoment {
    /// Index in the document's `rekeys`.
    pub index: usize,
    /// t_Q, as far as the capture shows it.
    pub start: Start,
    /// t_k, first packet on the new SA in this direction, seconds from the start of the series.
    pub switched_s: f64,
    /// What the packets prove of it.
    pub proven: ProvenEffect,
}

/// What the packets prove of a rekey, without statistics.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ProvenEffect {
    /// Nothing.
    #[default]
    Nothing,
    /// An outage of at least so many seconds.
    Outage(ProvenOutage),
    /// The silence at it was not its doing.
    Acquitted,
    /// It collided with another rekey of the list, which stands for both.
    Collided,
}

/// How long nothing passed, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProvenOutage {
    /// At least that long.
    pub seconds: f64,
    /// What shows it.
    pub rule: ProofRule,
}

impl RekeyMoment {
    /// Payload that nobody acknowledges was lost at it.
    pub(crate) fn is_without_feedback(&self) -> bool {
        self.proven
            .outage()
            .is_some_and(|o| o.rule == ProofRule::NoFeedback)
    }
}

impl ProvenEffect {
    /// The outage.
    pub(crate) fn outage(self) -> Option<ProvenOutage> {
        match self {
            ProvenEffect::Outage(outage) => Some(outage),
            ProvenEffect::Nothing | ProvenEffect::Acquitted | ProvenEffect::Collided => None,
        }
    }
}

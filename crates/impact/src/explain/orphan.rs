//! An SA that nothing replaced after a request for its successor had failed, or after a Delete, in a capture without keys: other SAs of the
//! tunnel go on, and hide what became of its traffic.

use crate::explain::control::{REFUSAL_TAKES_EFFECT, REQUEST_IS_OUT};
use rekeyscope_model::analysis::{
    Analysis, Attempt, AttemptOutcome, Event, EventKind, LedgerBasis, SecurityAssociation,
};
use rekeyscope_model::time::Timestamp;

/// Reasons why an SA has no successor.
#[derive(Debug, Clone, Copy)]
pub enum OrphanReason<'a> {
    /// The request that failed last before its end.
    Failed(&'a Attempt),
    /// A Delete at its end.
    Deleted(&'a Event),
}

/// An SA that ended so.
#[derive(Debug, Clone, Copy)]
pub struct ToldOrphan<'a> {
    /// Reason why no SA followed.
    pub reason: OrphanReason<'a>,
    /// The SA; of both directions the one that carried more.
    pub sa: &'a SecurityAssociation,
    /// Time of its last packet.
    pub end: Timestamp,
}

/// The SA that carried most of those that ended so in the tunnel of the headline; `None` where keys show the traffic itself.
pub fn told_orphan(analysis: &Analysis) -> Option<ToldOrphan<'_>> {
    let headline = analysis.impact.first()?;
    let ledger = analysis.ledger_of(headline.tunnel, headline.direction)?;
    if ledger.basis == LedgerBasis::Acknowledgements {
        return None;
    }
    let own = || analysis.sas_of(headline.tunnel);
    let orphan = |sa: &'_ &SecurityAssociation| -> Option<Timestamp> {
        let end = sa.last_time?;
        let mut rekeys = analysis.rekeys.iter();
        let replaced = rekeys.any(|r| [r.old.a_to_b, r.old.b_to_a].contains(&Some(sa.spi)));
        let others = own().filter(|other| (other.src, other.dst) == (sa.src, sa.dst) && other.spi != sa.spi);
        let goes_on = others
            .filter_map(|other| other.last_time)
            .any(|last| last.nanos_since(end) > REFUSAL_TAKES_EFFECT);
        (!replaced && goes_on).then_some(end)
    };
    let failed = |end: Timestamp| {
        analysis
            .attempts_of(headline.tunnel)
            .filter(|a| matches!(a.outcome, AttemptOutcome::Refused | AttemptOutcome::Unanswered))
            .filter(|a| a.first_time <= end.plus_nanos(REFUSAL_TAKES_EFFECT))
            .filter(|a| a.last_time >= end.plus_nanos(-REQUEST_IS_OUT))
            .max_by_key(|a| a.first_time)
    };
    let deleted = |end: Timestamp| {
        let mut events = analysis.events_of(headline.tunnel);
        events.find(|event| {
            matches!(event.kind, EventKind::ChildDeleted | EventKind::Deleted)
                && event.successor == Some(false)
                && event.time.nanos_since(end).abs() <= REFUSAL_TAKES_EFFECT
        })
    };
    own()
        .filter_map(|sa| {
            let end = orphan(&sa)?;
            let failed = failed(end).map(OrphanReason::Failed);
            let reason = failed.or_else(|| deleted(end).map(OrphanReason::Deleted))?;
            Some(ToldOrphan { reason, sa, end })
        })
        .max_by_key(|told| told.sa.packets)
}

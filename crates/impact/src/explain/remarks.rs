//! Facts that no outage and no cost shows, which an answer about rekeys adds or says instead.

use crate::explain::sas::{FIRST_NUMBERS, SEVERAL};
use rekeyscope_model::analysis::{
    Analysis, Event, EventKind, Exchange, Impact, LedgerBasis, LedgerDown, SecurityAssociation,
};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::LEAST_REST;

/// New SAs whose first packets never came to the capture.
#[derive(Debug, Clone, Copy)]
pub struct ToldFirstNumbers<'a> {
    /// The event of the first of them.
    pub event: &'a Event,
    /// Number of packets that are missing of that one.
    pub missing: u64,
    /// Number of SAs.
    pub sas: usize,
}

/// The new SAs of a tunnel whose first packets are missing, where several are; the capture itself lacks nothing there.
pub fn told_first_numbers(analysis: &Analysis, tunnel: usize) -> Option<ToldFirstNumbers<'_>> {
    let in_hole = |time: Timestamp| {
        let mut holes = analysis
            .events
            .iter()
            .filter(|e| e.kind == EventKind::CaptureHole);
        holes.any(|hole| hole.time <= time && time <= hole.until.unwrap_or(hole.time))
    };
    let own = analysis.events.iter().filter(|event| {
        event.kind == EventKind::FirstNumber
            && event.tunnel == Some(tunnel)
            && event.count.is_some_and(|number| number > FIRST_NUMBERS)
            && !in_hole(event.time)
    });
    let all: Vec<&Event> = own.collect();
    let first = all.first().filter(|_| all.len() >= SEVERAL)?;
    Some(ToldFirstNumbers {
        event: first,
        missing: first.count?.saturating_sub(1),
        sas: all.len(),
    })
}

/// The time at which the last transfer of a direction stopped, and the seconds of the capture that follow; `None` where keys show what became of
/// it, or where no longer time follows than an application rests.
pub fn told_stop(analysis: &Analysis, headline: &Impact) -> Option<(Timestamp, f64)> {
    let ledger = analysis.ledger_of(headline.tunnel, headline.direction)?;
    let stopped = headline.transfers.last()?.end;
    let rest = analysis.capture.last_time?.seconds_since(stopped);
    let is_sealed = matches!(ledger.basis, LedgerBasis::Packets | LedgerBasis::Answers);
    (is_sealed && rest * NANOS_PER_SECOND as f64 > LEAST_REST as f64).then_some((stopped, rest))
}

/// The longest time without a packet that some rekey ended, where it cost more than all rekeys and no key shows whether anything waited.
pub fn told_standstill<'a>(analysis: &'a Analysis, headline: &Impact) -> Option<&'a LedgerDown> {
    let ledger = analysis.ledger_of(headline.tunnel, headline.direction)?;
    let cost: f64 = ledger.down.iter().map(|down| down.cost_seconds).sum();
    let is_sealed = matches!(ledger.basis, LedgerBasis::Packets | LedgerBasis::Answers);
    let longest = ledger
        .down
        .iter()
        .max_by(|a, b| a.cost_seconds.total_cmp(&b.cost_seconds));
    longest.filter(|_| is_sealed && cost > ledger.cost_seconds)
}

/// The SA that carried ESP in a tunnel in which the other direction carried none, though IKE came both ways.
pub fn told_no_return(analysis: &Analysis, tunnel: usize) -> Option<&SecurityAssociation> {
    let used = || {
        let own = analysis.security_associations.iter();
        own.filter(|sa| sa.tunnel == tunnel && sa.packets > 0)
    };
    let first = used().next()?;
    let is_answered = |exchange: &Exchange| {
        exchange.tunnel == tunnel && exchange.messages >= exchange.retransmissions.saturating_add(2)
    };
    let only = used().all(|sa| sa.src == first.src);
    (only && analysis.exchanges.iter().any(is_answered)).then_some(first)
}

//! Failures: outages that cost a tunnel more than its rekeys, and renewals that failed for good. The verdict of such a tunnel is *failed*.

use crate::explain::loss::{leading_loss, waits_for_lost};
use crate::explain::renewal::is_cost_of_renewal;
use crate::explain::view::MOST_FRAMES;
use crate::verdict::{is_all_clear, named_loss};
use rekeyscope_model::analysis::{
    Analysis, Attempt, AttemptOutcome, Certainty, EventKind, Explanation, ExplanationCause, Impact, Ledger,
    Outage, Verdict,
};
use rekeyscope_model::text::{Message, Said};
use rekeyscope_model::time::Timestamp;

/// A failure in a tunnel.
#[derive(Debug, Clone, Copy)]
pub(super) enum Failure<'a> {
    /// The longest of the outages that cost more than the rekeys, or of which one has not ended.
    Outage(&'a Outage),
    /// The first attempt that failed with no success after it.
    Renewal(&'a Attempt),
}

/// The failure of a tunnel, if it has one.
pub(super) fn failure(analysis: &Analysis, tunnel: usize) -> Option<Failure<'_>> {
    let failures = || {
        let own = analysis.outages_of(tunnel);
        own.filter(|outage| is_failure(analysis, outage))
    };
    let ledgers = analysis.ledgers_of(tunnel);
    let rekeys = ledgers.map(|ledger| ledger.cost_seconds).fold(0.0, f64::max);
    let counts = failures().any(|outage| outage.end.is_none())
        || failures().map(|outage| outage.seconds).sum::<f64>() > rekeys;
    let longest = failures()
        .filter(|_| counts)
        .max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let outage = longest.map(Failure::Outage);
    outage.or_else(|| failed_for_good(analysis, tunnel).map(Failure::Renewal))
}

/// The cost of a renewal that succeeds is the ledger's matter; packets that the capture lacks are nobody's. Documents of earlier versions
/// have no explanations.
fn is_failure(analysis: &Analysis, outage: &Outage) -> bool {
    let cause = outage.explanation.as_ref().map(|explanation| explanation.cause);
    cause != Some(ExplanationCause::CaptureHole)
        && !waits_for_lost(analysis, outage)
        && (!is_cost_of_renewal(outage, &analysis.attempts, &analysis.rekeys)
            || is_down_before(analysis, outage))
}

/// Tells whether the tunnel was down, by the ledger, for half of the outage before anybody asked for the renewal that ended it.
fn is_down_before(analysis: &Analysis, outage: &Outage) -> bool {
    let down = analysis
        .ledger_of(outage.tunnel, outage.direction)
        .map_or(&[][..], |ledger| &ledger.down);
    down.iter().filter(|down| down.rekey.is_some()).any(|down| {
        let from = down.interval.from;
        let to = down.interval.arrived.unwrap_or(down.interval.to);
        2.0 * to.min(outage.until()).seconds_since(from.max(outage.start)) > outage.seconds
    })
}

fn failed_for_good(analysis: &Analysis, tunnel: usize) -> Option<&Attempt> {
    let own: Vec<&Attempt> = analysis.attempts_of(tunnel).collect();
    let last = own.iter().rposition(|a| a.outcome.succeeded());
    let mut since = own.into_iter().skip(last.map_or(0, |last| last + 1));
    since.find(|a| a.outcome.failed())
}

/// A renewal that failed for good, and shows no outage.
#[derive(Debug, Clone)]
pub struct ToldRenewal<'a> {
    /// The attempt.
    pub attempt: &'a Attempt,
    /// The row that holds for it.
    pub explanation: Explanation,
    /// The end of the old SA that came after the request: a Delete, a limit, or ESP of one side that stops while its IKE comes.
    pub ended: Option<Timestamp>,
}

/// The failed renewal of the tunnel of the headline, where that says so; of a document without a verdict, the first one.
pub fn told_failed_renewal(analysis: &Analysis) -> Option<ToldRenewal<'_>> {
    let renewal = |tunnel: usize| match failure(analysis, tunnel) {
        Some(Failure::Renewal(attempt)) => Some(attempt),
        _ => None,
    };
    let attempt = match analysis.impact.first() {
        Some(headline) => renewal(headline.tunnel).filter(|_| headline.verdict == Verdict::Failed),
        None => analysis.tunnels.iter().find_map(|tunnel| renewal(tunnel.id)),
    }?;
    let events = || analysis.events_of(attempt.tunnel);
    let ends = events().filter(|event| match event.kind {
        EventKind::ChildDeleted => event.successor != Some(true),
        EventKind::LimitReached | EventKind::EspSilent => true,
        _ => false,
    });
    let times = ends.map(|event| event.time);
    let alike = |a: &&Attempt| (a.tunnel, a.outcome) == (attempt.tunnel, attempt.outcome);
    let (cause, count) = match (attempt.outcome, attempt.reason.as_deref()) {
        (AttemptOutcome::Refused, _) => {
            let count = analysis.attempts.iter().filter(alike).count();
            (ExplanationCause::Refused, count as u64)
        }
        (_, Some("peer_silent")) => (ExplanationCause::PeerSilent, attempt.transmissions),
        _ => (ExplanationCause::Unanswered, attempt.transmissions),
    };
    let refusal = events().find(|e| e.kind == EventKind::Refused && e.exchange == attempt.exchange);
    let tunnel = analysis.tunnels.get(attempt.tunnel)?;
    let mut both = [tunnel.a, tunnel.b].into_iter();
    Some(ToldRenewal {
        attempt,
        explanation: Explanation {
            by: both.find(|end| Some(*end) != attempt.initiator),
            event: refusal.map(|event| event.index),
            frames: Vec::from_iter(attempt.evidence_frames.iter().copied().take(MOST_FRAMES)),
            count: Some(count),
            ..Explanation::of(cause, Certainty::Proven)
        },
        ended: times.filter(|time| *time > attempt.first_time).min(),
    })
}

/// The verdicts of a document with those of the tunnels that failed first, then the transfer that suffers most, and one that lost most of its time.
pub fn failures_first(analysis: &Analysis) -> Vec<Impact> {
    let mut impact = analysis.impact.clone();
    for tunnel in &analysis.tunnels {
        let Some(failure) = failure(analysis, tunnel.id) else {
            continue;
        };
        let own = |i: &&mut Impact| match failure {
            Failure::Outage(outage) => (i.tunnel, i.direction) == (outage.tunnel, outage.direction),
            Failure::Renewal(attempt) => i.tunnel == attempt.tunnel,
        };
        let Some(failed) = impact.iter_mut().find(own) else {
            continue;
        };
        failed.verdict = Verdict::Failed;
        let mut attempts = analysis.attempts_of(tunnel.id);
        if attempts.any(|a| a.rekey.is_some() && a.outage.is_some()) {
            // An all-clear of rekeys would be false where one of them is the outage.
            let mut messages = std::mem::take(&mut failed.messages);
            messages.retain(|said: &Message| !is_all_clear(said));
            let said = Said::from(messages);
            (failed.sentence, failed.messages) = (said.sentence, said.messages);
        }
    }
    let losses = losses(analysis, &impact);
    let mut in_order: Vec<(f64, Impact)> = losses.into_iter().zip(impact).collect();
    in_order.sort_by(|(a_lost, a), (b_lost, b)| {
        let failed = |i: &Impact| i.verdict == Verdict::Failed;
        let leads = |i: &Impact| leading_loss(analysis, i).is_some();
        let by_loss = b_lost.total_cmp(a_lost).then_with(|| leads(b).cmp(&leads(a)));
        failed(b).cmp(&failed(a)).then(by_loss)
    });
    in_order.into_iter().map(|(_, impact)| impact).collect()
}

/// Seconds that each direction lost to rekeys and failures, where they are a share of its time that a sentence names, or rekeys stopped it for
/// longer than the other direction. Of a tunnel's two directions, busiest first, only the first one with such a loss counts: answers stop with
/// the data that they answer.
fn losses(analysis: &Analysis, impact: &[Impact]) -> Vec<f64> {
    let mut counted: Vec<usize> = Vec::new();
    let mut lost = |i: &Impact| {
        let ledger = analysis.ledger_of(i.tunnel, i.direction)?;
        let stood = |l: &Ledger| l.rekeys.iter().map(|own| own.silence_ms).sum::<f64>();
        let other = analysis.ledger_of(i.tunnel, i.direction.reverse());
        let stood_longer = other.is_some_and(|other| stood(ledger) > stood(other));
        let lost = named_loss(ledger).or_else(|| stood_longer.then_some(ledger.cost_seconds))?;
        (!counted.contains(&i.tunnel)).then(|| {
            counted.push(i.tunnel);
            lost
        })
    };
    impact.iter().map(|i| lost(i).unwrap_or(0.0)).collect()
}

#[cfg(test)]
mod tests;

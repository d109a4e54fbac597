//! Input of the ledger of one direction: knowledge of its tunnel, as [`rekeyscope_impact::ledger`] wants it.

use crate::assembly::children::Known;
use crate::assembly::limits::EnforcedLimits;
use crate::pipeline::record::Record;
use rekeyscope_impact::explain::{REFUSAL_TAKES_EFFECT, is_cost_of_renewal, names_renewal};
use rekeyscope_impact::ledger::{FailedSpan, LedgerBook, OwnedInterval, Owner, RekeySpan};
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_ipsec::sa::volume::{self, volume_sent};
use rekeyscope_model::analysis::{
    Attempt, AttemptOutcome, ExplanationCause, Ledger, LedgerBasis, LedgerDown, LedgerInterval, LedgerRekey,
    LedgerSlow,
};
use rekeyscope_model::time::{Timestamp, millis, seconds};
use rekeyscope_traffic::{Interval, TransmissionRun};

/// Bytes a second in a megabit a second.
const MBPS: f64 = 1e6 / 8.0;

/// Rekeys, failures and outages of one direction.
#[derive(Debug)]
pub(super) struct LedgerEvents {
    pub(super) rekeys: Vec<RekeySpan>,
    /// Rekeys that stand for no event of their own: the other one of two that collided does.
    pub(super) collided: Vec<usize>,
    pub(super) failed: Vec<FailedSpan>,
    pub(super) outages: Vec<Interval<usize>>,
    pub(super) holes: Vec<(Timestamp, Timestamp)>,
}

impl LedgerEvents {
    pub(super) fn of(side: Side, known: Known<'_>) -> Self {
        let (rekeys, collided) = rekeys(side, known);
        LedgerEvents {
            rekeys,
            collided,
            failed: failed(side.0, known),
            outages: outages(side, known),
            holes: known.record.diagnosis.holes_of(side.0),
        }
    }
}

/// Times at which the volume of each old SA of a direction had run out, where its limit is enforced: datagrams beyond it do not arrive. An
/// SA is named by its index, as the reading names it.
pub(super) fn beyond_volume((tunnel, direction): Side, known: Known<'_>) -> Vec<(u32, Timestamp)> {
    let (record, limits) = (known.record, EnforcedLimits::of(known.record));
    if limits.are_acknowledged(tunnel, direction) {
        return Vec::new();
    }
    let successions = known.successions.iter().filter(|s| s.tunnel == tunnel);
    let beyond = |s: &Succession| {
        let sa = s.old[slot(direction)]?;
        let since = limits.passed(record.sas.associations().get(sa)?)?;
        Some((u32::try_from(sa).ok()?, since))
    };
    successions.filter_map(beyond).collect()
}

/// The part of runs within a transfer.
pub(super) fn within(runs: &mut Vec<TransmissionRun>, (from, to): (Timestamp, Timestamp)) {
    runs.retain(|run| run.from >= from && run.to <= to);
}

/// The renewals of a tunnel, as a direction sees them, and those of them that collided with another one.
fn rekeys((tunnel, direction): Side, known: Known<'_>) -> (Vec<RekeySpan>, Vec<usize>) {
    let own = slot(direction);
    let (record, deletes) = (known.record, known.record.deletes());
    let associations = record.sas.associations();
    let stops = stopped_by_renewals((tunnel, direction), known);
    let span = |(rekey, s): (usize, &Succession)| {
        let switched = s.switched.iter().flatten().min().copied();
        let asked = s.started.or(s.first_message).or(switched)?;
        // An outage may show more than the messages: a limit that nobody could read, and that data stopped before somebody asked.
        let ends = |stop: &&(ExplanationCause, Timestamp, Timestamp)| {
            s.switched[own].is_some_and(|switched| stop.1 < switched && switched <= stop.2)
        };
        let stop = stops.iter().find(ends);
        let volume = match stop {
            Some((ExplanationCause::LimitReached, ..)) => Some(1.0),
            _ => s.old[own].and_then(|sa| volume_sent(&associations[sa])?.share()),
        };
        // An old SA that reached its limit drops what comes after, whether or not somebody has asked by then.
        let early = expired(record, s)
            .into_iter()
            .chain(switched)
            .chain(stop.map(|stop| stop.1))
            .min();
        let old = s.old.iter().flatten().map(|&sa| &associations[sa]);
        let deleted = old.filter_map(|sa| deletes.get(&(sa.dst, sa.spi)).map(|own| own.0));
        Some(RekeySpan {
            rekey,
            asked: early.map_or(asked, |early| asked.min(early)),
            last_message: s.finished.unwrap_or(asked),
            first_on_new: [s.switched[own], s.switched[1 - own]],
            last_on_old: s.left[own],
            deleted: deleted.min(),
            volume,
        })
    };
    let numbered = known.successions.iter().enumerate();
    let mut spans: Vec<RekeySpan> = numbered
        .filter(|(_, s)| s.tunnel == tunnel && known.lineage.is_none_or(|own| own.is_renewed_by(s)))
        .filter_map(span)
        .collect();
    spans.sort_by_key(|span| (span.asked, span.first_on_new.iter().flatten().max().copied()));
    let collided = join_collisions(&mut spans, known.successions);
    (spans, collided)
}

/// A pair of colliding exchanges is one event: the rekey that switched last stands for both. Returns the others.
fn join_collisions(spans: &mut Vec<RekeySpan>, successions: &[Succession]) -> Vec<usize> {
    let collide = |a: &RekeySpan, b: &RekeySpan| {
        let (a, b) = (&successions[a.rekey], &successions[b.rekey]);
        a.collision && b.collision && a.initiator != b.initiator && b.started <= a.finished
    };
    let switched = |span: &RekeySpan| span.first_on_new.iter().flatten().max().copied();
    let mut gone = Vec::new();
    let mut joined: Vec<RekeySpan> = Vec::with_capacity(spans.len());
    for span in spans.drain(..) {
        let Some(last) = joined.last_mut().filter(|last| collide(last, &span)) else {
            joined.push(span);
            continue;
        };
        let (stays, goes) = if switched(last) > switched(&span) {
            (*last, span)
        } else {
            (span, *last)
        };
        gone.push(goes.rekey);
        *last = RekeySpan {
            asked: stays.asked.min(goes.asked),
            last_message: stays.last_message.max(goes.last_message),
            ..stays
        };
    }
    *spans = joined;
    gone.sort_unstable();
    gone
}

/// Time at which the first of the old SAs expired.
fn expired(record: &Record, succession: &Succession) -> Option<Timestamp> {
    let associations = record.sas.associations();
    let old = succession.old.iter().flatten();
    old.filter_map(|&sa| volume::expired(&associations[sa])).min()
}

/// Failed requests of a tunnel. A rekey that nobody asked for in time came too late, or an outage says so. One that was refused and granted as
/// soon as the same side asked again is a part of that rekey.
fn failed(tunnel: TunnelIndex, known: Known<'_>) -> Vec<FailedSpan> {
    let begins = new_sas(known.record, tunnel);
    let next = |from: Timestamp| begins.get(begins.partition_point(|at| *at <= from)).copied();
    let all = || known.attempts_of(tunnel);
    let asked_again = |attempt: &Attempt| {
        let mut later =
            all().filter(|a| a.first_time >= attempt.last_time && a.initiator == attempt.initiator);
        later.next().is_some_and(|next| {
            next.outcome == AttemptOutcome::Completed
                && next.first_time.nanos_since(attempt.last_time) <= REFUSAL_TAKES_EFFECT
        })
    };
    let own = all().filter(|a| match a.outcome {
        AttemptOutcome::Refused => !asked_again(a),
        outcome => outcome == AttemptOutcome::Unanswered,
    });
    let mut spans: Vec<FailedSpan> = own
        .map(|attempt| FailedSpan {
            attempt: attempt.index,
            from: attempt.first_time,
            to: next(attempt.first_time),
        })
        .collect();
    spans.sort_by_key(|span| span.from);
    spans
}

/// Outages of a direction that the SAs or messages of a renewal explain, and which it ended: cause, begin and end.
fn stopped_by_renewals(side: Side, known: Known<'_>) -> Vec<(ExplanationCause, Timestamp, Timestamp)> {
    let costs = known
        .outages_of(side)
        .filter(|o| is_cost_of_renewal(o, known.attempts, known.rekeys));
    let told = costs.filter_map(|o| Some((o.explanation.as_ref()?.cause, o.start, o.end?)));
    told.filter(|(cause, ..)| names_renewal(*cause)).collect()
}

/// The outages of a direction that no renewal cost.
fn outages(side: Side, known: Known<'_>) -> Vec<Interval<usize>> {
    let ends = known.record.totals.last_time.unwrap_or_default();
    let own = known.outages_of(side);
    let own = own.filter(|o| !is_cost_of_renewal(o, known.attempts, known.rekeys));
    let mut spans: Vec<Interval<usize>> = own
        .map(|outage| Interval {
            from: outage.start,
            to: outage.end.unwrap_or(ends),
            facts: outage.index,
        })
        .collect();
    spans.sort_by_key(|span| span.from);
    spans
}

/// Times at which SAs of the tunnel carried their first packet, in order.
fn new_sas(record: &Record, tunnel: TunnelIndex) -> Vec<Timestamp> {
    let firsts = record.sas_of(tunnel).filter_map(|sa| sa.first);
    let mut times: Vec<Timestamp> = firsts.map(|first| first.0).collect();
    times.sort_unstable();
    times
}

/// The book as the document has it. `holes_s`: seconds of the transfer that the capture lacks.
pub(super) fn published(
    book: &LedgerBook,
    basis: LedgerBasis,
    (tunnel, direction): Side,
    holes_s: f64,
) -> Ledger {
    let cost = book.rekeys_nanos();
    let rekeys = book.rekeys.iter().map(|own| LedgerRekey {
        rekey: own.rekey,
        cost_seconds: seconds(own.nanos),
        low: seconds(own.range.0),
        high: seconds(own.range.1),
        silence_ms: millis(own.silence),
        swallowed: own.in_vain,
        r0_mbps: own.rate / MBPS,
        why: own.why,
        at_least: own.at_least,
        explanation: None,
        intervals: book
            .intervals
            .iter()
            .filter(|interval| interval.owner == Owner::Rekey(own.rekey))
            .map(interval)
            .collect(),
    });
    let rekeys: Vec<LedgerRekey> = rekeys.collect();
    let undisturbed = seconds(book.nanos - cost) - holes_s;
    Ledger {
        tunnel,
        direction,
        inner: None,
        basis,
        seconds: seconds(book.nanos),
        bytes: book.bytes,
        cost_seconds: seconds(cost),
        share: cost as f64 / book.nanos.max(1) as f64,
        without_mbps: if undisturbed > 0.0 {
            book.bytes as f64 / MBPS / undisturbed
        } else {
            0.0
        },
        at_least: rekeys.iter().any(|own| own.at_least),
        rekeys,
        down: book.intervals.iter().filter_map(down).collect(),
        slow: book.slow.as_ref().map(|slow| LedgerSlow {
            cost_seconds: seconds(slow.nanos),
            p: slow.p,
            rekeys: slow.rekeys.iter().map(|own| own.0).collect(),
            bound_ms: millis(slow.bound),
        }),
        bound_ms: book.bound().map(millis),
        not_observed: book.unobserved.clone(),
    }
}

fn down(own: &OwnedInterval) -> Option<LedgerDown> {
    let (attempt, rekey, outage) = match own.owner {
        Owner::Rekey(_) => return None,
        Owner::Attempt(attempt) => (Some(attempt), None, None),
        Owner::DownBefore(rekey) => (None, Some(rekey), None),
        Owner::Outage(outage) => (None, None, Some(outage)),
    };
    Some(LedgerDown {
        attempt,
        rekey,
        outage,
        cost_seconds: seconds(own.nanos),
        r0_mbps: own.rate / MBPS,
        at_least: own.at_least,
        swallowed: own.in_vain,
        interval: interval(own),
    })
}

fn interval(own: &OwnedInterval) -> LedgerInterval {
    let frame = |frame: u64| (frame > 0).then_some(frame);
    LedgerInterval {
        from: own.from,
        arrived: own.arrived,
        to: own.to,
        from_frame: frame(own.frames.0),
        to_frame: frame(own.frames.1),
    }
}

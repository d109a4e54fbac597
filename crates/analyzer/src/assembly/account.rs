//! Knowledge of its tunnel that an account needs.

use crate::assembly::children::Known;
use crate::pipeline::record::Record;
use rekeyscope_impact::account::{Death, Surroundings};
use rekeyscope_impact::explain::{is_at_rest, row_of};
use rekeyscope_ipsec::rekey::attempt::FIRST_REPEAT_NANOS;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_ipsec::sa::whereabouts::ChangeKind;
use rekeyscope_model::analysis::{Attempt, AttemptOutcome, ExplanationCause, FlowTcp, Outage};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::ConnectionId;
use std::collections::HashMap;

/// What was measured of flows, by connection and position of the direction in a pair.
pub(crate) type MeasuredFlows = HashMap<(ConnectionId, usize), FlowTcp>;

/// Events around a direction that its account needs.
pub(super) fn surroundings(side: Side, known: Known<'_>) -> Surroundings {
    let record = known.record;
    let mut explained = known.outages_of(side).filter(|o| is_explained(o));
    let asked = first_asked(side, known);
    Surroundings {
        holes: record.diagnosis.holes_of(side.0),
        moves: moves(record, side.0),
        rests: known.rests.get(&side).cloned().unwrap_or_default(),
        died: died(known, side),
        first_asked: asked.filter(|asked| !explained.any(|outage| outage.start < *asked)),
        first_delivered: asked.and_then(|_| record.traffic.first_delivered(side)),
        left_open: left_open(side, known),
    }
}

/// Times at which an end of a tunnel came to another address. Another port may be the same network.
fn moves(record: &Record, tunnel: TunnelIndex) -> Vec<Timestamp> {
    let changes = record.tunnels.changes().iter();
    let own = changes.filter(|change| change.tunnel == tunnel && change.kind == ChangeKind::Address);
    own.map(|change| change.time).collect()
}

/// The requests in vain after the last renewal, and an outage that nothing ended.
fn died(known: Known<'_>, side: Side) -> Option<Death> {
    let attempts = || known.attempts_of(side.0);
    let renewed = attempts()
        .filter(|a| a.outcome == AttemptOutcome::Completed)
        .map(|a| a.last_time)
        .max();
    let vain = attempts().filter(|a| a.outcome.failed() && renewed.is_none_or(|t| a.last_time > t));
    let is_open = |o: &&Outage| o.end.is_none() && !o.explanation.as_ref().is_some_and(is_at_rest);
    let open = known.outages_of(side).filter(is_open).map(|o| (o.start, o.start));
    let spans: Vec<(Timestamp, Timestamp)> = vain.map(|a| (a.first_time, a.last_time)).chain(open).collect();
    Some(Death {
        from: spans.iter().map(|s| s.0).min()?,
        last_asked: spans.iter().map(|s| s.1).max()?,
        ends: known.record.totals.last_time.unwrap_or_default(),
    })
}

/// Waits between copies of a request grow by no more than this (strongSwan: 1.8; others double them).
const GROWING: i64 = 2;

/// The first request for an SA, where the first one in use was negotiated before the capture; its end where nobody asks. What was
/// asked before, its limit, and what it had carried, is not known.
pub(super) fn first_asked((tunnel, direction): Side, known: Known<'_>) -> Option<Timestamp> {
    let record = known.record;
    let own = record.sas_of(tunnel).filter(|a| a.direction == direction);
    let first = own.filter(|a| a.first.is_some()).min_by_key(|a| a.first)?;
    let asked = known.attempts_of(tunnel);
    // Every SA begins at 1 (RFC 4303 §3.3.3), which says enough where no request was to be seen.
    let is_whole = first.sequence.missing_at_start() == 0 && asked.clone().next().is_none();
    if first.exchange.is_some() || is_whole {
        return None;
    }
    let switched = known.successions.iter().filter(|s| s.tunnel == tunnel);
    let without_ike = switched.filter_map(|s| s.switched[slot(direction)]);
    asked
        .map(|a| a.first_time)
        .chain(without_ike)
        .min()
        .or(record.totals.last_time)
}

/// From when on nothing is delivered up to the end of the capture, where nothing in it says that this is for good.
pub(super) fn left_open(side: Side, known: Known<'_>) -> Option<Timestamp> {
    let ends = known.record.totals.last_time?;
    let Some(outage) = known.outages_of(side).find(|o| o.end.is_none()) else {
        return known.record.traffic.open_since(side, ends);
    };
    let is_of_it = |a: &&Attempt| a.outage.as_ref().is_some_and(|o| o.index == outage.index);
    let mut attempts = known.attempts.iter().filter(is_of_it);
    (!is_explained(outage) && !attempts.any(|a| is_over(a, ends))).then_some(outage.start)
}

/// The packets show why nothing passed, so nothing outside of the capture decides it. A request that is out may still be answered, and a side
/// that is silent may come back with a renewal.
fn is_explained(outage: &Outage) -> bool {
    use ExplanationCause::{
        AddressChanged, AnsweredElsewhere, Deleted, InvalidSpi, OneSided, PeerRestarted, Refused,
    };
    let decided = [
        AddressChanged,
        AnsweredElsewhere,
        Deleted,
        InvalidSpi,
        OneSided,
        PeerRestarted,
        Refused,
    ];
    let cause = outage.explanation.as_ref().map(|e| e.cause);
    cause.is_some_and(|cause| decided.contains(&cause) || row_of(cause).lets_small_pass)
}

/// Whatever comes after the capture, it was in vain.
fn is_over(attempt: &Attempt, ends: Timestamp) -> bool {
    let due = match attempt.requests[..] {
        [.., before, last] => GROWING * last.nanos_since(before),
        _ => FIRST_REPEAT_NANOS,
    };
    match attempt.outcome {
        AttemptOutcome::Unanswered => ends.nanos_since(attempt.last_time) > due,
        outcome => outcome.failed(),
    }
}

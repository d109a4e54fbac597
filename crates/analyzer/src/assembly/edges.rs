//! What of a tunnel's outages lies outside the capture.

use crate::assembly::known::Known;
use crate::pipeline::record::Record;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Attempt, AttemptOutcome, Direction};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// A single copy of a request is repeated within this (racoon after 10 s, strongSwan after 4 s, Windows after 1 s).
const FIRST_REPEAT: i64 = 10 * NANOS_PER_SECOND;
/// Waits between copies of a request grow by no more than this (strongSwan: 1.8; others double them).
const GROWING: i64 = 2;

/// The first request for an SA, where the first one in use was negotiated before the capture; its end where nobody asks. What was
/// asked before, its limit, and what it had carried, is not known.
pub(super) fn first_asked(
    record: &Record,
    (tunnel, direction): (TunnelIndex, Direction),
    known: Known<'_>,
) -> Option<Timestamp> {
    let associations = record.sas.associations();
    let own = record.sas.of_tunnel(tunnel).iter().map(|&sa| &associations[sa]);
    let used = own.filter(|a| a.direction == direction && a.first.is_some());
    let first: &Association = used.min_by_key(|a| a.first)?;
    let attempts = known.attempts.iter();
    let asked = attempts.filter(|a| a.tunnel == tunnel && a.exchange.is_some());
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
pub(super) fn left_open(
    record: &Record,
    (tunnel, direction): (TunnelIndex, Direction),
    known: Known<'_>,
) -> Option<Timestamp> {
    let ends = record.totals.last_time?;
    let published = record.tunnels.tunnels[tunnel].published(direction);
    let mut open = known.outages.iter().filter(|o| o.end.is_none());
    let Some(outage) = open.find(|o| (o.tunnel, o.direction) == (tunnel, published)) else {
        return record.traffic.open_since((tunnel, direction), ends);
    };
    let is_of_it = |a: &&Attempt| a.outage.as_ref().is_some_and(|o| o.index == outage.index);
    let mut attempts = known.attempts.iter().filter(is_of_it);
    (!attempts.any(|a| is_over(a, ends))).then_some(outage.start)
}

/// Whatever comes after the capture, it was in vain.
fn is_over(attempt: &Attempt, ends: Timestamp) -> bool {
    let due = match attempt.requests[..] {
        [.., before, last] => GROWING * last.nanos_since(before),
        _ => FIRST_REPEAT,
    };
    match attempt.outcome {
        AttemptOutcome::Unanswered => ends.nanos_since(attempt.last_time) > due,
        outcome => outcome.failed(),
    }
}

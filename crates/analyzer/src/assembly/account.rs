//! Knowledge of its tunnel that an account needs.

use crate::assembly::edges;
use crate::assembly::known::Known;
use crate::pipeline::record::Record;
use rekeyscope_impact::account::{Death, Surroundings};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{AttemptOutcome, Direction, FlowTcp, Outage};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::ConnectionId;
use std::collections::HashMap;

/// What was measured of flows, by connection and position of the direction in a pair.
pub(crate) type MeasuredFlows = HashMap<(ConnectionId, usize), FlowTcp>;

/// Events around a direction that its account needs.
pub(super) fn surroundings(
    record: &Record,
    (tunnel, direction): (TunnelIndex, Direction),
    known: Known<'_>,
) -> Surroundings {
    let published = record.tunnels.tunnels[tunnel].published(direction);
    let ends = record.totals.last_time.unwrap_or_default();
    let first_asked = edges::first_asked(record, (tunnel, direction), known);
    Surroundings {
        holes: record.diagnosis.holes(tunnel).map(|h| (h.from, h.to)).collect(),
        rests: known.rests.get(&(tunnel, direction)).cloned().unwrap_or_default(),
        died: died(known, (tunnel, published), ends),
        first_asked,
        first_delivered: first_asked.and_then(|_| record.traffic.first_delivered((tunnel, direction))),
        left_open: edges::left_open(record, (tunnel, direction), known),
    }
}

/// The requests in vain after the last renewal, and an outage that nothing ended.
fn died(known: Known<'_>, (tunnel, published): (TunnelIndex, Direction), ends: Timestamp) -> Option<Death> {
    let attempts = || known.attempts.iter().filter(|a| a.tunnel == tunnel);
    let renewed = attempts()
        .filter(|a| a.outcome == AttemptOutcome::Completed)
        .map(|a| a.last_time)
        .max();
    let vain = attempts().filter(|a| a.outcome.failed() && renewed.is_none_or(|t| a.last_time > t));
    let own = |o: &&Outage| (o.tunnel, o.direction) == (tunnel, published) && o.end.is_none();
    let open = known.outages.iter().filter(own).map(|o| (o.start, o.start));
    let spans: Vec<(Timestamp, Timestamp)> = vain.map(|a| (a.first_time, a.last_time)).chain(open).collect();
    Some(Death {
        from: spans.iter().map(|s| s.0).min()?,
        last_asked: spans.iter().map(|s| s.1).max()?,
        ends,
    })
}

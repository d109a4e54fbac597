//! All events of a capture.

use crate::events::sources::EventSources;
use crate::events::{
    checks, collisions, deletes, fragments, ike_sas, inner_control, moves, one_sided, other_tunnels,
    reconnections, requests, sas, silences, standing, turns, unreachable,
};
use rekeyscope_model::analysis::{Certainty, Event, EventKind, MOST_EVENTS};

/// The events of a capture in order of time. Their exchanges are those of the timeline, their tunnels those of the table.
#[derive(Debug, Default)]
pub(crate) struct EventList {
    pub(crate) events: Vec<Event>,
    /// Events beyond [`MOST_EVENTS`].
    pub(crate) left_out: u64,
}

/// Makes the list.
pub(crate) fn events(sources: &EventSources<'_>) -> EventList {
    let record = sources.record;
    let ends = record.totals.last_time.unwrap_or_default();
    let standing = standing::standing(sources);
    let deletes = deletes::of(sources, &standing);
    let mut events = ike_sas::of(sources, &standing, &deletes);
    events.extend(one_sided::of(sources, &deletes));
    events.extend(turns::of(sources));
    events.extend(deletes.into_iter().map(|seen| seen.event));
    events.extend(requests::of(sources));
    events.extend(collisions::of(sources));
    events.extend(checks::of(sources));
    events.extend(moves::moves(record));
    events.extend(reconnections::events(record));
    let gone = other_tunnels::of(sources, &events, ends);
    events.extend(gone);
    events.extend(fragments::of(sources, ends));
    events.extend(inner_control::of(sources, ends));
    events.extend(sas::of(sources));
    events.extend(silences::of(sources, ends));
    events.extend(unreachable::of(sources));
    let ended = |&(time, frame)| Event::at(EventKind::PppoeEnded, Certainty::Read, time, frame);
    events.extend(record.pppoe_ended.iter().map(ended));
    events.retain(|e| e.tunnel.is_none_or(|tunnel| record.wants(tunnel)));
    events.sort_by_key(|e| (e.time, e.frame, e.kind, e.tunnel));
    let left_out = events.len().saturating_sub(MOST_EVENTS);
    events.truncate(MOST_EVENTS);
    for (index, event) in events.iter_mut().enumerate() {
        event.index = index;
    }
    let not_kept = record.control.left_out() + record.icmp.left_out();
    EventList {
        events,
        left_out: left_out as u64 + not_kept,
    }
}

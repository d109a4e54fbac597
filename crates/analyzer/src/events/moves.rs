//! Ends of tunnels that have another address, or another port.

use crate::pipeline::record::Record;
use rekeyscope_ipsec::sa::whereabouts::{ChangeKind, TunnelChange};
use rekeyscope_model::analysis::{Certainty, Event, EventKind};

/// The changes of the chosen tunnels, in the order of the capture. Headers in clear show them.
pub(crate) fn moves(record: &Record) -> Vec<Event> {
    let changes = record.tunnels.changes().iter();
    changes
        .filter(|change| record.wants(change.tunnel))
        .map(|change| event(record, change))
        .collect()
}

fn event(record: &Record, change: &TunnelChange) -> Event {
    let kind = match change.kind {
        ChangeKind::Address => EventKind::AddressChanged,
        ChangeKind::Port => EventKind::PortChanged,
    };
    let tunnel = &record.tunnels.tunnels[change.tunnel];
    Event {
        tunnel: Some(change.tunnel),
        by: Some(tunnel.ends[change.end]),
        from: Some(change.from.to_string()),
        to: Some(change.to.to_string()),
        ..Event::at(kind, Certainty::Read, change.time, change.frame)
    }
}

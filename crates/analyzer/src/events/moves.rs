//! Ends of tunnels that have another address, or another port.

use crate::pipeline::record::Record;
use rekeyscope_ipsec::sa::whereabouts::{ChangeKind, TunnelChange};
use rekeyscope_model::analysis::{Certainty, Direction, Event, EventKind};

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
    // The peer sends to the old place until it learns of the new one.
    let until = change.followed.or(record.totals.last_time);
    let towards = if change.end == 0 {
        Direction::BToA
    } else {
        Direction::AToB
    };
    let meters = &record.meters;
    let sent = until.map(|until| meters.packets_within(change.tunnel, towards, (change.time, until)));
    Event {
        tunnel: Some(change.tunnel),
        by: Some(tunnel.ends[change.end]),
        until,
        count: sent.map(|packets| packets.round() as u64),
        from: Some(change.from.to_string()),
        to: Some(change.to.to_string()),
        ..Event::at(kind, Certainty::Read, change.time, change.frame)
    }
}

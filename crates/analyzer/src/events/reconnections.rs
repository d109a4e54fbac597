//! Clients that come back from another address with a new IKE SA, as after a nightly reconnect: the same inner addresses show who it is.

use crate::pipeline::record::Record;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Direction, Event, EventKind};
use rekeyscope_model::time::Timestamp;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// A tunnel that goes on as another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reconnection {
    pub(crate) old: TunnelIndex,
    pub(crate) new: TunnelIndex,
    /// Addresses of the client.
    from: IpAddr,
    to: IpAddr,
    /// Internal directions of the client's packets, before and after.
    pub(crate) from_client: (Direction, Direction),
    /// The first message of the client at its new address.
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
}

/// A tunnel as its SAs and exchanges show it.
struct SeenTunnel {
    tunnel: TunnelIndex,
    gateway: IpAddr,
    client: IpAddr,
    from_client: Direction,
    /// First packet or message, and the last one of the client.
    begins: (Timestamp, u64),
    client_last: Timestamp,
    /// Inner addresses, the lower one first.
    inner: BTreeSet<(IpAddr, IpAddr)>,
}

/// The reconnections, in the order of the new tunnels. The client had fallen silent at its old address, where keys open packets of both.
pub(crate) fn reconnections(record: &Record) -> Vec<Reconnection> {
    let seen: Vec<SeenTunnel> = (0..record.tunnels.tunnels.len())
        .filter_map(|tunnel| look(record, tunnel))
        .collect();
    let before = |new: &SeenTunnel| {
        let olds = seen.iter().filter(|old| {
            (old.gateway, old.client != new.client) == (new.gateway, true)
                && old.begins.0 < new.begins.0
                && old.client_last < new.begins.0
                && !old.inner.is_disjoint(&new.inner)
        });
        let old = olds.max_by_key(|old| old.client_last)?;
        Some(Reconnection {
            old: old.tunnel,
            new: new.tunnel,
            from: old.client,
            to: new.client,
            from_client: (old.from_client, new.from_client),
            time: new.begins.0,
            frame: new.begins.1,
        })
    };
    seen.iter().filter_map(before).collect()
}

fn look(record: &Record, tunnel: TunnelIndex) -> Option<SeenTunnel> {
    let table = &record.tunnels.tunnels[tunnel];
    let from_client = table.published(Direction::AToB);
    let client = table.ends[slot(from_client)];
    let own = || record.sas.associations().iter().filter(|sa| sa.tunnel == tunnel);
    let exchanges = record.timeline.exchanges().iter().zip(&record.exchange_tunnels);
    let messages = || {
        let own = exchanges.clone().filter(|(_, of)| **of == Some(tunnel));
        own.flat_map(|(exchange, _)| &exchange.records)
    };
    let first_message = messages().map(|message| (message.time, message.frame)).min();
    let last_packet = own()
        .filter(|sa| sa.direction == from_client)
        .filter_map(|sa| sa.last);
    let last_message = messages().filter(|message| message.src == client);
    let last = last_packet.map(|(time, _)| time);
    Some(SeenTunnel {
        tunnel,
        gateway: table.ends[slot(from_client.reverse())],
        client,
        from_client,
        begins: own().filter_map(|sa| sa.first).chain(first_message).min()?,
        client_last: last.chain(last_message.map(|message| message.time)).max()?,
        inner: own()
            .flat_map(|sa| sa.inner_ends())
            .map(|&(src, dst)| (src.min(dst), src.max(dst)))
            .collect(),
    })
}

/// The changes of address that they are, on the tunnels that went on as others.
pub(super) fn events(record: &Record) -> impl Iterator<Item = Event> {
    reconnections(record).into_iter().map(|own| Event {
        tunnel: Some(own.old),
        by: Some(own.from),
        from: Some(own.from.to_string()),
        to: Some(own.to.to_string()),
        ..Event::at(EventKind::AddressChanged, Certainty::Proven, own.time, own.frame)
    })
}

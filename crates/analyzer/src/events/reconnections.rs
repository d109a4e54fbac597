//! Clients that come back from another address with a new IKE SA, as after a nightly reconnect: the same inner addresses show who it is, or, where no
//! key shows these, the end of the session of their access line, or that a gateway has no other peer.

use crate::pipeline::record::Record;
use foldhash::HashMap;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Direction, Event, EventKind};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{INITIAL_RTO, LEAST_TIMEOUT};
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
    known: Certainty,
}

/// A tunnel as its SAs and exchanges show it.
#[derive(Debug)]
struct SeenTunnel {
    tunnel: TunnelIndex,
    gateway: IpAddr,
    client: IpAddr,
    from_client: Direction,
    /// The first packet or message.
    begins: Option<(Timestamp, u64)>,
    /// The last packet or message of the client.
    client_last: Option<Timestamp>,
    /// Inner addresses, the lower one first.
    inner: BTreeSet<(IpAddr, IpAddr)>,
}

impl SeenTunnel {
    fn take(&mut self, first: (Timestamp, u64), last_of_client: Option<Timestamp>) {
        self.begins = Some(self.begins.map_or(first, |begins| begins.min(first)));
        self.client_last = self.client_last.max(last_of_client);
    }
}

/// The reconnections, in the order of the new tunnels. The client had fallen silent at its old address, where keys open packets of both.
pub(crate) fn reconnections(record: &Record) -> Vec<Reconnection> {
    let seen = seen(record);
    let mut by_inner: HashMap<(IpAddr, (IpAddr, IpAddr)), Vec<&SeenTunnel>> = HashMap::default();
    for own in &seen {
        for pair in &own.inner {
            by_inner.entry((own.gateway, *pair)).or_default().push(own);
        }
    }
    let before = |new: &SeenTunnel| {
        let begins = new.begins?;
        let same = new
            .inner
            .iter()
            .filter_map(|pair| by_inner.get(&(new.gateway, *pair)));
        let olds = same.flatten().filter(|old| {
            old.client != new.client
                && old.begins.is_some_and(|first| first < begins)
                && old.client_last.is_some_and(|last| last < begins.0)
        });
        let proven = olds.copied().max_by_key(|old| old.client_last);
        let (old, known) = match proven {
            Some(old) => (old, Certainty::Proven),
            None => {
                let old = of_one_line(record, &seen, new).or_else(|| of_one_peer(record, &seen, new));
                (old?, Certainty::Inferred)
            }
        };
        Some(Reconnection {
            old: old.tunnel,
            new: new.tunnel,
            from: old.client,
            to: new.client,
            from_client: (old.from_client, new.from_client),
            time: begins.0,
            frame: begins.1,
            known,
        })
    };
    seen.iter().filter_map(before).collect()
}

/// The tunnel that a new one without inner addresses goes on: the session of the access line ended between them, and nobody else goes on behind that
/// or comes back.
fn of_one_line<'a>(record: &Record, seen: &'a [SeenTunnel], new: &SeenTunnel) -> Option<&'a SeenTunnel> {
    let begins = new.begins?;
    let ends = &record.pppoe_ended;
    let place = ends.partition_point(|end| *end < begins);
    let end = *ends.get(place.checked_sub(1)?)?;
    let next = ends.get(place).copied();
    let all = seen
        .iter()
        .filter(|own| own.gateway == new.gateway && own.inner.is_empty());
    let (olds, news): (Vec<_>, Vec<_>) = all.partition(|own| own.begins < Some(end));
    let came_back = |own: &&&SeenTunnel| next.is_none_or(|next| own.begins < Some(next));
    let last = olds.into_iter().max_by_key(|old| old.client_last)?;
    let alone = news.iter().filter(came_back).all(|own| own.tunnel == new.tunnel);
    // Packets that were on their way come behind the end.
    let silent = last.client_last < Some(end.0.plus_nanos(LEAST_TIMEOUT).min(begins.0));
    (alone && silent && new.inner.is_empty() && last.client != new.client).then_some(last)
}

/// The only other tunnel of a gateway, where keys show the inner addresses of neither: its client fell silent, and the gateway sent to it in vain for
/// longer than a sender waits for an answer at first.
fn of_one_peer<'a>(record: &Record, seen: &'a [SeenTunnel], new: &SeenTunnel) -> Option<&'a SeenTunnel> {
    let last_esp = |own: &SeenTunnel, way: Direction| record.traffic.last_esp((own.tunnel, way));
    let is_used = |own: &&SeenTunnel| last_esp(own, own.from_client).is_some();
    let mut others = seen.iter().filter(|own| {
        // A tunnel without IKE does not always show which end is its client.
        [own.gateway, own.client].contains(&new.gateway) && own.tunnel != new.tunnel && is_used(own)
    });
    let old = others
        .next()
        .filter(|old| old.gateway == new.gateway && others.next().is_none())?;
    let silent = old
        .client_last
        .filter(|last| Some(*last) < new.begins.map(|begins| begins.0))?;
    let sent = last_esp(old, old.from_client.reverse())?;
    let unread = old.inner.is_empty() && new.inner.is_empty() && is_used(&new);
    (unread && old.client != new.client && sent.nanos_since(silent) > INITIAL_RTO).then_some(old)
}

fn seen(record: &Record) -> Vec<SeenTunnel> {
    let tunnels = record.tunnels.tunnels.iter().enumerate();
    let empty = tunnels.map(|(tunnel, table)| {
        let from_client = table.published(Direction::AToB);
        SeenTunnel {
            tunnel,
            gateway: table.ends[slot(from_client.reverse())],
            client: table.ends[slot(from_client)],
            from_client,
            begins: None,
            client_last: None,
            inner: BTreeSet::new(),
        }
    });
    let mut seen: Vec<SeenTunnel> = empty.collect();
    for sa in record.sas.associations() {
        let own = &mut seen[sa.tunnel];
        let ends = sa.inner_ends().iter();
        own.inner
            .extend(ends.map(|&(src, dst)| (src.min(dst), src.max(dst))));
        let last = sa.last.filter(|_| sa.direction == own.from_client);
        if let Some(first) = sa.first {
            own.take(first, last.map(|(time, _)| time));
        }
    }
    for (tunnel, exchange) in record.exchanges() {
        let own = &mut seen[tunnel];
        for message in &exchange.records {
            let of_client = (message.src == own.client).then_some(message.time);
            own.take((message.time, message.frame), of_client);
        }
    }
    seen
}

/// The changes of address that they are, on the tunnels that went on as others.
pub(super) fn events(record: &Record) -> impl Iterator<Item = Event> {
    reconnections(record).into_iter().map(|own| Event {
        tunnel: Some(own.old),
        by: Some(own.from),
        from: Some(own.from.to_string()),
        to: Some(own.to.to_string()),
        ..Event::at(EventKind::AddressChanged, own.known, own.time, own.frame)
    })
}

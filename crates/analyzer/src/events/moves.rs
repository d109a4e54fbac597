//! Ends of tunnels that have another address, or another port, or send from another address than the one that is asked.

use crate::pipeline::record::Record;
use rekeyscope_ipsec::ike::exchange::Exchange;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_ipsec::sa::whereabouts::{ChangeKind, OuterPlace, TunnelChange};
use rekeyscope_model::analysis::{Certainty, Direction, Event, EventKind};
use rekeyscope_model::time::Timestamp;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// The changes, in the order of the capture, and the tunnels in two halves. Headers in clear show them.
pub(super) fn moves(record: &Record) -> Vec<Event> {
    let exchanges = exchanges(record);
    let changes = record.tunnels.changes().iter();
    let moved = changes.map(|change| event(record, &exchanges, change));
    moved.chain(halves(record, &exchanges)).collect()
}

/// The IKE exchanges of each tunnel.
type Exchanges<'a> = HashMap<TunnelIndex, Vec<&'a Exchange>>;

fn exchanges(record: &Record) -> Exchanges<'_> {
    let mut all = Exchanges::new();
    for (tunnel, exchange) in record.exchanges() {
        all.entry(tunnel).or_default().push(exchange);
    }
    all
}

fn event(record: &Record, exchanges: &Exchanges<'_>, change: &TunnelChange) -> Event {
    let kind = match change.kind {
        ChangeKind::Source if change.followed.is_none() => EventKind::AnsweredElsewhere,
        ChangeKind::Address | ChangeKind::Source => EventKind::AddressChanged,
        ChangeKind::Port => EventKind::PortChanged,
    };
    let tunnel = &record.tunnels.tunnels[change.tunnel];
    // The peer sends to the old place until it learns of the new one, or the end comes back.
    let mut later = record
        .tunnels
        .changes()
        .iter()
        .filter(|later| later.time > change.time);
    let next = later.find(|later| (later.tunnel, later.end) == (change.tunnel, change.end));
    let until = change
        .followed
        .or(next.map(|next| next.time))
        .or(record.totals.last_time);
    let towards = if change.end == 0 {
        Direction::BToA
    } else {
        Direction::AToB
    };
    let meters = &record.meters;
    let sent = until.map(|until| meters.packets_within(change.tunnel, towards, (change.time, until)));
    // A set-up has messages of IKE alone.
    let asks = match kind {
        EventKind::AnsweredElsewhere => messages(exchanges, change.tunnel)
            .filter(|(src, time)| *src == tunnel.ends[1 - change.end] && *time >= change.time)
            .count() as u64,
        _ => 0,
    };
    // Ports say nothing of where a packet was routed.
    let place = |place: OuterPlace| match kind {
        EventKind::AnsweredElsewhere => place.address.to_string(),
        _ => place.to_string(),
    };
    Event {
        tunnel: Some(change.tunnel),
        by: Some(tunnel.ends[change.end]),
        until,
        count: sent.map(|packets| packets.round() as u64 + asks),
        from: Some(place(change.from)),
        to: Some(place(change.to)),
        ..Event::at(kind, Certainty::Read, change.time, change.frame)
    }
}

/// IKE messages of a tunnel: sender and time.
fn messages(exchanges: &Exchanges<'_>, tunnel: TunnelIndex) -> impl Iterator<Item = (IpAddr, Timestamp)> {
    let own = exchanges.get(&tunnel).into_iter().flatten();
    own.flat_map(|exchange| exchange.records.iter().map(|message| (message.src, message.time)))
}

/// A tunnel with ESP of one way alone.
struct OneWay<'a> {
    tunnel: TunnelIndex,
    first: &'a Association,
    last: Timestamp,
    /// The place of its sender.
    from: Option<OuterPlace>,
    /// The place that it goes to.
    to: Option<OuterPlace>,
    /// Senders of its IKE messages.
    speak: HashSet<IpAddr>,
}

impl OneWay<'_> {
    /// Tells whether another half, whose packets go to the sender of these, is the way back of this one. Keys show that the same addresses are inside;
    /// else IKE of both ways, and none of the other half, shows that one is missing here.
    fn is_answered_by(&self, other: &OneWay<'_>) -> bool {
        let is_read = [self, other]
            .iter()
            .all(|half| !half.first.inner_ends().is_empty());
        let fits = match is_read {
            true => other.first.answers(self.first),
            false => [self.first.src, self.first.dst]
                .iter()
                .all(|end| self.speak.contains(end)),
        };
        let meanwhile = other.first.first.is_some_and(|first| first.0 <= self.last)
            && self.first.first.is_some_and(|first| first.0 <= other.last);
        // If neither speaks IKE, the half that began asks.
        let asks = !self.speak.is_empty() || self.first.first < other.first.first;
        asks && (other.first.src != self.first.dst || other.from != self.to) && meanwhile && fits
    }
}

fn half<'a>(record: &'a Record, exchanges: &Exchanges<'_>, tunnel: TunnelIndex) -> Option<OneWay<'a>> {
    let used = || record.sas_of(tunnel).filter(|sa| sa.first.is_some());
    let first = used().min_by_key(|sa| sa.first)?;
    let last = used().filter_map(|sa| sa.last).max()?.0;
    let one_way = used().all(|sa| sa.direction == first.direction);
    let places = |end| record.tunnels.tunnels[tunnel].places_of_esp(end);
    (one_way && record.wants(tunnel)).then(|| OneWay {
        tunnel,
        first,
        last,
        from: places(first.src)[0],
        to: places(first.dst)[1],
        speak: messages(exchanges, tunnel).map(|message| message.0).collect(),
    })
}

/// ESP of one way alone, and ESP that comes the other way from an address, or a port, to which nothing goes: two halves of one tunnel.
fn halves(record: &Record, exchanges: &Exchanges<'_>) -> Vec<Event> {
    let tunnels = 0..record.tunnels.tunnels.len();
    let all: Vec<OneWay<'_>> = tunnels
        .filter_map(|tunnel| half(record, exchanges, tunnel))
        .collect();
    let mut silent: HashMap<IpAddr, Vec<&OneWay<'_>>> = HashMap::new();
    for half in all.iter().filter(|half| half.speak.is_empty()) {
        silent.entry(half.first.dst).or_default().push(half);
    }
    let event = |asks: &OneWay<'_>| {
        let back = silent.get(&asks.first.src)?;
        let mut answers = back.iter().filter(|other| asks.is_answered_by(other));
        let only = answers.next().filter(|_| answers.next().is_none())?;
        let (time, frame) = only.first.first?;
        let known = match only.first.answers(asks.first) {
            true => Certainty::Proven,
            false => Certainty::Inferred,
        };
        let (way, while_answered) = (asks.first.direction, (time, asks.last));
        let sent = record.meters.packets_within(asks.tunnel, way, while_answered);
        let places = [(asks.first.dst, asks.to), (only.first.src, only.from)];
        let by_port = places[0].0 == places[1].0;
        let [from, to] = places.map(|(name, place)| match place.filter(|_| by_port) {
            Some(place) => place.to_string(),
            None => name.to_string(),
        });
        Some(Event {
            tunnel: Some(asks.tunnel),
            by: Some(asks.first.dst),
            until: Some(asks.last.max(only.last)),
            count: Some(sent.round() as u64),
            from: Some(from),
            to: Some(to),
            ..Event::at(EventKind::AnsweredElsewhere, known, time, frame)
        })
    };
    all.iter().filter_map(event).collect()
}

//! Tunnels of which one direction comes through another tunnel: two clients behind one NAT, or with one inner address, that a gateway takes for one, or two
//! tunnels between two networks whose routes differ. Where both directions do, another tunnel took the place of this one.

use crate::events::reconnections;
use crate::events::sources::EventSources;
use crate::pipeline::record::Record;
use crate::traffic::GoneOver;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_model::analysis::{Certainty, Direction, Event, EventKind};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{INITIAL_WINDOW, LEAST_REST, LEAST_TIMEOUT, LONGEST_ACK_DELAY, PacketSilence};
use std::collections::HashSet;

/// The events of all tunnels. Inner connections prove them; where no key shows these, the moment tells. `events`: those of Deletes among them.
pub(super) fn of(sources: &EventSources<'_>, events: &[Event], ends: Timestamp) -> Vec<Event> {
    let traffic = &sources.record.traffic;
    // A client that comes back from another address is told as one that moved.
    let moved: HashSet<Tunnels> = reconnections(sources.record)
        .into_iter()
        .map(|own| (own.old, own.new))
        .collect();
    let counts = |gone: &GoneOver| {
        let (tunnel, direction) = gone.from;
        let goes_on =
            || traffic.last_esp((tunnel, direction.reverse())) > Some(gone.begin.0.plus_nanos(LEAST_TIMEOUT));
        match gone.until {
            Some(_) => goes_on(),
            None => !moved.contains(&(tunnel, gone.to.0)),
        }
    };
    // The first hosts of two tunnels stand for all.
    let mut told: HashSet<(Tunnels, bool)> = HashSet::new();
    let mut is_first = |gone: &GoneOver| told.insert(((gone.from.0, gone.to.0), gone.until.is_some()));
    let flows = sources.record.flows.gone_over(ends);
    let read = flows.into_iter().filter(counts).filter(|gone| is_first(gone));
    let read = read.filter_map(|gone| event(sources, gone, Certainty::Proven));
    let replaced = replaced(sources.record, events, ends).into_iter();
    let replaced = replaced.filter_map(|gone| event(sources, gone, Certainty::Inferred));
    read.chain(sealed(sources, ends)).chain(replaced).collect()
}

/// Tunnels without keys whose SAs were deleted, and that carry nothing since, while another one of the same client carries more both ways at once: by
/// half of what these had carried, at least.
pub(crate) fn replaced(record: &Record, events: &[Event], ends: Timestamp) -> Vec<GoneOver> {
    let deletes = events
        .iter()
        .filter(|event| EventKind::DELETES.contains(&event.kind) && event.successor != Some(true));
    deletes
        .filter_map(|delete| took_over(record, delete, ends))
        .collect()
}

fn took_over(record: &Record, delete: &Event, ends: Timestamp) -> Option<GoneOver> {
    let at = delete.time;
    let (old, tunnels) = (delete.tunnel?, &record.tunnels.tunnels);
    let is_sealed = |tunnel| record.sas_of(tunnel).all(|sa| sa.inner_ends().is_empty());
    let last = |direction| record.traffic.last_esp((old, direction));
    let stops = |direction| last(direction).is_some_and(|last| last <= at.plus_nanos(LONGEST_ACK_DELAY));
    if !Direction::BOTH.into_iter().all(stops) || !is_sealed(old) {
        return None;
    }
    let first = record.totals.first_time?;
    let length = at.nanos_since(first).min(ends.nanos_since(at));
    let (before, after) = ((at.plus_nanos(-length), at), (at, at.plus_nanos(length)));
    let packets = |(tunnel, direction): Side, span| record.meters.packets_within(tunnel, direction, span);
    let takes = |from: Side, to: Side| {
        let most = packets(from, before);
        let more = packets(to, after) - packets(to, before);
        most >= f64::from(INITIAL_WINDOW) && 2.0 * more >= most
    };
    let goes_on = |new: TunnelIndex| {
        let sides = |way| [old, new].map(|tunnel| (tunnel, tunnels[tunnel].published(way)));
        let both = Direction::BOTH.map(sides);
        let begins = |[from, to]: [Side; 2]| {
            let data = record.traffic.sealed(to.0, to.1)?.data;
            let first = data.into_iter().find(|run| run.from > at)?;
            Some((from, to, (first.from, first.frames.0)))
        };
        let all = both.iter().all(|[from, to]| takes(*from, *to));
        let (from, to, begin) = both
            .into_iter()
            .filter(|_| all)
            .filter_map(begins)
            .min_by_key(|own| own.2)?;
        // A transfer that goes on makes no longer pause.
        let at_once = begin.0.nanos_since(at) <= LEAST_REST;
        at_once.then_some(GoneOver {
            from,
            to,
            begin,
            packets: packets(to, after).round() as u64,
            until: None,
            ends: None,
        })
    };
    // Another client of the same gateway has data of its own.
    let client = |tunnel: TunnelIndex| tunnels[tunnel].ends[slot(tunnels[tunnel].published(Direction::AToB))];
    let others = (0..tunnels.len()).filter(|&new| new != old && client(new) == client(old) && is_sealed(new));
    others.filter_map(goes_on).min_by_key(|gone| gone.begin)
}

/// A tunnel, and the one that data went into.
type Tunnels = (TunnelIndex, TunnelIndex);

/// ESP of one direction stops as that of another tunnel begins towards the same receiver, while the other direction goes on here. Another sender
/// that is answered there is a peer of its own, as each client of a gateway is.
fn sealed(sources: &EventSources<'_>, ends: Timestamp) -> Vec<Event> {
    let directions = sources.record.meters.directions();
    let sides = directions.filter_map(|side| Some((first_sa(sources, side)?, side)));
    let mut sides: Vec<(&Association, Side)> = sides.filter(|(sa, _)| sa.inner_ends().is_empty()).collect();
    sides.sort_by_key(|(sa, _)| (sa.dst, sa.first));
    let of = |(old, side): &(&Association, Side)| {
        let went = |silence: &PacketSilence| {
            let near = |nanos: i64| (old.dst, Some((silence.from.plus_nanos(nanos), 0)));
            let first = sides.partition_point(|(sa, _)| (sa.dst, sa.first) < near(-LONGEST_ACK_DELAY));
            let beside = sides[first..].iter();
            let mut beside = beside.take_while(|(sa, _)| (sa.dst, sa.first) < near(LONGEST_ACK_DELAY));
            let takes_over = |sa: &Association, (tunnel, direction): Side| {
                let answered = || first_sa(sources, (tunnel, direction.reverse())).is_some();
                tunnel != side.0 && (sa.src == old.src || !answered())
            };
            let (new, to) = beside.find(|(sa, to)| takes_over(sa, *to))?;
            let gone = GoneOver {
                from: *side,
                to: *to,
                begin: new.first?,
                packets: new.counters.packets,
                until: Some(silence.to),
                ends: None,
            };
            event(sources, gone, Certainty::Inferred)
        };
        let whole = (Timestamp(i64::MIN), ends);
        let silences = sources.record.traffic.silences(side.0, &[side.1], whole);
        let within = silences.into_iter().filter_map(|silence| silence.within(whole));
        within
            .filter(|silence| stops(sources, *side, silence))
            .find_map(|silence| went(&silence))
    };
    match sources.record.tunnels.tunnels.len() {
        0 | 1 => Vec::new(),
        _ => sides.iter().filter_map(of).collect(),
    }
}

/// Tells whether a side stops in the middle of what it sends, and the other one goes on, at half of its rate at most: there is less to answer.
fn stops(sources: &EventSources<'_>, (tunnel, direction): Side, silence: &PacketSilence) -> bool {
    let packets = |direction: Direction, from, to| {
        sources
            .record
            .meters
            .packets_within(tunnel, direction, (from, to))
    };
    let (from, to) = (silence.from, silence.to);
    let back = direction.reverse();
    let answers = packets(back, from, to);
    to.nanos_since(from) > 2 * LONGEST_ACK_DELAY
        && packets(direction, from.plus_nanos(-2 * LONGEST_ACK_DELAY), from) >= f64::from(INITIAL_WINDOW)
        && answers >= LEAST_NOT_BY_CHANCE as f64
        && 2.0 * answers <= packets(back, from.plus_nanos(-to.nanos_since(from)), from)
}

/// The SA of a side whose first packet came first.
fn first_sa<'a>(sources: &EventSources<'a>, side: Side) -> Option<&'a Association> {
    sources.used_of(side).min_by_key(|sa| sa.first)
}

/// The ends that tell one tunnel from the other: their receivers with the ports, else their senders.
fn event(sources: &EventSources<'_>, gone: GoneOver, known: Certainty) -> Option<Event> {
    let path = |side| first_sa(sources, side)?.path();
    let (here, there) = (path(gone.from)?, path(gone.to)?);
    let begun = |sa: &&Association| sa.first <= Some(gone.begin);
    let newest = sources
        .used_of(gone.from)
        .filter(begun)
        .max_by_key(|sa| sa.first)?;
    let (from, to) = match here.src == there.src {
        true => (here.to().to_string(), there.to().to_string()),
        false => (here.src.to_string(), there.src.to_string()),
    };
    Some(Event {
        tunnel: Some(gone.from.0),
        by: Some(there.src),
        until: gone.until,
        count: Some(gone.packets),
        spis: vec![newest.spi],
        from: Some(from),
        to: Some(to),
        ..Event::at(EventKind::OtherTunnel, known, gone.begin.0, gone.begin.1)
    })
}

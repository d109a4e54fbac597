//! Datagrams whose child SA was deleted while others of its tunnel go on: nobody acknowledges them, so the Delete alone tells.

use crate::assembly::scene::Explored;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::analysis::{Event, EventKind};
use rekeyscope_traffic::{
    CarriedKind, Interval, IntervalKind, LEAST_TIMEOUT, PairId, SenderBefore, ShownBy, Undelivered,
};

/// The stretches, each from the last packet of a deleted SA to the first one between its addresses on another SA, or to the end.
pub(super) fn stretches(found: Explored<'_>) -> Vec<Interval> {
    let deleted = |event: &&Event| {
        event.kind == EventKind::ChildDeleted && event.successor == Some(false) && event.by.is_some()
    };
    let events = found.events.iter().filter(deleted);
    let all = || found.record.sas.associations().iter().enumerate();
    let of = |event: &Event| {
        let own = all().filter(|(_, sa)| Some(sa.tunnel) == event.tunnel && event.spis.contains(&sa.spi));
        own.filter_map(|(index, sa)| stretch(found, event, index, sa))
            .collect::<Vec<Interval>>()
    };
    events.flat_map(of).collect()
}

/// A sender that had datagrams until the Delete goes on with them, as far as the next SA lets it.
fn stretch(found: Explored<'_>, event: &Event, index: SaIndex, sa: &Association) -> Option<Interval> {
    let record = found.record;
    let (last, frame) = sa.last?;
    let goes_until_the_delete = last.nanos_since(event.time).abs() <= LEAST_TIMEOUT;
    if !goes_until_the_delete || !carries_datagrams(found, sa) {
        return None;
    }
    let place = |sa: SaIndex| u32::try_from(sa).ok();
    let same_ends = |other: &&(SaIndex, &Association)| {
        let (_, other) = other;
        (other.tunnel, other.direction) == (sa.tunnel, sa.direction)
            && other.first.is_some_and(|first| first.0 > last)
            && other
                .inner_ends()
                .iter()
                .any(|ends| sa.inner_ends().contains(ends))
    };
    let others: Vec<(SaIndex, &Association)> = record.sas.associations().iter().enumerate().collect();
    let back = others
        .iter()
        .filter(same_ends)
        .min_by_key(|(_, other)| other.first);
    let ends = record.totals.last_time?;
    let back = back.and_then(|(index, other)| Some((*index, other.first?)));
    let to = back.map_or(ends, |(_, first)| first.0);
    let tunnel = u32::try_from(sa.tunnel).ok()?;
    let (from, towards) = sa.inner_ends().first().copied()?;
    let interval = Interval {
        pair: record
            .traffic
            .pair_between(tunnel, (from, towards))
            .unwrap_or(PairId::NONE),
        tunnel,
        direction: sa.direction,
        from: last,
        to,
        frames: (frame, back.map(|(_, first)| first.1)),
        spis: (place(index), back.and_then(|(index, _)| place(index))),
        lost: Vec::new(),
        before: SenderBefore::default(),
        kind: IntervalKind::Outage,
        undelivered: Undelivered {
            open: back.is_none(),
            ..Undelivered::shown(CarriedKind::Datagrams, ShownBy::ControlPlane)
        },
    };
    (interval.nanos() > 2 * LEAST_TIMEOUT).then_some(interval)
}

/// Whether TCP carries less than half of what goes between the addresses of an SA.
fn carries_datagrams(found: Explored<'_>, sa: &Association) -> bool {
    let (mut tcp, mut all) = (0, 0);
    for (_, flow) in found.record.flows.flows() {
        let own = (flow.tunnel, flow.direction) == (sa.tunnel, sa.direction);
        if own && sa.inner_ends().contains(&(flow.src, flow.dst)) {
            all += flow.bytes;
            tcp += if flow.protocol == "tcp" { flow.bytes } else { 0 };
        }
    }
    2 * tcp < all
}

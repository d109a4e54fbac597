//! Datagrams that have no SA, or no way to it: nobody acknowledges them, so limits, Deletes and moves alone tell. Packets of which
//! first fragments alone come cannot be read, so these tell.

use crate::assembly::scene::Explored;
use crate::events::{Reconnection, reconnections};
use crate::traffic::{PairSeen, PairsSeen};

use crate::pipeline::damaged::DamagedRun;
use rekeyscope_impact::explain::uses_up_numbers;
use rekeyscope_ipsec::rekey::Succession;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::Side;
use rekeyscope_model::analysis::{Certainty, Event, EventKind};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{
    CarriedKind, Interval, LEAST_TIMEOUT, PairId, SenderBefore, ShownBy, Standstill, StandstillKind,
    Undelivered, three_take, window_takes,
};
use std::net::IpAddr;

/// Datagrams whose child SA was deleted, or ended with its IKE SA, while others of its tunnel go on: each from the last packet of the SA to the
/// first one between its addresses on another SA, or to the end.
pub(super) fn of_deleted_children(found: Explored<'_>) -> Vec<Interval> {
    let deleted = |event: &&Event| {
        matches!(event.kind, EventKind::ChildDeleted | EventKind::IkeSaDeleted)
            && event.successor == Some(false)
            && event.by.is_some()
    };
    let events = found.events.iter().filter(deleted);
    let all = || found.record.sas.associations().iter().enumerate();
    let of = |event: &Event| {
        let own = all().filter(|(_, sa)| Some(sa.tunnel) == event.tunnel);
        let own = own.filter(|(_, sa)| event.kind == EventKind::IkeSaDeleted || event.spis.contains(&sa.spi));
        own.filter_map(|(index, sa)| stretch(found, event, index, sa))
            .collect::<Vec<Interval>>()
    };
    events.flat_map(of).collect()
}

/// Datagrams of an end that moved, from its last packet at the old place to the first one at the new place, while its peer went on
/// sending; where TCP carries half of the direction, its copies tell.
pub(super) fn of_moves(found: Explored<'_>, is_acknowledged: impl Fn(Side) -> bool) -> Vec<Interval> {
    let record = found.record;
    let of = |event: &Event| {
        let tunnel = event.tunnel?;
        let direction = record
            .tunnels
            .tunnels
            .get(tunnel)?
            .direction_to(event.by?)
            .reverse();
        let silences = record
            .traffic
            .silences(tunnel, &[direction], (event.time, event.time));
        let silence = silences
            .into_iter()
            .find(|own| own.from < event.time && event.time <= own.to)?;
        let stretch = (silence.from, silence.to);
        let own = || sas_of(found, (tunnel, direction));
        let sent_at = |(_, sa): &(SaIndex, &Association), time| {
            sa.first.is_some_and(|first| first.0 <= time) && sa.last.is_some_and(|last| last.0 >= time)
        };
        let old = own().find(|own| sent_at(own, stretch.0))?;
        let new = own().find(|own| sent_at(own, stretch.1))?;
        let frame = new
            .1
            .first
            .filter(|first| first.0 == stretch.1)
            .map_or(event.frame, |first| first.1);
        let hears = record
            .traffic
            .longest_silence((tunnel, direction.reverse()), stretch, &[]);
        let peer_goes_on = 2 * hears.nanos() < silence.nanos();
        let back = Some((new.0, stretch.1, frame));
        let undelivered = Undelivered::shown(CarriedKind::Datagrams, ShownBy::ControlPlane);
        let moved = without_sa(
            old,
            (stretch.0, silence.facts.frame?),
            (back, stretch.1),
            undelivered,
        )?;
        let counts = peer_goes_on && stops(old.1, silence.nanos()) && !is_acknowledged((tunnel, direction));
        counts.then_some(moved)
    };
    let moves = found
        .events
        .iter()
        .filter(|event| event.kind == EventKind::AddressChanged);
    moves.filter_map(of).collect()
}

/// The SAs of a side.
fn sas_of<'a>(found: Explored<'a>, side: Side) -> impl Iterator<Item = (SaIndex, &'a Association)> {
    let all = found.record.sas.associations().iter().enumerate();
    all.filter(move |(_, sa)| (sa.tunnel, sa.direction) == side)
}

/// First packets of the SAs of a side: SA, time and frame.
fn first_packets(found: Explored<'_>, side: Side) -> impl Iterator<Item = (SaIndex, Timestamp, u64)> {
    sas_of(found, side).filter_map(|(index, sa)| sa.first.map(|(time, frame)| (index, time, frame)))
}

fn first_after(found: Explored<'_>, side: Side, time: Timestamp) -> Option<(SaIndex, Timestamp, u64)> {
    let later = first_packets(found, side).filter(|(_, first, _)| *first > time);
    later.min_by_key(|(_, first, _)| *first)
}

/// Datagrams of clients that came back from another address, each from the last packet of the old tunnel to the first one of the new tunnel.
pub(super) fn of_reconnections(found: Explored<'_>) -> Vec<Interval> {
    let record = found.record;
    let of = |(old, new): (Side, Side)| {
        let (index, sa) = sas_of(found, old).max_by_key(|(_, sa)| sa.last)?;
        let back = first_packets(found, new).min_by_key(|(_, time, _)| *time)?;
        let undelivered = Undelivered::shown(CarriedKind::Datagrams, ShownBy::ControlPlane);
        let stood = without_sa((index, sa), sa.last?, (Some(back), back.1), undelivered)?;
        let goes_on = record.flows.datagrams_go_on(old, new) && stops(sa, stood.nanos());
        goes_on.then_some(stood)
    };
    let both = |back: Reconnection| {
        let (before, after) = back.from_client;
        let reverse = ((back.old, before.reverse()), (back.new, after.reverse()));
        [((back.old, before), (back.new, after)), reverse]
    };
    reconnections(record)
        .into_iter()
        .flat_map(both)
        .filter_map(of)
        .collect()
}

/// Packets of which first fragments alone came, each from the first of these to the next packet in fragments that came whole, or to the last
/// try.
pub(super) fn of_first_fragments(found: Explored<'_>) -> Vec<Interval> {
    let record = found.record;
    let of = |event: &Event| {
        let (tunnel, until) = (event.tunnel?, event.until?);
        let to = record.tunnels.tunnels.get(tunnel)?.direction_to(event.by?);
        let sent_at = |time: Timestamp| {
            let own = sas_of(found, (tunnel, to.reverse()));
            let begun = own.filter(|(_, sa)| sa.first.is_some_and(|first| first.0 <= time));
            begun.max_by_key(|(_, sa)| sa.first)
        };
        let alone = record
            .first_fragments
            .iter()
            .find(|alone| alone.begin == (event.time, event.frame))?;
        let back = alone
            .until
            .zip(sent_at(until))
            .map(|((time, frame), (sa, _))| (sa, time, frame));
        let undelivered = Undelivered {
            swallowed: u32::try_from(alone.count).unwrap_or(u32::MAX),
            attempts: u32::try_from(alone.tries).unwrap_or(u32::MAX),
            dead: Some((event.time, alone.last.1)),
            ..Undelivered::shown(CarriedKind::Unread, ShownBy::Swallowed)
        };
        let mut stood = without_sa(
            sent_at(event.time)?,
            (event.time, event.frame),
            (back, until),
            undelivered,
        )?;
        stood.facts.undelivered.open &= Some(until) >= record.totals.last_time;
        Some(stood)
    };
    let events = found.events.iter();
    events
        .filter(|event| event.kind == EventKind::OnlySmallPass)
        .filter_map(of)
        .collect()
}

/// Packets on an SA that its receiver no longer has, where no acknowledgements tell whether they arrive: each up to the first one on another SA.
pub(super) fn of_one_sided(found: Explored<'_>, is_acknowledged: impl Fn(Side) -> bool) -> Vec<Interval> {
    let all = || found.record.sas.associations().iter().enumerate();
    let of = |event: &Event| {
        let mut named =
            all().filter(|(_, sa)| Some(sa.tunnel) == event.tunnel && event.spis.contains(&sa.spi));
        let (index, sa) = named.find(|(_, sa)| sa.last.is_some_and(|last| Some(last.0) == event.until))?;
        let (last, side) = (sa.last?, (sa.tunnel, sa.direction));
        let undelivered = Undelivered {
            dead: Some((event.time, last.0)),
            ..Undelivered::shown(CarriedKind::Datagrams, ShownBy::Swallowed)
        };
        let back = first_after(found, side, last.0);
        let ends = found.record.totals.last_time?;
        let stood = without_sa((index, sa), (event.time, event.frame), (back, ends), undelivered)?;
        (!is_acknowledged(side)).then_some(stood)
    };
    let events = found.events.iter();
    events
        .filter(|event| event.kind == EventKind::OneSided)
        .filter_map(of)
        .collect()
}

/// Packets under numbers that a replay check has seen, where no acknowledgements tell whether there is one.
pub(super) fn of_numbers_back(found: Explored<'_>, is_acknowledged: impl Fn(Side) -> bool) -> Vec<Interval> {
    let record = found.record;
    let all = || record.sas.associations().iter().enumerate();
    let of = |(index, sa): (SaIndex, &Association)| {
        let step = sa.steps_back.longest()?;
        let side = (sa.tunnel, sa.direction);
        let is_it = |event: &&Event| event.kind == EventKind::NumbersBack && event.frame == step.begin.1;
        let until = found.events.iter().find(is_it)?.until?;
        let above = step.until.map(|(time, frame)| (index, time, frame));
        let back = above.or_else(|| first_packets(found, side).find(|(_, time, _)| *time == until));
        let undelivered = Undelivered {
            swallowed: u32::try_from(step.packets).unwrap_or(u32::MAX),
            dead: Some((step.begin.0, step.last.min(until))),
            ..Undelivered::shown(CarriedKind::Datagrams, ShownBy::Swallowed)
        };
        let stood = without_sa((index, sa), step.begin, (back, until), undelivered)?;
        (!is_acknowledged(side)).then_some(stood)
    };
    all().filter_map(of).collect()
}

/// Datagrams of two inner addresses that end both ways with the switch to a new SA, which carries others alone: each from its last packet.
pub(super) fn of_hosts_left_out(found: Explored<'_>) -> Vec<Interval> {
    let associations = found.record.sas.associations();
    let lacks = |old: Option<SaIndex>, new: Option<SaIndex>| {
        let (old, new) = old.zip(new)?;
        let carried = associations[new].inner_ends();
        let lacks = |ends| !carried.contains(ends);
        Some(!carried.is_empty() && associations[old].inner_ends().iter().any(lacks))
    };
    let narrower =
        |renewal: &&Succession| (0..2).any(|side| lacks(renewal.old[side], renewal.new[side]) == Some(true));
    let mut renewals = found.successions.iter().filter(narrower).peekable();
    let pairs = renewals.peek().map(|_| found.record.flows.pairs());
    let left_out = renewals.filter_map(|renewal| left_out(found, renewal, pairs.as_ref()?));
    left_out.flatten().collect()
}

/// The pair of hosts that sent most stands for all.
fn left_out(found: Explored<'_>, renewal: &Succession, pairs: &PairsSeen) -> Option<[Interval; 2]> {
    let record = found.record;
    let associations = record.sas.associations();
    let ends = record.totals.last_time?;
    let ([Some(one), Some(other)], [Some(new), Some(other_new)]) = (renewal.old, renewal.new) else {
        return None;
    };
    let lost = |old: SaIndex, new: SaIndex, pair: (IpAddr, IpAddr)| {
        let (old, new) = (&associations[old], &associations[new]);
        let side = (old.tunnel, old.direction);
        let seen = pairs.get(&(side, pair))?;
        let pause = window_takes((seen.first, seen.last.0), seen.packets)?;
        let others_go_on = record.traffic.last_esp(side) > Some(seen.last.0.plus_nanos(pause));
        let ends = ends_with(seen, new.first?.0) && !is_half(seen.bytes.0, seen.bytes.1);
        (ends && others_go_on && !new.carries_more_inner_ends()).then_some(seen)
    };
    let stretch = |sa: SaIndex, pair: (IpAddr, IpAddr), seen: &PairSeen| {
        let undelivered = Undelivered::shown(CarriedKind::Datagrams, ShownBy::ControlPlane);
        let mut stood = without_sa((sa, &associations[sa]), seen.last, (None, ends), undelivered)?;
        stood.facts.pair = record.traffic.pair_between(stood.facts.tunnel, pair)?;
        Some(stood)
    };
    let own = associations[one].inner_ends().iter();
    let both = own.filter_map(|&(src, dst)| {
        let there = lost(one, new, (src, dst))?;
        let back = lost(other, other_new, (dst, src))?;
        // A host may find the new SA for a packet before the new selectors are in use.
        let carries = |sa: SaIndex, pair| associations[sa].inner_ends().contains(&pair);
        let left_out = !(carries(new, (src, dst)) && carries(other_new, (dst, src)));
        let stretches = [
            stretch(one, (src, dst), there)?,
            stretch(other, (dst, src), back)?,
        ];
        left_out.then_some((there.packets + back.packets, stretches))
    });
    both.max_by_key(|(packets, _)| *packets)
        .map(|(_, stretches)| stretches)
}

/// Tells whether a sender went on at its pace up to a switch, and no longer than the path carries what was under way: a pause of three packets
/// is none. A sender whose three packets take as long as a timer does not show when it ended.
fn ends_with(seen: &PairSeen, switched: Timestamp) -> bool {
    let three = three_take((seen.first, seen.last.0), seen.packets);
    let late = seen.last.0.nanos_since(switched);
    three <= LEAST_TIMEOUT && (-three..=LEAST_TIMEOUT).contains(&late)
}

/// Datagrams of a side that gave up a peer which answered later, each from its last packet to the first one on an SA of the new IKE SA.
pub(super) fn of_given_up(found: Explored<'_>, is_acknowledged: impl Fn(Side) -> bool) -> Vec<Interval> {
    let record = found.record;
    let of = |event: &Event| {
        let tunnel = event.tunnel?;
        let begun = record.timeline.exchanges().get(event.exchange?)?.first_time()?;
        let side = (
            tunnel,
            record.tunnels.tunnels.get(tunnel)?.direction_to(event.by?),
        );
        let back = first_after(found, side, begun);
        let old = sas_of(found, side).filter(|(_, sa)| sa.first.is_some_and(|first| first.0 <= begun));
        let old = old.max_by_key(|(_, sa)| sa.last)?;
        let last = old.1.last?;
        let until_then = last.0.nanos_since(begun).abs() <= LEAST_TIMEOUT;
        let undelivered = Undelivered::shown(CarriedKind::Datagrams, ShownBy::ControlPlane);
        let stood = without_sa(old, last, (back, record.totals.last_time?), undelivered)?;
        let counts = until_then && stops(old.1, stood.nanos()) && !is_acknowledged(side);
        (counts && back.is_some()).then_some(stood)
    };
    let late = |event: &&Event| event.kind == EventKind::ChecksAnsweredLate;
    found.events.iter().filter(late).filter_map(of).collect()
}

/// Packets of a side that came through another tunnel: each from the last one of its SA to its next one, or to the end. Where another side sends
/// them, only keys show that they are not taken.
pub(super) fn of_other_tunnels(found: Explored<'_>) -> Vec<Interval> {
    let record = found.record;
    let of = |event: &Event| {
        let tunnel = event.tunnel?;
        let ends = record.tunnels.tunnels.get(tunnel)?.ends;
        let mut all = record.sas.associations().iter().enumerate();
        let (index, sa) = all.find(|(_, sa)| sa.tunnel == tunnel && event.spis.contains(&sa.spi))?;
        let last = sa.last?;
        let back = first_after(found, (tunnel, sa.direction), last.0);
        let undelivered = Undelivered::shown(CarriedKind::Unread, ShownBy::ControlPlane);
        let stood = without_sa((index, sa), last, (back, record.totals.last_time?), undelivered)?;
        let counts = event.known == Certainty::Inferred || event.by.is_some_and(|by| ends.contains(&by));
        counts.then_some(stood)
    };
    let gone = found
        .events
        .iter()
        .filter(|event| event.kind == EventKind::OtherTunnel);
    gone.filter_map(of).collect()
}

/// Packets that wait for the next SA: the numbers of theirs are used up, and a sender must not begin them anew.
pub(super) fn of_used_up_numbers(found: Explored<'_>) -> Vec<Interval> {
    let all = || found.record.sas.associations().iter().enumerate();
    let of = |(index, sa): (SaIndex, &Association)| {
        let last = sa
            .last
            .filter(|_| sa.sequence.highest().is_some_and(uses_up_numbers))?;
        let back = first_after(found, (sa.tunnel, sa.direction), last.0);
        let undelivered = Undelivered::shown(CarriedKind::Datagrams, ShownBy::ControlPlane);
        let ends = found.record.totals.last_time?;
        without_sa((index, sa), last, (back, ends), undelivered)
    };
    all().filter_map(of).collect()
}

/// Packets that came damaged, each from the first of several to a whole one as large. Where TCP goes on to send them, it is answered: the capture
/// alone damaged them.
pub(super) fn of_damaged(found: Explored<'_>, is_acknowledged: impl Fn(Side) -> bool) -> Vec<Interval> {
    let record = found.record;
    let of = |(side, run): (Side, &DamagedRun)| {
        let sa = record.sas.associations().get(run.sa)?;
        let undelivered = Undelivered {
            swallowed: u32::try_from(run.packets).unwrap_or(u32::MAX),
            dead: Some((run.first.0, run.last)),
            ..Undelivered::shown(CarriedKind::Unread, ShownBy::Swallowed)
        };
        let ends = record.totals.last_time?;
        let stood = without_sa((run.sa, sa), run.first, (run.until, ends), undelivered)?;
        (!run.goes_on() || !is_acknowledged(side)).then_some(stood)
    };
    record.damaged.runs().filter_map(of).collect()
}

/// Whether a sender at the rate of an SA did not merely pause for so long.
fn stops(sa: &Association, silence: i64) -> bool {
    let spans = sa.first.zip(sa.last).map(|(first, last)| (first.0, last.0));
    let pause = spans.and_then(|spans| window_takes(spans, sa.counters.packets));
    pause.is_some_and(|pause| pause <= silence)
}

/// A sender that had datagrams until the Delete goes on with them, as far as the next SA lets it.
fn stretch(found: Explored<'_>, event: &Event, index: SaIndex, sa: &Association) -> Option<Interval> {
    let record = found.record;
    let (last, frame) = sa.last?;
    let goes_until_the_delete = last.nanos_since(event.time).abs() <= LEAST_TIMEOUT;
    if !goes_until_the_delete || !carries_datagrams(found, sa) {
        return None;
    }
    let of_tunnel = event.kind == EventKind::IkeSaDeleted;
    let same_ends = |(_, other): &(SaIndex, &Association)| {
        let mut ends = other.inner_ends().iter();
        (other.tunnel, other.direction) == (sa.tunnel, sa.direction)
            && other.first.is_some_and(|first| first.0 > last)
            && ends.any(|ends| sa.inner_ends().contains(ends))
    };
    let others = record.sas.associations().iter().enumerate().filter(same_ends);
    let next = others.min_by_key(|(_, other)| other.first);
    let back = next.and_then(|(index, other)| other.first.map(|(time, frame)| (index, time, frame)));
    let undelivered = Undelivered::shown(CarriedKind::Datagrams, ShownBy::ControlPlane);
    let ends = record.totals.last_time?;
    let mut interval = without_sa((index, sa), (last, frame), (back, ends), undelivered)?;
    // Traffic that comes back with the next IKE SA makes a cost of that one. Where nothing of a tunnel comes back, it was closed.
    let goes_on = |direction| {
        record.traffic.last_esp((sa.tunnel, direction)) > Some(event.time.plus_nanos(LEAST_TIMEOUT))
    };
    let left_out = back.is_none() && stops(sa, interval.nanos()) && goes_on(sa.direction);
    if of_tunnel && !left_out {
        return None;
    }
    let traffic = &record.traffic;
    let pair = traffic.pair_between(interval.facts.tunnel, *sa.inner_ends().first()?);
    interval.facts.pair = pair.unwrap_or(PairId::NONE);
    Some(interval)
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
    !is_half(tcp, all)
}

/// The stretch in which datagrams have no SA: `stopped`, the time and the last frame before it, up to the first packet on the SA that is
/// `back`, or to the end. One that is shorter than a timer is none.
pub(super) fn without_sa(
    (sa, association): (SaIndex, &Association),
    (from, frame): (Timestamp, u64),
    (back, ends): (Option<(SaIndex, Timestamp, u64)>, Timestamp),
    undelivered: Undelivered,
) -> Option<Interval> {
    let spi = |sa: SaIndex| u32::try_from(sa).ok();
    let interval = Interval {
        from,
        to: back.map_or(ends, |(_, time, _)| time),
        facts: Standstill {
            pair: PairId::NONE,
            tunnel: u32::try_from(association.tunnel).ok()?,
            direction: association.direction,
            frames: (frame, back.map(|(.., frame)| frame)),
            spis: (spi(sa), back.and_then(|(new, ..)| spi(new))),
            lost: Vec::new(),
            before: SenderBefore::default(),
            kind: StandstillKind::Outage,
            undelivered: Undelivered {
                open: back.is_none(),
                ..undelivered
            },
        },
    };
    (interval.nanos() >= LEAST_TIMEOUT).then_some(interval)
}

/// Whether TCP carries half of some bytes.
pub(super) fn is_half(tcp: u64, all: u64) -> bool {
    2 * tcp >= all
}

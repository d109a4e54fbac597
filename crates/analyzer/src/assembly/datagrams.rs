//! Datagrams that have no SA, or no way to it: nobody acknowledges them, so limits, Deletes and moves alone tell. Packets of which
//! first fragments alone come cannot be read, so these tell.

use crate::assembly::limits::{EnforcedLimits, is_half};
use crate::assembly::scene::Explored;
use crate::events::{Reconnection, reconnections};
use crate::pipeline::damaged::DamagedRun;
use crate::traffic::{PairSeen, PairsSeen};
use rekeyscope_impact::explain::{DELETE_OF_A_REKEY, uses_up_numbers};
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::Side;
use rekeyscope_model::analysis::{Certainty, Event, EventKind};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{
    CarriedKind, INITIAL_RTO, Interval, LEAST_TIMEOUT, PairId, ShownBy, Standstill, Undelivered, three_take,
    window_takes,
};
use std::net::IpAddr;

/// Packets of which nobody tells whether they arrived.
pub(super) struct Unacknowledged<'a> {
    pub(super) found: Explored<'a>,
    pub(super) limits: &'a EnforcedLimits,
    /// The end of the capture.
    pub(super) ends: Timestamp,
}

impl<'a> Unacknowledged<'a> {
    pub(super) fn stretches(&self) -> Vec<Interval> {
        let mut all = self.of_deleted_children();
        all.extend(self.of_events(EventKind::AddressChanged, Self::moved));
        all.extend(self.of_reconnections());
        all.extend(self.of_hosts_left_out());
        all.extend(self.of_events(EventKind::OnlySmallPass, Self::of_first_fragments));
        all.extend(self.of_sas(Self::of_numbers_back));
        all.extend(self.of_events(EventKind::OneSided, Self::one_sided));
        all.extend(self.of_events(EventKind::ChecksAnsweredLate, Self::given_up));
        all.extend(self.of_sas(Self::of_used_up_numbers));
        all.extend(self.of_events(EventKind::OtherTunnel, Self::of_sa_that_stops));
        all.extend(self.of_events(EventKind::EspSilent, Self::of_sa_that_stops));
        let damaged = self.found.record.damaged.runs();
        all.extend(damaged.filter_map(|(side, run)| self.damaged(side, run)));
        all
    }

    /// Payload goes on beyond the limit of its SA, and is dropped.
    pub(super) fn beyond_limits(&self) -> Vec<Interval> {
        self.of_sas(Self::beyond_limit)
    }

    fn beyond_limit(&self, index: SaIndex, sa: &Association) -> Option<Interval> {
        let record = self.found.record;
        let passed = self.limits.passed(sa)?;
        if self.is_acknowledged((sa.tunnel, sa.direction)) || !record.wants(sa.tunnel) {
            return None;
        }
        let own = slot(sa.direction);
        let mut renewals = self.found.successions.iter();
        let renewed = renewals.find(|renewal| renewal.old[own] == Some(index));
        let back = renewed.and_then(|renewal| {
            let new = renewal.new[own]?;
            let (time, frame) = record.sas.associations().get(new)?.first_payload?;
            Some((new, time, frame))
        });
        let (last, frame) = sa.last?;
        let counters = &sa.counters;
        let beyond = |limit| counters.inner_bytes.saturating_sub(limit);
        let over = sa.volume_limit.map_or(0, beyond);
        let usual = counters.inner_bytes.checked_div(counters.opened).unwrap_or(0);
        let packets = over.checked_div(usual).unwrap_or(0);
        let undelivered = swallowed(CarriedKind::Datagrams, packets, (passed, last.max(passed)));
        without_sa((index, sa), (passed, frame), (back, self.ends), undelivered)
    }

    fn of_events(&self, kind: EventKind, of: fn(&Self, &Event) -> Option<Interval>) -> Vec<Interval> {
        let events = self.found.events.iter().filter(|event| event.kind == kind);
        events.filter_map(|event| of(self, event)).collect()
    }

    fn of_sas(&self, of: fn(&Self, SaIndex, &Association) -> Option<Interval>) -> Vec<Interval> {
        self.sas().filter_map(|(index, sa)| of(self, index, sa)).collect()
    }

    fn is_acknowledged(&self, (tunnel, direction): Side) -> bool {
        self.limits.are_acknowledged(tunnel, direction)
    }

    /// The direction to the end that an event names.
    fn towards(&self, event: &Event) -> Option<Side> {
        let tunnel = event.tunnel?;
        let ends = self.found.record.tunnels.tunnels.get(tunnel)?;
        Some((tunnel, ends.direction_to(event.by?)))
    }

    fn sas(&self) -> impl Iterator<Item = (SaIndex, &'a Association)> {
        self.found.record.sas.associations().iter().enumerate()
    }

    fn sas_of(&self, side: Side) -> impl Iterator<Item = (SaIndex, &'a Association)> {
        self.sas()
            .filter(move |(_, sa)| (sa.tunnel, sa.direction) == side)
    }

    /// The SAs of an event's tunnel that it names.
    fn named(&self, event: &Event) -> impl Iterator<Item = (SaIndex, &'a Association)> {
        self.sas()
            .filter(|(_, sa)| Some(sa.tunnel) == event.tunnel && event.spis.contains(&sa.spi))
    }

    /// First packets of the SAs of a side: SA, time and frame.
    fn first_packets(&self, side: Side) -> impl Iterator<Item = (SaIndex, Timestamp, u64)> {
        self.sas_of(side)
            .filter_map(|(index, sa)| sa.first.map(|(time, frame)| (index, time, frame)))
    }

    fn first_after(&self, side: Side, time: Timestamp) -> Option<(SaIndex, Timestamp, u64)> {
        let later = self.first_packets(side).filter(|(_, first, _)| *first > time);
        later.min_by_key(|(_, first, _)| *first)
    }

    /// Datagrams whose child SA was deleted, or ended with its IKE SA, while others of its tunnel go on: each from the last packet of the SA to the
    /// first one between its addresses on another SA, or to the end.
    fn of_deleted_children(&self) -> Vec<Interval> {
        let deleted = |event: &&Event| {
            matches!(event.kind, EventKind::ChildDeleted | EventKind::IkeSaDeleted)
                && event.successor == Some(false)
                && event.by.is_some()
        };
        let of = |event: &'a Event| {
            let own = self.sas().filter(|(_, sa)| Some(sa.tunnel) == event.tunnel);
            let own =
                own.filter(|(_, sa)| event.kind == EventKind::IkeSaDeleted || event.spis.contains(&sa.spi));
            own.filter_map(|(index, sa)| self.deleted(event, index, sa))
        };
        self.found.events.iter().filter(deleted).flat_map(of).collect()
    }

    /// Datagrams of an end that moved, from its last packet at the old place to the first one at the new place, while its peer went on
    /// sending; where TCP carries half of the direction, its copies tell.
    fn moved(&self, event: &Event) -> Option<Interval> {
        let traffic = &self.found.record.traffic;
        let (tunnel, towards) = self.towards(event)?;
        let side = (tunnel, towards.reverse());
        let silences = traffic.silences(tunnel, &[side.1], (event.time, event.time));
        let silence = silences
            .into_iter()
            .find(|own| own.from < event.time && event.time <= own.to)?;
        let stretch = (silence.from, silence.to);
        let sent_at = |time| {
            self.sas_of(side).find(|(_, sa)| {
                sa.first.is_some_and(|first| first.0 <= time) && sa.last.is_some_and(|last| last.0 >= time)
            })
        };
        let (old, new) = (sent_at(stretch.0)?, sent_at(stretch.1)?);
        let first = new.1.first.filter(|first| first.0 == stretch.1);
        let frame = first.map_or(event.frame, |first| first.1);
        let hears = traffic.longest_silence((tunnel, towards), stretch, &[]);
        let peer_goes_on = 2 * hears.nanos() < silence.nanos();
        let back = Some((new.0, stretch.1, frame));
        let last = (stretch.0, silence.facts.frame?);
        let moved = without_sa(old, last, (back, self.ends), unseen())?;
        let counts = peer_goes_on && stops(old.1, silence.nanos()) && !self.is_acknowledged(side);
        counts.then_some(moved)
    }

    /// Datagrams of clients that came back from another address, each from the last packet of the old tunnel to the first one of the new tunnel.
    fn of_reconnections(&self) -> Vec<Interval> {
        let record = self.found.record;
        let of = |(old, new): (Side, Side)| {
            let last = self.sas_of(old).max_by_key(|(_, sa)| sa.last)?;
            let back = self.first_packets(new).min_by_key(|(_, time, _)| *time)?;
            let stood = without_sa(last, last.1.last?, (Some(back), self.ends), unseen())?;
            let goes_on = record.flows.datagrams_go_on(old, new) && stops(last.1, stood.nanos());
            goes_on.then_some(stood)
        };
        let both = |back: Reconnection| {
            let (before, after) = back.from_client;
            let reverse = ((back.old, before.reverse()), (back.new, after.reverse()));
            [((back.old, before), (back.new, after)), reverse]
        };
        let all = reconnections(record).into_iter().flat_map(both);
        all.filter_map(of).collect()
    }

    /// Packets of which first fragments alone came, each from the first of these to the next packet in fragments that came whole, or to the last
    /// try.
    fn of_first_fragments(&self, event: &Event) -> Option<Interval> {
        let record = self.found.record;
        let until = event.until?;
        let (tunnel, towards) = self.towards(event)?;
        let sent_at = |time: Timestamp| {
            let own = self.sas_of((tunnel, towards.reverse()));
            let begun = own.filter(|(_, sa)| sa.first.is_some_and(|first| first.0 <= time));
            begun.max_by_key(|(_, sa)| sa.first)
        };
        let mut all = record.first_fragments.iter();
        let alone = all.find(|alone| alone.begin == (event.time, event.frame))?;
        let back = alone.until.zip(sent_at(until));
        let back = back.map(|((time, frame), (sa, _))| (sa, time, frame));
        let undelivered = Undelivered {
            attempts: u32::try_from(alone.tries).unwrap_or(u32::MAX),
            ..swallowed(CarriedKind::Unread, alone.count, (event.time, alone.last.1))
        };
        let begin = (event.time, event.frame);
        let mut stood = without_sa(sent_at(event.time)?, begin, (back, until), undelivered)?;
        stood.facts.undelivered.open &= until >= self.ends;
        Some(stood)
    }

    /// Packets on an SA that its receiver no longer has, where no acknowledgements tell whether they arrive: each up to the first one on another SA.
    fn one_sided(&self, event: &Event) -> Option<Interval> {
        let ends_then =
            |(_, sa): &(SaIndex, &Association)| sa.last.is_some_and(|last| Some(last.0) == event.until);
        let own = self.named(event).find(ends_then)?;
        let (last, side) = (own.1.last?, (own.1.tunnel, own.1.direction));
        let undelivered = swallowed(CarriedKind::Datagrams, 0, (event.time, last.0));
        let back = self.first_after(side, last.0);
        let stood = without_sa(own, (event.time, event.frame), (back, self.ends), undelivered)?;
        (!self.is_acknowledged(side)).then_some(stood)
    }

    /// Packets under numbers that a replay check has seen, where no acknowledgements tell whether there is one.
    fn of_numbers_back(&self, index: SaIndex, sa: &Association) -> Option<Interval> {
        let step = sa.steps_back.longest()?;
        let side = (sa.tunnel, sa.direction);
        let is_it = |event: &&Event| event.kind == EventKind::NumbersBack && event.frame == step.begin.1;
        let until = self.found.events.iter().find(is_it)?.until?;
        let above = step.until.map(|(time, frame)| (index, time, frame));
        let back = above.or_else(|| self.first_packets(side).find(|(_, time, _)| *time == until));
        let dead = (step.begin.0, step.last.min(until));
        let undelivered = swallowed(CarriedKind::Datagrams, step.packets, dead);
        let stood = without_sa((index, sa), step.begin, (back, until), undelivered)?;
        (!self.is_acknowledged(side)).then_some(stood)
    }

    /// Datagrams of two inner addresses that end both ways with the switch to a new SA, which carries others alone: each from its last packet.
    fn of_hosts_left_out(&self) -> Vec<Interval> {
        let found = self.found;
        let associations = found.record.sas.associations();
        let lacks = |old: Option<SaIndex>, new: Option<SaIndex>| {
            let (old, new) = old.zip(new)?;
            let carried = associations[new].inner_ends();
            let lacks = |ends| !carried.contains(ends);
            Some(!carried.is_empty() && associations[old].inner_ends().iter().any(lacks))
        };
        let narrower = |renewal: &&Succession| {
            (0..2).any(|side| lacks(renewal.old[side], renewal.new[side]) == Some(true))
        };
        let mut renewals = found.successions.iter().filter(narrower).peekable();
        let pairs = renewals.peek().map(|_| found.record.flows.pairs());
        let left_out = renewals.filter_map(|renewal| self.left_out(renewal, pairs.as_ref()?));
        left_out.flatten().collect()
    }

    /// The pair of hosts that sent most stands for all.
    fn left_out(&self, renewal: &Succession, pairs: &PairsSeen) -> Option<[Interval; 2]> {
        let record = self.found.record;
        let associations = record.sas.associations();
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
            let own = (sa, &associations[sa]);
            let mut stood = without_sa(own, seen.last, (None, self.ends), unseen())?;
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

    /// Datagrams of a side that gave up a peer which answered later, each from its last packet to the first one on an SA of the new IKE SA.
    fn given_up(&self, event: &Event) -> Option<Interval> {
        let exchanges = self.found.record.timeline.exchanges();
        let begun = exchanges.get(event.exchange?)?.first_time()?;
        let side = self.towards(event)?;
        let back = self.first_after(side, begun)?;
        let old = self.sas_of(side);
        let old = old.filter(|(_, sa)| sa.first.is_some_and(|first| first.0 <= begun));
        let old = old.max_by_key(|(_, sa)| sa.last)?;
        let last = old.1.last?;
        let until_then = last.0.nanos_since(begun).abs() <= LEAST_TIMEOUT;
        let stood = without_sa(old, last, (Some(back), self.ends), unseen())?;
        let counts = until_then && stops(old.1, stood.nanos()) && !self.is_acknowledged(side);
        counts.then_some(stood)
    }

    /// Packets of a side that came through another tunnel, or that no key opens on an SA that stops alone: each from the last one of its SA to its next
    /// one, or to the end. Where another side sends them, only keys show that they are not taken.
    fn of_sa_that_stops(&self, event: &Event) -> Option<Interval> {
        let ends = self.found.record.tunnels.tunnels.get(event.tunnel?)?.ends;
        let own = self.named(event).next()?;
        let last = own.1.last?;
        let back = self.first_after((own.1.tunnel, own.1.direction), last.0);
        let undelivered = Undelivered::shown(CarriedKind::Unread, ShownBy::ControlPlane);
        let stood = without_sa(own, last, (back, self.ends), undelivered)?;
        let is_of_end = event.kind == EventKind::OtherTunnel && event.by.is_some_and(|by| ends.contains(&by));
        (event.known == Certainty::Inferred || is_of_end).then_some(stood)
    }

    /// Packets that wait for the next SA: the numbers of theirs are used up, and a sender must not begin them anew.
    fn of_used_up_numbers(&self, index: SaIndex, sa: &Association) -> Option<Interval> {
        let is_used_up = sa.sequence.highest().is_some_and(uses_up_numbers);
        let last = sa.last.filter(|_| is_used_up)?;
        let back = self.first_after((sa.tunnel, sa.direction), last.0);
        without_sa((index, sa), last, (back, self.ends), unseen())
    }

    /// Packets that came damaged, each from the first of several to a whole one as large. Where TCP goes on to send them, it is answered: the capture
    /// alone damaged them.
    fn damaged(&self, side: Side, run: &DamagedRun) -> Option<Interval> {
        let sa = self.found.record.sas.associations().get(run.sa)?;
        let undelivered = swallowed(CarriedKind::Unread, run.packets, (run.first.0, run.last));
        let stood = without_sa((run.sa, sa), run.first, (run.until, self.ends), undelivered)?;
        (!run.goes_on() || !self.is_acknowledged(side)).then_some(stood)
    }

    /// A sender that had datagrams until the Delete goes on with them, as far as the next SA lets it. Packets that no key opens came until then where a
    /// program that asks again and again waits no longer, and a new IKE SA that is made later than a renewal brings them back.
    fn deleted(&self, event: &Event, index: SaIndex, sa: &Association) -> Option<Interval> {
        let record = self.found.record;
        let (last, frame) = sa.last?;
        let of_tunnel = event.kind == EventKind::IkeSaDeleted;
        let unread = of_tunnel && sa.inner_ends().is_empty();
        let pause = if unread { INITIAL_RTO } else { LEAST_TIMEOUT };
        let goes_until_the_delete = last.nanos_since(event.time).abs() <= pause;
        if !goes_until_the_delete || !unread && !carries_datagrams(self.found, sa) {
            return None;
        }
        if unread {
            let back = self.first_after((sa.tunnel, sa.direction), last);
            let back = back.filter(|(_, first, _)| first.nanos_since(event.time) > DELETE_OF_A_REKEY)?;
            let undelivered = Undelivered::shown(CarriedKind::Unread, ShownBy::ControlPlane);
            return without_sa((index, sa), (last, frame), (Some(back), self.ends), undelivered);
        }
        let same_ends = |other: SaIndex| record.sas.associations()[other].shares_ends(sa);
        let later = self.first_packets((sa.tunnel, sa.direction));
        let later = later.filter(|(other, first, _)| *first > last && same_ends(*other));
        let back = later.min_by_key(|(_, first, frame)| (*first, *frame));
        let mut interval = without_sa((index, sa), (last, frame), (back, self.ends), unseen())?;
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
}

/// Datagrams that no packet shows to be lost.
fn unseen() -> Undelivered {
    Undelivered::shown(CarriedKind::Datagrams, ShownBy::ControlPlane)
}

/// Packets that came and that their receiver drops: their number, from the first to the last time of `dead`.
fn swallowed(carried: CarriedKind, packets: u64, dead: (Timestamp, Timestamp)) -> Undelivered {
    Undelivered {
        swallowed: u32::try_from(packets).unwrap_or(u32::MAX),
        dead: Some(dead),
        ..Undelivered::shown(carried, ShownBy::Swallowed)
    }
}

/// Tells whether a sender went on at its pace up to a switch, and no longer than the path carries what was under way: a pause of three packets
/// is none. A sender whose three packets take as long as a timer does not show when it ended.
fn ends_with(seen: &PairSeen, switched: Timestamp) -> bool {
    let three = three_take((seen.first, seen.last.0), seen.packets);
    let late = seen.last.0.nanos_since(switched);
    three <= LEAST_TIMEOUT && (-three..=LEAST_TIMEOUT).contains(&late)
}

/// Whether a sender at the rate of an SA did not merely pause for so long.
fn stops(sa: &Association, silence: i64) -> bool {
    let pause = sa.used().and_then(|used| window_takes(used, sa.counters.packets));
    pause.is_some_and(|pause| pause <= silence)
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
fn without_sa(
    (sa, association): (SaIndex, &Association),
    (from, frame): (Timestamp, u64),
    (back, ends): (Option<(SaIndex, Timestamp, u64)>, Timestamp),
    undelivered: Undelivered,
) -> Option<Interval> {
    let spi = |sa: SaIndex| u32::try_from(sa).ok();
    let undelivered = Undelivered {
        open: back.is_none(),
        ..undelivered
    };
    let interval = Interval {
        from,
        to: back.map_or(ends, |(_, time, _)| time),
        facts: Standstill {
            frames: (frame, back.map(|(.., frame)| frame)),
            spis: (spi(sa), back.and_then(|(new, ..)| spi(new))),
            ..Standstill::new(
                (u32::try_from(association.tunnel).ok()?, association.direction),
                undelivered,
            )
        },
    };
    (interval.nanos() >= LEAST_TIMEOUT).then_some(interval)
}

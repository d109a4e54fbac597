//! Stretches without delivery → outages, each with what explains it.

use crate::assembly::datagrams::Unacknowledged;
use crate::assembly::limits::EnforcedLimits;
use crate::assembly::scene::{Explored, HeardIke, heard, scene};
use crate::events::{reconnections, replaced};
use crate::pipeline::record::Record;
use rekeyscope_impact::explain::explain;
use rekeyscope_ipsec::rekey::attempt::AttemptSeen;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_model::analysis::{
    Certainty, Direction, Event, EventKind, Explanation, ExplanationCause, OutageEnd,
};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::{
    CarriedKind, INITIAL_RTO, Interval, LEAST_TIMEOUT, ShownBy, Standstill, StandstillKind, Undelivered,
};
use std::net::IpAddr;

/// An attempt this close to the last data that arrived has to do with it: the busy host's scheduling (0.2 s), a queue before the
/// capture point, and a round trip lie between.
const NEAR: i64 = NANOS_PER_SECOND;

/// An outage, and what it comes from.
#[derive(Debug, Clone)]
pub(crate) struct OutageSeen {
    pub(crate) interval: Interval,
    pub(crate) explanation: Explanation,
    pub(crate) end: OutageEnd,
    /// Indexes of the attempts it comes from; empty where there is none.
    pub(crate) attempts: Vec<usize>,
}

/// Lists the outages in order of time. `stretches` are those without delivery.
pub(crate) fn outages(found: Explored<'_>, stretches: &[Interval]) -> Vec<OutageSeen> {
    let record = found.record;
    let ends = record.totals.last_time.unwrap_or_default();
    let limits = EnforcedLimits::of(record);
    let unacknowledged = Unacknowledged {
        found,
        limits: &limits,
        ends,
    };
    let beyond = unacknowledged.beyond_limits();
    let messages = heard(record);
    let down = stretches.iter().filter(|interval| {
        matches!(
            interval.facts.kind,
            StandstillKind::Outage | StandstillKind::ShortOutage
        ) && !beyond.iter().any(|longer| holds(longer, interval))
            && !rested_before(found, &messages, interval)
            && !stopped_by_itself(record, &messages, interval)
    });
    let mut stretches: Vec<Interval> = down.cloned().collect();
    stretches.extend(beyond);
    stretches.extend(unacknowledged.stretches());
    let silent = silent_peers(found, &messages, &stretches);
    stretches.extend(silent);
    end_where_clients_come_back(record, &mut stretches);
    end_where_another_tunnel_goes_on(found, &mut stretches, ends);
    let stretches = one_of_each(stretches);
    let explanations = explain(&scene(found, &stretches, false));
    let explained = stretches.into_iter().zip(explanations);
    let seen = explained.filter_map(|(interval, explanation)| {
        let explanation = explanation?;
        let cause = explanation.cause;
        let is_seen = !is_rest(&interval.facts.undelivered, cause) && !stops(record, &interval, cause);
        is_seen.then(|| OutageSeen {
            end: end_of(record, &interval),
            attempts: attempts_of(found, &interval, &explanation),
            interval,
            explanation,
        })
    });
    seen.collect()
}

/// An outage that is open when its client comes back from another address ends with the first data that is delivered there.
fn end_where_clients_come_back(record: &Record, stretches: &mut [Interval]) {
    for back in reconnections(record) {
        let open = stretches.iter_mut().filter(|interval| {
            interval.facts.undelivered.open
                && interval.facts.tunnel as usize == back.old
                && interval.from < back.time
        });
        for interval in open {
            let (before, after) = back.from_client;
            let direction = if interval.facts.direction == before {
                after
            } else {
                after.reverse()
            };
            let side = (back.new, direction);
            let Some(delivered) = record
                .traffic
                .first_delivered(side)
                .or_else(|| first_sealed(record, side))
            else {
                continue;
            };
            let undelivered = &mut interval.facts.undelivered;
            undelivered.dead = undelivered.dead.map(|(first, last)| (first, last.max(back.time)));
            go_on(record, interval, side, (delivered, back.frame));
        }
    }
}

/// The first packet of a side, where no key shows what it carries.
fn first_sealed(record: &Record, side: Side) -> Option<Timestamp> {
    let all = record.sas.associations().iter();
    let own = all.filter(|sa| (sa.tunnel, sa.direction) == side && sa.inner_ends().is_empty());
    own.filter_map(|sa| Some(sa.first?.0)).min()
}

/// Ends an outage with a packet of another tunnel.
fn go_on(record: &Record, interval: &mut Interval, side: Side, (delivered, frame): (Timestamp, u64)) {
    let mut own = record.sas.associations().iter();
    let sa = own.position(|sa| (sa.tunnel, sa.direction) == side);
    let undelivered = &mut interval.facts.undelivered;
    undelivered.open = false;
    undelivered.dead = undelivered.dead.map(|(first, last)| (first, last.min(delivered)));
    interval.to = delivered;
    interval.facts.frames.1 = Some(frame);
    interval.facts.spis.1 = sa.and_then(|sa| u32::try_from(sa).ok());
    interval.facts.kind = StandstillKind::Outage;
}

/// An outage that is open when both directions of its hosts go on in another tunnel ends with the first packet there.
fn end_where_another_tunnel_goes_on(found: Explored<'_>, stretches: &mut [Interval], ends: Timestamp) {
    let record = found.record;
    let read = record.flows.gone_over(ends).into_iter();
    let both = read.chain(replaced(record, found.events, ends));
    for gone in both.filter(|gone| gone.until.is_none()) {
        let hosts_of = |(src, dst): (IpAddr, IpAddr)| [Some((src, dst)), Some((dst, src))];
        let hosts = gone.ends.map_or([None; 2], hosts_of);
        let (begin, frame) = gone.begin;
        let open = stretches.iter_mut().filter(|interval| {
            interval.facts.undelivered.open
                && interval.facts.tunnel as usize == gone.from.0
                && interval.from < begin
                && hosts.contains(&record.traffic.addresses(interval))
        });
        for interval in open {
            let direction = match interval.facts.direction == gone.from.1 {
                true => gone.to.1,
                false => gone.to.1.reverse(),
            };
            go_on(record, interval, (gone.to.0, direction), (begin, frame));
        }
    }
}

/// Tells whether a sender rested: it sent nothing in vain, and no event of the control plane explains the silence.
fn is_rest(undelivered: &Undelivered, cause: ExplanationCause) -> bool {
    let explains_nothing = matches!(
        cause,
        ExplanationCause::Unexplained | ExplanationCause::PathSilent
    );
    undelivered.shown_by == ShownBy::ControlPlane && explains_nothing
}

/// The capture itself stops for most of it, right behind what was lost: a sender that waits would have tried again. Nothing that the
/// control plane did explains it, so it may as well be two captures one behind the other: unless ESP numbers of one side alone are
/// missing. A sender without an SA does not try again: where
/// data comes back with the first packet of another SA, it waited for that one.
fn stops(record: &Record, interval: &Interval, cause: ExplanationCause) -> bool {
    let by_silence = matches!(
        cause,
        ExplanationCause::Unexplained
            | ExplanationCause::PeerSilent
            | ExplanationCause::PathSilent
            | ExplanationCause::LargePackets
            | ExplanationCause::LargeNeverPassed
            | ExplanationCause::FirstFragments
            | ExplanationCause::TooBig
    );
    let (from, to) = (interval.from, interval.to);
    let silence = record.diagnosis.whole_run.longest_silence(from, to);
    let silent = silence.is_some_and(|(from, to)| 2 * to.nanos_since(from) >= interval.nanos());
    let waited = interval
        .facts
        .spis
        .1
        .is_some_and(|sa| begins(record, sa as SaIndex, from));
    let mut gaps = interval
        .facts
        .lost
        .windows(2)
        .filter_map(|two| Some(two.last()?.time.nanos_since(two.first()?.time)));
    let tried_again = gaps.any(|gap| gap >= LEAST_TIMEOUT);
    by_silence
        && silent
        && !waited
        && !tried_again
        && interval.facts.undelivered.shown_by == ShownBy::Swallowed
        && !interval.facts.undelivered.open
        && !record.traffic.misses_one_side(interval)
}

/// Tells whether the capture holds the first packet of an SA, and it came after `time`.
fn begins(record: &Record, sa: SaIndex, time: Timestamp) -> bool {
    let association = record.sas.associations().get(sa);
    association.is_some_and(|own| {
        own.first.is_some_and(|first| first.0 > time) && own.sequence.missing_at_start() == 0
    })
}

fn holds(longer: &Interval, other: &Interval) -> bool {
    let side = |of: &Interval| (of.facts.tunnel, of.facts.direction);
    side(longer) == side(other) && longer.from <= other.from && other.to <= longer.to
}

/// Several connections, hosts and pings of one SA suffer the same: the one that tried most stands for all, but for one whose receiver may rest.
fn one_of_each(mut stretches: Vec<Interval>) -> Vec<Interval> {
    let weight = |interval: &Interval| {
        let long = interval.facts.kind == StandstillKind::Outage;
        let undelivered = &interval.facts.undelivered;
        (
            long,
            !undelivered.receiver_rests,
            undelivered.swallowed,
            interval.nanos(),
        )
    };
    stretches.sort_by_key(|stretch| std::cmp::Reverse(weight(stretch)));
    let mut kept: Vec<Interval> = Vec::new();
    for one in stretches {
        let of = |of: &Interval| (of.facts.tunnel, of.facts.direction, of.facts.spis.0);
        let same = |other: &Interval| of(&one) == of(other) && one.from < other.to && other.from < one.to;
        if !kept.iter().any(same) {
            kept.push(one);
        }
    }
    kept.sort_by_key(|interval| {
        (
            interval.from,
            interval.facts.tunnel,
            slot(interval.facts.direction),
        )
    });
    kept
}

/// The attempts that an outage comes from: those that explain it, else those that failed, or nearly did, while it lasted.
fn attempts_of(found: Explored<'_>, interval: &Interval, explanation: &Explanation) -> Vec<usize> {
    let named = explanation
        .event
        .into_iter()
        .chain(explanation.evidence.iter().copied());
    let exchanges: Vec<usize> = named
        .filter_map(|event| found.events.get(event)?.exchange)
        .chain(explanation.exchange)
        .collect();
    let of_it = |a: &AttemptSeen| {
        let place = found.places.exchange(a.exchange);
        place.is_some_and(|e| exchanges.contains(&e))
    };
    let around = |a: &AttemptSeen| {
        let failed = a.outcome.failed() || a.answered_late();
        failed && a.first_time <= interval.to && a.last_time >= interval.from.plus_nanos(-NEAR)
    };
    let own = |a: &AttemptSeen| a.tunnel == interval.facts.tunnel as usize;
    let places = |keep: &dyn Fn(&AttemptSeen) -> bool| {
        let all = found.attempts.iter().enumerate();
        let kept = all.filter(|(_, a)| own(a) && keep(a));
        kept.map(|(index, _)| index).collect::<Vec<usize>>()
    };
    let explaining = places(&of_it);
    match explaining.is_empty() {
        true => places(&around),
        false => explaining,
    }
}

/// The end of an outage by new data: on the SA that the data went on before, or on another one.
fn end_of(record: &Record, interval: &Interval) -> OutageEnd {
    let ike_sa = |sa: u32| {
        let exchange = record.sas.associations().get(sa as SaIndex)?.exchange?;
        record.timeline.exchanges().get(exchange)?.ike_sa
    };
    let elsewhere = |sa: u32| {
        let sa = record.sas.associations().get(sa as SaIndex);
        sa.is_some_and(|sa| sa.tunnel != interval.facts.tunnel as TunnelIndex)
    };
    match (interval.facts.frames.1, interval.facts.spis) {
        (None, _) => OutageEnd::End,
        (Some(_), (Some(old), Some(new))) if old != new => match (ike_sa(old), ike_sa(new)) {
            (Some(before), Some(after)) if before != after => OutageEnd::NewIkeSa,
            _ => OutageEnd::NewSa,
        },
        (Some(_), (None, Some(new))) if elsewhere(new) => OutageEnd::NewSa,
        (Some(_), _) => OutageEnd::OldSa,
    }
}

/// Tells whether a peer answers neither checks nor requests.
fn shows_silent_peer(event: &&Event) -> bool {
    matches!(event.kind, EventKind::ChecksUnanswered | EventKind::Unanswered)
        && event.known != Certainty::Inferred
        && event.count.is_some_and(|copies| copies >= LEAST_NOT_BY_CHANCE)
}

/// Tells whether a sender had nothing more to send long before its peer fell silent: nothing was sent in vain, and the peer was heard later than
/// an answer takes. The checks of the peer tell of its silence then, from its last packet on.
fn rested_before(found: Explored<'_>, messages: &HeardIke, interval: &Interval) -> bool {
    let facts = &interval.facts;
    let side = (facts.tunnel as TunnelIndex, facts.direction.reverse());
    let own = messages
        .get(&(side.0, slot(side.1)))
        .map_or(&[][..], Vec::as_slice);
    let checked =
        |event: &Event| event.tunnel == Some(side.0) && (interval.from..=interval.to).contains(&event.time);
    let silence = || found.record.traffic.longest_silence(side, interval.span(), own);
    facts.undelivered.open
        && facts.undelivered.swallowed == 0
        && facts.undelivered.shown_by == ShownBy::ControlPlane
        && found.events.iter().filter(shows_silent_peer).any(checked)
        && silence().from > interval.from.plus_nanos(2 * facts.before.rto)
}

/// Tells whether a transfer stopped though its way was open: its SA carried others, or IKE of its sender came, for longer than a sender waits
/// before it tries again, and the SA lacks no number.
fn stopped_by_itself(record: &Record, messages: &HeardIke, interval: &Interval) -> bool {
    let facts = &interval.facts;
    let of_sa = facts
        .spis
        .0
        .and_then(|sa| record.sas.associations().get(sa as SaIndex)?.last);
    let side = (facts.tunnel as TunnelIndex, slot(facts.direction));
    let of_ike = messages.get(&side).and_then(|own| own.last().copied());
    let last = of_sa.max(of_ike);
    facts.undelivered.shown_by == ShownBy::Unfinished
        && facts.undelivered.gaps == 0
        && last.is_some_and(|(last, _)| last.nanos_since(interval.from) > INITIAL_RTO.max(facts.before.rto))
}

/// The stretches, each from the last packet of a peer that answers neither checks nor requests to the end, where no stretch of `others` reaches
/// so far. IKEv1 hides what a message asks, so its checks show nothing here.
pub(crate) fn silent_peers(found: Explored<'_>, messages: &HeardIke, others: &[Interval]) -> Vec<Interval> {
    let told = |tunnel: usize, time: Timestamp| {
        let mut own = others.iter();
        own.any(|interval| interval.facts.tunnel as usize == tunnel && interval.to >= time)
    };
    // A tunnel whose data goes on in another one may be asked in vain: no data is lost.
    let replaced = |tunnel: usize, time: Timestamp| {
        let mut all = found
            .events
            .iter()
            .filter(|event| event.kind == EventKind::OtherTunnel);
        all.any(|event| event.tunnel == Some(tunnel) && event.until.is_none() && event.time <= time)
    };
    let is_known = |tunnel: usize, time| told(tunnel, time) || replaced(tunnel, time);
    let mut stretches: Vec<Interval> = Vec::new();
    for event in found.events.iter().filter(shows_silent_peer) {
        let Some(tunnel) = event.tunnel.filter(|tunnel| !is_known(*tunnel, event.time)) else {
            continue;
        };
        if stretches.iter().all(|own| own.facts.tunnel as usize != tunnel) {
            stretches.extend(stretch(found, messages, event, tunnel));
        }
    }
    stretches
}

/// The stretch of one of these events, up to the end of the capture.
fn stretch(found: Explored<'_>, messages: &HeardIke, event: &Event, tunnel: TunnelIndex) -> Option<Interval> {
    let record = found.record;
    let ends = record.totals.last_time?;
    let towards = record.tunnels.tunnels.get(tunnel)?.direction_to(event.by?);
    let newest = |direction: Direction| {
        let all = record.sas.associations().iter().enumerate();
        let own =
            all.filter(|(_, sa): &(usize, &Association)| (sa.tunnel, sa.direction) == (tunnel, direction));
        own.filter_map(|(index, sa)| Some((sa.last?, index))).max()
    };
    let last_message = messages
        .get(&(tunnel, slot(towards.reverse())))
        .and_then(|own| own.last().copied());
    // A tunnel that never carried a packet was not set up.
    let last_packet = newest(towards.reverse())?.0;
    let (from, frame) = last_message.map_or(last_packet, |message| message.max(last_packet));
    if from >= event.time {
        return None;
    }
    let undelivered = Undelivered {
        attempts: u32::try_from(event.count?).ok()?,
        dead: Some((event.time, ends)),
        open: true,
        ..Undelivered::shown(CarriedKind::Echo, ShownBy::Requests)
    };
    Some(Interval {
        from,
        to: ends,
        facts: Standstill {
            frames: (frame, None),
            spis: (newest(towards).and_then(|(_, sa)| u32::try_from(sa).ok()), None),
            ..Standstill::new((u32::try_from(tunnel).ok()?, towards), undelivered)
        },
    })
}

//! Silences: of the whole capture, of what the capture lacks, of one side's ESP while its IKE passes, and of one SA while others go on.

use crate::diagnosis::whole_run::LONG_SILENCE;
use crate::events::sources::EventSources;
use rekeyscope_impact::explain::DELETE_OF_A_REKEY;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Direction, Event, EventKind};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{INITIAL_RTO, PacketSilence, window_takes};
use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;

/// Packets of a tunnel right before or after a silence, in as long a time, from which on it is none of chance: where ten are expected, none
/// comes with a probability of e⁻¹⁰.
const LEAST_AROUND: f64 = 10.0;

/// Events of all silences.
pub(super) fn of(sources: &EventSources<'_>, ends: Timestamp) -> Vec<Event> {
    let mut found = sources.record.diagnosis.holes().to_vec();
    found.extend(everything(sources));
    found.extend(of_esp(sources, ends));
    for child in sources.children {
        let [Some(one), Some(other)] = child.sa else {
            continue;
        };
        found.extend(of_one_sa(sources, one, other, ends));
        found.extend(of_one_sa(sources, other, one, ends));
    }
    found
}

/// An SA stops in the midst of its packets, for longer than a sender that has renewed leaves its peer upon the old pair, though the peer sends on the
/// SA of the way back, and others of this side go on. Without keys its data may be over, unless the next SA carries some as soon as it stands.
fn of_one_sa(sources: &EventSources<'_>, index: SaIndex, back: SaIndex, ends: Timestamp) -> Option<Event> {
    let (stops, back) = (sources.association(index), sources.association(back));
    let ((begins, _), (stop, frame), (heard, _)) = (stops.first?, stops.last?, back.last?);
    let silent = heard.nanos_since(stop);
    let stops_at_rate =
        window_takes((begins, stop), stops.counters.packets).is_some_and(|pause| pause <= silent);
    // Nearly all SAs end with their pair: these are not held against each other.
    if silent <= DELETE_OF_A_REKEY || !stops_at_rate {
        return None;
    }
    let goes_on = |sa: &Association| {
        let rests = sa
            .rest
            .is_some_and(|(from, to)| 2 * to.nanos_since(from) > silent);
        let lasts = sa
            .last
            .is_some_and(|(last, _)| 2 * last.nanos_since(stop) > silent);
        lasts && !rests && sa.first.is_some_and(|(first, _)| first < stop)
    };
    let others = || {
        let used = sources.used_of((stops.tunnel, stops.direction));
        used.filter(|sa| sa.spi != stops.spi)
    };
    let renewed = |sa: &Association| {
        let since = stop.plus_nanos(-DELETE_OF_A_REKEY);
        sa.first
            .is_some_and(|(first, _)| since <= first && first <= heard)
            || sa.shares_ends(stops) && goes_on(sa)
    };
    let is_alone = goes_on(back) && others().any(goes_on) && !others().any(renewed);
    let is_sealed = stops.inner_ends().is_empty();
    let next = sources.successions.iter().find_map(|own| {
        let side = own.old.iter().position(|old| *old == Some(index))?;
        let first = sources.association(own.new[side]?).first?.0;
        let at_once = own
            .finished
            .is_some_and(|made| first.nanos_since(made) <= INITIAL_RTO);
        (at_once || !is_sealed).then_some(first)
    });
    // Most of what it carried came before the capture.
    let highest = stops
        .sequence
        .highest()
        .filter(|number| *number > 2 * stops.counters.packets);
    let until = next.or((!is_sealed).then_some(ends))?;
    is_alone.then(|| Event {
        tunnel: Some(stops.tunnel),
        by: Some(stops.src),
        spis: vec![stops.spi],
        until: Some(until),
        count: highest,
        ..Event::at(
            EventKind::EspSilent,
            if is_sealed {
                Certainty::Inferred
            } else {
                Certainty::Proven
            },
            stop,
            frame,
        )
    })
}

/// No frame of any kind, though data passed right before and right after; where the capture lost it, that is another event.
fn everything<'a>(sources: &EventSources<'a>) -> impl Iterator<Item = Event> {
    let record = sources.record;
    let busy = |from: Timestamp, to: Timestamp| {
        let mut all = (0..record.tunnels.tunnels.len()).filter(|&t| record.wants(t));
        all.any(|t| {
            let packets = Direction::BOTH.map(|d| record.meters.packets_within(t, d, (from, to)));
            packets.iter().sum::<f64>() >= LEAST_AROUND
        })
    };
    let long = record.diagnosis.whole_run.long_silences.iter();
    let silent = long.filter(move |s| {
        let mut holes = record.diagnosis.holes().iter();
        let to = s.until.unwrap_or(s.time);
        !holes.any(|hole| hole.time <= s.time && hole.until >= s.until)
            && busy(s.time.plus_nanos(-LONG_SILENCE), s.time)
            && busy(to, to.plus_nanos(LONG_SILENCE))
    });
    silent.cloned()
}

/// One side's ESP stops though the other side goes on sending, and its IKE passes meanwhile.
fn of_esp(sources: &EventSources<'_>, ends: Timestamp) -> Vec<Event> {
    let mut messages: BTreeMap<TunnelIndex, Vec<SaidByIke>> = BTreeMap::new();
    for (exchange, tunnel, _, of_it) in sources.exchanges() {
        let own = messages.entry(tunnel).or_default();
        own.extend(of_it.records.iter().map(|r| SaidByIke {
            time: r.time,
            by: r.src,
            frame: r.frame,
            exchange,
        }));
    }
    let mut found = Vec::new();
    for (tunnel, mut own) in messages {
        own.sort_by_key(|m| (m.time, m.frame));
        for direction in Direction::BOTH {
            let sas: Vec<&Association> = sources.used_of((tunnel, direction)).collect();
            let senders: HashSet<IpAddr> = sas.iter().map(|a| a.src).collect();
            let said: Vec<&SaidByIke> = own.iter().filter(|m| senders.contains(&m.by)).collect();
            if said.is_empty() {
                continue;
            }
            let whole = (Timestamp(i64::MIN), ends);
            let silences = sources.record.traffic.silences(tunnel, &[direction], whole);
            let others = sources.used_of((tunnel, direction.reverse()));
            let begin = others.filter_map(|sa| Some(sa.first?.0)).min();
            let of_one = |silence: PacketSilence| {
                let since = if silence.facts.frame.is_some() {
                    whole.0
                } else {
                    begin?
                };
                of_side(
                    sources,
                    (tunnel, direction),
                    silence.within((since, ends))?,
                    &said,
                )
            };
            found.extend(silences.into_iter().filter_map(of_one));
        }
    }
    found
}

/// An IKE message.
struct SaidByIke {
    time: Timestamp,
    by: IpAddr,
    frame: u64,
    exchange: usize,
}

fn of_side(
    sources: &EventSources<'_>,
    (tunnel, direction): (TunnelIndex, Direction),
    PacketSilence { from, to, facts }: PacketSilence,
    said: &[&SaidByIke],
) -> Option<Event> {
    let settled = from.plus_nanos(LONG_SILENCE / 2);
    let next = said.get(said.partition_point(|m| m.time < settled))?;
    let packets = |d, from, to| sources.record.meters.packets_within(tunnel, d, (from, to));
    // Before the capture began there may have been nothing to send: then the renewal that brings packets at once tells that there was.
    let renewed = |made: &Timestamp| (0..=INITIAL_RTO).contains(&to.nanos_since(*made));
    let was_open = || match facts.frame {
        Some(_) => packets(direction, from.plus_nanos(-LONG_SILENCE), from) >= LEAST_AROUND,
        None => to.nanos_since(from) > DELETE_OF_A_REKEY && sources.answered(tunnel).iter().any(renewed),
    };
    let is_one = next.time < to
        && to.nanos_since(from) >= LONG_SILENCE
        && was_open()
        && packets(direction.reverse(), settled, to) >= LEAST_NOT_BY_CHANCE as f64;
    is_one.then(|| Event {
        tunnel: Some(tunnel),
        by: Some(next.by),
        until: Some(to),
        exchange: Some(next.exchange),
        ..Event::at(EventKind::EspSilent, Certainty::Proven, from, next.frame)
    })
}

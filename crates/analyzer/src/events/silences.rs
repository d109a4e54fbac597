//! Silences: of the whole capture, of what the capture lacks, and of one side's ESP while its IKE passes.

use crate::diagnosis::whole_run::LONG_SILENCE;
use crate::events::sources::EventSources;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Direction, Event, EventKind};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::PacketSilence;
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
    found
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
            let behind_packets = silences
                .into_iter()
                .filter(|silence| silence.facts.frame.is_some());
            let inside = behind_packets.filter_map(|silence| silence.within(whole));
            found.extend(inside.filter_map(|silence| of_side(sources, (tunnel, direction), silence, &said)));
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
    PacketSilence { from, to, .. }: PacketSilence,
    said: &[&SaidByIke],
) -> Option<Event> {
    let settled = from.plus_nanos(LONG_SILENCE / 2);
    let next = said.get(said.partition_point(|m| m.time < settled))?;
    let packets = |d, from, to| sources.record.meters.packets_within(tunnel, d, (from, to));
    let is_one = next.time < to
        && to.nanos_since(from) >= LONG_SILENCE
        && packets(direction, from.plus_nanos(-LONG_SILENCE), from) >= LEAST_AROUND
        && packets(direction.reverse(), settled, to) >= LEAST_NOT_BY_CHANCE as f64;
    is_one.then(|| Event {
        tunnel: Some(tunnel),
        by: Some(next.by),
        until: Some(to),
        exchange: Some(next.exchange),
        ..Event::at(EventKind::EspSilent, Certainty::Proven, from, next.frame)
    })
}

//! The record → the scene that explanations look at. Places in the scene's `sas` are those of the SA database.

use crate::assembly::places::Places;
use crate::pipeline::record::Record;
use foldhash::HashMap;
use rekeyscope_impact::explain::{
    ExchangeInScene, MadeByExchange, OutageInScene, SaInScene, Scene, SilencesOfSide, SwallowedPacket,
};
use rekeyscope_ipsec::ike::timeline::Exchange;
use rekeyscope_ipsec::rekey::attempt::AttemptSeen;
use rekeyscope_ipsec::rekey::pair::{ChildSa, makes_children};
use rekeyscope_ipsec::rekey::{Succession, slot};
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_model::analysis::{AttemptOutcome, Direction, Encapsulation, Event};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_traffic::{Interval, LostPacket, StandstillKind};
use std::net::IpAddr;

/// Facts that are known before the outages are explained.
#[derive(Clone, Copy)]
pub(crate) struct Explored<'a> {
    pub(crate) record: &'a Record,
    pub(crate) places: &'a Places,
    pub(crate) children: &'a [ChildSa],
    pub(crate) successions: &'a [Succession],
    pub(crate) attempts: &'a [AttemptSeen],
    pub(crate) events: &'a [Event],
}

/// The scene of these stretches, in their order. `of_rekeys`: they are silences that rekeys own.
pub(crate) fn scene(found: Explored<'_>, stretches: &[Interval], of_rekeys: bool) -> Scene {
    let exchanges = exchanges(found);
    let by_exchange: HashMap<usize, usize> = exchanges
        .iter()
        .enumerate()
        .map(|(place, (index, _))| (*index, place))
        .collect();
    let heard = heard(found.record);
    Scene {
        events: found.events.to_vec(),
        sas: sas(found, &by_exchange),
        exchanges: exchanges.into_iter().map(|(_, exchange)| exchange).collect(),
        outages: stretches
            .iter()
            .map(|interval| OutageInScene {
                of_rekey: of_rekeys,
                ..outage(found.record, &heard, interval)
            })
            .collect(),
    }
}

/// IKE messages of each side of each tunnel, in order of time: when, and the frame.
pub(super) type HeardIke = HashMap<(TunnelIndex, usize), Vec<(Timestamp, u64)>>;

pub(super) fn heard(record: &Record) -> HeardIke {
    let mut heard = HeardIke::default();
    for (tunnel, exchange) in record.exchanges() {
        for message in &exchange.records {
            // A message goes away from its sender; who else moved is known to the table of tunnels.
            let towards = record.tunnels.tunnels[tunnel].direction_to(exchange.other_than(message.src));
            let own = heard.entry((tunnel, slot(towards))).or_default();
            own.push((message.time, message.frame));
        }
    }
    for own in heard.values_mut() {
        own.sort_unstable();
    }
    heard
}

fn sas(found: Explored<'_>, by_exchange: &HashMap<usize, usize>) -> Vec<SaInScene> {
    let record = found.record;
    let timeline = record.timeline.exchanges();
    let deletes = record.deletes();
    let mut sas: Vec<SaInScene> = record
        .sas
        .associations()
        .iter()
        .map(|a| SaInScene {
            tunnel: a.tunnel,
            direction: record.published((a.tunnel, a.direction)),
            spi: a.spi,
            used: a.used(),
            sent: a.sequence.highest().and_then(|number| {
                let bytes = u128::from(a.counters.esp_bytes) * u128::from(number);
                let bytes = bytes.checked_div(u128::from(a.counters.packets))?;
                Some((number, u64::try_from(bytes).ok()?))
            }),
            limit_bytes: a.volume_limit,
            limit_seconds: a.lifetime(timeline).and_then(|lifetime| lifetime.seconds),
            exchange: a.exchange.and_then(|e| by_exchange.get(&e).copied()),
            opposite: None,
            predecessor: None,
            successor: None,
            inner: a.inner_ends().to_vec(),
            deleted: deletes.get(&(a.dst, a.spi)).map(|own| own.0),
        })
        .collect();
    for child in found.children {
        if let [Some(one), Some(other)] = child.sa {
            sas[one].opposite = Some(other);
            sas[other].opposite = Some(one);
        }
        for sa in child.sa.into_iter().flatten() {
            sas[sa].exchange = sas[sa]
                .exchange
                .or_else(|| by_exchange.get(&child.exchange?).copied());
        }
    }
    for succession in found.successions {
        for (old, new) in succession.old.into_iter().zip(succession.new) {
            if let (Some(old), Some(new)) = (old, new) {
                sas[old].successor = Some(new);
                sas[new].predecessor = Some(old);
            }
        }
    }
    for exchange in timeline.iter() {
        end_children(record, exchange, &mut sas);
    }
    sas
}

/// The Delete of an IKE SA ends its child SAs (RFC 7296 §1.4.1).
fn end_children(record: &Record, exchange: &Exchange, sas: &mut [SaInScene]) {
    let Some(notice) = exchange.ike_sa_delete else {
        return;
    };
    let timeline = record.timeline.exchanges();
    for (sa, association) in sas.iter_mut().zip(record.sas.associations()) {
        let made_by = association.exchange.and_then(|e| timeline.get(e)?.ike_sa);
        if made_by.is_some() && made_by == exchange.ike_sa {
            sa.deleted.get_or_insert(notice.time);
        }
    }
}

/// Exchanges that make SAs, each with its index in the timeline.
fn exchanges(found: Explored<'_>) -> Vec<(usize, ExchangeInScene)> {
    let record = found.record;
    let outcomes: HashMap<usize, AttemptOutcome> =
        found.attempts.iter().map(|a| (a.exchange, a.outcome)).collect();
    let renewals: HashMap<usize, SaIndex> = found
        .successions
        .iter()
        .filter_map(|s| Some((s.exchange?, s.old.into_iter().flatten().next()?)))
        .collect();
    let all = record.timeline.exchanges().iter().enumerate();
    let path_waits = PathWaits::of(record);
    let describe = |(index, e): (usize, &Exchange)| {
        let begins_ike_sa = e.kind.begins_ike_sa();
        if !begins_ike_sa && !makes_children(e) && !e.rekeys_ike_sa {
            return None;
        }
        let answered = e.records.iter().find(|m| m.src != e.initiator).map(|m| m.time);
        let made = match outcomes.get(&index) {
            Some(outcome) if outcome.failed() => MadeByExchange::Nothing,
            Some(AttemptOutcome::Superseded) => MadeByExchange::Nothing,
            _ if answered.is_none() || !e.errors.is_empty() => MadeByExchange::Nothing,
            _ if begins_ike_sa || e.rekeys_ike_sa => MadeByExchange::IkeSa,
            _ => MadeByExchange::ChildSa,
        };
        let tunnel = record.exchange_tunnels.get(index).copied().flatten()?;
        let renews = renewals.get(&index).copied().or_else(|| named(record, e));
        Some((
            index,
            ExchangeInScene {
                index: found.places.exchange(index)?,
                tunnel,
                initiator: e.known_initiator(),
                begin: e.first_time()?,
                answered,
                end: e.last_time()?,
                computed: path_waits.computed(tunnel, e),
                made,
                renews,
            },
        ))
    };
    all.filter_map(describe).collect()
}

/// A second message of this length carries a public value: without one, Quick Mode answers are 172 to 230 bytes and CREATE_CHILD_SA ones
/// below 260 (one proposal, two traffic selectors); MODP groups add 132 bytes and more. Elliptic curves add less, and are fast.
const LEAST_LEN_WITH_KEY_EXCHANGE: u32 = 300;

/// Nanoseconds between the distinct messages that follow each other; a wait that a repeated message ended is the loss's.
fn waits(exchange: &Exchange) -> impl Iterator<Item = i64> {
    exchange.records.windows(2).filter_map(|pair| match pair {
        [one, next] if !one.retransmission && !next.retransmission && one.src != next.src => {
            Some(next.time.nanos_since(one.time))
        }
        _ => None,
    })
}

/// The part of an exchange's waits that the path takes, at most: the shortest that any exchange of its kind waited for a message and its
/// answer. Quick Mode and phase 1 have two waits in a round trip, wherever the capture stands; a request of IKEv2 has one, of the path
/// behind the capture.
#[derive(Debug, Default)]
struct PathWaits(HashMap<(TunnelIndex, Option<IpAddr>), i64>);

impl PathWaits {
    fn of(record: &Record) -> Self {
        let mut shortest: HashMap<(TunnelIndex, Option<IpAddr>), i64> = HashMap::default();
        for (tunnel, exchange) in record.exchanges() {
            let waits: Vec<i64> = waits(exchange).collect();
            let least = match waits[..] {
                [one] => Some(one),
                _ => waits.windows(2).map(|pair| pair[0].saturating_add(pair[1])).min(),
            };
            if let Some(least) = least {
                let own = shortest
                    .entry(Self::key(tunnel, exchange, waits.len()))
                    .or_insert(least);
                *own = least.min(*own);
            }
        }
        PathWaits(shortest)
    }

    fn key(tunnel: TunnelIndex, exchange: &Exchange, waits: usize) -> (TunnelIndex, Option<IpAddr>) {
        (tunnel, (waits == 1).then_some(exchange.initiator))
    }

    /// Nanoseconds in which the sides of an exchange computed, at least; `None` where it carries no public values.
    fn computed(&self, tunnel: TunnelIndex, exchange: &Exchange) -> Option<i64> {
        let answer = exchange.answer()?;
        let carries_keys = exchange.key_exchange || answer.len >= LEAST_LEN_WITH_KEY_EXCHANGE;
        let waits: Vec<i64> = waits(exchange).collect();
        let path = self.0.get(&Self::key(tunnel, exchange, waits.len()))?;
        let all = waits.iter().copied().reduce(i64::saturating_add)?;
        let computed = all.saturating_sub(*path);
        (carries_keys && computed > 0).then_some(computed)
    }
}

/// The SA that REKEY_SA names: inbound to the initiator (RFC 7296 §1.3.3).
fn named(record: &Record, exchange: &Exchange) -> Option<SaIndex> {
    let spi = exchange.rekeys.first()?;
    let all = record.sas.associations().iter();
    let mut named = all
        .enumerate()
        .filter(|(_, a)| a.spi == *spi && a.dst == exchange.initiator);
    named.next_back().map(|(sa, _)| sa)
}

fn outage(record: &Record, heard: &HeardIke, interval: &Interval) -> OutageInScene {
    let undelivered = interval.facts.undelivered;
    let tunnel = interval.facts.tunnel as TunnelIndex;
    let ends = record.tunnels.tunnels[tunnel].ends;
    let within = interval.span();
    let side = |direction: Direction| {
        let of = (tunnel, direction);
        let messages = heard
            .get(&(tunnel, slot(direction)))
            .map_or(&[][..], Vec::as_slice);
        let nothing = record.traffic.longest_silence(of, within, messages);
        SilencesOfSide {
            side: ends[slot(direction)],
            nothing: nothing.span(),
            no_esp: record.traffic.longest_silence(of, within, &[]).span(),
            last_frame: nothing.facts.frame,
            rested: rested(record, of, messages, within),
        }
    };
    let sa = interval.facts.spis.0.map(|spi| spi as SaIndex);
    let association = sa.and_then(|sa| record.sas.associations().get(sa));
    OutageInScene {
        tunnel,
        direction: record.published((tunnel, interval.facts.direction)),
        inner: record.traffic.addresses(interval),
        from: interval.from,
        to: interval.to,
        open: undelivered.open && !undelivered.over,
        short: interval.facts.kind == StandstillKind::ShortOutage,
        of_rekey: false,
        lost_on_new: false,
        undelivered,
        swallowed_packets: interval.facts.lost.iter().filter_map(swallowed).collect(),
        round_trip: interval.facts.before.round_trip,
        sa,
        sa_bytes: sa
            .zip(association)
            .and_then(|(sa, association)| record.traffic.volume_at(sa, association, interval.from)),
        back_on: interval.facts.spis.1.map(|spi| spi as SaIndex),
        silences: [
            side(interval.facts.direction),
            side(interval.facts.direction.reverse()),
        ],
    }
}

/// Whoever is behind a NAT sends a keepalive as often by default (RFC 3948 §4), because a mapping may end soon after that.
const NAT_KEEPALIVE: i64 = 20 * NANOS_PER_SECOND;

/// Nanoseconds for which nothing had passed when a side, from which nothing was lost before, was sent several packets that it did not answer until it
/// sent again. In UDP, IKE has the ports of ESP and keeps them open, as keepalives do.
fn rested(
    record: &Record,
    side: Side,
    heard: &[(Timestamp, u64)],
    within: (Timestamp, Timestamp),
) -> Option<i64> {
    let (tunnel, direction) = side;
    let own = record.traffic.silences(tunnel, &[direction], within).into_iter();
    let silent = own.max_by_key(|own| own.within(within).map_or(0, |own| own.nanos()))?;
    let rests = record.traffic.silences(tunnel, &Direction::BOTH, silent.span());
    let rest = rests
        .into_iter()
        .find(|rest| rest.facts.frame.is_some() && rest.nanos() >= NAT_KEEPALIVE)?;
    let sent = |span| record.meters.packets_within(tunnel, direction.reverse(), span);
    let several = LEAST_NOT_BY_CHANCE as f64;
    let is_cause = sent((silent.from, rest.from)) < several && sent((rest.to, silent.to)) >= several;
    let seen = &record.tunnels.tunnels[tunnel];
    let sends_ike = heard
        .iter()
        .any(|(time, _)| rest.from < *time && *time < silent.to);
    let is_udp = seen.encapsulation == Some(Encapsulation::Udp);
    let kept_open = is_udp && (sends_ike || record.keepalives.contains(&seen.ends[slot(direction)]));
    (is_cause && !kept_open).then_some(rest.nanos())
}

fn swallowed(lost: &LostPacket) -> Option<SwallowedPacket> {
    let esp = lost.esp?;
    Some(SwallowedPacket {
        time: lost.time,
        frame: lost.frame,
        sa: esp.spi as SaIndex,
        number: esp.number,
        bytes: lost.bytes,
    })
}

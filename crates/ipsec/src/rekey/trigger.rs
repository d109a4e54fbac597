//! Why a rekey happened: what the old SAs had carried, and how old they were, when the exchange began.
//!
//! What the capture shows is the volume at the *first exchange message*, which lags the peer's own trigger by 0.03–0.5 s,
//! so fractions scatter upwards from the true soft limit. The test is consistency over the trace, and which limits were
//! negotiated at all.

use crate::rekey::evidence::{Evidence, Snapshot};
use crate::rekey::evidence::{Succession, slot};
use crate::rekey::rule::{self, Inferred, Kind, LEAST_FRACTION, Observation, Reached};
use crate::sa::association::{Association, Counters, LIFETIME_KILOBYTE};
use crate::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Direction, Lifetime, Trigger, TriggerKind, TriggerRule};
use rekeyscope_model::sample::Sample;
use rekeyscope_model::text::{Message, Said};
use rekeyscope_model::time::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// Above this share the limit cannot have been in force: the peer would have dropped the packets long before.
const MOST_IN_FORCE: f64 = 3.0;
/// Without negotiated limits: the quantity that varies less than this over the trace, and less than half as much as the
/// other one, is the one that is limited.
const STEADY: f64 = 0.10;
/// Rekeys that make a spread meaningful.
const ENOUGH: usize = 3;
/// ESP sequence numbers end here; peers renew a little earlier (RFC 4303 §3.3.3).
const SEQUENCE_LIMIT: u64 = 0xF000_0000;

/// An SA that is first seen with a higher sequence number than this (every SA begins at 1, RFC 4303 §3.3.3) was in use
/// before: a loss of more packets in a row at its start would be an outage that the peers notice (32 packets are the
/// smallest replay window).
const MOST_LOST_AT_START: u64 = 32;

/// Share of an SA's packets that may be missing before its volume is a lower bound: well-known soft limits lie 5 % of the
/// hard one apart, and half of that cannot turn one into another.
const MOST_MISSING: f64 = 0.025;

/// The payload is counted where at least this share of the packets was opened: below it, its series has holes, and outer bytes are the
/// honest measure.
pub const ENOUGH_OPENED: f64 = 0.98;

#[derive(Debug, Clone, Copy)]
struct SuccessionShown {
    counters: Counters,
    sa_name: &'static str,
    /// Inbound and outbound SA of the initiator (without IKE: b → a and a → b); `None` where the capture lacks its start.
    sides: [Option<Counters>; 2],
    age_s: Option<f64>,
    limits: Lifetime,
    bound: Bound,
    /// Payload, not ESP bytes: the same for all rekeys of a tunnel.
    inner: bool,
    /// Highest sequence number, of an SA whose numbers have 32 bits.
    last_number: Option<u64>,
}

/// Relation of the counters to what the SA had carried when the exchange began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// The counters are just that.
    Exact,
    /// The SA is older than the capture, or packets of it are missing.
    AtLeast,
    /// The first message of the exchange is not in the capture: they were read later.
    AtMost,
    /// Both.
    Neither,
}

/// From the last packet before a hole of the capture to the first one behind it.
type HoleTimes = (Timestamp, Timestamp);

/// A trigger for each succession, in their order, and the rule of each side that renews. `holes`: those of a tunnel.
pub fn triggers(
    evidence: &Evidence<'_>,
    successions: &[Succession],
    holes: impl Fn(TunnelIndex) -> Vec<HoleTimes>,
) -> (Vec<Trigger>, Vec<TriggerRule>) {
    let mut by_tunnel: HashMap<TunnelIndex, Vec<usize>> = HashMap::new();
    for (i, s) in successions.iter().enumerate() {
        by_tunnel.entry(s.tunnel).or_default().push(i);
    }
    let mut shown: Vec<Option<SuccessionShown>> = vec![None; successions.len()];
    for (&tunnel, members) in &by_tunnel {
        let holes = holes(tunnel);
        for &i in members {
            shown[i] = self::shown(evidence, &successions[i], &holes);
        }
        // Volumes of one table are counted alike.
        let inner = members.iter().all(|&i| shown[i].is_none_or(|s| s.inner));
        for &i in members {
            shown[i] = shown[i].map(|own| SuccessionShown { inner, ..own });
        }
    }
    let mut triggers: Vec<Trigger> = shown.iter().map(describe).collect();
    for members in by_tunnel.values() {
        let with = |bound: Bound| {
            let all = members.iter().filter_map(|&i| shown[i].as_ref());
            all.filter(|s| s.bound == bound)
                .collect::<Vec<&SuccessionShown>>()
        };
        let exact = with(Bound::Exact);
        let steady = steadier(&if exact.len() < ENOUGH {
            with(Bound::AtMost)
        } else {
            exact
        });
        for &i in members {
            triggers[i].kind = kind(&successions[i], shown[i].as_ref(), steady);
        }
    }
    let rules = rules(successions, &shown, &mut triggers);
    (triggers, rules)
}

/// One rule per tunnel and initiator, over its rekeys without collision or new phase 1. Where packets are what runs out,
/// which no single rekey can show, their triggers say so too.
fn rules(
    successions: &[Succession],
    shown: &[Option<SuccessionShown>],
    triggers: &mut [Trigger],
) -> Vec<TriggerRule> {
    let mut sides: BTreeMap<(TunnelIndex, Option<IpAddr>), Vec<usize>> = BTreeMap::new();
    for (i, s) in successions.iter().enumerate() {
        if !s.collision && !s.reauthentication && shown[i].is_some() {
            sides.entry((s.tunnel, s.initiator)).or_default().push(i);
        }
    }
    let mut rules = Vec::new();
    for ((tunnel, initiator), members) in sides {
        let kinds: Vec<TriggerKind> = members.iter().map(|&i| triggers[i].kind).collect();
        // One per member: those without were left out above.
        let of_members = members.iter().filter_map(|&i| shown[i]);
        let observations = of_members.map(|shown| Observation {
            sides: shown.sides,
            age_s: shown.age_s,
            limit_kilobytes: shown.limits.kilobytes,
            limit_seconds: shown.limits.seconds,
            late: shown.bound == Bound::AtMost,
        });
        let observations: Vec<Observation> = observations.collect();
        let end = initiator.is_some();
        let Inferred {
            rule,
            counting,
            reached,
        } = rule::infer((tunnel, initiator), &observations, most_common(&kinds), end);
        for (&i, reached) in members.iter().zip(reached) {
            if let Some((reached, counting)) = reached.zip(counting.clone()) {
                count_as_the_rule(&mut triggers[i], &rule, counting, reached);
            }
        }
        if rule.kind == Kind::Packets {
            members.iter().for_each(|&i| triggers[i].kind = Kind::Packets);
        }
        rules.push(rule);
    }
    rules
}

/// The rule's counting, where no other fits, is the one that this rekey's volume is given in.
fn count_as_the_rule(trigger: &mut Trigger, rule: &TriggerRule, counting: Message, reached: Reached) {
    let kilobyte = rule.bytes_per_kilobyte.map_or(LIFETIME_KILOBYTE, u64::from);
    trigger.bytes = Some(reached.bytes);
    trigger.fraction = reached.fraction;
    let said = Message::new("trigger-as-the-rule")
        .with("counting", counting)
        .with("kilobyte", kilobyte.to_string());
    set_counting(trigger, said);
}

fn set_counting(trigger: &mut Trigger, message: Message) {
    let said = Said::from(message);
    (trigger.counting, trigger.messages) = (Some(said.sentence), said.messages);
}

fn most_common(kinds: &[TriggerKind]) -> TriggerKind {
    // Each kind with the number of its rekeys, in order of appearance.
    let mut counts: Vec<(TriggerKind, usize)> = Vec::new();
    for kind in kinds {
        match counts.iter_mut().find(|(known, _)| known == kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((*kind, 1)),
        }
    }
    let common = counts.iter().rev().max_by_key(|(_, count)| *count);
    common.map_or(TriggerKind::Unknown, |(kind, _)| *kind)
}

/// The expiring SA is the one of the busier direction: it reaches a byte limit first.
fn shown(evidence: &Evidence<'_>, succession: &Succession, holes: &[HoleTimes]) -> Option<SuccessionShown> {
    let at_start = [0, 1].map(|d| {
        let sa = succession.old[d]?;
        let association = &evidence.associations[sa];
        let noted = snapshot(evidence.snapshots, succession.exchange, sa);
        let (counters, missing) = noted.unwrap_or_else(|| (association.counters, association.missing()));
        Some((sa, counters, missing))
    });
    let (sa, counters, missing) = at_start
        .into_iter()
        .flatten()
        .max_by_key(|(_, c, _)| (c.inner_bytes.max(c.esp_bytes), c.packets))?;
    let association = &evidence.associations[sa];
    let began = began(evidence, succession, association.first.map(|(t, _)| t));
    let now = succession
        .first_message
        .or(succession.switched[slot(association.direction)]);
    let age_s = began
        .zip(now)
        .map(|(began, now)| now.seconds_since(began))
        .filter(|age| *age >= 0.0);
    let of_the_new = || {
        let mut new = succession.new.iter().flatten();
        let lifetime = |sa: &usize| evidence.associations[*sa].lifetime(evidence.exchanges);
        evidence.exchanges[succession.exchange?]
            .lifetime
            .or_else(|| new.find_map(lifetime))
    };
    let limits = association.lifetime(evidence.exchanges).or_else(of_the_new);
    let late = succession.started.is_none();
    let lacks = |association: &Association, counters: &Counters, missing: u64| {
        let older = association.sequence.missing_at_start() > MOST_LOST_AT_START;
        // Nothing follows on this SA that would show how much went on it in the hole.
        let ends = |(from, _): &HoleTimes| association.last.is_some_and(|(last, _)| last <= *from);
        let tail = holes.iter().any(|h| ends(h) && now.is_some_and(|now| h.0 < now));
        older || tail || missing as f64 > MOST_MISSING * (missing + counters.packets) as f64
    };
    let mut sides = [None; 2];
    for (sa, counters, missing) in at_start.into_iter().flatten() {
        let association = &evidence.associations[sa];
        let inbound = name(evidence, succession, association.direction);
        let slot = usize::from(!matches!(inbound, "inbound" | "b-to-a"));
        sides[slot] = (!lacks(association, &counters, missing)).then_some(counters);
    }
    if lacks(association, &counters, missing) {
        sides = [None; 2]; // the busier one tells the limit; the other by itself would leave that counting out for all
    }
    let before = missing.max(association.sequence.missing_at_start());
    let inner = |c: &Counters| c.opened > 0 && c.opened as f64 >= ENOUGH_OPENED * c.packets as f64;
    Some(SuccessionShown {
        bound: match (lacks(association, &counters, missing), late) {
            (false, false) => Bound::Exact,
            (false, true) => Bound::AtMost,
            // The missing bytes are more than those that were seen, also before the late message.
            (true, late) if !late || before >= counters.packets => Bound::AtLeast,
            (true, _) => Bound::Neither,
        },
        inner: inner(&counters),
        last_number: association
            .sequence
            .highest()
            .filter(|_| association.extended.is_none()),
        counters,
        sides,
        sa_name: name(evidence, succession, association.direction),
        age_s,
        limits: limits.unwrap_or_default(),
    })
}

/// Inbound and outbound as the initiator of the rekey sees it (RFC 4301); without IKE, the direction. A word of the catalogue.
fn name(evidence: &Evidence<'_>, succession: &Succession, internal: Direction) -> &'static str {
    let tunnel = &evidence.tunnels[succession.tunnel];
    let published = tunnel.published(internal);
    match (succession.initiator, published) {
        (Some(i), Direction::BToA) if i == tunnel.a() => "inbound",
        (Some(i), Direction::AToB) if i == tunnel.b() => "inbound",
        (Some(_), _) => "outbound",
        (None, Direction::AToB) => "a-to-b",
        (None, Direction::BToA) => "b-to-a",
    }
}

/// An SA begins to age when its exchange ends; without one, with its first packet.
fn began(evidence: &Evidence<'_>, succession: &Succession, first: Option<Timestamp>) -> Option<Timestamp> {
    succession
        .old
        .iter()
        .flatten()
        .filter_map(|&sa| evidence.associations[sa].exchange)
        .map(|e| evidence.exchanges[e].span().1)
        .min()
        .or(first)
}

/// Snapshots are kept in the order of exchanges.
fn snapshot(snapshots: &[Snapshot], exchange: Option<usize>, sa: usize) -> Option<(Counters, u64)> {
    let exchange = exchange?;
    let from = snapshots.partition_point(|s| s.exchange < exchange);
    snapshots[from..]
        .iter()
        .take_while(|s| s.exchange == exchange)
        .find(|s| s.sa == sa)
        .map(|s| (s.counters, s.missing))
}

/// The volume, and a word of the catalogue for its kind.
fn volume(shown: &SuccessionShown) -> (u64, &'static str) {
    if shown.inner {
        (shown.counters.inner_bytes, "inner")
    } else {
        (shown.counters.esp_bytes, "esp")
    }
}

fn volume_fraction(shown: &SuccessionShown) -> Option<f64> {
    Some(volume(shown).0 as f64 / ((shown.limits.kilobytes?.saturating_mul(LIFETIME_KILOBYTE)) as f64))
}

fn time_fraction(shown: &SuccessionShown) -> Option<f64> {
    shown
        .age_s
        .zip(shown.limits.seconds)
        .filter(|(_, limit)| *limit > 0)
        .map(|(age, limit)| age / limit as f64)
}

fn describe(shown: &Option<SuccessionShown>) -> Trigger {
    let mut trigger = Trigger::default();
    let Some(shown) = shown else { return trigger };
    let (bytes, counted) = volume(shown);
    let message = Message::new("trigger-expiring")
        .with("what", counted)
        .with("side", shown.sa_name);
    (trigger.limit_kilobytes, trigger.limit_seconds) = (shown.limits.kilobytes, shown.limits.seconds);
    if shown.bound == Bound::Neither {
        return trigger;
    }
    set_counting(&mut trigger, message);
    trigger.fraction = volume_fraction(shown).filter(|_| shown.bound == Bound::Exact);
    trigger.bytes = Some(bytes);
    trigger.age_s = shown.age_s;
    trigger.at_least = shown.bound == Bound::AtLeast;
    trigger.at_most = shown.bound == Bound::AtMost;
    trigger
}

fn kind(
    succession: &Succession,
    shown: Option<&SuccessionShown>,
    steady: Option<TriggerKind>,
) -> TriggerKind {
    if succession.reauthentication {
        return TriggerKind::Reauthentication;
    }
    if succession.collision {
        return TriggerKind::Collision;
    }
    let Some(shown) = shown else {
        return TriggerKind::Unknown;
    };
    if shown.last_number.is_some_and(|last| last >= SEQUENCE_LIMIT) {
        return TriggerKind::Packets;
    }
    if matches!(shown.bound, Bound::AtLeast | Bound::Neither) {
        // Lower bounds say nothing about a limit; the other rekeys of the tunnel may.
        return steady.unwrap_or(TriggerKind::Unknown);
    }
    let plausible = |f: Option<f64>| f.filter(|f| (LEAST_FRACTION..=MOST_IN_FORCE).contains(f));
    match (plausible(volume_fraction(shown)), plausible(time_fraction(shown))) {
        (Some(v), Some(t)) => match steady {
            Some(kind) => kind,
            None if v >= 2.0 * t => TriggerKind::Volume,
            None if t >= 2.0 * v => TriggerKind::Time,
            None => TriggerKind::Unknown,
        },
        (Some(_), None) => TriggerKind::Volume,
        (None, Some(_)) => TriggerKind::Time,
        // No limit that was negotiated is near: one that was configured without being negotiated shows by its steadiness.
        (None, None) => steady.unwrap_or(TriggerKind::Unknown),
    }
}

/// The limited one of volume and age, by how little it varies.
fn steadier(group: &[&SuccessionShown]) -> Option<TriggerKind> {
    let volumes: Vec<f64> = group.iter().map(|s| volume(s).0 as f64).collect();
    let ages: Vec<f64> = group.iter().filter_map(|s| s.age_s).collect();
    let (v, t) = (variation(&volumes)?, variation(&ages)?);
    if v < STEADY && v < 0.5 * t {
        Some(TriggerKind::Volume)
    } else if t < STEADY && t < 0.5 * v {
        Some(TriggerKind::Time)
    } else {
        None
    }
}

fn variation(values: &[f64]) -> Option<f64> {
    Some(Sample::of(values)).filter(|s| s.n >= ENOUGH)?.variation()
}

#[cfg(test)]
mod tests;

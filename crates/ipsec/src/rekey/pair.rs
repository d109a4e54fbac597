//! SAs → child SAs: the two directions that one exchange made.

use crate::ike::opening::Opening;
use crate::ike::timeline::Exchange;
use crate::rekey::evidence::Evidence;
use crate::rekey::evidence::slot;
use crate::rekey::short_answer::refused_by_length;
use crate::sa::association::Association;
use crate::sa::database::SaIndex;
use crate::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// Without IKE, two SAs of opposite directions whose first packets are this close make a pair. A rekey whose last message
/// is lost was measured with 5.9 s between the first packets of the two directions.
const PAIRING_NANOS: i64 = 8 * NANOS_PER_SECOND;

/// An SA pair (RFC 4301 and RFC 7296 call it a Child SA).
#[derive(Debug, Clone)]
pub struct ChildSa {
    /// Tunnel.
    pub tunnel: TunnelIndex,
    /// The exchange that made it.
    pub exchange: Option<usize>,
    /// The SAs by internal direction.
    pub sa: [Option<SaIndex>; 2],
    /// First message of its exchange, else first packet.
    pub born: Timestamp,
}

impl ChildSa {
    /// The SAs of both directions, as far as they are known.
    pub(super) fn sas<'a>(&self, evidence: &Evidence<'a>) -> impl Iterator<Item = &'a Association> {
        let associations = evidence.associations;
        self.sa.iter().flatten().map(|&sa| &associations[sa])
    }

    /// A packet came on one of its SAs.
    pub(super) fn is_used(&self, evidence: &Evidence<'_>) -> bool {
        self.sas(evidence).any(|sa| sa.first.is_some())
    }
}

/// True for exchanges that make child SAs.
pub fn makes_children(exchange: &Exchange) -> bool {
    matches!(
        exchange.kind,
        ExchangeKind::QuickMode | ExchangeKind::IkeAuth | ExchangeKind::CreateChildSa
    )
}

/// All child SAs in order of birth.
pub fn child_sas(evidence: &Evidence<'_>) -> Vec<ChildSa> {
    let mut children = named_by_exchanges(evidence);
    let unnamed: Vec<SaIndex> = by_first_packet(evidence, |sa| evidence.associations[sa].exchange.is_none());
    let leftover = attribute_to_exchanges(evidence, unnamed, &mut children);
    children.extend(pair_by_time(evidence, leftover));
    // An exchange that was refused, or never answered, names the SA that its initiator would have received on, and nothing else.
    children.retain(|c| c.sa.iter().all(Option::is_some) || c.is_used(evidence));
    children.sort_by_key(|c| c.born);
    children
}

fn by_first_packet(evidence: &Evidence<'_>, keep: impl Fn(SaIndex) -> bool) -> Vec<SaIndex> {
    let mut list: Vec<SaIndex> = (0..evidence.associations.len())
        .filter(|&sa| {
            let association = &evidence.associations[sa];
            association.first.is_some() && !association.bundled && keep(sa)
        })
        .collect();
    list.sort_by_key(|&sa| evidence.associations[sa].first);
    list
}

/// SAs whose exchange could be read. The k-th SA of each direction makes the k-th pair (a Quick Mode may make several).
fn named_by_exchanges(evidence: &Evidence<'_>) -> Vec<ChildSa> {
    let mut per_exchange: HashMap<usize, [Vec<SaIndex>; 2]> = HashMap::new();
    for (sa, association) in evidence.associations.iter().enumerate() {
        if let (Some(exchange), false) = (association.exchange, association.bundled) {
            per_exchange.entry(exchange).or_default()[slot(association.direction)].push(sa);
        }
    }
    let mut children = Vec::new();
    for (exchange, [forward, backward]) in per_exchange {
        let (born, _) = evidence.exchanges[exchange].span();
        for k in 0..forward.len().max(backward.len()) {
            let sa = [forward.get(k).copied(), backward.get(k).copied()];
            let Some(any) = sa[0].or(sa[1]) else { continue };
            let tunnel = evidence.associations[any].tunnel;
            children.push(ChildSa {
                tunnel,
                exchange: Some(exchange),
                sa,
                born,
            });
        }
    }
    children.sort_by_key(|c| (c.born, c.exchange, c.sa));
    children
}

/// SAs whose exchange could not be read: an SPI belongs to the last exchange that could have made it by its first packet.
/// An SA cannot carry packets before both sides sent a message, so the second message has to precede them.
/// Returns the SAs that no exchange can have made.
fn attribute_to_exchanges(
    evidence: &Evidence<'_>,
    unnamed: Vec<SaIndex>,
    children: &mut Vec<ChildSa>,
) -> Vec<SaIndex> {
    let mut made = take_halves(evidence, children);
    let mut leftover = Vec::new();
    let readable: HashSet<usize> = children.iter().filter_map(|c| c.exchange).collect();
    let halves: HashSet<usize> = made.keys().copied().collect();
    let by_tunnel = candidate_exchanges(evidence, &readable, &halves);
    for sa in unnamed {
        let association = &evidence.associations[sa];
        let (Some((first, _)), d) = (association.first, slot(association.direction)) else {
            continue;
        };
        let candidates = by_tunnel.get(&association.tunnel).map_or(&[][..], Vec::as_slice);
        let ready = candidates.partition_point(|&(second, _)| second <= first);
        let half_of = |exchange: &usize| made.get(exchange);
        let mut free = candidates[..ready]
            .iter()
            .rev()
            .take(MOST_OVERLAPPING)
            .filter(|(_, exchange)| half_of(exchange).is_none_or(|child| child.sa[d].is_none()))
            .peekable();
        let last = free.peek().copied();
        // The SA of the other direction carries the same addresses, where keys show them.
        let fits = |(_, exchange): &&(Timestamp, usize)| {
            let opposite = half_of(exchange).and_then(|child| child.sa[1 - d]);
            opposite.is_some_and(|opposite| association.answers(&evidence.associations[opposite]))
        };
        match free.find(fits).or(last) {
            Some(&(_, exchange)) => {
                let (born, _) = evidence.exchanges[exchange].span();
                let child = made.entry(exchange).or_insert_with(|| ChildSa {
                    tunnel: association.tunnel,
                    exchange: Some(exchange),
                    sa: [None; 2],
                    born,
                });
                child.sa[d] = Some(sa);
            }
            None => leftover.push(sa),
        }
    }
    children.extend(made.into_values());
    leftover
}

/// Takes out the child SAs of exchanges that could be read in one direction only: each message names the SPI inbound to its
/// sender, so the other SA is without a name.
fn take_halves(evidence: &Evidence<'_>, children: &mut Vec<ChildSa>) -> HashMap<usize, ChildSa> {
    let mut halves = HashMap::new();
    children.retain(|child| {
        let half = child
            .exchange
            .filter(|&e| evidence.exchanges[e].lacks_messages() && child.sa.iter().any(Option::is_none));
        if let Some(exchange) = half {
            halves.insert(exchange, child.clone());
        }
        half.is_none()
    });
    halves
}

/// An SPI looks back over at most this many exchanges for one that still lacks an SA of its direction: exchanges that
/// overlap (a collision is two, RFC 7296 §2.8.1) may be used in either order.
const MOST_OVERLAPPING: usize = 4;

/// Per tunnel: (time of the second message, exchange), in that order. Where the second message is not in the capture (it
/// holds one side of IKE only, or begins later), the first one captured; so too of `halves`, which made an SA that is in use:
/// they were answered, and the capture lost it.
fn candidate_exchanges(
    evidence: &Evidence<'_>,
    readable: &HashSet<usize>,
    halves: &HashSet<usize>,
) -> HashMap<TunnelIndex, Vec<(Timestamp, usize)>> {
    let mut by_tunnel: HashMap<TunnelIndex, Vec<(Timestamp, usize)>> = HashMap::new();
    let two_sided = two_sided(evidence);
    for (index, exchange) in evidence
        .exchanges
        .iter()
        .enumerate()
        .filter(|(_, e)| !refused_by_length(e))
    {
        let tunnel = evidence.tunnel_of(index);
        let unanswered = tunnel.is_none_or(|t| two_sided.contains(&t));
        let answer = match exchange.opening() {
            Opening::Whole if unanswered => {
                let answer = exchange.records.iter().find(|r| r.src != exchange.initiator);
                answer.or_else(|| exchange.records.first().filter(|_| halves.contains(&index)))
            }
            _ => exchange.records.first(),
        };
        if let (true, Some(answer), Some(tunnel), false) = (
            makes_children(exchange),
            answer,
            tunnel,
            readable.contains(&index) || (exchange.decrypted && !exchange.lacks_messages()),
        ) {
            by_tunnel.entry(tunnel).or_default().push((answer.time, index));
        }
    }
    for list in by_tunnel.values_mut() {
        list.sort_unstable();
    }
    by_tunnel
}

/// Tunnels of whose IKE the capture holds both sides.
fn two_sided(evidence: &Evidence<'_>) -> HashSet<TunnelIndex> {
    let tunnels = evidence.exchanges.iter().zip(evidence.exchange_tunnels);
    tunnels
        .filter(|(exchange, _)| !exchange.is_one_sided())
        .filter_map(|(_, tunnel)| *tunnel)
        .collect()
}

/// Tunnels whose two ends are both heard: only there does a missing answer mean something.
#[derive(Debug)]
pub(super) struct Speakers(HashSet<TunnelIndex>);

impl Speakers {
    /// By IKE messages of both sides, or by ESP in both directions.
    pub(super) fn of(evidence: &Evidence<'_>) -> Self {
        let mut both = two_sided(evidence);
        let mut directions: HashMap<TunnelIndex, [bool; 2]> = HashMap::new();
        for association in evidence.associations.iter().filter(|a| a.first.is_some()) {
            directions.entry(association.tunnel).or_default()[slot(association.direction)] = true;
        }
        both.extend(
            directions
                .iter()
                .filter(|(_, seen)| **seen == [true; 2])
                .map(|(t, _)| *t),
        );
        Speakers(both)
    }

    /// Both ends of this tunnel are heard.
    pub(super) fn both(&self, tunnel: TunnelIndex) -> bool {
        self.0.contains(&tunnel)
    }
}

/// Beginnings in the capture of the exchanges that made SAs, and who began them.
#[derive(Debug)]
pub struct Openings(HashMap<usize, Opening>);

impl Openings {
    /// Looks at the exchanges of all child SAs that carried packets.
    pub fn new(evidence: &Evidence<'_>, children: &[ChildSa]) -> Self {
        let two_sided = two_sided(evidence);
        let mut initiators: HashMap<TunnelIndex, HashSet<IpAddr>> = HashMap::new();
        for (exchange, tunnel) in evidence.exchanges.iter().zip(evidence.exchange_tunnels) {
            let whole =
                makes_children(exchange) && !exchange.is_one_sided() && exchange.opening() == Opening::Whole;
            if let (true, Some(tunnel)) = (whole, tunnel) {
                initiators.entry(*tunnel).or_default().insert(exchange.initiator);
            }
        }
        let opening = |child: &ChildSa| {
            let index = child.exchange?;
            let exchange = &evidence.exchanges[index];
            let begins = |address| {
                initiators
                    .get(&child.tunnel)
                    .is_some_and(|i| i.contains(&address))
            };
            // One message of one side only cannot be told from the answer to it, unless that side is known to begin.
            let known = two_sided.contains(&child.tunnel)
                && (begins(exchange.initiator) || !begins(exchange.responder));
            let opening = if known {
                exchange.opening()
            } else {
                exchange.opening_of_made()
            };
            Some((index, opening))
        };
        Openings(
            children
                .iter()
                .filter(|c| c.is_used(evidence))
                .filter_map(opening)
                .collect(),
        )
    }

    /// The opening of any exchange; messages alone tell of one that made no SA in use.
    pub fn of(&self, evidence: &Evidence<'_>, exchange: usize) -> Opening {
        let own = self.0.get(&exchange).copied();
        own.unwrap_or_else(|| evidence.exchanges[exchange].opening())
    }
}

/// SAs without any exchange: nearest first packets of opposite directions.
fn pair_by_time(evidence: &Evidence<'_>, unnamed: Vec<SaIndex>) -> Vec<ChildSa> {
    let mut children: Vec<ChildSa> = Vec::new();
    for sa in unnamed {
        let association = &evidence.associations[sa];
        let (Some((first, _)), d) = (association.first, slot(association.direction)) else {
            continue;
        };
        let partner = children.iter_mut().rev().take(64).filter(|c| {
            c.tunnel == association.tunnel
                && c.sas(evidence)
                    .all(|other| other.protocol == association.protocol)
                && c.sa[d].is_none()
                && first.nanos_since(c.born) <= PAIRING_NANOS
        });
        // The oldest open half: halves open and close in order.
        match partner.last() {
            Some(child) => child.sa[d] = Some(sa),
            None => {
                let mut pair = [None; 2];
                pair[d] = Some(sa);
                children.push(ChildSa {
                    tunnel: association.tunnel,
                    exchange: None,
                    sa: pair,
                    born: first,
                });
            }
        }
    }
    children
}

#[cfg(test)]
mod tests;

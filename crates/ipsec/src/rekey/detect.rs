//! Child SAs → successions: which one renews which.
//!
//! A child SA that begins while another one goes on is a second SA beside it (other traffic selectors), not a renewal.
//! One that begins under a new IKE SA after a long silence is a new connection.

use crate::ike::opening::Opening;
use crate::ike::timeline::Exchange;
use crate::rekey::evidence::Evidence;
use crate::rekey::evidence::Succession;
use crate::rekey::pair::{ChildSa, Openings};
use crate::sa::association::Association;
use crate::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::spi::IpsecProtocol;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use std::collections::{HashMap, VecDeque};

/// An SA that carries packets for longer than this after its supposed successor began …
const CARRIES_ON_NANOS: i64 = NANOS_PER_SECOND;
/// … and for longer than this share of its whole life, goes on beside it. (An old SA may drain for 30 s of an hour; two
/// parallel SAs of 3 s each overlap for most of their lives.)
const CARRIES_ON_SHARE: f64 = 0.25;
/// Least time to a renewal, which takes a round trip and a computation; no lifetime in use is so short. SAs that begin closer together
/// stand side by side, unless an exchange says otherwise.
const TOGETHER_NANOS: i64 = 100 * NANOS_PER_MILLI;
/// Longest silence of a rekey whose last message is lost (5.9 s was measured). Without IKE, an SA that was silent for longer than this,
/// and than it was in use, did not end where another one begins.
const TAKEN_OVER_NANOS: i64 = 8 * NANOS_PER_SECOND;
/// Under a new IKE SA, a child SA that begins this long after the last packet of the old one is a new connection.
const NEW_CONNECTION_NANOS: i64 = 30 * NANOS_PER_SECOND;
/// A phase 1 that finished within this before the exchange came with it: the rekey is a reauthentication.
pub const REAUTHENTICATION_NANOS: i64 = 10 * NANOS_PER_SECOND;
/// Most parallel child SAs of one tunnel that are kept apart; the oldest is given up first.
const MOST_PARALLEL: usize = 64;
/// Newest child SAs of a succession that a REKEY_SA may name: the one that both sides renewed, and the result of each
/// (RFC 7296 §2.8.1).
const MOST_NAMED: usize = 3;

/// All renewals in order of their exchanges (first packets where there is none).
pub fn successions(evidence: &Evidence<'_>, children: &[ChildSa]) -> Vec<Succession> {
    let openings = Openings::new(evidence, children);
    let mut heads: HashMap<TunnelIndex, Vec<Lineage>> = HashMap::new();
    let mut found = Vec::new();
    let phase1 = Phase1Ends::of(evidence.exchanges);
    for (index, child) in children.iter().enumerate() {
        let lineages = heads.entry(child.tunnel).or_default();
        let head = |l: usize| &children[lineages[l].head];
        let named = |l: usize| {
            let mut recent = lineages[l].recent.iter().rev();
            recent.find(|&&c| says_so(evidence, &children[c], child)).copied()
        };
        let told = (0..lineages.len()).find_map(|l| Some((l, named(l)?)));
        let predecessor = told.or_else(|| {
            (0..lineages.len())
                .filter(|&l| renews(evidence, head(l), child))
                .min_by_key(|&l| {
                    let elsewhere = !have_inner_ends_in_common(evidence, head(l), child);
                    (elsewhere, distance(evidence, head(l), child), l)
                })
                .map(|l| (l, lineages[l].head))
        });
        match predecessor {
            Some((l, old)) => {
                let lineage = &mut lineages[l];
                found.push(succession(
                    (evidence, &openings),
                    &children[old],
                    child,
                    lineage,
                    &phase1,
                ));
                lineage.step(evidence, index, child);
            }
            None => {
                if lineages.len() >= MOST_PARALLEL {
                    lineages.remove(0);
                }
                let mut lineage = Lineage {
                    head: index,
                    recent: VecDeque::new(),
                    left: [None; 2],
                };
                lineage.step(evidence, index, child);
                lineages.push(lineage);
            }
        }
    }
    mark_collisions(&mut found);
    found
}

struct Lineage {
    head: usize,
    /// The newest [`MOST_NAMED`]: after a collision, REKEY_SA may name the pair that came first.
    recent: VecDeque<usize>,
    /// Last packet of the newest SA that carried any, per direction.
    left: [Option<Timestamp>; 2],
}

impl Lineage {
    fn step(&mut self, evidence: &Evidence<'_>, index: usize, child: &ChildSa) {
        self.head = index;
        self.recent.push_back(index);
        if self.recent.len() > MOST_NAMED {
            self.recent.pop_front();
        }
        for d in 0..2 {
            if let Some((last, _)) = sa_of(evidence, child, d).and_then(|a| a.last) {
                self.left[d] = Some(last);
            }
        }
    }
}

fn sa_of<'a>(evidence: &Evidence<'a>, child: &ChildSa, d: usize) -> Option<&'a Association> {
    child.sa[d].map(|sa| &evidence.associations[sa])
}

/// The first and the last packet of the old SA, and the first one of the new, in a direction in which both carried any.
fn seam(evidence: &Evidence<'_>, old: &ChildSa, new: &ChildSa, d: usize) -> Option<[Timestamp; 3]> {
    let (old, new) = (sa_of(evidence, old, d)?, sa_of(evidence, new, d)?);
    Some([old.first?.0, old.last?.0, new.first?.0])
}

/// IKEv2 names the SA that a CREATE_CHILD_SA renews (REKEY_SA, RFC 7296 §1.3.3).
fn says_so(evidence: &Evidence<'_>, old: &ChildSa, new: &ChildSa) -> bool {
    let Some(exchange) = new.exchange.map(|e| &evidence.exchanges[e]) else {
        return false;
    };
    old.sas(evidence).any(|a| exchange.rekeys.contains(&a.spi))
}

/// ESP or AH.
fn protocol(evidence: &Evidence<'_>, child: &ChildSa) -> Option<IpsecProtocol> {
    child.sas(evidence).next().map(|a| a.protocol)
}

/// Tells whether `new` takes over from `old`.
fn renews(evidence: &Evidence<'_>, old: &ChildSa, new: &ChildSa) -> bool {
    if old.exchange.is_some() && old.exchange == new.exchange {
        return false; // two pairs of one exchange stand side by side
    }
    if protocol(evidence, old) != protocol(evidence, new) {
        return false;
    }
    if old.exchange.is_none() && new.exchange.is_none() && !takes_over(evidence, old, new) {
        return false;
    }
    if new.exchange.is_some_and(|e| adds_a_child(&evidence.exchanges[e]))
        && !follows_in_its_place(evidence, old, new)
    {
        return false;
    }
    let beside = (0..2).any(|d| carries_on(evidence, old, new, d));
    let beside = beside && !opposite_at_once(evidence, old, new);
    !beside && !new_connection(evidence, old, new)
}

/// Tells whether packets without IKE show that one SA ends and another begins. In each direction that both have, the old one was alone for
/// longer than beside the new one; in one of them it carried packets until then, and a single packet has no end. (SAs without a
/// direction in common are the two sides of one pair, of which one spoke late.)
fn takes_over(evidence: &Evidence<'_>, old: &ChildSa, new: &ChildSa) -> bool {
    let mut ends = false;
    for d in 0..2 {
        let Some([o_first, o_last, n_first]) = seam(evidence, old, new, d) else {
            continue;
        };
        let alone = n_first.nanos_since(o_first);
        if alone < TOGETHER_NANOS || o_last.nanos_since(n_first) > alone {
            return false;
        }
        let in_use = o_last.nanos_since(o_first);
        ends |= in_use > 0 && n_first.nanos_since(o_last) <= in_use.max(TAKEN_OVER_NANOS);
    }
    ends
}

/// Opened packets of the two have inner hosts in common: of several child SAs with other traffic selectors, this one's traffic goes on.
fn have_inner_ends_in_common(evidence: &Evidence<'_>, old: &ChildSa, new: &ChildSa) -> bool {
    (0..2).any(|d| {
        let carried = |child| sa_of(evidence, child, d).map_or(&[][..], Association::inner_ends);
        let before = carried(old);
        carried(new).iter().any(|ends| before.contains(ends))
    })
}

/// Both sides renewed at once (RFC 7296 §2.8.1; with IKEv1 both results stay): each may go on sending on the pair of its
/// own choice, so one direction of the first pair outlives the beginning of the second.
fn opposite_at_once(evidence: &Evidence<'_>, old: &ChildSa, new: &ChildSa) -> bool {
    let exchanges = [old, new].map(|c| c.exchange.map(|e| &evidence.exchanges[e]));
    let [Some(a), Some(b)] = exchanges else {
        return false;
    };
    let ((a_first, a_last), (b_first, b_last)) = (a.span(), b.span());
    a.initiator != b.initiator && b_first <= a_last && a_first <= b_last
}

/// A CREATE_CHILD_SA that could be read and names nothing to renew makes an SA beside the others (RFC 7296 §1.3.1).
fn adds_a_child(exchange: &Exchange) -> bool {
    // The request would name it: without the request nothing is known.
    exchange.kind == ExchangeKind::CreateChildSa
        && exchange.decrypted
        && exchange.rekeys.is_empty()
        && exchange.opening() == Opening::Whole
}

/// The traffic of `old` goes on upon `new`, which began to carry only when nothing passed on `old` any more: it was deleted first, and made
/// anew instead of renewed.
fn follows_in_its_place(evidence: &Evidence<'_>, old: &ChildSa, new: &ChildSa) -> bool {
    let begun = new.sas(evidence).filter_map(|a| a.first).min();
    let ended = last_packet(evidence, old);
    have_inner_ends_in_common(evidence, old, new)
        && ended.zip(begun).is_some_and(|(ended, (begun, _))| ended <= begun)
}

fn carries_on(evidence: &Evidence<'_>, old: &ChildSa, new: &ChildSa, d: usize) -> bool {
    let Some([o_first, o_last, n_first]) = seam(evidence, old, new, d) else {
        return false;
    };
    let after = o_last.nanos_since(n_first);
    after > CARRIES_ON_NANOS && after as f64 > CARRIES_ON_SHARE * o_last.nanos_since(o_first) as f64
}

fn new_connection(evidence: &Evidence<'_>, old: &ChildSa, new: &ChildSa) -> bool {
    let ike_sa = |c: &ChildSa| c.exchange.and_then(|e| evidence.exchanges[e].ike_sa);
    let (Some(before), Some(after)) = (ike_sa(old), ike_sa(new)) else {
        return false;
    };
    let silent_since = last_packet(evidence, old).unwrap_or(old.born);
    before != after && new.born.nanos_since(silent_since) > NEW_CONNECTION_NANOS
}

fn last_packet(evidence: &Evidence<'_>, child: &ChildSa) -> Option<Timestamp> {
    child.sas(evidence).filter_map(|a| Some(a.last?.0)).max()
}

/// Nanoseconds between the end of `old` and the beginning of `new`, in the direction where they are closest.
fn distance(evidence: &Evidence<'_>, old: &ChildSa, new: &ChildSa) -> u64 {
    (0..2)
        .filter_map(|d| {
            let (end, _) = sa_of(evidence, old, d)?.last?;
            let (begin, _) = sa_of(evidence, new, d)?.first?;
            Some(begin.nanos_since(end).unsigned_abs())
        })
        .min()
        .unwrap_or_else(|| new.born.nanos_since(old.born).unsigned_abs())
}

fn succession(
    (evidence, openings): (&Evidence<'_>, &Openings),
    old: &ChildSa,
    new: &ChildSa,
    lineage: &Lineage,
    phase1: &Phase1Ends,
) -> Succession {
    let exchange = new.exchange.map(|e| &evidence.exchanges[e]);
    let switched = [0, 1].map(|d| sa_of(evidence, new, d).and_then(|a| a.first).map(|(t, _)| t));
    let opening = new.exchange.map(|e| openings.of(evidence, e));
    Succession {
        initiator: exchange
            .zip(opening)
            .and_then(|(e, opening)| e.initiator_by(opening)),
        tunnel: new.tunnel,
        exchange: new.exchange,
        old: old.sa,
        new: new.sa,
        started: exchange
            .filter(|_| opening == Some(Opening::Whole))
            .and_then(Exchange::first_time),
        first_message: exchange.and_then(Exchange::first_time),
        finished: exchange.and_then(Exchange::last_time),
        switched,
        left: lineage.left,
        collision: false,
        reauthentication: new
            .exchange
            .is_some_and(|e| is_reauthentication(evidence, old, e, phase1)),
    }
}

/// A new IKE SA stands behind the new child SA, and its phase 1 came with it.
fn is_reauthentication(evidence: &Evidence<'_>, old: &ChildSa, exchange: usize, phase1: &Phase1Ends) -> bool {
    let made = &evidence.exchanges[exchange];
    let same_ike_sa = old
        .exchange
        .is_some_and(|e| evidence.exchanges[e].ike_sa == made.ike_sa);
    if same_ike_sa {
        return false;
    }
    made.kind == ExchangeKind::IkeAuth || phase1.just_before(made.ike_sa, made.span().0)
}

/// Times at which the phase 1 exchanges of each IKE SA ended, ascending.
struct Phase1Ends(HashMap<Option<usize>, Vec<Timestamp>>);

impl Phase1Ends {
    fn of(exchanges: &[Exchange]) -> Self {
        let mut ends: HashMap<Option<usize>, Vec<Timestamp>> = HashMap::new();
        for exchange in exchanges {
            if matches!(
                exchange.kind,
                ExchangeKind::MainMode | ExchangeKind::AggressiveMode
            ) {
                ends.entry(exchange.ike_sa).or_default().push(exchange.span().1);
            }
        }
        ends.values_mut().for_each(|ends| ends.sort_unstable());
        Phase1Ends(ends)
    }

    /// One of them ended within [`REAUTHENTICATION_NANOS`] before `time`.
    fn just_before(&self, ike_sa: Option<usize>, time: Timestamp) -> bool {
        let Some(ends) = self.0.get(&ike_sa) else {
            return false;
        };
        let newest = ends[..ends.partition_point(|end| *end <= time)].last();
        newest.is_some_and(|end| time.nanos_since(*end) <= REAUTHENTICATION_NANOS)
    }
}

/// Two exchanges of opposite initiators that overlap in time renewed the same tunnel (RFC 7296 §2.8.1).
fn mark_collisions(found: &mut [Succession]) {
    let mut newest: HashMap<TunnelIndex, usize> = HashMap::new();
    for i in 0..found.len() {
        let Some(before) = newest.insert(found[i].tunnel, i) else {
            continue;
        };
        let (a, b) = (&found[before], &found[i]);
        let by_ike = a.exchange.is_some() && b.exchange.is_some();
        let opposite = matches!((a.initiator, b.initiator), (Some(one), Some(other)) if one != other);
        let overlap = matches!((a.finished, b.started), (Some(end), Some(start)) if start <= end);
        if by_ike && opposite && overlap {
            found[before].collision = true;
            found[i].collision = true;
        }
    }
}

#[cfg(test)]
mod tests;

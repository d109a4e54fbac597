//! The tables that the rules look at.

use crate::ike::timeline::{Exchange, MessageRecord};
use crate::rekey::attempt::seen::MOST_FRAMES;
use crate::rekey::evidence::Evidence;
use crate::rekey::pair::{ChildSa, Speakers};
use crate::sa::association::Association;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::net::IpAddr;

/// The finished tables, and what is looked up in them.
pub(super) struct AttemptTables<'a> {
    pub(super) evidence: &'a Evidence<'a>,
    /// Last frame of the capture.
    pub(super) ends: Timestamp,
    /// Exchanges that made an SA on which a packet came.
    made: HashSet<usize>,
    /// Informational exchanges by IKE SA.
    pub(super) informational: HashMap<usize, Vec<usize>>,
    pub(super) speakers: Speakers,
    /// SAs by sender and receiver, in order of their first packets.
    by_ends: HashMap<(IpAddr, IpAddr), Vec<&'a Association>>,
    /// Message IDs in use, by IKE SA.
    pub(super) message_ids: HashSet<(Option<usize>, u32)>,
    /// Time at which each side of an IKE SA began its newest exchange of a kind.
    pub(super) newest: HashMap<(Option<usize>, IpAddr, ExchangeKind), Timestamp>,
    /// The highest message ID of a request of this side of an IKE SA that was answered.
    answered: HashMap<(Option<usize>, IpAddr), u32>,
    /// The longest answer to a request that was sent once, by initiator and responder, nanoseconds.
    slowest: HashMap<(IpAddr, IpAddr), i64>,
    /// IKE SAs that initiator and responder began and that came to IKE_AUTH.
    dials: HashMap<(IpAddr, IpAddr), HashSet<usize>>,
    /// The shortest answer to an IKE_AUTH that nobody could read and that made a child SA, by responder and message ID, bytes.
    shortest: HashMap<(IpAddr, u32), u32>,
}

/// SAs of a direction that are looked through for one that carried packets at a time: a tunnel has a few at once.
const MOST_AT_ONCE: usize = 64;

impl<'a> AttemptTables<'a> {
    pub(super) fn new(evidence: &'a Evidence<'a>, children: &[ChildSa], ends: Timestamp) -> Self {
        let used = children.iter().filter(|child| child.is_used(evidence));
        let made = used.filter_map(|child| child.exchange);
        let mut tables = AttemptTables {
            evidence,
            ends,
            made: made.collect(),
            informational: HashMap::new(),
            speakers: Speakers::of(evidence),
            by_ends: HashMap::new(),
            message_ids: HashSet::new(),
            newest: HashMap::new(),
            answered: HashMap::new(),
            slowest: HashMap::new(),
            dials: HashMap::new(),
            shortest: HashMap::new(),
        };
        for association in evidence.associations.iter().filter(|a| a.first.is_some()) {
            let ends = (association.src, association.dst);
            tables.by_ends.entry(ends).or_default().push(association);
        }
        for list in tables.by_ends.values_mut() {
            list.sort_by_key(|a| a.first);
        }
        for (index, exchange) in evidence.exchanges.iter().enumerate() {
            tables.message_ids.insert((exchange.ike_sa, exchange.message_id));
            let ends = (exchange.initiator, exchange.responder);
            let of_kind = (exchange.ike_sa, exchange.initiator, exchange.kind);
            raise(&mut tables.newest, of_kind, exchange.span().0);
            if exchange.answer().is_some() {
                let of_side = (exchange.ike_sa, exchange.initiator);
                raise(&mut tables.answered, of_side, exchange.message_id);
            }
            if let (1, Some(answer)) = (exchange.requests().count(), exchange.answer()) {
                let took = answer.time.nanos_since(exchange.span().0);
                raise(&mut tables.slowest, ends, took);
            }
            if let (ExchangeKind::Informational, Some(sa)) = (exchange.kind, exchange.ike_sa) {
                tables.informational.entry(sa).or_default().push(index);
            }
            if let (ExchangeKind::IkeAuth, Some(sa)) = (exchange.kind, exchange.ike_sa) {
                tables.dials.entry(ends).or_default().insert(sa);
            }
            if let Some(answer) = whole_answer(exchange).filter(|_| tables.made_a_child(index)) {
                let key = (exchange.responder, exchange.message_id);
                let shortest = tables.shortest.entry(key).or_insert(answer.len);
                *shortest = answer.len.min(*shortest);
            }
        }
        tables
    }

    /// The longest time that the responder of an exchange took to answer a request that was sent once, nanoseconds.
    pub(super) fn slowest_answer(&self, exchange: &Exchange) -> i64 {
        let ends = (exchange.initiator, exchange.responder);
        self.slowest.get(&ends).copied().unwrap_or(0)
    }

    /// `src` sent ESP to `dst` after `from`, on an SA in use until `to`.
    pub(super) fn sends(&self, (src, dst): (IpAddr, IpAddr), from: Timestamp, to: Timestamp) -> bool {
        let own = self.by_ends.get(&(src, dst)).map_or(&[][..], Vec::as_slice);
        let begun = own.partition_point(|a| a.first.is_some_and(|(first, _)| first <= to));
        let mut recent = own[..begun].iter().rev().take(MOST_AT_ONCE);
        recent.any(|a| a.last.is_some_and(|(last, _)| last > from))
    }

    /// The answer to an IKEv2 request is not in the capture, and it came: the responder answered a later request, whose message ID it takes only
    /// when it has answered the one before (RFC 7296 §2.2, §2.3). A request that is repeated that often got none, whatever the order: no capture
    /// lacks each of so many answers by chance, and some responders leave a request that they do not understand, and go on.
    pub(super) fn lacks_the_answer(&self, exchange: &Exchange) -> bool {
        let in_order = matches!(exchange.kind, ExchangeKind::CreateChildSa | ExchangeKind::IkeAuth);
        let answered = self.answered.get(&(exchange.ike_sa, exchange.initiator));
        let repeated = exchange.requests().count() as u64 >= LEAST_NOT_BY_CHANCE;
        in_order
            && !repeated
            && exchange.answer().is_none()
            && answered.is_some_and(|&id| id > exchange.message_id)
    }

    /// The initiator of an exchange began another one of the kind after `time`.
    pub(super) fn asks_after(&self, exchange: &Exchange, time: Timestamp) -> bool {
        let key = (exchange.ike_sa, exchange.initiator, exchange.kind);
        self.newest.get(&key).is_some_and(|began| *began > time)
    }

    /// A packet came on an SA that an exchange made.
    pub(super) fn made_a_child(&self, exchange: usize) -> bool {
        self.made.contains(&exchange)
    }

    /// The initiator of an exchange dialled its responder several times, and no ESP went between them.
    pub(super) fn dials_in_vain(&self, exchange: &Exchange) -> bool {
        let (from, to) = (exchange.initiator, exchange.responder);
        let silent = |ends| !self.by_ends.contains_key(&ends);
        let dials = self.dials.get(&(from, to)).map_or(0, HashSet::len);
        dials > 1 && silent((from, to)) && silent((to, from))
    }

    /// The shortest answer of the responder of an exchange that made a child SA for whomever, bytes.
    pub(super) fn shortest_with_a_child(&self, exchange: &Exchange) -> Option<u32> {
        self.shortest
            .get(&(exchange.responder, exchange.message_id))
            .copied()
    }
}

/// Keeps the greatest value of each key.
fn raise<K: Eq + Hash, V: Ord + Default + Copy>(table: &mut HashMap<K, V>, key: K, value: V) {
    let greatest = table.entry(key).or_default();
    *greatest = value.max(*greatest);
}

/// The answer to an IKE_AUTH that nobody could read, where it came in one piece.
pub(super) fn whole_answer(exchange: &Exchange) -> Option<&MessageRecord> {
    let mut answers = exchange
        .records
        .iter()
        .filter(|r| exchange.is_answer(r) && !r.retransmission);
    let only = answers.next().filter(|_| answers.next().is_none())?;
    let unread = exchange.kind == ExchangeKind::IkeAuth && !exchange.decrypted;
    unread.then_some(only)
}

pub(super) fn frames(exchange: &Exchange) -> Vec<u64> {
    exchange
        .records
        .iter()
        .map(|r| r.frame)
        .take(MOST_FRAMES)
        .collect()
}

//! Deletes (RFC 2408 §3.15, RFC 7296 §1.4.1), and whether something stood in its place.

use crate::events::sources::EventSources;
use crate::events::standing::StandingIkeSa;
use rekeyscope_impact::explain::DELETE_OF_A_REKEY;
use rekeyscope_ipsec::ike::outline::FirstInside;
use rekeyscope_ipsec::ike::timeline::{Exchange, MessageRecord};
use rekeyscope_ipsec::rekey::Succession;
use rekeyscope_ipsec::rekey::attempt::ON_ITS_WAY;
use rekeyscope_ipsec::rekey::pair::ChildSa;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Event, EventKind, ExchangeKind};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use std::collections::{HashMap, HashSet};

/// A pair of SAs carries packets until its Delete when the last one came so shortly before: the shortest retransmission timer of a sender
/// that waits (Linux: 200 ms) and the shortest check of a silent peer (a second) take longer.
const CARRIES_UNTIL: i64 = 100 * NANOS_PER_MILLI;

/// A Delete.
#[derive(Debug)]
pub(super) struct DeleteSeen {
    /// The IKE SA under which it was sent.
    pub(super) ike_sa: usize,
    pub(super) event: Event,
}

impl DeleteSeen {
    /// Whether the Delete ends its IKE SA, or may: one that cannot be read and follows a renewal takes the old child SA.
    pub(super) fn ends_ike_sa(&self) -> bool {
        match self.event.kind {
            EventKind::Deleted => self.event.successor != Some(true),
            kind => kind == EventKind::IkeSaDeleted,
        }
    }
}

/// All of them. Both sides delete the SAs that they receive on: of one pair that is one event.
pub(super) fn of(sources: &EventSources<'_>, standing: &HashMap<usize, StandingIkeSa>) -> Vec<DeleteSeen> {
    let mut found: Vec<DeleteSeen> = Vec::new();
    let mut of_child: HashMap<usize, usize> = HashMap::new();
    let mut renewals = Renewals::default();
    let ends = pair_ends(sources);
    for (index, tunnel, ike_sa, exchange) in sources.exchanges() {
        let seen = |(kind, known), (by, time, frame), spis: Vec<Spi>, replaced| DeleteSeen {
            ike_sa,
            event: Event {
                tunnel: Some(tunnel),
                exchange: Some(index),
                by: Some(by),
                spis,
                successor: Some(replaced),
                ..Event::at(kind, known, time, frame)
            },
        };
        let place = |message: &MessageRecord| (message.src, message.time, message.frame);
        if let Some(notice) = exchange.ike_sa_delete {
            // The Delete of the old IKE SA uses up the renewal, so that it does not excuse that of the new one.
            let replaced = renewals.excuse(sources.answered(tunnel), tunnel, notice.time)
                || ike_sa_replaced(sources, standing, (ike_sa, tunnel), notice.time);
            let what = (EventKind::IkeSaDeleted, Certainty::Read);
            let place = (notice.by, notice.time, notice.frame);
            found.push(seen(what, place, Vec::new(), replaced));
        }
        if let Some(first) = exchange.deletes.first() {
            let child = sources.child(first.by, first.spi);
            let spis = exchange.deletes.iter().map(|d| d.spi);
            if let Some(&before) = child.and_then(|c| of_child.get(&c)) {
                let known = &mut found[before].event.spis;
                spis.for_each(|spi| {
                    if !known.contains(&spi) {
                        known.push(spi);
                    }
                });
                continue;
            }
            of_child.extend(child.map(|c| (c, found.len())));
            let known = child.map(|child| child_replaced(sources, child, first.time));
            let renewed =
                known != Some(false) && renewals.excuse(sources.answered(tunnel), tunnel, first.time);
            let what = (EventKind::ChildDeleted, Certainty::Read);
            let place = (first.by, first.time, first.frame);
            found.push(seen(what, place, spis.collect(), known.unwrap_or(renewed)));
        }
        if let Some((message, child)) = pair_ends_with(sources, &ends, (tunnel, ike_sa), exchange)
            && !of_child.contains_key(&child)
            && !is_last_of_replaced(sources, standing, (index, ike_sa))
        {
            of_child.insert(child, found.len());
            let own = sources.children[child].sa.into_iter().flatten();
            let spis = own.map(|sa| sources.association(sa).spi).collect();
            let what = (EventKind::ChildDeleted, Certainty::Inferred);
            let replaced = child_replaced(sources, child, message.time);
            found.push(seen(what, place(message), spis, replaced));
        }
        if let Some(message) = farewell(sources, (index, ike_sa), exchange) {
            let what = (EventKind::IkeSaDeleted, Certainty::Inferred);
            found.push(seen(what, place(message), Vec::new(), false));
        }
        if let Some(request) = unread_request(exchange) {
            let renewed = renewals.excuse(sources.answered(tunnel), tunnel, request.time);
            let what = what(
                sources,
                standing,
                (ike_sa, tunnel),
                (index, renewed),
                request.time,
            );
            let replaced = renewed
                || what.0 != EventKind::ChildDeleted
                    && ike_sa_replaced(sources, standing, (ike_sa, tunnel), request.time);
            found.push(seen(what, place(request), Vec::new(), replaced));
        }
    }
    found
}

/// A request that holds a Delete and could not be read.
fn unread_request(exchange: &Exchange) -> Option<&MessageRecord> {
    let request = exchange.records.first()?;
    let deletes = request.outline.inside == Some(FirstInside::Delete) && !exchange.is_answer(request);
    let unread = exchange.deletes.is_empty() && exchange.ike_sa_delete.is_none() && !exchange.decrypted;
    (exchange.kind == ExchangeKind::Informational && deletes && unread).then_some(request)
}

/// The last packets of a pair of SAs: of the direction that ended first, and of the other one.
#[derive(Debug, Clone, Copy)]
struct PairEnd {
    first: Timestamp,
    last: Timestamp,
    child: usize,
}

/// Ends of all pairs that carried packets both ways, in the order of their last packets.
fn pair_ends(sources: &EventSources<'_>) -> Vec<PairEnd> {
    let end = |(child, pair): (usize, &ChildSa)| {
        let [a, b] = pair.sa.map(|sa| Some(sources.association(sa?).last?.0));
        let (a, b) = a.zip(b)?;
        let (first, last) = (a.min(b), a.max(b));
        Some(PairEnd { first, last, child })
    };
    let mut ends: Vec<PairEnd> = sources.children.iter().enumerate().filter_map(end).collect();
    ends.sort_by_key(|end| end.last);
    ends
}

/// An unread message of IKEv1 at which a pair of SAs ends that had carried packets until then: who deletes an SA removes it and says so at
/// once, so that the last packets are those on their way (RFC 2408 §3.15). A check whether the peer lives comes after a silence.
fn pair_ends_with<'a>(
    sources: &EventSources<'_>,
    ends: &[PairEnd],
    (tunnel, ike_sa): (TunnelIndex, usize),
    exchange: &'a Exchange,
) -> Option<(&'a MessageRecord, usize)> {
    let message = exchange.records.first()?;
    let unread = exchange.kind == ExchangeKind::Informational && !exchange.decrypted;
    let since = message.time.plus_nanos(-CARRIES_UNTIL);
    let until = message.time.plus_nanos(ON_ITS_WAY);
    let goes_on = sources.record.totals.last_time > Some(until);
    if !unread || !goes_on || sources.ike_sa(ike_sa).version != 1 {
        return None;
    }
    let near = &ends[ends.partition_point(|end| end.last < since)..];
    let mut near = near.iter().take_while(|end| end.last <= until);
    let own = near.find(|end| end.first >= since && sources.children[end.child].tunnel == tunnel)?;
    Some((message, own.child))
}

/// Whether an exchange is the last one of an IKE SA after which another one was made for the same tunnel: the Delete of that IKE SA.
fn is_last_of_replaced(
    sources: &EventSources<'_>,
    standing: &HashMap<usize, StandingIkeSa>,
    (index, ike_sa): (usize, usize),
) -> bool {
    let is_last = sources.of_ike_sa(ike_sa).last() == Some(&index);
    let time = sources.exchange(index).last_time();
    let replaces = |own: &StandingIkeSa, later: &StandingIkeSa| {
        later.tunnel == own.tunnel && later.since > own.since && Some(later.since) < time
    };
    let own = standing.get(&ike_sa).filter(|_| is_last);
    own.is_some_and(|own| standing.values().any(|later| replaces(own, later)))
}

/// The last message of an IKEv1 SA, where it is an unread one without an answer, right behind another such one of the same side. Whoever
/// ends an IKE SA deletes its child SAs and then it, each by a message that nobody answers (RFC 2408 §5.15); a check whether the peer lives is
/// one message, and the next comes seconds later (RFC 3706 §6).
fn farewell<'a>(
    sources: &EventSources<'_>,
    (index, ike_sa): (usize, usize),
    exchange: &'a Exchange,
) -> Option<&'a MessageRecord> {
    let message = exchange.records.first()?;
    let says = |exchange: &Exchange| {
        let first = exchange
            .records
            .first()
            .filter(|_| exchange.is_one_sided() && !exchange.decrypted)?;
        (exchange.kind == ExchangeKind::Informational && first.src == message.src).then_some(first.time)
    };
    says(exchange)?;
    let mut others = sources.others(ike_sa, index);
    let goes_on = others.clone().any(|e| e.last_time() > Some(message.time));
    let before = message.time.plus_nanos(-CARRIES_UNTIL);
    let deleted_children = others.any(|e| says(e).is_some_and(|time| before <= time && time <= message.time));
    (sources.ike_sa(ike_sa).version == 1 && !goes_on && deleted_children).then_some(message)
}

/// The target of an unread Delete. After that of an IKE SA nothing more is sent under its SPIs, and its child SAs fall silent unless
/// another one inherited them (RFC 7296 §1.4.1, §2.8).
fn what(
    sources: &EventSources<'_>,
    standing: &HashMap<usize, StandingIkeSa>,
    (ike_sa, tunnel): (usize, TunnelIndex),
    (index, renewed): (usize, bool),
    time: Timestamp,
) -> (EventKind, Certainty) {
    let mut others = sources.others(ike_sa, index);
    if others.any(|e| e.last_time() > Some(time)) {
        return (EventKind::ChildDeleted, Certainty::Proven);
    }
    let inherited = standing
        .values()
        .any(|s| s.made_by.is_some_and(|(_, old)| old == ike_sa));
    let settled = time.plus_nanos(ON_ITS_WAY);
    let anew = standing
        .values()
        .filter(|s| s.tunnel == tunnel && s.made_by.is_none() && s.since > time);
    let anew = anew.map(|s| s.since).min();
    let lives = sources.used(tunnel).any(|a| {
        let of_before = a
            .first
            .is_some_and(|(first, _)| anew.is_none_or(|anew| first < anew));
        of_before && a.last.is_some_and(|(last, _)| last > settled)
    });
    let over = !lives && !renewed && sources.record.totals.last_time > Some(settled);
    match inherited || over {
        true => (EventKind::IkeSaDeleted, Certainty::Inferred),
        false => (EventKind::Deleted, Certainty::Read),
    }
}

/// A pair that succeeds the deleted one was negotiated, or in use.
fn child_replaced(sources: &EventSources<'_>, child: usize, time: Timestamp) -> bool {
    let own = sources.children[child].sa;
    let follows = |s: &&Succession| own.iter().flatten().any(|sa| s.old.contains(&Some(*sa)));
    let mut successors = sources.successions.iter().filter(follows);
    successors.any(|s| {
        let ready = s.finished.or(s.switched.iter().flatten().min().copied());
        ready.is_some_and(|ready| ready <= time)
    })
}

/// Exchanges that made an SA, and which of them Deletes followed that removed what they replaced: each excuses one.
#[derive(Debug, Default)]
struct Renewals {
    used: HashSet<(TunnelIndex, Timestamp)>,
}

impl Renewals {
    /// An exchange of the tunnel made an SA right before `time`, and no earlier Delete followed it.
    fn excuse(&mut self, answered: &[Timestamp], tunnel: TunnelIndex, time: Timestamp) -> bool {
        let before = answered[..answered.partition_point(|t| *t <= time)].iter().rev();
        let mut near = before.take_while(|t| time.nanos_since(**t) <= DELETE_OF_A_REKEY);
        let free = near.find(|t| !self.used.contains(&(tunnel, **t)));
        free.is_some_and(|t| self.used.insert((tunnel, *t)))
    }
}

/// An IKE SA that succeeds the deleted one stood: by a rekey, or a newer one of the same tunnel.
fn ike_sa_replaced(
    sources: &EventSources<'_>,
    standing: &HashMap<usize, StandingIkeSa>,
    (ike_sa, tunnel): (usize, TunnelIndex),
    time: Timestamp,
) -> bool {
    let own = sources.of_ike_sa(ike_sa).iter().map(|&e| sources.exchange(e));
    let mut rekeys = own.filter(|e| e.rekeys_ike_sa && e.errors.is_empty());
    let rekeyed = rekeys.any(|e| e.answer().is_some_and(|a| a.time <= time));
    let began = sources.ike_sa(ike_sa).first_time;
    let newer = standing.iter().any(|(&other, s)| {
        let made_here = s.made_by.is_some_and(|(_, old)| old == ike_sa);
        let follows = s.tunnel == tunnel && s.since > began && s.since <= time;
        other != ike_sa && (made_here || follows) && sources.ike_sa(other).deleted.is_none_or(|d| d > time)
    });
    rekeyed || newer
}

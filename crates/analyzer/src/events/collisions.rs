//! Both sides renewed at once (RFC 7296 §2.8.1, §2.25).

use crate::events::sources::EventSources;
use rekeyscope_ipsec::ike::timeline::{ErrorNotice, Exchange};
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Event, EventKind, ExchangeKind};
use std::collections::{BTreeMap, HashSet};

/// Notifications of a side that is busy renewing itself, or no longer has the SA (RFC 7296 §2.25).
const MARKS: [&str; 2] = ["TEMPORARY_FAILURE", "CHILD_SA_NOT_FOUND"];
/// Exchanges that are looked at for one that crosses: two do, a storm has more.
const MOST_RIVALS: usize = 16;

/// Events of all collisions: one for the two exchanges that cross.
pub(super) fn of(sources: &EventSources<'_>) -> Vec<Event> {
    let mut found = Vec::new();
    let mut by_tunnel: BTreeMap<TunnelIndex, Vec<usize>> = BTreeMap::new();
    for (index, tunnel, _, exchange) in sources.exchanges() {
        if matches!(
            exchange.kind,
            ExchangeKind::QuickMode | ExchangeKind::CreateChildSa
        ) {
            by_tunnel.entry(tunnel).or_default().push(index);
        }
    }
    for (tunnel, own) in by_tunnel {
        let mut told: HashSet<usize> = HashSet::new();
        for (k, &first) in own.iter().enumerate() {
            let near = own[k + 1..].iter().take(MOST_RIVALS);
            let mut rivals = near.filter(|&&second| crosses(sources, first, second));
            let rival = rivals.find(|second| !told.contains(second)).copied();
            let event = match rival.filter(|_| !told.contains(&first)) {
                Some(second) => {
                    told.extend([first, second]);
                    overlap(sources, first, second)
                }
                None if !told.contains(&first) => mark(sources.exchange(first)),
                None => None,
            };
            found.extend(event.map(|event| Event {
                tunnel: Some(tunnel),
                exchange: Some(first),
                ..event
            }));
        }
    }
    found
}

/// Two exchanges of opposite initiators were under way together, and nothing says that they renewed different SAs.
fn crosses(sources: &EventSources<'_>, first: usize, second: usize) -> bool {
    let (a, b) = (sources.exchange(first), sources.exchange(second));
    let opposite = matches!((a.known_initiator(), b.known_initiator()), (Some(a), Some(b)) if a != b);
    let together = a.last_time() >= b.first_time() && b.last_time() >= a.first_time();
    a.kind == b.kind && opposite && together && !elsewhere(sources, a, b)
}

/// The messages that were read name different SAs: two child SA pairs, or one and the IKE SA.
fn elsewhere(sources: &EventSources<'_>, a: &Exchange, b: &Exchange) -> bool {
    if !(a.decrypted && b.decrypted) {
        return false;
    }
    let renews = |e: &Exchange| e.rekeys.iter().find_map(|spi| sources.child(e.initiator, *spi));
    let different = matches!((renews(a), renews(b)), (Some(a), Some(b)) if a != b);
    different || a.rekeys_ike_sa != b.rekeys_ike_sa
}

fn overlap(sources: &EventSources<'_>, first: usize, second: usize) -> Option<Event> {
    let (a, b) = (sources.exchange(first), sources.exchange(second));
    let record = b.records.first()?;
    let known = if a.decrypted && b.decrypted {
        Certainty::Read
    } else {
        Certainty::Inferred
    };
    let notice = a.errors.iter().chain(&b.errors).find(is_mark);
    Some(Event {
        until: a.last_time().max(b.last_time()),
        spis: a.rekeys.iter().chain(&b.rekeys).copied().collect(),
        notify: notice.map(|n| n.name.into()),
        ..Event::at(EventKind::Collision, known, record.time, record.frame)
    })
}

fn is_mark(notice: &&ErrorNotice) -> bool {
    MARKS.contains(&notice.name)
}

fn mark(exchange: &Exchange) -> Option<Event> {
    let notice = exchange.errors.iter().find(is_mark)?;
    Some(Event {
        by: Some(notice.by),
        spis: exchange.rekeys.clone(),
        notify: Some(notice.name.into()),
        ..Event::at(EventKind::Collision, Certainty::Read, notice.time, notice.frame)
    })
}

//! IKE SAs: which begin, which replace each other, and who says that it has no other.

use crate::events::deletes::DeleteSeen;
use crate::events::sources::EventSources;
use crate::events::standing::StandingIkeSa;
use rekeyscope_model::analysis::{Certainty, Event, EventKind};
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;

/// Events of all IKE SAs.
pub(super) fn of(
    sources: &EventSources<'_>,
    standing: &HashMap<usize, StandingIkeSa>,
    deletes: &[DeleteSeen],
) -> Vec<Event> {
    let mut found: Vec<Event> = Vec::new();
    for (&ike_sa, stands) in standing {
        let begun = |e| of_exchange(sources, e, EventKind::NewIkeSa, Certainty::Read);
        if let Some(event) = stands.begun.and_then(begun) {
            found.push(Event {
                until: Some(stands.since),
                successor: Some(lived_before(
                    sources,
                    standing,
                    deletes,
                    (ike_sa, stands),
                    event.time,
                )),
                ..event
            });
        }
        if let Some((exchange, _)) = stands
            .made_by
            .filter(|&(e, _)| !sources.exchange(e).rekeys_ike_sa)
        {
            found.extend(rekeyed(sources, exchange, Certainty::Inferred));
        }
    }
    for (index, tunnel, _, exchange) in sources.exchanges() {
        let accepted = exchange.answer().is_some() && exchange.errors.is_empty();
        if exchange.rekeys_ike_sa && accepted {
            found.extend(rekeyed(sources, index, Certainty::Read));
        }
        found.extend(exchange.initial_contact.map(|notice| Event {
            tunnel: Some(tunnel),
            exchange: Some(index),
            by: Some(notice.by),
            ..Event::at(
                EventKind::InitialContact,
                Certainty::Read,
                notice.time,
                notice.frame,
            )
        }));
    }
    found
}

/// An exchange as an event.
fn of_exchange(sources: &EventSources<'_>, index: usize, kind: EventKind, known: Certainty) -> Option<Event> {
    let exchange = sources.exchange(index);
    let first = exchange.records.first()?;
    Some(Event {
        tunnel: sources.tunnel(index),
        exchange: Some(index),
        by: exchange.known_initiator(),
        ..Event::at(kind, known, first.time, first.frame)
    })
}

fn rekeyed(sources: &EventSources<'_>, index: usize, known: Certainty) -> Option<Event> {
    Some(Event {
        until: sources.exchange(index).last_time(),
        ..of_exchange(sources, index, EventKind::IkeSaRekeyed, known)?
    })
}

/// An IKE SA of the same ends lived when this one began: one that was seen and not deleted; where none was seen, ESP shows that
/// there is one.
fn lived_before(
    sources: &EventSources<'_>,
    standing: &HashMap<usize, StandingIkeSa>,
    deletes: &[DeleteSeen],
    (index, new): (usize, &StandingIkeSa),
    began: Timestamp,
) -> bool {
    let older = || {
        standing.iter().filter(|(other, o)| {
            let same = o.tunnel == new.tunnel || new.ends.iter().all(|end| o.ends.contains(end));
            **other != index && same && o.since < began
        })
    };
    let deleted = |other: usize| {
        let mut own = deletes.iter().filter(|d| d.ends_ike_sa() && d.ike_sa == other);
        own.any(|d| d.event.time <= began)
    };
    match older().next() {
        Some(_) => older().any(|(&other, _)| !deleted(other)),
        None => sources
            .used(new.tunnel)
            .any(|a| a.first.is_some_and(|(t, _)| t < began)),
    }
}

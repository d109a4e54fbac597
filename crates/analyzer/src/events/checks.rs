//! A peer that does not answer whether it is alive, and one that does not know an SPI.

use crate::events::sources::EventSources;
use rekeyscope_ipsec::ike::timeline::Exchange;
use rekeyscope_ipsec::rekey::attempt::ON_ITS_WAY;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Event, EventKind, ExchangeKind};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use std::collections::HashMap;
use std::net::IpAddr;

/// Notifications of a peer that does not know an SPI of ESP or AH, or of the IKE SA (RFC 2408 §3.14.1, RFC 7296 §1.5).
const UNKNOWN_SPI: [&str; 4] = ["INVALID-SPI", "INVALID_SPI", "INVALID-COOKIE", "INVALID_IKE_SPI"];

/// Events of both.
pub(super) fn of(sources: &EventSources<'_>) -> Vec<Event> {
    let mut found = invalid_spis(sources);
    found.extend(answered_late(sources));
    for check in sources.checks {
        let Some(&frame) = check.frames.first() else {
            continue;
        };
        let known = if check.known {
            Certainty::Proven
        } else {
            Certainty::Inferred
        };
        let unanswered = Event {
            tunnel: Some(check.tunnel),
            by: Some(check.peer),
            until: Some(check.last_time),
            count: Some(check.asked),
            ..Event::at(EventKind::ChecksUnanswered, known, check.first_time, frame)
        };
        let since = check.first_time.plus_nanos(ON_ITS_WAY);
        if sources.sends(check.tunnel, check.peer, since, check.last_time) {
            found.push(Event {
                kind: EventKind::IkeSilent,
                count: None,
                ..unanswered.clone()
            });
        }
        found.push(unanswered);
    }
    found
}

/// The answer to a check of IKEv2 comes when the side that asked has begun a new IKE SA: the peer lives, and the way to it or back is slow.
fn answered_late(sources: &EventSources<'_>) -> Vec<Event> {
    let begins = |asked: &Exchange, tunnel, answered: Timestamp| {
        let mut all = sources.exchanges();
        let anew = all.find(|(_, of, ike_sa, other)| {
            let begun = other.first_time();
            *of == tunnel
                && other.kind == ExchangeKind::IkeSaInit
                && Some(*ike_sa) != asked.ike_sa
                && other.initiator == asked.initiator
                && begun > asked.first_time()
                && begun < Some(answered)
        });
        anew.map(|(index, ..)| index)
    };
    let late = |(tunnel, exchange): (TunnelIndex, &Exchange)| {
        let asked = exchange.requests().next()?;
        let answer = exchange.answer()?;
        let anew = begins(exchange, tunnel, answer.time)?;
        Some(Event {
            tunnel: Some(tunnel),
            exchange: Some(anew),
            by: Some(exchange.responder),
            until: Some(answer.time),
            count: Some(exchange.requests().count() as u64),
            ..Event::at(
                EventKind::ChecksAnsweredLate,
                Certainty::Proven,
                asked.time,
                asked.frame,
            )
        })
    };
    let checks = sources.exchanges().filter(|(.., exchange)| {
        exchange.kind == ExchangeKind::Informational
            && exchange.deletes.is_empty()
            && exchange.ike_sa_delete.is_none()
            && exchange
                .ike_sa
                .is_some_and(|ike_sa| sources.ike_sa(ike_sa).version == 2)
    });
    checks
        .filter_map(|(_, tunnel, _, exchange)| late((tunnel, exchange)))
        .collect()
}

/// A peer says it for each packet, or as often as it allows itself: of one SPI that is one event.
fn invalid_spis(sources: &EventSources<'_>) -> Vec<Event> {
    let mut found: Vec<Event> = Vec::new();
    let mut runs: HashMap<(usize, IpAddr, Option<Spi>), usize> = HashMap::new();
    for (index, tunnel, _, exchange) in sources.exchanges() {
        let said = exchange.errors.iter().filter(|e| UNKNOWN_SPI.contains(&e.name));
        for error in said {
            let run = runs.entry((tunnel, error.by, error.spi)).or_insert(found.len());
            match found.get_mut(*run) {
                Some(before) => {
                    before.until = Some(error.time);
                    before.count = before.count.map(|n| n + 1);
                }
                None => found.push(Event {
                    tunnel: Some(tunnel),
                    exchange: Some(index),
                    by: Some(error.by),
                    spis: error.spi.into_iter().collect(),
                    notify: Some(error.name.into()),
                    count: Some(1),
                    ..Event::at(EventKind::InvalidSpi, Certainty::Read, error.time, error.frame)
                }),
            }
        }
    }
    found
}

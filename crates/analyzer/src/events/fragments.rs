//! IKE messages of which the capture holds a part only: fragments of IP, and of IKE (RFC 7383).

use crate::events::sources::EventSources;
use rekeyscope_ipsec::ike::timeline::{Exchange, MessageRecord};
use rekeyscope_model::analysis::{Certainty, Event, EventKind};
use std::collections::BTreeSet;

/// Events of both.
pub(super) fn of(sources: &EventSources<'_>) -> Vec<Event> {
    let of_ike = sources.exchanges().flat_map(|(index, tunnel, _, exchange)| {
        let sides = [false, true].map(|answers| incomplete(exchange, answers));
        sides.into_iter().flatten().map(move |event| Event {
            tunnel: Some(tunnel),
            exchange: Some(index),
            ..event
        })
    });
    let of_ip = sources.record.incomplete_ike.iter().filter_map(|lost| {
        let tunnel = sources.record.tunnels.known(lost.src, lost.dst, Some(lost.udp))?;
        Some(Event {
            tunnel: Some(tunnel),
            by: Some(lost.src),
            count: Some(u64::from(lost.fragments)),
            ..Event::at(
                EventKind::FragmentsIncomplete,
                Certainty::Proven,
                lost.time,
                lost.frame,
            )
        })
    });
    of_ike.chain(of_ip).collect()
}

/// Fragments of one side of which some never came, whatever it split its message into.
fn incomplete(exchange: &Exchange, answers: bool) -> Option<Event> {
    let own = exchange
        .records
        .iter()
        .filter(|r| exchange.is_answer(r) == answers);
    let pieces: Vec<(&MessageRecord, _)> = own.filter_map(|r| Some((r, r.outline.fragment?))).collect();
    let (first, _) = pieces.first()?;
    let (last, _) = pieces.last()?;
    // A sender that gets no answer splits anew, smaller (RFC 7383 §2.5.2).
    let totals: BTreeSet<Option<u16>> = pieces.iter().map(|(_, f)| f.total).collect();
    let is_whole = totals.iter().any(|total| {
        let of_it = pieces
            .iter()
            .filter(|(_, f)| f.total == *total || f.total.is_none());
        let numbers: BTreeSet<u16> = of_it.map(|(_, f)| f.number).collect();
        total.is_some_and(|total| (1..=total).all(|n| numbers.contains(&n)))
    });
    let numbers: BTreeSet<u16> = pieces.iter().map(|(_, f)| f.number).collect();
    let kept_all = exchange.records.len() < Exchange::MAX_RECORDS;
    (!is_whole && kept_all).then(|| Event {
        by: Some(first.src),
        until: (last.frame != first.frame).then_some(last.time),
        count: Some(numbers.len() as u64),
        ..Event::at(
            EventKind::FragmentsIncomplete,
            Certainty::Proven,
            first.time,
            first.frame,
        )
    })
}

/// Messages of one side came in fragments, of IKE or of IP, and the capture holds all of them.
pub(super) fn came_in_pieces(exchange: &Exchange) -> bool {
    let mut requests = exchange.records.iter().filter(|r| !exchange.is_answer(r));
    let pieces = requests.any(|r| r.ip_packets > 1 || r.outline.fragment.is_some());
    pieces && incomplete(exchange, false).is_none()
}

//! Messages and packets of which the capture holds a part only: IKE messages in fragments of IP, and of IKE (RFC 7383); ESP packets in fragments of IP.

use crate::events::sources::EventSources;
use rekeyscope_capture::framing::FirstFragments;
use rekeyscope_ipsec::ike::timeline::{Exchange, MessageRecord};
use rekeyscope_model::analysis::{Certainty, Event, EventKind};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::doubled_timer;
use std::collections::BTreeSet;

/// Events of all.
pub(super) fn of(sources: &EventSources<'_>, ends: Timestamp) -> Vec<Event> {
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
    let of_esp = sources.record.first_fragments.iter();
    let of_esp = of_esp.filter_map(|alone| only_small_pass(sources, alone, ends));
    of_ike.chain(of_ip).chain(of_esp).collect()
}

/// First fragments of ESP come without the others, and small packets pass meanwhile. A sender whose packets arrive nowhere tries again after
/// twice its timer: else it stopped with its last try.
fn only_small_pass(sources: &EventSources<'_>, alone: &FirstFragments, ends: Timestamp) -> Option<Event> {
    let record = sources.record;
    let tunnel = record.tunnels.known(alone.src, alone.dst, alone.udp)?;
    let direction = record.tunnels.tunnels[tunnel].direction_to(alone.dst);
    let (before, last) = alone.last;
    let next = last.plus_nanos(*doubled_timer(last.nanos_since(before)).end());
    let until = match alone.until {
        Some((whole, _)) => whole,
        None if next < ends => last,
        None => ends,
    };
    let (begin, frame) = alone.begin;
    let nothing_else = record
        .traffic
        .longest_silence((tunnel, direction), (begin, until), &[]);
    (nothing_else.nanos() < until.nanos_since(begin)).then(|| Event {
        tunnel: Some(tunnel),
        by: Some(alone.src),
        until: Some(until),
        count: Some(alone.count),
        ..Event::at(EventKind::OnlySmallPass, Certainty::Proven, begin, frame)
    })
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

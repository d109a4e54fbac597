//! SAs: the number that a new one begins with, numbers that go back, packets that come damaged, and limits that were reached.

use crate::events::sources::EventSources;
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::volume::expiry;
use rekeyscope_model::analysis::{Certainty, Event, EventKind, MOST_EVENTS};

/// Events of all SAs.
pub(super) fn of(sources: &EventSources<'_>) -> Vec<Event> {
    let mut found = Vec::new();
    for child in sources.children {
        let own = child.sa.into_iter().flatten();
        let limits = own
            .clone()
            .filter_map(|sa| limit_reached(sources.association(sa)));
        found.extend(limits.min_by_key(|e| (e.time, e.frame)));
        let began = own.filter(|&sa| child.exchange.is_some() || succeeds(sources, sa));
        found.extend(began.filter_map(|sa| first_number(sources, sources.association(sa))));
    }
    let all = sources.record.sas.associations().iter();
    let back = all.filter_map(|association| numbers_back(sources, association));
    found.extend(back.take(MOST_EVENTS));
    found.extend(damaged(sources));
    found
}

/// Another SA of its direction gave way to it, so that the capture was running when it began.
fn succeeds(sources: &EventSources<'_>, sa: SaIndex) -> bool {
    let d = slot(sources.association(sa).direction);
    sources
        .successions
        .iter()
        .any(|s| s.new[d] == Some(sa) && s.left[d].is_some())
}

/// An SA begins at 1 (RFC 4303 §3.3.3). What is missing before its first packet was sent and lost, unless the capture lost it.
fn first_number(sources: &EventSources<'_>, association: &Association) -> Option<Event> {
    let missing = association.sequence.missing_at_start();
    let (time, frame) = association.first?;
    let holes = sources.record.diagnosis.holes_of(association.tunnel);
    let lost_by_capture = holes.iter().any(|(from, to)| (*from..=*to).contains(&time));
    (missing > 0 && !lost_by_capture).then(|| Event {
        tunnel: Some(association.tunnel),
        by: Some(association.src),
        spis: vec![association.spi],
        count: Some(missing + 1),
        ..Event::at(EventKind::FirstNumber, Certainty::Read, time, frame)
    })
}

/// A sender goes on with an old counter, up to the number that it had reached, or to its next SA.
fn numbers_back(sources: &EventSources<'_>, association: &Association) -> Option<Event> {
    let step = association.steps_back.longest()?;
    let (time, frame) = step.begin;
    let next = || {
        let own = sources.used_of((association.tunnel, association.direction));
        let firsts = own.filter_map(|sa| sa.first).map(|first| first.0);
        firsts.filter(|first| *first > time).min()
    };
    let above = step.until.map(|until| until.0);
    let until = above.or_else(next).or(sources.record.totals.last_time);
    Some(Event {
        tunnel: Some(association.tunnel),
        by: Some(association.src),
        spis: vec![association.spi],
        until,
        count: Some(step.from - step.to + 1),
        from: Some(step.from.to_string()),
        to: Some(step.to.to_string()),
        ..Event::at(EventKind::NumbersBack, Certainty::Proven, time, frame)
    })
}

/// Packets of a side came damaged, up to the first whole one as large, or to the end.
fn damaged<'a>(sources: &EventSources<'a>) -> impl Iterator<Item = Event> {
    let record = sources.record;
    let ends = record.totals.last_time;
    record.damaged.runs().map(move |((tunnel, _), run)| {
        let association = &record.sas.associations()[run.sa];
        let (time, frame) = run.first;
        Event {
            tunnel: Some(tunnel),
            by: Some(association.src),
            spis: vec![association.spi],
            until: run.until.map(|(_, time, _)| time).or(ends),
            count: Some(run.packets),
            ..Event::at(EventKind::BadIcv, Certainty::Proven, time, frame)
        }
    })
}

fn limit_reached(association: &Association) -> Option<Event> {
    let (time, frame) = expiry(association)?;
    Some(Event {
        tunnel: Some(association.tunnel),
        spis: vec![association.spi],
        count: association.volume_limit,
        ..Event::at(EventKind::LimitReached, Certainty::Read, time, frame)
    })
}

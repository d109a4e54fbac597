//! SAs that one side alone has: their sender goes on though their receiver deleted them, or left their pair for an older one.

use crate::events::deletes::DeleteSeen;
use crate::events::sources::EventSources;
use rekeyscope_impact::explain::DELETE_OF_A_REKEY;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Event, EventKind};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{INITIAL_WINDOW, LEAST_TIMEOUT, three_take};
use std::collections::HashMap;

/// Events of all SAs that carry packets for longer behind that than a receiver keeps an SA that it deleted.
pub(super) fn of(sources: &EventSources<'_>, deletes: &[DeleteSeen]) -> Vec<Event> {
    let mut known = Deletes::default();
    for event in deletes.iter().map(|seen| &seen.event) {
        let is_of_ike_sa = event.kind == EventKind::IkeSaDeleted;
        let Some(tunnel) = event.tunnel.filter(|_| !is_of_ike_sa) else {
            continue;
        };
        for spi in &event.spis {
            known.read.entry((tunnel, *spi)).or_insert(event);
        }
        if event.spis.is_empty() {
            known.unread.entry(tunnel).or_default().push(event);
        }
    }
    let mut found = Vec::new();
    for child in sources.children {
        for pair in [child.sa, [child.sa[1], child.sa[0]]] {
            let [there, back] = pair.map(|sa| sa.map(|sa| sources.association(sa)));
            found.extend(there.and_then(|there| one_sided(sources, &known, there, back)));
        }
    }
    found
}

/// Deletes of child SAs: those that name an SPI, and others.
#[derive(Default)]
struct Deletes<'a> {
    read: HashMap<(TunnelIndex, Spi), &'a Event>,
    unread: HashMap<TunnelIndex, Vec<&'a Event>>,
}

fn one_sided(
    sources: &EventSources<'_>,
    deletes: &Deletes<'_>,
    there: &Association,
    back: Option<&Association>,
) -> Option<Event> {
    let (begins, last) = there.used()?;
    let goes_on = |since: Timestamp| since >= begins && last.nanos_since(since) > DELETE_OF_A_REKEY;
    let read = deletes.read.get(&(there.tunnel, there.spi));
    let read = read.filter(|event| goes_on(event.time));
    let by_delete = |event: &Event| (event.time, event.frame, event.exchange);
    let unread = || deletes.unread.get(&there.tunnel).into_iter().flatten();
    // A pair that one side alone used is what the other one, which goes on upon an older SA alone, deleted.
    let unused = || {
        let sends = || sources.used_of((there.tunnel, there.direction.reverse()));
        let older = || sends().all(|sa| sa.first.is_some_and(|first| first.0 < begins));
        let lasts = |since: Timestamp| sends().any(|sa| sa.last.is_some_and(|last| last.0 > since));
        let event = unread().find(|event| event.by == Some(there.dst) && goes_on(event.time))?;
        let is_unused = back.is_none_or(|back| back.last.is_none());
        (is_unused && older() && lasts(event.time.plus_nanos(DELETE_OF_A_REKEY))).then(|| by_delete(event))
    };
    // A side that has lost a pair of SAs and has data goes on upon another one.
    let left = || {
        let back = back.filter(|back| back.last.is_some_and(|left| goes_on(left.0)))?;
        let (left, frame) = back.last?;
        // Without IKE's SPIs two SAs are a pair by their begin; where the one begins as the other ends they may belong to two.
        let apart = begins.nanos_since(back.first?.0).abs() < left.nanos_since(begins);
        let mut own =
            unread().filter(|event| event.by == Some(there.dst) && ends_at(back, event.time, LEAST_TIMEOUT));
        let deleted = own.next().map(|event| by_delete(event));
        let settled = left.plus_nanos(DELETE_OF_A_REKEY);
        let elsewhere = sources.sends(there.tunnel, there.dst, settled, last);
        deleted
            .or_else(|| goes_back(sources, back).then_some((left, frame, None)))
            .filter(|_| apart && elsewhere)
    };
    let (known, (time, frame, exchange)) = match read {
        Some(event) => (event.known, by_delete(event)),
        None => (Certainty::Inferred, left().or_else(unused)?),
    };
    Some(Event {
        tunnel: Some(there.tunnel),
        exchange,
        by: Some(there.src),
        spis: vec![there.spi],
        until: Some(last),
        ..Event::at(EventKind::OneSided, known, time, frame)
    })
}

/// Tells whether an SA carried packets until a moment, as far as its rate tells, or the pause that its senders make at least.
pub(super) fn ends_at(sa: &Association, time: Timestamp, least: i64) -> bool {
    sa.used().is_some_and(|used| {
        let pause = three_take(used, sa.counters.packets).max(least);
        (-LEAST_TIMEOUT..=pause).contains(&time.nanos_since(used.1))
    })
}

/// A sender goes back from an SA to an older one that had rested all the while: a sender with both takes the newer.
fn goes_back(sources: &EventSources<'_>, newer: &Association) -> bool {
    let Some((first, last)) = newer.used() else {
        return false;
    };
    let mut others = sources.used_of((newer.tunnel, newer.direction));
    newer.counters.packets >= u64::from(INITIAL_WINDOW)
        && others.any(|older| {
            let rested = older.rest.is_some_and(|(from, to)| from <= first && last <= to);
            let unknown = newer.inner_ends().is_empty() || older.inner_ends().is_empty();
            rested && (unknown || newer.shares_ends(older))
        })
}

//! SAs for inner networks that end each other by turns: a gateway keeps one pair of SAs where the other side has one for each network.

use crate::events::sources::EventSources;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Direction, Event, EventKind};
use rekeyscope_model::chance::SEVERAL;
use rekeyscope_traffic::{INITIAL_RTO, LEAST_TIMEOUT, three_take};
use std::net::IpAddr;

/// Events of all tunnels whose packets keys open.
pub(super) fn of(sources: &EventSources<'_>) -> Vec<Event> {
    let tunnels = 0..sources.record.tunnels.tunnels.len();
    tunnels.filter_map(|tunnel| of_tunnel(sources, tunnel)).collect()
}

fn of_tunnel(sources: &EventSources<'_>, tunnel: TunnelIndex) -> Option<Event> {
    let own = sources.used(tunnel).filter(|sa| sa.direction == Direction::AToB);
    let mut own: Vec<&Association> = own.filter(|sa| !sa.inner_ends().is_empty()).collect();
    own.sort_by_key(|sa| sa.first);
    let back_again = |three: &&[&Association]| {
        let [one, other, again] = three else { return false };
        gives_way(one, other) && gives_way(other, again) && have_in_common(one, again)
    };
    let turns: Vec<&[&Association]> = own.windows(3).filter(back_again).collect();
    let ([one, other, _], [.., last]) = (turns.first()?, turns.last()?) else {
        return None;
    };
    let (time, frame) = other.first?;
    let [from, to] = names(one.inner_ends().first()?, other.inner_ends().first()?);
    (turns.len() as u64 >= SEVERAL).then(|| Event {
        tunnel: Some(tunnel),
        until: last.last.map(|last| last.0),
        count: Some(turns.len() as u64 + 1),
        from: Some(from.to_string()),
        to: Some(to.to_string()),
        ..Event::at(EventKind::NetworksByTurns, Certainty::Proven, time, frame)
    })
}

/// The addresses by which two pairs of them differ.
fn names(one: &(IpAddr, IpAddr), other: &(IpAddr, IpAddr)) -> [IpAddr; 2] {
    match one.0 == other.0 {
        true => [one.1, other.1],
        false => [one.0, other.0],
    }
}

fn have_in_common(one: &Association, other: &Association) -> bool {
    one.inner_ends()
        .iter()
        .any(|ends| other.inner_ends().contains(ends))
}

/// An SA ends in use as another one begins that carries other addresses: a program that asks again and again waits a second.
fn gives_way(old: &Association, new: &Association) -> bool {
    let used = |sa: &Association| Some((sa.first?.0, sa.last?.0));
    let Some(((first, last), (begins, _))) = used(old).zip(used(new)) else {
        return false;
    };
    let pause = three_take((first, last), old.counters.packets).max(INITIAL_RTO);
    (-LEAST_TIMEOUT..=pause).contains(&begins.nanos_since(last)) && !have_in_common(old, new)
}

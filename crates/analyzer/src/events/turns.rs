//! SAs for inner networks that end each other by turns: a gateway keeps one pair of SAs where the other side has one for each network.

use crate::events::one_sided::ends_at;
use crate::events::sources::EventSources;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::analysis::{Certainty, Direction, Event, EventKind};
use rekeyscope_model::chance::SEVERAL;
use rekeyscope_traffic::INITIAL_RTO;
use std::net::IpAddr;

/// Events of all tunnels whose packets keys open.
pub(super) fn of(sources: &EventSources<'_>) -> Vec<Event> {
    let tunnels = 0..sources.record.tunnels.tunnels.len();
    tunnels.filter_map(|tunnel| of_tunnel(sources, tunnel)).collect()
}

fn of_tunnel(sources: &EventSources<'_>, tunnel: TunnelIndex) -> Option<Event> {
    let own = sources.used_of((tunnel, Direction::AToB));
    let mut own: Vec<&Association> = own.filter(|sa| !sa.inner_ends().is_empty()).collect();
    own.sort_by_key(|sa| sa.first);
    let back_again = |three: &&[&Association]| {
        let [one, other, again] = three else { return false };
        gives_way(one, other) && gives_way(other, again) && one.shares_ends(again)
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

/// An SA ends in use as another one begins that carries other addresses: a program that asks again and again waits a second.
fn gives_way(old: &Association, new: &Association) -> bool {
    let at_once = new
        .used()
        .is_some_and(|(begins, _)| ends_at(old, begins, INITIAL_RTO));
    at_once && !old.shares_ends(new)
}

//! Packets of the connections of a tunnel, gone over piece by piece.

use super::capacity::{FullWindows, KnownRates, path};
use super::carried::{Carried, higher};
use super::connection::AccountConnection;
use super::half::Half;
use super::surroundings::AccountSettings;
use rekeyscope_model::analysis::OwnRate;
use rekeyscope_traffic::CONNECTION_SHARE;

/// Most steps that are kept of a direction of a tunnel: 6 MB.
const MOST_STEPS: usize = 1 << 16;

/// Goes over the packets of all connections of a tunnel and forgets them. Later packets go on where these end; the account is the
/// same but for what lies across the border: a copy whose original is gone has no rekey as its cause.
///
/// Bounded: connections with hardly any of the bytes are forgotten, and of many steps neighbours become one. The memory of the packets
/// stays.
pub fn fold(connections: &mut [&mut AccountConnection], settings: &AccountSettings) {
    for slot in [0, 1] {
        let mut all: Vec<Option<Box<Carried>>> = connections
            .iter_mut()
            .map(|connection| connection.carried[slot].take())
            .collect();
        forget_small(connections, &mut all, slot);
        let pairs = connections.iter().zip(&mut all);
        let mut open: Vec<(&AccountConnection, &mut Carried)> = pairs
            .filter_map(|(connection, carried)| Some((&**connection, carried.as_deref_mut()?)))
            .collect();
        go_on(&mut open, slot, settings.reference());
        while open.iter().map(|(_, own)| own.track.steps.len()).sum::<usize>() > MOST_STEPS {
            open.iter_mut().for_each(|(_, own)| own.track.coarsen());
        }
        for (connection, carried) in connections.iter_mut().zip(all) {
            connection.carried[slot] = carried;
        }
    }
    connections
        .iter_mut()
        .for_each(|connection| connection.packets.clear());
}

/// Forgets the state of connections that carry hardly anything of a direction, and begins it for the others.
fn forget_small(connections: &[&mut AccountConnection], all: &mut [Option<Box<Carried>>], slot: usize) {
    let new = |c: &AccountConnection| c.sent(slot).map(|p| u64::from(p.new)).sum::<u64>();
    let now: u64 = connections.iter().map(|c| new(c)).sum();
    let ever: u64 = connections.iter().map(|c| c.bytes[slot]).sum();
    let counts = |part: u64, whole: u64| part > 0 && part as f64 >= CONNECTION_SHARE * whole as f64;
    for (connection, carried) in connections.iter().zip(all) {
        if counts(new(connection), now) || carried.is_some() && counts(connection.bytes[slot], ever) {
            carried.get_or_insert_default();
        } else {
            *carried = None;
        }
    }
}

/// Goes over the packets of all connections of a direction, which share a path. `reference`: bytes/s.
pub(super) fn go_on(
    connections: &mut [(&AccountConnection, &mut Carried)],
    slot: usize,
    reference: Option<f64>,
) {
    let rates = connections.iter().filter_map(|(_, carried)| carried.own);
    let proven = rates.filter(|own| own.1 == OwnRate::Proven).map(|own| own.0);
    let known = KnownRates {
        proven: proven.max_by(f64::total_cmp),
        reference,
    };
    let mut open: Vec<&mut Carried> = Vec::new();
    for (connection, carried) in connections {
        if carried
            .half
            .read(&connection.packets, (&connection.handshake, connection.tcp), slot)
        {
            carried.begin();
            open.push(carried);
        }
    }
    let Some(main) = open.iter().max_by_key(|carried| carried.half.new_bytes()) else {
        return;
    };
    let rtt = main.half.rtt;
    let halves: Vec<&Half> = open.iter().map(|carried| &carried.half).collect();
    let full = FullWindows::new(Box::new(|| {
        open.iter().map(|carried| carried.full_windows()).collect()
    }));
    let path = path(&halves, &full, (rtt, known));
    drop(full);
    for (carried, rates) in open.into_iter().zip(&path.rates) {
        let own = (path.own, path.own_from);
        carried.own = Some(carried.own.map_or(own, |before| higher(before, own)));
        carried.go_over(rates);
    }
}

//! Which point packets pass first, by their TTL or hop limit: every router on the way takes one off (RFC 791 §3.2, RFC 8200 §3).

use crate::two_points::numbers::SaMatch;
use crate::two_points::trace::PointTrace;
use rekeyscope_model::analysis::PointOrder;
use std::collections::HashMap;

/// Packets that are looked at, spread evenly.
const MOST_LOOKED_AT: usize = 4_096;
/// So many of a hundred have to say the same: a route may change for some, and a firewall may write a limit of its own.
const LEAST_PERCENT: usize = 95;

/// SA here, number on the wire.
type PacketName = (usize, u32);

/// The order that the packets seen at both points tell, if they agree.
pub(crate) fn order_by_hops(here: &PointTrace, there: &PointTrace, sas: &[&SaMatch]) -> PointOrder {
    let all: usize = sas.iter().map(|sa| sa.both.len()).sum();
    let step = all.div_ceil(MOST_LOOKED_AT).max(1);
    let both = sas
        .iter()
        .flat_map(|sa| sa.both.iter().map(|packet| (sa.sa, packet.0 as u32)));
    // Of each its hop limits here and there; 0 where there is none yet.
    let mut limits: HashMap<PacketName, [u8; 2]> = both.step_by(step).map(|name| (name, [0; 2])).collect();
    let ours = sas.iter().map(|sa| (sa.sa, sa.sa)).collect();
    let theirs = sas.iter().map(|sa| (sa.there, sa.sa)).collect();
    first_limits(here, &ours, &mut limits, 0);
    first_limits(there, &theirs, &mut limits, 1);
    let known = limits.values().filter(|[here, there]| *here > 0 && *there > 0);
    let (mut first, mut second, mut looked_at) = (0, 0, 0);
    for [here, there] in known {
        looked_at += 1;
        first += usize::from(here > there);
        second += usize::from(there > here);
    }
    let agree = |count: usize| count > 0 && 100 * count >= LEAST_PERCENT * looked_at;
    match () {
        () if agree(first) => PointOrder::HereFirst,
        () if agree(second) => PointOrder::ThereFirst,
        () => PointOrder::Unknown,
    }
}

/// The hop limit of each packet at its first sighting. `sas` says which SA of the trace is which one here.
fn first_limits(
    trace: &PointTrace,
    sas: &HashMap<usize, usize>,
    limits: &mut HashMap<PacketName, [u8; 2]>,
    side: usize,
) {
    for packet in &trace.packets {
        let Some(&sa) = sas.get(&usize::from(packet.sa)) else {
            continue;
        };
        let limit = limits
            .get_mut(&(sa, packet.sequence))
            .and_then(|l| l.get_mut(side));
        if let Some(limit) = limit.filter(|limit| **limit == 0) {
            *limit = packet.hop_limit;
        }
    }
}

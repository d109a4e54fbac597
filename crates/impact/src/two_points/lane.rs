//! The packets of one direction of a tunnel, and which point they pass first.

use crate::two_points::clock::{Lag, LagOrigin};
use crate::two_points::numbers::SaMatch;
use crate::two_points::trace::PointTrace;
use rekeyscope_model::analysis::{Direction, OrderSource, PointOrder};
use std::collections::{BTreeMap, HashMap};

/// Stretches of the time in which both directions are compared: many first, so that a drift is small within one, then fewer, where
/// packets are rare.
const STRETCHES: [usize; 4] = [4_096, 256, 16, 1];

/// A tunnel here and one of its directions.
pub(crate) type PointLaneKey = (usize, Direction);

/// One direction of a tunnel.
#[derive(Debug)]
pub(crate) struct PointLane<'m> {
    pub(crate) key: PointLaneKey,
    pub(crate) sas: Vec<&'m SaMatch>,
    pub(crate) order: PointOrder,
    pub(crate) order_by: Option<OrderSource>,
}

impl PointLane<'_> {
    pub(crate) fn lags(&self, origin: LagOrigin) -> Vec<Lag> {
        let packets = self.sas.iter().flat_map(|sa| &sa.both);
        packets.map(|&(_, here, there)| origin.lag(here, there)).collect()
    }

    /// The order as far as times tell it.
    pub(crate) fn order_by_times(&self) -> PointOrder {
        match self.order_by {
            Some(OrderSource::Times) => self.order,
            _ => PointOrder::Unknown,
        }
    }
}

/// The lanes of all SAs, each with its order.
pub(crate) fn lanes<'m>(
    here: &PointTrace,
    there: &PointTrace,
    matches: &'m [SaMatch],
    origin: LagOrigin,
) -> Vec<PointLane<'m>> {
    let mut by_key: BTreeMap<PointLaneKey, Vec<&SaMatch>> = BTreeMap::new();
    for found in matches {
        let sa = &here.sas[found.sa];
        by_key.entry((sa.tunnel, sa.direction)).or_default().push(found);
    }
    let mut lanes: Vec<PointLane> = by_key
        .into_iter()
        .map(|(key, sas)| PointLane {
            key,
            sas,
            order: PointOrder::Unknown,
            order_by: None,
        })
        .collect();
    let tunnels: Vec<usize> = lanes.iter().map(|lane| lane.key.0).collect();
    for tunnel in tunnels {
        let lags = |direction| {
            let lane = lanes.iter().find(|lane| lane.key == (tunnel, direction));
            lane.map(|lane| lane.lags(origin)).unwrap_or_default()
        };
        let (up, down) = (lags(Direction::AToB), lags(Direction::BToA));
        let votes = first_votes(&up, &down);
        for lane in lanes.iter_mut().filter(|lane| lane.key.0 == tunnel) {
            let votes = if lane.key.1 == Direction::AToB {
                votes
            } else {
                -votes
            };
            lane.order = match votes {
                0 => PointOrder::Unknown,
                1.. => PointOrder::HereFirst,
                _ => PointOrder::ThereFirst,
            };
            lane.order_by = (votes != 0).then_some(OrderSource::Times);
        }
    }
    for lane in lanes.iter_mut().filter(|lane| lane.order_by.is_none()) {
        lane.order = order_by_hops(here, there, &lane.sas);
        lane.order_by = (lane.order != PointOrder::Unknown).then_some(OrderSource::HopLimit);
    }
    lanes
}

/// The least and the greatest lag within a stretch.
#[derive(Clone, Copy)]
struct Extent {
    least: f64,
    most: f64,
}

const NOTHING: Extent = Extent {
    least: f64::INFINITY,
    most: f64::NEG_INFINITY,
};

/// In how many stretches the first cloud lies above the second, less those in which it lies below.
fn first_votes(up: &[Lag], down: &[Lag]) -> i64 {
    let all = up.iter().chain(down);
    let (from, to) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), p| {
        (from.min(p.x), to.max(p.x))
    });
    let votes = |stretches: usize| {
        let place = |x: f64| ((x - from) / (to - from).max(1e-9) * stretches as f64) as usize;
        let extents = |lags: &[Lag]| {
            let mut extents = vec![NOTHING; stretches];
            for lag in lags {
                if let Some(e) = extents.get_mut(place(lag.x).min(stretches - 1)) {
                    e.least = e.least.min(lag.y);
                    e.most = e.most.max(lag.y);
                }
            }
            extents
        };
        let both = extents(up).into_iter().zip(extents(down));
        let both = both.filter(|(a, b)| a.least.is_finite() && b.least.is_finite());
        both.map(|(a, b)| i64::from(a.least > b.most) - i64::from(b.least > a.most))
            .sum::<i64>()
    };
    STRETCHES
        .into_iter()
        .map(votes)
        .find(|votes| *votes != 0)
        .unwrap_or(0)
}

// A TTL or hop limit tells the point that packets pass first: every router on the way takes one off (RFC 791 §3.2, RFC 8200 §3).

/// Packets that are looked at, spread evenly.
const MOST_LOOKED_AT: usize = 4_096;
/// Per cent of the packets that have to say the same: a route may change for some, and a firewall may write a limit of its own.
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
    // Hop limits of each packet here and there; 0 where there is none yet.
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

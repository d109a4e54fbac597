//! Packets in clear with addresses that were inside a tunnel: a tunnel that fails open.
//!
//! A capture on a peer may show what it has just taken out of ESP, or what it is about to protect, once more in clear; so only what comes while that
//! direction of the tunnel is silent counts, and nothing of addresses that were seen in turn with ESP: the capture sees them inside, whatever becomes of
//! the tunnel. Whether a packet came after an outage is decided when the outages are known.

use crate::decode::ClearMark;
use crate::diagnosis::whole_run::{Examples, LONG_SILENCE};
use foldhash::HashMap;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// Pairs of inner addresses that are remembered; further ones are not looked for outside.
const MOST_PAIRS: usize = 4_096;

/// Source and destination of an inner packet.
type InnerEnds = (IpAddr, IpAddr);

/// Packets of one pair in clear.
#[derive(Debug, Clone)]
pub(crate) struct ClearPackets {
    pub(crate) tunnel: TunnelIndex,
    pub(crate) ends: InnerEnds,
    pub(crate) packets: u64,
    /// IP bytes.
    pub(crate) bytes: u64,
    pub(crate) first: Timestamp,
    pub(crate) frames: Examples,
}

#[derive(Debug, Default)]
pub(crate) struct ClearTraffic {
    /// Tunnel and direction of each pair, how often it came in clear and in ESP by turns, and when it last came in clear meanwhile.
    inside: HashMap<InnerEnds, (TunnelIndex, usize, u64, Option<Timestamp>)>,
    /// The last of each direction: many packets between the same ends come in a row.
    newest: [Option<(TunnelIndex, InnerEnds)>; 2],
    found: HashMap<InnerEnds, ClearPackets>,
}

impl ClearTraffic {
    /// An inner packet. Those between the tunnel's own ends are not told from what goes in clear rightly, nor is what any link sends to all of its
    /// neighbours.
    #[inline]
    pub(crate) fn inside(&mut self, tunnel: TunnelIndex, slot: usize, ends: InnerEnds, outer: [IpAddr; 2]) {
        let newest = self.newest[slot].as_ref();
        if newest.is_some_and(|newest| newest.0 == tunnel && newest.1 == ends) {
            return;
        }
        self.newest[slot] = Some((tunnel, ends));
        let own = outer.contains(&ends.0) || outer.contains(&ends.1) || ends.1.is_multicast();
        if !own && (self.inside.len() < MOST_PAIRS || self.inside.contains_key(&ends)) {
            let known = self.inside.entry(ends).or_default();
            (known.0, known.1) = (tunnel, slot);
        }
    }

    /// A packet that is neither IPsec nor IKE.
    /// `last`: the last ESP packet of a side of a tunnel.
    pub(crate) fn outside(
        &mut self,
        packet: &ClearMark,
        last: impl Fn(TunnelIndex, usize) -> Option<Timestamp>,
    ) {
        let (ends, time) = (packet.ends, packet.time);
        let Some(&mut (tunnel, slot, ref mut turns, ref mut seen)) = self.inside.get_mut(&ends) else {
            return;
        };
        let last = last(tunnel, slot);
        if last.is_some_and(|last| time.nanos_since(last) < LONG_SILENCE) {
            *turns += u64::from(last > *seen);
            *seen = Some(time);
            return;
        }
        if *turns >= LEAST_NOT_BY_CHANCE {
            return;
        }
        let found = self.found.entry(ends).or_insert_with(|| ClearPackets {
            tunnel,
            ends,
            packets: 0,
            bytes: 0,
            first: time,
            frames: Examples::default(),
        });
        found.packets += 1;
        found.bytes += u64::from(packet.bytes);
        found.frames.push(packet.frame);
    }

    pub(crate) fn found(&self) -> Vec<&ClearPackets> {
        let mut all: Vec<&ClearPackets> = self.found.values().collect();
        all.sort_by_key(|c| (c.first, c.ends));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_SECOND;
    use std::net::Ipv4Addr;

    fn host(n: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, n).into()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp(seconds * NANOS_PER_SECOND)
    }

    fn clear(ends: InnerEnds, bytes: u32, time: Timestamp, frame: u64) -> ClearMark {
        ClearMark {
            ends,
            bytes,
            time,
            frame,
        }
    }

    /// Inner 192.0.2.11 → 192.0.2.12 between the ends 192.0.2.1 and 192.0.2.2, until second 10.
    fn traffic() -> ClearTraffic {
        let mut traffic = ClearTraffic::default();
        traffic.inside(0, 0, (host(11), host(12)), [host(1), host(2)]);
        traffic.inside(0, 0, (host(1), host(12)), [host(1), host(2)]);
        traffic
    }

    fn last(_: TunnelIndex, _: usize) -> Option<Timestamp> {
        Some(at(10))
    }

    #[test]
    fn what_was_inside_counts_once_the_tunnel_is_silent() {
        let mut traffic = traffic();
        let ends = (host(11), host(12));
        traffic.outside(&clear(ends, 100, at(10).plus_nanos(1_000), 1), last);
        assert!(traffic.found().is_empty(), "just taken out of ESP");
        traffic.outside(&clear(ends, 100, at(12), 2), last);
        traffic.outside(&clear(ends, 60, at(13), 3), last);
        let found = traffic.found();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].packets, found[0].bytes, found[0].frames.frames()),
            (2, 160, &[2, 3][..])
        );
    }

    #[test]
    fn others_and_the_tunnels_own_ends_do_not() {
        let mut traffic = traffic();
        for ends in [(host(12), host(11)), (host(1), host(12)), (host(3), host(4))] {
            traffic.outside(&clear(ends, 100, at(20), 1), last);
        }
        assert!(traffic.found().is_empty());
    }
}

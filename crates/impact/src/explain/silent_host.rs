//! A host that answers nothing through a tunnel that brings others their answers.

use rekeyscope_model::analysis::{Analysis, Direction, Flow};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;

/// IP protocols of which a first packet asks for an answer: TCP, and the echo requests of ICMP. A host that an error message goes to has sent something.
const ASKS: [&str; 3] = ["tcp", "1", "58"];
/// The port of name servers, which answer every request (RFC 1035 §4.2).
const DNS: u16 = 53;

/// A host that was asked, and of which nothing came.
#[derive(Debug, Clone, Copy)]
pub struct ToldSilentHost {
    /// Index in `tunnels`.
    pub tunnel: usize,
    /// Inner address of the host.
    pub host: IpAddr,
    /// The end of the tunnel behind which it is.
    pub behind: IpAddr,
    /// Packets that went to it.
    pub packets: u64,
}

/// The host that was asked most often. Others have their answers through the same tunnel: it is open, and the capture has both directions.
pub fn told_silent_host(analysis: &Analysis) -> Option<ToldSilentHost> {
    let speak: HashSet<IpAddr> = analysis.flows.iter().map(|flow| flow.src).collect();
    let asks = |flow: &&Flow| ASKS.contains(&flow.protocol.as_str()) || flow.dst_port == Some(DNS);
    let mut asked: BTreeMap<(usize, IpAddr), (u64, &Flow)> = BTreeMap::new();
    for flow in analysis.flows.iter().filter(asks) {
        if !speak.contains(&flow.dst) && !flow.dst.is_multicast() {
            let own = asked.entry((flow.tunnel, flow.dst)).or_insert((0, flow));
            own.0 += flow.packets;
        }
    }
    let arrives = analysis.flows.iter().filter(|flow| flow.new_bytes > 0);
    let answered: HashSet<(usize, Direction, IpAddr)> = arrives
        .map(|flow| (flow.tunnel, flow.direction, flow.dst))
        .collect();
    let is_open = |flow: &Flow| answered.contains(&(flow.tunnel, flow.direction.reverse(), flow.src));
    let told = asked
        .values()
        .filter(|(packets, flow)| *packets >= LEAST_NOT_BY_CHANCE && is_open(flow));
    let (packets, flow) = told.max_by_key(|(packets, _)| *packets)?;
    let tunnel = analysis.tunnels.get(flow.tunnel)?;
    Some(ToldSilentHost {
        tunnel: tunnel.id,
        host: flow.dst,
        behind: flow.direction.pick(tunnel.b, tunnel.a),
        packets: *packets,
    })
}

//! The name of the client, or of the host behind a child SA, that an answer speaks of.

use crate::words::focus::Focus;
use rekeyscope_model::analysis::{Direction, Impact, Tunnel};
use std::net::IpAddr;

/// Names the client of a tunnel, where the document has several that carry data; `None` where it has one.
pub(super) fn client(focus: &Focus, tunnel: usize) -> Option<String> {
    let all = &focus.analysis.tunnels;
    let carries = |t: &&Tunnel| {
        focus
            .series(t.id, Direction::AToB)
            .or(focus.series(t.id, Direction::BToA))
            .is_some()
    };
    let others: Vec<&Tunnel> = all.iter().filter(carries).filter(|t| t.id != tunnel).collect();
    let own = all.get(tunnel)?;
    let (first, rest) = others.split_first()?;
    let differs =
        |end: fn(&Tunnel) -> IpAddr| end(own) != end(first) && rest.iter().all(|t| end(own) != end(t));
    Some(if differs(|t| t.a) {
        own.a.to_string()
    } else if differs(|t| t.b) {
        own.b.to_string()
    } else {
        // Clients behind one NAT have one address.
        fill!(focus.t, "client-of-tunnel", client = own.a, tunnel)
    })
}

/// Names the host whose child SA suffers, where the ledger of a verdict is that of one child SA of several: by the address that no other
/// traffic of the tunnel has.
pub(super) fn host(focus: &Focus, headline: &Impact) -> Option<String> {
    let (src, dst) = focus.ledger(headline)?.inner?;
    let flows = focus.analysis.flows.iter();
    let mut others = flows.filter(|flow| {
        let ends = (flow.src, flow.dst);
        flow.tunnel == headline.tunnel && ends != (src, dst) && ends != (dst, src)
    });
    let is_shared = others.any(|flow| flow.src == dst || flow.dst == dst);
    Some(if is_shared { src } else { dst }.to_string())
}

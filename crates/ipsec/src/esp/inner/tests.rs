//! Header stacks put together from small builders; each is also cut at every byte.

mod flows;
mod hostile;
mod ipcomp;
mod l2tp;
mod tunnels;

use super::*;
use rekeyscope_model::flow::FiveTuple;
use rekeyscope_testkit::headers::{self, Ipv4, Tcp};
use std::net::Ipv4Addr;

const OUTER: (IpAddr, IpAddr) = (
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)),
);
const INNER: (IpAddr, IpAddr) = (
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)),
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)),
);

/// Inside everything else.
const IPV4: Ipv4<'static> = Ipv4 {
    src: [10, 0, 0, 1],
    dst: [10, 0, 0, 2],
    protocol: 0,
    id: 0,
    fragment: 0,
    options: &[],
};

fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    (Ipv4 { protocol, ..IPV4 }).packet(payload)
}

fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    headers::ipv6(1, 2, next, payload)
}

fn tcp(flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let header = Tcp {
        ports: (12345, 5201),
        seq: 0xffff_fff0,
        ack: 7,
        flags,
        window: 502,
        options,
    };
    header.segment(payload)
}

/// Walks, and walks every shorter prefix of the same payload too: that never panics, and never invents a flow that
/// the whole payload does not have.
fn walked(next_header: u8, payload: &[u8]) -> Inner {
    let whole = walk(next_header, payload, payload.len(), Some(OUTER));
    for cut in 0..payload.len() {
        let inner = walk(next_header, &payload[..cut], payload.len(), Some(OUTER));
        if let Some(flow) = inner.flow {
            assert_eq!(Some(flow.protocol), whole.flow.map(|flow| flow.protocol));
            assert_eq!(inner.transport_bytes, whole.transport_bytes, "cut at {cut}");
        }
        walk(next_header, &payload[..cut], cut, Some(OUTER));
    }
    whole
}

fn flow(protocol: u8, addresses: (IpAddr, IpAddr), src_port: u16, dst_port: u16) -> Option<FiveTuple> {
    Some(FiveTuple {
        protocol,
        src: addresses.0,
        dst: addresses.1,
        src_port,
        dst_port,
    })
}

//! Compressed payloads.

use crate::esp::inner::tests::{INNER, OUTER, flow, ipv4, tcp};
use crate::esp::inner::{Layers, PREFIX, walk};
use rekeyscope_model::flow::TcpHeader;
use rekeyscope_testkit::headers::ip_comp;

#[test]
fn deflated_payloads() {
    let text: Vec<u8> = (0..1000u16).map(|i| (u32::from(i).pow(2) >> 5) as u8).collect();
    let transport = ip_comp(6, 2, &tcp(TcpHeader::ACK, &[], &text));
    let inner = walk(108, &transport, transport.len(), Some(OUTER));
    assert_eq!(
        (inner.flow, inner.transport_bytes, inner.layers),
        (flow(6, OUTER, 12345, 5201), 1000, Layers::IPCOMP)
    );
    let of_prefix = walk(108, &transport[..PREFIX], transport.len(), Some(OUTER));
    assert_eq!(of_prefix.stopped_at, Some("IPComp (whole payload needed)"));
    assert_eq!(of_prefix.transport_bytes as usize, transport.len() - 4);
    // The length of a whole IP packet is at its beginning: the prefix is enough.
    let tunnel = ip_comp(4, 2, &ipv4(6, &tcp(TcpHeader::ACK, &[], &text)));
    assert!(tunnel.len() > PREFIX);
    for cut in [PREFIX, tunnel.len()] {
        let inner = walk(108, &tunnel[..cut], tunnel.len(), Some(OUTER));
        assert_eq!(
            (inner.flow, inner.transport_bytes, inner.ip_bytes),
            (flow(6, INNER, 12345, 5201), 1000, 1040)
        );
    }
    for cut in 0..tunnel.len() {
        walk(108, &tunnel[..cut], tunnel.len(), None);
        walk(108, &tunnel[..cut], cut, None);
    }
    let bomb = ip_comp(4, 2, &vec![0; 1 << 20]);
    assert_eq!(walk(108, &bomb, bomb.len(), None).stopped_at, Some("IPComp"));
}

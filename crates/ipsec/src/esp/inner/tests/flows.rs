//! The header where the walk ends: TCP and its options, other protocols, fragments, extension headers.

use crate::esp::inner::tests::{INNER, IPV4, OUTER, flow, ipv4, ipv6, tcp, walked};
use crate::esp::inner::{Layers, walk};
use rekeyscope_model::flow::TcpHeader;
use rekeyscope_testkit::headers::{Ipv4, udp};

#[test]
fn transport_mode_takes_the_outer_addresses() {
    let inner = walked(6, &tcp(0x18, &[], b"hello"));
    assert_eq!(inner.flow, flow(6, OUTER, 12345, 5201));
    assert_eq!(
        (inner.transport_bytes, inner.layers, inner.stopped_at),
        (5, Layers::default(), None)
    );
    let segment = inner.tcp.unwrap();
    assert_eq!(
        (segment.seq, segment.ack, segment.flags, segment.window),
        (0xffff_fff0, 7, 0x18, 502)
    );
    assert_eq!(walk(17, &udp(53, 53, b"x"), 9, None).flow, None);
}

#[test]
fn inner_fragments_count_their_payload() {
    let datagram = udp(5000, 5001, &[3; 2000]);
    let pieces = (Ipv4 { protocol: 17, ..IPV4 }).fragments(&datagram, 1480);
    let first = walked(4, &pieces[0]);
    assert_eq!((first.flow, first.fragment), (flow(17, INNER, 5000, 5001), false));
    let second = walked(4, &pieces[1]);
    assert_eq!((second.flow, second.fragment), (flow(17, INNER, 0, 0), true));
    assert_eq!(first.transport_bytes + second.transport_bytes, 2000);
    let six = walked(
        41,
        &ipv6(44, &[&[17, 0, 0, 8, 0, 0, 0, 1][..], &[0; 100]].concat()),
    );
    assert_eq!((six.fragment, six.transport_bytes), (true, 100));
}

#[test]
fn ipv6_extension_headers_are_passed_over() {
    let datagram = udp(1, 2, b"data");
    let extensions = [&[60, 0, 1, 4, 0, 0, 0, 0, 17, 1][..], &[0; 14]].concat();
    let inner = walked(41, &ipv6(0, &[extensions, datagram].concat()));
    assert_eq!((inner.flow.unwrap().dst_port, inner.transport_bytes), (2, 4));
}

#[test]
fn tcp_options() {
    let options = [2, 4, 5, 0x78, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 9, 1, 3, 3, 7];
    let syn = walked(6, &tcp(TcpHeader::SYN, &options, &[])).tcp.unwrap();
    assert_eq!(
        (syn.timestamps, syn.window_scale, syn.sack.as_slice()),
        (Some((1, 9)), Some(7), &[][..])
    );
    let edges = [1_u32, 2, 7, 9].map(u32::to_be_bytes).concat();
    let sack = [&[1, 1, 5, 18][..], &edges].concat();
    let ack = walked(6, &tcp(TcpHeader::ACK, &sack, &[]));
    assert_eq!(ack.tcp.unwrap().sack.as_slice(), &[(1, 2), (7, 9)]);
    let broken = [5, 0, 0, 0];
    assert_eq!(walked(6, &tcp(TcpHeader::ACK, &broken, &[1])).transport_bytes, 1);
}

#[test]
fn a_router_says_how_large_packets_may_be() {
    let v4 = ipv4(
        1,
        &[&[3, 4, 0, 0, 0, 0, 0x04, 0xec], ipv4(6, &[7; 8]).as_slice()].concat(),
    );
    let v6 = ipv6(
        58,
        &[&[2, 0, 0, 0, 0, 0, 0x04, 0xec], ipv6(6, &[7; 8]).as_slice()].concat(),
    );
    for (next, packet, src) in [(4, v4, INNER.0.to_string()), (41, v6, "2001:db8::1".to_string())] {
        let (by, error) = *walked(next, &packet).too_big.unwrap();
        assert_eq!(error.mtu, Some(1_260));
        assert_eq!((by, by.to_string()), (error.src, src));
    }
    let unreachable = ipv4(
        1,
        &[&[3, 1, 0, 0, 0, 0, 0, 0], ipv4(6, &[7; 8]).as_slice()].concat(),
    );
    assert_eq!(walked(4, &unreachable).too_big, None);
}

#[test]
fn other_protocols_are_flows_of_their_own() {
    let icmp = walked(1, &[8, 0, 0, 0, 0, 1, 0, 2]);
    let echo = icmp.echo.unwrap();
    assert_eq!((echo.request, echo.id, echo.seq), (true, 1, 2));
    assert_eq!((icmp.flow, icmp.transport_bytes), (flow(1, OUTER, 0, 0), 8));
    let sctp = walked(132, &[0x0b, 0x59, 0x0b, 0x5a, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(sctp.flow, flow(132, OUTER, 2905, 2906));
}

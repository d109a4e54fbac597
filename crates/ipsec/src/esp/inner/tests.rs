//! Header stacks put together from small builders; each is also cut at every byte.

use super::*;
use proptest::prelude::*;
use rekeyscope_testkit::headers::{self, Ipv4, Tcp, ethernet_with, gre, ip_comp, l2tp, udp, vxlan};
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

fn flow(protocol: u8, addresses: (IpAddr, IpAddr), src_port: u16, dst_port: u16) -> Option<FlowKey> {
    Some(FlowKey {
        protocol,
        src: addresses.0,
        dst: addresses.1,
        src_port,
        dst_port,
    })
}

#[test]
fn what_is_handed_on_per_packet_is_small() {
    assert!(size_of::<Inner>() <= 128, "{}", size_of::<Inner>());
}

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
fn l2tp_over_transport_mode() {
    let packet = ipv4(6, &tcp(0x10, &[], &[7; 1000]));
    let uncompressed = [&[0xff, 3, 0, 0x21], packet.as_slice()].concat();
    let acfc = [&[0, 0x21], packet.as_slice()].concat();
    let pfc = [&[0x21], packet.as_slice()].concat();
    let both_full = [&[0xff, 3, 0x21], packet.as_slice()].concat();
    for ppp in [uncompressed, acfc, pfc, both_full] {
        for flags in [0, 0x4000, 0x0800, 0x0200, 0x4a00, 0x0100] {
            let inner = walked(17, &l2tp(flags, 2, &ppp));
            assert_eq!(inner.flow, flow(6, INNER, 12345, 5201), "{flags:04x}");
            assert_eq!(inner.layers, Layers::L2TP.with(Layers::PPP));
            assert_eq!(
                (inner.transport_bytes, inner.ip_bytes, inner.control),
                (1000, 1040, None)
            );
        }
    }
}

#[test]
fn only_the_prefix_is_needed() {
    let ppp = [
        &[0xff, 3, 0, 0x21],
        ipv4(6, &tcp(0x10, &[1; 12], &[7; 1000])).as_slice(),
    ]
    .concat();
    let payload = l2tp(0x4800, 2, &ppp);
    let inner = walk(17, &payload[..PREFIX], payload.len(), None);
    assert_eq!(
        (inner.flow, inner.transport_bytes),
        (flow(6, INNER, 12345, 5201), 1000)
    );
}

#[test]
fn ethernet_in_l2tpv3_with_any_cookie() {
    let frame = ethernet_with(&[8, 0], &ipv4(17, &udp(1, 2, &[9; 60])));
    let tagged = ethernet_with(&[0x81, 0, 0, 5, 8, 0], &ipv4(17, &udp(1, 2, &[9; 60])));
    let smallest = [ethernet_with(&[8, 0], &ipv4(17, &udp(1, 2, b"x"))), vec![0; 17]].concat();
    let layers = Layers::L2TP.with(Layers::ETHERNET);
    for (frame, bytes) in [(frame, 60), (tagged, 60), (smallest, 1)] {
        for cookie in [0, 4, 8] {
            let data = [&[0, 0, 0, 7][..], &[0xc0; 8][..cookie], &frame].concat();
            let over_ip = walked(115, &data);
            assert_eq!(
                (over_ip.flow, over_ip.layers, over_ip.transport_bytes),
                (flow(17, INNER, 1, 2), layers, bytes)
            );
            let over_udp = walked(17, &udp(1701, 1701, &[&[0, 3, 0, 0], data.as_slice()].concat()));
            assert_eq!((over_udp.flow, over_udp.layers), (over_ip.flow, layers));
        }
    }
    let control = walked(115, &[0, 0, 0, 0, 0xc8, 3, 0, 12]);
    assert_eq!(
        (control.control, control.stopped_at),
        (Some(Control::L2tp(None)), Some("L2TP control"))
    );
    assert_eq!(
        walked(115, &[&[0, 0, 0, 7][..], &[0x5a; 80]].concat()).stopped_at,
        Some("L2TPv3")
    );
}

#[test]
fn control_messages() {
    let hello = [
        &[0xc8, 2, 0, 20, 0, 1, 0, 0, 0, 3, 0, 4][..],
        &[0x80, 8, 0, 0, 0, 0, 0, 6],
    ]
    .concat();
    let inner = walked(17, &udp(1701, 1701, &hello));
    assert_eq!(inner.control, Some(Control::L2tp(Some(6))));
    assert_eq!(
        (inner.transport_bytes, inner.stopped_at),
        (0, Some("L2TP control"))
    );
    let acknowledgement = [0xc8, 2, 0, 12, 0, 1, 0, 0, 0, 3, 0, 4];
    assert_eq!(
        walked(17, &udp(1701, 1701, &acknowledgement)).control,
        Some(Control::L2tp(None))
    );
    for (protocol, code) in [(0xc021, 9), (0x8021, 1), (0xc223, 1), (0xc023, 2), (0x80fd, 1)] {
        let ppp = [&[0xff, 3][..], &u16::to_be_bytes(protocol), &[code, 1, 0, 4]].concat();
        let inner = walked(17, &l2tp(0x4000, 2, &ppp));
        assert_eq!(inner.control, Some(Control::Ppp { protocol, code }));
        assert_eq!(inner.transport_bytes, 0);
    }
}

#[test]
fn what_ppp_hides_still_counts_as_bytes() {
    let mppe = [&[0xff, 3, 0, 0xfd][..], &[0x5a; 100]].concat();
    let inner = walked(17, &l2tp(0, 2, &mppe));
    assert_eq!((inner.flow, inner.transport_bytes), (None, 100));
    assert_eq!(inner.stopped_at, Some("PPP compression or MPPE"));
}

#[test]
fn tunnel_mode_in_both_versions() {
    let inner = walked(4, &ipv4(17, &udp(5000, 53, &[1; 30])));
    assert_eq!(
        (inner.flow, inner.transport_bytes),
        (flow(17, INNER, 5000, 53), 30)
    );
    assert_eq!(
        (inner.layers, inner.ip_bytes, inner.tfc_padding),
        (Layers::TUNNEL_MODE, 58, 0)
    );
    let six = walked(41, &ipv6(6, &tcp(2, &[], b"")));
    assert_eq!(six.flow.unwrap().src, "2001:db8::1".parse::<IpAddr>().unwrap());
    assert_eq!((six.layers, six.ip_bytes), (Layers::TUNNEL_MODE, 60));
    let six_in_four = walked(4, &ipv4(41, &ipv6(58, &[128, 0, 0, 0])));
    assert_eq!(six_in_four.layers, Layers::TUNNEL_MODE.with(Layers::IPIP));
    assert_eq!(
        (six_in_four.flow.unwrap().protocol, six_in_four.transport_bytes),
        (58, 4)
    );
}

#[test]
fn traffic_flow_confidentiality_padding_is_not_payload() {
    let payload = [ipv4(17, &udp(1, 2, b"data")), vec![0; 500]].concat();
    let inner = walked(4, &payload);
    assert_eq!(
        (inner.tfc_padding, inner.transport_bytes, inner.ip_bytes),
        (500, 4, 32)
    );
    let dummy = walked(59, &[0; 64]);
    assert_eq!(
        (dummy.transport_bytes, dummy.stopped_at),
        (0, Some("no next header (dummy packet)"))
    );
}

#[test]
fn gre_and_what_it_carries() {
    let packet = ipv4(17, &udp(1, 2, b"data"));
    for flags in [0, 0x8000, 0x2000, 0x1000, 0xb000] {
        let inner = walked(47, &gre(flags, 0x0800, &packet));
        assert_eq!(
            (inner.flow, inner.layers),
            (flow(17, INNER, 1, 2), Layers::GRE),
            "{flags:04x}"
        );
    }
    let gretap = walked(
        47,
        &gre(0x2000, 0x6558, &ethernet_with(&[0x81, 0, 0, 5, 8, 0], &packet)),
    );
    assert_eq!(
        (gretap.flow, gretap.layers),
        (flow(17, INNER, 1, 2), Layers::GRE.with(Layers::ETHERNET))
    );
    let ppp = [&[0xff, 3, 0, 0x21], packet.as_slice()].concat();
    let mut pptp = vec![0x30, 0x81, 0x88, 0x0b];
    pptp.extend((ppp.len() as u16).to_be_bytes());
    pptp.extend([0, 9, 0, 0, 0, 1, 0, 0, 0, 2]);
    let inner = walked(47, &[pptp.as_slice(), &ppp].concat());
    assert_eq!(
        (inner.flow, inner.layers),
        (flow(17, INNER, 1, 2), Layers::GRE.with(Layers::PPP))
    );
    let mpls = walked(
        47,
        &gre(
            0,
            0x8847,
            &[&[0, 1, 0, 64, 0, 2, 1, 64], packet.as_slice()].concat(),
        ),
    );
    assert_eq!(mpls.flow, flow(17, INNER, 1, 2));
}

#[test]
fn ethernet_over_ip_and_vxlan() {
    let frame = ethernet_with(&[8, 0], &ipv4(17, &udp(1, 2, b"data")));
    let ether_ip = walked(97, &[&[0x30, 0], frame.as_slice()].concat());
    assert_eq!(
        (ether_ip.flow, ether_ip.layers),
        (flow(17, INNER, 1, 2), Layers::ETHERNET)
    );
    let vxlan = walked(17, &vxlan(&frame));
    assert_eq!(
        (vxlan.flow, vxlan.layers),
        (flow(17, INNER, 1, 2), Layers::VXLAN.with(Layers::ETHERNET))
    );
    let not_vxlan = walked(17, &udp(50000, 4789, b"something else"));
    assert_eq!(
        (not_vxlan.flow, not_vxlan.transport_bytes),
        (flow(17, OUTER, 50000, 4789), 14)
    );
    let arp = walked(
        97,
        &[&[0x30, 0], ethernet_with(&[8, 6], &[0; 28]).as_slice()].concat(),
    );
    assert_eq!((arp.stopped_at, arp.transport_bytes), (Some("ARP"), 28));
}

/// Other protocols on the ports of tunnels keep their flows.
#[test]
fn what_is_no_tunnel_is_a_flow_of_its_own() {
    let frame = ethernet_with(&[0x12, 0x34], &[0x45; 40]);
    for (port, body) in [
        (2152, [&[0x32, 0xff, 0, 20][..], &[0x45; 40]].concat()),
        (2152, [&[0x30, 0xff, 0, 40, 0, 0, 0, 1][..], &[0x45; 40]].concat()),
        (2152, [&[0x30, 0xff, 0, 54, 0, 0, 0, 1][..], &frame].concat()),
        (
            2152,
            [&[0x30, 0x01, 0, 40, 0, 0, 0, 1][..], &ipv4(17, &[0; 20])].concat(),
        ),
        (6081, [&[0x40, 0, 0x65, 0x58][..], &[0x45; 40]].concat()),
        (6081, vec![0x11; 48]),
        (4789, [&[0x09, 9, 9, 9][..], &[0x45; 40]].concat()),
    ] {
        let inner = walked(17, &udp(50_000, port, &body));
        assert_eq!(
            (inner.flow, inner.transport_bytes as usize),
            (flow(17, OUTER, 50_000, port), body.len()),
            "{port} {body:02x?}"
        );
    }
    // Ethernet in GTP-U, whose address begins like a packet.
    let mut frame = ethernet_with(&[8, 0], &ipv4(17, &udp(1, 2, &[7; 60])));
    frame[0] = 0x4c;
    let len = (frame.len() as u16).to_be_bytes();
    let gtp = [&[0x30, 0xff, len[0], len[1], 0, 0, 0, 1][..], &frame].concat();
    let inner = walked(17, &udp(50_000, 2152, &gtp));
    assert_eq!(
        (inner.flow, inner.layers),
        (flow(17, INNER, 1, 2), Layers::GTP.with(Layers::ETHERNET))
    );
}

/// A pseudowire without a control word, whose address begins like a packet or like a control word.
#[test]
fn a_pseudowire_is_told_by_what_fits() {
    for address in [0x00, 0x4c, 0x6c, 0xa4] {
        let mut frame = ethernet_with(&[8, 0], &ipv4(17, &udp(1, 2, &[7; 60])));
        frame[0] = address;
        for control_word in [0, 4] {
            let mpls = [&[0, 1, 1, 64][..], &[0; 4][..control_word], &frame].concat();
            assert_eq!(walked(137, &mpls).flow, flow(17, INNER, 1, 2), "{address:02x}");
        }
    }
}

#[test]
fn headers_longer_than_the_prefix_ask_for_the_whole_payload() {
    let frame = ethernet_with(&[8, 0], &ipv4(6, &tcp(TcpSegment::ACK, &[], &[7; 500])));
    let geneve = [&[63, 0, 0x65, 0x58, 0, 0, 1, 0][..], &[0; 252], &frame].concat();
    let payload = udp(50_000, 6081, &geneve);
    let begins = walk(17, &payload[..PREFIX], payload.len(), Some(OUTER));
    assert!(begins.prefix_too_short);
    let whole = walk(17, &payload, payload.len(), Some(OUTER));
    assert_eq!(
        (whole.flow, whole.transport_bytes, whole.prefix_too_short),
        (flow(6, INNER, 12345, 5201), 500, false)
    );
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
    let syn = walked(6, &tcp(TcpSegment::SYN, &options, &[])).tcp.unwrap();
    assert_eq!(
        (syn.timestamp, syn.echo, syn.window_scale, syn.sack_blocks),
        (Some(1), 9, Some(7), 0)
    );
    let sack = [&[1, 1, 5, 18][..], &[9; 16]].concat();
    assert_eq!(
        walked(6, &tcp(TcpSegment::ACK, &sack, &[]))
            .tcp
            .unwrap()
            .sack_blocks,
        2
    );
    let broken = [5, 0, 0, 0];
    assert_eq!(walked(6, &tcp(TcpSegment::ACK, &broken, &[1])).transport_bytes, 1);
}

#[test]
fn deflated_payloads() {
    let text: Vec<u8> = (0..1000u16).map(|i| (u32::from(i).pow(2) >> 5) as u8).collect();
    let transport = ip_comp(6, 2, &tcp(TcpSegment::ACK, &[], &text));
    let inner = walk(108, &transport, transport.len(), Some(OUTER));
    assert_eq!(
        (inner.flow, inner.transport_bytes, inner.layers),
        (flow(6, OUTER, 12345, 5201), 1000, Layers::IPCOMP)
    );
    let of_prefix = walk(108, &transport[..PREFIX], transport.len(), Some(OUTER));
    assert_eq!(of_prefix.stopped_at, Some("IPComp (whole payload needed)"));
    assert_eq!(of_prefix.transport_bytes as usize, transport.len() - 4);
    // The length of a whole IP packet is at its beginning: the prefix is enough.
    let tunnel = ip_comp(4, 2, &ipv4(6, &tcp(TcpSegment::ACK, &[], &text)));
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

#[test]
fn named_where_the_walk_stops() {
    for (next_header, payload, name) in [
        (50, &[1, 2, 3, 4, 0, 0, 0, 1, 9][..], "ESP in ESP"),
        (108, &[6, 0, 0, 3, 1, 2, 3], "IPComp"),
        (108, &[6, 0, 0, 2, 0xff, 2, 3], "IPComp"),
        (4, &[0x75; 40], "IP"),
        (47, &[0x40, 0, 8, 0, 0, 0, 0, 0], "GRE source routing"),
    ] {
        assert_eq!(walked(next_header, payload).stopped_at, Some(name));
    }
    let mut nested = udp(1, 2, b"");
    for _ in 0..2 * MAX_DEPTH {
        nested = ipv4(if nested.len() < 20 { 17 } else { 4 }, &nested);
    }
    assert_eq!(walked(4, &nested).stopped_at, Some("too many layers"));
}

#[test]
fn other_protocols_are_flows_of_their_own() {
    let icmp = walked(1, &[8, 0, 0, 0, 0, 1, 0, 1]);
    assert_eq!((icmp.flow, icmp.transport_bytes), (flow(1, OUTER, 0, 0), 8));
    let sctp = walked(132, &[0x0b, 0x59, 0x0b, 0x5a, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(sctp.flow, flow(132, OUTER, 2905, 2906));
}

proptest! {
    #[test]
    fn hostile_payloads(
        next_header in any::<u8>(),
        payload in proptest::collection::vec(any::<u8>(), 0..300),
        len in 0usize..70_000,
    ) {
        let inner = walk(next_header, &payload, len, Some(OUTER));
        prop_assert!(inner.transport_bytes as usize <= len.max(payload.len()));
    }

    /// Bytes that look like headers get deeper than noise does.
    #[test]
    fn hostile_header_stacks(
        next_header in prop::sample::select(vec![4u8, 6, 17, 41, 47, 51, 97, 137]),
        chunks in proptest::collection::vec(
            prop::sample::select(vec![
                vec![0x45, 0, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
                vec![0x46, 0, 0, 0, 0, 0, 0, 0, 64, 47, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
                vec![6, 0xa5, 6, 0xa5, 0, 40, 0, 0],
                vec![0x40, 2, 0, 9, 0, 1, 0, 2],
                vec![0xff, 3, 0, 0x21],
                vec![0x20, 0, 0x65, 0x58, 0, 0, 0, 1],
                vec![0x30, 1, 0x88, 0x0b, 0, 30, 0, 1],
                vec![2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0x81, 0, 0, 1, 0x88, 0x64],
                vec![0xc3, 0x50, 0x12, 0xb5, 0, 50, 0, 0, 8, 0, 0, 0, 0, 0, 1, 0],
                vec![0x60, 0, 0, 0, 0, 30, 0, 64],
                vec![8, 0x68, 8, 0x68, 0, 60, 0, 0, 0x34, 0xff, 0, 40, 0, 0, 0, 1, 0, 0, 0, 0x85],
                vec![0x17, 0xc1, 0x17, 0xc1, 0, 60, 0, 0, 1, 0, 0x65, 0x58, 0, 0, 1, 0],
                vec![0xfe, 0x10, 9, 0],
                vec![0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0],
                vec![0xc8, 2, 0, 20],
            ]),
            0..12,
        ),
        cut in 0usize..240,
    ) {
        let mut payload = chunks.concat();
        payload.truncate(cut);
        let inner = walk(next_header, &payload, payload.len(), None);
        prop_assert!(inner.transport_bytes as usize <= payload.len());
    }
}

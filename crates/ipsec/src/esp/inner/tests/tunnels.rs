//! IP in IP, GRE, Ethernet in every tunnel, and what only looks like one.

use crate::esp::inner::tests::{INNER, OUTER, flow, ipv4, ipv6, tcp, walked};
use crate::esp::inner::{Layers, PREFIX, walk};
use rekeyscope_model::flow::TcpHeader;
use rekeyscope_testkit::headers::{ethernet_with, gre, udp, vxlan};
use std::net::IpAddr;

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
    let frame = ethernet_with(&[8, 0], &ipv4(6, &tcp(TcpHeader::ACK, &[], &[7; 500])));
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

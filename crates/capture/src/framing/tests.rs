//! Synthetic frames: the same datagrams in every link type, cut, fragmented, malformed and hostile.

mod fragments;
mod links;
mod malformed;

mod tshark;
mod tunnels;

use super::*;
use crate::file::{Frame, LinkType};
use crate::framing::link::link_type as types;
use crate::layers::MAX_DEPTH;
use links::every_link;
use proptest::prelude::*;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::time::Timestamp;
use rekeyscope_testkit::headers::{self, Ipv4, ethernet_with, udp};
use std::net::IpAddr;

fn esp(len: usize) -> Vec<u8> {
    let mut packet = vec![0xc7, 0xdf, 0x96, 0x8a, 0, 0, 0, 1];
    packet.extend((0..len.saturating_sub(8)).map(|i| i as u8));
    packet
}

fn ike_message() -> Vec<u8> {
    let mut message = vec![0x33; 28];
    message[17] = 0x20;
    message[24..28].copy_from_slice(&60_u32.to_be_bytes());
    message.resize(60, 0x77);
    message
}

/// Between the same two ends as all packets here.
const IPV4: Ipv4<'static> = Ipv4 {
    src: [10, 9, 0, 1],
    dst: [10, 9, 0, 2],
    protocol: 0,
    id: 0,
    fragment: 0,
    options: &[],
};

/// With "don't fragment".
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let header = Ipv4 {
        protocol,
        fragment: 0x4000,
        ..IPV4
    };
    header.packet(payload)
}

fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    headers::ipv6(1, 2, next, payload)
}

fn frame(link_type: u16, data: &[u8]) -> Frame<'_> {
    let time = Timestamp(1_000_000_000);
    Frame {
        number: 7,
        time,
        link_type: LinkType(link_type),
        original_len: data.len() as u32,
        data,
        block: None,
    }
}

/// A datagram without borrowed parts.
#[derive(Debug, PartialEq, Eq, Clone)]
struct Got {
    src: IpAddr,
    dst: IpAddr,
    outer_bytes: u32,
    largest_fragment: u32,
    fragments: u16,
    cut: bool,
    wire_len: u32,
    kind: &'static str,
    udp: Option<(u16, u16)>,
    bytes: Vec<u8>,
}

fn decode_with(framing: &mut Framing, frame: &Frame<'_>, diagnostics: &mut Diagnostics) -> Option<Got> {
    let datagram = framing.decode(frame, diagnostics)?;
    assert_eq!((datagram.frame, datagram.time), (frame.number, frame.time));
    let ports = |udp: UdpPorts| (udp.src, udp.dst);
    let (kind, udp, bytes) = match datagram.kind {
        DatagramKind::Ike { udp, message } => ("IKE", Some(ports(udp)), message),
        DatagramKind::Esp { udp, packet } => ("ESP", udp.map(ports), packet),
        DatagramKind::NatKeepalive => ("keepalive", None, &[][..]),
        DatagramKind::TcpSegment(own) => ("TCP segment", Some(ports(own.ports)), own.payload),
        DatagramKind::Other(name) => (name, None, &[][..]),
    };
    Some(Got {
        src: datagram.src,
        dst: datagram.dst,
        outer_bytes: datagram.outer_bytes,
        largest_fragment: datagram.largest_fragment,
        fragments: datagram.fragments,
        cut: datagram.cut,
        wire_len: datagram.wire_len,
        kind,
        udp,
        bytes: bytes.to_vec(),
    })
}

/// Decodes one frame with a decoder of its own; the kinds of diagnostics with their layers.
fn decode(link_type: u16, data: &[u8]) -> (Option<Got>, Vec<(&'static str, &'static str)>) {
    let mut diagnostics = Diagnostics::default();
    let got = decode_with(&mut Framing::default(), &frame(link_type, data), &mut diagnostics);
    (got, diagnostics.iter().map(|d| (d.kind, d.layer)).collect())
}

fn decode_ip(ip: &[u8]) -> Got {
    let (got, kinds) = decode(types::RAW, ip);
    assert_eq!(kinds, []);
    got.unwrap()
}

/// One datagram of each kind: name, IP packet, what it is, its bytes.
fn every_datagram() -> Vec<(&'static str, Vec<u8>, &'static str, Vec<u8>)> {
    let marked = [vec![0; 4], ike_message()].concat();
    vec![
        ("ESP in IPv4", ipv4(50, &esp(76)), "ESP", esp(76)),
        ("ESP in IPv6", ipv6(50, &esp(76)), "ESP", esp(76)),
        (
            "ESP in UDP",
            ipv4(17, &udp(4500, 33000, &esp(76))),
            "ESP",
            esp(76),
        ),
        (
            "ESP in UDP in IPv6",
            ipv6(17, &udp(4500, 4500, &esp(76))),
            "ESP",
            esp(76),
        ),
        (
            "IKE",
            ipv4(17, &udp(500, 500, &ike_message())),
            "IKE",
            ike_message(),
        ),
        (
            "IKE behind a NAT",
            ipv6(17, &udp(33000, 4500, &marked)),
            "IKE",
            ike_message(),
        ),
    ]
}

#[test]
fn the_same_datagrams_from_every_link_type() {
    for (name, ip, kind, bytes) in every_datagram() {
        let expected = decode_ip(&ip);
        assert_eq!((expected.kind, &expected.bytes), (kind, &bytes), "{name}");
        assert_eq!(expected.outer_bytes as usize, ip.len(), "{name}");
        assert_eq!(expected.wire_len as usize, bytes.len(), "{name}");
        assert!(
            !expected.cut && expected.fragments == 1 && expected.largest_fragment == expected.outer_bytes
        );
        for (link, link_type, data) in every_link(&ip) {
            let (got, kinds) = decode(link_type, &data);
            assert_eq!(got, Some(expected.clone()), "{name} in {link}");
            assert_eq!(kinds, [], "{name} in {link}");
        }
    }
}

#[test]
fn udp_ports_and_first_bytes_tell_ike_from_esp() {
    let marked = [vec![0; 4], ike_message()].concat();
    let mut no_service = esp(76);
    no_service[0] = 0x17;
    for (src, dst, body, expected) in [
        (500, 500, ike_message(), "IKE"),
        (500, 61_000, ike_message(), "IKE"),
        (1011, 500, ike_message(), "IKE"),
        (4500, 4500, marked.clone(), "IKE"),
        (4500, 4500, esp(76), "ESP"),
        (61_000, 4500, esp(8), "ESP"),
        (4500, 61_000, marked.clone(), "IKE"),
        (4500, 500, ike_message(), "IKE"),
        // An answer to a NAT that chose 4500 for a client of port 500; and a client that floats from 500 to 4500.
        (500, 4500, ike_message(), "IKE"),
        (500, 4500, marked.clone(), "IKE"),
        (500, 4500, esp(76), "ESP"),
        (4500, 4500, vec![0xff], "keepalive"),
        (500, 500, vec![0xff], "keepalive"),
        (4500, 4500, vec![0xff, 0xff], "UDP 4500 without ESP or IKE"),
        (4500, 4500, esp(8)[..7].to_vec(), "UDP 4500 without ESP or IKE"),
        (4500, 4500, vec![], "UDP 4500 without ESP or IKE"),
        // A client of another service whose own port happens to be 4500.
        (4500, 53, no_service.clone(), "UDP"),
        (443, 4500, no_service.clone(), "UDP"),
        (1701, 1701, vec![0xc8, 2, 0, 20], "L2TP in clear"),
        (33_000, 33_001, esp(76), "UDP"),
    ] {
        let got = decode_ip(&ipv4(17, &udp(src, dst, &body)));
        assert_eq!(got.kind, expected, "{src} → {dst}, {body:02x?}");
        if let Some(ports) = got.udp {
            assert_eq!(ports, (src, dst));
        }
    }
}

#[test]
fn other_ports_carry_esp_on_request() {
    let packet = ipv4(17, &udp(33_000, 10_000, &esp(76)));
    let mut diagnostics = Diagnostics::default();
    let frame = frame(types::RAW, &packet);
    assert_eq!(
        decode_with(&mut Framing::default(), &frame, &mut diagnostics)
            .unwrap()
            .kind,
        "UDP"
    );
    let mut framing = Framing::with_esp_ports(&[10_000]);
    assert_eq!(
        decode_with(&mut framing, &frame, &mut diagnostics).unwrap().kind,
        "ESP"
    );
}

#[test]
fn options_and_extension_headers_are_stepped_over() {
    let header = Ipv4 {
        protocol: 50,
        options: &[0x94, 4, 0, 0, 1, 1, 1, 0],
        ..IPV4
    };
    let with_options = header.packet(&esp(40));
    assert_eq!(
        (decode_ip(&with_options).kind, decode_ip(&with_options).wire_len),
        ("ESP", 40)
    );
    let hop_by_hop = [
        &[60, 0, 1, 4, 0, 0, 0, 0][..],
        &[43, 1],
        &[0; 14],
        &[50, 0],
        &[0; 6],
        &esp(40),
    ]
    .concat();
    let got = decode_ip(&ipv6(0, &hop_by_hop));
    assert_eq!(
        (got.kind, got.wire_len, got.outer_bytes),
        ("ESP", 40, 40 + 32 + 40)
    );
    // An atomic fragment (RFC 6946): a fragment header, but whole.
    let atomic = [&[50, 0, 0, 0, 1, 2, 3, 4][..], &esp(40)].concat();
    assert_eq!(
        (
            decode_ip(&ipv6(44, &atomic)).kind,
            decode_ip(&ipv6(44, &atomic)).fragments
        ),
        ("ESP", 1)
    );
    // AH with a 12-byte ICV (RFC 4302 §2.2) in front of ESP and of TCP.
    for (next, expected) in [(50, "ESP"), (6, "AH")] {
        let ah = headers::ah(next, 0, 0, &[0; 12], &esp(40));
        assert_eq!(decode_ip(&ipv4(51, &ah)).kind, expected);
        assert_eq!(decode_ip(&ipv6(51, &ah)).kind, expected);
    }
    // An AH shorter than its fixed fields.
    let short = [&[50, 0, 0, 0][..], &[0; 4], &esp(40)].concat();
    assert_eq!(
        decode(types::RAW, &ipv4(51, &short)),
        (None, vec![("malformed", "IP extension header")])
    );
    // Mobility, HIP, Shim6.
    for kind in [135, 139, 140] {
        let extended = [&[50, 0, 0, 0, 0, 0, 0, 0][..], &esp(40)].concat();
        assert_eq!(decode_ip(&ipv6(kind, &extended)).kind, "ESP");
    }
    // The payload of a later piece is no extension header, whatever its datagram begins with.
    let piece = [&[60, 0, 0, 8, 1, 2, 3, 4][..], &[0xff; 16]].concat();
    assert_eq!(decode(types::RAW, &ipv6(44, &piece)), (None, vec![]));
    // A chain without an end.
    let endless = ipv6(0, &[0; 4000]);
    assert_eq!(
        decode(types::RAW, &endless),
        (None, vec![("malformed", "IP extension header")])
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn hostile_frames_do_no_harm(
        link in 0_usize..40,
        garbled in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        more in 0_u32..2000,
        which in 0_usize..6,
    ) {
        let (_, ip, ..) = every_datagram().swap_remove(which);
        let mut links = every_link(&ip);
        let at = link % links.len();
        let (_, link_type, mut data) = links.swap_remove(at);
        for (index, byte) in &garbled {
            let at = index.index(data.len());
            data[at] = *byte;
        }
        data.truncate(cut.index(data.len() + 1));
        let original_len = data.len() as u32 + more;
        let frame = Frame { number: 7, time: Timestamp(0), link_type: LinkType(link_type), original_len, data: &data, block: None };
        let mut diagnostics = Diagnostics::default();
        let mut framing = Framing::default();
        let got = decode_with(&mut framing, &frame, &mut diagnostics);
        if let Some(got) = &got {
            prop_assert!(got.bytes.len() <= got.wire_len as usize);
            prop_assert!(got.cut == (got.bytes.len() < got.wire_len as usize) || got.bytes.is_empty());
        }
        framing.finish(&mut diagnostics);
        prop_assert!(got.is_some() || diagnostics.iter().count() > 0, "left out without a word");
    }

    #[test]
    fn noise_does_no_harm(link_type in 0_u16..300, data in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(link_type, &data);
    }
}

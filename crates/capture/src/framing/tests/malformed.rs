//! Frames cut, with lengths that lie, and of other protocols: counted, never fatal.

use super::*;

#[test]
fn a_frame_cut_at_every_byte_keeps_its_lengths_or_is_counted() {
    for (name, ip, kind, bytes) in every_datagram() {
        let whole = decode_ip(&ip);
        for (link, link_type, data) in every_link(&ip) {
            for cut in 0..data.len() {
                let mut frame = frame(link_type, &data);
                frame.data = &data[..cut];
                let mut diagnostics = Diagnostics::default();
                let got = decode_with(&mut Framing::default(), &frame, &mut diagnostics);
                let counted = diagnostics.iter().filter(|d| d.kind == "cut_too_short").count();
                let what = format!("{name} in {link} cut at {cut}");
                let Some(got) = got else {
                    assert_eq!(counted, 1, "{what}");
                    continue;
                };
                assert_eq!(diagnostics.iter().count(), 0, "{what}");
                assert_eq!(got.outer_bytes, whole.outer_bytes, "{what}");
                if got.kind == kind {
                    assert!(bytes.starts_with(&got.bytes), "{what}");
                    assert_eq!(got.wire_len, whole.wire_len, "{what}");
                    assert_eq!(got.cut, got.bytes.len() < bytes.len(), "{what}");
                }
            }
        }
    }
}

#[test]
fn lengths_that_segmentation_offload_leaves_at_zero_come_from_the_frame() {
    let mut v4 = ipv4(50, &esp(3000));
    v4[2..4].copy_from_slice(&[0, 0]);
    let mut v6 = ipv6(50, &esp(3000));
    v6[4..6].copy_from_slice(&[0, 0]);
    for (ip, header) in [(v4, 20), (v6, 40)] {
        let got = decode_ip(&ip);
        assert_eq!(
            (got.kind, got.wire_len, got.outer_bytes, got.cut),
            ("ESP", 3000, 3000 + header, false)
        );
    }
}

#[test]
fn lengths_that_contradict_each_other_are_counted() {
    let mut longer = ipv4(50, &esp(40));
    longer[2..4].copy_from_slice(&100_u16.to_be_bytes());
    let (got, kinds) = decode(types::RAW, &longer);
    let got = got.unwrap();
    assert_eq!(
        (got.outer_bytes, got.wire_len, got.bytes.len(), got.cut),
        (100, 80, 40, true)
    );
    assert_eq!(kinds, [("ip_longer_than_frame", "IP")]);

    let mut segment = udp(4500, 4500, &esp(40));
    segment[4..6].copy_from_slice(&400_u16.to_be_bytes());
    let (got, kinds) = decode(types::RAW, &ipv4(17, &segment));
    assert_eq!(
        (got.as_ref().map(|g| g.wire_len), got.map(|g| g.cut)),
        (Some(40), Some(false))
    );
    assert_eq!(kinds, [("udp_longer_than_ip", "UDP")]);
    segment[4..6].copy_from_slice(&30_u16.to_be_bytes());
    assert_eq!(decode_ip(&ipv4(17, &segment)).wire_len, 22);
    segment[4..6].copy_from_slice(&7_u16.to_be_bytes());
    assert_eq!(
        decode(types::RAW, &ipv4(17, &segment)),
        (None, vec![("malformed", "UDP")])
    );

    for (at, byte) in [(0, 0x44), (0, 0x4f), (3, 19)] {
        let mut bad = ipv4(50, &esp(20));
        bad[at] = byte;
        assert_eq!(
            decode(types::RAW, &bad),
            (None, vec![("malformed", "IPv4")]),
            "{at} {byte:#x}"
        );
    }
    assert_eq!(decode(types::RAW, &[0x00; 40]).1, [("malformed", "IP")]);
    assert_eq!(
        decode(types::RAW, &ipv4(50, &esp(8)[..7])).1,
        [("malformed", "ESP")]
    );
    assert_eq!(decode_ip(&ipv4(50, &[0; 40])).kind, "ESP with SPI 0");
}

#[test]
fn what_is_not_ip_is_counted_by_name() {
    for (tags, name) in [
        (&[0x08, 0x06][..], "ARP"),
        (
            &[0x81, 0x00, 0x00, 0x05, 0x88, 0x63, 0x11, 0x09, 0, 0, 0, 0],
            "PPPoE discovery",
        ),
        (&[0x88, 0xcc], "LLDP"),
        (&[0x12, 0x34], "another EtherType"),
        (
            &[0x88, 0x64, 0x11, 0x00, 0x12, 0x34, 0x00, 0x08, 0xc0, 0x21],
            "PPP LCP",
        ),
        (&[0x00, 0x26, 0x42, 0x42, 0x03], "STP"),
    ] {
        let data = ethernet_with(tags, &[0; 50]);
        assert_eq!(decode(types::ETHERNET, &data), (None, vec![("not_ip", name)]));
    }
    assert_eq!(
        decode(220, &[0; 64]),
        (None, vec![("not_ip", "an unsupported link type")])
    );
    assert_eq!(
        decode(types::IEEE802_11, &[0x08, 0x41, 0, 0]).1,
        [("not_ip", "802.11 data that is encrypted")]
    );
    assert_eq!(
        decode(types::IEEE802_11, &[0x80, 0x00, 0, 0]).1,
        [("not_ip", "802.11 management")]
    );
    let tags = [0x81, 0, 0, 5].repeat(100);
    assert_eq!(
        decode(types::ETHERNET, &ethernet_with(&tags, &[])).1,
        [("not_ip", "a stack of too many VLAN tags")]
    );
}

/// Layers that lead back to themselves, by name: link type, what comes first, what repeats.
fn circles() -> Vec<(&'static str, u16, Vec<u8>, Vec<u8>)> {
    let bottom: &[u8] = &[0x00, 0x01, 0x31, 64];
    let control_word: &[u8] = &[0; 4];
    let macs: &[u8] = &[2; 12];
    let session: &[u8] = &[0x11, 0x00, 0x12, 0x34, 0x00, 0x00];
    let snap: &[u8] = &[0x00, 0x60, 0xaa, 0xaa, 0x03, 0, 0, 0];
    let mpls: &[u8] = &[0x88, 0x47];
    let pppoe: &[u8] = &[0x88, 0x64];
    vec![
        (
            "a pseudowire of SNAP of MPLS",
            types::ETHERNET,
            [macs, mpls].concat(),
            [bottom, control_word, macs, snap, mpls].concat(),
        ),
        (
            "PPPoE in Cisco HDLC in PPPoE",
            types::PPP,
            vec![],
            [&[0x0f, 0x00], pppoe, session].concat(),
        ),
        (
            "a pseudowire of PPPoE of PPP of MPLS",
            types::PPP_ETHER,
            vec![],
            [session, &[0x02, 0x81], bottom, control_word, macs, pppoe].concat(),
        ),
    ]
}

/// A MiB of headers in a circle is left after those that are allowed.
#[test]
fn layers_in_a_circle_end_after_those_that_are_allowed() {
    for (name, link_type, first, turn) in circles() {
        let data = [first, turn.repeat((1 << 20) / turn.len())].concat();
        let kinds = decode(link_type, &data).1;
        assert_eq!(kinds, [("not_ip", "too many layers")], "{name}");
    }
}

/// As many frames in frames as are allowed lead to the packet; one more does not. So do VLAN tags and MPLS labels, which are
/// counted together.
#[test]
fn as_many_headers_as_are_allowed_are_stepped_over() {
    let nested = |turns: usize| {
        let turn: &[u8] = &[0x0f, 0x00, 0x88, 0x64, 0x11, 0x00, 0x12, 0x34, 0x00, 0x00];
        [&turn.repeat(turns)[..], &[0x00, 0x21], &ipv4(50, &esp(40))].concat()
    };
    // The PPP frame around the packet, and the packet.
    let most = crate::layers::MAX_DEPTH - 2;
    assert_eq!(decode(types::PPP, &nested(most)).0.unwrap().kind, "ESP");
    assert_eq!(
        decode(types::PPP, &nested(most + 1)),
        (None, vec![("not_ip", "too many layers")])
    );
    let stack = |tags: usize, labels: usize| {
        let tags = [0x81, 0, 0, 5].repeat(tags);
        let labels = [0x00, 0x01, 0x20, 64].repeat(labels - 1);
        let below = [&labels[..], &[0x00, 0x01, 0x31, 64], &ipv4(50, &esp(40))].concat();
        ethernet_with(&[&tags[..], &[0x88, 0x47]].concat(), &below)
    };
    let most = crate::layers::MOST_HEADERS;
    assert_eq!(
        decode(types::ETHERNET, &stack(8, most - 8)).0.unwrap().kind,
        "ESP"
    );
    assert_eq!(
        decode(types::ETHERNET, &stack(9, most - 8)),
        (None, vec![("not_ip", "a stack of too many MPLS labels")])
    );
}

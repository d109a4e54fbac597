//! L2TP in both versions, and PPP in it.

use crate::esp::inner::tests::{INNER, flow, ipv4, tcp, walked};
use crate::esp::inner::{Control, Layers, PREFIX, walk};
use rekeyscope_testkit::headers::{ethernet_with, l2tp, udp};

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

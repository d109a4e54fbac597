//! What goes around ESP: TCP, UDP, tunnels in clear.

use super::*;

/// The tests' packets in a TCP stream that is cut into segments of any size.
fn tcp_encapsulated(suite: &Suite, segment: usize, with_start: bool) -> Vec<Vec<u8>> {
    let message = |n: u32| suite.seal(SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT));
    let messages: Vec<Vec<u8>> = (0..PACKETS).map(message).collect();
    in_tcp(&messages, segment, with_start)
}

#[test]
fn esp_in_tcp_across_segment_boundaries() {
    let suite = Suite::aes_sha1(3);
    for segment in [100, 536, 622, 1_000, 1_448, 9_000] {
        let mut frames = tcp_encapsulated(&suite, segment, true);
        // A segment overtakes another, and one comes twice.
        frames.swap(2, 3);
        frames.insert(4, frames[3].clone());
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
        assert_one_flow(&analysis, "TCP");
        let sa = &analysis.security_associations[0];
        assert_eq!(
            (sa.encapsulation, analysis.tunnels[0].encapsulation),
            (Encapsulation::Tcp, Encapsulation::Tcp)
        );
        assert_eq!(
            (sa.packets, sa.sequence.missing),
            (u64::from(PACKETS), 0),
            "{segment}"
        );
    }
}

/// Every byte of the IP packets that carry the stream belongs to some ESP packet, whichever segments complete one.
#[test]
fn headers_of_every_segment_in_tcp_count() {
    let suite = Suite::aes_sha1(3);
    for segment in [100, 536, 1_448, 9_000] {
        let mut frames = tcp_encapsulated(&suite, segment, true);
        let connect = frames[0].len();
        let sent: usize = frames.iter().map(Vec::len).sum();
        // One overtakes another; a repetition brings nothing.
        frames.swap(2, 3);
        frames.insert(4, frames[3].clone());
        let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
        let outer = analysis.security_associations[0].outer_bytes;
        assert_eq!(outer as usize, sent - connect - b"IKETCP".len(), "{segment}");
    }
}

/// The connection was there before the capture, and a segment is missing from it: what is whole is found again.
#[test]
fn esp_in_tcp_is_picked_up_again() {
    let suite = Suite::aes_sha1(3);
    let mut frames = tcp_encapsulated(&suite, 300, false);
    let whole = frames.len();
    frames.remove(0);
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    let sa = &analysis.security_associations[0];
    assert!(
        sa.packets >= u64::from(PACKETS) - 8,
        "{} of {PACKETS} from {whole} segments",
        sa.packets
    );
    assert_eq!(sa.icv.failed, 0);
}

/// Another protocol on that port is no IPsec.
#[test]
fn tcp_4500_with_something_else_is_counted_as_tcp() {
    let frames: Vec<Vec<u8>> = (0..PACKETS)
        .map(|n| {
            ipv4(
                A,
                B,
                6,
                &tcp(
                    40_123,
                    4500,
                    1_000 + n * 30,
                    0x18,
                    b"GET / HTTP/1.1\r\nHost: a.bc\r\n\r\n",
                ),
            )
        })
        .collect();
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, "");
    assert_eq!(counted(&analysis, "not_ipsec", "TCP"), u64::from(PACKETS));
    assert!(analysis.security_associations.is_empty() && analysis.tunnels.is_empty());
}

fn in_udp(suite: &Suite, ports: (u16, u16)) -> Vec<Vec<u8>> {
    (0..PACKETS)
        .map(|n| {
            let esp = suite.seal(SPI, u64::from(n) + 1, false, 4, &inner_ip(n, SEGMENT));
            ipv4(A, B, 17, &udp(ports.0, ports.1, &esp))
        })
        .collect()
}

#[test]
fn esp_in_udp_on_4500_and_behind_a_nat() {
    let suite = Suite::aes_sha1(3);
    for ports in [(4500, 4500), (61_234, 4500), (4500, 1_024)] {
        let analysis = analyze_frames(LINKTYPE_RAW, &in_udp(&suite, ports), &suite.esp_sa_row(SPI));
        assert_one_flow(&analysis, "UDP");
        assert_eq!(analysis.tunnels[0].encapsulation, Encapsulation::Udp);
    }
}

#[test]
fn esp_in_udp_on_another_port_on_request() {
    let suite = Suite::aes_sha1(3);
    let frames = in_udp(&suite, (40_000, 10_000));
    let unasked = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    assert!(unasked.security_associations.is_empty());
    assert_eq!(counted(&unasked, "not_ipsec", "UDP"), u64::from(PACKETS));
    let options = Options {
        esp_ports: vec![10_000],
        ..Options::default()
    };
    let asked = analyze_with(options, LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    assert_one_flow(&asked, "port 10000");
}

/// IKE with its marker on a port of its own shows where ESP will come.
#[test]
fn other_udp_ports_are_learned_from_ike() {
    let suite = Suite::aes_sha1(3);
    let mut ike = b"initiate\0\0\0\0\0\0\0\0".to_vec();
    ike.extend([33, 0x20, 34, 8, 0, 0, 0, 0]);
    ike.extend(100u32.to_be_bytes());
    ike.resize(100, 0);
    let mut frames = vec![ipv4(
        A,
        B,
        17,
        &udp(40_000, 10_000, &[&[0; 4][..], &ike].concat()),
    )];
    frames.extend(in_udp(&suite, (40_000, 10_000)));
    let analysis = analyze_frames(LINKTYPE_RAW, &frames, &suite.esp_sa_row(SPI));
    assert_one_flow(&analysis, "learned");
    assert_eq!((analysis.capture.ike_packets, analysis.tunnels.len()), (1, 1));
}

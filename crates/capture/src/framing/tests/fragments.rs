//! Fragments: in any order, doubled, overlapping, stale, impossible, cut, and too many.

use super::*;

/// Fragments of an IPv4 payload with the given sizes (multiples of eight but for the last).
pub(super) fn fragments_v4(id: u16, protocol: u8, payload: &[u8], size: usize) -> Vec<Vec<u8>> {
    (Ipv4 { id, protocol, ..IPV4 }).fragments(payload, size)
}

/// One of a packet of ESP; `fragment`: flags and offset.
fn piece(id: u16, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let header = Ipv4 {
        id,
        fragment,
        protocol: 50,
        ..IPV4
    };
    header.packet(payload)
}

pub(super) fn fragments_v6(id: u32, next: u8, payload: &[u8], size: usize) -> Vec<Vec<u8>> {
    headers::ipv6_fragments((1, 2), id, next, payload, size)
}

/// A decoder that is given fragments at chosen times.
#[derive(Default)]
pub(super) struct Bench {
    framing: Framing,
    diagnostics: Diagnostics,
}

impl Bench {
    pub(super) fn give(&mut self, seconds: f64, ip: &[u8]) -> Option<Got> {
        let mut frame = frame(types::RAW, ip);
        frame.time = frame.time.plus_seconds(seconds);
        decode_with(&mut self.framing, &frame, &mut self.diagnostics)
    }

    fn counts(&mut self) -> Vec<(&'static str, u64)> {
        self.framing.finish(&mut self.diagnostics);
        self.diagnostics.iter().map(|d| (d.kind, d.count)).collect()
    }
}

#[test]
fn fragments_in_any_order_become_one_datagram() {
    let body = udp(4500, 4500, &esp(1400));
    let v4 = fragments_v4(77, 17, &body, 504);
    let v6 = fragments_v6(77, 17, &body, 504);
    for (pieces, header) in [(v4, 20), (v6, 48)] {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut bench = Bench::default();
            assert_eq!(bench.give(0.0, &pieces[order[0]]), None);
            assert_eq!(bench.give(0.1, &pieces[order[1]]), None);
            let got = bench.give(0.2, &pieces[order[2]]).unwrap();
            assert_eq!(
                (got.kind, &got.bytes, got.udp),
                ("ESP", &esp(1400), Some((4500, 4500)))
            );
            assert_eq!((got.fragments, got.wire_len, got.cut), (3, 1400, false));
            assert_eq!(got.outer_bytes, 1408 + 3 * header);
            assert_eq!(got.largest_fragment, 504 + header);
            assert_eq!(bench.counts(), []);
        }
    }
}

#[test]
fn an_extension_header_behind_the_fragment_header_is_stepped_over() {
    let body = [&[50, 0, 1, 4, 0, 0, 0, 0][..], &esp(100)].concat();
    let pieces = fragments_v6(5, 60, &body, 64);
    let mut bench = Bench::default();
    assert_eq!(bench.give(0.0, &pieces[0]), None);
    let got = bench.give(0.0, &pieces[1]).unwrap();
    assert_eq!((got.kind, got.bytes), ("ESP", esp(100)));
}

#[test]
fn duplicates_and_overlaps_do_not_change_what_came_first() {
    let body = esp(1000);
    let pieces = fragments_v4(9, 50, &body, 504);
    let mut bench = Bench::default();
    assert_eq!(bench.give(0.0, &pieces[0]), None);
    assert_eq!(bench.give(0.0, &pieces[0]), None);
    // Bytes 400 to 504 again, with another content.
    let overlap = piece(9, 0x2000 | 50, &[0xee; 160]);
    assert_eq!(bench.give(0.0, &overlap), None);
    let got = bench.give(0.0, &pieces[1]).unwrap();
    assert_eq!(got.bytes[..504], body[..504]);
    assert_eq!(got.bytes[504..560], [0xee; 56]);
    assert_eq!(got.bytes[560..], body[560..]);
    // The copies of a capture point that sees everything twice.
    assert_eq!(bench.give(0.001, &pieces[1]), None);
    assert_eq!(
        bench.counts(),
        [("duplicate_fragment", 2), ("overlapping_fragment", 2)]
    );
}

#[test]
fn a_stale_fragment_does_not_meet_the_next_datagram_of_its_number() {
    let (old, new) = (
        fragments_v4(9, 50, &esp(1000), 504),
        fragments_v4(9, 50, &[0x11; 1000], 504),
    );
    for later in [6.0, -6.0] {
        let mut bench = Bench::default();
        assert_eq!(bench.give(0.0, &old[0]), None);
        assert_eq!(bench.give(later, &new[0]), None);
        assert_eq!(bench.give(later, &new[1]).unwrap().bytes, vec![0x11; 1000]);
        // The number is free again a second after a datagram that was finished.
        assert_eq!(bench.give(later + 1.5, &old[0]), None);
        assert_eq!(bench.give(later + 1.5, &old[1]).unwrap().bytes, esp(1000));
        assert_eq!(bench.counts(), [("incomplete_datagram", 1)]);
    }
}

/// 65,536 packets a second: the number is that of a datagram which was finished a moment ago, and the content is not.
#[test]
fn a_number_that_comes_round_again_at_once_is_no_duplicate() {
    let (old, new) = (
        fragments_v4(9, 50, &esp(1000), 504),
        fragments_v4(9, 50, &[0x11; 1000], 504),
    );
    for [first, second] in [[0, 1], [1, 0]] {
        let mut bench = Bench::default();
        assert_eq!(bench.give(0.0, &old[first]), None);
        assert!(bench.give(0.0, &old[second]).is_some());
        assert_eq!(bench.give(0.1, &new[first]), None);
        assert_eq!(bench.give(0.1, &new[second]).unwrap().bytes, vec![0x11; 1000]);
        assert_eq!(bench.give(0.2, &new[second]), None);
        assert_eq!(bench.counts(), [("duplicate_fragment", 1)]);
    }
}

/// The rest of the first datagram was lost. What is left of it must not spoil the next one of its number.
#[test]
fn what_is_left_of_a_loss_gives_way_to_the_next_datagram_of_its_number() {
    let (old, new) = (
        fragments_v4(9, 50, &esp(1000), 504),
        fragments_v4(9, 50, &[0x11; 1000], 504),
    );
    for order in [[0, 1], [1, 0]] {
        let mut bench = Bench::default();
        assert_eq!(bench.give(0.0, &old[order[0]]), None);
        assert_eq!(bench.give(0.6, &new[order[0]]), None);
        assert_eq!(bench.give(0.6, &new[order[1]]).unwrap().bytes, vec![0x11; 1000]);
        assert_eq!(bench.give(0.7, &new[order[0]]), None);
        assert_eq!(
            bench.counts(),
            [("duplicate_fragment", 1), ("replaced_fragment", 1)]
        );
    }
    // The middle of three, behind the beginning of the next.
    let (old, new) = (
        fragments_v4(9, 50, &esp(1000), 400),
        fragments_v4(9, 50, &[0x11; 1000], 400),
    );
    let mut bench = Bench::default();
    assert_eq!(bench.give(0.0, &old[1]), None);
    assert_eq!(bench.give(0.6, &new[0]), None);
    assert_eq!(bench.give(0.6, &new[1]), None);
    assert_eq!(bench.give(0.6, &new[2]).unwrap().bytes, vec![0x11; 1000]);
}

/// Two places were captured into one file, and their clocks are an hour apart.
#[test]
fn another_clock_between_two_fragments_does_not_part_them() {
    let (one, two) = (
        fragments_v4(1, 50, &esp(1000), 504),
        fragments_v4(2, 50, &esp(1000), 504),
    );
    let mut bench = Bench::default();
    for (here, there) in [(&one[0], &two[0]), (&one[1], &two[1])] {
        let whole = [bench.give(0.0, here), bench.give(3_600.0, there)];
        assert!(whole.iter().all(|got| got.is_some() == (*here == one[1])));
    }
    assert_eq!(bench.counts(), []);
}

#[test]
fn fragments_of_different_datagrams_do_not_mix() {
    let (a, b) = (
        fragments_v4(1, 50, &esp(1000), 504),
        fragments_v4(2, 50, &[0x11; 1000], 504),
    );
    let udp = fragments_v4(1, 17, &[0x22; 1000], 504);
    let mut bench = Bench::default();
    for first in [&a[0], &b[0], &udp[0]] {
        assert_eq!(bench.give(0.0, first), None);
    }
    assert_eq!(bench.give(0.0, &b[1]).unwrap().bytes, vec![0x11; 1000]);
    assert_eq!(bench.give(0.0, &a[1]).unwrap().bytes, esp(1000));
    assert_eq!(bench.counts(), [("incomplete_datagram", 1)]);
}

#[test]
fn impossible_fragments_are_counted() {
    let mut bench = Bench::default();
    // Not a multiple of eight; without payload; beyond 65,535 bytes.
    for bad in [
        piece(1, 0x2000, &[1; 13]),
        piece(1, 0x2000, &[]),
        piece(1, 0x1fff, &[1; 16]),
    ] {
        assert_eq!(bench.give(0.0, &bad), None);
    }
    // Behind the end that the last fragment told.
    assert_eq!(bench.give(0.0, &piece(2, 2, &[1; 8])), None);
    assert_eq!(bench.give(0.0, &piece(2, 0x2003, &[1; 8])), None);
    assert_eq!(bench.give(0.0, &piece(2, 9, &[1; 8])), None);
    assert_eq!(
        bench.counts(),
        [("incomplete_datagram", 1), ("malformed_fragment", 5)]
    );
}

#[test]
fn fragments_that_the_snap_length_cut_give_what_is_before_the_first_hole() {
    let pieces = fragments_v4(9, 50, &esp(1000), 504);
    let mut bench = Bench::default();
    for (i, piece) in pieces.iter().enumerate() {
        let mut frame = frame(types::RAW, piece);
        frame.data = &piece[..120];
        let got = decode_with(&mut bench.framing, &frame, &mut bench.diagnostics);
        assert_eq!(got.is_some(), i == 1);
        if let Some(got) = got {
            assert_eq!((got.kind, got.cut, got.wire_len), ("ESP", true, 1000));
            assert_eq!((got.outer_bytes, got.bytes), (1040, esp(100)));
        }
    }
}

#[test]
fn the_table_is_bounded() {
    let mut bench = Bench::default();
    // 20,000 first fragments of 1400 bytes within a second: the oldest give way.
    for i in 0..20_000_u32 {
        let mut first = fragments_v6(i, 50, &esp(1400), 1024).swap_remove(0);
        first[39] = (i % 251) as u8;
        assert_eq!(bench.give(f64::from(i) * 5e-5, &first), None);
    }
    assert!(
        bench.framing.fragments.sizes().0 <= 4096,
        "{:?}",
        bench.framing.fragments.sizes()
    );
    // Large ones: the byte bound comes first.
    let mut bench = Bench::default();
    for id in 0..1000 {
        for offset in (0..60_000_u32).step_by(12_000) {
            let part = piece(id, 0x2000 | (offset / 8) as u16, &[1; 12_000]);
            assert_eq!(bench.give(0.0, &part), None);
        }
    }
    let (_, bytes) = bench.framing.fragments.sizes();
    assert!(bytes <= 16 * 1024 * 1024 + 65_536, "{bytes}");
    assert_eq!(bench.counts(), [("incomplete_datagram", 1000)]);
    assert_eq!(bench.framing.fragments.sizes(), (0, 0));
    // Every other eight bytes of one datagram.
    for i in 0..4000 {
        assert_eq!(bench.give(0.0, &piece(1, 0x2000 | (i * 2), &[1; 8])), None);
    }
    assert!(bench.counts().contains(&("too_many_fragments", 4000 - 256)));
}

/// Two fragments of eight bytes each, the second one at the far end: 4,096 datagrams of 64 KiB are made of 56 bytes each, and
/// none of them is new when it grows.
#[test]
fn far_fragments_of_known_datagrams_hold_to_the_bytes() {
    let mut bench = Bench::default();
    for offset in [0, 8_000] {
        for id in 0..4_096 {
            let part = piece(id, 0x2000 | offset, &[1; 8]);
            assert_eq!(bench.give(0.0, &part), None);
            if id % 64 == 0 {
                let (_, bytes) = bench.framing.fragments.sizes();
                assert!(bytes <= 16 << 20, "{bytes} bytes at {id}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_fragmentation_gives_the_datagram_back(
        len in 9_usize..4000,
        eights in 1_usize..100,
        order in any::<u64>(),
        six in any::<bool>(),
    ) {
        let body = esp(len);
        let size = eights * 8;
        let mut pieces = if six { fragments_v6(1, 50, &body, size) } else { fragments_v4(1, 50, &body, size) };
        prop_assume!(pieces.len() > 1 && pieces.len() <= 256);
        let count = pieces.len();
        let mut state = order;
        for i in (1..count).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            pieces.swap(i, (state >> 33) as usize % (i + 1));
        }
        let mut bench = Bench::default();
        let got: Vec<Got> = pieces.iter().filter_map(|piece| bench.give(0.0, piece)).collect();
        prop_assert_eq!(got.len(), 1);
        prop_assert_eq!(&got[0].bytes, &body);
        prop_assert_eq!(usize::from(got[0].fragments), count);
        prop_assert_eq!(bench.counts(), []);
    }
}

/// Neither do pieces from before meet those behind, nor is what IKE showed of other ports remembered.
#[test]
fn a_decoder_that_forgot_is_as_new() {
    let [first, last] = &fragments_v4(77, 50, &esp(1000), 504)[..] else {
        panic!("two pieces")
    };
    let mut ike = ike_message();
    ike[18] = 2;
    let between_others = |body: &[u8]| ipv4(17, &udp(33_000, 10_000, body));
    let mut bench = Bench::default();
    assert_eq!(bench.give(0.0, &between_others(&ike)).unwrap().kind, "IKE");
    assert_eq!(bench.give(0.1, &between_others(&esp(76))).unwrap().kind, "ESP");
    assert_eq!(bench.give(0.2, first), None);
    bench.framing.forget();
    assert_eq!(bench.give(0.3, last), None);
    assert_eq!(bench.give(0.4, &between_others(&esp(76))).unwrap().kind, "UDP");
    assert_eq!(bench.give(0.5, first).unwrap().kind, "ESP", "both are behind it");
}

#[test]
fn first_fragments_alone_are_told_by_their_tries() {
    let in_udp = udp(4500, 4500, &esp(1400));
    let bodies = [(50, esp(1400)), (17, in_udp)];
    for (next, body) in bodies {
        let v4 = |id: u32| fragments_v4(id as u16, next, &body, 1304);
        let v6 = |id: u32| fragments_v6(id, next, &body, 1304);
        let pieces: [&dyn Fn(u32) -> Vec<Vec<u8>>; 2] = [&v4, &v6];
        for pieces in pieces {
            let mut bench = Bench::default();
            let give = |bench: &mut Bench, seconds: f64, id: u32, passing: usize| {
                for piece in pieces(id).iter().take(passing) {
                    bench.give(seconds, piece);
                }
            };
            for id in 0..4 {
                give(&mut bench, f64::from(id), id, 1);
            }
            assert_eq!(
                bench.framing.first_fragments_alone(),
                [],
                "no later one ever came"
            );
            give(&mut bench, 4.0, 4, 2);
            for id in 10..20 {
                give(&mut bench, 4.0 + f64::from(id) / 100.0, id, 1);
            }
            assert_eq!(bench.framing.first_fragments_alone(), [], "at once");
            for (id, seconds) in [(20, 5.0), (21, 7.0), (21, 7.0)] {
                give(&mut bench, seconds, id, 1);
            }
            let going_on = bench.framing.first_fragments_alone();
            assert_eq!(going_on.len(), 1);
            let alone = going_on[0];
            assert_eq!((alone.count, alone.tries, alone.until), (12, 3, None));
            assert_eq!(alone.udp.is_some(), next == 17);
            give(&mut bench, 8.0, 22, 2);
            let over = bench.framing.first_fragments_alone();
            assert_eq!((over.len(), over[0].count, over[0].tries), (1, 12, 3));
            assert!(over[0].until.is_some());
        }
    }
    // IKE fragments are told as messages.
    let mut bench = Bench::default();
    let ike = udp(500, 500, &[7; 1400]);
    bench.give(0.0, &fragments_v4(0, 17, &ike, 1304)[1]);
    for id in 1..9 {
        bench.give(f64::from(id), &fragments_v4(id, 17, &ike, 1304)[0]);
    }
    assert_eq!(bench.framing.first_fragments_alone(), []);
}

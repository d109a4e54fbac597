//! Where the walk stops, and bytes that nobody would send.

use crate::esp::inner::tests::{OUTER, ipv4, walked};
use crate::esp::inner::{MAX_DEPTH, walk};
use proptest::prelude::*;
use rekeyscope_testkit::headers::udp;

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

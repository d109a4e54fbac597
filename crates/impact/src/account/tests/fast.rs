//! **Synthetic** connections on paths of which a piece holds a fraction of a second.

use super::senders::{MSS, flies};
use super::*;

/// At 450 Mbit/s a piece of 32,768 packets holds 0.35 s, at 1.5 Gbit/s 0.1 s.
#[test]
fn a_fast_path_is_proven_in_every_piece() {
    for spaced in [21_200, 10_600, 6_400] {
        let one = flies(spaced, 2.0);
        let pieces = one.packets.len().div_ceil(1 << 15);
        let list = in_pieces(std::slice::from_ref(&one), pieces);
        let whole = std::slice::from_ref(&one);
        let account = accounted((&list, whole), &Surroundings::default(), &[], None).unwrap();
        let link = f64::from(MSS) * 8.0 / spaced as f64 * 1e3;
        assert_eq!(account.own_from, OwnRate::Proven);
        assert!(
            (account.own_mbps / link - 1.0).abs() <= 0.02,
            "{} of {link}",
            account.own_mbps
        );
        let capacity = share(&account, AccountLabel::Capacity);
        assert!(capacity >= 0.95, "{spaced} ns: {capacity} {:#?}", account.labels);
    }
}

/// A flight that leaves the path idle for two fifths of each round trip: 540 Mbit/s of 900.
#[test]
fn a_fast_sender_that_waits_proves_nothing() {
    let one = flies(10_600, 0.6);
    for pieces in [1, one.packets.len().div_ceil(1 << 15)] {
        let list = in_pieces(std::slice::from_ref(&one), pieces);
        let whole = std::slice::from_ref(&one);
        let account = accounted((&list, whole), &Surroundings::default(), &[], None).unwrap();
        assert_eq!(account.own_from, OwnRate::Best, "{pieces} pieces");
        assert_eq!(share(&account, AccountLabel::Capacity), 0.0);
    }
}

//! Packets → document: what does not matter, and what must never be.

use crate::support::ipsec::analyze_frames;
use proptest::prelude::*;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_testkit::carried::{A, B, inner_ip};
use rekeyscope_testkit::containers::LINKTYPE_RAW;
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::ipv4;
use std::collections::BTreeMap;

const C: [u8; 4] = [203, 0, 113, 9];

/// What one SA carries: sizes of payloads, and which packets were damaged on the way.
type Sent = Vec<(usize, bool)>;

fn sent() -> impl Strategy<Value = Sent> {
    prop::collection::vec((0_usize..300, prop::bool::weighted(0.2)), 4..25)
}

/// The frames of an SA by its SPI: towards B, or of another tunnel.
fn frames(spi: u32, dst: [u8; 4], sent: &Sent) -> Vec<Vec<u8>> {
    let frame = |(number, (len, damaged)): (usize, &(usize, bool))| {
        let inner = inner_ip(number as u32, 20 + len);
        let mut packet = Suite::of_spi(spi).seal(spi, number as u64 + 1, false, 4, &inner);
        if *damaged {
            *packet.last_mut().unwrap() ^= 1;
        }
        ipv4(A, dst, 50, &packet)
    };
    sent.iter().enumerate().map(frame).collect()
}

fn rows(spis: &[u32]) -> String {
    spis.iter()
        .map(|spi| Suite::of_spi(*spi).esp_sa_row(*spi))
        .collect()
}

/// Of each SA with packets: packets, ESP bytes, ICVs that fit and that do not, bytes inside.
fn counts(analysis: &Analysis) -> BTreeMap<u32, (u64, u64, u64, u64, Option<u64>)> {
    let sas = analysis.security_associations.iter().filter(|sa| sa.packets > 0);
    sas.map(|sa| {
        (
            sa.spi.0,
            (
                sa.packets,
                sa.esp_bytes,
                sa.icv.verified,
                sa.icv.failed,
                sa.inner_bytes,
            ),
        )
    })
    .collect()
}

fn analyzed(frames: &[Vec<u8>], keys: &str) -> Analysis {
    analyze_frames(LINKTYPE_RAW, frames, keys)
}

/// Of two lists one, each in its order.
fn merged(mut one: Vec<Vec<u8>>, mut other: Vec<Vec<u8>>, turns: &[bool]) -> Vec<Vec<u8>> {
    one.reverse();
    other.reverse();
    let mut out = Vec::new();
    for turn in turns.iter().cycle() {
        let next = if *turn { one.pop() } else { other.pop() };
        out.extend(next);
        if one.is_empty() || other.is_empty() {
            break;
        }
    }
    out.extend(one.into_iter().rev());
    out.extend(other.into_iter().rev());
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tunnels_do_not_disturb_each_other(one in sent(), other in sent(), turns in prop::collection::vec(any::<bool>(), 2..20)) {
        prop_assume!(turns.contains(&true) && turns.contains(&false));
        let (one, other, keys) = (frames(0x1001, B, &one), frames(0x2001, C, &other), rows(&[0x1001, 0x2001]));
        let mut apart = counts(&analyzed(&one, &keys));
        apart.extend(counts(&analyzed(&other, &keys)));
        prop_assert_eq!(counts(&analyzed(&merged(one, other, &turns), &keys)), apart);
    }

    #[test]
    fn what_is_seen_twice_counts_once(sent in sent(), which in prop::collection::vec(any::<bool>(), 1..25)) {
        let (once, keys) = (frames(0x1001, B, &sent), rows(&[0x1001]));
        let copies = which.iter().cycle().map(|twice| if *twice { 2 } else { 1 });
        let doubled: Vec<_> = once.iter().zip(copies).flat_map(|(frame, n)| vec![frame.clone(); n]).collect();
        let analysis = analyzed(&doubled, &keys);
        prop_assert_eq!(analysis.capture.duplicates, (doubled.len() - once.len()) as u64);
        prop_assert_eq!(counts(&analysis), counts(&analyzed(&once, &keys)));
    }

    /// Damage on the way leaves the ICV as it was, so that the two end alike.
    #[test]
    fn a_whole_packet_and_its_damaged_copy_are_two(sent in sent(), damaged_first in any::<bool>()) {
        let sent: Sent = sent.into_iter().map(|(len, _)| (len, false)).collect();
        let whole = frames(0x1001, B, &sent);
        let both = whole.iter().flat_map(|frame| {
            let mut damaged = frame.clone();
            // Behind the IP and ESP headers.
            damaged[20 + 8 + 4] ^= 1;
            if damaged_first { [damaged, frame.clone()] } else { [frame.clone(), damaged] }
        });
        let sa = counts(&analyzed(&both.collect::<Vec<_>>(), &rows(&[0x1001])))[&0x1001];
        let number = sent.len() as u64;
        prop_assert_eq!((sa.0, sa.2, sa.3), (2 * number, number, number));
    }

    /// One whole packet is enough wherever it stands among damaged ones.
    #[test]
    fn a_whole_packet_proves_its_key_anywhere(len in 0_usize..300, before in 0_usize..7, after in 0_usize..4) {
        let mut sent = vec![(0, true); before];
        sent.push((len, false));
        sent.extend(vec![(0, true); after]);
        let counts = counts(&analyzed(&frames(0x1001, B, &sent), &rows(&[0x1001])));
        prop_assert_eq!((counts[&0x1001].2, counts[&0x1001].4.is_some()), (1, true));
    }

    #[test]
    fn the_order_of_keys_does_not_matter(sent in sent(), spis in Just((0x1000..0x1010_u32).collect::<Vec<_>>()).prop_shuffle()) {
        let frames = frames(0x1001, B, &sent);
        prop_assert_eq!(counts(&analyzed(&frames, &rows(&spis))), counts(&analyzed(&frames, &rows(&[0x1001]))));
    }

    #[test]
    fn two_halves_are_the_whole(sent in sent(), cut in any::<prop::sample::Index>()) {
        let frames = frames(0x1001, B, &sent);
        let (first, second) = frames.split_at(cut.index(frames.len()));
        let of = |frames: &[Vec<u8>]| counts(&analyzed(frames, "")).get(&0x1001).map_or((0, 0), |sa| (sa.0, sa.1));
        let (first, second, whole) = (of(first), of(second), of(&frames));
        prop_assert_eq!((first.0 + second.0, first.1 + second.1), whole);
    }

    #[test]
    fn keys_change_nothing_outside(sent in sent()) {
        let frames = frames(0x1001, B, &sent);
        let outside = |keys: &str| counts(&analyzed(&frames, keys)).into_values().map(|sa| (sa.0, sa.1)).collect::<Vec<_>>();
        prop_assert_eq!(outside(&rows(&[0x1001])), outside(""));
    }

    #[test]
    fn a_damaged_packet_is_never_verified(sent in sent()) {
        let damaged = sent.iter().filter(|(_, damaged)| *damaged).count() as u64;
        let whole = sent.len() as u64 - damaged;
        prop_assume!(whole > 0);
        let counts = counts(&analyzed(&frames(0x1001, B, &sent), &rows(&[0x1001])));
        prop_assert_eq!((counts[&0x1001].2, counts[&0x1001].3), (whole, damaged));
    }

    /// Whose key it is does not matter: another SA's, or nobody's.
    #[test]
    fn a_wrong_key_opens_nothing(sent in sent(), key in prop::collection::vec(any::<u8>(), 36)) {
        let wrong = Suite { key: key[..16].to_vec(), integrity_key: key[16..].to_vec(), ..Suite::of_spi(0x1001) };
        let analysis = analyzed(&frames(0x1001, B, &sent), &wrong.esp_sa_row(0x1001));
        let sa = counts(&analysis)[&0x1001];
        prop_assert_eq!((sa.2, sa.4), (0, None));
        prop_assert!(analysis.flows.is_empty());
    }
}

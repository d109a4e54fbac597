use super::*;
use crate::ike::exchange::MessageRecord;
use crate::rekey::evidence::slot;
use crate::rekey::made_up::{CLIENT, MadeUp, SERVER, at};
use rekeyscope_model::analysis::Direction;
use rekeyscope_testkit::thread_time::assert_linear;
use std::net::{IpAddr, Ipv4Addr};

const HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// A synthetic exchange of one message.
fn exchange(ike_sa: usize, kind: ExchangeKind, seconds: i64) -> Exchange {
    let time = Timestamp(seconds * NANOS_PER_SECOND);
    Exchange {
        records: vec![MessageRecord::of(1, time, HOST, 28)],
        messages: 1,
        ..Exchange::between(HOST, HOST, Some(ike_sa), kind)
    }
}

#[test]
fn phase_1_of_the_same_ike_sa_ended_just_before() {
    use ExchangeKind::{AggressiveMode, MainMode, QuickMode};
    let exchanges = [
        exchange(1, MainMode, 100),
        exchange(1, AggressiveMode, 50),
        exchange(1, QuickMode, 200),
        exchange(2, MainMode, 300),
    ];
    let ends = Phase1Ends::of(&exchanges);
    for (ike_sa, second, expected) in [
        (1, 100, true),
        (1, 110, true),
        (1, 111, false),
        (1, 60, true),
        (1, 49, false),
        (1, 205, false),
        (1, 300, false),
        (2, 300, true),
        (3, 300, false),
    ] {
        let time = Timestamp(second * NANOS_PER_SECOND);
        assert_eq!(
            ends.just_before(Some(ike_sa), time),
            expected,
            "{ike_sa} at {second}"
        );
    }
}

/// As many exchanges and renewals as are kept.
#[test]
fn the_search_for_phase_1_grows_with_exchanges_and_renewals() {
    let exchanges: Vec<Exchange> = (0..1 << 18)
        .map(|k| exchange(k % 7, ExchangeKind::MainMode, k as i64 * 100))
        .collect();
    assert_linear(exchanges.len(), || {
        let ends = Phase1Ends::of(&exchanges);
        let found = (0..1 << 16)
            .filter(|&k| ends.just_before(Some(k % 7), Timestamp((k as i64 * 100 + 50) * NANOS_PER_SECOND)));
        assert_eq!(found.count(), 0);
    });
}

/// A synthetic exchange of tunnel `tunnel` from `from` to `to` seconds, begun by 192.0.2.`by`.
fn synthetic(tunnel: TunnelIndex, (from, to): (i64, i64), by: u8) -> Succession {
    let at = |s: i64| Some(Timestamp(s * NANOS_PER_SECOND));
    Succession {
        tunnel,
        exchange: Some(0),
        old: [None; 2],
        new: [None; 2],
        initiator: Some([192, 0, 2, by].into()),
        started: at(from),
        first_message: at(from),
        finished: at(to),
        switched: [None; 2],
        left: [None; 2],
        collision: false,
        reauthentication: false,
    }
}

#[test]
fn another_tunnels_rekey_in_between_hides_no_collision_and_makes_none() {
    let mut found = [
        synthetic(0, (10, 14), 1),
        synthetic(1, (11, 15), 2),
        synthetic(0, (12, 16), 2),
        synthetic(1, (20, 21), 1),
    ];
    mark_collisions(&mut found);
    assert_eq!(found.map(|s| s.collision), [true, false, true, false]);
}

/// Two pairs: the first carries packets from 0 to `last`, the second from `next` on.
fn overlapping(last: i64, next: i64) -> MadeUp {
    let mut tunnel = MadeUp::new();
    tunnel.pair((0, last), None);
    tunnel.pair((next, next + 60_000), None);
    tunnel
}

#[test]
fn an_sa_that_goes_on_for_long_stands_beside_the_new_one() {
    for (last, next, renewed) in [
        (3_600_000, 3_570_000, true), // half a minute of an hour: the old one drains
        (3_000, 2_000, true),         // a second
        (3_001, 2_000, false),        // more, and a third of its life
        (8_000, 6_000, true),         // a quarter of its life
        (8_001, 6_000, false),
        (8_000, 5_990, false),
    ] {
        let found = overlapping(last, next).renewals();
        assert_eq!(found.len(), usize::from(renewed), "{last} {next}");
    }
}

#[test]
fn one_direction_that_goes_on_is_enough() {
    for goes_on in [Direction::AToB, Direction::BToA] {
        let mut tunnel = MadeUp::new();
        let old = tunnel.pair((0, 10_000), None);
        tunnel.pair((10_010, 60_000), None);
        let sa = &mut tunnel.associations[old[slot(goes_on)]];
        sa.last = Some((at(40_000), 40_001));
        assert_eq!(tunnel.renewals(), []);
    }
}

#[test]
fn a_renewal_says_when_it_was_asked_for_and_when_each_direction_changed() {
    let mut tunnel = MadeUp::new();
    let old = tunnel.quick_mode(0, 20_000);
    let exchange = tunnel.exchange(ExchangeKind::QuickMode, SERVER, (20_000, 20_300), 0);
    let new = [
        tunnel.sa(Direction::AToB, (20_400, 40_000), Some(exchange)),
        tunnel.sa(Direction::BToA, (20_500, 39_000), Some(exchange)),
    ];
    let found = tunnel.successions();
    let [s] = &found[..] else { panic!("{found:?}") };
    assert_eq!((s.old, s.new), (old.map(Some), new.map(Some)));
    assert_eq!(
        (s.tunnel, s.exchange, s.initiator),
        (0, Some(exchange), Some(SERVER))
    );
    assert_eq!(
        (s.started, s.first_message, s.finished),
        (Some(at(20_000)), Some(at(20_000)), Some(at(20_310)))
    );
    assert_eq!(s.switched, [Some(at(20_400)), Some(at(20_500))]);
    assert_eq!(s.left, [Some(at(20_000)); 2]);
    assert!(!s.collision && !s.reauthentication);
}

#[test]
fn what_was_left_is_the_newest_sa_with_packets() {
    let mut tunnel = MadeUp::new();
    tunnel.quick_mode(0, 10_000);
    let [_, unused] = tunnel.quick_mode(10_000, 20_000);
    (
        tunnel.associations[unused].first,
        tunnel.associations[unused].last,
    ) = (None, None);
    tunnel.quick_mode(20_000, 30_000);
    let found = tunnel.successions();
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].left, [Some(at(20_000)), Some(at(10_000))]);
    assert_eq!(found[0].switched[1], None);
}

#[test]
fn a_new_ike_sa_after_a_long_silence_is_a_new_connection() {
    for (ike_sa, silence, renewed) in [(1, 30_000, true), (1, 30_001, false), (0, 90_000, true)] {
        let mut tunnel = MadeUp::new();
        // Born long before: the silence counts from the last packet.
        tunnel.quick_mode(0, 100_000);
        let from = 100_000 + silence;
        let exchange = tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (from, from + 40), ike_sa);
        tunnel.pair((from + 100, from + 9_000), Some(exchange));
        assert_eq!(
            tunnel.renewals().len(),
            usize::from(renewed),
            "{ike_sa} after {silence} ms"
        );
    }
}

#[test]
fn a_new_ike_sa_with_its_phase_1_is_a_reauthentication() {
    use ExchangeKind::{IkeAuth, MainMode, QuickMode};
    for (phase_1, kind, ike_sa, expected) in [
        (MainMode, QuickMode, 1, true),
        (MainMode, QuickMode, 0, false),
        (ExchangeKind::IkeSaInit, IkeAuth, 1, true),
        (ExchangeKind::Informational, QuickMode, 1, false),
    ] {
        let mut tunnel = MadeUp::new();
        tunnel.quick_mode(0, 20_000);
        tunnel.exchange(phase_1, CLIENT, (18_000, 19_000), ike_sa);
        let exchange = tunnel.exchange(kind, CLIENT, (20_000, 20_040), ike_sa);
        tunnel.pair((20_100, 30_000), Some(exchange));
        let found = tunnel.successions();
        assert_eq!(found.len(), 1, "{kind:?}");
        assert_eq!(found[0].reauthentication, expected, "{kind:?} of {ike_sa}");
    }
}

#[test]
fn ikev2_says_what_it_renews_and_what_it_adds() {
    let mut tunnel = MadeUp::new();
    let a = tunnel.quick_mode(0, 90_000);
    let b = tunnel.quick_mode(1_000, 90_000);
    // The nearer one by time is b.
    tunnel.associations[a[0]].last = Some((at(40_000), 40_001));
    tunnel.associations[a[1]].last = Some((at(40_000), 40_001));
    let renewing = tunnel.exchange(ExchangeKind::CreateChildSa, CLIENT, (60_000, 60_040), 0);
    tunnel.exchanges[renewing].decrypted = true;
    tunnel.exchanges[renewing].rekeys = vec![tunnel.associations[b[1]].spi];
    let c = tunnel.pair((60_100, 90_000), Some(renewing));
    assert_eq!(
        tunnel.renewals(),
        [(Some(b[0]), Some(c[0]))],
        "although it carries on"
    );
    tunnel.exchanges[renewing].rekeys.clear();
    assert_eq!(tunnel.renewals(), [], "it names nothing to renew");
    tunnel.exchanges[renewing].decrypted = false;
    assert_eq!(
        tunnel.renewals(),
        [(Some(a[0]), Some(c[0]))],
        "what it names could not be read: by time"
    );
}

#[test]
fn of_several_the_one_that_ends_nearest_is_renewed() {
    let mut tunnel = MadeUp::new();
    let a = tunnel.quick_mode(0, 20_000);
    let b = tunnel.quick_mode(1_000, 28_000);
    let c = tunnel.quick_mode(20_050, 60_000);
    let d = tunnel.quick_mode(28_050, 60_000);
    assert_eq!(
        tunnel.renewals(),
        [(Some(a[0]), Some(c[0])), (Some(b[0]), Some(d[0]))]
    );
    let mut tunnel = MadeUp::new();
    tunnel.quick_mode(0, 15_000);
    let b = tunnel.quick_mode(1_000, 20_000);
    let c = tunnel.quick_mode(20_050, 60_000);
    assert_eq!(tunnel.renewals(), [(Some(b[0]), Some(c[0]))], "both ended before");
}

#[test]
fn both_sides_at_once_collide() {
    let two = |second_from: i64, by: IpAddr| {
        let mut tunnel = MadeUp::new();
        tunnel.quick_mode(0, 10_000);
        let one = tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (10_000, 10_300), 0);
        tunnel.pair((10_400, 60_000), Some(one));
        let other = tunnel.exchange(ExchangeKind::QuickMode, by, (second_from, second_from + 300), 0);
        // Each side sends on the pair of its own choice.
        tunnel.pair((second_from + 400, 60_000), Some(other));
        tunnel.successions()
    };
    let collided = two(10_310, SERVER);
    assert_eq!(
        collided.iter().map(|s| s.collision).collect::<Vec<_>>(),
        [true; 2]
    );
    assert_eq!(two(10_311, SERVER).len(), 1, "one after the other: beside");
    assert_eq!(two(10_310, CLIENT).len(), 1, "of one side: beside");
}

#[test]
fn what_is_no_renewal() {
    let mut tunnel = MadeUp::new();
    let exchange = tunnel.exchange(ExchangeKind::QuickMode, CLIENT, (0, 40), 0);
    tunnel.pair((100, 9_000), Some(exchange));
    tunnel.pair((9_100, 20_000), Some(exchange));
    assert_eq!(tunnel.children().len(), 2);
    assert_eq!(tunnel.renewals(), [], "two pairs of one exchange");

    let mut tunnel = MadeUp::new();
    tunnel.pair((0, 9_000), None);
    for sa in tunnel.pair((9_100, 20_000), None) {
        tunnel.associations[sa].protocol = IpsecProtocol::Ah;
    }
    assert_eq!(tunnel.renewals(), [], "another protocol");

    let mut tunnel = MadeUp::new();
    tunnel.sa(Direction::AToB, (0, 9_000), None);
    tunnel.sa(Direction::BToA, (20_000, 30_000), None);
    assert_eq!(tunnel.children().len(), 2);
    assert_eq!(tunnel.successions().len(), 0, "the other side spoke late");

    let mut tunnel = MadeUp::new();
    tunnel.pair((0, 9_000), None);
    for sa in tunnel.pair((9_100, 20_000), None) {
        tunnel.associations[sa].tunnel = 1;
    }
    assert_eq!(tunnel.renewals(), [], "another tunnel");
}

#[test]
fn without_ike_an_sa_has_to_end_where_the_other_one_begins() {
    // Cases: the first SA's from and to, the second one's from, and whether that is a renewal.
    for (first, second, renewed) in [
        ((0, 2), 5, false),      // begun together, as IMS does
        ((0, 900), 5, false),    // side by side, for less than a second
        ((0, 0), 60_000, false), // one packet has no end
        ((0, 0), 5, false),
        ((0, 180), 100, true), // 100 ms of data, and the old one drains
        ((0, 210), 100, false),
        ((0, 60_000), 60_500, true),
        ((0, 60_000), 120_000, true), // silent for as long as it was in use
        ((0, 60_000), 120_001, false),
        ((0, 1_000), 9_000, true),
        ((0, 1_000), 9_001, false),
    ] {
        let mut tunnel = MadeUp::new();
        tunnel.pair(first, None);
        tunnel.pair((second, second + 60_000), None);
        let found = tunnel.renewals();
        assert_eq!(found.len(), usize::from(renewed), "{first:?} {second}");
    }
    // An exchange says what the packets do not.
    let mut tunnel = MadeUp::new();
    tunnel.quick_mode(0, 100);
    tunnel.quick_mode(1_000, 60_000);
    assert_eq!(tunnel.renewals().len(), 1);
}

/// Two SAs end at the same time; the one with the same hosts inside is renewed, whatever their order.
#[test]
fn what_goes_on_inside_tells_children_apart() {
    let host = |n: u8| IpAddr::from([10, 66, n, 1]);
    for swapped in [false, true] {
        let mut tunnel = MadeUp::new();
        let [a, b] = [0, 1_000].map(|from| tunnel.quick_mode(from, 20_000));
        let [c, d] = [20_050, 20_060].map(|from| tunnel.quick_mode(from, 60_000));
        let after = if swapped { [d, c] } else { [c, d] };
        for (inside, pairs) in [(0, [a, after[0]]), (1, [b, after[1]])] {
            for sa in pairs.into_iter().flatten() {
                tunnel.associations[sa].carry((host(inside), host(2)));
            }
        }
        let mut found = tunnel.renewals();
        found.sort_unstable();
        let expected = [(a, after[0]), (b, after[1])].map(|(old, new)| (Some(old[0]), Some(new[0])));
        assert_eq!(found, expected, "{swapped}");
    }
}

#[test]
fn of_too_many_beside_each_other_the_oldest_is_given_up() {
    let mut tunnel = MadeUp::new();
    let first: Vec<_> = (0..MOST_PARALLEL as i64 + 1)
        .map(|k| tunnel.quick_mode(k * 1_000, 900_000))
        .collect();
    let name = |tunnel: &mut MadeUp, old: usize, from: i64| {
        let exchange = tunnel.exchange(ExchangeKind::CreateChildSa, CLIENT, (from, from + 40), 0);
        tunnel.exchanges[exchange].decrypted = true;
        tunnel.exchanges[exchange].rekeys = vec![tunnel.associations[old].spi];
        tunnel.pair((from + 100, from + 10_000), Some(exchange))
    };
    let lost = name(&mut tunnel, first[0][0], 910_000);
    let kept = name(&mut tunnel, first[2][0], 920_000);
    let found = tunnel.renewals();
    assert!(
        !found
            .iter()
            .any(|(old, new)| (*old, *new) == (Some(first[0][0]), Some(lost[0])))
    );
    assert!(found.contains(&(Some(first[2][0]), Some(kept[0]))));
}

/// Both sides renewed the first pair, and the result of the earlier exchange is renewed next: it is not the newest.
#[test]
fn the_result_that_lost_a_collision_may_be_named() {
    let mut tunnel = MadeUp::new();
    let mut pairs = vec![tunnel.quick_mode(0, 10_000)];
    for from in [10_000, 20_000, 30_000] {
        pairs.push(tunnel.quick_mode(from, from + 10_000));
    }
    let renewing = tunnel.exchange(ExchangeKind::CreateChildSa, CLIENT, (40_000, 40_040), 0);
    tunnel.exchanges[renewing].decrypted = true;
    let newest = tunnel.pair((40_100, 50_000), Some(renewing));
    for (named, known) in [(3, true), (2, true), (1, true), (0, false)] {
        tunnel.exchanges[renewing].rekeys = vec![tunnel.associations[pairs[named][0]].spi];
        let told = (Some(pairs[named][0]), Some(newest[0]));
        assert_eq!(tunnel.renewals().contains(&told), known, "{named}");
    }
}

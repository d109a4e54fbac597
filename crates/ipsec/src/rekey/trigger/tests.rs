use super::*;
use crate::ike::opening::FirstSeen;
use crate::rekey::made_up::{CLIENT, MadeUp, SERVER, at};
use rekeyscope_model::analysis::Direction::{AToB, BToA};
use rekeyscope_model::analysis::ExchangeKind;

const NO_LIMIT: Lifetime = Lifetime {
    seconds: None,
    kilobytes: None,
};

/// Pairs one after the other; the client renews each. Of every life but the last, which has no end: milliseconds from the begin of
/// its exchange to that of the next, packets, and bytes inside them from server to client. The other way a tenth of both goes.
fn lives(limits: Lifetime, lives: &[(i64, u64, u64)]) -> MadeUp {
    let mut tunnel = MadeUp::new();
    let mut from = 0;
    let mut pairs = Vec::new();
    for (length, ..) in lives {
        pairs.push(tunnel.quick_mode(from, from + length));
        from += length;
    }
    tunnel.quick_mode(from, from + 60_000);
    for exchange in &mut tunnel.exchanges {
        exchange.lifetime = Some(limits);
    }
    for (k, (pair, (_, packets, inner))) in pairs.iter().zip(lives).enumerate() {
        tunnel.had_carried(pair[0], k + 1, packets / 10, inner / 10);
        tunnel.had_carried(pair[1], k + 1, *packets, *inner);
    }
    tunnel
}

fn one_life(limits: Lifetime, life: (i64, u64, u64)) -> MadeUp {
    lives(limits, &[life])
}

fn triggers_of(tunnel: &MadeUp) -> Vec<Trigger> {
    triggers(&tunnel.evidence(), &tunnel.successions(), |_| Vec::new()).0
}

fn first_of(tunnel: &MadeUp) -> Trigger {
    triggers_of(tunnel).remove(0)
}

#[test]
fn the_limit_that_is_near_is_the_one() {
    use TriggerKind::{Time, Unknown, Volume};
    // An SA's age counts from the end of its exchange, 50 ms after its begin.
    for (kilobytes, seconds, bytes, ms, expected) in [
        (Some(2_400), None, 2_000_000, 30_050, Volume),
        (None, Some(60), 2_000_000, 54_050, Time),
        (Some(1_000), Some(100), 800_000, 40_050, Volume),
        (Some(1_000), Some(100), 799_990, 40_050, Unknown),
        (Some(1_000), Some(100), 400_000, 80_050, Time),
        (Some(1_000), Some(100), 400_010, 80_050, Unknown),
        (Some(1_000), None, 50_000, 30_050, Volume),
        (Some(1_000), None, 49_990, 30_050, Unknown),
        (Some(1_000), None, 3_000_000, 30_050, Volume),
        (Some(1_000), None, 3_000_010, 30_050, Unknown),
        (Some(1_000), Some(100), 49_990, 80_050, Time),
        (Some(1_000), Some(0), 49_990, 80_050, Unknown),
        (None, None, 2_000_000, 30_050, Unknown),
    ] {
        let limits = Lifetime { seconds, kilobytes };
        let trigger = first_of(&one_life(limits, (ms, 2_000, bytes)));
        let case = format!("{bytes} of {kilobytes:?} kB, {ms} ms of {seconds:?} s");
        assert_eq!(trigger.kind, expected, "{case}");
        let fraction = kilobytes.map(|k| bytes as f64 / (k as f64 * 1000.0));
        assert_eq!(
            (trigger.bytes, trigger.fraction),
            (Some(bytes), fraction),
            "{case}"
        );
        assert_eq!(
            (trigger.limit_kilobytes, trigger.limit_seconds),
            (kilobytes, seconds)
        );
        assert_eq!(trigger.age_s, Some((ms - 50) as f64 / 1000.0));
        assert!(!trigger.at_least && !trigger.at_most);
    }
}

#[test]
fn what_does_not_vary_is_what_ran_out() {
    use TriggerKind::{Time, Unknown, Volume};
    let kinds = |limits: Lifetime, of: &[(i64, u64, u64)]| -> Vec<TriggerKind> {
        triggers_of(&lives(limits, of)).iter().map(|t| t.kind).collect()
    };
    let same_bytes = [
        (20_000, 2_000, 2_000_000),
        (30_000, 2_500, 2_010_000),
        (45_000, 1_800, 1_990_000),
    ];
    let same_age = [
        (20_000, 2_000, 2_000_000),
        (20_100, 2_500, 3_000_000),
        (20_000, 1_800, 1_500_000),
    ];
    let same_both = [
        (20_000, 2_000, 2_000_000),
        (20_100, 2_000, 2_010_000),
        (19_900, 2_000, 1_990_000),
    ];
    let neither = [
        (20_000, 2_000, 2_000_000),
        (40_000, 2_500, 3_000_000),
        (30_000, 1_800, 1_500_000),
    ];
    assert_eq!(kinds(NO_LIMIT, &same_bytes), [Volume; 3]);
    assert_eq!(kinds(NO_LIMIT, &same_age), [Time; 3]);
    assert_eq!(kinds(NO_LIMIT, &same_both), [Unknown; 3]);
    assert_eq!(kinds(NO_LIMIT, &neither), [Unknown; 3]);
    assert_eq!(kinds(NO_LIMIT, &same_bytes[..2]), [Unknown; 2], "two are too few");
    // By less than a tenth, and by less than half as much as the other: 10 % are 200 kB of 2 MB and 2 s of 20 s.
    let spread = |bytes: u64, ms: i64| {
        [
            (18_050 + ms, 2_000, 1_800_000 + bytes),
            (20_050, 2_500, 2_000_000),
            (22_050 - ms, 1_800, 2_200_000 - bytes),
        ]
    };
    let wide = |[least, middle, most]: [(i64, u64, u64); 3], by: (i64, u64)| {
        [
            (least.0 - by.0, least.1, least.2 - by.1),
            middle,
            (most.0 + by.0, most.1, most.2 + by.1),
        ]
    };
    for (lives, expected) in [
        (wide(spread(0, 0), (9_000, 0)), Unknown),
        (wide(spread(10, 0), (9_000, 0)), Volume),
        (spread(100_000, 0), Unknown),
        (spread(100_010, 0), Volume),
        (wide(spread(0, 0), (0, 900_000)), Unknown),
        (wide(spread(0, 1), (0, 900_000)), Time),
        (spread(0, 1_000), Unknown),
        (spread(0, 1_001), Time),
    ] {
        assert_eq!(kinds(NO_LIMIT, &lives), [expected; 3], "{lives:?}");
    }
    // Of two limits that are as near as each other.
    let both_near = Lifetime {
        seconds: Some(40),
        kilobytes: Some(2_400),
    };
    assert_eq!(kinds(both_near, &same_bytes), [Volume; 3]);
    assert_eq!(kinds(both_near, &same_age), [Time; 3]);
}

#[test]
fn missing_packets_make_a_lower_bound() {
    let limits = Lifetime {
        kilobytes: Some(2_400),
        ..NO_LIMIT
    };
    let life = (30_050, 1_950, 2_000_000);
    for (missing, at_least) in [(50, false), (51, true)] {
        let mut tunnel = one_life(limits, life);
        tunnel.snapshots.iter_mut().for_each(|s| s.missing = missing);
        let trigger = first_of(&tunnel);
        assert_eq!((trigger.at_least, trigger.bytes), (at_least, Some(2_000_000)));
        assert_eq!(trigger.fraction.is_none(), at_least, "{missing} of 2,000");
        let expected = if at_least {
            TriggerKind::Unknown
        } else {
            TriggerKind::Volume
        };
        assert_eq!(trigger.kind, expected);
    }
    for (first, at_least) in [(33, false), (34, true)] {
        let mut tunnel = one_life(limits, life);
        tunnel.associations[1].sequence.observe(first, false);
        assert_eq!(first_of(&tunnel).at_least, at_least, "begins at {first}");
    }
}

/// What packets are missing of is no part of what shows the limit, and what shows it tells of these too.
#[test]
fn rekeys_that_lack_packets_do_not_blur_what_is_steady() {
    let mut tunnel = lives(
        NO_LIMIT,
        &[
            (20_000, 2_000, 2_000_000),
            (30_000, 2_500, 2_010_000),
            (45_000, 1_800, 1_990_000),
            (50_000, 1_000, 900_000),
        ],
    );
    let kinds = |tunnel: &MadeUp| triggers_of(tunnel).iter().map(|t| t.kind).collect::<Vec<_>>();
    assert_eq!(
        kinds(&tunnel),
        [TriggerKind::Unknown; 4],
        "a quarter of them is far off"
    );
    let last_pair = tunnel.snapshots.iter_mut().filter(|s| s.exchange == 4);
    last_pair.for_each(|s| s.missing = 1_000);
    assert_eq!(kinds(&tunnel), [TriggerKind::Volume; 4]);
}

/// The old SA is silent from the beginning of a hole on.
#[test]
fn a_hole_at_its_end_makes_a_lower_bound() {
    for (from, last, at_least) in [
        (25_000, 25_000, true),
        (25_000, 25_001, false),
        (30_050, 25_000, false), // when the next was asked for already
        (30_049, 25_000, true),
    ] {
        let mut tunnel = one_life(NO_LIMIT, (30_050, 2_000, 2_000_000));
        tunnel.associations[1].last = Some((at(last), 9));
        let holes = |tunnel| {
            assert_eq!(tunnel, 0);
            vec![(at(from), at(40_000))]
        };
        let found = triggers(&tunnel.evidence(), &tunnel.successions(), holes).0;
        assert_eq!(
            found[0].at_least, at_least,
            "hole from {from}, last packet {last}"
        );
    }
}

#[test]
fn a_late_message_makes_an_upper_bound() {
    let limits = Lifetime {
        kilobytes: Some(2_400),
        ..NO_LIMIT
    };
    let mut tunnel = one_life(limits, (30_050, 2_000, 2_000_000));
    tunnel.exchanges[1].first_seen = FirstSeen::Answers;
    let trigger = first_of(&tunnel);
    assert_eq!((trigger.at_most, trigger.at_least), (true, false));
    assert_eq!((trigger.bytes, trigger.fraction), (Some(2_000_000), None));
    assert_eq!(trigger.kind, TriggerKind::Volume);
    for (missing, at_least) in [(1_999, false), (2_000, true)] {
        tunnel.snapshots.iter_mut().for_each(|s| s.missing = missing);
        let both = first_of(&tunnel);
        // More is missing than was seen, so the volume is above what was counted all the same.
        assert_eq!((both.at_least, both.at_most), (at_least, false), "{missing}");
        assert_eq!(both.bytes.is_some(), at_least, "nothing can be said");
        assert_eq!(both.limit_kilobytes, Some(2_400));
    }
}

#[test]
fn sequence_numbers_run_out() {
    for (highest, extended, expected) in [
        (0xF000_0000, None, TriggerKind::Packets),
        (0xEFFF_FFFF, None, TriggerKind::Unknown),
        (0xF000_0000, Some(0xF000_0000), TriggerKind::Unknown),
    ] {
        let mut tunnel = one_life(NO_LIMIT, (30_050, 2_000, 2_000_000));
        let sa = &mut tunnel.associations[1];
        sa.sequence.observe(1, false);
        sa.sequence.observe(highest, false);
        sa.extended = extended;
        assert_eq!(first_of(&tunnel).kind, expected, "{highest:x}");
    }
}

#[test]
fn the_payload_counts_where_nearly_all_was_opened() {
    for (opened, bytes) in [(1_960, 2_000_000), (1_959, 2_080_000), (0, 2_080_000)] {
        let mut tunnel = lives(
            NO_LIMIT,
            &[(30_050, 2_000, 2_000_000), (20_050, 2_000, 1_000_000)],
        );
        let of_the_first = tunnel.snapshots.iter_mut().find(|s| s.sa == 1).unwrap();
        of_the_first.counters.opened = opened;
        let found = triggers_of(&tunnel);
        assert_eq!(found[0].bytes, Some(bytes), "{opened} of 2,000");
        let other = if bytes == 2_000_000 { 1_000_000 } else { 1_080_000 };
        assert_eq!(found[1].bytes, Some(other), "all of a table are counted alike");
    }
}

#[test]
fn the_busier_sa_is_named_as_its_renewer_sees_it() {
    let named = |by: IpAddr, busy: Direction| {
        let mut tunnel = MadeUp::new();
        let old = tunnel.quick_mode(0, 30_000);
        let exchange = tunnel.exchange(ExchangeKind::QuickMode, by, (30_000, 30_040), 0);
        tunnel.pair((30_100, 60_000), Some(exchange));
        for (sa, direction) in old.into_iter().zip([AToB, BToA]) {
            let bytes = if direction == busy { 2_000_000 } else { 1_000 };
            tunnel.had_carried(sa, exchange, 2_000, bytes);
        }
        first_of(&tunnel).counting.unwrap()
    };
    let inbound = "inner bytes of the expiring inbound SA, kB = 1000";
    let outbound = "inner bytes of the expiring outbound SA, kB = 1000";
    assert_eq!(named(CLIENT, BToA), inbound);
    assert_eq!(named(CLIENT, AToB), outbound);
    assert_eq!(named(SERVER, AToB), inbound);
    assert_eq!(named(SERVER, BToA), outbound);
}

#[test]
fn what_is_no_limit_is_told_as_that() {
    let limits = Lifetime {
        kilobytes: Some(2_400),
        ..NO_LIMIT
    };
    let tunnel = one_life(limits, (30_050, 2_000, 2_000_000));
    let mut found = tunnel.successions();
    let kind = |s: &[Succession]| triggers(&tunnel.evidence(), s, |_| Vec::new()).0[0].kind;
    assert_eq!(kind(&found), TriggerKind::Volume);
    found[0].collision = true;
    assert_eq!(kind(&found), TriggerKind::Collision);
    found[0].reauthentication = true;
    assert_eq!(kind(&found), TriggerKind::Reauthentication);
    found[0].old = [None; 2];
    (found[0].collision, found[0].reauthentication) = (false, false);
    assert_eq!(
        kind(&found),
        TriggerKind::Unknown,
        "nothing is known of what it renews"
    );
}

#[test]
fn each_side_has_a_rule_of_what_most_of_its_rekeys_say() {
    let limits = Lifetime {
        kilobytes: Some(2_400),
        ..NO_LIMIT
    };
    let tunnel = lives(
        limits,
        &[
            (20_000, 2_000, 2_000_000),
            (30_000, 2_500, 2_010_000),
            (45_000, 1_800, 1_990_000),
            (45_000, 1_800, 1_995_000),
        ],
    );
    let mut found = tunnel.successions();
    let rules = |s: &[Succession]| -> Vec<(Option<IpAddr>, usize, TriggerKind)> {
        let (_, rules) = triggers(&tunnel.evidence(), s, |_| Vec::new());
        rules.iter().map(|r| (r.initiator, r.rekeys, r.kind)).collect()
    };
    assert_eq!(rules(&found), [(Some(CLIENT), 4, TriggerKind::Volume)]);
    found[3].initiator = Some(SERVER);
    assert_eq!(
        rules(&found),
        [
            (Some(CLIENT), 3, TriggerKind::Volume),
            (Some(SERVER), 1, TriggerKind::Volume)
        ]
    );
    found[0].collision = true;
    found[1].reauthentication = true;
    assert_eq!(
        rules(&found),
        [
            (Some(CLIENT), 1, TriggerKind::Volume),
            (Some(SERVER), 1, TriggerKind::Volume)
        ]
    );
    use TriggerKind::{Time, Unknown, Volume};
    assert_eq!(most_common(&[Unknown, Time, Volume, Time]), Time);
    assert_eq!(most_common(&[Volume, Time]), Volume, "of equals the first");
    assert_eq!(most_common(&[]), Unknown);
}

/// ESP bytes are the only ones that are steady and known of all packets, so each rekey is told in these.
#[test]
fn volumes_are_told_in_the_counting_of_their_rule() {
    let limits = Lifetime {
        kilobytes: Some(2_400),
        ..NO_LIMIT
    };
    let mut tunnel = lives(
        limits,
        &[
            (20_000, 2_000, 2_000_000),
            (30_000, 20_000, 2_000_000),
            (45_000, 1_000, 2_000_000),
        ],
    );
    for snapshot in &mut tunnel.snapshots {
        snapshot.counters.opened = snapshot.counters.opened * 99 / 100;
        if snapshot.sa % 2 == 1 {
            snapshot.counters.esp_bytes = 2_100_000;
        }
    }
    let by_itself = &triggers_of(&one_life(limits, (20_000, 2_000, 2_000_000)))[0];
    assert_eq!(by_itself.bytes, Some(2_000_000), "the payload");
    let (found, rules) = triggers(&tunnel.evidence(), &tunnel.successions(), |_| Vec::new());
    assert_eq!(rules[0].counting.as_deref(), Some("ESP bytes of the inbound SA"));
    for trigger in found {
        assert_eq!((trigger.bytes, trigger.fraction), (Some(2_100_000), Some(0.875)));
        assert_eq!(
            trigger.counting.as_deref(),
            Some("ESP bytes of the inbound SA, kB = 1000")
        );
    }
}

#[test]
fn limits_are_those_of_the_old_sas_exchange_else_of_the_new_one() {
    let mut tunnel = one_life(NO_LIMIT, (30_050, 2_000, 2_000_000));
    let of = |kilobytes| {
        Some(Lifetime {
            kilobytes: Some(kilobytes),
            ..NO_LIMIT
        })
    };
    tunnel.exchanges[0].lifetime = of(2_400);
    tunnel.exchanges[1].lifetime = of(9_000);
    assert_eq!(first_of(&tunnel).limit_kilobytes, Some(2_400));
    tunnel.exchanges[0].lifetime = None;
    assert_eq!(first_of(&tunnel).limit_kilobytes, Some(9_000));
}

/// Without a snapshot of its exchange: all that it ever carried.
#[test]
fn only_the_snapshot_of_its_own_exchange_counts() {
    let mut tunnel = lives(
        NO_LIMIT,
        &[(30_050, 2_000, 2_000_000), (20_050, 2_000, 1_000_000)],
    );
    for exchange in [0, 2] {
        tunnel.snapshots[1].exchange = exchange;
        tunnel.snapshots.sort_by_key(|s| s.exchange);
        tunnel.associations[1].counters.inner_bytes = 2_222_222;
        assert_eq!(first_of(&tunnel).bytes, Some(2_222_222));
        let moved = tunnel.snapshots.iter_mut().find(|s| s.sa == 1).unwrap();
        moved.exchange = 1;
        tunnel.snapshots.sort_by_key(|s| (s.exchange, s.sa));
        assert_eq!(first_of(&tunnel).bytes, Some(2_000_000));
    }
}

//! Synthetic sightings: what is planted is found, whatever the offset, and the counts add up.

use super::{PointPacket, PointSa, PointTrace, two_points};
use proptest::prelude::*;
use rekeyscope_model::analysis::{Direction, OrderSource, PointOrder, TwoPoints};
use rekeyscope_model::spi::{IpsecProtocol, SaId, Spi};
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

const BEGIN: i64 = 1_800_000_000_000_000_000;
const MS: i64 = 1_000_000;

fn sa(k: u32, dst: u8) -> PointSa {
    let up = k.is_multiple_of(2);
    PointSa {
        id: SaId {
            dst: IpAddr::from([10, 0, 0, dst]),
            protocol: IpsecProtocol::Esp,
            spi: Spi(0x1000 + k),
        },
        src: IpAddr::from([10, 0, 0, 9]),
        tunnel: 0,
        direction: if up { Direction::AToB } else { Direction::BToA },
        left_out: false,
    }
}

fn trace(mut packets: Vec<PointPacket>, sas: Vec<PointSa>) -> PointTrace {
    packets.sort_by_key(|p| p.time);
    PointTrace {
        path: "there".into(),
        covered: packets.first().zip(packets.last()).map(|(a, b)| (a.time, b.time)),
        packets_seen: packets.len() as u64,
        packets,
        sas,
        ..PointTrace::default()
    }
}

fn packet(time: i64, sa: u16, number: u32) -> PointPacket {
    PointPacket {
        time: Timestamp(time),
        sequence: number,
        sa,
        hop_limit: 64,
    }
}

/// What both points see of a steady exchange: `fate` says who sees the n-th packet (here, there) and what it takes longer.
fn sides(
    count: i64,
    offset: i64,
    ppm: i64,
    first_number: u32,
    fate: impl Fn(i64) -> (bool, bool, i64),
) -> (PointTrace, PointTrace) {
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for n in 0..count {
        let (time, sa) = (n * 5 * MS, (n % 2) as u16);
        let number = first_number.wrapping_add((n / 2) as u32);
        let (at_here, at_there, late) = fate(n);
        let delay = if sa == 0 { 4 * MS + late } else { -4 * MS - late };
        let passes = time + delay;
        if at_here {
            here.push(packet(BEGIN + time, sa, number));
        }
        if at_there {
            there.push(packet(
                BEGIN + passes + offset + passes * ppm / 1_000_000,
                sa,
                number,
            ));
        }
    }
    let sas = vec![sa(0, 1), sa(1, 2)];
    (trace(here, sas.clone()), trace(there, sas))
}

fn by_direction(points: &TwoPoints, direction: Direction) -> &rekeyscope_model::analysis::PointDirection {
    points
        .directions
        .iter()
        .find(|d| d.direction == direction)
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_counts_add_up(
        seed in any::<u64>(),
        offset in -1_000_000 * MS..1_000_000 * MS,
        ppm in -100..100_i64,
        first in prop_oneof![Just(1_u32), Just(u32::MAX - 100), any::<u32>()],
    ) {
        let roll = |n: i64| (seed ^ n.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
        let fate = |n: i64| {
            let roll = roll(n);
            (!roll.is_multiple_of(11), !roll.is_multiple_of(7), (roll % 97).cast_signed() * MS / 10)
        };
        let (here, there) = sides(3_000, offset, ppm, first, fate);
        let points = two_points(&here, &there, &[]);
        let union: u64 = (0..3_000).filter(|n| { let f = fate(*n); f.0 || f.1 }).count() as u64;
        let told: u64 = points.directions.iter().map(|d| d.both + d.only_here + d.only_there + d.outside).sum();
        prop_assert_eq!(told, union);
        // From there it is the same, mirrored.
        let mirrored = two_points(&there, &here, &[]);
        for d in &points.directions {
            let m = by_direction(&mirrored, d.direction);
            prop_assert_eq!((m.copies(), m.order), (d.copies(), match d.order {
                PointOrder::HereFirst => PointOrder::ThereFirst,
                PointOrder::ThereFirst => PointOrder::HereFirst,
                PointOrder::Unknown => PointOrder::Unknown,
            }));
        }
        // No delay is negative, so the truth lies within the bounds.
        let clock = points.clock.unwrap();
        prop_assert!(clock.straight);
        let at = clock.at.nanos_since(Timestamp(BEGIN)) as f64;
        let truth = (offset as f64 + at * ppm as f64 / 1e6) / MS as f64;
        let error = clock.offset_error_ms.unwrap();
        prop_assert!((clock.offset_ms.unwrap() - truth).abs() <= error + 0.01, "{clock:?} {truth}");
        prop_assert!((clock.drift_low_ppm.unwrap()..=clock.drift_high_ppm.unwrap()).contains(&(ppm as f64)));
        prop_assert!((3.99..4.6).contains(&error), "{error}");
    }
}

trait Copies {
    fn copies(&self) -> u64;
}

impl Copies for rekeyscope_model::analysis::PointDirection {
    fn copies(&self) -> u64 {
        self.duplicates_here + self.duplicates_there
    }
}

#[test]
fn loss_is_found_where_it_was_planted() {
    // 40 packets up are lost between, 30 before both, 20 down are not recorded here.
    let fate = |n: i64| match (n % 2, n) {
        (0, 1_000..1_080) => (true, false, 0),
        (0, 2_000..2_060) => (false, false, 0),
        (1, 3_000..3_040) => (false, true, 0),
        _ => (true, true, n % 7 * MS / 5),
    };
    let (here, there) = sides(5_000, 37 * MS, 20, 1, fate);
    let points = two_points(&here, &there, &[]);
    let up = by_direction(&points, Direction::AToB);
    assert_eq!(up.order, PointOrder::HereFirst);
    assert_eq!(
        (up.lost_between, up.missing_at_both, up.not_recorded),
        (Some(40), 30, Some(0))
    );
    let down = by_direction(&points, Direction::BToA);
    assert_eq!(down.order, PointOrder::ThereFirst);
    // Down, the first point is there: what is seen there alone was lost on the way.
    assert_eq!(
        (down.lost_between, down.missing_at_both, down.not_recorded),
        (Some(20), 0, Some(0))
    );
    let clock = points.clock.as_ref().unwrap();
    assert!((clock.offset_ms.unwrap() - 37.0).abs() < 0.01, "{clock:?}");
    assert!((clock.drift_ppm.unwrap() - 20.0).abs() < 1.0, "{clock:?}");
    let delay = up.delay_ms.as_ref().unwrap();
    assert!((delay.least - 4.0).abs() < 0.01 && delay.most > 5.0, "{delay:?}");
    // What is beyond the fastest: up to six times a fifth of a millisecond.
    let variation = up.variation_ms.as_ref().unwrap();
    for (beyond, of_all) in [
        (variation.least, delay.least),
        (variation.median, delay.median),
        (variation.p95, delay.p95),
        (variation.most, delay.most),
    ] {
        assert!((beyond - (of_all - 4.0)).abs() < 0.01, "{variation:?} {delay:?}");
    }
    assert!((variation.median - 0.6).abs() < 0.01 && (variation.most - 1.2).abs() < 0.01);
}

/// Every 10 ms one goes up; one of them takes longer: with 10 ms it arrives at once with the next one.
#[test]
fn copies_and_overtaken_packets_are_counted() {
    let of = |late: i64| {
        sides(4_000, 37 * MS, 0, 1, |n| {
            (true, true, if n == 1_000 { late } else { 0 })
        })
    };
    let (here, there) = of(10 * MS);
    let at_once = two_points(&here, &there, &[]);
    assert_eq!(by_direction(&at_once, Direction::AToB).reordered, 0);
    let (mut here, mut there) = of(12 * MS);
    let again = |trace: &mut PointTrace, place: usize| {
        let mut copy = trace.packets[place];
        copy.time = copy.time.plus_nanos(MS);
        trace.packets.insert(place + 1, copy);
    };
    again(&mut here, 500);
    again(&mut here, 700);
    again(&mut there, 600);
    let points = two_points(&here, &there, &[]);
    let (up, down) = (
        by_direction(&points, Direction::AToB),
        by_direction(&points, Direction::BToA),
    );
    assert_eq!((up.reordered, down.reordered), (1, 0));
    assert_eq!(up.duplicates_here + down.duplicates_here, 2);
    assert_eq!(up.duplicates_there + down.duplicates_there, 1);
    assert_eq!((up.lost_between, down.lost_between), (Some(0), Some(0)));
}

#[test]
fn a_clock_that_was_set_gives_no_delays() {
    let (here, mut there) = sides(4_000, 0, 0, 1, |_| (true, true, 0));
    for packet in there.packets.iter_mut().skip(2_000) {
        packet.time = packet.time.plus_nanos(80 * MS);
    }
    let points = two_points(&here, &there, &[]);
    let clock = points.clock.as_ref().unwrap();
    assert!(!clock.straight && clock.offset_ms.is_none(), "{clock:?}");
    assert!(
        points
            .directions
            .iter()
            .all(|d| d.delay_ms.is_none() && d.only_here == 0)
    );
    assert!(
        points.sentence.contains("was set meanwhile"),
        "{}",
        points.sentence
    );
}

#[test]
fn one_direction_alone_has_no_offset() {
    let fate = |n: i64| (n % 2 == 0, n % 2 == 0, n % 5 * MS / 3);
    let (here, there) = sides(4_000, 37 * MS, 20, 1, fate);
    let points = two_points(&here, &there, &[]);
    let [up] = points.directions.as_slice() else {
        panic!()
    };
    assert_eq!((up.order, up.lost_between), (PointOrder::Unknown, None));
    assert!(up.delay_ms.is_none() && up.variation_ms.as_ref().unwrap().least < 0.01);
    let clock = points.clock.as_ref().unwrap();
    assert!(
        clock.offset_ms.is_none() && (clock.drift_ppm.unwrap() - 20.0).abs() < 2.0,
        "{clock:?}"
    );
}

/// The packets of one direction; `limit` says what the n-th one's hop limit is there, 64 here.
fn ordered_by_hops(limit: impl Fn(usize) -> u8) -> (PointOrder, Option<OrderSource>) {
    let fate = |n: i64| (n % 2 == 0, n % 2 == 0, n % 5 * MS / 3);
    let (here, mut there) = sides(4_000, 37 * MS, 20, u32::MAX - 7, fate);
    for (n, packet) in there.packets.iter_mut().enumerate() {
        packet.hop_limit = limit(n);
    }
    let [up] = two_points(&here, &there, &[]).directions.try_into().unwrap();
    let told = (up.order, up.order_by);
    // From there the other way round.
    let [up] = two_points(&there, &here, &[]).directions.try_into().unwrap();
    let mirrored = match up.order {
        PointOrder::HereFirst => PointOrder::ThereFirst,
        PointOrder::ThereFirst => PointOrder::HereFirst,
        PointOrder::Unknown => PointOrder::Unknown,
    };
    assert_eq!((mirrored, up.order_by), told);
    told
}

#[test]
fn hop_limits_tell_the_order_where_they_agree() {
    let by_hops = Some(OrderSource::HopLimit);
    assert_eq!(ordered_by_hops(|_| 62), (PointOrder::HereFirst, by_hops));
    assert_eq!(ordered_by_hops(|_| 65), (PointOrder::ThereFirst, by_hops));
    let few = |n: usize| if n.is_multiple_of(30) { 255 } else { 63 };
    assert_eq!(ordered_by_hops(few), (PointOrder::HereFirst, by_hops));
    for limit in [
        |_: usize| 64_u8,
        // Not known.
        |_: usize| 0,
        |n: usize| if n.is_multiple_of(10) { 255 } else { 63 },
        |n: usize| if n.is_multiple_of(10) { 64 } else { 63 },
    ] {
        assert_eq!(ordered_by_hops(limit), (PointOrder::Unknown, None));
    }
}

#[test]
fn another_destination_is_matched_by_spi_where_that_is_unique() {
    let (here, mut there) = sides(1_000, 0, 0, 1, |_| (true, true, 0));
    there.sas[0].id.dst = IpAddr::from([192, 168, 0, 1]);
    assert_eq!(two_points(&here, &there, &[]).sas_behind_nat, 1);
    // A second SA with this SPI: nobody can tell.
    let twin = PointSa {
        id: SaId {
            dst: IpAddr::from([192, 168, 0, 2]),
            ..there.sas[0].id
        },
        ..there.sas[0]
    };
    there.sas.push(twin);
    there.packets.push(packet(BEGIN, 2, 5));
    let points = two_points(&here, &there, &[]);
    assert_eq!(
        (points.sas, points.sas_only_here, points.sas_only_there),
        (1, 1, 2)
    );
}

#[test]
fn what_nobody_asked_for_is_neither_compared_nor_missing() {
    let (mut here, there) = sides(1_000, 0, 0, 1, |_| (true, true, 0));
    here.sas[1].left_out = true;
    let points = two_points(&here, &there, &[]);
    assert_eq!(
        (points.sas, points.sas_only_here, points.sas_only_there),
        (1, 0, 0)
    );
}

#[test]
fn nothing_in_common_is_said() {
    let (here, mut there) = sides(100, 0, 0, 1, |_| (true, true, 0));
    let (_, later) = sides(100, 0, 0, 5_000, |_| (true, true, 0));
    let points = two_points(&here, &later, &[]);
    assert!(
        points.clock.is_none() && points.sentence.contains("not one packet"),
        "{}",
        points.sentence
    );
    for sa in &mut there.sas {
        sa.id.spi = Spi(sa.id.spi.0 + 7);
    }
    let points = two_points(&here, &there, &[]);
    assert!(points.sentence.contains("no SA in common"), "{}", points.sentence);
    assert!(
        two_points(&PointTrace::default(), &PointTrace::default(), &[])
            .clock
            .is_none()
    );
}

#[test]
fn what_there_was_no_room_for_is_not_lost() {
    let (here, mut there) = sides(2_000, 0, 0, 1, |_| (true, true, 0));
    there.kept_until = Some(there.packets[1_000].time);
    there.packets.truncate(1_000);
    let points = two_points(&here, &there, &[]);
    assert!(points.kept_until.is_some() && points.directions.iter().all(|d| d.only_here == 0));
    assert!(points.sentence.contains("were compared"), "{}", points.sentence);
}

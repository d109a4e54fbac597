//! Another capture point, with one sentence everywhere.

use rekeyscope_model::analysis::{
    Direction, OrderSource, PointClock, PointDelay, PointDirection, PointOrder, PointRekey, TwoPoints,
};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// A comparison in which every sentence and name is this one.
pub(crate) fn two_points(said: &str) -> TwoPoints {
    let begin = Timestamp(1_795_205_509_000_000_000);
    let delay = PointDelay {
        least: 5.0,
        median: 6.4,
        p95: 11.0,
        most: 24.5,
    };
    let direction = |direction, order| PointDirection {
        tunnel: 0,
        direction,
        src: IpAddr::from([10, 9, 0, 1]),
        dst: IpAddr::from([10, 9, 0, 2]),
        order,
        order_by: (order != PointOrder::Unknown).then_some(OrderSource::Times),
        both: 13_969,
        only_here: 146,
        only_there: 0,
        outside: 12,
        lost_between: (order != PointOrder::Unknown).then_some(146),
        not_recorded: (order != PointOrder::Unknown).then_some(0),
        missing_at_both: 7,
        duplicates_here: 0,
        duplicates_there: 3,
        reordered: 1,
        delay_ms: (order != PointOrder::Unknown).then(|| delay.clone()),
        variation_ms: Some(delay.clone()),
        ike_both: 11,
        ike_only_here: 0,
        ike_only_there: 0,
    };
    TwoPoints {
        path: said.into(),
        files: Vec::new(),
        packets: 20_016,
        dropped_reported: None,
        truncated_file: false,
        from: Some(begin),
        to: Some(begin.plus_seconds(31.0)),
        sas: 16,
        sas_behind_nat: 0,
        sas_only_here: 0,
        sas_only_there: 0,
        kept_until: None,
        clock: Some(PointClock {
            at: begin,
            offset_ms: Some(37.0),
            offset_error_ms: Some(5.0),
            round_trip_ms: Some(10.0),
            drift_ppm: Some(20.0),
            drift_low_ppm: Some(-451.0),
            drift_high_ppm: Some(513.0),
            straight: true,
        }),
        directions: vec![
            direction(Direction::AToB, PointOrder::ThereFirst),
            direction(Direction::BToA, PointOrder::Unknown),
        ],
        rekeys: vec![PointRekey {
            rekey: 0,
            number: 1,
            tunnel: 0,
            direction: Direction::BToA,
            old_spi: Some(Spi(0xc7df_968a)),
            old_lost: 8,
            new_spi: None,
            new_lost: 0,
            sent: 900,
            usual_lost: Some(7.5),
            ike_lost: 1,
            first_ms: -12.0,
            last_ms: 30.0,
            sentence: said.into(),
            messages: Vec::new(),
        }],
        sentence: said.into(),
        messages: Vec::new(),
    }
}

//! Synthetic packets around a rekey.

use super::shape::{RATE_BPS, Shape, moment};
use rekeyscope_model::analysis::*;
use std::net::IpAddr;

/// As many as a document has.
const MOST: usize = 24;
/// Between two of the packets that are kept, milliseconds.
const STEP: f64 = 8.0;
/// Packets of the whole synthetic capture per millisecond.
const FRAMES_PER_MS: f64 = 1.24;
const AROUND: f64 = 1_500.0;
const DATA: Direction = Direction::BToA;
/// What the sender has in flight, and how far beyond that the receiver's window reaches.
const FLIGHT: i64 = 22_000;
const WINDOW: i64 = 65_535;

/// The last eight packets before a stall are lost, and sent again behind it.
pub(super) fn close_up(shape: &Shape, tunnel: usize, k: usize, exchange: usize) -> Option<CloseUp> {
    if !shape.traffic || exchange >= MOST {
        return None;
    }
    let (start, length, stall) = moment(shape, k);
    let (length, stall) = (length * 1e3, stall * 1e3);
    let frame = |ms: f64| ((start * 1e3 + ms) * FRAMES_PER_MS) as u64 + 1;
    let to_ms = (length + stall + AROUND).round();
    let steps = ((to_ms + AROUND) / STEP) as usize;
    let all: Vec<f64> = (0..steps).map(|n| n as f64 * STEP - AROUND).collect();
    let on_old: Vec<f64> = all.iter().copied().filter(|ms| *ms < length).collect();
    let on_new: Vec<f64> = all.iter().copied().filter(|ms| *ms >= length + stall).collect();
    let lost: Vec<u64> = match stall > 0.0 {
        true => on_old.iter().rev().take(8).rev().map(|ms| frame(*ms)).collect(),
        false => Vec::new(),
    };
    let repeated = on_new.iter().take(lost.len()).map(|ms| frame(*ms)).collect();
    let packet = |ms: Option<&f64>| {
        ms.map(|ms| CloseUpPacket {
            ms: *ms,
            frame: frame(*ms),
        })
    };
    let (first, last) = (packet(on_new.first()), packet(on_old.last()));
    let bytes = |ms: f64| ((ms + AROUND) * RATE_BPS / 8e3) as i64;
    let series = |direction: Direction, sa: SaAge, at: &[f64]| {
        let ahead = if direction == DATA { FLIGHT } else { 0 };
        // What waits while nothing passes is not sent later.
        let value = |ms: f64| bytes(if sa == SaAge::New { ms - stall } else { ms }) + ahead;
        CloseUpSeries {
            direction,
            sa,
            ms: at.to_vec(),
            frames: at.iter().map(|ms| frame(*ms)).collect(),
            values: match (shape.keys, sa) {
                (true, _) => at.iter().map(|ms| value(*ms)).collect(),
                (false, SaAge::New) => (1..=at.len() as i64).collect(),
                (false, _) => (1 - at.len() as i64..=0).collect(),
            },
            window_edges: match shape.keys && direction != DATA {
                true => at.iter().map(|ms| value(*ms) + WINDOW).collect(),
                false => Vec::new(),
            },
        }
    };
    let both = |direction| {
        [
            series(direction, SaAge::Old, &on_old),
            series(direction, SaAge::New, &on_new),
        ]
    };
    let message = |message: usize, ms: f64| CloseUpMessage {
        ms,
        frame: frame(ms),
        direction: if message == 2 { DATA } else { DATA.reverse() },
        exchange,
        message,
        retransmission: false,
    };
    Some(CloseUp {
        direction: DATA,
        numbers: match shape.keys {
            true => CloseUpNumbers::TcpBytes,
            false => CloseUpNumbers::EspPackets,
        },
        connection: shape.keys.then(|| CloseUpConnection {
            src: IpAddr::from([10, 66, tunnel as u8, 1]),
            src_port: 5201,
            dst: IpAddr::from([10, 66, tunnel as u8, 2]),
            dst_port: 40_000,
        }),
        from_ms: -AROUND,
        to_ms,
        last_on_old: last,
        first_on_new: first,
        series: [both(DATA), both(DATA.reverse())].concat(),
        lost_frames: lost,
        repeated_frames: repeated,
        ike: vec![message(1, 0.0), message(2, length * 0.5), message(3, length)],
        left_out: 2_000,
    })
}

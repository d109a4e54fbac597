//! Packets → points: of a TCP connection bytes over time, else ESP packets over time.

use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::scene::RekeyScene;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_model::flow::TcpHeader;
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::{ConnectionId, Ranges, Segment};
use std::ops::RangeInclusive;

/// Segments with data and the acknowledgements of the other side, as bytes from the lowest of them. From the last packet of the
/// window to the first: what is sent again later is known then.
pub(super) fn tcp_points(
    scene: &RekeyScene<'_>,
    connection: ConnectionId,
    span: RangeInclusive<Timestamp>,
) -> [Vec<CloseUpPoint>; 2] {
    let mut sent_later = Ranges::default();
    let mut base = None;
    let mut points = [Vec::new(), Vec::new()];
    for p in scene.packets.iter().rev().take_while(|p| p.time >= *span.start()) {
        let is_data = p.slot() == scene.data;
        let counts = if is_data { p.payload > 0 } else { p.acknowledges() };
        if p.connection != connection || !counts || p.flags & TcpHeader::SYN != 0 {
            continue;
        }
        let number = if is_data { p.seq_end() } else { p.ack };
        // Sequence numbers compare modulo 2³² (RFC 9293 §3.4).
        let value = i64::from(number.wrapping_sub(*base.get_or_insert(number)).cast_signed());
        let mut point = point(p, value);
        if is_data {
            let (from, to) = (place(value - i64::from(p.payload)), place(value));
            point.lost = sent_later.around(from).is_some_and(|range| range.1 >= to);
            point.repeated = p.again > 0;
            if point.repeated {
                sent_later.add(from, to, |_, _| {});
            }
        }
        if span.contains(&p.time) {
            points[usize::from(!is_data)].push(point);
        }
    }
    points.iter_mut().for_each(|p| p.reverse());
    let lowest = points.iter().flatten().map(|p| p.value).min().unwrap_or(0);
    points.iter_mut().flatten().for_each(|p| p.value -= lowest);
    points
}

/// A place behind or before the first number that was seen, as one that is never below 0: numbers lie within 4 GB of it.
fn place(value: i64) -> u64 {
    Segment::ORIGIN.saturating_add_signed(value)
}

/// Packets on the SAs that the rekey ends and begins, of the data's direction and of the other one.
pub(super) fn esp_points(scene: &RekeyScene<'_>, span: RangeInclusive<Timestamp>) -> [Vec<CloseUpPoint>; 2] {
    [scene.data, 1 - scene.data].map(|d| {
        let lane = scene.lanes[d];
        let packets = || scene.lane_packets(d);
        let of_old = packets().filter(|p| Some(p.sa()) == lane.old);
        let highest = of_old
            .map(|p| p.sequence)
            // Numbers compare modulo 2³², as the SA has 64 bits of them or ends there.
            .reduce(|a, b| if a.wrapping_sub(b).cast_signed() < 0 { b } else { a });
        let shown = packets().filter(|p| span.contains(&p.time));
        shown
            .filter_map(|p| {
                let value = if Some(p.sa()) == lane.new {
                    i64::from(p.sequence)
                } else if Some(p.sa()) == lane.old {
                    i64::from(p.sequence.wrapping_sub(highest?).cast_signed())
                } else {
                    return None;
                };
                Some(point(p, value))
            })
            .collect()
    })
}

fn point(p: &PacketRecord, value: i64) -> CloseUpPoint {
    CloseUpPoint {
        time: p.time,
        frame: p.frame,
        sa: p.sa(),
        value,
        window: p.window,
        lost: false,
        repeated: false,
    }
}

/// One packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CloseUpPoint {
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    pub(crate) sa: SaIndex,
    /// Bytes of a connection, or ESP packets.
    pub(crate) value: i64,
    /// TCP window field, unscaled.
    pub(crate) window: u16,
    /// Every byte of it is sent again later.
    pub(crate) lost: bool,
    /// The packet sends bytes again.
    pub(crate) repeated: bool,
}

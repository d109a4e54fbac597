//! Inner-TCP events of a window: retransmissions with what they repeat, duplicate acknowledgements, stalls, round trips,
//! bytes that were acknowledged although the capture never showed them.
//!
//! All connections of the tunnel are followed, at most [`MOST_CONNECTIONS`]; sequence numbers compare modulo 2³²
//! (RFC 9293 §3.4).

mod events;
mod half_connection;

use crate::diagnosis::record::PacketRecord;
use crate::throughput::by_connection::ByConnection;
use crate::throughput::flow::ConnectionId;
use half_connection::{HalfConnection, MOST_SEGMENTS, acknowledge, send};
use rekeyscope_ipsec::esp::inner::TcpSegment;

pub(crate) use events::{DataStall, Retransmission, TcpEvents, UnseenBytes};
pub(crate) use half_connection::before;

/// Most connections that are followed in one window; packets of further ones make no events.
const MOST_CONNECTIONS: usize = 256;

/// Follows every connection through a window. What `beyond` it repeats of the window counts in [`TcpEvents::repeated`] alone.
pub(crate) fn events(packets: &[&PacketRecord], beyond: &[&PacketRecord]) -> TcpEvents {
    let mut walk = ConnectionWalk::default();
    packets.iter().for_each(|p| walk.take(p));
    let mut found = walk.found();
    for p in beyond {
        if let Some(original) = walk.repeated_by(p) {
            found.repeated.entry(original).or_insert(p.frame);
        }
    }
    found
}

#[derive(Debug)]
struct ConnectionWalk {
    streams: ByConnection<[HalfConnection; 2]>,
    /// So many more segments may be remembered.
    left: usize,
    found: TcpEvents,
}

impl Default for ConnectionWalk {
    fn default() -> Self {
        ConnectionWalk {
            streams: ByConnection::with_bound(MOST_CONNECTIONS),
            left: MOST_SEGMENTS,
            found: TcpEvents::default(),
        }
    }
}

impl ConnectionWalk {
    fn take(&mut self, p: &PacketRecord) {
        if !p.is_tcp() || p.connection == ConnectionId::NONE {
            return;
        }
        let Some(pair) = self.streams.get_or_begin(p.connection) else {
            return;
        };
        let slot = p.slot();
        if p.flags & TcpSegment::SYN != 0 {
            let bytes = pair[slot].bytes;
            pair[slot] = HalfConnection::begun_by(p);
            pair[slot].bytes = bytes;
            return;
        }
        if p.flags & TcpSegment::ACK != 0 {
            acknowledge(&mut pair[1 - slot], p, &mut self.found);
        }
        if p.payload > 0 {
            send(&mut pair[slot], p, &mut self.left, &mut self.found);
        }
    }

    /// The frame of what a packet behind those that were followed brings again.
    fn repeated_by(&mut self, p: &PacketRecord) -> Option<u64> {
        if !p.is_tcp() || p.payload == 0 && p.flags & TcpSegment::SYN == 0 {
            return None;
        }
        let stream = &mut self.streams.get(p.connection)?[p.slot()];
        if p.flags & TcpSegment::SYN != 0 {
            *stream = HalfConnection::default();
        }
        stream.repeated_by(p)
    }

    /// The events until now.
    fn found(&mut self) -> TcpEvents {
        let mut found = std::mem::take(&mut self.found);
        let halves = |slot: usize| {
            let streams = self.streams.iter().map(move |(_, pair)| pair[slot].least_half());
            streams.flatten().min()
        };
        // One connection's data gives the way to its receiver and back; data the other way gives the other half.
        found.rtt = match [halves(0), halves(1)] {
            [Some(x), Some(y)] => Some(x.saturating_add(y)),
            [x, y] => x.or(y),
        };
        let bytes = |(connection, pair): &(ConnectionId, [HalfConnection; 2])| {
            (*connection, [pair[0].bytes, pair[1].bytes])
        };
        found.bytes = self.streams.iter().map(bytes).collect();
        found.stalls.sort_by_key(|s| s.from);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

    /// A packet of connection 0: direction, milliseconds, sequence number, payload, acknowledgement.
    fn packet(up: bool, millis: i64, seq: u32, payload: u16, ack: u32) -> PacketRecord {
        let frame = u64::try_from(millis).unwrap_or_default();
        PacketRecord::for_test(
            up,
            Timestamp(millis * NANOS_PER_MILLI),
            frame,
            (seq, payload, ack),
        )
    }

    fn walk(packets: &[PacketRecord]) -> TcpEvents {
        events(&packets.iter().collect::<Vec<_>>(), &[])
    }

    #[test]
    fn a_timeout_is_a_stall_that_a_repetition_ends() {
        let start = u32::MAX - 150;
        let found = walk(&[
            packet(false, 0, start, 100, 0),
            packet(false, 1, start.wrapping_add(100), 100, 0),
            packet(true, 10, 0, 0, start.wrapping_add(100)),
            packet(false, 311, start.wrapping_add(100), 100, 0),
            packet(true, 321, 0, 0, start.wrapping_add(200)),
        ]);
        let [stall] = &found.stalls[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (stall.nanos(), stall.ended_by_retransmission),
            (310 * NANOS_PER_MILLI, true)
        );
        let [again] = &found.retransmissions[..] else {
            panic!("{found:?}")
        };
        assert_eq!((again.frame, again.original, again.fast), (311, Some(1), false));
        assert_eq!(found.repeated.get(&1), Some(&311));
        assert_eq!(found.rtt, Some(10 * NANOS_PER_MILLI));
    }

    #[test]
    fn three_duplicates_ask_for_a_segment() {
        let mut packets = vec![packet(true, 0, 0, 0, 100)];
        for k in 0..5 {
            packets.push(packet(false, 1 + k, 100 + 10 * k as u32, 10, 0));
        }
        for k in 0..4 {
            packets.push(packet(true, 10 + k, 0, 0, 100));
        }
        packets.push(packet(false, 15, 100, 10, 0));
        let found = walk(&packets);
        assert!(found.retransmissions[0].fast);
    }

    #[test]
    fn what_is_acknowledged_but_was_never_captured_is_told_from_what_came_late() {
        let missing = [
            packet(true, 0, 0, 0, 100),
            packet(false, 1, 100, 10, 0),
            packet(false, 2, 150, 10, 0),
            packet(true, 20, 0, 0, 160),
        ];
        let found = walk(&missing);
        assert_eq!(
            found
                .unseen
                .iter()
                .map(|u| (u.bytes, u.frame, u.ack_frame))
                .collect::<Vec<_>>(),
            [(40, 2, 20)]
        );
        let filled = [
            &missing[..3],
            &[packet(false, 5, 110, 30, 0), packet(false, 6, 140, 10, 0)],
            &missing[3..],
        ]
        .concat();
        assert!(walk(&filled).unseen.is_empty());
    }

    proptest! {
        /// Anything goes in; lists stay bounded and nothing panics.
        #[test]
        fn hostile_segments(list in proptest::collection::vec(any::<(bool, u16, u32, u16, u32)>(), 0..300)) {
            let packets: Vec<PacketRecord> = list
                .iter()
                .map(|&(up, t, seq, payload, ack)| packet(up, i64::from(t), seq, payload, ack))
                .collect();
            let found = walk(&packets);
            prop_assert!(found.retransmissions.len() <= packets.len());
        }
    }
}

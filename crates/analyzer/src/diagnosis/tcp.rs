//! Inner-TCP events of a window: retransmissions with what they repeat, duplicate acknowledgements, stalls, round trips,
//! bytes that were acknowledged although the capture never showed them.
//!
//! All connections of the tunnel are followed, at most [`MOST_CONNECTIONS`]; sequence numbers compare modulo 2³²
//! (RFC 9293 §3.4).

use super::record::PacketRecord;
use crate::esp::inner::TcpSegment;
use crate::flow::ConnectionId;
use crate::sa::database::SaIndex;
use crate::time::{NANOS_PER_MILLI, Timestamp};
use std::collections::HashMap;

/// Most connections that are followed in one window; packets of further ones make no events.
const MOST_CONNECTIONS: usize = 256;
/// Most segments remembered to find what a retransmission repeats, about 5 MB while a window is looked at; a
/// retransmission of a later one has no known original.
const MOST_SEGMENTS: usize = 1 << 17;
/// Most events of each kind.
const MOST_EVENTS: usize = 1 << 12;
/// A pause under this is no stall (the gap test's limit in the method).
const LEAST_STALL: i64 = 50 * NANOS_PER_MILLI;
/// The third duplicate acknowledgement means loss (RFC 5681 §3.2).
const DUPLICATES_OF_LOSS: u32 = 3;
/// Holes of a stream that are remembered; further ones are not looked for.
const MOST_HOLES: usize = 64;

/// `a` lies before `b` in sequence space.
pub(crate) fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// A segment of which at least a part was on its way before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retransmission {
    pub(crate) slot: usize,
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    pub(crate) connection: ConnectionId,
    pub(crate) end: u32,
    /// The first time it was seen, where that lies in the window.
    pub(crate) original: Option<Original>,
    /// Three duplicate acknowledgements asked for it.
    pub(crate) fast: bool,
}

/// The first transmission of a segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Original {
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    pub(crate) sa: SaIndex,
}

/// A pause of a connection's data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stall {
    pub(crate) slot: usize,
    pub(crate) connection: ConnectionId,
    pub(crate) from: Timestamp,
    pub(crate) from_frame: u64,
    pub(crate) to: Timestamp,
    pub(crate) to_frame: u64,
    /// SAs on both sides of it.
    pub(crate) sas: (SaIndex, SaIndex),
    /// How long before its end everything had been acknowledged, nanoseconds.
    pub(crate) idle: i64,
    /// The segment after it repeats the oldest byte that is not acknowledged.
    pub(crate) ended_by_retransmission: bool,
    /// The peer advertised a window of 0 meanwhile.
    pub(crate) zero_window: Option<u64>,
}

impl Stall {
    /// Its length, nanoseconds.
    pub(crate) fn nanos(&self) -> i64 {
        self.to.nanos_since(self.from)
    }
}

/// The third duplicate of an acknowledgement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DuplicateAcks {
    /// Direction of the data that is asked for.
    pub(crate) slot: usize,
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
}

/// Bytes that the receiver acknowledged and the capture never showed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnseenBytes {
    pub(crate) slot: usize,
    /// The segment behind the hole.
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    pub(crate) ack_frame: u64,
    pub(crate) bytes: u32,
}

/// All of it, each list in order of time.
#[derive(Debug, Default)]
pub(crate) struct TcpEvents {
    pub(crate) retransmissions: Vec<Retransmission>,
    pub(crate) stalls: Vec<Stall>,
    pub(crate) duplicate_acks: Vec<DuplicateAcks>,
    pub(crate) unseen: Vec<UnseenBytes>,
    /// Acknowledgements with a window of 0: direction of the data that they stop, time, frame.
    pub(crate) zero_windows: Vec<(usize, Timestamp, u64)>,
    /// Payload bytes of each connection, per direction.
    pub(crate) bytes: HashMap<ConnectionId, [u64; 2]>,
    /// Frame of a segment → frame of its first repetition.
    pub(crate) repeated: HashMap<u64, u64>,
    /// Least time from data to its acknowledgement and on to the next data: both halves of a round trip.
    pub(crate) rtt: Option<i64>,
}

/// One direction of one connection.
#[derive(Debug, Default, Clone)]
struct Stream {
    /// Behind the highest byte sent.
    edge: Option<u32>,
    /// Highest acknowledgement by the peer, and the packet that brought it.
    acked: Option<u32>,
    /// Window of the peer's last packet.
    window: Option<u16>,
    duplicates: u32,
    asked_for: Option<u32>,
    last_data: Option<(Timestamp, u64, SaIndex)>,
    zero_window: Option<u64>,
    /// When the last byte sent was acknowledged.
    idle_since: Option<Timestamp>,
    /// A segment whose acknowledgement is waited for.
    probe: Option<(u32, Timestamp)>,
    least_half: Option<i64>,
    holes: Vec<Hole>,
}

/// Bytes of a stream that were never seen, and the segment behind them.
#[derive(Debug, Clone, Copy)]
struct Hole {
    start: u32,
    end: u32,
    time: Timestamp,
    frame: u64,
}

/// Follows every connection through a window.
pub(crate) fn events(packets: &[&PacketRecord]) -> TcpEvents {
    let mut walk = Walk::default();
    for p in packets.iter().filter(|p| p.is_tcp()) {
        walk.take(p);
    }
    walk.finish()
}

#[derive(Debug, Default)]
struct Walk {
    streams: HashMap<ConnectionId, [Stream; 2]>,
    segments: HashMap<(ConnectionId, usize, u32), Original>,
    found: TcpEvents,
}

impl Walk {
    fn take(&mut self, p: &PacketRecord) {
        if p.connection == ConnectionId::NONE
            || self.streams.len() >= MOST_CONNECTIONS && !self.streams.contains_key(&p.connection)
        {
            return;
        }
        let slot = p.slot();
        let pair = self.streams.entry(p.connection).or_default();
        if p.flags & TcpSegment::SYN != 0 {
            pair[slot] = Stream {
                edge: Some(p.seq_end().wrapping_add(1)),
                ..Stream::default()
            };
            return;
        }
        if p.flags & TcpSegment::ACK != 0 {
            acknowledge(&mut pair[1 - slot], p, &mut self.found);
        }
        if p.payload > 0 {
            send(&mut pair[slot], p, &mut self.segments, &mut self.found);
        }
    }

    fn finish(mut self) -> TcpEvents {
        let halves = |slot: usize| {
            let streams = self.streams.values().map(move |pair| pair[slot].least_half);
            streams.flatten().min()
        };
        // One connection's data gives the way to its receiver and back; data the other way gives the other half.
        self.found.rtt = match [halves(0), halves(1)] {
            [Some(x), Some(y)] => Some(x.saturating_add(y)),
            [x, y] => x.or(y),
        };
        self.found.stalls.sort_by_key(|s| s.from);
        self.found
    }
}

fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() < MOST_EVENTS {
        list.push(item);
    }
}

/// The peer of `stream` acknowledges.
fn acknowledge(stream: &mut Stream, p: &PacketRecord, found: &mut TcpEvents) {
    let slot = 1 - p.slot();
    if p.window == 0 && p.flags & TcpSegment::RST == 0 {
        stream.zero_window = Some(p.frame);
        push(&mut found.zero_windows, (slot, p.time, p.frame));
    }
    // RFC 5681 §2: the same window, or it is an update of that. With SACK the blocks tell (RFC 6675 §2).
    let alike = p.sack_blocks > 0 || stream.window == Some(p.window);
    stream.window = Some(p.window);
    match stream.acked {
        Some(acked) if !before(acked, p.ack) => {
            let outstanding = stream.edge.is_some_and(|edge| before(p.ack, edge));
            if p.ack == acked && p.is_pure_ack() && outstanding && alike && p.window > 0 {
                duplicate(stream, p, slot, found);
            }
        }
        _ => progress(stream, p, slot, found),
    }
}

fn duplicate(stream: &mut Stream, p: &PacketRecord, slot: usize, found: &mut TcpEvents) {
    stream.duplicates += 1;
    if stream.duplicates == DUPLICATES_OF_LOSS {
        stream.asked_for = Some(p.ack);
        let event = DuplicateAcks {
            slot,
            time: p.time,
            frame: p.frame,
        };
        push(&mut found.duplicate_acks, event);
    }
}

/// The acknowledgement is higher than all before.
fn progress(stream: &mut Stream, p: &PacketRecord, slot: usize, found: &mut TcpEvents) {
    stream.acked = Some(p.ack);
    stream.duplicates = 0;
    if stream.edge.is_some_and(|edge| !before(p.ack, edge)) {
        stream.idle_since = Some(p.time);
    }
    if let Some((end, sent)) = stream.probe
        && !before(p.ack, end)
    {
        let half = p.time.nanos_since(sent).max(0);
        stream.least_half = Some(stream.least_half.map_or(half, |least| least.min(half)));
        stream.probe = None;
    }
    report_unseen(stream, p, slot, found);
}

/// Holes below the acknowledgement: the receiver has what the capture lacks.
fn report_unseen(stream: &mut Stream, p: &PacketRecord, slot: usize, found: &mut TcpEvents) {
    stream.holes.retain(|hole| {
        let covered = !before(p.ack, hole.end);
        if covered {
            let event = UnseenBytes {
                slot,
                time: hole.time,
                frame: hole.frame,
                ack_frame: p.frame,
                bytes: hole.end.wrapping_sub(hole.start),
            };
            push(&mut found.unseen, event);
        }
        !covered
    });
}

/// A segment with data.
fn send(
    stream: &mut Stream,
    p: &PacketRecord,
    segments: &mut HashMap<(ConnectionId, usize, u32), Original>,
    found: &mut TcpEvents,
) {
    let edge = stream.edge.unwrap_or(p.seq);
    let behind = before(p.seq, edge);
    found.bytes.entry(p.connection).or_default()[p.slot()] += u64::from(p.payload);
    // A packet that was overtaken brings its segment for the first time.
    let overtaken = behind && p.is_late() && p.again == 0;
    note_stall(stream, p, behind && !overtaken, found);
    if behind {
        fill_holes(&mut stream.holes, p);
    }
    if behind && !overtaken {
        repeat(stream, p, segments, found);
    } else {
        if before(edge, p.seq) && stream.holes.len() < MOST_HOLES {
            stream.holes.push(Hole {
                start: edge,
                end: p.seq,
                time: p.time,
                frame: p.frame,
            });
        }
        if segments.len() < MOST_SEGMENTS {
            let original = Original {
                time: p.time,
                frame: p.frame,
                sa: p.sa(),
            };
            segments.insert((p.connection, p.slot(), p.seq), original);
        }
        if !overtaken {
            stream.probe.get_or_insert((p.seq_end(), p.time));
        }
    }
    if stream.edge.is_none_or(|edge| before(edge, p.seq_end())) {
        stream.edge = Some(p.seq_end());
    }
    stream.last_data = Some((p.time, p.frame, p.sa()));
    stream.zero_window = None;
    stream.idle_since = None;
}

fn repeat(
    stream: &mut Stream,
    p: &PacketRecord,
    segments: &HashMap<(ConnectionId, usize, u32), Original>,
    found: &mut TcpEvents,
) {
    // Karn: the acknowledgement of a repeated segment measures nothing.
    stream.probe = None;
    let event = Retransmission {
        slot: p.slot(),
        time: p.time,
        frame: p.frame,
        connection: p.connection,
        end: p.seq_end(),
        original: segments.get(&(p.connection, p.slot(), p.seq)).copied(),
        fast: stream.asked_for == Some(p.seq),
    };
    if let Some(original) = event.original {
        found.repeated.entry(original.frame).or_insert(event.frame);
    }
    push(&mut found.retransmissions, event);
}

/// What a late segment brings is missing no longer.
fn fill_holes(holes: &mut Vec<Hole>, p: &PacketRecord) {
    let mut left = Vec::with_capacity(holes.len());
    for hole in holes.drain(..) {
        if !before(hole.start, p.seq_end()) || !before(p.seq, hole.end) {
            left.push(hole);
            continue;
        }
        if before(hole.start, p.seq) {
            left.push(Hole { end: p.seq, ..hole });
        }
        if before(p.seq_end(), hole.end) {
            let start = p.seq_end();
            left.push(Hole { start, ..hole });
        }
    }
    left.truncate(MOST_HOLES);
    *holes = left;
}

fn note_stall(stream: &Stream, p: &PacketRecord, repeats: bool, found: &mut TcpEvents) {
    let Some((from, from_frame, sa)) = stream.last_data else {
        return;
    };
    if p.time.nanos_since(from) < LEAST_STALL {
        return;
    }
    let idle = stream.idle_since.map_or(0, |since| p.time.nanos_since(since));
    let stall = Stall {
        slot: p.slot(),
        connection: p.connection,
        from,
        from_frame,
        to: p.time,
        to_frame: p.frame,
        sas: (sa, p.sa()),
        idle,
        ended_by_retransmission: repeats && stream.acked.is_none_or(|acked| !before(acked, p.seq)),
        zero_window: stream.zero_window,
    };
    push(&mut found.stalls, stall);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        events(&packets.iter().collect::<Vec<_>>())
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
        assert_eq!(
            (again.frame, again.original.map(|o| o.frame), again.fast),
            (311, Some(1), false)
        );
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
        assert_eq!(
            found.duplicate_acks.iter().map(|d| d.frame).collect::<Vec<_>>(),
            [12]
        );
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

    #[test]
    fn a_sender_is_idle_once_all_is_acknowledged() {
        let found = walk(&[
            packet(true, 0, 0, 0, 100),
            packet(false, 1, 100, 10, 0),
            packet(true, 21, 0, 0, 110),
            packet(false, 521, 110, 10, 0),
        ]);
        assert_eq!(found.stalls[0].idle, 500 * NANOS_PER_MILLI);
        assert!(!found.stalls[0].ended_by_retransmission);
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

//! Which bytes of a TCP stream were seen before (RFC 9293 §3.4 numbers them modulo 2³²).

use crate::throughput::flow::new_bytes::NewBytes;
use rekeyscope_ipsec::esp::inner::TcpSegment;

/// Most holes remembered per flow direction. At the bound the lowest is forgotten: what fills it later counts as
/// retransmitted.
pub(super) const MOST_HOLES: usize = 256;
/// How far below its first segment a stream that was under way is still taken for new: packets captured in the wrong
/// order at the start. A receive window's worth is at most 2³⁰ (RFC 7323 §2.3), a usual one fits into this.
const BEFORE_FIRST: u64 = 1 << 20;
/// No window is larger (RFC 7323 §2.3): a segment further away belongs to another connection on the same ports.
const FARTHEST: i32 = 1 << 30;
/// Where counting starts, so that positions below the first byte stay positive.
const ORIGIN: u64 = 1 << 40;

/// What was seen of one direction of a TCP connection. Positions are 64 bits wide: sequence numbers unwrapped.
#[derive(Debug)]
pub(super) struct TcpSequence {
    /// Behind the highest byte seen.
    edge: u64,
    /// Sequence number of `edge`.
    edge_number: u32,
    /// Initial sequence number, when the SYN was seen.
    initial: Option<u32>,
    /// Ranges below `edge` that were not seen, ascending, apart from each other.
    holes: Vec<(u64, u64)>,
    /// Bytes of holes that were forgotten at the bound, and behind the highest of them.
    forgotten: (u64, u64),
    /// What this side acknowledged last.
    ack: u32,
}

impl TcpSequence {
    /// Begins with the first segment of a flow (which is to be observed after that).
    pub(super) fn starting_with(segment: &TcpSegment) -> Self {
        let syn = segment.has(TcpSegment::SYN);
        let before_first = (ORIGIN - BEFORE_FIRST, ORIGIN);
        TcpSequence {
            edge: ORIGIN,
            edge_number: segment.seq.wrapping_add(u32::from(syn)),
            initial: syn.then_some(segment.seq),
            holes: if syn { Vec::new() } else { vec![before_first] },
            forgotten: (0, 0),
            ack: segment.ack,
        }
    }

    /// Ranges not seen yet.
    pub(super) fn holes(&self) -> usize {
        self.holes.len()
    }

    /// Splits a segment's payload into bytes that are new and bytes that were seen before, remembering at most
    /// `most_holes`.
    pub(super) fn observe(&mut self, segment: &TcpSegment, payload: u32, most_holes: usize) -> NewBytes {
        let split = self.split(segment, payload);
        if (segment.ack.wrapping_sub(self.ack) as i32) > 0 {
            self.ack = segment.ack;
        }
        let surplus = self.holes.len().saturating_sub(most_holes);
        for (from, to) in self.holes.drain(..surplus).filter(|hole| hole.0 >= ORIGIN) {
            self.forgotten = (self.forgotten.0 + (to - from), to);
        }
        split
    }

    /// Bytes that never came by, though the other side, `receiver`, acknowledged them: lost by the capture. A hole that was
    /// forgotten counts; what would have filled it later than [`MOST_HOLES`] further holes is no retransmission.
    pub(super) fn never_captured(&self, receiver: &TcpSequence) -> u64 {
        let ahead = receiver.ack.wrapping_sub(self.edge_number) as i32;
        let acknowledged = self.edge.saturating_add_signed(i64::from(ahead));
        // Before the first segment that was captured there is no hole of the capture.
        let missing = |hole: &&(u64, u64)| hole.0 >= ORIGIN && hole.1 <= acknowledged;
        let holes = self.holes.iter().filter(missing).map(|(from, to)| to - from);
        let forgotten = if self.forgotten.1 <= acknowledged {
            self.forgotten.0
        } else {
            0
        };
        forgotten + holes.sum::<u64>()
    }

    fn split(&mut self, segment: &TcpSegment, payload: u32) -> NewBytes {
        let syn = segment.has(TcpSegment::SYN);
        // A SYN occupies one number before its data (RFC 9293 §3.4).
        let number = segment.seq.wrapping_add(u32::from(syn));
        let distance = number.wrapping_sub(self.edge_number) as i32;
        let reused = syn && self.initial != Some(segment.seq);
        if reused || distance.unsigned_abs() > FARTHEST.unsigned_abs() {
            *self = TcpSequence::starting_with(segment);
            return self.observe_at(0, payload);
        }
        if self.is_keep_alive(segment, payload, distance) {
            return NewBytes::default();
        }
        self.observe_at(distance, payload)
    }

    /// One byte just below the edge, not pushed (RFC 9293 §3.8.4): a retransmitted single byte carries PSH.
    fn is_keep_alive(&self, segment: &TcpSegment, payload: u32, distance: i32) -> bool {
        let data_flags = TcpSegment::PSH | TcpSegment::SYN | TcpSegment::FIN;
        payload == 1 && distance == -1 && segment.flags & data_flags == 0
    }

    /// `distance`: from the edge to the first payload byte.
    fn observe_at(&mut self, distance: i32, payload: u32) -> NewBytes {
        if payload == 0 {
            return NewBytes::default();
        }
        let start = self.edge.saturating_add_signed(i64::from(distance));
        let end = start + u64::from(payload);
        let filled = if start < self.edge {
            self.fill(start, end.min(self.edge))
        } else {
            0
        };
        let beyond = end.saturating_sub(start.max(self.edge));
        if start > self.edge {
            self.holes.push((self.edge, start));
        }
        if end > self.edge {
            self.edge_number = self.edge_number.wrapping_add((end - self.edge) as u32);
            self.edge = end;
        }
        // Both parts lie within the payload.
        let new = u32::try_from(filled + beyond).unwrap_or(payload).min(payload);
        NewBytes {
            new,
            retransmitted: payload - new,
        }
    }

    /// Takes [start, end) out of the holes; the bytes that it filled.
    fn fill(&mut self, start: u64, end: u64) -> u64 {
        if self.holes.last().is_none_or(|hole| hole.1 <= start) {
            return 0;
        }
        let mut filled = 0;
        let mut left = Vec::with_capacity(self.holes.len() + 1);
        for &(from, to) in &self.holes {
            let (cut_from, cut_to) = (from.max(start), to.min(end));
            if cut_from >= cut_to {
                left.push((from, to));
                continue;
            }
            filled += cut_to - cut_from;
            left.extend(
                [(from, cut_from), (cut_to, to)]
                    .into_iter()
                    .filter(|(a, b)| a < b),
            );
        }
        self.holes = left;
        filled
    }
}

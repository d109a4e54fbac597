//! The send sequence space of one side of a connection (RFC 9293 §3.3.1), as the capture sees it: what it sends, and what the other
//! side acknowledges.

use super::identification::IdentificationCounter;
use super::retransmission_queue::{MOST_COPIES, MOST_WAITING, RetransmissionQueue, Transmitted};
use super::rtt::{INITIAL_RTO, RttEstimator};
use super::send_mark::SendMark;
use super::sender_clock::SenderClock;
use super::sequence_gaps::{SequenceGap, SequenceGaps};
use crate::packet::TcpHeader;
use crate::segment::{Fate, Segment, SegmentKind};
use crate::table::Ranges;
use rekeyscope_model::time::Timestamp;
use std::collections::VecDeque;

/// A side that was under way may have sent so far below its first packet before the capture: a usual window.
const BEFORE_FIRST: u64 = 1 << 20;
/// No window is larger (RFC 7323 §2.3): what is further away belongs to another connection.
pub(super) const FARTHEST: u32 = 1 << 30;
/// After a rest that outlasts TIME-WAIT, what is further away than a usual window belongs to another connection.
const FARTHEST_AFTER_REST: u32 = 1 << 24;

/// Facts of the other parts of the tracker at the time when a side sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SendContext {
    /// The whole round trip, as far as it is known.
    pub(crate) round_trip: Option<i64>,
    /// The receiver's last window was zero.
    pub(crate) window_closed: bool,
    /// Transmissions that may wait.
    pub(crate) most_waiting: usize,
    /// A whole initial window of packets of its security association did not reach the capture right before it.
    pub(crate) window_missing: bool,
}

/// An acknowledgement that advanced SND.UNA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Advance {
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    /// SND.UNA behind it.
    pub(crate) ack: u64,
}

/// One side of a connection.
#[derive(Debug, Default)]
pub(crate) struct SendSequence {
    /// ISS, where the SYN was seen.
    pub(crate) initial: Option<u32>,
    /// The number on the wire of [`Segment::ORIGIN`].
    pub(super) origin: u32,
    /// SND.NXT: behind the highest byte that the capture showed.
    pub(crate) nxt: u64,
    /// SND.UNA: behind the highest byte that was acknowledged.
    pub(crate) una: u64,
    pub(super) started: bool,
    /// The first byte that the capture showed; `None` before any.
    pub(super) first: Option<u64>,
    pub(super) gaps: SequenceGaps,
    pub(super) queue: RetransmissionQueue,
    /// The last acknowledgements that advanced SND.UNA, in order.
    pub(super) advances: VecDeque<Advance>,
    /// Bytes beyond SND.UNA that were acknowledged selectively.
    pub(super) sacked: Ranges,
    pub(crate) rtt: RttEstimator,
    /// Time that the last hole stood until a copy filled it, nanoseconds, without a timer's back-off: no less than the round trip of the whole path,
    /// with its queues.
    hole: i64,
    pub(crate) ids: IdentificationCounter,
    pub(crate) clock: SenderClock,
    /// This side's last packet offered none.
    pub(crate) window_closed: bool,
    /// The last packet, for captures that have packets twice without ESP numbers to tell.
    pub(super) last_packet: (u32, u32, u32, u16),
    /// The side sends no more (FIN).
    pub(crate) finished: bool,
}

impl SendSequence {
    /// The last acknowledgement that advanced SND.UNA.
    pub(crate) fn last_advance(&self) -> Option<Advance> {
        self.advances.back().copied()
    }

    /// Bytes that are neither acknowledged nor acknowledged selectively.
    pub(crate) fn in_flight(&self) -> u64 {
        self.nxt
            .saturating_sub(self.una)
            .saturating_sub(self.sacked.total())
    }

    /// Distance of a segment's first byte from SND.NXT, bytes: negative where it begins below.
    pub(crate) fn distance(&self, header: &TcpHeader) -> i64 {
        i64::from(header.seq.wrapping_sub(self.wire(self.nxt)).cast_signed())
    }

    /// Time at which the highest byte was sent first.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        self.queue.newest().map(|sent| sent.first.time)
    }

    /// Transmissions that are kept.
    pub(crate) fn kept(&self) -> usize {
        self.queue.len()
    }

    /// Transmissions that nobody acknowledged.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Transmitted> {
        self.queue.waiting()
    }

    /// All that waits is given up.
    pub(crate) fn abandon(&mut self, mut settled: impl FnMut(&Transmitted, &SendMark, Fate)) {
        for sent in self.queue.waiting() {
            sent.marks().for_each(|mark| settled(sent, mark, Fate::Abandoned));
        }
        self.queue.clear();
    }

    /// A segment that cannot be of this connection.
    #[inline]
    pub(crate) fn is_foreign(&self, header: &TcpHeader, rested: bool) -> bool {
        if !self.started {
            return false;
        }
        if header.has(TcpHeader::SYN) {
            return match self.initial {
                Some(initial) => initial != header.seq,
                // A SYN that its data overtook.
                None => self.place(header.seq) + 1 != self.first.unwrap_or(self.una),
            };
        }
        let distance = header
            .seq
            .wrapping_sub(self.wire(self.nxt))
            .cast_signed()
            .unsigned_abs();
        distance > FARTHEST || rested && distance > FARTHEST_AFTER_REST
    }

    /// The same packet as the last one, by all that a copy cannot change and a retransmission does.
    pub(crate) fn is_same_packet(&mut self, header: &TcpHeader, ip_id: u16) -> bool {
        let packet = (header.seq, header.ack, header.len, ip_id);
        let before = std::mem::replace(&mut self.last_packet, packet);
        ip_id != 0 && before == packet
    }

    pub(super) fn wire(&self, position: u64) -> u32 {
        self.origin.wrapping_add(position as u32)
    }

    /// A number of the wire, unwrapped.
    #[inline]
    pub(super) fn place(&self, number: u32) -> u64 {
        let ahead = number.wrapping_sub(self.wire(self.nxt)).cast_signed();
        self.nxt.saturating_add_signed(i64::from(ahead))
    }

    pub(super) fn start(&mut self, number: u32) {
        self.started = true;
        self.origin = number;
        self.nxt = Segment::ORIGIN;
        self.una = Segment::ORIGIN;
    }

    /// The side sends a segment; writes down what it is.
    #[inline]
    pub(crate) fn send(
        &mut self,
        header: &TcpHeader,
        mark: &SendMark,
        around: &SendContext,
        segment: &mut Segment,
        settled: impl FnMut(&Transmitted, &SendMark, Fate),
    ) {
        if !self.started {
            self.start(header.seq);
        }
        let len = header.sequence_len();
        let start = self.place(header.seq);
        segment.seq = start;
        if len == 0 {
            segment.kind = self.kind_of_nothing(start, header);
            return;
        }
        if self.first.is_none() {
            self.begin(start, header, mark);
        }
        if header.flags & (TcpHeader::SYN | TcpHeader::FIN) != 0 {
            self.control(header);
        }
        if start < self.nxt {
            self.send_below(header, mark, around, segment, settled);
            return;
        }
        segment.gap = start - self.nxt;
        if segment.gap > 0 {
            self.gaps.push(SequenceGap {
                start: self.nxt,
                end: start,
                beyond: *mark,
                before_capture: false,
                acknowledged: false,
            });
        }
        let probes = header.len == 1 && around.window_closed && len == 1;
        let control = (header.has(TcpHeader::SYN), header.has(TcpHeader::FIN));
        let mut whole = Transmitted::new(start, start + len, control, *mark);
        whole.beyond_gap = segment.gap > 0 || around.window_missing;
        self.append(whole, mark, around, settled);
        segment.new = header.len;
        segment.kind = match probes {
            true => SegmentKind::WindowProbe,
            false => SegmentKind::InOrder,
        };
    }

    fn control(&mut self, header: &TcpHeader) {
        if header.has(TcpHeader::SYN) {
            self.initial = Some(header.seq);
        }
        self.finished |= header.has(TcpHeader::FIN);
    }

    fn kind_of_nothing(&self, start: u64, header: &TcpHeader) -> SegmentKind {
        let before_next = start + 1 == self.nxt && self.first.is_some();
        match before_next && !header.has(TcpHeader::RST) {
            true => SegmentKind::KeepAlive,
            false => SegmentKind::Acknowledgement,
        }
    }

    /// The first byte of this side. What lies below was sent before the capture, or is still to come where the capture begins out of
    /// order.
    #[cold]
    fn begin(&mut self, start: u64, header: &TcpHeader, mark: &SendMark) {
        self.first = Some(start);
        self.nxt = start;
        if !header.has(TcpHeader::SYN) {
            self.gaps.push(SequenceGap {
                start: start - BEFORE_FIRST,
                end: start,
                beyond: *mark,
                before_capture: true,
                acknowledged: false,
            });
        }
    }

    #[inline]
    fn append(
        &mut self,
        mut sent: Transmitted,
        mark: &SendMark,
        around: &SendContext,
        mut settled: impl FnMut(&Transmitted, &SendMark, Fate),
    ) {
        self.nxt = sent.end;
        if sent.end <= self.una {
            // The acknowledgement of the segment was captured before the segment.
            sent.settled = true;
            settled(&sent, mark, Fate::Arrived);
        }
        if let Some(forgotten) = self.queue.push(sent, around.most_waiting.min(MOST_WAITING)) {
            let marks = forgotten.marks();
            marks.for_each(|mark| settled(&forgotten, mark, Fate::Abandoned));
        }
    }

    /// The side sends a segment that begins below SND.NXT.
    #[cold]
    #[inline(never)]
    fn send_below(
        &mut self,
        header: &TcpHeader,
        mark: &SendMark,
        around: &SendContext,
        segment: &mut Segment,
        mut settled: impl FnMut(&Transmitted, &SendMark, Fate),
    ) {
        let (start, end) = (segment.seq, segment.seq + header.sequence_len());
        let one = header.len == 1 && end == self.nxt && end - start == 1;
        if one && self.una >= self.nxt && !header.has(TcpHeader::PSH) {
            segment.kind = SegmentKind::KeepAlive;
            return;
        }
        let known = self.queue.find(start);
        if known.is_some_and(|known| known.marks().any(|copy| copy.is(mark))) {
            segment.kind = SegmentKind::Duplicate;
            return;
        }
        let gap = self.gaps.first_in(start, end.min(self.nxt)).copied();
        let beyond = gap.map(|gap| gap.beyond);
        let ids_count = self.ids.counts();
        let late = match (beyond, known) {
            // The packet that left the gap tells more than a neighbour does.
            (Some(beyond), _) => mark
                .was_sent_before(&beyond, ids_count)
                .unwrap_or_else(|| mark.is_soon_after(&beyond, around.round_trip)),
            (None, Some(known)) => mark.was_sent_before(&known.first, ids_count).unwrap_or(false),
            (None, None) => self.is_overtaken(mark),
        };
        let mut filled = Vec::new();
        self.gaps
            .fill(start, end.min(self.nxt), |from, to| filled.push((from, to)));
        let payload = (
            start + u64::from(header.has(TcpHeader::SYN)),
            end - u64::from(header.has(TcpHeader::FIN)),
        );
        let of_payload = |from: u64, to: u64| to.min(payload.1).saturating_sub(from.max(payload.0));
        let mut new: u64 = filled.iter().map(|(from, to)| of_payload(*from, *to)).sum();
        new += of_payload(self.nxt.max(start), end);
        segment.new = u32::try_from(new).unwrap_or(header.len).min(header.len);
        segment.kind = SegmentKind::Late;
        if !late {
            segment.kind = SegmentKind::Retransmission;
            segment.again = header.len - segment.new;
        }
        let unheard = self.unheard(start, mark.time, around.round_trip);
        let fate = (!late).then_some(Fate::Superfluous { unheard });
        self.note_copy(start, end.min(self.nxt), mark, fate, &mut settled);
        for (from, to) in filled {
            let control = (
                header.has(TcpHeader::SYN) && from == start,
                header.has(TcpHeader::FIN) && to == end,
            );
            let mut filler = Transmitted::new(from, to, control, *mark);
            filler.lacking_since = beyond.map_or(mark.time, |beyond| beyond.time);
            if !late {
                self.hole = mark.time.nanos_since(filler.lacking_since).min(INITIAL_RTO);
            }
            if to <= self.una || self.sacked.around(from).is_some_and(|range| range.1 >= to) {
                filler.settled = true;
                if late {
                    settled(&filler, mark, Fate::Arrived);
                }
            }
            if let Some(left) = self.queue.fill(filler).filter(|left| !left.settled) {
                settled(&left, &left.first, Fate::Abandoned);
            }
        }
        if end > self.nxt {
            let control = (false, header.has(TcpHeader::FIN));
            let rest = Transmitted::new(self.nxt, end, control, *mark);
            self.append(rest, mark, around, settled);
        }
    }

    /// Acknowledgements of bytes from `start` on that a sender should have heard.
    fn unheard(&self, start: u64, now: Timestamp, round_trip: Option<i64>) -> u32 {
        let round_trip = round_trip.unwrap_or(0).max(self.hole);
        let newest = self.advances.iter().rev();
        let of_it = newest.take_while(|advance| advance.ack > start);
        let old = of_it.filter(|advance| now.nanos_since(advance.time) > round_trip);
        u32::try_from(old.count()).unwrap_or(u32::MAX)
    }

    /// A segment that is forgotten is known by its number only.
    fn is_overtaken(&self, mark: &SendMark) -> bool {
        let newest = self.queue.newest();
        newest.is_some_and(|newest| mark.was_sent_before(&newest.first, false) == Some(true))
    }

    /// Remembers another copy of what was seen.
    fn note_copy(
        &mut self,
        start: u64,
        end: u64,
        mark: &SendMark,
        repeated_as: Option<Fate>,
        settled: &mut impl FnMut(&Transmitted, &SendMark, Fate),
    ) {
        let mut superfluous = None;
        self.queue.cut((start, end), mark.len);
        self.queue.overlapping(start, end, |sent| {
            if sent.settled {
                superfluous.get_or_insert((sent.start, sent.end, (sent.syn, sent.fin)));
                sent.copies.truncate(MOST_COPIES - 1);
                sent.copies.push(*mark);
                return;
            }
            superfluous = Some((0, 0, (false, false)));
            if sent.copies.len() >= MOST_COPIES {
                let oldest = sent.copies.remove(0);
                settled(sent, &oldest, Fate::Swallowed);
            }
            sent.copies.push(*mark);
        });
        // Nothing of it was waiting: the sender did not hear that it had arrived.
        let repeated = match superfluous {
            Some((0, 0, _)) => return,
            Some(range) => range,
            None if end <= self.una && start < end => (start, end, (false, false)),
            None => return,
        };
        if let Some(fate) = repeated_as {
            let (from, to, control) = repeated;
            settled(&Transmitted::new(from, to, control, *mark), mark, fate);
        }
    }
}

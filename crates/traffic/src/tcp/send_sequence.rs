//! The send sequence space of one side of a connection (RFC 9293 §3.3.1), as the capture sees it: what it sends, and what the other
//! side acknowledges.

use super::identification::IdentificationCounter;
use super::retransmission_queue::{MOST_COPIES, MOST_WAITING, RetransmissionQueue, Transmitted};
use super::rtt::RttEstimator;
use super::send_mark::SendMark;
use super::sequence_gaps::{SequenceGap, SequenceGaps};
use crate::packet::TcpHeader;
use crate::segment::{Acknowledgement, Fate, Segment, SegmentKind};
use crate::table::Ranges;
use rekeyscope_model::time::Timestamp;
use std::collections::VecDeque;

/// So far below its first packet a side that was under way may have sent before the capture: a usual window.
const BEFORE_FIRST: u64 = 1 << 20;
/// No window is larger (RFC 7323 §2.3): what is further away belongs to another connection.
const FARTHEST: u32 = 1 << 30;
/// After a rest that outlasts TIME-WAIT, what is further away than a usual window belongs to another connection.
const FARTHEST_AFTER_REST: u32 = 1 << 24;
/// Acknowledgements that are kept: of more, a sender that heard none of them has repeated something.
const MOST_ADVANCES: usize = 32;
/// The copy that arrived was sent at least so many tenths of the least round trip before its acknowledgement.
const TENTHS_OF_LEAST: i64 = 8;

/// What the other parts of the tracker know when a side sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SendContext {
    /// The whole round trip, as far as it is known.
    pub(crate) round_trip: Option<i64>,
    /// The receiver's last window was zero.
    pub(crate) window_closed: bool,
    /// Transmissions that may wait.
    pub(crate) most_waiting: usize,
}

/// What one segment was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentSegment {
    pub(crate) seq: u64,
    pub(crate) kind: SegmentKind,
    pub(crate) new: u32,
    pub(crate) again: u32,
    pub(crate) repeats: Option<u64>,
}

/// A packet that acknowledges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AckSource {
    pub(crate) time: Timestamp,
    /// TSecr.
    pub(crate) echo: Option<u32>,
}

/// One side of a connection.
#[derive(Debug, Default)]
pub(crate) struct SendSequence {
    /// ISS, where the SYN was seen.
    pub(crate) initial: Option<u32>,
    /// The number on the wire of [`Segment::ORIGIN`].
    origin: u32,
    /// SND.NXT: behind the highest byte that the capture showed.
    nxt: u64,
    /// SND.UNA: behind the highest byte that was acknowledged.
    una: u64,
    started: bool,
    /// The first byte that the capture showed; `None` before any.
    first: Option<u64>,
    gaps: SequenceGaps,
    queue: RetransmissionQueue,
    /// The last acknowledgements that advanced SND.UNA, in order: when, and to where.
    advances: VecDeque<(Timestamp, u64)>,
    /// Bytes beyond SND.UNA that were acknowledged selectively.
    sacked: Ranges,
    /// RecoveryPoint (RFC 6675): recovery lasts until this byte is acknowledged.
    recovery_point: Option<u64>,
    pub(crate) rtt: RttEstimator,
    pub(crate) ids: IdentificationCounter,
    /// Shift of the window scale option of its SYN.
    pub(crate) window_scale: Option<u8>,
    /// This side's last packet offered none.
    pub(crate) window_closed: bool,
    /// The last packet, for captures that have packets twice without ESP numbers to tell.
    last_packet: (u32, u32, u32, u16),
    /// It sends no more (FIN).
    pub(crate) finished: bool,
}

impl SendSequence {
    /// SND.NXT.
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// SND.UNA.
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// Bytes that are neither acknowledged nor acknowledged selectively.
    pub(crate) fn in_flight(&self) -> u64 {
        self.nxt
            .saturating_sub(self.una)
            .saturating_sub(self.sacked.total())
    }

    /// The end of the recovery that is under way.
    pub(crate) fn recovery_point(&self) -> Option<u64> {
        self.recovery_point
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

    fn wire(&self, position: u64) -> u32 {
        self.origin.wrapping_add(position as u32)
    }

    /// A number of the wire, unwrapped.
    #[inline]
    fn place(&self, number: u32) -> u64 {
        let ahead = number.wrapping_sub(self.wire(self.nxt)).cast_signed();
        self.nxt.saturating_add_signed(i64::from(ahead))
    }

    fn start(&mut self, number: u32) {
        self.started = true;
        self.origin = number;
        self.nxt = Segment::ORIGIN;
        self.una = Segment::ORIGIN;
    }

    /// The side sends a segment.
    #[inline]
    pub(crate) fn send(
        &mut self,
        header: &TcpHeader,
        mark: &SendMark,
        around: &SendContext,
        settled: impl FnMut(&Transmitted, &SendMark, Fate),
    ) -> SentSegment {
        if !self.started {
            self.start(header.seq);
        }
        let len = header.sequence_len();
        let start = self.place(header.seq);
        if len == 0 {
            return self.send_nothing(start, header);
        }
        if self.first.is_none() {
            self.begin(start, header, mark);
        }
        if header.flags & (TcpHeader::SYN | TcpHeader::FIN) != 0 {
            self.control(header);
        }
        if start < self.nxt {
            return self.send_below(start, header, mark, around, settled);
        }
        if start > self.nxt {
            self.gaps.push(SequenceGap {
                start: self.nxt,
                end: start,
                beyond: *mark,
                before_capture: false,
                acknowledged: false,
            });
        }
        let probes = header.len == 1 && around.window_closed && len == 1;
        self.append(start, start + len, header, mark, around, settled);
        SentSegment {
            seq: start,
            kind: if probes {
                SegmentKind::WindowProbe
            } else {
                SegmentKind::InOrder
            },
            new: header.len,
            again: 0,
            repeats: None,
        }
    }

    fn control(&mut self, header: &TcpHeader) {
        if header.has(TcpHeader::SYN) {
            self.initial = Some(header.seq);
            self.window_scale = header.window_scale;
        }
        self.finished |= header.has(TcpHeader::FIN);
    }

    fn send_nothing(&self, start: u64, header: &TcpHeader) -> SentSegment {
        let before_next = start + 1 == self.nxt && self.first.is_some();
        SentSegment {
            seq: start,
            kind: if before_next && !header.has(TcpHeader::RST) {
                SegmentKind::KeepAlive
            } else {
                SegmentKind::Acknowledgement
            },
            new: 0,
            again: 0,
            repeats: None,
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
        start: u64,
        end: u64,
        header: &TcpHeader,
        mark: &SendMark,
        around: &SendContext,
        mut settled: impl FnMut(&Transmitted, &SendMark, Fate),
    ) {
        self.nxt = end;
        let mut sent = Transmitted::new(start, end, header.has(TcpHeader::SYN), *mark);
        if end <= self.una {
            // Its acknowledgement was captured before it.
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
        start: u64,
        header: &TcpHeader,
        mark: &SendMark,
        around: &SendContext,
        mut settled: impl FnMut(&Transmitted, &SendMark, Fate),
    ) -> SentSegment {
        let end = start + header.sequence_len();
        let mut sent = SentSegment {
            seq: start,
            kind: SegmentKind::Retransmission,
            new: 0,
            again: 0,
            repeats: None,
        };
        let one = header.len == 1 && end == self.nxt && end - start == 1;
        if one && self.una >= self.nxt && !header.has(TcpHeader::PSH) {
            sent.kind = SegmentKind::KeepAlive;
            return sent;
        }
        let known = self.queue.find(start);
        if known.is_some_and(|known| known.marks().any(|copy| copy.is(mark))) {
            sent.kind = SegmentKind::Duplicate;
            return sent;
        }
        sent.repeats = known.map(|known| known.first.frame);
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
        sent.new = u32::try_from(new).unwrap_or(header.len).min(header.len);
        if late {
            sent.kind = SegmentKind::Late;
            sent.repeats = None;
        } else {
            sent.again = header.len - sent.new;
            self.recovery_point.get_or_insert(self.nxt);
        }
        let unheard = self.unheard(start, mark.time, around.round_trip);
        let fate = (!late).then_some(Fate::Superfluous { unheard });
        self.note_copy(start, end.min(self.nxt), mark, fate, &mut settled);
        for (from, to) in filled {
            let mut filler = Transmitted::new(from, to, header.has(TcpHeader::SYN), *mark);
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
            let from = self.nxt;
            self.append(from, end, header, mark, around, settled);
        }
        sent
    }

    /// Acknowledgements of bytes from `start` on that a sender should have heard.
    fn unheard(&self, start: u64, now: Timestamp, round_trip: Option<i64>) -> u32 {
        let round_trip = round_trip.unwrap_or(0);
        let newest = self.advances.iter().rev();
        let of_it = newest.take_while(|(_, ack)| *ack > start);
        let old = of_it.filter(|(time, _)| now.nanos_since(*time) > round_trip);
        u32::try_from(old.count()).unwrap_or(u32::MAX)
    }

    /// Of a segment that is forgotten nothing but its number tells.
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
        self.queue.overlapping(start, end, |sent| {
            if sent.settled {
                superfluous.get_or_insert((sent.start, sent.end, sent.syn));
                sent.copies.truncate(MOST_COPIES - 1);
                sent.copies.push(*mark);
                return;
            }
            superfluous = Some((0, 0, false));
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
            None if end <= self.una && start < end => (start, end, false),
            None => return,
        };
        if let Some(fate) = repeated_as {
            let (from, to, syn) = repeated;
            settled(&Transmitted::new(from, to, syn, *mark), mark, fate);
        }
    }

    /// The other side acknowledges.
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        header: &TcpHeader,
        source: &AckSource,
        mut settled: impl FnMut(&Transmitted, &SendMark, Fate),
    ) -> Acknowledgement {
        if !self.started {
            self.start(header.ack);
        }
        let ack = self.place(header.ack);
        let mut told = Acknowledgement {
            ack,
            ..Acknowledgement::default()
        };
        let is_near = header
            .ack
            .wrapping_sub(self.wire(self.nxt))
            .cast_signed()
            .unsigned_abs()
            <= FARTHEST;
        if ack > self.una && is_near {
            self.advance(&mut told, source, &mut settled);
        }
        if !header.sack.as_slice().is_empty() {
            self.scoreboard(header, &mut told, source, &mut settled);
        }
        told
    }

    #[inline]
    fn advance(
        &mut self,
        told: &mut Acknowledgement,
        source: &AckSource,
        settled: &mut impl FnMut(&Transmitted, &SendMark, Fate),
    ) {
        let (ack, una) = (told.ack, self.una);
        told.advanced = ack - una;
        if self.advances.len() >= MOST_ADVANCES {
            self.advances.pop_front();
        }
        self.advances.push_back((source.time, ack));
        let least = self.rtt.min;
        let mut newest = None;
        self.queue.acknowledge(una, ack, |sent| {
            if sent.settled {
                return;
            }
            // Only the segment at the left edge says what the echo is of (RFC 7323 §4.3).
            let echo = source.echo.filter(|_| sent.start <= una);
            let sample = settle(sent, source, (least, echo), settled);
            newest = sample.or(newest);
        });
        if let Some(sample) = newest {
            self.rtt.sample(sample);
        }
        self.una = ack;
        if !self.gaps.is_empty() {
            told.unseen = self.gaps.acknowledge(ack);
        }
        if !self.sacked.is_empty() {
            self.sacked.forget_below(ack);
        }
        if self.recovery_point.is_some_and(|point| ack >= point) {
            self.recovery_point = None;
        }
    }

    /// Updates the scoreboard (RFC 6675 §4, Update).
    #[cold]
    #[inline(never)]
    fn scoreboard(
        &mut self,
        header: &TcpHeader,
        told: &mut Acknowledgement,
        source: &AckSource,
        settled: &mut impl FnMut(&Transmitted, &SendMark, Fate),
    ) {
        let blocks = header.sack.as_slice();
        let mut ranges = [(0, 0); crate::packet::MOST_SACK_BLOCKS];
        for (range, (left, right)) in ranges.iter_mut().zip(blocks) {
            *range = (self.place(*left), self.place(*right));
        }
        // RFC 2883 §4: the first block tells of a duplicate if it lies below the acknowledgement or within the second.
        let (first, second) = (ranges[0], ranges[1]);
        let inside = blocks.len() > 1 && second.0 <= first.0 && first.1 <= second.1;
        told.duplicate = first.1 <= told.ack || inside;
        let least = self.rtt.min;
        let SendSequence {
            sacked,
            queue,
            una,
            nxt,
            rtt,
            ..
        } = self;
        for &(left, right) in ranges.get(..blocks.len()).unwrap_or_default() {
            let (left, right) = (left.max(*una), right.min(*nxt));
            sacked.add(left, right, |from, to| {
                told.sacked += to - from;
                queue.within(from, to, |sent| {
                    if !sent.settled
                        && let Some(sample) = settle(sent, source, (least, None), settled)
                    {
                        rtt.sample(sample);
                    }
                });
            });
        }
    }
}

/// An acknowledgement covers a segment for the first time. The copy that arrived is the latest one that is old enough. Gives the round
/// trip time, where it is known which copy was answered (Karn).
#[inline]
fn settle(
    sent: &mut Transmitted,
    source: &AckSource,
    (least, echo): (Option<i64>, Option<u32>),
    settled: &mut impl FnMut(&Transmitted, &SendMark, Fate),
) -> Option<i64> {
    sent.settled = true;
    if sent.copies.is_empty() {
        settled(sent, &sent.first, Fate::Arrived);
        return Some(source.time.nanos_since(sent.first.time));
    }
    settle_copies(sent, source, (least, echo), settled)
}

#[cold]
#[inline(never)]
fn settle_copies(
    sent: &mut Transmitted,
    source: &AckSource,
    (least, echo): (Option<i64>, Option<u32>),
    settled: &mut impl FnMut(&Transmitted, &SendMark, Fate),
) -> Option<i64> {
    let wait = least.unwrap_or(0) / 10 * TENTHS_OF_LEAST;
    let old_enough = |mark: &SendMark| source.time.nanos_since(mark.time) >= wait;
    let echoed = echo.and_then(|echo| {
        let mut own = sent
            .marks()
            .enumerate()
            .filter(|(_, mark)| mark.timestamp == Some(echo));
        let only = own.next()?;
        own.next().is_none().then_some(only.0)
    });
    let latest = sent
        .marks()
        .enumerate()
        .filter(|(_, mark)| old_enough(mark))
        .last();
    let arrived = echoed.or(latest.map(|(k, _)| k)).unwrap_or(0);
    for (k, mark) in sent.marks().enumerate() {
        let fate = match k.cmp(&arrived) {
            std::cmp::Ordering::Less => Fate::Swallowed,
            std::cmp::Ordering::Equal => Fate::Arrived,
            std::cmp::Ordering::Greater => Fate::Superfluous { unheard: 0 },
        };
        settled(sent, mark, fate);
    }
    let answered = echoed.and_then(|k| sent.marks().nth(k))?;
    Some(source.time.nanos_since(answered.time))
}

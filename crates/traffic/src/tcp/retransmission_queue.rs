//! The retransmission queue (RFC 9293 §3.4): transmissions until they are acknowledged, and for a while after, so that a spurious
//! retransmission and a late original are known as what they are.

use super::send_mark::SendMark;
use rekeyscope_model::time::Timestamp;
use std::collections::{BTreeMap, VecDeque};

/// Most transmissions of one side that wait: a window of 11 MB in segments of 1,400 bytes. Beyond, the oldest is forgotten.
pub(super) const MOST_WAITING: usize = 1 << 13;
/// Acknowledged ones that are kept at least.
const MOST_SETTLED: usize = 256;
/// Settled transmissions are dropped so many at once.
const SURPLUS: usize = 64;
/// Copies of one segment that are kept: timers double, so that eight take a minute. Beyond, the oldest copy is settled at once.
pub(super) const MOST_COPIES: usize = 16;
/// Segments that one retransmission is taken for a copy of: 64 KiB of full-sized ones (a network card merges no more).
const MOST_SPANNED: usize = 64;
/// A queue that has more room than this gives it back once three quarters are unused.
const SMALL: usize = 64;

/// A range of sequence space that was sent as one segment.
#[derive(Debug)]
pub(crate) struct Transmitted {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The segment opens the connection.
    pub(crate) syn: bool,
    /// True where the segment closes its side of the connection.
    pub(crate) fin: bool,
    /// True where the segment was sent beyond bytes that the capture had not shown.
    pub(crate) beyond_gap: bool,
    /// Time since which the receiver lacks the bytes, as far as the capture shows.
    pub(crate) lacking_since: Timestamp,
    /// True where the outcome of the transmission is known.
    pub(crate) settled: bool,
    /// The first packet of the capture with it.
    pub(crate) first: SendMark,
    /// Further ones, in the order of the capture.
    pub(crate) copies: Vec<SendMark>,
}

impl Transmitted {
    pub(super) fn new(start: u64, end: u64, (syn, fin): (bool, bool), first: SendMark) -> Self {
        Transmitted {
            start,
            end,
            syn,
            fin,
            beyond_gap: false,
            lacking_since: first.time,
            settled: false,
            first,
            copies: Vec::new(),
        }
    }

    /// Splits off what lies from `at` on, which was sent in the same packets: these are told of with the first part.
    fn split_off(&mut self, at: u64) -> Transmitted {
        let again = |mark: &SendMark| SendMark {
            told_before: true,
            ..*mark
        };
        let rest = Transmitted {
            start: at,
            fin: self.fin,
            syn: false,
            first: again(&self.first),
            copies: self.copies.iter().map(again).collect(),
            ..*self
        };
        (self.end, self.fin) = (at, false);
        rest
    }

    /// All transmissions, in the order of the capture.
    pub(crate) fn marks(&self) -> impl DoubleEndedIterator<Item = &SendMark> {
        std::iter::once(&self.first).chain(&self.copies)
    }
}

/// The transmissions of one side.
#[derive(Debug, Default)]
pub(super) struct RetransmissionQueue {
    /// In order, by sequence number.
    in_order: VecDeque<Transmitted>,
    /// Number of transmissions at the front of `in_order` that are below SND.UNA.
    acknowledged: usize,
    /// Transmissions that filled gaps, by sequence number.
    fillers: BTreeMap<u64, Transmitted>,
}

impl RetransmissionQueue {
    pub(super) fn len(&self) -> usize {
        self.in_order.len() + self.fillers.len()
    }

    /// Adds one at SND.NXT. Gives the one that has to be forgotten, where `most` are waiting.
    #[inline]
    pub(super) fn push(&mut self, sent: Transmitted, most: usize) -> Option<Transmitted> {
        let waiting = self.in_order.len() - self.acknowledged;
        let forgotten = if waiting >= most {
            self.acknowledged = self.acknowledged.saturating_sub(1);
            self.in_order.pop_front()
        } else {
            None
        };
        self.in_order.push_back(sent);
        forgotten.filter(|sent| !sent.settled)
    }

    /// Adds one that filled a gap. At the bound it is not kept: gives it back.
    pub(super) fn fill(&mut self, sent: Transmitted) -> Option<Transmitted> {
        if self.fillers.len() >= MOST_WAITING {
            return Some(sent);
        }
        self.fillers.insert(sent.start, sent)
    }

    /// The one that a sequence number lies in.
    pub(super) fn find(&self, seq: u64) -> Option<&Transmitted> {
        let at = self.in_order.partition_point(|sent| sent.end <= seq);
        let in_order = self.in_order.get(at).filter(|sent| sent.start <= seq);
        in_order.or_else(|| {
            let filler = self.fillers.range(..=seq).next_back().map(|(_, sent)| sent);
            filler.filter(|sent| sent.end > seq)
        })
    }

    /// A sender repeats a range in a packet of `len`: where it cuts what it had sent as a larger one, the part that comes again is settled apart
    /// from the rest.
    pub(super) fn cut(&mut self, (start, end): (u64, u64), len: u32) {
        for at in [start, end] {
            let room = self.in_order.len() < MOST_WAITING;
            let place = self.in_order.partition_point(|sent| sent.end <= at);
            let whole = self.in_order.get_mut(place).filter(|sent| sent.start < at);
            let whole = whole.filter(|sent| room && !sent.settled && len < sent.first.len);
            if let Some(rest) = whole.map(|sent| sent.split_off(at)) {
                self.in_order.insert(place + 1, rest);
            }
        }
    }

    /// Calls `with` for those that overlap a range.
    pub(super) fn overlapping(&mut self, start: u64, end: u64, mut with: impl FnMut(&mut Transmitted)) {
        let from = self.in_order.partition_point(|sent| sent.end <= start);
        let in_order = self.in_order.iter_mut().skip(from);
        in_order
            .take_while(|sent| sent.start < end)
            .take(MOST_SPANNED)
            .for_each(&mut with);
        if self.fillers.is_empty() {
            return;
        }
        let first = self.first_filler(start);
        let fillers = self.fillers.range_mut(first..end.max(first));
        fillers.map(|(_, sent)| sent).take(MOST_SPANNED).for_each(with);
    }

    /// The key of the first filler that reaches beyond a number; the number, where none before it does.
    fn first_filler(&self, start: u64) -> u64 {
        let before = self.fillers.range(..=start).next_back();
        let reaches = before.filter(|(_, sent)| sent.end > start);
        reaches.map_or(start, |(key, _)| *key)
    }

    /// Calls `with` for those that lie in a range wholly; each range is asked for once, so that all of it is walked.
    pub(super) fn within(&mut self, start: u64, end: u64, mut with: impl FnMut(&mut Transmitted)) {
        let from = self.in_order.partition_point(|sent| sent.start < start);
        let in_order = self.in_order.iter_mut().skip(from);
        in_order.take_while(|sent| sent.end <= end).for_each(&mut with);
        let fillers = self.fillers.range_mut(start..end.max(start));
        fillers
            .map(|(_, sent)| sent)
            .filter(|sent| sent.end <= end)
            .for_each(with);
    }

    /// SND.UNA advances from `una` to `ack`: calls `with` for those that lie below, in order.
    #[inline]
    pub(super) fn acknowledge(&mut self, una: u64, ack: u64, mut with: impl FnMut(&mut Transmitted)) {
        while let Some(sent) = self.in_order.get_mut(self.acknowledged)
            && sent.end <= ack
        {
            with(sent);
            self.acknowledged += 1;
        }
        if !self.fillers.is_empty() {
            self.acknowledge_fillers(una, ack, with);
        }
        let surplus = self.acknowledged.saturating_sub(MOST_SETTLED);
        if surplus >= SURPLUS {
            self.in_order.drain(..surplus);
            self.acknowledged -= surplus;
            if self.in_order.capacity() > SMALL && self.in_order.len() * 4 < self.in_order.capacity() {
                self.in_order.shrink_to(self.in_order.len() * 2);
            }
        }
    }

    #[cold]
    fn acknowledge_fillers(&mut self, una: u64, ack: u64, with: impl FnMut(&mut Transmitted)) {
        let first = self.first_filler(una);
        let below = self.fillers.range_mut(first..ack.max(first));
        below
            .map(|(_, sent)| sent)
            .filter(|sent| sent.end <= ack)
            .for_each(with);
        // A late one that is older than all that is kept in order goes too.
        let oldest = self.in_order.front().map_or(ack, |sent| sent.start).min(ack);
        while let Some(entry) = self.fillers.first_entry()
            && entry.get().end <= oldest
        {
            entry.remove();
        }
        while self.fillers.len() > MOST_SETTLED
            && let Some(entry) = self.fillers.first_entry()
            && entry.get().end <= ack
        {
            entry.remove();
        }
    }

    /// The one with the highest sequence number.
    pub(super) fn newest(&self) -> Option<&Transmitted> {
        self.in_order.back()
    }

    /// The transmissions that wait, in order of sequence numbers within two groups.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Transmitted> {
        let in_order = self.in_order.iter().skip(self.acknowledged);
        in_order.chain(self.fillers.values()).filter(|sent| !sent.settled)
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = RetransmissionQueue::default();
    }
}

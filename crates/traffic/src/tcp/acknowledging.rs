//! Acknowledgements of a side's data: SND.UNA advances (RFC 9293), the scoreboard (RFC 6675), and which copy arrived.

use super::retransmission_queue::Transmitted;
use super::rtt::most_of_a_round_trip;
use super::send_mark::SendMark;
use super::send_sequence::{Advance, FARTHEST, SendSequence};
use crate::packet::{MOST_SACK_BLOCKS, TcpHeader};
use crate::segment::{Acknowledgement, Fate};
use rekeyscope_model::time::Timestamp;

/// Acknowledgements that are kept: of more, a sender that heard none of them has repeated something.
const MOST_ADVANCES: usize = 32;

/// A packet that acknowledges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AckSource {
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    /// TSecr.
    pub(crate) echo: Option<u32>,
}

impl SendSequence {
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
            self.scoreboard(header, source, &mut settled);
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
        if self.advances.len() >= MOST_ADVANCES {
            self.advances.pop_front();
        }
        self.advances.push_back(Advance {
            time: source.time,
            frame: source.frame,
            ack,
        });
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
    }

    /// Updates the scoreboard (RFC 6675 §4, Update).
    #[cold]
    #[inline(never)]
    fn scoreboard(
        &mut self,
        header: &TcpHeader,
        source: &AckSource,
        settled: &mut impl FnMut(&Transmitted, &SendMark, Fate),
    ) {
        let blocks = header.sack.as_slice();
        let mut ranges = [(0, 0); MOST_SACK_BLOCKS];
        for (range, (left, right)) in ranges.iter_mut().zip(blocks) {
            *range = (self.place(*left), self.place(*right));
        }
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
    let wait = most_of_a_round_trip(least.unwrap_or(0));
    let old_enough = |mark: &SendMark| source.time.nanos_since(mark.time) >= wait;
    let echoed = echo.and_then(|echo| {
        let mut own = sent
            .marks()
            .enumerate()
            .filter(|(_, mark)| mark.timestamp == Some(echo));
        let only = own.next()?;
        own.next().is_none().then_some(only.0)
    });
    // A copy with a later timestamp than the one that comes back had not arrived (RFC 3522 §3.2).
    let had_left = |mark: &SendMark| {
        let later = echo.zip(mark.timestamp);
        later.is_none_or(|(echo, own)| own.wrapping_sub(echo).cast_signed() <= 0)
    };
    let latest = sent
        .marks()
        .enumerate()
        .filter(|(_, mark)| old_enough(mark) && had_left(mark))
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

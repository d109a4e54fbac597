//! Echo requests of one direction and their replies.

use super::candidate::{Before, Candidate, Delivered, InVain};
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::collections::VecDeque;

/// Requests that wait for their replies.
const MOST_WAITING: usize = 64;
/// Times of replies that are kept.
const MOST_ANSWERED: usize = 1024;
/// Programs that ask wait a second for the reply.
const PATIENCE: i64 = NANOS_PER_SECOND;

#[derive(Debug, Clone, Copy)]
struct EchoRequest {
    name: (u16, u16),
    sent: Delivered,
    bytes: u32,
}

/// Echo requests of one host to another, none of which was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoesInVain {
    /// Time and frame of the first.
    pub first: (Timestamp, u64),
    /// Time of the last.
    pub last: Timestamp,
    /// Number of them.
    pub count: u64,
}

/// The requests of one direction.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    /// All requests, as if none was answered.
    asked: Option<EchoesInVain>,
    waiting: VecDeque<EchoRequest>,
    /// The first of the requests that were not answered and wait no more, because too many came behind them, and all of these.
    overdue: Option<(Delivered, InVain)>,
    /// The first request that was answered, and the last one.
    pub(super) first_delivered: Option<Delivered>,
    delivered: Option<Delivered>,
    /// The last data between the two hosts that was acknowledged.
    data: Option<Delivered>,
    /// Something came from the other side: the host is there.
    heard: bool,
    /// Requests that were answered: when they were sent, when the reply came, and their bytes.
    answered: VecDeque<(Timestamp, Timestamp, u32)>,
}

impl Echoes {
    pub(super) fn ask(&mut self, name: (u16, u16), sent: Delivered, bytes: u32) {
        if self.waiting.len() >= MOST_WAITING {
            let oldest = self.waiting.pop_front();
            if let Some(EchoRequest { sent, bytes, .. }) = oldest {
                let (_, in_vain) = self.overdue.get_or_insert_with(|| (sent, InVain::default()));
                in_vain.push(sent.lost(bytes), 0);
            }
        }
        self.waiting.push_back(EchoRequest { name, sent, bytes });
        let asked = self.asked.get_or_insert(EchoesInVain {
            first: (sent.time, sent.frame),
            last: sent.time,
            count: 0,
        });
        (asked.last, asked.count) = (sent.time, asked.count + 1);
    }

    /// All requests, where none was ever answered.
    pub(super) fn in_vain(&self) -> Option<EchoesInVain> {
        self.asked.filter(|_| self.delivered.is_none())
    }

    /// A packet comes from the side that is asked. Requests before the first one may have gone to a host that was not there yet.
    pub(super) fn hear(&mut self) {
        if !self.heard {
            self.heard = true;
            self.waiting.clear();
            self.overdue = None;
        }
    }

    /// Data arrived, so the way was open when it was sent: a request that was lost before was lost alone, as in a full queue.
    pub(super) fn passes(&mut self, data: Delivered) {
        self.data = Some(data);
        self.overdue = None;
    }

    /// Begin of a stretch without replies: the last request that was answered, else the first one; or data that arrived after that. A host that was
    /// not heard before may not have been there, unless `answered` shows that requests are answered on a later SA alone.
    fn begin(&self, answered: Option<Delivered>) -> Option<(Delivered, bool)> {
        let spi = |sent: Delivered| sent.esp.map(|esp| esp.spi);
        let first = || {
            let overdue = self.overdue.as_ref().map(|(first, _)| *first);
            let first = overdue.or_else(|| Some(self.waiting.front()?.sent))?;
            let on_another = answered.is_some_and(|sent| spi(sent) != spi(first));
            Some((first, !self.heard && !on_another))
        };
        let begin = self.delivered.map(|last| (last, false)).or_else(first)?;
        let data = self.data.filter(|data| data.time > begin.0.time);
        Some(data.map_or(begin, |data| (data, false)))
    }

    /// A reply comes. Gives the stretch without any that it ends.
    pub(super) fn answer(&mut self, name: (u16, u16), now: Timestamp) -> Option<Candidate> {
        let at = self.waiting.iter().rposition(|request| request.name == name)?;
        let EchoRequest { sent, bytes, .. } = *self.waiting.get(at)?;
        let from = self.begin(Some(sent));
        let mut in_vain = self.overdue.take().map_or_else(InVain::default, |(_, own)| own);
        for request in self.waiting.drain(..=at).take(at) {
            if from.is_some_and(|(from, _)| from.time <= request.sent.time) {
                in_vain.push(request.sent.lost(request.bytes), 0);
            }
        }
        if self.answered.len() >= MOST_ANSWERED {
            self.answered.pop_front();
        }
        self.answered.push_back((sent.time, now, bytes));
        self.first_delivered.get_or_insert(sent);
        self.delivered = Some(sent);
        unanswered(from?, sent, in_vain)
    }

    /// Requests that nobody answered up to the end.
    pub(super) fn open(&self, end: Delivered) -> Option<Candidate> {
        let from = self.begin(None)?;
        let overdue = self.overdue.as_ref();
        let mut in_vain = overdue.map_or_else(InVain::default, |(_, own)| own.clone());
        for request in &self.waiting {
            if from.0.time <= request.sent.time && end.time.nanos_since(request.sent.time) > PATIENCE {
                in_vain.push(request.sent.lost(request.bytes), 0);
            }
        }
        unanswered(from, end, in_vain)
    }

    /// The first request behind a moment that was answered.
    pub(super) fn first_answered(&self, from: Timestamp) -> Option<Timestamp> {
        let mut sent = self.answered.iter().map(|(sent, ..)| *sent);
        sent.find(|sent| *sent > from)
    }

    /// Number of requests between two moments that nobody answered.
    pub(super) fn unanswered(&self, from: Timestamp, to: Timestamp) -> u32 {
        let sent = self.waiting.iter().map(|request| request.sent.time);
        let inside = sent.filter(|time| from < *time && *time < to);
        u32::try_from(inside.count()).unwrap_or(u32::MAX)
    }

    /// Number of requests that were sent and answered between two moments, and the bytes of the largest. A reply that came later shows nothing
    /// of the way until then: the side that was asked may have stood still.
    pub(super) fn answered(&self, from: Timestamp, to: Timestamp) -> (u32, u32) {
        let answered = self.answered.iter();
        let inside = answered.filter(|(sent, replied, _)| from < *sent && *replied < to);
        inside.fold((0, 0), |(count, largest), (.., bytes)| {
            (count + 1, largest.max(*bytes))
        })
    }
}

/// A stretch in which requests were not answered. Echoes measure no round trip of their own; who asks waits no longer than usual.
fn unanswered((from, unheard): (Delivered, bool), to: Delivered, in_vain: InVain) -> Option<Candidate> {
    let before = Before {
        rto: PATIENCE / 2,
        unheard,
        ..Before::default()
    };
    (!in_vain.is_empty()).then(|| Candidate::new((from, to), before, in_vain))
}

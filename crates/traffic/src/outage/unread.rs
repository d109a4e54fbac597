//! Packets without keys (nothing of TCP can be read), and datagrams: a side that answered falls silent while the other one goes on sending,
//! or the sender falls silent, or repeats one packet by its timer.

use super::backoff::{Backoff, SmallPassed};
use super::candidate::{Before, Candidate, Delivered, InVain};
use super::delivery::Arrivals;
use super::hidden::Hidden;
use super::judge::{LEAST_REST, MANY_ATTEMPTS};
use crate::interval::CarriedKind;
use crate::packet::{InnerPayload, Packet};
use crate::tcp::{INITIAL_RTO, INITIAL_WINDOW, LEAST_TIMEOUT, LONGEST_ACK_DELAY, slot};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};

/// TCP options (40 bytes), and padding to a block of the cipher (16): full-sized packets differ by so much.
const SIZES_DIFFER: u32 = 56;
/// Packets of data for each answer at most: a receiver acknowledges every second full-sized segment (RFC 9293 §3.8.6.3), one that merges
/// 16 of them (as many fragments hold a packet of Linux) every 32nd.
pub const MOST_PER_ANSWER: u64 = 32;
/// Answers are looked for in stretches of this length, five runs …
pub const LOOK: i64 = 100 * NANOS_PER_MILLI;
/// … with so many packets, which two acknowledgements answer …
pub const LEAST_IN_LOOK: u32 = 5;
/// … of which so many in a hundred have one. A retransmission timeout after a loss, 200 ms at least, leaves two stretches without: one of
/// them every four seconds is let pass. A side that is silent more often is not answering.
pub const LEAST_ANSWERED: u64 = 95;
/// Silences that are kept of each direction of a tunnel.
const MOST_SILENCES: usize = 1 << 10;

/// A stretch in which nothing seems to arrive.
#[derive(Debug, Clone)]
pub(super) struct UnreadSilence {
    pub(super) candidate: Candidate,
    /// The stretch lasts to the end.
    pub(super) open: bool,
    /// The side that had nothing to send, where that is seen.
    rests: Option<Resting>,
    pub(super) small: SmallPassed,
}

/// A side that was silent and lacks none of its numbers when it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resting {
    Sender,
    Receiver,
}

impl UnreadSilence {
    /// Tells whether the receiver merely had nothing to send, and the sender went on all the time, so that it waited for no answer.
    pub(super) fn receiver_rests(&self) -> bool {
        self.rests == Some(Resting::Receiver)
    }

    fn nanos(&self) -> i64 {
        self.candidate.to.time.nanos_since(self.candidate.from.time)
    }

    fn overlaps(&self, other: &UnreadSilence) -> bool {
        let (own, other) = (&self.candidate, &other.candidate);
        own.from.time < other.to.time && other.from.time < own.to.time
    }
}

/// Packets of one side, and how the other one answered.
#[derive(Debug, Default)]
struct UnreadSide {
    first: Option<Timestamp>,
    packets: u64,
    unread: u64,
    datagrams: u64,
    bytes: u64,
    largest: u32,
    /// Packets since the other side's last one.
    unanswered: InVain,
    /// Number of the full-sized ones among them, and the longest time before one of these.
    full: u32,
    longest_wait: i64,
    /// The stretch of time that is looked at.
    look: Option<Timestamp>,
    in_look: u32,
    answered: bool,
    /// The stretch before had an answer.
    answered_before: bool,
    /// Stretches, and those with an answer. Of those that follow each other without one the first counts.
    looks: (u64, u64),
    arrivals: Arrivals,
    /// The last packet was full-sized: there was more to send.
    ends_full: bool,
    backoff: Backoff,
    since_full: SinceFull,
    silences: Vec<UnreadSilence>,
    left_out: u64,
}

/// Small packets behind the last full-sized one.
#[derive(Debug, Clone, Copy, Default)]
struct SinceFull {
    /// The full-sized packet, and whether a transfer was going on then.
    last: Option<(Delivered, bool)>,
    /// Number of small ones that came behind missing numbers.
    gaps: u32,
    small: SmallPassed,
}

/// The two sides of a tunnel.
#[derive(Debug)]
pub(super) struct UnreadTunnel {
    pub(super) tunnel: u32,
    pub(super) hidden: Hidden,
    sides: [UnreadSide; 2],
    last: [Option<Delivered>; 2],
}

impl UnreadTunnel {
    pub(super) fn new(tunnel: u32) -> Self {
        UnreadTunnel {
            tunnel,
            hidden: Hidden::default(),
            sides: Default::default(),
            last: [None; 2],
        }
    }

    /// Takes a packet, and how many before it did not reach the capture. One that was `overtaken` by a whole replay window is no sign that
    /// its sender goes on.
    pub(super) fn take(&mut self, packet: &Packet, missing: u32, overtaken: bool) {
        let own = slot(packet.direction);
        let at = Delivered::of(packet);
        self.answer(1 - own, at, missing);
        self.go_on(own, at, missing);
        self.last[own] = Some(at);
        let since = self.last[1 - own];
        let sent = &mut self.sides[own];
        let bytes = match packet.payload {
            InnerPayload::Tcp(header) => header.len,
            InnerPayload::Datagram(bytes) => {
                sent.datagrams += 1;
                bytes
            }
            InnerPayload::Unread(bytes) => {
                sent.unread += 1;
                self.hidden.take(at);
                bytes
            }
            InnerPayload::Echo { .. } => 0,
        };
        sent.first.get_or_insert(at.time);
        sent.packets += 1;
        sent.bytes += u64::from(bytes);
        sent.largest = sent.largest.max(bytes);
        sent.look_at(packet.time);
        sent.arrivals.count(packet.time);
        let full = bytes + SIZES_DIFFER >= sent.largest;
        if !overtaken {
            sent.ends_full = full;
        }
        if !full {
            sent.backoff.small(packet.time, bytes);
            let since = &mut sent.since_full;
            since.gaps = since.gaps.saturating_add(u32::from(missing > 0));
            since.small.answered = since.small.answered.saturating_add(1);
            since.small.largest = since.small.largest.max(bytes);
            return;
        }
        if let Some((stretch, small)) = sent.only_small(at) {
            sent.keep(stretch, None, small);
        }
        let before = sent.since_full.last.map(|(last, _)| last.time);
        sent.wait(at.time, before.max(since.map(|since| since.time)));
        sent.since_full = SinceFull {
            last: Some((at, sent.arrivals.is_busy())),
            ..SinceFull::default()
        };
        let lost = at.lost(bytes);
        let ended = sent.backoff.full(lost, since, sent.arrivals.is_busy());
        if let Some((candidate, small)) = ended {
            sent.keep(candidate, None, small);
        }
        if since.is_some() {
            sent.full += u32::from(!overtaken);
            sent.unanswered.push(lost, 0);
        }
    }

    /// A sender was silent in the middle of a transfer, whatever the other side sent: an outage only if something explains it, or its
    /// packets are missing.
    fn go_on(&mut self, own: usize, at: Delivered, missing: u32) {
        let Some(last) = self.last[own] else { return };
        let sent = &mut self.sides[own];
        let paused = at.time.nanos_since(last.time) > LONGEST_ACK_DELAY && sent.arrivals.is_busy();
        if paused && (sent.full < MANY_ATTEMPTS || missing >= INITIAL_WINDOW) {
            let silence = sent.silence(last, at);
            sent.keep(silence, Some(Resting::Sender), SmallPassed::default());
        }
    }

    /// A packet of the other side, behind `missing` ones, answers what `own` sent.
    fn answer(&mut self, own: usize, at: Delivered, missing: u32) {
        let (last, last_sent) = (self.last[1 - own], self.last[own]);
        let sent = &mut self.sides[own];
        sent.answered = true;
        sent.backoff.answer(at.time);
        if let Some(last) = last
            && at.time.nanos_since(last.time) > LONGEST_ACK_DELAY
            && sent.full >= MANY_ATTEMPTS
        {
            let esp = last_sent.and_then(|sent| sent.esp);
            let silence = sent.silence(sent.unanswered_since(last), Delivered { esp, ..at });
            let rests = missing == 0 && sent.keeps_its_pace(last.time, at.time);
            sent.keep(
                silence,
                rests.then_some(Resting::Receiver),
                SmallPassed::default(),
            );
        }
        (sent.full, sent.longest_wait) = (0, 0);
        sent.unanswered.clear();
    }

    /// Tells whether the other side answers a direction as receivers do.
    pub(super) fn is_answered(&self, direction: Direction) -> bool {
        let own = slot(direction);
        self.sides[own].is_answered(self.sides[1 - own].packets)
    }

    /// The direction that carried most, its silences, and whether the last one is open; none where TCP can be read. Where the other side does
    /// not answer as receivers do, those of both senders, and nothing is open.
    pub(super) fn silences(&self, end: Timestamp) -> Vec<(Direction, Vec<UnreadSilence>)> {
        let own = usize::from(self.sides[1].bytes > self.sides[0].bytes);
        let (sent, back) = (&self.sides[own], &self.sides[1 - own]);
        // Datagrams end as they go on; where answers are as large as what they answer, neither is a transfer of TCP.
        let ends_full = sent.ends_full && sent.datagrams == 0 && back.largest + SIZES_DIFFER < sent.largest;
        let stops = sent.arrivals.is_busy() && ends_full;
        let more = (sent.full >= MANY_ATTEMPTS || stops) && !sent.may_have_ended(end);
        if 2 * (sent.unread + sent.datagrams) <= sent.packets {
            return Vec::new();
        }
        if !sent.is_answered(back.packets) {
            return Direction::BOTH
                .into_iter()
                .map(|direction| (direction, self.sides[slot(direction)].paused()))
                .collect();
        }
        let at_end = Delivered::nothing(end);
        let silence = |from: Delivered| (sent.silence(from, at_end), SmallPassed::default());
        let past = |last: &Delivered| end.nanos_since(last.time);
        let unanswered = self.last[1 - own].filter(|last| more && past(last) > LONGEST_ACK_DELAY);
        let fell_silent = self.last[own].filter(|last| stops && past(last) >= INITIAL_RTO);
        let answered = sent.backoff.answered();
        let open = unanswered
            .map(|last| silence(sent.unanswered_since(last)))
            .or_else(|| sent.backoff.open(end).filter(|_| answered.is_none()))
            .or_else(|| sent.only_small(at_end))
            .or_else(|| fell_silent.map(silence));
        let is_open = open.is_some();
        let last = open.or(answered).map(|(candidate, small)| UnreadSilence {
            candidate,
            open: is_open,
            rests: None,
            small,
        });
        let all = sent.silences.iter().cloned().chain(last).collect();
        let all = longest_of_each(all);
        // What the answers lack may be another connection's.
        let mut answers = back.paused();
        answers.retain(|silence| !all.iter().any(|other| other.overlaps(silence)));
        vec![(Direction::BOTH[own], all), (Direction::BOTH[1 - own], answers)]
    }

    /// The small packets of a direction that passed for half of a stretch while its full-sized ones did not, whatever can be read of them.
    pub(super) fn small_passed(
        &self,
        direction: Direction,
        (from, to): (Timestamp, Timestamp),
        end: Timestamp,
    ) -> SmallPassed {
        let sent = &self.sides[slot(direction)];
        let only_small = || sent.only_small(Delivered::nothing(end));
        let open = sent.backoff.open(end).or_else(only_small);
        let closed = sent.silences.iter().map(|own| (&own.candidate, own.small));
        let all = closed.chain(open.as_ref().map(|(candidate, small)| (candidate, *small)));
        let common = |own: &Candidate| own.to.time.min(to).nanos_since(own.from.time.max(from));
        all.filter(|(own, _)| 2 * common(own) >= to.nanos_since(from))
            .map(|(_, small)| small)
            .max_by_key(|small| small.answered)
            .unwrap_or_default()
    }

    /// Most of what a direction sends.
    pub(super) fn carried(&self, direction: Direction) -> CarriedKind {
        let sent = &self.sides[slot(direction)];
        match sent.datagrams > sent.unread {
            true => CarriedKind::Datagrams,
            false => CarriedKind::Unread,
        }
    }

    pub(super) fn left_out(&self) -> u64 {
        self.sides.iter().map(|side| side.left_out).sum()
    }
}

impl UnreadSide {
    /// The silences of the sender itself. Packets that nobody answers show nothing of what arrived.
    fn paused(&self) -> Vec<UnreadSilence> {
        let mut silences = self.silences.clone();
        silences.retain(|own| own.rests == Some(Resting::Sender));
        silences.iter_mut().for_each(|own| own.candidate.in_vain.clear());
        silences
    }

    fn wait(&mut self, now: Timestamp, before: Option<Timestamp>) {
        let waited = before.map_or(0, |before| now.nanos_since(before));
        self.longest_wait = self.longest_wait.max(waited);
    }

    /// Tells whether full-sized packets went on through a silence of the other side, at half of the usual rate or more and without a wait as long as a
    /// timer. Who waits for an answer stops once its window is full, and tries again by its timer.
    fn keeps_its_pace(&mut self, from: Timestamp, to: Timestamp) -> bool {
        let last = self.since_full.last.map(|(last, _)| last.time);
        self.wait(to, last.max(Some(from)));
        let all = self.first.map_or(0, |first| to.nanos_since(first));
        let usual = i128::from(self.packets) * i128::from(to.nanos_since(from));
        self.longest_wait < LEAST_TIMEOUT && 2 * i128::from(self.full) * i128::from(all) >= usual
    }

    fn look_at(&mut self, now: Timestamp) {
        if self.look.is_none_or(|since| now.nanos_since(since) > LOOK) {
            // A long silence is one.
            if self.in_look >= LEAST_IN_LOOK && (self.answered || self.answered_before) {
                self.looks.0 += 1;
                self.looks.1 += u64::from(self.answered);
            }
            if self.in_look >= LEAST_IN_LOOK {
                self.answered_before = self.answered;
            }
            (self.look, self.in_look, self.answered) = (Some(now), 0, false);
        }
        self.in_look += 1;
    }

    /// The other side answers as receivers do. Silences that are told are left out: in them the sender tries now and then.
    fn is_answered(&self, answers: u64) -> bool {
        let (looks, answered) = self.looks;
        let silent: u64 = self
            .silences
            .iter()
            .map(|silence| u64::from(silence.candidate.in_vain.count()))
            .sum();
        answers * MOST_PER_ANSWER >= self.packets.saturating_sub(silent)
            && answered * 100 >= looks * LEAST_ANSWERED
    }

    /// Begin of a silence of the other side: its `last` packet; or this side's first one behind a rest, where less than a silence takes was
    /// sent before the rest. A sender that waits for an answer tries again sooner. The SA is that of the data, not of the answers.
    fn unanswered_since(&self, last: Delivered) -> Delivered {
        let packets = self.unanswered.packets();
        let esp = packets.first().and_then(|first| first.esp);
        let mut from = Delivered { esp, ..last };
        let mut before = last.time;
        for packet in packets.iter().take(MANY_ATTEMPTS as usize) {
            if packet.time.nanos_since(before) > LEAST_REST {
                (from.time, from.frame) = (packet.time, packet.frame);
            }
            before = packet.time;
        }
        from
    }

    /// Whether the sender itself stopped just before the end, and never tried again: its first timer takes so long where it waits for an answer
    /// (RFC 6298 §2.1), so that it may as well have had no more to send.
    fn may_have_ended(&self, end: Timestamp) -> bool {
        let packets = self.unanswered.packets();
        let mut pairs = packets.windows(2);
        let tried = pairs.any(|two| two[1].time.nanos_since(two[0].time) >= LEAST_TIMEOUT);
        let stopped = |(_, last)| (LEAST_TIMEOUT..INITIAL_RTO).contains(&end.nanos_since(last));
        !tried && self.unanswered.span().is_some_and(stopped)
    }

    fn silence(&self, from: Delivered, to: Delivered) -> Candidate {
        let before = Before {
            rto: LONGEST_ACK_DELAY / 2,
            busy: true,
            ..Before::default()
        };
        Candidate::new((from, to), before, self.unanswered.clone())
    }

    /// The stretch since the last full-sized packet, where small ones passed and the numbers of others are missing between them.
    fn only_small(&self, to: Delivered) -> Option<(Candidate, SmallPassed)> {
        let (from, busy) = self.since_full.last?;
        let long = to.time.nanos_since(from.time) > LONGEST_ACK_DELAY;
        let missing = u64::from(self.since_full.gaps) >= LEAST_NOT_BY_CHANCE;
        let stretch = || Candidate {
            in_vain: InVain::default(),
            ..self.silence(from, to)
        };
        (busy && long && missing).then(|| (stretch(), self.since_full.small))
    }

    fn keep(&mut self, candidate: Candidate, rests: Option<Resting>, small: SmallPassed) {
        if self.silences.len() < MOST_SILENCES {
            self.silences.push(UnreadSilence {
                candidate,
                open: false,
                rests,
                small,
            });
        } else {
            self.left_out += 1;
        }
    }
}

/// Keeps the longer one of a stretch that is seen as a silence and by the sender's timer.
fn longest_of_each(mut all: Vec<UnreadSilence>) -> Vec<UnreadSilence> {
    all.sort_by_key(|silence| silence.candidate.from.time);
    let mut kept: Vec<UnreadSilence> = Vec::with_capacity(all.len());
    for silence in all {
        match kept.last_mut() {
            Some(last) if silence.overlaps(last) => {
                if silence.nanos() > last.nanos() {
                    *last = silence;
                }
            }
            _ => kept.push(silence),
        }
    }
    kept
}

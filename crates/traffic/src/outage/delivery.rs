//! One direction between two inner addresses: what was delivered when.

use super::backoff::SmallPassed;
use super::candidate::{Before, Candidate, Delivered, InVain, TransferEnd};
use super::echoes::Echoes;
use super::large::LargeSegments;
use crate::interval::{CarriedKind, LostPacket};
use crate::packet::{InnerPayload, PacketForm};
use crate::run::FINEST;
use crate::segment::{Fate, PairId, Settlement};
use crate::tcp::{DEFAULT_MSS, INITIAL_RTO, INITIAL_WINDOW, LEAST_TIMEOUT};
use crate::tracker::{BESIDE_RECEIVER, SenderState, Tap, Unanswered};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// Arrivals in the second that goes on, and in the one before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Arrivals {
    since: Timestamp,
    now: u32,
    before: u32,
}

impl Arrivals {
    #[inline]
    pub(super) fn count(&mut self, time: Timestamp) {
        let passed = time.nanos_since(self.since);
        if passed > NANOS_PER_SECOND {
            self.before = if passed > 2 * NANOS_PER_SECOND {
                0
            } else {
                self.now
            };
            (self.since, self.now) = (time, 0);
        }
        self.now += 1;
    }

    /// A transfer was going on at its last arrival: within a second or two came as much as the first flight of a sender.
    pub(super) fn is_busy(&self) -> bool {
        self.now + self.before >= INITIAL_WINDOW
    }
}

/// Datagrams of one direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Datagrams {
    pub(super) first: Delivered,
    pub(super) last: Delivered,
    pub(super) bytes: u64,
}

/// One direction of a pair.
#[derive(Debug, Default)]
pub(super) struct PairDelivery {
    pub(super) pair: PairId,
    pub(super) tunnel: u32,
    pub(super) direction: Direction,
    pub(super) delivered: Option<Delivered>,
    /// The first data that was delivered.
    pub(super) first_delivered: Option<Delivered>,
    arrivals: Arrivals,
    before: Before,
    /// The receiver answered a probe of its closed window since the last delivery.
    full: bool,
    looked: Timestamp,
    /// In vain since the last delivery.
    pub(super) in_vain: InVain,
    /// In order of time.
    pub(super) candidates: Vec<Candidate>,
    /// Stretches that there was no room for.
    pub(super) left_out: u64,
    /// Further ones may be kept.
    pub(super) room: bool,
    pub(super) echoes: Echoes,
    /// Stretches of echoes and datagrams.
    pub(super) others: Vec<(CarriedKind, Candidate)>,
    pub(super) large: LargeSegments,
    /// Stretches in which large segments did not arrive, though small ones did.
    pub(super) only_small: Vec<(Candidate, SmallPassed)>,
    pub(super) datagrams: Option<Datagrams>,
    /// The last packet that is no TCP.
    last_other: Option<Delivered>,
    /// The last echo: a request or a reply, its identifier and its number.
    last_echo: Option<(bool, u16, u16)>,
    /// Compressed segments arrived.
    pub(super) compressed_arrived: bool,
    /// Bytes of TCP that arrived.
    pub(super) tcp_bytes: u64,
    /// Largest segment, and the last one.
    sizes: (u32, u32),
    /// The last connection was closed or reset since the last delivery.
    pub(super) closed: Option<Timestamp>,
    /// Time until which packets arrive that were in flight when it was closed.
    in_flight_until: Timestamp,
}

impl PairDelivery {
    pub(super) fn new(pair: PairId, tunnel: u32, direction: Direction) -> Self {
        PairDelivery {
            pair,
            tunnel,
            direction,
            before: Before {
                rto: INITIAL_RTO,
                ..Before::default()
            },
            looked: Timestamp(i64::MIN),
            room: true,
            in_flight_until: Timestamp(i64::MIN),
            ..PairDelivery::default()
        }
    }

    /// Stretches that are kept.
    #[inline]
    pub(super) fn kept(&self) -> usize {
        self.candidates.len() + self.others.len() + self.only_small.len()
    }

    /// A connection is closed or reset.
    pub(super) fn close(&mut self, time: Timestamp) {
        self.closed = self.closed.max(Some(time));
        self.in_flight_until = time.plus_nanos(self.before.rto);
    }

    /// The end of the last connection behind a delivery.
    pub(super) fn transfer_end(&self, from: Timestamp) -> TransferEnd {
        match self.closed {
            Some(closed) if closed > from.plus_nanos(self.before.rto) => TransferEnd::Late,
            Some(closed) if closed >= from => TransferEnd::Soon,
            _ => TransferEnd::Open,
        }
    }

    /// Bytes of the largest segment that arrived.
    pub(super) fn largest_segment(&self) -> u32 {
        self.sizes.0
    }

    /// The first packet of which something shows that it arrived.
    pub(super) fn first_reached(&self) -> Option<Delivered> {
        let all = self
            .first_delivered
            .into_iter()
            .chain(self.echoes.first_delivered);
        all.min_by_key(|first| first.time)
    }

    /// Tells whether segments arrived before a stretch and behind it.
    pub(super) fn goes_on(&self, (from, to): (Timestamp, Timestamp)) -> bool {
        let last = self.delivered.is_some_and(|last| last.time >= to);
        last && self.first_delivered.is_some_and(|first| first.time <= from)
    }

    /// The last segment that arrived was full: its sender had more. Whoever sends smaller ones all the time sends a word at a time.
    pub(super) fn ends_full(&self) -> bool {
        self.sizes.0 >= DEFAULT_MSS && self.sizes.0 == self.sizes.1
    }

    /// The sender's state at the last delivery.
    pub(super) fn before(&self) -> Before {
        Before {
            busy: self.arrivals.is_busy(),
            full: self.full,
            ..self.before
        }
    }

    /// Something became of a transmission. `largest`: the largest payload that anybody sent.
    #[inline]
    pub(super) fn take(&mut self, settled: &Settlement, largest: u32) {
        // A peer without the connection resets it because a segment arrived.
        if settled.fate == Fate::Abandoned && self.may_be_on_its_way(settled, settled.shown.0) {
            return;
        }
        let at = Delivered::new(settled.time, settled.frame, settled.esp);
        if let Some((candidate, passed)) = self.only_small.last_mut().filter(|(_, passed)| passed.cut) {
            match settled.fate {
                Fate::Arrived => passed.larger_since = passed.larger_since.max(settled.packet),
                // Copies of these bytes come later than those that ended the stretch.
                Fate::Swallowed if candidate.contains(settled.time) && settled.packet > passed.largest => {
                    candidate.in_vain.push(LostPacket::of(settled), 0);
                }
                _ => {}
            }
        }
        let only_small = self.large.take(settled, (self.before(), largest), &self.echoes);
        self.only_small.extend(only_small.filter(|_| self.room));
        match settled.fate {
            Fate::Arrived => {
                self.compressed_arrived |= at.esp.is_some_and(|esp| esp.form == PacketForm::Compressed);
                self.arrive(at, settled);
            }
            Fate::Swallowed | Fate::Abandoned => self.fail(LostPacket::of(settled), 0),
            Fate::Superfluous { unheard } => self.fail(LostPacket::of(settled), unheard),
            Fate::Waiting => {}
        }
    }

    /// The receiver answered a probe of its closed window: the way was open, and no data was to come.
    pub(super) fn answer_probe(&mut self, probe: Delivered) {
        if self.delivered.is_some_and(|last| last.time < probe.time) {
            self.in_vain.forget_until(probe.time);
            self.delivered = Some(probe);
            self.full = true;
        }
    }

    /// The receiver waited for an answer.
    pub(super) fn wait(&mut self, candidate: Candidate) {
        if candidate.is_long_enough() {
            self.keep_other(CarriedKind::Tcp, candidate);
        }
    }

    /// The last of [`PairDelivery::only_small`], which lasts to the end.
    pub(super) fn only_small_to(
        &self,
        end: Timestamp,
        waiting: &[Settlement],
    ) -> Option<(Candidate, SmallPassed)> {
        self.large.open(waiting, end, self.before(), &self.echoes)
    }

    /// The capture goes on elsewhere, and nothing will tell of a transmission that waits.
    pub(super) fn abandon(&mut self, waiting: &Settlement, end: Timestamp) {
        if !self.may_be_on_its_way(waiting, end) {
            self.fail(LostPacket::of(waiting), 0);
        }
    }

    /// A transmission of the last timeout has not been missed by its sender yet.
    fn may_be_on_its_way(&self, sent: &Settlement, end: Timestamp) -> bool {
        end.nanos_since(sent.time) <= self.before.rto
    }

    #[inline]
    fn arrive(&mut self, at: Delivered, settled: &Settlement) {
        let len = settled.len;
        self.echoes.passes(at);
        self.tcp_bytes += u64::from(len);
        let Some(last) = self.delivered else {
            self.begin(at);
            self.arrivals.count(at.time);
            return;
        };
        if at.time < last.time {
            self.arrive_late(at);
            return;
        }
        if at.time.nanos_since(last.time) > self.before.least() {
            self.stretch(last, at, settled.lacking_since <= last.time);
        }
        if !self.in_vain.is_empty() {
            self.in_vain.forget_until(at.time);
        }
        self.arrivals.count(at.time);
        self.sizes = (self.sizes.0.max(len), len);
        self.delivered = Some(at);
        self.full = false;
        // The FIN itself arrives when it is acknowledged.
        let closed = self.closed.filter(|_| at.time <= self.in_flight_until);
        self.closed = closed.map(|closed| closed.max(at.time));
    }

    #[cold]
    fn begin(&mut self, at: Delivered) {
        self.delivered = Some(at);
        self.first_delivered = Some(at);
        let first = self.in_vain.first().filter(|first| *first < at.time);
        if let Some(time) = first {
            // The way was closed when the capture began, or the connection.
            let time = time.plus_nanos(-1);
            self.stretch(Delivered { time, ..at }, at, false);
        }
        self.in_vain.forget_until(at.time);
    }

    #[cold]
    fn stretch(&mut self, from: Delivered, to: Delivered, lacks: bool) {
        let before = Before {
            lacks,
            ..self.before()
        };
        let in_vain = self.in_vain.between(from.time, to.time);
        self.keep(Candidate {
            transfer_end: self.transfer_end(from.time),
            ..Candidate::new((from, to), before, in_vain)
        });
    }

    fn keep(&mut self, candidate: Candidate) {
        if !candidate.is_long_enough() {
            return;
        }
        if !self.room {
            self.left_out += 1;
            return;
        }
        let at = self
            .candidates
            .partition_point(|other| other.from.time < candidate.from.time);
        self.candidates.insert(at, candidate);
    }

    /// The candidate that a moment lies in.
    fn around(&self, time: Timestamp) -> Option<usize> {
        let candidates = &self.candidates;
        let at = candidates.partition_point(|candidate| candidate.to.time <= time);
        candidates.get(at)?.contains(time).then_some(at)
    }

    /// Segments sent before the last delivery arrived too.
    #[cold]
    fn arrive_late(&mut self, at: Delivered) {
        if let Some(place) = self.around(at.time) {
            let candidate = self.candidates.remove(place);
            for part in candidate.split(at) {
                self.keep(part);
            }
        }
    }

    #[cold]
    fn fail(&mut self, packet: LostPacket, unheard: u32) {
        if self.delivered.is_none_or(|last| packet.time > last.time) {
            self.in_vain.push(packet, unheard);
        } else if let Some(place) = self.around(packet.time)
            && let Some(candidate) = self.candidates.get_mut(place)
        {
            candidate.in_vain.push(packet, unheard);
        }
    }

    /// Looks at the sender, now and then.
    #[inline]
    pub(super) fn look(&mut self, now: Timestamp, sender: impl FnOnce() -> Option<SenderState>) {
        if now.nanos_since(self.looked) < FINEST {
            return;
        }
        self.looked = now;
        if let Some(sender) = sender() {
            let own = sender.rtt.smoothed.unwrap_or(0);
            self.before = Before {
                round_trip: sender.round_trip.unwrap_or(own).max(own),
                rto: sender.rtt.rto(),
                at_receiver: sender.tap == Tap::Receiver,
                beside_receiver: sender.rtt.min.is_some_and(|least| least < BESIDE_RECEIVER),
                ..Before::default()
            };
        }
    }

    /// A datagram passes. Whether it arrives is not known.
    pub(super) fn datagram(&mut self, at: Delivered, bytes: u32) {
        let datagrams = self.datagrams.get_or_insert(Datagrams {
            first: at,
            last: at,
            bytes: 0,
        });
        datagrams.last = at;
        datagrams.bytes += u64::from(bytes);
    }

    /// Tells whether echoes of one program are missing before this one.
    pub(super) fn leaves_out(&mut self, echo: &InnerPayload) -> bool {
        let InnerPayload::Echo { request, id, seq, .. } = *echo else {
            return false;
        };
        let before = self.last_echo.replace((request, id, seq));
        before != Some((request, id, seq.wrapping_sub(1)))
    }

    /// A packet that is no TCP passes, and so many before it did not reach the capture.
    pub(super) fn other(&mut self, carried: CarriedKind, at: Delivered, missing: u32) {
        let Some(from) = self.last_other.replace(at) else {
            return;
        };
        if missing > 0 && at.time.nanos_since(from.time) > LEAST_TIMEOUT {
            let candidate = Candidate::new((from, at), Before::default(), InVain::default());
            self.keep_other(carried, candidate);
        }
    }

    pub(super) fn keep_other(&mut self, carried: CarriedKind, candidate: Candidate) {
        if self.room {
            self.others.push((carried, candidate));
        } else {
            self.left_out += 1;
        }
    }
}

/// The stretch in which a receiver waits for an answer. Its sender has no sample behind the handshake, so its timer runs off after three round
/// trips (RFC 6298 §2.2).
pub(super) fn waiting_for(asked: &Unanswered, to: Delivered) -> Candidate {
    let from = Delivered::new(asked.since, asked.frame, None);
    let before = Before {
        round_trip: asked.round_trip,
        rto: LEAST_TIMEOUT.max(3 * asked.round_trip),
        asked: asked.mss,
        ..Before::default()
    };
    Candidate::new((from, to), before, InVain::default())
}

//! One direction of a tunnel: what waits for its acknowledgement, and when something was delivered last.

use crate::diagnosis::delivery::delivered::{DeliveredPacket, ProgressKind};
use crate::diagnosis::delivery::heard::{HeardDeliveries, HeardDelivery, behind_the_gap};
use crate::diagnosis::delivery::quiet::{Quiet, QuietWatch};
use crate::diagnosis::delivery::vanished::{NumberedPackets, VanishedData};
use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::tcp::{LEAST_RTO, before};
use crate::throughput::by_connection::ByConnection;
use crate::throughput::flow::ConnectionId;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use std::collections::VecDeque;

/// The shortest stretch that is kept: what is over before the smallest retransmission timeout, no sender notices.
pub(crate) const LEAST_STRETCH: i64 = LEAST_RTO;
/// The shortest one that the end of the capture leaves open: whatever a receiver holds back comes within half of it
/// (RFC 9293 §3.8.6.3).
const LEAST_OPEN: i64 = NANOS_PER_SECOND;
/// Without keys: what follows a packet within this may acknowledge it (RFC 9293 §3.8.6.3).
const LATEST_ANSWER: i64 = 500 * NANOS_PER_MILLI;
/// Connections with data in flight that are watched at once; what further ones send is not looked at.
const MOST_CONNECTIONS: usize = 256;
/// A keepalive brings one byte that was acknowledged (RFC 9293 §3.8.4); its sender waits for nothing.
const KEEPALIVE: u16 = 1;
/// Segments in flight that are remembered, 256 KiB: 10 MB of data. Of more, the oldest of their connection are forgotten.
const MOST_SEGMENTS: usize = 1 << 13;
/// Frames kept as examples of what did not arrive.
const MOST_EXAMPLES: usize = 6;

/// From the last packet that was delivered to the next one.
#[derive(Debug, Clone)]
pub(crate) struct UndeliveredStretch {
    pub(crate) tunnel: TunnelIndex,
    pub(crate) slot: usize,
    pub(crate) from: DeliveredPacket,
    /// `None` at the end of the capture.
    pub(crate) to: Option<DeliveredPacket>,
    pub(crate) kind: ProgressKind,
    /// Before it there was nothing to send, for a while: it begins with the last acknowledgement of the other direction.
    pub(crate) rested: bool,
    /// Since when something was under way that did not arrive.
    pub(crate) waiting_since: Option<Timestamp>,
    /// Segments meanwhile that had been sent before.
    pub(crate) again: u32,
    /// The capture shows acknowledgements that the sender did not hear.
    pub(crate) unheard: bool,
    /// The first that were sent in vain.
    pub(crate) frames: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct SegmentInFlight {
    end: u32,
    packet: DeliveredPacket,
    /// Sent more than once: an acknowledgement does not say which copy it answers (Karn and Partridge 1987).
    repeated: bool,
}

#[derive(Debug, Default)]
struct SentStream {
    /// Its sender sends no more (FIN).
    closed: bool,
    /// Behind the highest byte sent.
    edge: Option<u32>,
    /// What was acknowledged, as far as the sender's packets show that it heard it.
    acked: Option<u32>,
    /// The highest acknowledgement that the capture showed.
    acked_at_tap: Option<u32>,
    in_flight: VecDeque<SegmentInFlight>,
    numbered: NumberedPackets,
}

impl SentStream {
    /// Bytes up to `end`, below the highest acknowledgement, are under way again: the sender did not hear it. True where that
    /// is one segment more than before; `place`: of the first segment that ends behind their begin.
    fn waits_again(&mut self, place: usize, end: u32, packet: DeliveredPacket) -> bool {
        let behind = self.in_flight.partition_point(|s| !before(end, s.end));
        for segment in self.in_flight.iter_mut().take(behind).skip(place) {
            (segment.packet, segment.repeated) = (packet, true);
        }
        let known = behind.checked_sub(1).filter(|last| *last >= place);
        let is_known = known.is_some_and(|last| self.in_flight[last].end == end);
        if !is_known {
            let segment = SegmentInFlight {
                end,
                packet,
                repeated: true,
            };
            self.in_flight.insert(behind, segment);
        }
        !is_known
    }
}

/// What happened since the last delivery.
#[derive(Debug, Default)]
struct Meanwhile {
    /// First packet.
    first: Option<Timestamp>,
    again: u32,
    unheard: bool,
    /// Frames of the first packets, and how many packets there were: in place, since it begins anew with every delivery.
    frames: [u64; MOST_EXAMPLES],
    sent: usize,
    ike: bool,
    /// Every connection had been closed before the first packet.
    closed: bool,
}

impl Meanwhile {
    fn sends(&mut self, p: &PacketRecord) {
        self.first.get_or_insert(p.time);
        self.again += u32::from(p.again > 0);
        if let Some(example) = self.frames.get_mut(self.sent) {
            *example = p.frame;
        }
        self.sent = self.sent.saturating_add(1);
    }
}

/// One direction of a tunnel.
#[derive(Debug)]
pub(crate) struct DeliveryLane {
    streams: ByConnection<SentStream>,
    /// Connections whose sender may send more; of those that are not watched nothing is known.
    open: usize,
    /// Segments in flight of all connections.
    in_flight: usize,
    delivered: Option<(DeliveredPacket, ProgressKind)>,
    /// When the first data was sent that was delivered.
    pub(super) first_delivered: Option<Timestamp>,
    heard: HeardDeliveries,
    /// Segments that were sent again, since the beginning.
    repeats: u32,
    /// What an acknowledgement delivers, while it is looked at.
    batch: Vec<DeliveredPacket>,
    /// The newest acknowledgement of this direction that told the other one's sender something new.
    passed: Option<DeliveredPacket>,
    unread: Option<DeliveredPacket>,
    meanwhile: Meanwhile,
    watch: QuietWatch,
}

impl Default for DeliveryLane {
    fn default() -> Self {
        DeliveryLane {
            streams: ByConnection::with_bound(MOST_CONNECTIONS),
            open: 0,
            in_flight: 0,
            delivered: None,
            first_delivered: None,
            heard: HeardDeliveries::default(),
            repeats: 0,
            batch: Vec::new(),
            passed: None,
            unread: None,
            meanwhile: Meanwhile::default(),
            watch: QuietWatch::default(),
        }
    }
}

impl DeliveryLane {
    /// A connection begins anew, or ends.
    pub(super) fn forget(&mut self, connection: ConnectionId, now: Timestamp) {
        if let Some(stream) = self.streams.remove(connection) {
            self.lands(stream.in_flight.len(), now);
            self.closes(!stream.closed);
        }
    }

    /// The sender of a connection sends no more.
    pub(super) fn finishes(&mut self, connection: ConnectionId) {
        if let Some(stream) = self.streams.get(connection) {
            let was_open = !std::mem::replace(&mut stream.closed, true);
            self.closes(was_open);
        }
    }

    /// One connection fewer is open, where it `was_open`.
    fn closes(&mut self, was_open: bool) {
        self.open -= usize::from(was_open);
        let closed = self.delivered.is_some_and(|(_, kind)| self.all_closed(kind));
        self.meanwhile.closed |= closed && self.meanwhile.first.is_none();
    }

    /// What this direction delivers, last by an acknowledgement, is TCP, and no connection of it is open.
    fn all_closed(&self, kind: ProgressKind) -> bool {
        kind == ProgressKind::Acknowledged && self.open == 0 && self.in_flight == 0
    }

    /// So many segments are no longer in flight.
    fn lands(&mut self, segments: usize, now: Timestamp) {
        self.in_flight -= segments;
        if segments > 0 && self.in_flight == 0 {
            self.watch.is_settled(now);
        }
    }

    /// Any packet of this direction, before it is counted.
    pub(super) fn watches(&mut self, p: &PacketRecord) -> Option<Quiet> {
        let known = || self.streams.knows(p.connection);
        self.watch.takes(p, self.in_flight > 0, known)
    }

    /// Any packet of a connection that sends in this direction, before it is counted.
    pub(super) fn numbers(&mut self, p: &PacketRecord) -> Option<VanishedData> {
        let stream = self.streams.get(p.connection)?;
        stream.numbered.take(p, stream.edge)
    }

    /// TCP data of this direction.
    pub(super) fn sends(&mut self, p: &PacketRecord) {
        self.repeats = self.repeats.wrapping_add(u32::from(p.again > 0));
        if self.streams.is_full() && !self.streams.knows(p.connection) {
            // What is forgotten stays open.
            self.streams.retain(|stream| !stream.in_flight.is_empty());
        }
        let Some(stream) = self.streams.get_or_begin(p.connection) else {
            return;
        };
        self.meanwhile.sends(p);
        self.open += usize::from(stream.edge.is_none());
        let (end, packet) = (p.seq_end(), DeliveredPacket::of(p));
        if stream.edge.is_none_or(|edge| before(edge, end)) {
            stream.edge = Some(end);
            stream.in_flight.push_back(SegmentInFlight {
                end,
                packet,
                repeated: false,
            });
            self.in_flight += 1;
            if self.in_flight > MOST_SEGMENTS {
                stream.in_flight.pop_front();
                self.in_flight -= 1;
            }
            return;
        }
        // Sent again: what arrives of it is this copy, which may hold several segments, or a part of one.
        let place = stream.in_flight.partition_point(|s| !before(p.seq, s.end));
        let unheard = stream.acked_at_tap.filter(|acked| before(p.seq, *acked));
        if let Some(acked) = unheard.filter(|_| p.again > KEEPALIVE) {
            let ends = if before(acked, end) { acked } else { end };
            self.in_flight += usize::from(stream.waits_again(place, ends, packet));
            if self.in_flight > MOST_SEGMENTS {
                stream.in_flight.pop_front();
                self.in_flight -= 1;
            }
            if stream.acked.is_some_and(|acked| before(p.seq, acked)) {
                stream.acked = Some(p.seq);
                self.takes_back(p);
            }
            return;
        }
        for segment in stream.in_flight.iter_mut().skip(place) {
            (segment.packet, segment.repeated) = (packet, true);
            if !before(segment.end, end) {
                break;
            }
        }
    }

    /// The sender repeats what was acknowledged: it did not hear that, and from its last progress on it waits.
    fn takes_back(&mut self, p: &PacketRecord) {
        if let Some(heard) = self.heard.without(p.connection, p.seq) {
            let (last, kind) = heard.last;
            self.delivered = Some((last, kind));
            self.meanwhile.again = self.repeats.wrapping_sub(heard.repeats);
            self.meanwhile.unheard = true;
            let waiting = self.meanwhile.first.get_or_insert(last.time);
            *waiting = last.time.min(*waiting);
        }
    }

    /// The other side acknowledges.
    pub(super) fn is_acknowledged(&mut self, p: &PacketRecord) -> Option<UndeliveredStretch> {
        let stream = self.streams.get(p.connection)?;
        if stream.acked.is_some_and(|acked| !before(acked, p.ack)) {
            return None;
        }
        stream.acked = Some(p.ack);
        if stream.acked_at_tap.is_none_or(|acked| before(acked, p.ack)) {
            stream.acked_at_tap = Some(p.ack);
        }
        self.batch.clear();
        while let Some(segment) = stream.in_flight.front()
            && !before(p.ack, segment.end)
        {
            if !segment.repeated {
                let nanos = p.time.nanos_since(segment.packet.time);
                self.watch.is_answered_in(nanos.max(0));
            }
            self.batch.push(segment.packet);
            stream.in_flight.pop_front();
        }
        let landed = self.batch.len();
        self.lands(landed, p.time);
        let newest = *self.batch.iter().max_by_key(|packet| packet.time)?;
        let last = self.delivered.map(|(last, _)| last);
        let ends = last.and_then(|last| behind_the_gap(last, &mut self.batch, LEAST_STRETCH));
        self.deliver(newest, ends, ProgressKind::Acknowledged, (p.connection, p.ack))
    }

    /// When the last data was sent that was delivered.
    pub(super) fn delivered_at(&self) -> Option<Timestamp> {
        self.delivered.map(|(packet, _)| packet.time)
    }

    /// It acknowledges what the other direction delivered: until then there was a way, however long there was nothing to send.
    /// Of nothing that waits does it say anything.
    pub(super) fn passes(&mut self, p: &PacketRecord) {
        if self.meanwhile.first.is_none() && p.payload == 0 {
            self.passed = Some(DeliveredPacket::of(p));
        }
    }

    /// Payload that nobody acknowledges, in this direction.
    pub(super) fn arrives(&mut self, p: &PacketRecord) -> Option<UndeliveredStretch> {
        if self.in_flight > 0 {
            return None;
        }
        self.delivers_at_once(DeliveredPacket::of(p), ProgressKind::Arrived)
    }

    /// A packet of this direction that cannot be read.
    pub(super) fn sends_unread(&mut self, p: &PacketRecord) {
        self.meanwhile.sends(p);
        self.unread = Some(DeliveredPacket::of(p));
    }

    /// The other side sent a packet that cannot be read.
    pub(super) fn is_answered(&mut self, p: &PacketRecord) -> Option<UndeliveredStretch> {
        let newest = self.unread.take()?;
        if p.time.nanos_since(newest.time) > LATEST_ANSWER {
            return None;
        }
        self.delivers_at_once(newest, ProgressKind::Answered)
    }

    fn delivers_at_once(
        &mut self,
        packet: DeliveredPacket,
        kind: ProgressKind,
    ) -> Option<UndeliveredStretch> {
        self.deliver(packet, Some(packet), kind, (ConnectionId::NONE, 0))
    }

    /// An IKE message of the tunnel.
    pub(super) fn negotiates(&mut self) {
        self.meanwhile.ike = true;
    }

    /// What was delivered: the `newest` of it, and the packet that `ends` a stretch; `told`: the connection and the acknowledgement
    /// that showed it.
    fn deliver(
        &mut self,
        newest: DeliveredPacket,
        ends: Option<DeliveredPacket>,
        kind: ProgressKind,
        (connection, ack): (ConnectionId, u32),
    ) -> Option<UndeliveredStretch> {
        // What is on its way already waits from now on.
        let next = Meanwhile {
            first: (self.in_flight > 0).then_some(newest.time),
            closed: self.all_closed(kind),
            ..Meanwhile::default()
        };
        let meanwhile = std::mem::replace(&mut self.meanwhile, next);
        let before = self.delivered.map(|(last, _)| last);
        if before.is_some_and(|last| newest.time < last.time) {
            return None;
        }
        self.delivered = Some((newest, kind));
        self.first_delivered.get_or_insert(newest.time);
        self.heard.push(HeardDelivery {
            connection,
            ack,
            last: (newest, kind),
            repeats: self.repeats,
        });
        let (from, to) = (before?, ends?);
        let passed = self.passed_since(from, &meanwhile);
        stretch(from, passed, (to.time, Some(to)), kind, &meanwhile, LEAST_STRETCH)
    }

    /// The last packet after `delivered` of which it is known that this direction let it through, before anything waited.
    fn passed_since(&self, delivered: DeliveredPacket, meanwhile: &Meanwhile) -> Option<DeliveredPacket> {
        let nothing_waits = |p: &DeliveredPacket| meanwhile.first.is_none_or(|first| first > p.time);
        let long = |p: &DeliveredPacket| p.time.nanos_since(delivered.time) >= LEAST_STRETCH;
        self.passed.filter(long).filter(nothing_waits)
    }

    /// Data waits for its acknowledgement.
    pub(super) fn waits(&self) -> bool {
        self.in_flight > 0
    }

    /// What the end of the capture leaves open.
    pub(super) fn open_at(&self, ends: Timestamp) -> Option<UndeliveredStretch> {
        let (last, kind) = self.delivered?;
        let passed = self.passed_since(last, &self.meanwhile);
        stretch(last, passed, (ends, None), kind, &self.meanwhile, LEAST_OPEN)
    }
}

/// Where nothing was sent at first, that was rest, and what is looked at begins with the first packet after it; or it was no
/// rest: an IKE message in it makes it worth keeping, unless every connection had been closed. `None` where it is shorter than
/// `least`, nanoseconds.
fn stretch(
    delivered: DeliveredPacket,
    passed: Option<DeliveredPacket>,
    (until, to): (Timestamp, Option<DeliveredPacket>),
    kind: ProgressKind,
    meanwhile: &Meanwhile,
    least: i64,
) -> Option<UndeliveredStretch> {
    let last = passed.unwrap_or(delivered);
    let first = meanwhile.first.filter(|first| *first < until);
    let at_once = first.is_some_and(|first| first.nanos_since(last.time) < LEAST_STRETCH);
    let negotiates = meanwhile.ike && !meanwhile.closed;
    let from = match first {
        Some(first) if !at_once && !negotiates => DeliveredPacket { time: first, ..last },
        _ => last,
    };
    let counts = first.is_some() || negotiates;
    (counts && until.nanos_since(from.time) >= least).then(|| UndeliveredStretch {
        tunnel: 0,
        slot: 0,
        from,
        to,
        kind,
        rested: passed.is_some(),
        waiting_since: first,
        again: meanwhile.again,
        unheard: meanwhile.unheard,
        frames: meanwhile.frames.iter().copied().take(meanwhile.sent).collect(),
    })
}

//! One direction of a tunnel: what waits for its acknowledgement, and when something was delivered last.

use crate::diagnosis::delivery::quiet::{Quiet, QuietWatch};
use crate::diagnosis::record::PacketRecord;
use crate::diagnosis::tcp::{LEAST_RTO, before};
use crate::throughput::flow::ConnectionId;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, Timestamp};
use rustc_hash::FxHashMap;
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
/// Segments in flight that are remembered, 256 KiB: 10 MB of data. Of more, the oldest of their connection are forgotten.
const MOST_SEGMENTS: usize = 1 << 13;
/// Frames kept as examples of what did not arrive.
const MOST_EXAMPLES: usize = 6;

/// A packet that was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeliveredPacket {
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
    pub(crate) sa: SaIndex,
}

impl DeliveredPacket {
    fn of(p: &PacketRecord) -> Self {
        DeliveredPacket {
            time: p.time,
            frame: p.frame,
            sa: p.sa(),
        }
    }
}

/// What shows that something was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ProgressKind {
    /// An acknowledgement of inner TCP.
    Acknowledged,
    /// It passed the capture.
    Arrived,
    /// The other side sent something soon after. Nothing could be read.
    #[default]
    Answered,
}

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
    /// Something was sent meanwhile that did not arrive.
    pub(crate) waiting: bool,
    /// Segments meanwhile that had been sent before.
    pub(crate) again: u32,
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
    /// Behind the highest byte sent.
    edge: Option<u32>,
    acked: Option<u32>,
    in_flight: VecDeque<SegmentInFlight>,
}

/// What happened since the last delivery.
#[derive(Debug, Default, Clone)]
struct Meanwhile {
    /// First packet.
    first: Option<Timestamp>,
    again: u32,
    frames: Vec<u64>,
    ike: bool,
}

impl Meanwhile {
    fn sends(&mut self, p: &PacketRecord) {
        self.first.get_or_insert(p.time);
        self.again += u32::from(p.again > 0);
        if self.frames.len() < MOST_EXAMPLES {
            self.frames.push(p.frame);
        }
    }
}

/// One direction of a tunnel.
#[derive(Debug, Default)]
pub(crate) struct DeliveryLane {
    streams: FxHashMap<ConnectionId, SentStream>,
    /// Segments in flight of all connections.
    in_flight: usize,
    delivered: Option<(DeliveredPacket, ProgressKind)>,
    /// The newest acknowledgement of this direction that told the other one's sender something new.
    passed: Option<DeliveredPacket>,
    unread: Option<DeliveredPacket>,
    meanwhile: Meanwhile,
    watch: QuietWatch,
}

impl DeliveryLane {
    /// A connection begins anew, or ends.
    pub(super) fn forget(&mut self, connection: ConnectionId, now: Timestamp) {
        if let Some(stream) = self.streams.remove(&connection) {
            self.lands(stream.in_flight.len(), now);
        }
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
        let known = || self.streams.contains_key(&p.connection);
        self.watch.takes(p, self.in_flight > 0, known)
    }

    /// TCP data of this direction.
    pub(super) fn sends(&mut self, p: &PacketRecord) {
        if self.streams.len() >= MOST_CONNECTIONS && !self.streams.contains_key(&p.connection) {
            self.streams.retain(|_, stream| !stream.in_flight.is_empty());
            if self.streams.len() >= MOST_CONNECTIONS {
                return;
            }
        }
        self.meanwhile.sends(p);
        let stream = self.streams.entry(p.connection).or_default();
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
        for segment in stream.in_flight.iter_mut().skip(place) {
            (segment.packet, segment.repeated) = (packet, true);
            if !before(segment.end, end) {
                break;
            }
        }
    }

    /// The other side acknowledges.
    pub(super) fn is_acknowledged(&mut self, p: &PacketRecord) -> Option<UndeliveredStretch> {
        let stream = self.streams.get_mut(&p.connection)?;
        if stream.acked.is_some_and(|acked| !before(acked, p.ack)) {
            return None;
        }
        stream.acked = Some(p.ack);
        let since = self.delivered.map(|(last, _)| last.time);
        let (mut first, mut newest): (Option<DeliveredPacket>, Option<DeliveredPacket>) = (None, None);
        let mut landed = 0;
        while let Some(segment) = stream.in_flight.front()
            && !before(p.ack, segment.end)
        {
            let packet = segment.packet;
            newest = newest.filter(|n| n.time >= packet.time).or(Some(packet));
            if Some(packet.time) > since {
                first = first.filter(|f| f.time <= packet.time).or(Some(packet));
            }
            if !segment.repeated {
                self.watch.is_answered_in(p.time.nanos_since(packet.time).max(0));
            }
            stream.in_flight.pop_front();
            landed += 1;
        }
        self.lands(landed, p.time);
        let newest = newest?;
        self.deliver((first.unwrap_or(newest), newest), ProgressKind::Acknowledged)
    }

    /// When the last data was sent that was delivered.
    pub(super) fn delivered_at(&self) -> Option<Timestamp> {
        self.delivered.map(|(packet, _)| packet.time)
    }

    /// It acknowledges what the other direction delivered: until then there was a way, however long there was nothing to send.
    pub(super) fn passes(&mut self, p: &PacketRecord) {
        self.passed = Some(DeliveredPacket::of(p));
    }

    /// Payload that nobody acknowledges, in this direction.
    pub(super) fn arrives(&mut self, p: &PacketRecord) -> Option<UndeliveredStretch> {
        if self.in_flight > 0 {
            return None;
        }
        let packet = DeliveredPacket::of(p);
        self.deliver((packet, packet), ProgressKind::Arrived)
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
        self.deliver((newest, newest), ProgressKind::Answered)
    }

    /// An IKE message of the tunnel.
    pub(super) fn negotiates(&mut self) {
        self.meanwhile.ike = true;
    }

    /// What was delivered at once: the earliest of it ends a stretch, with the newest the next one begins.
    fn deliver(
        &mut self,
        (first, newest): (DeliveredPacket, DeliveredPacket),
        kind: ProgressKind,
    ) -> Option<UndeliveredStretch> {
        // What is on its way already waits from now on.
        let next = Meanwhile {
            first: (self.in_flight > 0).then_some(newest.time),
            ..Meanwhile::default()
        };
        let meanwhile = std::mem::replace(&mut self.meanwhile, next);
        let Some((last, _)) = self.delivered else {
            self.delivered = Some((newest, kind));
            return None;
        };
        if newest.time < last.time {
            return None;
        }
        self.delivered = Some((newest, kind));
        let passed = self.passed_since(last, &meanwhile);
        stretch(last, passed, (first.time, Some(first)), kind, meanwhile)
            .filter(|s| s.length(first.time) >= LEAST_STRETCH)
    }

    /// The last packet after `delivered` of which it is known that this direction let it through, before anything waited.
    fn passed_since(&self, delivered: DeliveredPacket, meanwhile: &Meanwhile) -> Option<DeliveredPacket> {
        let nothing_waits = |p: &DeliveredPacket| meanwhile.first.is_none_or(|first| first > p.time);
        let long = |p: &DeliveredPacket| p.time.nanos_since(delivered.time) >= LEAST_STRETCH;
        self.passed.filter(long).filter(nothing_waits)
    }

    /// What the end of the capture leaves open.
    pub(super) fn open_at(&self, ends: Timestamp) -> Option<UndeliveredStretch> {
        let (last, kind) = self.delivered?;
        let passed = self.passed_since(last, &self.meanwhile);
        let open = stretch(last, passed, (ends, None), kind, self.meanwhile.clone());
        open.filter(|s| s.length(ends) >= LEAST_OPEN)
    }
}

/// Where nothing was sent at first, that was rest, and what is looked at begins with the first packet after it; or it was no
/// rest: an IKE message in it makes it worth keeping.
fn stretch(
    delivered: DeliveredPacket,
    passed: Option<DeliveredPacket>,
    (until, to): (Timestamp, Option<DeliveredPacket>),
    kind: ProgressKind,
    meanwhile: Meanwhile,
) -> Option<UndeliveredStretch> {
    let last = passed.unwrap_or(delivered);
    let first = meanwhile.first.filter(|first| *first < until);
    let at_once = first.is_some_and(|first| first.nanos_since(last.time) < LEAST_STRETCH);
    let from = match first {
        Some(first) if !at_once && !meanwhile.ike => DeliveredPacket { time: first, ..last },
        _ => last,
    };
    (first.is_some() || meanwhile.ike).then_some(UndeliveredStretch {
        tunnel: 0,
        slot: 0,
        from,
        to,
        kind,
        rested: passed.is_some(),
        waiting: first.is_some(),
        again: meanwhile.again,
        frames: meanwhile.frames,
    })
}

impl UndeliveredStretch {
    fn length(&self, until: Timestamp) -> i64 {
        until.nanos_since(self.from.time)
    }
}

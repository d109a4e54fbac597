//! The reading of all packets, in one pass.

use super::quiets::Quiets;
use crate::decode::{Decoded, Pending};
use rekeyscope_impact::explain::MOST_FRAMES;
use rekeyscope_ipsec::esp::inner::{Inner, Layers};
use rekeyscope_ipsec::rekey::slot;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::{Side, TunnelIndex};
use rekeyscope_model::analysis::{Direction, Event};
use rekeyscope_model::time::{NANOS_PER_MILLI, Timestamp};
use rekeyscope_traffic::{
    DeliveredBytes, DeliveryLine, EchoesInVain, EspNumber, InnerPayload, Interval, LEAST_TIMEOUT,
    LatePackets, Outages, Packet, PacketForm, PairId, Preview, SealedLine, SealedPacket, SealedTraffic,
    Segment, SegmentKind, Tracker,
};
use std::net::IpAddr;

/// The reading of all tunnels.
#[derive(Debug, Default)]
pub(crate) struct TrafficReading {
    tracker: Tracker,
    outages: Outages,
    delivered: DeliveredBytes,
    pub(super) sealed: SealedTraffic,
    volumes: Volumes,
    pub(crate) quiets: Quiets,
    /// Counts of each tunnel, by direction.
    sent: Vec<[SentCounts; 2]>,
}

/// Data and echo requests of one direction, as far as the capture shows what it lacks of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentCounts {
    /// Acknowledged bytes that the capture never showed.
    pub(crate) unseen: u64,
    /// Segments whose data the capture had not shown before.
    pub(crate) segments: u64,
    /// Number of segments that were sent again, of which the first copies never came to the capture.
    pub(crate) sent_again: u64,
    /// Frames of the first of these.
    pub(crate) frames: Vec<u64>,
    /// Echo requests that came, and how many numbers between them did not.
    pub(crate) echoes: [u64; 2],
    /// Identifier and number of the last one.
    last_echo: Option<(u16, u16)>,
}

impl SentCounts {
    fn take(&mut self, packet: &Packet, segment: &Segment) {
        if segment.new > 0 {
            self.segments += 1;
            if segment.kind == SegmentKind::Retransmission && segment.again == 0 {
                self.sent_again += 1;
                self.frames
                    .extend((self.frames.len() < MOST_FRAMES).then_some(segment.frame));
            }
        }
        let InnerPayload::Echo {
            request: true,
            id,
            seq,
            ..
        } = packet.payload
        else {
            return;
        };
        let before = self.last_echo.filter(|last| last.0 == id);
        let skipped = before.map_or(0, |last| seq.wrapping_sub(last.1).saturating_sub(1));
        self.echoes[0] += 1;
        self.echoes[1] += u64::from(skipped);
        self.last_echo = Some((id, seq));
    }
}

impl TrafficReading {
    /// Takes the next packet of the capture, which is of `sa`, and says what it was.
    #[inline]
    pub(crate) fn take(
        &mut self,
        packet: &Packet,
        esp_bytes: u32,
        sa: SaIndex,
        association: &Association,
    ) -> Segment {
        let segment = self.tracker.push(packet);
        self.outages.take(packet, &segment, &self.tracker);
        self.delivered.take(packet, &segment, &self.tracker);
        let sealed = SealedPacket {
            time: packet.time,
            frame: packet.frame,
            spi: packet.esp.map_or(0, |esp| esp.spi),
            bytes: esp_bytes,
            missing: segment.missing,
        };
        self.sealed.take(packet.tunnel, packet.direction, sealed);
        let tunnel = association.tunnel;
        self.quiets.take((tunnel, sa), packet, &segment, &self.tracker);
        self.volumes.take(sa, packet.time, carried(association));
        if tunnel >= self.sent.len() {
            self.sent.resize_with(tunnel + 1, Default::default);
        }
        let sent = &mut self.sent[tunnel];
        sent[slot(packet.direction)].take(packet, &segment);
        sent[slot(packet.direction.reverse())].unseen += segment.acks.map_or(0, |acks| acks.unseen);
        segment
    }

    /// The tracker, which has taken the last packet.
    #[inline]
    pub(crate) fn tracker(&self) -> &Tracker {
        &self.tracker
    }

    /// Compares a packet that was not taken with what its sender sent before; `None` where its connection is not known.
    pub(crate) fn preview(&self, (tunnel, direction): Side, inner: &Inner) -> Option<Preview> {
        let (flow, segment) = inner.flow.as_ref().zip(inner.tcp.as_ref())?;
        let lane = (u32::try_from(tunnel).ok()?, direction);
        self.tracker.preview(lane, flow, segment)
    }

    /// Counts of what one direction sent.
    pub(crate) fn sent(&self, tunnel: TunnelIndex, direction: Direction) -> Option<&SentCounts> {
        Some(&self.sent.get(tunnel)?[slot(direction)])
    }

    /// Packets of one direction that came late.
    pub(crate) fn late(&self, tunnel: TunnelIndex, direction: Direction) -> LatePackets {
        let own = u32::try_from(tunnel).map(|tunnel| self.outages.late(tunnel, direction));
        own.unwrap_or_default()
    }

    /// The frames that follow were captured before those that came, the last of them at `end`.
    pub(crate) fn begin_earlier_part(&mut self, end: Timestamp) {
        self.outages.begin_earlier_part(&self.tracker, end);
        self.delivered.begin_part(&self.tracker, end);
        self.tracker.forget_connections();
    }

    /// Stretches without delivery, in order of time. The tunnels are those of the analysis, directions internal; `events` have to be
    /// in the same words.
    pub(crate) fn intervals(&self, events: &[Event], end: Timestamp) -> Vec<Interval> {
        self.outages.intervals(&self.tracker, events, end)
    }

    /// True where ESP numbers of the stretch's own side alone are missing within it: the capture went on, which lacks none of the other side's.
    pub(crate) fn misses_one_side(&self, interval: &Interval) -> bool {
        let until = interval.to.plus_nanos(LEAST_TIMEOUT);
        let misses = |direction| {
            self.outages
                .misses(interval.facts.tunnel, direction, interval.from, until)
        };
        misses(interval.facts.direction) && !misses(interval.facts.direction.reverse())
    }

    /// Deliveries of each direction of each tunnel, with the names of [`TrafficReading::intervals`].
    pub(crate) fn delivered(&self, end: Timestamp) -> Vec<DeliveryLine> {
        self.delivered.lines(&self.tracker, end)
    }

    /// Packets of a direction of a tunnel by their ESP sizes alone, whether or not a key reads them.
    pub(crate) fn sealed(&self, tunnel: TunnelIndex, direction: Direction) -> Option<SealedLine> {
        self.sealed.line(u32::try_from(tunnel).ok()?, direction)
    }

    /// Inner addresses of a stretch: sender and receiver.
    pub(crate) fn addresses(&self, interval: &Interval) -> Option<(IpAddr, IpAddr)> {
        let (_, a, b) = self.tracker.addresses(interval.facts.pair)?;
        Some(interval.facts.direction.pick((a, b), (b, a)))
    }

    /// Echo requests of which none was answered: the side that asks, and the inner addresses of both hosts.
    pub(crate) fn echoes_in_vain(&self) -> impl Iterator<Item = (Side, (IpAddr, IpAddr), EchoesInVain)> {
        self.outages
            .echoes_in_vain()
            .filter_map(|(pair, direction, asked)| {
                let (tunnel, a, b) = self.tracker.addresses(pair)?;
                Some((
                    (tunnel as TunnelIndex, direction),
                    direction.pick((a, b), (b, a)),
                    asked,
                ))
            })
    }

    /// The pair of two inner addresses of a tunnel.
    pub(crate) fn pair_between(&self, tunnel: u32, ends: (IpAddr, IpAddr)) -> Option<PairId> {
        self.tracker.pair_between(tunnel, ends)
    }

    /// Stretches, and silences, that there was no room for.
    pub(crate) fn left_out(&self) -> (u64, u64) {
        (self.outages.left_out(), self.quiets.left_out())
    }

    /// Time at which a direction sent the first data that was delivered.
    pub(crate) fn first_delivered(&self, (tunnel, direction): Side) -> Option<Timestamp> {
        self.outages
            .first_delivered(u32::try_from(tunnel).ok()?, direction)
    }

    /// The moment since which nothing that a direction sends is delivered, up to the end of the capture.
    pub(crate) fn open_since(&self, (tunnel, direction): Side, end: Timestamp) -> Option<Timestamp> {
        let tunnel = u32::try_from(tunnel).ok()?;
        self.outages.open_since(&self.tracker, (tunnel, direction), end)
    }

    /// Bytes that an SA had carried at a moment, as its lifetime counts them.
    pub(crate) fn volume_at(&self, sa: SaIndex, association: &Association, time: Timestamp) -> Option<u64> {
        let (last, _) = association.last?;
        self.volumes.at(sa, time, (last, carried(association)))
    }
}

/// Bytes that the lifetime of an SA counts: the payload where keys show it, else ESP.
fn carried(association: &Association) -> u64 {
    let counters = &association.counters;
    if counters.opened > 0 {
        counters.inner_bytes
    } else {
        counters.esp_bytes
    }
}

/// The packet. Its SPI is the index of its SA: an SPI may come again, and a reused one begins to count anew.
pub(crate) fn inner_packet(
    sa: SaIndex,
    association: &Association,
    pending: &Pending,
    decoded: &Decoded,
    number: u64,
) -> Packet {
    let inner = &decoded.inner;
    let opened = decoded.opened.is_some();
    Packet {
        time: pending.time,
        frame: pending.frame,
        tunnel: u32::try_from(association.tunnel).unwrap_or(u32::MAX),
        direction: association.direction,
        esp: Some(EspNumber {
            spi: u32::try_from(sa).unwrap_or(u32::MAX),
            number,
            form: match opened {
                true if inner.layers.contains(Layers::IPCOMP) => PacketForm::Compressed,
                true if inner.first_fragment => PacketForm::Cut,
                _ => PacketForm::Plain,
            },
        }),
        tuple: inner.flow.filter(|_| opened),
        ip_id: inner.ip_id,
        payload: if opened {
            payload(inner)
        } else {
            InnerPayload::Unread(pending.esp_bytes)
        },
    }
}

fn payload(inner: &Inner) -> InnerPayload {
    match (inner.tcp, inner.echo) {
        (Some(tcp), _) => InnerPayload::Tcp(tcp),
        (None, Some(echo)) => InnerPayload::Echo {
            request: echo.request,
            id: echo.id,
            seq: echo.seq,
            bytes: inner.ip_bytes.max(inner.transport_bytes),
        },
        (None, None) => InnerPayload::Datagram(inner.transport_bytes),
    }
}

/// Points of each SA. Where they are full, every second one goes: between two of 32 a steady transfer is a line.
const MOST_POINTS: usize = 64;
/// Points lie this far apart at first.
const FIRST_STEP: i64 = 50 * NANOS_PER_MILLI;
/// Most SAs with points, 24 MB; what later ones carried is known at their end only.
const MOST_SAS: usize = 1 << 14;

#[derive(Debug, Default)]
struct VolumeCourse {
    points: Vec<(Timestamp, u64)>,
    /// The number of times at which every second point went.
    thinned: u32,
    /// The next point lies behind this.
    due: Option<Timestamp>,
}

/// The courses of all SAs, by their index.
#[derive(Debug, Default)]
pub(super) struct Volumes(Vec<VolumeCourse>);

impl Volumes {
    /// Takes what an SA had carried with the packet of this moment, bytes.
    #[inline]
    pub(super) fn take(&mut self, sa: SaIndex, time: Timestamp, bytes: u64) {
        if sa >= self.0.len() && sa < MOST_SAS {
            self.0.resize_with(sa + 1, VolumeCourse::default);
        }
        if let Some(course) = self.0.get_mut(sa)
            && course.due.is_none_or(|due| time >= due)
        {
            course.point(time, bytes);
        }
    }

    /// Bytes that an SA had carried at `time`, between points by a line; `last`: its last packet, and all that it carried.
    pub(super) fn at(&self, sa: SaIndex, time: Timestamp, last: (Timestamp, u64)) -> Option<u64> {
        let points = &self.0.get(sa)?.points;
        let behind = points.partition_point(|(point, _)| *point <= time);
        let (from, low) = *points.get(behind.checked_sub(1)?)?;
        let (to, high) = points.get(behind).copied().unwrap_or(last);
        let whole = to.nanos_since(from);
        if whole <= 0 || time >= to {
            return Some(if time >= to { high } else { low });
        }
        let part = time.nanos_since(from) as f64 / whole as f64;
        Some(low + (part * high.saturating_sub(low) as f64) as u64)
    }
}

impl VolumeCourse {
    #[cold]
    fn point(&mut self, time: Timestamp, bytes: u64) {
        if self.points.len() >= MOST_POINTS {
            let mut index = 0;
            self.points.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.thinned += 1;
        }
        self.points.push((time, bytes));
        self.due = Some(time.plus_nanos(FIRST_STEP << self.thinned.min(20)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_transfer_is_a_line_however_long_it_is() {
        let mut volumes = Volumes::default();
        let at = |ms: i64| Timestamp(ms * NANOS_PER_MILLI);
        for ms in 0..100_000_u64 {
            volumes.take(3, at(ms as i64), ms * 1_000);
        }
        let last = (at(99_999), 99_999_000);
        for ms in [0, 10, 777, 50_123, 99_998] {
            let told = volumes.at(3, at(ms), last).unwrap();
            assert!(told.abs_diff(ms as u64 * 1_000) < 2_000, "{ms}: {told}");
        }
        assert!(volumes.0[3].points.len() <= MOST_POINTS);
        assert_eq!(volumes.at(4, at(1), last), None);
    }
}

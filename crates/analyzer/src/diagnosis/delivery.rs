//! Stretches in which a direction delivered nothing: streaming, in bounded memory. What they were, rest or an outage, is
//! decided when everything is known ([`crate::assembly`]).
//!
//! Delivered is what inner TCP acknowledges; other payload when it arrives, while no TCP data waits for its acknowledgement;
//! without keys, what the other side sends something after. Times are those of the data, not of the acknowledgements.

mod delivered;
mod heard;
mod lane;
mod quiet;
mod vanished;

pub(crate) use delivered::{DeliveredPacket, ProgressKind};
pub(crate) use lane::{DeliveryLane, LEAST_STRETCH, UndeliveredStretch};
pub(crate) use quiet::{LEAST_REST, Quiet, TunnelSilence};
pub(crate) use vanished::VanishedData;

use crate::diagnosis::record::PacketRecord;
use rekeyscope_ipsec::esp::inner::TcpSegment;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::Timestamp;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Tunnels that are watched, as in [`crate::diagnosis::whole_run`].
const MOST_TUNNELS: usize = 1_024;
/// Most stretches that are kept, some 200 bytes each; later ones are counted only.
const MOST_STRETCHES: usize = 1 << 13;
/// Most silences that are kept of each kind, some 80 bytes each; what comes after later ones goes on with the transfer before.
const MOST_SILENCES: usize = 1 << 13;

/// All tunnels.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    lanes: Vec<[DeliveryLane; 2]>,
    /// Last packet of each tunnel, in either direction.
    latest: Vec<Option<Timestamp>>,
    found: Vec<UndeliveredStretch>,
    quiets: Vec<Quiet>,
    silences: Vec<TunnelSilence>,
    vanished: Vec<((TunnelIndex, usize), VanishedData)>,
    /// Stretches beyond [`MOST_STRETCHES`].
    pub(crate) left_out: u64,
    /// Silences beyond [`MOST_SILENCES`].
    pub(crate) silences_left_out: u64,
}

impl Delivery {
    /// Takes an ESP packet.
    #[inline]
    pub(crate) fn take(&mut self, p: &PacketRecord) {
        let tunnel = usize::from(p.tunnel);
        let Some(lanes) = lanes_of(&mut self.lanes, tunnel) else {
            return;
        };
        let [a, b] = lanes;
        let (own, other) = if p.slot() == 0 { (a, b) } else { (b, a) };
        if p.flags & (TcpSegment::SYN | TcpSegment::RST) != 0 {
            own.forget(p.connection, p.time);
            other.forget(p.connection, p.time);
        }
        if p.flags & TcpSegment::FIN != 0 {
            own.finishes(p.connection);
        }
        let quiet = own.watches(p);
        let silence = silent_before(&mut self.latest, tunnel, p.time);
        let vanished = own.numbers(p).map(|v| ((tunnel, p.slot()), v));
        let kept = keep(&mut self.quiets, quiet)
            & keep(&mut self.silences, silence)
            & keep(&mut self.vanished, vanished);
        self.silences_left_out += u64::from(!kept);
        let answered = if !p.is_opened() {
            own.sends_unread(p);
            other.is_answered(p)
        } else if p.acknowledges() {
            let before = other.delivered_at();
            let stretch = other.is_acknowledged(p);
            if other.delivered_at() > before {
                own.passes(p);
            }
            stretch
        } else {
            None
        };
        let arrived = if p.is_tcp_data() {
            own.sends(p);
            None
        } else if p.is_opened() && !p.is_tcp() && p.payload > 0 && !p.is_icmpv6() {
            own.arrives(p)
        } else {
            None
        };
        if let Some(stretch) = answered {
            self.found(stretch, tunnel, 1 - p.slot());
        }
        if let Some(stretch) = arrived {
            self.found(stretch, tunnel, p.slot());
        }
    }

    #[cold]
    fn found(&mut self, stretch: UndeliveredStretch, tunnel: TunnelIndex, slot: usize) {
        if self.found.len() < MOST_STRETCHES {
            self.found.push(UndeliveredStretch {
                tunnel,
                slot,
                ..stretch
            });
        } else {
            self.left_out += 1;
        }
    }

    /// An IKE message passes: a stretch without any packet may be more than rest.
    pub(crate) fn ike_message(&mut self, tunnel: TunnelIndex) {
        for lane in lanes_of(&mut self.lanes, tunnel).into_iter().flatten() {
            lane.negotiates();
        }
    }

    /// When the last packet of a tunnel passed.
    pub(crate) fn latest(&self, tunnel: TunnelIndex) -> Option<Timestamp> {
        self.latest.get(tunnel).copied().flatten()
    }

    /// Silences of a direction of a tunnel that may be rest, in order of time.
    pub(crate) fn quiets(&self, tunnel: TunnelIndex, slot: usize) -> impl Iterator<Item = &Quiet> {
        self.quiets
            .iter()
            .filter(move |q| q.tunnel == tunnel && q.slot == slot)
    }

    /// Silences of a direction of a tunnel in which its data vanished before the capture, in order of time.
    pub(crate) fn vanished(&self, of: (TunnelIndex, usize)) -> impl Iterator<Item = &VanishedData> {
        let own = self.vanished.iter().filter(move |(place, _)| *place == of);
        own.map(|(_, vanished)| vanished)
    }

    /// Silences of a whole tunnel, in order of time.
    pub(crate) fn silences(&self, tunnel: TunnelIndex) -> impl Iterator<Item = &TunnelSilence> {
        self.silences.iter().filter(move |s| s.tunnel == tunnel)
    }

    /// When a direction sent the first data that was delivered.
    pub(crate) fn first_delivered(&self, (tunnel, slot): (TunnelIndex, usize)) -> Option<Timestamp> {
        self.lanes.get(tunnel)?.get(slot)?.first_delivered
    }

    /// Since when nothing that a direction sends is delivered, up to the end of the capture.
    pub(crate) fn open_since(
        &self,
        (tunnel, slot): (TunnelIndex, usize),
        ends: Timestamp,
    ) -> Option<Timestamp> {
        let lane = self.lanes.get(tunnel)?.get(slot)?;
        // Of a connection that was reset nothing waits any more.
        let open = lane.open_at(ends).filter(|_| lane.waits())?;
        Some(open.from.time)
    }

    /// All stretches in order of time, with those that the end of the capture leaves open.
    pub(crate) fn stretches(&self, ends: Timestamp) -> Vec<UndeliveredStretch> {
        let mut all = self.found.clone();
        for (tunnel, lanes) in self.lanes.iter().enumerate() {
            for (slot, lane) in lanes.iter().enumerate() {
                let open = lane.open_at(ends);
                all.extend(open.map(|stretch| UndeliveredStretch {
                    tunnel,
                    slot,
                    ..stretch
                }));
            }
        }
        without_inner_ones(all)
    }
}

/// Of stretches within one another the longest: an acknowledgement that seemed to end one was not heard, and the next copy
/// ended a longer one.
fn without_inner_ones(mut all: Vec<UndeliveredStretch>) -> Vec<UndeliveredStretch> {
    let mut reached: HashMap<(TunnelIndex, usize), i64> = HashMap::new();
    let end = |s: &UndeliveredStretch| s.to.map_or(i64::MAX, |to| to.time.0);
    // Of those that begin together the longest comes first.
    all.sort_by_key(|s| (s.from.time, s.tunnel, s.slot, Reverse(end(s))));
    all.retain(|s| {
        let own = reached.entry((s.tunnel, s.slot)).or_insert(i64::MIN);
        let outside = end(s) > *own;
        *own = end(s).max(*own);
        outside
    });
    all
}

/// Keeps what was found; false at the bound.
fn keep<T>(list: &mut Vec<T>, found: Option<T>) -> bool {
    let Some(found) = found else {
        return true;
    };
    let has_room = list.len() < MOST_SILENCES;
    if has_room {
        list.push(found);
    }
    has_room
}

/// The silence of a tunnel that a packet ends.
fn silent_before(
    latest: &mut Vec<Option<Timestamp>>,
    tunnel: TunnelIndex,
    now: Timestamp,
) -> Option<TunnelSilence> {
    if tunnel >= latest.len() {
        latest.resize(tunnel + 1, None);
    }
    let from = latest.get_mut(tunnel)?.replace(now)?;
    (now.nanos_since(from) >= LEAST_REST).then_some(TunnelSilence {
        tunnel,
        from,
        to: now,
    })
}

/// Those of a tunnel, made on first sight; `None` at the bound.
fn lanes_of(lanes: &mut Vec<[DeliveryLane; 2]>, tunnel: TunnelIndex) -> Option<&mut [DeliveryLane; 2]> {
    if tunnel >= MOST_TUNNELS {
        return None;
    }
    if tunnel >= lanes.len() {
        lanes.resize_with(tunnel + 1, Default::default);
    }
    lanes.get_mut(tunnel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throughput::flow::ConnectionId;
    use rekeyscope_model::time::NANOS_PER_MILLI;

    /// A packet of a **synthetic** connection: direction, milliseconds, sequence number, payload, acknowledgement.
    fn packet(connection: u32, up: bool, millis: i64, (seq, payload, ack): (u32, u16, u32)) -> PacketRecord {
        let time = Timestamp(millis * NANOS_PER_MILLI);
        let frame = u64::try_from(millis).unwrap_or_default();
        PacketRecord {
            connection: ConnectionId(connection),
            ..PacketRecord::for_test(up, time, frame, (seq, payload, ack))
        }
    }

    /// One connection after the other, as pages are read: far more than are watched at once, each delivered at once.
    #[test]
    fn any_number_of_connections_deliver() {
        let mut delivery = Delivery::default();
        for k in 0..1_000 {
            let millis = 10 * i64::from(k);
            delivery.take(&packet(k, false, millis, (0, 100, 0)));
            delivery.take(&packet(k, true, millis + 5, (0, 0, 100)));
        }
        assert!(delivery.stretches(Timestamp(11_000 * NANOS_PER_MILLI)).is_empty());
    }

    /// Stretches of a **synthetic** download, from the first of what is delivered to its end, milliseconds. Times and bytes of
    /// data, and of what is acknowledged (`None`).
    fn stretches(told: &[(i64, u32, Option<u16>)]) -> Vec<(i64, Option<i64>)> {
        let mut delivery = Delivery::default();
        let mut edge = 0;
        for &(millis, number, payload) in told {
            let Some(payload) = payload else {
                delivery.take(&packet(1, true, millis, (0, 0, number)));
                continue;
            };
            let again = if number < edge { payload } else { 0 };
            edge = edge.max(number + u32::from(payload));
            let sent = packet(1, false, millis, (number, payload, 0));
            delivery.take(&PacketRecord { again, ..sent });
        }
        let found = delivery.stretches(Timestamp(1_600 * NANOS_PER_MILLI));
        let millis = |p: DeliveredPacket| p.time.0 / NANOS_PER_MILLI;
        found.iter().map(|s| (millis(s.from), s.to.map(millis))).collect()
    }

    const FLOW: [(i64, u32, Option<u16>); 4] = [
        (0, 0, Some(100)),
        (5, 100, None),
        (10, 100, Some(100)),
        (15, 200, None),
    ];

    /// Everything is acknowledged, on an SA that the sender does not have yet: it repeats the oldest it has not heard of.
    #[test]
    fn what_its_sender_did_not_hear_of_waits() {
        let unheard = [
            (20, 200, Some(100)),
            (25, 300, None),
            (30, 300, Some(100)),
            (35, 400, None),
            (300, 200, Some(100)),
            (305, 400, None),
            (900, 200, Some(100)),
            (905, 400, None),
            (910, 400, Some(100)),
            (915, 500, None),
        ];
        assert_eq!(stretches(&[&FLOW[..], &unheard].concat()), [(10, Some(900))]);
        // A keepalive brings one byte again.
        let alive = [
            (700, 199, Some(1)),
            (705, 200, None),
            (710, 200, Some(100)),
            (715, 300, None),
        ];
        assert_eq!(stretches(&[&FLOW[..], &alive].concat()), []);
    }

    /// What arrived behind a lost segment is acknowledged with it, and does not end the stretch in which that was missing.
    #[test]
    fn what_waited_for_a_lost_segment_hides_no_stretch() {
        let lost = [
            (20, 200, Some(100)),
            (30, 300, Some(100)),
            (40, 400, Some(100)),
            (900, 200, Some(100)),
            (905, 500, None),
        ];
        assert_eq!(stretches(&[&FLOW[..], &lost].concat()), [(10, Some(900))]);
    }

    /// A word after a rest, lost at a switch while its sender goes on to acknowledge: the outage does not begin with the rest.
    #[test]
    fn acknowledgements_of_the_sender_say_how_long_it_was_heard() {
        let mut delivery = Delivery::default();
        delivery.take(&packet(1, true, 0, (0, 100, 0)));
        delivery.take(&packet(1, false, 5, (0, 0, 100)));
        for k in 1..60 {
            let seq = 100 * (k - 1);
            let at = 50 * i64::from(k);
            delivery.take(&packet(1, false, at, (seq, 100, 100)));
            let word = if k > 40 {
                (100, 100, seq + 100)
            } else {
                (100, 0, seq + 100)
            };
            delivery.take(&packet(1, true, at + 5, word));
            if k == 42 {
                delivery.ike_message(0);
            }
        }
        delivery.take(&packet(1, false, 5_000, (5_900, 0, 200)));
        let all = delivery.stretches(Timestamp(5_000 * NANOS_PER_MILLI));
        let own: Vec<_> = all.iter().filter(|s| s.slot == 1).collect();
        let [stretch] = own[..] else { panic!("{all:?}") };
        let at = |ms: i64| Timestamp(ms * NANOS_PER_MILLI);
        assert_eq!(
            (stretch.from.time, stretch.waiting_since),
            (at(2_005), Some(at(2_055)))
        );
    }

    /// An IKE message behind a transfer. From what was delivered last on nothing gets through, or nobody sends anything.
    #[test]
    fn what_comes_after_the_last_connection_was_closed_is_no_outage() {
        let open = |told: &[(u32, bool, i64, u8)]| {
            let mut delivery = Delivery::default();
            for connection in [1, 2] {
                delivery.take(&packet(connection, false, 0, (0, 100, 0)));
                delivery.take(&packet(connection, true, 5, (0, 0, 100)));
            }
            for &(connection, up, at, flags) in told {
                let ends = packet(connection, up, at, (100, 0, 100));
                delivery.take(&PacketRecord {
                    flags: ends.flags | flags,
                    ..ends
                });
            }
            delivery.ike_message(0);
            let found = delivery.stretches(Timestamp(5_000 * NANOS_PER_MILLI));
            found.iter().filter(|s| s.slot == 0).count()
        };
        let (fin, rst) = (TcpSegment::FIN, TcpSegment::RST);
        assert_eq!(open(&[]), 1);
        assert_eq!(open(&[(1, false, 10, fin), (2, false, 10, fin)]), 0);
        assert_eq!(open(&[(1, false, 10, fin), (2, true, 10, rst)]), 0);
        assert_eq!(open(&[(1, false, 10, fin)]), 1, "the other one is open");
        assert_eq!(
            open(&[(1, false, 10, fin), (2, true, 10, fin)]),
            1,
            "it may send more"
        );
    }

    /// What more of them send at once than are watched is not taken for lost.
    #[test]
    fn connections_beyond_the_bound_wait_for_nothing() {
        let mut delivery = Delivery::default();
        for k in 0..400 {
            delivery.take(&packet(k, false, 0, (0, 100, 0)));
        }
        for k in 0..400 {
            delivery.take(&packet(k, true, 5, (0, 0, 100)));
        }
        delivery.take(&packet(400, false, 10, (0, 100, 0)));
        delivery.take(&packet(400, true, 15, (0, 0, 100)));
        assert!(delivery.stretches(Timestamp(11_000 * NANOS_PER_MILLI)).is_empty());
    }
}
